"""Playing jobs outside an exam: training and development, into a folder of their own."""

from __future__ import annotations

import gzip
import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from echoctl.contract import Contract, Seeds
from echoctl.contract.exhibits import outside_exams
from echoctl.desk.workspace import Workspace, sha256
from echoctl.disk import make_folder, read_plain, write_whole
from echoctl.errors import CheckFailed, EchoError, Inconsistent, UsageError
from echoctl.runner.local import Local
from echoctl.runner.run import Artefact, Code, Engine, Observer, Result, Silent, Task, run
from echoctl.track.files import read_outcome
from echoctl.track.job import Job
from echoctl.track.loading import find_track, load_track
from echoctl.track.outcome import Outcome
from echoctl.worlds import Permit

if TYPE_CHECKING:
    from echoctl.verdict import Verdict

DEVELOPMENT = "development"


def fewer(contract: Contract, units: int | None) -> Contract:
    """Return the contract with its first `units` units; None keeps all. UsageError if too many."""
    if units is None:
        return contract
    if not 1 <= units <= contract.unit.count:
        raise UsageError(
            f"{contract.id} has {contract.unit.count} units, so {units} cannot be played",
            f"choose from 1 to {contract.unit.count}",
        )
    worlds = {
        name: stage
        if stage.units is None
        else stage.model_copy(update={"units": min(units, stage.units)})
        for name, stage in contract.worlds.items()
    }
    unit = contract.unit.model_copy(update={"count": units})
    return contract.model_copy(update={"unit": unit, "worlds": worlds})


def open_permit(contract: Contract, seeds: Seeds) -> Permit:
    """Return the permit of training and development: nothing that is sealed is on it."""
    stages = [name for name, stage in contract.worlds.items() if not stage.sealed]
    families = {f for name in stages for f in contract.worlds[name].families}
    return Permit.development(families - contract.sealed_families, _ranges(seeds, stages))


def exam_range(contract: Contract, seeds: Seeds) -> dict[str, Any]:
    """Return what the exam may build, as the manifest seals it: families and seed ranges."""
    families = {f for stage in contract.worlds.values() for f in stage.families}
    ranges = _ranges(seeds, contract.worlds)
    return {"families": sorted(families), "ranges": [list(one) for one in ranges]}


def _ranges(seeds: Seeds, stages: Iterator[str] | Sequence[str] | Mapping[str, Any]) -> list[Any]:
    found = [seeds.ranges(name) for name in stages if name in seeds.blocks]
    return sorted((block.start, block.stop) for block in found if len(block))


@dataclass
class FolderSink:
    """Keeps outcomes under ``jobs/`` of a folder and artefacts where they were made."""

    folder: Path
    artefacts: dict[str, Artefact]
    """Every artefact that a job may need; grows as jobs make more."""
    results: list[Result] = field(default_factory=list)

    def begin(self, job: Job, attempt: int) -> Task:
        """Return a task that writes inside the folder."""
        jobs = self.folder / "jobs"
        made = self.folder / "make" / f"{job.id}.{attempt}"
        jobs.mkdir(parents=True, exist_ok=True)
        if job.makes:
            made.mkdir(parents=True, exist_ok=True)
        part = jobs / f".{job.id}.{attempt}.part"
        part.unlink(missing_ok=True)
        return Task(
            job,
            attempt,
            part,
            needed(job, self.artefacts),
            {name: made / name for name in job.makes},
        )

    def done(self, result: Result) -> None:
        """Give the outcome its name and note what was made."""
        final = outcome_path(self.folder, result.task.job.id)
        result.task.out.replace(final)
        for name, sha in result.artefacts.items():
            self.artefacts[name] = Artefact(result.task.makes[name], sha)
        self.results.append(result)

    def incident(self, job: Job, kind: str, text: str) -> None:
        """Nothing: development keeps no ledger."""


def needed(job: Job, artefacts: Mapping[str, Artefact]) -> dict[str, Artefact]:
    """Return the artefacts that a job needs; UsageError for one that nobody made."""
    missing = [name for name in job.needs if name not in artefacts]
    if missing:
        raise UsageError(
            f"job {job.id} needs {missing[0]}, which no training job makes",
            "mend the track's plan, or require the track that made it with artefacts: true",
        )
    return {name: artefacts[name] for name in job.needs}


def outcome_path(folder: Path, job: str) -> Path:
    """Return where a job's outcome lies inside a folder of jobs."""
    return folder / "jobs" / f"{job}.jsonl.gz"


def working_code(
    ws: Workspace, contract: Contract, permit: Permit, *, hash_seed: int | None = None
) -> Code:
    """Return the working tree's code for a contract's track."""
    return Code(
        find_track(contract.track, ws.root), ws.root, sealed=False,
        measures=tuple(contract.measures), permit=permit.as_json(), hash_seed=hash_seed,
    )  # fmt: skip


def plan(ws: Workspace, contract: Contract, seeds: Seeds, phase: str) -> list[Job]:
    """Return a phase's jobs, planned twice and compared; CheckFailed where that differs."""
    track = load_track(contract.track, ws.root)
    jobs = list(track.plan(contract, seeds, phase))
    again = load_track(contract.track, ws.root).plan(contract, seeds, phase)
    if [job.as_json() for job in jobs] != [job.as_json() for job in again]:
        raise CheckFailed(
            f"{contract.track} plans other {phase} jobs the second time",
            "planning is pure: the same contract and seeds give the same jobs",
        )
    seen: set[str] = set()
    for job in jobs:
        if job.id in seen or job.phase != phase:
            raise CheckFailed(f"{contract.track} plans {phase} job {job.id} twice or elsewhere")
        seen.add(job.id)
    return jobs


def developed(ws: Workspace, contract: Contract) -> Contract:
    """Return the contract as development plays it: without sources that are not sealed yet.

    Its track then trains what it would have inherited; an exam never does without. Nor are an
    exam's published figures set beside worlds that only stand in for it.
    """
    there = [
        required
        for required in contract.requires
        if not required.artefacts or (ws.frozen(required.track) / "manifest.json").is_file()
    ]
    exhibits = outside_exams(contract.exhibits)
    return contract.model_copy(update={"requires": tuple(there), "exhibits": exhibits})


def inherited(ws: Workspace, contract: Contract, folder: Path) -> dict[str, Artefact]:
    """Unpack the sealed artefacts of required tracks, as ``TRACK.NAME``; hashes are checked."""
    out = {}
    for required in contract.requires:
        if not required.artefacts:
            continue
        manifest = json.loads(read_plain(ws.frozen(required.track) / "manifest.json"))
        make_folder(folder)
        for name, known in manifest["artefacts"].items():
            packed = read_plain(ws.frozen(required.track) / "artefacts" / f"{name}.gz")
            data = gzip.decompress(packed)
            if sha256(data) != known["sha256"]:
                raise Inconsistent(f"artefact {name} of {required.track} is not the sealed one")
            path = folder / f"{required.track}.{name}"
            path.write_bytes(data)
            out[path.name] = Artefact(path, known["sha256"])
    return out


@dataclass(frozen=True)
class Played:
    """A development run. It decides nothing: the verdict is marked DEVELOPMENT."""

    id: str
    folder: Path
    contract: Contract
    verdict: Verdict | None
    problem: str
    """Why there is no verdict, where there is none."""
    jobs: int
    rows: int
    milliseconds: int
    """Wall time of all jobs."""

    def outcomes(self) -> Iterator[Outcome]:
        """Yield every development outcome."""
        for path in sorted((self.folder / "jobs").glob("*.jsonl.gz")):
            yield read_outcome(path)

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints."""
        return {
            "id": self.id, "mark": "DEVELOPMENT", "folder": str(self.folder), "jobs": self.jobs,
            "rows": self.rows, "milliseconds": self.milliseconds, "problem": self.problem,
            "verdict": None if self.verdict is None else self.verdict.as_json(),
        }  # fmt: skip


def dev(
    ws: Workspace,
    id: str,
    *,
    units: int | None = None,
    workers: int = 2,
    observer: Observer | None = None,
    engine: Engine | None = None,
) -> Played:
    """Train, play the development worlds and compute the contract's checks on them.

    Decides nothing and writes only to ``artifacts/ID/dev/STAMP/``. UsageError where the track
    has no development.
    """
    ws.dossier(id).refuse("dev")
    contract = fewer(developed(ws, ws.working_contract(id)), units)
    seeds = Seeds.lay_out(contract)
    folder = stamped(ws.artifacts(id) / "dev", ws.clock())
    began = time.monotonic_ns()
    sink = FolderSink(folder, inherited(ws, contract, folder / "inherited"))
    watch = observer or Silent()
    code = working_code(ws, contract, open_permit(contract, seeds))
    trained, played = plan(ws, contract, seeds, "training"), plan(ws, contract, seeds, DEVELOPMENT)
    if not played:
        raise UsageError(f"{id} has no development jobs", "its track plans none")
    try:
        training = FolderSink(folder / "training", sink.artefacts)
        for jobs, into, what in ((trained, training, "training"), (played, sink, DEVELOPMENT)):
            run(
                jobs, engine=engine or Local(), code=code, workers=workers, sink=into,
                observer=watch, what=what,
            )  # fmt: skip
    except BaseException:
        shutil.rmtree(folder)  # half a run would look like a whole one
        raise
    verdict, problem = judged(contract, folder, played)
    if verdict is not None:
        write_whole(folder / "verdict.json", verdict.as_bytes())
    rows = sum(result.rows for result in sink.results)
    spent = (time.monotonic_ns() - began) // 1_000_000
    return Played(id, folder, contract, verdict, problem, len(played), rows, spent)


def judged(contract: Contract, folder: Path, jobs: Sequence[Job]) -> tuple[Verdict | None, str]:
    """Return what the contract's checks say about development, or why they cannot say it."""
    from echoctl.verdict import Standins, decide

    stages = {
        name: lead if (lead := f"dev_{name}") in contract.worlds else DEVELOPMENT
        for name in contract.sealed_stages
    }
    outcomes = (read_outcome(outcome_path(folder, job.id)) for job in jobs)
    try:
        verdict = decide(
            contract, outcomes, jobs=jobs, mark="DEVELOPMENT",
            standins=Standins.of(contract, stages),
        )  # fmt: skip
    except EchoError as problem:
        return None, problem.why
    return verdict, ""


def stamped(parent: Path, time: str) -> Path:
    """Create and return a folder named by the time; two in one second get two folders."""
    stamp = time.replace("-", "").replace(":", "")
    make_folder(parent)
    number = 1
    while True:
        folder = parent / (stamp if number == 1 else f"{stamp}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder
