"""Where an exam's results come in: published once, compared with what a crash left, receipted."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from echoctl.desk.ledger import Ledger
from echoctl.disk import fault, make_folder, publish, sync_folder
from echoctl.errors import Inconsistent
from echoctl.runner.run import Artefact, Observer, Result, Task
from echoctl.track.files import begins_with, outcome_hash, salvaged
from echoctl.track.job import Job


@dataclass
class ExamSink:
    """Publishes outcomes and writes receipts; what a crash left behind is compared first."""

    ledger: Ledger
    folder: Path
    artefacts: dict[str, Artefact]
    scratch: Path
    """Where jobs write artefacts, of which the exam keeps the hash only."""
    watch: Observer
    _parts: dict[str, set[Path]] = field(default_factory=dict, init=False)
    """Half-written results by job: those found at the start, and those begun since."""

    def __post_init__(self) -> None:
        # Listed once: a folder of thousands of results is slow to search for every job.
        for path in self._jobs.glob(".*.part"):
            job = path.name.removeprefix(".").removesuffix(".part").rpartition(".")[0]
            self._parts.setdefault(job, set()).add(path)

    def begin(self, job: Job, attempt: int) -> Task:
        """Write the start line; the attempt is counted over every run of this exam."""
        number = self.ledger.dossier.started.get(job.id, 0) + 1
        part = self._jobs / f".{job.id}.{number}.part"
        if part.exists():
            # Only a lost ledger line can leave a file of an attempt that the ledger never saw.
            self._set_aside(job.id, part, "an attempt that the ledger does not know left a file")
        self._parts.setdefault(job.id, set()).add(part)
        self.ledger.append("start", {"job": job.id, "attempt": number})
        fault("exam.started")
        needs = {name: self.artefacts[name] for name in job.needs}
        made = self.scratch / f"{job.id}.{number}"
        made.mkdir(parents=True)
        return Task(job, number, part, needs, {name: made / name for name in job.makes})

    def done(self, result: Result) -> None:
        """Compare, publish, then write the receipt."""
        fault("exam.returned")
        job, part = result.task.job.id, result.task.out
        self._compare_leftovers(job, part)
        final = self._jobs / f"{job}.jsonl.gz"
        if final.exists() or final.is_symlink():
            self._compare_orphan(job, final, result)
        if final.exists():
            part.unlink()
        else:
            publish(part, final)
        fault("exam.published")
        dossier = self.ledger.dossier
        time = self.ledger.now()
        self.ledger.append("done", {
            "job": job, "outcome": result.outcome, "rows": result.rows,
            "attempt": result.task.attempt, "head": list(dossier.head),
        }, time=time)  # fmt: skip
        fault("exam.received")
        with (self.folder / "timings.jsonl").open("a", encoding="utf-8") as out:
            out.write(json.dumps({"job": job, "ms": result.milliseconds}) + "\n")

    def incident(self, job: Job, kind: str, text: str) -> None:
        """Record it. What a job says when it fails may hold measures, so it is not repeated."""
        self.ledger.incident(job.id, kind, text if kind != "failed" else "the job raised an error")

    @property
    def _jobs(self) -> Path:
        return self.folder / "jobs"

    def _compare_leftovers(self, job: str, part: Path) -> None:
        """Half-written results of earlier attempts must be beginnings of this one."""
        for old in sorted(self._parts.pop(job, ())):
            if old == part or not old.exists():
                continue
            if begins_with(part, salvaged(old)):
                old.unlink()
            else:
                self._set_aside(job, old, "a half-written result is no beginning of the new one")

    def _compare_orphan(self, job: str, final: Path, result: Result) -> None:
        """Keep a result without a receipt only if playing again gave the very same."""
        try:
            same = not final.is_symlink() and outcome_hash(final) == result.outcome
        except Inconsistent:
            same = False
        if not same:
            self._set_aside(job, final, "a result without a receipt differs from the new one")

    def _set_aside(self, job: str, path: Path, why: str) -> None:
        place = self.folder / "quarantine"
        make_folder(place)
        number = 0
        while (aside := place / f"{job}.{number}").exists():
            number += 1
        # Told first: what a crash leaves in between is found, compared and told again.
        self.watch.note(f"job {job}: {why}; kept as quarantine/{aside.name}")
        self.ledger.incident(job, "differs", f"{why} (quarantine/{aside.name})")
        fault("exam.aside")
        path.rename(aside)
        sync_folder(place)
