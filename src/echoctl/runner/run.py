"""Play jobs on an engine: order, retries, progress. Nothing here knows what a job measures.

An engine owns workers and four methods (`Engine`); this module owns the queue. Every worker
gets its next job the moment it returns one, so all are busy until the queue is empty. What a
worker writes goes to a file, so memory does not grow with the rows.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from echoctl.errors import CheckFailed, EchoError, Inconsistent, Interrupted, Refused, UsageError
from echoctl.track.job import Job
from echoctl.track.loading import TrackSource

ATTEMPTS = 3
"""How often a job may lose its worker before the run stops."""


@dataclass(frozen=True)
class Code:
    """What a worker starts on: the track, where its code lies, what it may build."""

    source: TrackSource
    root: Path
    """The workspace, or the sealed zip."""
    sealed: bool
    measures: tuple[str, ...]
    permit: Mapping[str, Any] | None = None
    """A permit as JSON, or None when no world may be built."""
    hash_seed: int | None = None
    """PYTHONHASHSEED for the workers, where a check wants a certain one."""

    def setup(self) -> dict[str, Any]:
        """Return the first message of the worker's protocol (docs/formats.md)."""
        return {
            "op": "setup", "track": self.source.as_json(), "measures": sorted(self.measures),
            "sealed": self.sealed, "root": str(self.root), "attached": True,
            "permit": None if self.permit is None else dict(self.permit),
        }  # fmt: skip


@dataclass(frozen=True)
class Artefact:
    """A trained artefact: where it lies uncompressed, and its SHA-256."""

    path: Path
    sha256: str


@dataclass(frozen=True)
class Task:
    """One attempt at a job: the file to create and the artefacts to read and to write."""

    job: Job
    attempt: int
    out: Path
    needs: Mapping[str, Artefact] = field(default_factory=dict)
    makes: Mapping[str, Path] = field(default_factory=dict)

    def message(self) -> dict[str, Any]:
        """Return the task in the worker's protocol."""
        return {
            "op": "play", "job": self.job.as_json(), "out": str(self.out),
            "needs": {n: {"path": str(a.path), "sha256": a.sha256} for n, a in self.needs.items()},
            "makes": {name: str(path) for name, path in self.makes.items()},
        }  # fmt: skip


@dataclass(frozen=True)
class Result:
    """What one finished job reported; its rows lie in ``task.out``."""

    task: Task
    outcome: str
    """The outcome's hash."""
    rows: int
    artefacts: Mapping[str, str]
    opened: tuple[str, ...]
    """Files that the job read beside code and artefacts (development only)."""
    milliseconds: int


@dataclass(frozen=True)
class Event:
    """What an engine tells: `kind` is ``at`` (data: rows), ``done``, ``failed`` or ``lost``."""

    worker: int
    kind: str
    data: Mapping[str, Any]


class Engine(Protocol):
    """Workers somewhere. A lost worker is replaced by the engine before it says so."""

    def start(self, code: Code, workers: int) -> None:
        """Start workers 0 to ``workers - 1``."""
        ...

    def send(self, worker: int, task: Task) -> None:
        """Give an idle worker its next task."""
        ...

    def wait(self) -> Event:
        """Block until a worker has something to say."""
        ...

    def stop(self) -> None:
        """End every worker, whatever it is doing; stopping twice is harmless."""
        ...


class Sink(Protocol):
    """Who prepares attempts and keeps results. Called from one thread, in order of events."""

    def begin(self, job: Job, attempt: int) -> Task:
        """Record that a job starts and return its task."""
        ...

    def done(self, result: Result) -> None:
        """Keep a result."""
        ...

    def incident(self, job: Job, kind: str, text: str) -> None:
        """Record that a worker was ``lost`` or that a job ``failed``."""
        ...


@dataclass(frozen=True)
class Progress:
    """How far a run is. Counts and times only, never a measure."""

    what: str
    jobs: int
    total: int
    rows: int
    """Episodes played so far."""
    rows_per_second: int
    seconds_left: int | None
    """None until there is something to reckon from."""
    workers: int


class Observer(Protocol):
    """Who watches a run."""

    def progress(self, at: Progress) -> None:
        """Show how far it is; called a few times a second."""
        ...

    def note(self, text: str) -> None:
        """Show a line that must not be lost: a receipt, an incident."""
        ...


class Silent:
    """An observer that shows nothing."""

    def progress(self, at: Progress) -> None:
        """Ignore it."""

    def note(self, text: str) -> None:
        """Ignore it."""


def run(
    jobs: Sequence[Job],
    *,
    engine: Engine,
    code: Code,
    workers: int,
    sink: Sink,
    observer: Observer,
    what: str,
    resume: str = "",
    at_end: Callable[[], None] | None = None,
) -> None:
    """Play every job once and hand each result to the sink; then call `at_end`, workers idle.

    Raises Interrupted on Ctrl-C (with the `resume` command), CheckFailed when a job fails or
    loses its worker `ATTEMPTS` times. The workers are stopped in every case.
    """
    if not jobs:
        return
    count = max(1, min(workers, len(jobs)))
    desk = _Desk(deque(jobs), len(jobs), sink, observer, what, count, resume or "start it again")
    try:
        engine.start(code, count)
        for worker in range(count):
            desk.feed(engine, worker)
        while desk.busy:
            desk.hear(engine, engine.wait())
        if at_end is not None:
            at_end()
    except KeyboardInterrupt:
        raise Interrupted(
            f"stopped after {desk.finished} of {len(jobs)} jobs; what is done is kept",
            f"resume with: {resume}" if resume else "start it again",
        ) from None
    finally:
        engine.stop()


class _Desk:
    """The queue of one run."""

    def __init__(
        self, waiting: deque[Job], total: int, sink: Sink, observer: Observer, what: str,
        workers: int, again: str,
    ) -> None:  # fmt: skip
        self.waiting = waiting
        self.total = total
        self.sink = sink
        self.observer = observer
        self.what = what
        self.workers = workers
        self.again = again
        self.busy: dict[int, tuple[Task, int]] = {}
        self.finished = 0
        self.rows = 0
        self.running: dict[int, int] = {}
        self.attempts: dict[str, int] = {}
        self.began = time.monotonic_ns()

    def feed(self, engine: Engine, worker: int) -> None:
        """Give a worker the next job, if there is one."""
        if self.waiting:
            self._give(engine, worker, self.waiting.popleft())

    def _give(self, engine: Engine, worker: int, job: Job) -> None:
        attempt = self.attempts[job.id] = self.attempts.get(job.id, 0) + 1
        task = self.sink.begin(job, attempt)
        self.busy[worker] = (task, time.monotonic_ns())
        self.running[worker] = 0
        engine.send(worker, task)

    def hear(self, engine: Engine, event: Event) -> None:
        """Act on what an engine said."""
        if event.kind == "at":
            self.running[event.worker] = event.data["rows"]
            self._show()
            return
        if event.worker not in self.busy:
            raise _error(event.data)
        task, began = self.busy.pop(event.worker)
        self.running.pop(event.worker)
        if event.kind == "lost":
            self._lost(engine, event, task.job)
        elif event.kind == "failed":
            raise self._failed(task.job, event.data)
        else:
            spent = (time.monotonic_ns() - began) // 1_000_000
            said = event.data
            self.sink.done(Result(
                task, said["outcome"], said["rows"], said["artefacts"], tuple(said["opened"]), spent
            ))  # fmt: skip
            self.finished += 1
            self.rows += said["rows"]
            self._show()
            self.feed(engine, event.worker)

    def _failed(self, job: Job, said: Mapping[str, Any]) -> EchoError:
        why = f"job {job.id}: {said['why']}"
        if said.get("exit") == Interrupted.exit_code:
            # A full disk, which is no failure of the job: the ledger does not say that it failed.
            return Interrupted(
                f"{why}; what is done is kept", f"{said['todo']}, then: {self.again}"
            )
        self.sink.incident(job, "failed", said["why"])
        return _error({**said, "why": why})

    def _lost(self, engine: Engine, event: Event, job: Job) -> None:
        self.sink.incident(job, "worker lost", event.data["why"])
        self.observer.note(f"job {job.id} lost its worker ({event.data['why']}); trying again")
        if self.attempts[job.id] >= ATTEMPTS:
            raise CheckFailed(
                f"job {job.id} lost its worker {ATTEMPTS} times: {event.data['why']}",
                "find out what kills it (memory?), then resume",
            )
        self._give(engine, event.worker, job)

    def _show(self) -> None:
        spent = max(1, time.monotonic_ns() - self.began)
        rows = self.rows + sum(self.running.values())
        left = None
        if self.finished:
            left = spent * (self.total - self.finished) // self.finished // 1_000_000_000
        self.observer.progress(Progress(
            self.what, self.finished, self.total, rows, rows * 1_000_000_000 // spent, left,
            self.workers,
        ))  # fmt: skip


def _error(said: Mapping[str, Any]) -> EchoError:
    kinds: dict[int, type[EchoError]] = {
        1: CheckFailed, 2: UsageError, 3: Refused, 4: Interrupted, 5: Inconsistent,
    }  # fmt: skip
    return kinds.get(said.get("exit", 1), CheckFailed)(said["why"], said.get("todo", ""))
