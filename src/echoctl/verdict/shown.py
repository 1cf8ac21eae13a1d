"""What a contract asked to see, as data. Amounts as in the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias


@dataclass(frozen=True)
class CurveLine:
    """One arm of a curve: its total in each round, None where it played none."""

    arm: str
    totals: tuple[Fraction | None, ...]


@dataclass(frozen=True)
class CurveResult:
    """A measure's totals over all units, round by round."""

    kind: ClassVar[str] = "curve"
    text: str
    measure: str
    where: Mapping[str, Any]
    rounds: tuple[Any, ...]
    lines: tuple[CurveLine, ...]


@dataclass(frozen=True)
class TableLine:
    """Totals of one arm in one family (round, unit, ...); None where rows lack the measure.

    `moves` says of each measure ``better``, ``worse`` or ``same``, or ``higher`` and ``lower``
    where the contract does not say which is better; empty where one of them is missing.
    """

    arm: str
    name: str | int
    rows: int
    totals: tuple[Fraction | None, ...]
    rows_before: int | None
    before: tuple[Fraction | None, ...]
    moves: tuple[str, ...]


@dataclass(frozen=True)
class TableResult:
    """Totals of some measures, one line an arm and family (or what `by` says)."""

    kind: ClassVar[str] = "table"
    text: str
    measures: tuple[str, ...]
    by: str
    where: Mapping[str, Any]
    against: Mapping[str, Any] | None
    lines: tuple[TableLine, ...]


@dataclass(frozen=True)
class LogLine:
    """One value that a measure took: in how many units and rows, and what else they add up to."""

    arm: str
    name: str | int
    value: int
    units: int
    rows: int
    beside: tuple[Fraction, ...]


@dataclass(frozen=True)
class LogResult:
    """Which values a measure took, one line an arm, round (or what `by` says) and value."""

    kind: ClassVar[str] = "log"
    text: str
    measure: str
    by: str
    beside: tuple[str, ...]
    where: Mapping[str, Any]
    lines: tuple[LogLine, ...]


@dataclass(frozen=True)
class PublishedLine:
    """A mean a unit as it was published and as it came out here; None where nobody played it."""

    measure: str
    arm: str
    where: Mapping[str, Any]
    published: Fraction
    here: Fraction | None
    units: int


@dataclass(frozen=True)
class PublishedResult:
    """Figures of an earlier study beside the same ones of this exam."""

    kind: ClassVar[str] = "published"
    text: str
    lines: tuple[PublishedLine, ...]


ExhibitResult: TypeAlias = CurveResult | TableResult | LogResult | PublishedResult
