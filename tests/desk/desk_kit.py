"""What the desk's tests share: toy workspaces, acts in processes of their own."""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

from echoctl.desk import Workspace

TOY = Path(__file__).parent.parent / "data" / "toy"


def copy_toy(to: Path) -> Workspace:
    shutil.copytree(TOY, to, ignore=shutil.ignore_patterns("__pycache__"))
    return Workspace.find(to)


def copied(ws: Workspace, to: Path) -> Workspace:
    shutil.copytree(ws.root, to, symlinks=True)
    return Workspace.find(to)


_ACT = """
import sys
from pathlib import Path
from echoctl import desk
from echoctl.errors import EchoError
ws = desk.Workspace.find(Path(sys.argv[1]), acknowledge_clock="acknowledge" in sys.argv)
try:
    if sys.argv[2] == "freeze":
        print(desk.freeze(ws, "toy").receipt)
    else:
        print(desk.exam(ws, "toy", resume="resume" in sys.argv, workers=2).colour)
except EchoError as problem:
    print(problem.why, "|", problem.todo)
    sys.exit(problem.exit_code)
"""


def start(ws: Workspace, *words: str, fault: str = "") -> subprocess.Popen[str]:
    """Start an act in a process of its own, perhaps with an injected fault."""
    env = {key: value for key, value in os.environ.items() if key != "ECHOCTL_FAULT"}
    if fault:
        env["ECHOCTL_FAULT"] = fault
    return subprocess.Popen(
        [sys.executable, "-c", _ACT, str(ws.root), *words], env=env, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def act(ws: Workspace, *words: str, fault: str = "") -> tuple[int, str]:
    """Run an act to its end; return its exit status and what it said."""
    process = start(ws, *words, fault=fault)
    said, _ = process.communicate(timeout=300)
    return process.returncode, said


def results_of(ws: Workspace) -> dict[str, bytes]:
    """Return every outcome's uncompressed bytes, and the verdict."""
    jobs = sorted((ws.exam("toy") / "jobs").glob("*.jsonl.gz"))
    out = {path.name: gzip.decompress(path.read_bytes()) for path in jobs}
    out["verdict"] = (ws.artifacts("toy") / "verdict.json").read_bytes()
    return out


def edit(path: Path, old: str, new: str) -> None:
    """Replace a text that must be there, once."""
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
