"""Every track, and one track: its state, what it proves, what comes next."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from echoctl.desk.workspace import Workspace, sha256
from echoctl.dossier import Dossier, State, next_command
from echoctl.errors import EchoError

if TYPE_CHECKING:
    from echoctl.contract import Contract
    from echoctl.desk.witnesses import Evidence


@dataclass(frozen=True)
class Status:
    """One track at a glance. `state` is empty where the ledger does not hold (see `problem`)."""

    id: str
    title: str
    state: str
    colour: str
    """``green``, ``red`` or empty."""
    next: str
    """The command that comes next."""
    since: str
    """When the state was reached (UTC), or empty."""
    evidence: Evidence | None = None
    preflight: Mapping[str, Any] | None = None
    seeds: str = ""
    """SHA-256 of the published seeds."""
    reviews: int = 0
    findings: int = 0
    answered: int = 0
    blocking: int = 0
    amendments: int = 0
    jobs: int = 0
    done: int = 0
    incidents: tuple[str, ...] = ()
    changed: bool = False
    """The working contract is not the one that the ledger accepted last."""
    problem: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Freeze id and claim, where there are."""

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints."""
        return {**asdict(self), "evidence": self.evidence.as_json() if self.evidence else None}


@dataclass(frozen=True)
class Listing:
    """Every track of a workspace; reds count as loudly as greens."""

    tracks: tuple[Status, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Return how many tracks are in each state."""
        out: dict[str, int] = {}
        for one in self.tracks:
            out[one.state or "inconsistent"] = out.get(one.state or "inconsistent", 0) + 1
        return dict(sorted(out.items()))

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints."""
        return {"tracks": [one.as_json() for one in self.tracks], "counts": self.counts}


def list_tracks(ws: Workspace) -> Listing:
    """Return the status of every track, without the costly parts of the evidence."""
    return Listing(tuple(_status(ws, id, thorough=False) for id in ws.ids()))


def status(ws: Workspace, id: str) -> Status:
    """Return one track's status; UsageError where there is no such track."""
    ws.require(id)
    return _status(ws, id, thorough=True)


def load(ws: Workspace, id: str) -> Contract:
    """Return a track's contract: the sealed one once there is a freeze, else the working one."""
    ws.require(id)
    if ws.dossier(id).freeze is not None:
        return ws.sealed_contract(id)
    return ws.working_contract(id)


def _status(ws: Workspace, id: str, *, thorough: bool) -> Status:
    problem, title = "", "" if thorough else _quick_title(ws, id)
    try:
        title = title or load(ws, id).title
    except EchoError as found:
        problem = found.why
    try:
        dossier = ws.dossier(id)
    except EchoError as found:
        return Status(id, title, "", "", f"echoctl verify {id}", "", problem=found.why)
    return Status(
        id=id, title=title, state=str(dossier.state),
        colour=str(dossier.state) if dossier.verdict else "",
        next=next_command(dossier),
        since=dossier.times.get(_LED_HERE[dossier.state], ""),
        evidence=_evidence(ws, dossier) if thorough and dossier.freeze else None,
        preflight=dossier.preflight,
        seeds=str(dossier.preflight["seeds"]) if dossier.preflight else "",
        reviews=len(dossier.reviews), findings=len(dossier.findings),
        answered=len(dossier.findings) - len(dossier.unanswered),
        blocking=len(dossier.blocking), amendments=len(dossier.amendments),
        jobs=int(dossier.freeze["jobs"]) if dossier.freeze else 0, done=len(dossier.done),
        incidents=tuple(f"{one['kind']}: {one['text']}" for one in dossier.incidents),
        changed=_changed(ws, dossier), problem=problem, facts=_facts(dossier),
    )  # fmt: skip


_TITLE = re.compile(r"^title:[ \t]+([\w\"'][^#\n]*?)[ \t]*$", re.MULTILINE)


def _quick_title(ws: Workspace, id: str) -> str:
    """Return a contract's title by its line, or empty where only reading all of it will do.

    A list need not wait for every contract to be read and checked; `status` and `lint` do that.
    """
    try:
        text = ws.contract_path(id).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    found = _TITLE.search(text)
    return found[1].strip("\"'") if found else ""


_LED_HERE = {
    State.DRAFT: "", State.PREFLIGHTED: "preflight", State.REVIEWED: "review",
    State.FROZEN: "freeze", State.OPENED: "claim", State.COMPLETE: "complete",
    State.GREEN: "verdict", State.RED: "verdict", State.CLOSED: "closure",
}  # fmt: skip


def _evidence(ws: Workspace, dossier: Dossier) -> Evidence:
    from echoctl.desk.witnesses import evidence  # asks git and others, so `list` goes without

    return evidence(ws, dossier)


def _facts(dossier: Dossier) -> dict[str, str]:
    out = {}
    if dossier.freeze:
        out["freeze"] = str(dossier.freeze["manifest"])
    if dossier.claim:
        out["claim"] = str(dossier.claim["claim"])
    return out


def _changed(ws: Workspace, dossier: Dossier) -> bool:
    path = ws.contract_path(dossier.id)
    if dossier.contract is None or not path.exists():
        return False
    return sha256(path.read_bytes()) != dossier.contract
