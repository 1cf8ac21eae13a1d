"""What hosts one worker on a node of a Ray cluster. Standard library only: it travels by value.

A node needs Python, Ray and what the track's worlds need (NumPy, MiniGrid), never echoctl: the
zip is sent as bytes, checked here, and started here. The worker is the very same child process
as on one machine, so the bytes that it writes are the same too. Everything goes in and out as
bytes and plain values; nothing is said by raising, because what a node raises may not be
loadable where it is heard.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, TypeAlias

Said: TypeAlias = dict[str, Any]
"""A line of the worker's protocol (docs/formats.md); ``done`` comes with the files that the job
made; ``{"lost": why, "left": bytes or None}`` says that the worker died, and what it left of
the outcome."""

PATIENCE_MS = 500
"""Milliseconds after which `Host.hear` returns with nothing, so that `Host.end` gets its turn."""


class Host:
    """One worker on this node: its scratch folder, its child process, what it has said."""

    def __init__(
        self, code: bytes, sha256: str, setup: Mapping[str, Any], hash_seed: int | None
    ) -> None:
        self._code = code
        self._sha256 = sha256
        self._setup = setup
        self._hash_seed = hash_seed
        self._folder = Path(tempfile.mkdtemp(prefix="echoctl-")).resolve()
        self._buffer = bytearray()
        self._process: subprocess.Popen[bytes] | None = None
        self._tasks = 0
        self._wanted: tuple[str, dict[str, Path]] = ("", {})
        """Where the running job writes its outcome and its artefacts."""

    def begin(self, known: list[str]) -> Said:
        """Start the worker; return ``{"environment": ..}`` with these distributions, or why not."""
        found = hashlib.sha256(self._code).hexdigest()
        if found != self._sha256:
            return _failed(f"the code arrived as {found[:12]}, not {self._sha256[:12]}", "", 5)
        program = self._folder / "code.zip"
        program.write_bytes(self._code)
        if not self._setup["sealed"]:
            # In development a track may read files beside it, so it is given a folder.
            with zipfile.ZipFile(program) as archive:
                archive.extractall(self._folder / "tree")
            program = self._folder / "tree"
        home = self._folder / "home"
        home.mkdir()
        with (self._folder / "errors").open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(program)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, cwd=home,
                env=self._environment(), start_new_session=True,
            )  # fmt: skip
        self._tell({**self._setup, "root": str(program)})
        self._tell({"op": "environment", "known": known})
        while True:
            for said in self.hear():
                if "ready" not in said:
                    return said

    def play(
        self, job: Mapping[str, Any], needs: Mapping[str, tuple[str, bytes]], makes: list[str]
    ) -> list[Said]:
        """Give the worker a job and return what it says first (see `hear`)."""
        self._tasks += 1
        place = self._folder / f"task-{self._tasks}"
        place.mkdir()
        known = {}
        for number, (name, (sha256, data)) in enumerate(needs.items()):
            path = place / f"need-{number}"
            path.write_bytes(data)
            known[name] = {"path": str(path), "sha256": sha256}
        made = {name: place / f"make-{number}" for number, name in enumerate(makes)}
        self._wanted = (str(place / "out"), made)
        self._tell({
            "op": "play", "job": job, "out": self._wanted[0], "needs": known,
            "makes": {name: str(path) for name, path in made.items()},
        })  # fmt: skip
        return self.hear()

    def hear(self) -> list[Said]:
        """Return what the worker says next; nothing if it is silent for `PATIENCE_MS`."""
        output = self._pipe("stdout")
        listening = select.poll()
        listening.register(output, select.POLLIN)
        if not listening.poll(PATIENCE_MS):
            return []
        data = os.read(output.fileno(), 1 << 16)
        if not data:
            left = Path(self._wanted[0])
            return [{"lost": self._death(), "left": left.read_bytes() if left.is_file() else None}]
        *lines, rest = (self._buffer + data).split(b"\n")
        self._buffer = bytearray(rest)
        return [self._with_files(json.loads(line)) for line in lines]

    def end(self) -> None:
        """Kill the worker and drop its folder."""
        self._death()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _environment(self) -> dict[str, str]:
        """Return the child's environment, as on one machine (`echoctl.runner.local`).

        A fault that was set where the cluster started is meant for another process.
        """
        out = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        out.pop("ECHOCTL_FAULT", None)
        if self._hash_seed is not None:
            out["PYTHONHASHSEED"] = str(self._hash_seed)
        return out

    def _with_files(self, said: Said) -> Said:
        """Return a worker's line; one that says ``done`` gets the bytes that the job wrote."""
        if "done" in said:
            out, made = self._wanted
            said["out"] = Path(out).read_bytes()
            said["made"] = {name: path.read_bytes() for name, path in made.items()}
            shutil.rmtree(Path(out).parent)
        return said

    def _pipe(self, name: str) -> IO[bytes]:
        pipe: IO[bytes] = getattr(self._process, name)
        return pipe

    def _tell(self, message: Mapping[str, Any]) -> None:
        """Send a line; a worker that is gone will be noticed when it is listened to."""
        pipe = self._pipe("stdin")
        with contextlib.suppress(BrokenPipeError):
            pipe.write(json.dumps(message).encode() + b"\n")
            pipe.flush()

    def _death(self) -> str:
        """End the worker if it still runs, and return how it ended and its last words."""
        if self._process is None:
            return "it never started"
        if self._process.poll() is None:
            self._process.kill()
        status = self._process.wait()
        for pipe in (self._pipe("stdin"), self._pipe("stdout")):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        why = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit {status}"
        last = (self._folder / "errors").read_text("utf-8", "replace").strip().splitlines()[-1:]
        return ": ".join([why, *last])


def _failed(why: str, todo: str, code: int) -> Said:
    return {"failed": {"why": why, "todo": todo, "exit": code}}
