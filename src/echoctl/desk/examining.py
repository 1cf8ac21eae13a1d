"""The exam: opened once, every job once from the sealed code, then decided.

Order on disk, which a crash at any instant leaves intact: claim file, claim line; for each job
start line, outcome file, done line; then completion, verdict file, verdict line. Whatever is
missing after a crash is played again from its seeds under the same claim and compared with what
was left behind.
"""

from __future__ import annotations

import json
import re
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from echoctl.canon import canonical, digest
from echoctl.desk.ledger import Ledger
from echoctl.desk.receiving import ExamSink
from echoctl.desk.sealed import Sealed, open_sealed, tree_differences
from echoctl.desk.sealing import WORKER, environment_differences, environment_of
from echoctl.desk.witnesses import claim_receipt, write_witnesses
from echoctl.desk.workspace import Workspace
from echoctl.disk import (
    fault,
    make_folder,
    read_plain,
    write_once,
    write_whole,
)
from echoctl.dossier import Dossier
from echoctl.errors import EchoError, Inconsistent, Interrupted, Refused
from echoctl.runner.local import Local
from echoctl.runner.run import Code, Engine, Observer, Silent, run
from echoctl.track.closure import code_closure
from echoctl.track.files import outcome_hash, read_outcome
from echoctl.track.job import Job
from echoctl.track.loading import find_track, source_from_json
from echoctl.track.outcome import Outcome
from echoctl.worlds import Permit

if TYPE_CHECKING:
    from echoctl.verdict import Verdict

_UNIT = re.compile(r"[-_.]?[0-9]+$")


@dataclass(frozen=True)
class Decided:
    """A decided exam: its claim, its verdict, what went wrong on the way."""

    id: str
    claim: str
    receipt: str
    verdict: Verdict
    jobs: int
    rows: int
    incidents: tuple[str, ...]
    rehearsal: bool

    @property
    def colour(self) -> str:
        """Return ``green`` or ``red``."""
        return self.verdict.colour

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints."""
        return {
            "id": self.id, "claim": self.claim, "receipt": self.receipt, "colour": self.colour,
            "jobs": self.jobs, "rows": self.rows, "incidents": list(self.incidents),
            "rehearsal": self.rehearsal, "verdict": self.verdict.as_json(),
        }  # fmt: skip


def exam(
    ws: Workspace,
    id: str,
    *,
    resume: bool = False,
    workers: int = 2,
    observer: Observer | None = None,
    engine: Engine | None = None,
) -> Decided:
    """Open the exam, play every job once from the sealed code, decide.

    With `resume` go on after a crash under the same claim; only what is missing is played.
    Refused (3) for a second exam, another environment or a second process; Inconsistent (5)
    where anything differs from the freeze; Interrupted (4) where it stops and can be resumed.
    """
    watch = observer or Silent()
    claimed = ws.exam(id) / "claim.json"
    try:
        with ws.writing(id) as ledger:
            fault("exam.locked")
            _refuse_opening(ledger.dossier, claimed, resume=resume)
            return _examine(ws, ledger, workers, watch, engine or Local())
    except OSError as problem:
        raise Interrupted(
            f"the disk refused: {problem.strerror}; what is done is kept",
            f"free some space, then: echoctl exam {id}{_again(claimed)}",
        ) from None
    except KeyboardInterrupt:
        raise Interrupted(
            f"the exam of {id} was stopped; what is done is kept",
            f"resume with: echoctl exam {id}{_again(claimed)}",
        ) from None


def _refuse_opening(dossier: Dossier, claimed: Path, *, resume: bool) -> None:
    """Refuse a second opening, and a resumption where nothing was opened."""
    dossier.refuse("resume" if resume else "exam")
    if not resume and (claimed.exists() or claimed.is_symlink()):
        raise Refused(
            f"{dossier.id} has a claim already: its opening was cut short. An exam runs once.",
            f"To go on under the same claim: echoctl exam {dossier.id} --resume",
        )
    if resume and dossier.claim is None and not claimed.exists():
        raise Refused(f"{dossier.id} was never opened, so nothing can be resumed",
                      f"open it: echoctl exam {dossier.id}")  # fmt: skip


def _again(claimed: Path) -> str:
    return " --resume" if claimed.exists() else ""


def _examine(
    ws: Workspace, ledger: Ledger, workers: int, watch: Observer, engine: Engine
) -> Decided:
    dossier, id = ledger.dossier, ledger.dossier.id
    if dossier.claim is None:
        _refuse_traces(ws, id)
    sealed = open_sealed(ws, dossier)
    _tell_differences(ws, sealed, watch)
    if dossier.complete is None:
        _refuse_environment(sealed, dossier)
        claim = _open(ws, ledger, sealed, watch)
        _play(ws, ledger, sealed, claim, workers, watch, engine)
        fault("exam.all-in")
        check_results(ws, dossier)
        results = dossier.results()
        ledger.append("complete", {"jobs": len(dossier.done), "results": results})
        fault("exam.completed")
    verdict = decide_sealed(ws, dossier, sealed)
    data = verdict.as_bytes()
    write_whole(ws.artifacts(id) / "verdict.json", data)
    fault("exam.decided")
    ledger.append("verdict", {"verdict": digest("verdict", data), "colour": verdict.colour})
    fault("exam.recorded")
    assert dossier.claim is not None
    claim = str(dossier.claim["claim"])
    return Decided(
        id, claim, claim_receipt(id, claim), verdict, len(dossier.done),
        sum(int(one["rows"]) for one in dossier.done.values()), told_incidents(dossier),
        dossier.rehearsal,
    )  # fmt: skip


def _refuse_traces(ws: Workspace, id: str) -> None:
    """Refuse to open an exam of which something is left: its ledger lost what came after."""
    traces = [
        ws.artifacts(id) / "witness" / "claim.txt", ws.artifacts(id) / "verdict.json",
        ws.exam(id) / "timings.jsonl", *sorted((ws.exam(id) / "jobs").glob("*.gz"))[:1],
        *sorted(ws.results_path(id).glob(f"{id}.*"))[:1],
    ]  # fmt: skip
    for path in traces:
        if path.exists() or path.is_symlink():
            raise Inconsistent(
                f"{path.relative_to(ws.root)} is here, and the ledger of {id} has no claim: its "
                "tail was cut",
                "restore the ledger from a copy that verifies",
            )


def told_incidents(dossier: Dossier) -> tuple[str, ...]:
    """Return every incident since the claim as a line."""
    return tuple(
        f"{one['job'] or dossier.id}: {one['kind']}: {one['text']}"
        for one in dossier.incidents
        if one["kind"] != "rehearsal"
    )


def _tell_differences(ws: Workspace, sealed: Sealed, watch: Observer) -> None:
    """Note how the working tree differs from what runs; the exam uses the sealed code anyway."""
    for note in sealed.notes:
        watch.note(note)
    try:
        closure = code_closure(find_track(sealed.contract.track, ws.root), ws.root, WORKER)
    except EchoError as problem:
        watch.note(f"the working tree's track does not load ({problem.why}); the sealed one runs")
        return
    found = tree_differences(sealed, closure)
    for line in found[:5]:
        watch.note(f"working tree: {line}; the sealed code runs")
    if len(found) > 5:
        watch.note(f"working tree: {len(found) - 5} more files differ")


def sealed_code(sealed: Sealed, permit: Permit | None) -> Code:
    """Return the sealed code as what workers start on."""
    play = sealed.manifest["play"]
    return Code(
        source_from_json(play["track"]), sealed.zip, sealed=True,
        measures=tuple(play["measures"]), permit=None if permit is None else permit.as_json(),
    )  # fmt: skip


def exam_permit(sealed: Sealed, claim: str, *, rehearsal: bool) -> Permit:
    """Return the permit that a claim opens."""
    said = sealed.manifest["play"]["permit"]
    ranges = [(int(first), int(past)) for first, past in said["ranges"]]
    if rehearsal:
        return Permit.rehearsal(said["families"], ranges)
    return Permit.exam(said["families"], ranges, claim)


def _refuse_environment(sealed: Sealed, dossier: Dossier) -> None:
    wanted = sealed.manifest["environment"]
    found = environment_of(sealed_code(sealed, None), list(wanted["distributions"]))
    differences = environment_differences(wanted, found)
    if differences:
        raise Refused(
            f"this is not the environment that was frozen: {'; '.join(differences[:6])}",
            "install what the manifest names (artifacts/"
            f"{dossier.id}/frozen/manifest.json, environment) and try again",
            differences=differences,
        )


def _open(ws: Workspace, ledger: Ledger, sealed: Sealed, watch: Observer) -> str:
    """Claim the exam, or take up the claim that a crash left; return its hash."""
    dossier, path = ledger.dossier, ws.exam(ledger.dossier.id) / "claim.json"
    if dossier.claim is None and not path.exists():
        time = ledger.now()
        body = {
            "schema": "echoctl/claim/1", "id": dossier.id, "freeze": sealed.freeze,
            "head": list(dossier.head), "nonce": secrets.token_hex(16), "time": time,
        }  # fmt: skip
        write_once(path, canonical(body) + b"\n")
        fault("exam.claimed")
    data = read_plain(path)
    claim = digest("claim", data)
    if dossier.claim is None:
        opened = _opened_at(data, dossier, sealed)
        ledger.append("claim", {"claim": claim, "freeze": sealed.freeze}, time=opened)
    elif dossier.claim["claim"] != claim:
        raise Inconsistent(
            f"claim.json is not what {dossier.id} was opened with",
            "restore it from a copy that verifies",
        )
    write_witnesses(ws, dossier)
    receipt = claim_receipt(dossier.id, claim)
    watch.note(f"claim  {receipt}  (opened {dossier.times['claim']}; keep this line outside)")
    return claim


def _opened_at(data: bytes, dossier: Dossier, sealed: Sealed) -> str:
    """Return when a claim without a ledger line was made; it must stand on this very head."""
    try:
        said = json.loads(data)
        here = [dossier.id, sealed.freeze, list(dossier.head)]
        if [said["id"], said["freeze"], said["head"]] == here:
            return str(said["time"])
    except (ValueError, KeyError, TypeError):
        pass
    raise Inconsistent(
        f"claim.json of {dossier.id} was not written on this ledger: its tail was cut",
        "restore the ledger from a copy that verifies",
    )


def _play(
    ws: Workspace, ledger: Ledger, sealed: Sealed, claim: str, workers: int, watch: Observer,
    engine: Engine,
) -> None:  # fmt: skip
    dossier, folder = ledger.dossier, ws.exam(ledger.dossier.id)
    make_folder(folder / "jobs")
    _refuse_strangers(folder / "jobs", sealed.jobs)
    check_results(ws, dossier)
    waiting = [job for job in sealed.jobs if job.id not in dossier.done]
    for job in waiting:
        if job.id in dossier.started:
            attempt = dossier.started[job.id]
            ledger.incident(job.id, "interrupted", f"attempt {attempt} left no receipt")
    permit = exam_permit(sealed, claim, rehearsal=dossier.rehearsal)
    with tempfile.TemporaryDirectory(prefix="echoctl-") as place:
        artefacts = sealed.unpack(Path(place, "needs"))
        sink = ExamSink(ledger, folder, artefacts, Path(place, "made"), watch)
        run(
            waiting, engine=engine, code=sealed_code(sealed, permit), workers=workers, sink=sink,
            observer=watch, what="exam", resume=f"echoctl exam {dossier.id} --resume",
        )  # fmt: skip


def _refuse_strangers(folder: Path, jobs: Sequence[Job]) -> None:
    """Raise Inconsistent for a file among the outcomes that belongs to no sealed job."""
    known = {f"{job.id}.jsonl.gz" for job in jobs}
    for path in sorted(folder.iterdir()):
        if path.name not in known and not (path.name.startswith(".") and path.suffix == ".part"):
            raise Inconsistent(f"exam/jobs/{path.name!r} belongs to no sealed job", "take it away")


def check_results(ws: Workspace, dossier: Dossier) -> None:
    """Compare every received outcome with its receipt; Inconsistent for a missing or changed one.

    A result that is missing is not a free slot: it is evidence that is gone.
    """
    for job, receipt in sorted(dossier.done.items()):
        path = ws.exam(dossier.id) / "jobs" / f"{job}.jsonl.gz"
        if path.is_symlink() or not path.is_file():
            raise Inconsistent(
                f"the result of job {job} is missing, and it was received",
                "restore it; an exam's results are written once and never played again",
            )
        found = outcome_hash(path)
        if found != receipt["outcome"]:
            raise Inconsistent(
                f"the result of job {job} was changed: its hash is {found[:12]}…, its receipt says "
                f"{receipt['outcome'][:12]}…",
                "restore it from a copy that verifies",
            )


def outcomes(ws: Workspace, dossier: Dossier) -> Iterator[Outcome]:
    """Yield every received outcome, one at a time, in the order of their jobs' names."""
    for job in sorted(dossier.done):
        yield read_outcome(ws.exam(dossier.id) / "jobs" / f"{job}.jsonl.gz")


def decide_sealed(ws: Workspace, dossier: Dossier, sealed: Sealed) -> Verdict:
    """Return the verdict of the sealed contract on the received outcomes."""
    from echoctl.verdict import decide

    return decide(
        sealed.contract,
        outcomes(ws, dossier),
        jobs=sealed.jobs,
        mark="REHEARSAL" if dossier.rehearsal else "",
        trained=trained(sealed),
        notes=_notes(dossier),
    )


def _notes(dossier: Dossier) -> list[str]:
    """Return the incidents that a reader of the verdict must know: results that differed."""
    return [f"{one['job']}: {one['text']}" for one in dossier.incidents if one["kind"] == "differs"]


def trained(sealed: Sealed) -> dict[str, dict[int, str]]:
    """Return, for each kind of trained artefact, the hash that every unit used.

    Artefacts of one kind are those whose names differ in a final number only.
    """
    out: dict[str, dict[int, str]] = {}
    for job in sealed.jobs:
        unit = job.keys.get("unit")
        for name in job.needs:
            if isinstance(unit, int):
                kind = _UNIT.sub("", name)
                out.setdefault(kind, {})[unit] = sealed.manifest["artefacts"][name]["sha256"]
    return out
