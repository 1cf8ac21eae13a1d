"""What the linter found, as data; every sentence is made from it in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from echoctl.contract.describe import Lang
from echoctl.lint.ladder import Ladder
from echoctl.lint.words import say
from echoctl.verdict.numbers import plain

Level = Literal["refusal", "warning", "statement"]


@dataclass(frozen=True)
class Finding:
    """One thing to say. Refusals stop a preflight, warnings and statements inform."""

    level: Level
    code: str
    where: str
    """A prediction's id, ``invariant 1``, ``seeds`` or empty."""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def text(self, lang: Lang = "en") -> str:
        """Return the finding as a sentence."""
        return say(self.code, lang, self.facts)

    def as_json(self, lang: Lang = "en") -> dict[str, Any]:
        """Return the finding with its facts and its sentence."""
        return {
            "level": self.level,
            "code": self.code,
            "where": self.where,
            "text": self.text(lang),
            "facts": plain(self.facts),
        }


@dataclass(frozen=True)
class Reach:
    """What one Wilcoxon family of the contract can show."""

    prediction: str
    decides: bool
    measure: str
    arm: str
    rivals: tuple[str, ...]
    where: Mapping[str, Any]
    ladder: Ladder


@dataclass(frozen=True)
class Cell:
    """One number of a synthetic result, the same in every unit of a block of units."""

    units: tuple[int, int]
    arm: str
    stage: str
    family: str
    regime: str
    round: int
    measure: str
    value: int


@dataclass(frozen=True)
class Witness:
    """A synthetic result that `echoctl.verdict.decide` gave this colour. Cells not listed are 0."""

    colour: str
    turns: str
    """Which prediction or invariant it turns red; ``verdict`` for the green one."""
    passed: Mapping[str, bool | None]
    """What every prediction came out as."""
    alone: bool
    """Everything else that decides stayed green."""
    cells: tuple[Cell, ...]
    digests: Mapping[str, str]

    def as_json(self) -> dict[str, Any]:
        """Return the witness as the preflight record keeps it: rows of plain values."""
        return {
            "colour": self.colour,
            "turns": self.turns,
            "passed": dict(self.passed),
            "alone": self.alone,
            "columns": ["units", "arm", "stage", "family", "regime", "round", "measure", "value"],
            "cells": [
                [
                    list(c.units), c.arm, c.stage, c.family, c.regime, c.round, c.measure,
                    plain(c.value),
                ]
                for c in self.cells
            ],
            "digests": dict(self.digests),
        }  # fmt: skip


@dataclass(frozen=True)
class LintReport:
    """Everything the linter can say about one contract."""

    id: str
    lang: Lang
    findings: tuple[Finding, ...]
    reach: tuple[Reach, ...]
    green: Witness | None
    red: Mapping[str, Witness | None]
    """Deciding prediction or invariant -> a result that turns it, and the verdict, red."""

    def of(self, level: Level) -> tuple[Finding, ...]:
        """Return the findings of one level, in order."""
        return tuple(finding for finding in self.findings if finding.level == level)

    @property
    def refusals(self) -> tuple[Finding, ...]:
        """Return what stops a preflight."""
        return self.of("refusal")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Return what the authors should weigh."""
        return self.of("warning")

    @property
    def statements(self) -> tuple[Finding, ...]:
        """Return what the design can and cannot show."""
        return self.of("statement")

    @property
    def ok(self) -> bool:
        """Say whether nothing was refused."""
        return not self.refusals

    def as_json(self, lang: Lang | None = None) -> dict[str, Any]:
        """Return the report as JSON without floats, in one language (the contract's own)."""
        chosen = lang or self.lang
        return {
            "schema": "echoctl/lint/1",
            "id": self.id,
            "ok": self.ok,
            "findings": [finding.as_json(chosen) for finding in self.findings],
            "reach": [plain(reach) for reach in self.reach],
            "green": self.green.as_json() if self.green else None,
            "red": {name: w.as_json() if w else None for name, w in self.red.items()},
        }
