"""What a report is made of, before it is Markdown or a page.

Every figure comes from the verdict; nothing here computes one. The same sealed results give the
same bytes: the report holds no clock of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from echoctl.contract import Contract
from echoctl.render.exhibits import Word, number
from echoctl.render.film import Film
from echoctl.render.text import Lang, Text
from echoctl.verdict.results import Verdict


@dataclass(frozen=True)
class Event:
    """One ledger line as the report tells it."""

    time: str
    event: str
    text: str


@dataclass(frozen=True)
class Evidence:
    """What is sealed and who vouches for it. `grade` is empty where nothing is sealed."""

    grade: str = ""
    witnesses: Mapping[str, str] = field(default_factory=dict)
    """git, ssh and time -> how each fared, in the second opinion's words."""
    receipts: Sequence[str] = ()
    events: Sequence[Event] = ()
    """Up to the verdict: a report that told of itself would never be the same twice."""
    seals: Mapping[str, str] = field(default_factory=dict)
    """Hashes that name the sealed results and the verdict."""
    incidents: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Exhibit:
    """Recorded episodes of one world, side by side: fixed by the contract before the exam."""

    text: str
    """What the contract says about it."""
    family: str
    regime: str
    where: str
    """Unit, episode and seed."""
    films: Sequence[Film]
    name: str
    """A file's name for it, without ending; no other exhibit has it."""


@dataclass(frozen=True)
class Report:
    """All that the two forms of a report show."""

    contract: Contract
    verdict: Verdict
    evidence: Evidence
    exhibits: Sequence[Exhibit]
    version: str
    unseen: str = ""
    """Why the contract's exhibits are not shown, where they are not."""
    word: Word = number
    """What the track calls a value of a log."""

    @property
    def decided(self) -> bool:
        """Return whether this is an exam's verdict (development and rehearsals decide nothing)."""
        return not self.verdict.mark

    def data(self) -> dict[str, Any]:
        """Return the block of JSON that travels inside the page."""
        return {
            "schema": "echoctl/report/1",
            "verdict": self.verdict.as_json(),
            "evidence": {
                "grade": self.evidence.grade,
                "receipts": list(self.evidence.receipts),
                "seals": dict(self.evidence.seals),
                "witnesses": dict(self.evidence.witnesses),
            },
        }


def declarations(contract: Contract, t: Text) -> list[tuple[str, list[str]]]:
    """Return the contract's declared sections that are not empty, as (heading, texts)."""
    sections = [
        ("prior", contract.prior_knowledge),
        ("choices", contract.choices),
        ("amendments", contract.amendments),
        ("declarations", contract.declarations),
        ("risks", contract.risks),
    ]
    out = []
    for key, entries in sections:
        texts = []
        for entry in entries:
            lead = " ".join(str(part) for part in (entry.id, entry.on) if part)
            texts.append(f"{lead}: {entry.text.strip()}" if lead else entry.text.strip())
        if texts:
            out.append((t(key), texts))
    return out


def language(contract: Contract, asked: Lang | None) -> Lang:
    """Return the language asked for, or the contract's own."""
    return asked or contract.lang
