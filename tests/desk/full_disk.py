"""An exam on a disk that is too small for it. A program: it mounts in a namespace of its own.

``full_disk.py FROZEN OUT PAGES`` copies the frozen workspace onto a small tmpfs with so many
pages left, begins the exam, goes on as the command itself says, first on the full disk and then
on one made larger, copies what there is to OUT, and prints what each command said as JSON. The
mount ends with the process, whatever happens.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

LARGE = "32m"


def main() -> None:
    frozen, out, pages = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    disk = out / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={LARGE}", "none", str(disk)], check=True)
    ws = Path(shutil.copytree(frozen, disk / "ws"))
    used = os.statvfs(disk)
    resize(disk, str((used.f_blocks - used.f_bfree + pages) * used.f_frsize))
    said = [echoctl(ws, ["exam", "toy"])]
    if said[0]["code"] == 4:
        said.append(echoctl(ws, said[0]["next"]))
        shutil.copytree(ws, out / "full")
        resize(disk, LARGE)
        said.append(echoctl(ws, said[-1]["next"] or said[0]["next"]))
    shutil.copytree(ws, out / "ws")
    print(json.dumps(said))


def resize(disk: Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", str(disk)], check=True)


def echoctl(ws: Path, words: list[str]) -> dict[str, Any]:
    """Run a command on the disk, scratch files elsewhere; return how it ended and what it names."""
    run = subprocess.run(
        [sys.executable, "-m", "echoctl", *words], cwd=ws, capture_output=True, text=True,
        check=False, timeout=300, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    text = " ".join((run.stdout + run.stderr).split())
    named = re.findall(r"then: echoctl ([a-z0-9 -]+)", text)
    return {
        "words": words, "code": run.returncode, "said": text,
        "next": named[-1].split() if named else [],
    }  # fmt: skip


if __name__ == "__main__":
    main()
