"""What a report is made of, from what was sealed, and the door through which it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from echoctl.canon import digest
from echoctl.contract import Contract
from echoctl.desk.examining import check_results, decide_sealed, outcomes, told_incidents
from echoctl.desk.ledger import ROLE
from echoctl.desk.sealed import Sealed, open_sealed
from echoctl.desk.witnesses import Evidence, evidence
from echoctl.desk.workspace import Workspace, sha256
from echoctl.disk import read_plain, write_whole
from echoctl.dossier import Dossier
from echoctl.errors import EchoError, Inconsistent, Interrupted, UsageError
from echoctl.track.loading import load_track
from echoctl.track.outcome import Outcome

if TYPE_CHECKING:
    from echoctl.verdict import Verdict


@dataclass(frozen=True)
class LedgerLine:
    """One ledger line, for the report's history."""

    time: str
    event: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Results:
    """A decided track: the sealed contract, the verdict computed anew, who vouches for it."""

    id: str
    workspace: Workspace
    contract: Contract
    verdict: Verdict
    evidence: Evidence
    environment: Mapping[str, Any]
    incidents: tuple[str, ...]
    head: tuple[int, str]
    """The ledger's head now: lines, hash."""
    rehearsal: bool
    history: tuple[LedgerLine, ...]
    """Every event but starts and receipts, in order."""

    def outcomes(self) -> Iterator[Outcome]:
        """Yield every outcome, one at a time."""
        yield from outcomes(self.workspace, self.workspace.dossier(self.id))


@dataclass(frozen=True)
class Recorded:
    """A report's files as the ledger records them."""

    id: str
    files: Mapping[str, str]
    """Path -> SHA-256."""

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints."""
        return {"id": self.id, "files": dict(self.files)}


def results(ws: Workspace, id: str) -> Results:
    """Return a decided track's results, read from what was sealed and decided anew.

    Refused before there is a verdict; Inconsistent where anything differs from what was sealed,
    or the verdict from what was recorded. No option could change a number.
    """
    ws.require(id)
    ws.settle(id)
    dossier = ws.dossier(id)
    dossier.refuse("report")
    sealed = open_sealed(ws, dossier)
    check_results(ws, dossier)
    verdict = _recorded_verdict(ws, dossier, sealed)
    return Results(
        id=id, workspace=ws, contract=sealed.contract, verdict=verdict,
        evidence=evidence(ws, dossier), environment=sealed.manifest["environment"],
        incidents=told_incidents(dossier), head=dossier.head, rehearsal=dossier.rehearsal,
        history=tuple(_history(ws, id)),
    )  # fmt: skip


def words(ws: Workspace, contract: Contract) -> Callable[[str, int], str]:
    """Return what a contract's track calls a value of a measure (`Track.word`).

    A word is an ornament: where the track has none, or does not load, it is the number.
    """
    track = None
    if any(exhibit.log is not None for exhibit in contract.exhibits):
        try:
            track = load_track(contract.track, ws.root)
        except EchoError:
            track = None

    def word(measure: str, value: int) -> str:
        try:
            return str(value) if track is None else str(track.word(contract, measure, value))
        except Exception:  # whatever a track's author did, the report is written
            return str(value)

    return word


def _recorded_verdict(ws: Workspace, dossier: Dossier, sealed: Sealed) -> Verdict:
    assert dossier.verdict is not None
    verdict = decide_sealed(ws, dossier, sealed)
    data = verdict.as_bytes()
    if digest("verdict", data) != dossier.verdict["verdict"]:
        raise Inconsistent(
            f"the sealed results of {dossier.id} do not give the recorded verdict",
            f"let the second opinion look: echoctl verify {dossier.id}",
        )
    if read_plain(ws.artifacts(dossier.id) / "verdict.json") != data:
        raise Inconsistent(
            f"verdict.json of {dossier.id} was changed; a verdict is derived, never read",
            "restore it from a copy that verifies",
        )
    return verdict


def _history(ws: Workspace, id: str) -> Iterator[LedgerLine]:
    from echoctl import chain

    for link in chain.read(ws.ledger_path(id), ROLE, id):
        record = link.record
        if record["event"] not in ("start", "done", "training"):
            yield LedgerLine(record["time"], record["event"], record["data"])


def record_report(ws: Workspace, id: str, files: Mapping[str, bytes]) -> Recorded:
    """Write a report's files under ``docs/results/`` and record their hashes.

    Names are relative to ``docs/results/`` and are ``ID.something`` or lie in ``ID/``. What an
    earlier report wrote and this one does not is taken away. Refused before there is a verdict.
    """
    for name in files:
        parts = name.split("/")
        mine = name.startswith(f"{id}.") if len(parts) == 1 else parts[0] == id
        if not mine or not name.isprintable() or {"", ".", ".."} & set(parts):
            raise UsageError(
                f"{name!r} is no file of the report of {id}", "name it ID.md or ID/..."
            )
    said = {f"docs/results/{name}": sha256(data) for name, data in sorted(files.items())}
    try:
        with ws.writing(id) as ledger:
            dossier = ledger.dossier
            dossier.refuse("report")
            for name, data in files.items():
                write_whole(ws.results_path(id) / name, data)
            before = dossier.reports[-1]["files"] if dossier.reports else {}
            for old in sorted(set(before) - set(said)):
                _drop(ws.root / old)
            if said != before:
                ledger.append("report", {"files": said})
    except OSError as problem:
        raise Interrupted(
            f"the disk refused the report of {id}: {problem.strerror}; its verdict is recorded",
            f"free some space, then: echoctl report {id}",
        ) from None
    return Recorded(id, said)


def _drop(path: Path) -> None:
    if path.is_file() or path.is_symlink():
        path.unlink()
