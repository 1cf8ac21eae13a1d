"""A compiled kernel against plain lists, in the real loop with the real mind.

    python benchmarks/compiled_kernel.py [--rounds 5] [--episodes 6] [--write]

mypyc compiles copies of the very same files: the worlds alone, then worlds, mind, policy and
episode loop together. Each variant plays the mix of `mind_loop.py` in a process of its own, one
after the other in every round; all must return the same episodes. Ratios are medians over rounds.
Without mypyc or a C compiler it says so and measures nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from _report import write

ROOT = Path(__file__).resolve().parents[1]
WORLDS = ("worlds/pcg.py", "worlds/world.py")
MIND = (
    "percept.py", "arena.py", "mind/roles.py", "mind/reading.py", "mind/board.py",
    "mind/beliefs.py", "mind/gate.py", "mind/agent.py", "tracks/memx/policy.py",
    "tracks/memx/arms.py",
)  # fmt: skip
VARIANTS = {
    "plain lists": (),
    "worlds compiled": WORLDS,
    "worlds, mind and loop compiled": WORLDS + MIND,
}
PASSES = 20
"""How often a process plays the whole mix; the fastest time of each family counts."""


def compile_copy(folder: Path, files: Sequence[str]) -> None:
    """Copy the package into a folder and compile some of its files there."""
    shutil.copytree(
        ROOT / "src" / "echoctl", folder / "echoctl", ignore=shutil.ignore_patterns("__pycache__")
    )
    if files:
        subprocess.run(
            [sys.executable, "-m", "mypyc", *(f"echoctl/{file}" for file in files)],
            cwd=folder, env={**os.environ, "MYPYC_OPT_LEVEL": "3"}, check=True,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip


def play_alone(count: int) -> None:
    """In a process of its own: play the mix, print seconds, steps and what was played."""
    import mind_loop

    seats, seeds = mind_loop.prepared(count)
    seconds, steps, played = 0.0, 0, sha256()
    for family, chosen in seeds.items():
        runs = [mind_loop.episodes("ours", family, chosen, seats, None) for _ in range(PASSES)]
        seconds += min(spent for _, _, spent in runs)
        steps += runs[0][1]
        played.update(repr(runs[0][0]).encode())
    print(json.dumps([seconds, steps, played.hexdigest()]))


def measure(rounds: int, count: int) -> dict[str, list[float]]:
    """Return steps a second, one a round, for each variant."""
    rates: dict[str, list[float]] = {name: [] for name in VARIANTS}
    with tempfile.TemporaryDirectory() as base:
        folders = {name: Path(base) / str(at) for at, name in enumerate(VARIANTS)}
        for name, files in VARIANTS.items():
            compile_copy(folders[name], files)
        seen = set()
        for _ in range(rounds):
            for name, folder in folders.items():
                command = [sys.executable, __file__, "--alone", "--episodes", str(count)]
                env = {**os.environ, "PYTHONPATH": str(folder)}
                done = subprocess.run(
                    command, env=env, check=True, stdout=subprocess.PIPE, text=True
                )
                seconds, steps, played = json.loads(done.stdout)
                rates[name].append(steps / seconds)
                seen.add(played)
        if len(seen) != 1:
            raise SystemExit("the variants played different episodes")
    return rates


def table(rates: dict[str, list[float]], rounds: int, count: int) -> str:
    """Return the Markdown table and how it was made."""
    plain = rates["plain lists"]
    out = [
        f"`python benchmarks/compiled_kernel.py --rounds {rounds} --episodes {count} --write`: "
        f"CPython {platform.python_version()}, mypyc, medians of {rounds} rounds, steps played a "
        "second over the same mix, building, resets, mind and counting included.",
        "",
        "| variant | steps a second | ratio | lowest round |",
        "|---|--:|--:|--:|",
    ]
    for name, column in rates.items():
        ratios = [one / other for one, other in zip(column, plain, strict=True)]
        out.append(
            f"| {name} | {statistics.median(column):,.0f} | x{statistics.median(ratios):.2f} "
            f"| x{min(ratios):.2f} |"
        )
    return "\n".join(out) + "\n"


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--episodes", type=int, default=6)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.alone:
        play_alone(asked.episodes)
        return
    if find_spec("mypyc") is None or not any(map(shutil.which, ("cc", "gcc", "clang"))):
        print("Not measured: it needs mypyc (it comes with mypy) and a C compiler.")
        return
    text = table(measure(asked.rounds, asked.episodes), asked.rounds, asked.episodes)
    print(text)
    if asked.write:
        write("compiled_kernel", text)


if __name__ == "__main__":
    main()
