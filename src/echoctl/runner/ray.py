"""Ray as the engine: workers on every machine of a cluster (``pip install 'echoctl[ray]'``).

One actor a worker, and each hosts the same child process as the local engine does
(`echoctl.runner.host`). The code travels as a zip: in an exam the sealed one, in development
the import closure of the working tree and the files beside a workspace's track. Outcomes and
artefacts travel as bytes and land where the task wants them, so nothing of a cluster needs to
share a disk with this machine. A worker, actor or node that dies is replaced and told as lost.

Every node must run the same interpreter and versions as this machine: another one is refused
before a job is believed, because the bytes would not be the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import socket
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from echoctl.errors import CheckFailed, Refused, UsageError
from echoctl.runner import host
from echoctl.runner.local import Local
from echoctl.runner.run import Code, Event, Task
from echoctl.track.closure import build_zip, code_closure

STARTS = 5
"""How often in a row a worker may die before it has said that it is ready."""

PATIENCE_S = 600
"""Seconds that a worker may wait for a place in the cluster (a cluster may have to grow)."""

BESIDE_LIMIT = 256 * 2**20
"""Bytes that a workspace's track may have beside it when it travels in development."""


@dataclass
class _Worker:
    """One actor: what was asked of it and has not been answered, oldest first."""

    actor: Any
    began: float
    asked: deque[Any] = field(default_factory=deque)
    ready: bool = False
    task: Task | None = None


class Ray:
    """The engine of a Ray cluster (see `echoctl.runner.run.Engine`).

    `address` is the head's ``HOST:PORT`` or ``auto`` for the cluster that runs on this machine;
    None starts a cluster of this machine's own, which ends with this process or with `close`.
    Where the caller has called ``ray.init`` already, that connection is used.
    """

    def __init__(self, address: str | None = None) -> None:
        self._address = address
        self._ray: Any = None
        self._ours = False
        """Whether this engine connected, and must leave."""
        self._alone = False
        """Whether the cluster is this machine only, where workers may outnumber cores."""
        self._workers: list[_Worker] = []
        self._events: deque[Event] = deque()
        self._begin: Callable[[float], _Worker] | None = None
        self._here: Mapping[str, Any] = {}
        self._stillborn = 0

    def start(self, code: Code, workers: int) -> None:
        """Connect, send the code, start the actors; they load while the first tasks wait.

        UsageError where Ray is not installed or the cluster has fewer CPUs than `workers`;
        CheckFailed where the address does not answer.
        """
        ray = self._connect(workers)
        if not self._alone:
            self._refuse_small(workers)
        data = code.root.read_bytes() if code.sealed else build_zip(travelling(code))
        sent, sha256, setup = ray.put(data), hashlib.sha256(data).hexdigest(), code.setup()
        ray.cloudpickle.register_pickle_by_value(host)
        actor = ray.remote(max_restarts=0, scheduling_strategy="SPREAD")(host.Host)
        self._here = _environment(code)
        names = list(self._here["distributions"])

        def begin(cpus: float) -> _Worker:
            made = actor.options(num_cpus=cpus).remote(sent, sha256, setup, code.hash_seed)
            worker = _Worker(made, time.monotonic())
            worker.asked.append(made.begin.remote(names))
            return worker

        self._begin = begin
        self._workers = [begin(0 if self._alone else 1) for _ in range(workers)]

    def cpus(self) -> int:
        """Return how many CPUs the cluster has, by default the machine's cores; at least 1."""
        if self._address is None:
            return os.cpu_count() or 1
        ray = self._connect(1)
        return max(1, int(ray.cluster_resources().get("CPU", 0)))

    def send(self, worker: int, task: Task) -> None:
        """Give a worker its next task, with the bytes of what it needs."""
        to = self._workers[worker]
        to.task = task
        needs = {name: (one.sha256, one.path.read_bytes()) for name, one in task.needs.items()}
        to.asked.append(to.actor.play.remote(task.job.as_json(), needs, list(task.makes)))

    def wait(self) -> Event:
        """Block until a worker says something or dies."""
        while not self._events:
            first = {worker.asked[0]: n for n, worker in enumerate(self._workers) if worker.asked}
            answered, _ = self._ray.wait(list(first), num_returns=1, timeout=1)
            for asked in answered:
                self._listen(first[asked], asked)
            if not answered:
                self._refuse_waiting()
        return self._events.popleft()

    def stop(self) -> None:
        """End every worker; the connection stays for the next run (see `close`)."""
        workers, self._workers = self._workers, []
        self._events.clear()
        if not workers:
            return
        ending = [worker.actor.end.remote() for worker in workers if worker.ready]
        with contextlib.suppress(self._ray.exceptions.RayError):
            self._ray.wait(ending, num_returns=len(ending), timeout=5) if ending else None
        for worker in workers:
            self._kill(worker)

    def close(self) -> None:
        """End every worker and leave the cluster if this engine joined or started it."""
        self.stop()
        if self._ours:
            self._ray.shutdown()
        self._ray, self._ours, self._alone = None, False, False

    def _connect(self, workers: int) -> Any:  # noqa: ANN401 - Ray may be absent
        """Return the package ray, connected; once connected it stays so until `close`."""
        if self._ray is not None:
            return self._ray
        # A run of an experiment reports to nobody.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ImportError:
            raise UsageError(
                "Ray is not installed here", "run: pip install 'echoctl[ray]'"
            ) from None
        if self._address is not None:
            _knock(self._address)
        if ray.is_initialized():
            inside = ray.get_runtime_context().gcs_address
            if self._address not in (None, "auto", inside):
                raise UsageError(
                    f"this process is connected to the Ray cluster at {inside} already",
                    "name that address, or leave it first",
                )
            self._ray = ray
            return ray
        quiet = {"log_to_driver": False, "logging_level": "error", "include_dashboard": False}
        if self._address is None:
            ray.init("local", num_cpus=workers, **quiet)
            self._alone = True
        else:
            try:
                ray.init(self._address, **quiet)
            except (ConnectionError, RuntimeError, ValueError) as problem:
                first = next(iter(str(problem).strip().splitlines()), type(problem).__name__)
                raise CheckFailed(
                    f"no Ray cluster could be joined at {self._address}: {first}", _START_ONE
                ) from None
        self._ray, self._ours = ray, True
        return ray

    def _listen(self, number: int, asked: Any) -> None:  # noqa: ANN401
        worker = self._workers[number]
        try:
            said = self._ray.get(asked)
        except self._ray.exceptions.RayError as problem:
            # An actor or node that died, a full disk on the node, an object lost with its node.
            self._replace(number, _first_line(problem))
            return
        worker.asked.popleft()
        for one in [said] if isinstance(said, dict) else said:
            self._hear(number, one)
        if self._workers[number] is worker and worker.task is not None and not worker.asked:
            worker.asked.append(worker.actor.hear.remote())

    def _hear(self, number: int, said: host.Said) -> None:
        worker = self._workers[number]
        if "environment" in said:
            _refuse_other(said["environment"], self._here)
            worker.ready = True
            self._stillborn = 0
        elif "at" in said:
            self._events.append(Event(number, "at", {"rows": said["at"]}))
        elif "lost" in said:
            if worker.task is not None and said["left"] is not None:
                # A half-written outcome must be a beginning of the next attempt's.
                worker.task.out.write_bytes(said["left"])
            self._replace(number, said["lost"])
        elif "failed" in said:
            if not worker.ready:
                # The track does not load; every worker would say the same.
                raise CheckFailed(said["failed"]["why"], said["failed"]["todo"])
            worker.task = None
            self._events.append(Event(number, "failed", said["failed"]))
        else:
            self._land(number, worker, said)

    def _land(self, number: int, worker: _Worker, said: host.Said) -> None:
        """Write what a finished job made to where its task wants it."""
        task, worker.task = worker.task, None
        assert task is not None
        for name, data in said["made"].items():
            if hashlib.sha256(data).hexdigest() != said["done"]["artefacts"][name]:
                self._lost(number, f"artefact {name} was damaged on its way")
                return
            task.makes[name].write_bytes(data)
        with task.out.open("xb") as out:
            out.write(said["out"])
            out.flush()
            os.fsync(out.fileno())
        self._events.append(Event(number, "done", said["done"]))

    def _replace(self, number: int, why: str) -> None:
        old = self._workers[number]
        self._kill(old)
        if not old.ready:
            self._stillborn += 1
            if self._stillborn >= STARTS:
                raise CheckFailed(f"workers do not start: {why}", "run echoctl preflight")
            # It may have been sent to a node of which the cluster does not know yet that it died.
            time.sleep(self._stillborn)
        assert self._begin is not None
        # The node that had room for it may be gone: the new one squeezes in beside the others.
        self._workers[number] = self._begin(0)
        if old.ready:
            self._lost(number, why)
        elif old.task is not None:
            self.send(number, old.task)  # which never began, so nothing was lost

    def _lost(self, number: int, why: str) -> None:
        self._events.append(Event(number, "lost", {"why": why}))

    def _kill(self, worker: _Worker) -> None:
        with contextlib.suppress(self._ray.exceptions.RayError):
            self._ray.kill(worker.actor)

    def _refuse_small(self, workers: int) -> None:
        size = int(self._ray.cluster_resources().get("CPU", 0))
        if workers > size:
            raise UsageError(
                f"{workers} workers were asked of a cluster that has {size} CPUs",
                f"add --workers {size}" if size else "add nodes to it",
            )

    def _refuse_waiting(self) -> None:
        for number, worker in enumerate(self._workers):
            if not worker.ready and time.monotonic() - worker.began > PATIENCE_S:
                free = int(self._ray.available_resources().get("CPU", 0))
                raise CheckFailed(
                    f"worker {number} found no place in {PATIENCE_S} s: the cluster has "
                    f"{free} free CPUs",
                    "ask for fewer --workers, or wait until the cluster is less busy",
                )


_START_ONE = "start one with `ray start --head` and name what it prints, HOST:PORT"


def _knock(address: str) -> None:
    """Raise where nobody answers at an address: Ray itself would try for minutes."""
    if address == "auto":
        return
    name, _, port = address.rpartition(":")
    if "/" in address or not name or not port.isdecimal():
        raise UsageError(f"{address!r} is no address of a Ray cluster", _START_ONE)
    try:
        socket.create_connection((name.strip("[]"), int(port)), timeout=5).close()
    except (OSError, OverflowError) as problem:
        raise CheckFailed(f"no Ray cluster answers at {address}: {problem}", _START_ONE) from None


def travelling(code: Code) -> dict[str, bytes]:
    """Return ``path -> bytes`` of what the working tree sends to the workers.

    The import closure of track and worker and, for a workspace's track, the files under its
    folder that are no Python; what lies in hidden folders or is reached through symlinks stays.
    """
    files = code_closure(code.source, code.root, ("echoctl.runner.worker",))
    folder = code.source.folder
    if not folder:  # an installed track, or one whose folder is the whole workspace
        return files
    size = 0
    for path in sorted((code.root / folder).rglob("*")):
        inside = path.relative_to(code.root)
        hidden = any(part.startswith((".", "__pycache__")) for part in inside.parts)
        if hidden or path.is_symlink() or path.suffix == ".py" or not path.is_file():
            continue
        size += path.stat().st_size
        if size > BESIDE_LIMIT:
            raise UsageError(
                f"more than {BESIDE_LIMIT >> 20} MiB lie beside the track in {folder}",
                "keep data elsewhere, or play development on this machine (--runner local)",
            )
        files.setdefault(inside.as_posix(), path.read_bytes())
    return files


def _required() -> list[str]:
    """Return the distributions that echoctl needs, whose versions decide bytes."""
    asked = metadata.requires("echoctl") or []
    names = (re.match(r"[A-Za-z0-9._-]+", one) for one in asked if "extra ==" not in one)
    return sorted({name.group() for name in names if name})


def _environment(code: Code) -> dict[str, Any]:
    """Return what a worker on this machine sees: what it loads, and what it may load later."""
    engine = Local()
    try:
        engine.start(code, 1)
        loaded = engine.ask_environment()["distributions"]
        return engine.ask_environment(sorted({*loaded, *_required()}))
    finally:
        engine.stop()


def _refuse_other(there: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """Refuse a node whose interpreter or versions differ; what it lacks, its jobs will miss."""
    found = [
        f"{key} is {there[key]} there, {here[key]} here"
        for key in ("python", "implementation", "platform")
        if there[key] != here[key]
    ]
    versions = there["distributions"]
    found += [
        f"{name} is {versions[name]} there, {version} here"
        for name, version in here["distributions"].items()
        if versions.get(name, "absent") not in (version, "absent")
    ]
    found += [
        f"{name} has other code there"
        for name, code in here["code"].items()
        if versions.get(name) == here["distributions"][name] and there["code"][name] != code
    ]
    if found:
        raise Refused(
            f"a node of the cluster is not like this machine: {'; '.join(found[:6])}",
            "install the same versions on every node",
            differences=found,
        )


def _first_line(problem: Exception) -> str:
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return f"{type(problem).__name__}: {lines[0] if lines else ''}"[:300]
