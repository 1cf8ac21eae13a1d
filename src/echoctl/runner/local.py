"""Workers on this machine: child processes that speak JSON lines over pipes.

A fresh interpreter each, never a fork, so nothing of the parent's state leaks into a job. In an
exam the interpreter is given the sealed zip and nothing else of the project; in development it
imports the same files as its parent.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import echoctl
from echoctl.errors import CheckFailed
from echoctl.runner.run import Code, Event, Task

_BOOT = """
import sys
src = sys.argv[1]
if src not in sys.path:
    sys.path.insert(0, src)
from echoctl.runner.worker import main
main()
"""
_STARTS = 3
"""How often in a row a worker may die before it has said that it is ready."""


@dataclass
class _Worker:
    """One child process and what it has said so far."""

    process: subprocess.Popen[bytes]
    errors: Path
    ready: bool = False
    buffer: bytearray = field(default_factory=bytearray)

    @property
    def input(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def output(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send a message; a worker that is gone will be noticed when it is listened to."""
        with contextlib.suppress(BrokenPipeError):
            self.input.write(json.dumps(message).encode() + b"\n")
            self.input.flush()

    def end(self) -> int:
        """Kill the process if it runs, and return its exit status."""
        if self.process.poll() is None:
            self.process.kill()
        status = self.process.wait()
        for pipe in (self.input, self.output):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        return status


class Local:
    """The engine of this machine (see `echoctl.runner.run.Engine`)."""

    def __init__(self) -> None:
        self._workers: list[_Worker] = []
        self._events: deque[Event] = deque()
        self._selector: selectors.BaseSelector | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._code: Code | None = None
        self._started = 0
        self._stillborn = 0

    def start(self, code: Code, workers: int) -> None:
        """Start the workers; they load the track while the first tasks wait in their pipes."""
        self._code = code
        self._folder = tempfile.TemporaryDirectory(prefix="echoctl-")
        self._selector = selectors.DefaultSelector()
        for number in range(workers):
            self._workers.append(self._spawn(number))

    def send(self, worker: int, task: Task) -> None:
        """Give a worker its next task."""
        self._workers[worker].tell(task.message())

    def pids(self) -> list[int]:
        """Return the workers' process ids (tests kill them)."""
        return [worker.process.pid for worker in self._workers]

    def ask_environment(self, known: list[str] | None = None) -> dict[str, Any]:
        """Return what worker 0 sees (see `echoctl.runner.worker.environment`)."""
        return dict(self.ask({"op": "environment", "known": known})["environment"])

    def ask(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return worker 0's whole answer to a message that is no task. It must be idle."""
        self._workers[0].tell(message)
        while (event := self.wait()).kind == "at":
            pass
        if event.kind == "answer":
            return event.data
        raise CheckFailed(f"the worker does not answer: {event.data['why']}")

    def wait(self) -> Event:
        """Block until a worker says something or dies."""
        while not self._events:
            assert self._selector is not None
            for key, _ in self._selector.select():
                self._listen(key.data)
        return self._events.popleft()

    def stop(self) -> None:
        """Kill every worker and drop the scratch folder."""
        for worker in self._workers:
            worker.end()
        self._workers = []
        self._events.clear()
        if self._selector is not None:
            self._selector.close()
            self._selector = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _spawn(self, number: int) -> _Worker:
        assert self._code is not None
        assert self._folder is not None
        assert self._selector is not None
        code, self._started = self._code, self._started + 1
        home = Path(self._folder.name, f"worker-{self._started}")
        home.mkdir()
        errors = Path(self._folder.name, f"worker-{self._started}.err")
        if code.sealed:
            program = [str(code.root)]
        else:
            program = ["-c", _BOOT, str(Path(echoctl.__file__).resolve().parent.parent)]
        with errors.open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, "-P", *program],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=out, cwd=home,
                env=self._environment(code, replaced=number < len(self._workers)),
                start_new_session=True,
            )  # fmt: skip
        worker = _Worker(process, errors)
        self._selector.register(worker.output, selectors.EVENT_READ, number)
        worker.tell(code.setup())
        return worker

    @staticmethod
    def _environment(code: Code, *, replaced: bool) -> dict[str, str]:
        """Return the child's environment: no PYTHON variable but the hash seed that is asked."""
        out = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        if code.hash_seed is not None:
            out["PYTHONHASHSEED"] = str(code.hash_seed)
        if replaced:
            # A fault that was injected once has done its work.
            out.pop("ECHOCTL_FAULT", None)
        return out

    def _listen(self, number: int) -> None:
        worker = self._workers[number]
        data = os.read(worker.output.fileno(), 1 << 16)
        if not data:
            self._replace(number)
            return
        worker.buffer += data
        *lines, rest = worker.buffer.split(b"\n")
        worker.buffer = bytearray(rest)
        for line in lines:
            self._hear(number, worker, json.loads(line))

    def _hear(self, number: int, worker: _Worker, said: dict[str, Any]) -> None:
        if "ready" in said:
            worker.ready = True
            self._stillborn = 0
        elif "at" in said:
            self._events.append(Event(number, "at", {"rows": said["at"]}))
        elif "failed" in said and not worker.ready:
            # The track does not load; every worker would say the same.
            raise CheckFailed(said["failed"]["why"], said["failed"]["todo"])
        else:
            kind = next(iter(said))
            known = kind in {"done", "failed"}
            self._events.append(
                Event(number, kind, said[kind]) if known else Event(number, "answer", said)
            )

    def _replace(self, number: int) -> None:
        old = self._workers[number]
        assert self._selector is not None
        self._selector.unregister(old.output)
        status = old.end()
        why = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit {status}"
        last = old.errors.read_text("utf-8", "replace").strip().splitlines()[-1:]
        why = ": ".join([why, *last])
        if not old.ready:
            self._stillborn += 1
            if self._stillborn >= _STARTS:
                raise CheckFailed(f"workers do not start: {why}", "run echoctl preflight")
        self._workers[number] = self._spawn(number)
        self._events.append(Event(number, "lost", {"why": why}))
