"""A tiny exam to be killed through the real command line, and what must be equal afterwards."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from desk_kit import TOY

HOME = Path("artifacts/toy")
COLUMNS = ("points", "kills", "resumes", "differing bytes")


def tiny(to: Path) -> Path:
    """Make the toy's exam as small as a life can be: 6 jobs of 2 episodes, one gate."""
    shutil.copytree(TOY, to, ignore=shutil.ignore_patterns("__pycache__"))
    path = to / "contracts/toy.yaml"
    text = path.read_text("utf-8")
    text = text.replace("count: 6", "count: 2").replace("per_unit: 10", "per_unit: 2")
    text, gates = re.subn(r"\n +- wilcoxon.*", "", text)
    assert gates == 1
    path.write_text(text, "utf-8")
    return to


def copy_of(ws: Path, to: Path) -> Path:
    return Path(shutil.copytree(ws, to, symlinks=True))


def start(ws: Path, *words: str, **env: str) -> subprocess.Popen[str]:
    """Start the real command in a workspace; what a kill leaves in its scratch stays beside it."""
    scratch = ws.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    clean = {key: value for key, value in os.environ.items() if key != "ECHOCTL_FAULT"}
    return subprocess.Popen(
        [sys.executable, "-m", "echoctl", *words], cwd=ws, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**clean, "NO_COLOR": "1", "TMPDIR": str(scratch), **env},
    )  # fmt: skip


def echoctl(ws: Path, *words: str, **env: str) -> tuple[int, str]:
    """Run the real command to its end; return its exit status and all that it said."""
    process = start(ws, *words, **env)
    said, _ = process.communicate(timeout=300)
    assert "Traceback" not in said, said
    return process.returncode, said


def done(ran: tuple[int, str]) -> str:
    code, said = ran
    assert code == 0, said
    return said


def kill(process: subprocess.Popen[str], *, tree: bool) -> None:
    """Kill a command at once; with its workers, or alone so that they must notice by themselves."""
    if tree:
        process.send_signal(signal.SIGSTOP)  # so that it starts nobody while its tree is read
        for pid in _below(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    process.kill()
    process.communicate()


def _below(pid: int) -> list[int]:
    """Return the children of a process, and theirs."""
    out: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in task.read_text().split():
                out += [int(child), *_below(int(child))]
    return out


def events(ws: Path) -> list[dict[str, Any]]:
    """Return the ledger's whole lines; a torn one is none."""
    whole = (ws / HOME / "ledger.jsonl").read_bytes().rpartition(b"\n")[0]
    return [json.loads(line) for line in whole.splitlines()]


def lost_workers(ws: Path) -> int:
    """Return how many workers the ledger saw killed."""
    return sum(
        one["event"] == "incident"
        and one["data"]["kind"] == "worker lost"
        and "SIGKILL" in one["data"]["text"]
        for one in events(ws)
    )


def what_is_left(ws: Path) -> tuple[str, ...]:
    """Return the command that goes on with an exam; none where it is decided and reported."""
    said = {one["event"] for one in events(ws)}
    if "report" in said:
        return ()
    if "verdict" in said:
        return ("report", "toy")
    return ("exam", "toy", *(["--resume"] if (ws / HOME / "exam/claim.json").exists() else []))


def finish(ws: Path) -> int:
    """Go on until nothing is left to do; return how many commands that took."""
    commands = 0
    while words := what_is_left(ws):
        done(echoctl(ws, *words))
        commands += 1
    return commands


def results(ws: Path) -> dict[str, bytes]:
    """Return an exam's results, uncompressed, and its verdict."""
    home = ws / HOME
    jobs = sorted((home / "exam/jobs").iterdir())
    out = {path.name: gzip.decompress(path.read_bytes()) for path in jobs}
    out["verdict.json"] = (home / "verdict.json").read_bytes()
    return out


def evidence(ws: Path) -> dict[str, bytes]:
    """Return what an undisturbed exam of the same freeze must have too: results and claim.

    A claim's nonce and time are its own; what it stands on is not.
    """
    claim = json.loads((ws / HOME / "exam/claim.json").read_bytes())
    claim["nonce"] = claim["time"] = ""
    return {**results(ws), "claim.json": json.dumps(claim).encode()}


def sealed(ws: Path) -> dict[str, bytes]:
    """Return what an undisturbed freeze must have too; the head it names holds the hour."""
    folder = ws / HOME / "frozen"
    out = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            out[str(path.relative_to(folder))] = (
                gzip.decompress(data) if path.suffix == ".gz" else data
            )
    manifest = json.loads(out["manifest.json"])
    manifest["head"] = None
    out["manifest.json"] = json.dumps(manifest).encode()
    return out


def differing(mine: dict[str, bytes], theirs: dict[str, bytes]) -> int:
    """Return how many bytes differ, over all files of either side."""
    count = 0
    for name in mine.keys() | theirs.keys():
        a, b = mine.get(name, b""), theirs.get(name, b"")
        count += sum(x != y for x, y in zip(a, b, strict=False)) + abs(len(a) - len(b))
        count += name not in mine or name not in theirs
    return count


def left_behind(ws: Path) -> list[str]:
    """Return temporary files, folders of half a freeze and set-aside results that stayed."""
    home = ws / HOME
    found = [*ws.rglob("*.part"), *home.glob(".frozen*"), *home.glob("exam/quarantine/*")]
    return sorted(str(path.relative_to(ws)) for path in found)


def matrix(properties: Iterable[tuple[str, object]]) -> list[str]:
    """Return the kill matrix, a row for each kind of crash, summed over the tests that ran."""
    rows: dict[str, list[int]] = {}
    fell: Counter[str] = Counter()
    for name, value in properties:
        if name.startswith("fell: ") and isinstance(value, int):
            fell[name.removeprefix("fell: ")] += value
        if name.startswith("killed: ") and isinstance(value, list | tuple):
            row = rows.setdefault(name.removeprefix("killed: "), [0] * len(value))
            row[:] = [a + b for a, b in zip(row, value, strict=True)]
    if not rows:
        return []
    head = f"| what was cut short | {' | '.join(COLUMNS)} |"
    return [
        head,
        "|---" * (1 + len(COLUMNS)) + "|",
        *(f"| {name} | {' | '.join(map(str, row))} |" for name, row in rows.items()),
        *(f"random moments: {count} {where}" for where, count in fell.items()),
    ]
