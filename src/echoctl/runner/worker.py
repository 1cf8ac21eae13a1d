"""The program that plays jobs: JSON lines in, JSON lines out (docs/formats.md).

It is the whole of what runs in an exam: it is sealed with the track, starts from the zip and
imports nothing of the project from anywhere else. While a job plays, an audit hook watches what
is opened: a file of the workspace that is not sealed is recorded in development (so that the
freeze seals it) and refused in an exam (attacks.md, row 9).
"""

from __future__ import annotations

import hashlib
import json
import os
import site
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from echoctl.disk import REFUSALS, fault
from echoctl.errors import EchoError, Inconsistent, Interrupted, UsageError
from echoctl.track.files import OutcomeWriter
from echoctl.track.job import Job, job_from_json
from echoctl.track.loading import import_track, source_from_json

if TYPE_CHECKING:
    from importlib.metadata import Distribution

    from echoctl.track.track import Track
    from echoctl.worlds import Permit, World

REPORT_EVERY_NS = 200_000_000

_SYSTEM = ("/dev/", "/proc/", "/sys/", "/etc/", "/usr/")
"""Folders of the system, free to open: their libraries are recorded by version."""

ANSWERS = "ECHOCTL_LLM_CACHE"
"""Names the folder of a language model's kept answers: evidence from outside, which nobody can
seal beforehand, so it is free to open. What came of an answer is in the rows."""

_NO_PART = {"_distutils_hack"}
"""Modules that an installer puts into every interpreter and no job uses."""

Answer: TypeAlias = Callable[[Mapping[str, Any]], None]


class Bench:
    """The workbench of one job: worlds behind the permit, artefacts with their hashes."""

    def __init__(self, job: Job, task: Mapping[str, Any], setup: Setup) -> None:
        self._job = job
        self._task = task
        self._setup = setup
        self.digests: dict[str, str] = {}

    def world(self, family: str, seed: int, ids: tuple[str | int, ...], stage: str) -> World:
        """See `echoctl.track.Workbench.world`."""
        from echoctl.worlds import build

        if self._setup.permit is None:
            raise UsageError("this run has no permit to build worlds", "give the runner one")
        return build(family, seed, ids=ids, permit=self._setup.permit)

    def artefact(self, name: str) -> Path:
        """See `echoctl.track.Workbench.artefact`."""
        if name not in self._job.needs:
            raise UsageError(f"job {self._job.id} does not say that it needs {name!r}")
        known = self._task["needs"][name]
        path = Path(known["path"])
        if hash_file(path) != known["sha256"]:
            raise Inconsistent(f"artefact {name} is not the one that was trained", "train again")
        return path

    def make(self, name: str) -> Path:
        """See `echoctl.track.Workbench.make`."""
        if name not in self._job.makes:
            raise UsageError(f"job {self._job.id} does not say that it makes {name!r}")
        return Path(self._task["makes"][name])

    def digest(self, name: str, value: str) -> None:
        """See `echoctl.track.Workbench.digest`."""
        if type(value) is not str or len(value) > 128 or name in self.digests:
            raise UsageError(f"job {self._job.id}: digest {name!r} is a short string, said once")
        self.digests[name] = value

    def data(self, name: str) -> bytes:
        """See `echoctl.track.Workbench.data`."""
        return self._setup.read_data(name)


class Setup:
    """What a worker is told once: track, measures, permit, where code and data lie."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        self.root = str(said["root"])
        self.sealed = bool(said["sealed"])
        self.measures: list[str] = list(said["measures"])
        self.permit = _permit(said.get("permit"))
        self.track: Track = import_track(source_from_json(said["track"]), self.root)

    def read_data(self, name: str) -> bytes:
        """Return a data file by its path relative to the workspace (sealed: inside the zip)."""
        if name.startswith("/") or ".." in name.split("/"):
            raise UsageError(f"data {name!r} lies outside the workspace", "put it inside")
        if not self.sealed:
            return Path(self.root, name).read_bytes()
        import zipfile

        with zipfile.ZipFile(self.root) as archive:
            try:
                return archive.read(name)
            except KeyError:
                raise Inconsistent(f"data {name!r} was not sealed", "it cannot be read") from None


def _permit(value: Mapping[str, Any] | None) -> Permit | None:
    if value is None:
        return None
    from echoctl.worlds import Permit

    return Permit.from_json(value)


class Watch:
    """Notes every file that is opened for reading while a job plays.

    Free to open: what belongs to Python, installed packages and the system, the job's own
    folder and the artefacts it needs. Everything else is data that the seal must hold.
    """

    def __init__(self) -> None:
        self.opened: set[str] = set()
        self._allowed: tuple[str, ...] = ()
        self._code: tuple[str, ...] = ()
        self._on = False
        sys.addaudithook(self._hook)

    def begin(self, setup: Setup, *folders: str) -> None:
        """Start to watch, with these folders free beside the usual ones."""
        free = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, *folders}
        free |= {*site.getsitepackages(), site.getusersitepackages()}
        if setup.sealed:
            free.add(setup.root)
        self._allowed = (*sorted(_folder(os.path.realpath(place)) for place in free), *_SYSTEM)
        self._code = tuple(_folder(os.path.realpath(place)) for place in sys.path if place)
        self.opened = set()
        self._on = True

    def end(self) -> list[str]:
        """Stop and return what was opened that is neither code nor free."""
        self._on = False
        return sorted(self.opened)

    def _hook(self, event: str, given: tuple[Any, ...]) -> None:
        if not self._on or event != "open":
            return
        path = given[0]
        if not isinstance(path, str | bytes | os.PathLike):
            return
        self._on = False
        try:
            real = os.path.realpath(os.fsdecode(path))
            if (real + "/").startswith(self._allowed):
                return
            if real.endswith((".py", ".pyc")) and real.startswith(self._code):
                return
            self.opened.add(real)
        finally:
            self._on = True


def _folder(path: str) -> str:
    return path.rstrip("/") + "/"


def play(
    job: Job, task: Mapping[str, Any], setup: Setup, watch: Watch, report: Answer
) -> dict[str, Any]:
    """Play one job into ``task["out"]`` and return what is reported about it."""
    bench = Bench(job, task, setup)
    own = [str(Path(path).parent) for path in task["makes"].values()]
    own += [str(known["path"]) for known in task["needs"].values()]
    if answers := os.environ.get(ANSWERS):
        own.append(answers)
    with OutcomeWriter(Path(task["out"]), job, setup.measures) as writer:
        watch.begin(setup, *own)
        opened: list[str] = []
        try:
            due = time.monotonic_ns() + REPORT_EVERY_NS
            for row in setup.track.play(job, bench):
                writer.row(row)
                if time.monotonic_ns() >= due:
                    report({"at": writer.rows})
                    due = time.monotonic_ns() + REPORT_EVERY_NS
        finally:
            opened = watch.end()
        if opened and setup.sealed:
            raise Inconsistent(
                f"job {job.id} opened what is not sealed: {', '.join(opened)[:300]}",
                "read data through the workbench, in training or development too",
            )
        artefacts = {}
        for name in job.makes:
            path = Path(task["makes"][name])
            if not path.is_file():
                raise UsageError(f"job {job.id} did not make its artefact {name}")
            artefacts[name] = hash_file(path)
        outcome = writer.finish(artefacts=artefacts, digests=dict(sorted(bench.digests.items())))
    return {"outcome": outcome, "rows": writer.rows, "artefacts": artefacts, "opened": opened}


def film(job: Job, task: Mapping[str, Any], setup: Setup) -> list[dict[str, Any]]:
    """Play a job again and return what there was to see in some rows (`echoctl.runner.camera`)."""
    from echoctl.runner import camera

    return camera.film(setup.track, job, Bench(job, task, setup), task["rows"])


def hash_file(path: Path) -> str:
    """Return the plain SHA-256 of a file, as hex."""
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def environment(known: list[str] | None) -> dict[str, Any]:
    """Return interpreter, platform, and the versions of distributions and hashes of their code.

    `known` names them, such as those that a preflight found; None looks for the owners of
    every module that is loaded here, which reads what every distribution installed. A hash covers
    what Python can load of a distribution (`code_hash`).
    """
    import platform
    from importlib import metadata

    names = set(known or ())
    if known is None:
        owners = metadata.packages_distributions()
        loaded = {name.partition(".")[0] for name in sys.modules} - _NO_PART
        names = {owner for top in loaded for owner in owners.get(top, ())}
    versions, code = {}, {}
    for name in names - {"echoctl"}:
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            versions[name] = code[name] = "absent"
        else:
            versions[name], code[name] = found.version, code_hash(found)
    return {
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "platform": f"{sys.platform}-{platform.machine()}",
        "distributions": dict(sorted(versions.items())),
        "code": dict(sorted(code.items())),
    }


def code_hash(distribution: Distribution) -> str:
    """Return one SHA-256 over the name and content of every module that a distribution installed.

    Modules are Python files and compiled ones; a file that was taken away counts as empty.
    """
    whole = hashlib.sha256()
    for file in sorted(distribution.files or (), key=str):
        if file.suffix in {".py", ".so", ".pyd"}:
            path = Path(str(file.locate()))
            content = hash_file(path) if path.is_file() else ""
            whole.update(f"{file}\n{content}\n".encode())
    return whole.hexdigest()


def main() -> None:
    """Serve until stdin ends. What a track prints goes to stderr, never into the protocol."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    requests: SimpleQueue[str] = SimpleQueue()
    attached = threading.Event()
    threading.Thread(target=_read, args=(sys.stdin, requests, attached), daemon=True).start()
    watch = Watch()
    setup: Setup | None = None

    def answer(message: Mapping[str, Any]) -> None:
        channel.write(json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n")
        channel.flush()

    while line := requests.get():
        request = json.loads(line)
        try:
            if request["op"] == "setup":
                if request.get("attached"):
                    attached.set()
                setup = Setup(request)
                answer({"ready": True})
            elif request["op"] == "environment":
                answer({"environment": environment(request["known"])})
            elif setup is not None and request["op"] == "film":
                answer({"films": film(job_from_json(request["job"]), request, setup)})
            elif setup is not None:
                done = play(job_from_json(request["job"]), request, setup, watch, answer)
                fault("worker.reported")
                answer({"done": done})
        except EchoError as problem:
            answer(
                {"failed": {"why": problem.why, "todo": problem.todo, "exit": problem.exit_code}}
            )
        except Exception as problem:
            # Whatever a track raises ends its job, not the worker; the parent decides.
            answer({"failed": _failure(problem)})


def _failure(problem: Exception) -> dict[str, Any]:
    """Return whose fault it was: the track's, or a disk's that may take the job another time."""
    if isinstance(problem, OSError) and problem.errno in REFUSALS:
        why, code = f"the disk refused: {problem.strerror}", Interrupted.exit_code
        return {"why": why, "todo": "free some space", "exit": code}
    return {"why": _told(problem), "todo": "mend the track", "exit": 1}


def _told(problem: Exception) -> str:
    """Return an exception with the place where it was raised, in one line."""
    trace = problem.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = ""
    if trace is not None:
        code = trace.tb_frame.f_code
        place = f" ({Path(code.co_filename).name}, line {trace.tb_lineno}, in {code.co_name})"
    return f"{type(problem).__name__}: {problem}{place}"


def _read(stream: IO[str], requests: SimpleQueue[str], attached: threading.Event) -> None:
    """Hand on each line; an attached worker does not outlive its parent, even inside a job."""
    for line in stream:
        requests.put(line)
    if attached.is_set():
        os._exit(0)
    requests.put("")


if __name__ == "__main__":
    main()
