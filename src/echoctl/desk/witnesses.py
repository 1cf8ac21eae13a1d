"""How much somebody outside vouches for: the evidence grade, asked of the second opinion.

The desk keeps no grading of its own: it asks `echoctl.verify`, which a stranger can run alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from echoctl import verify as second
from echoctl.desk.workspace import Workspace
from echoctl.disk import write_once
from echoctl.dossier import Dossier

_ASKED = ("ledger", "order", "manifest", "claim", "witness", "git", "ssh", "time")
"""The checks that a grade rests on."""


@dataclass(frozen=True)
class Evidence:
    """A grade (L0 to L3), the receipts to keep outside, and how each outside witness fared."""

    grade: str
    receipts: tuple[str, ...]
    checks: Mapping[str, second.Check] = field(default_factory=dict)
    """git, ssh and time -> what the second opinion found."""

    @property
    def witnesses(self) -> dict[str, str]:
        """Return git, ssh and time -> ``ok``, ``not checked: why`` or ``pending: why``."""
        return {
            name: f"{check.state}: {second.say(*check.reason, 'en')}"
            if check.reason
            else check.state
            for name, check in self.checks.items()
        }

    def spoken(self, lang: str) -> dict[str, str]:
        """Return the same in a reader's language."""
        out = {}
        for name, check in self.checks.items():
            word = second.say("." + check.state, {}, lang)
            out[name] = f"{word}: {second.say(*check.reason, lang)}" if check.reason else word
        return out

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints."""
        return {
            "grade": self.grade, "receipts": list(self.receipts),
            "witnesses": self.witnesses,
        }  # fmt: skip


def freeze_receipt(id: str, freeze: str) -> str:
    """Return the line to keep outside after a freeze."""
    return f"echoctl-freeze {id} {freeze}"


def claim_receipt(id: str, claim: str) -> str:
    """Return the line to keep outside after an exam was opened."""
    return f"echoctl-claim {id} {claim}"


def receipts(dossier: Dossier) -> tuple[str, ...]:
    """Return every receipt that a track has given out."""
    out = []
    if dossier.freeze is not None:
        out.append(freeze_receipt(dossier.id, dossier.freeze["manifest"]))
    if dossier.claim is not None:
        out.append(claim_receipt(dossier.id, dossier.claim["claim"]))
    return tuple(out)


def write_witnesses(ws: Workspace, dossier: Dossier) -> None:
    """Write ``witness/KIND.txt`` for every receipt, the line that a key or an authority can sign.

    All of them each time: a kill may have come between a ledger line and its receipt.
    """
    for receipt in receipts(dossier):
        kind = receipt.split()[0].removeprefix("echoctl-")
        path = ws.artifacts(dossier.id) / "witness" / f"{kind}.txt"
        if not path.exists():
            write_once(path, receipt.encode() + b"\n")


def evidence(
    ws: Workspace, dossier: Dossier, *, signers: Path | None = None, tsa_ca: Path | None = None
) -> Evidence:
    """Return the evidence grade of a frozen track as things stand. Whatever fails gives L0."""
    options = second.Options(signers=signers, tsa_ca=tsa_ca)
    report = second.verify(second.Folder(ws.root), dossier.id, options, only=_ASKED)
    case = report.case
    return Evidence(
        "L0" if report.failed else case.grade,
        receipts(dossier),
        {name: case.checks[name] for name in ("git", "ssh", "time") if name in case.checks},
    )
