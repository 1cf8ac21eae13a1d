"""Our worlds against the stock Gymnasium loop, side by side in one run.

    python benchmarks/worlds_speed.py [--rounds 7] [--families NAME ...] [--write]

Both loops play the same seeds with the same random actions, each from the environment's own
action space: ``gym.make`` + ``FullyObsWrapper`` against `build`, `reset` and `step`. A round
times one loop and then the other; the ratio is the median over rounds, so that what else the
machine does falls on both. Starts are cached, as they are in an exam where every arm plays the
same worlds; "first visit" is the ratio when no seed was ever seen. ``--write`` puts the table
into docs/performance.md. Seeds are those reserved for conformance.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import _report
from echoctl.worlds import CONFORMANCE_SEEDS, FAMILIES, Permit, build
from echoctl.worlds.starts import stock

PERMIT = Permit.conformance(FAMILIES)
SEEDS = 50
STOCK_STEPS = 600
OUR_STEPS = 12_000


class Line(NamedTuple):
    """Medians of one family; rates in steps a second."""

    family: str
    stock: float
    ours: float
    ratio: float
    lowest: float
    first_visit: float


def random_actions(family: str, count: int) -> list[int]:
    """Return random actions from the action space that the stock environment declares."""
    bound = 3 if FAMILIES[family].dynamics == "obstacles" else 7
    draw = random.Random(family)
    return [draw.randrange(bound) for _ in range(count)]


def play_stock(env: Any, seeds: Sequence[int], actions: Sequence[int]) -> float:  # noqa: ANN401
    """Return steps a second of the stock loop, resets included."""
    began = time.perf_counter()
    at = episode = 0
    while at < len(actions):
        env.reset(seed=seeds[episode % len(seeds)])
        episode += 1
        over = False
        while not over and at < len(actions):
            _, _, terminated, truncated, _ = env.step(actions[at])
            over = terminated or truncated
            at += 1
    return at / (time.perf_counter() - began)


def play_ours(family: str, seeds: Sequence[int], actions: Sequence[int]) -> float:
    """Return steps a second of our loop; each episode builds its world at the door."""
    began = time.perf_counter()
    at = episode = 0
    while at < len(actions):
        world = build(family, seeds[episode % len(seeds)], ids=("speed",), permit=PERMIT)
        episode += 1
        world.reset()
        while not world.over and at < len(actions):
            world.step(actions[at])
            at += 1
    return at / (time.perf_counter() - began)


def measure(family: str, rounds: int) -> Line:
    """Return the medians of one family over so many rounds."""
    env = stock(family)  # imports minigrid
    env = import_module("minigrid.wrappers").FullyObsWrapper(env)
    first, past = CONFORMANCE_SEEDS
    seeds = range(first, first + SEEDS)
    unseen = iter(range(first + SEEDS, past))
    actions = random_actions(family, OUR_STEPS)
    play_stock(env, seeds, actions[:50])
    play_ours(family, seeds, actions)
    rows = []
    for _ in range(rounds):
        theirs = play_stock(env, seeds, actions[:STOCK_STEPS])
        ours = play_ours(family, seeds, actions)
        fresh = [next(unseen) for _ in range(400)]
        rows.append((theirs, ours, ours / theirs, play_ours(family, fresh, actions) / theirs))
    theirs, ours, ratio, visit = (statistics.median(column) for column in zip(*rows, strict=True))
    return Line(family, theirs, ours, ratio, min(row[2] for row in rows), visit)


def table(lines: Sequence[Line], rounds: int) -> str:
    """Return the Markdown table and how it was made."""
    rows = [
        [
            line.family, f"{line.stock:,.0f}", f"{line.ours:,.0f}", f"x{line.ratio:.0f}",
            f"x{line.lowest:.0f}", f"x{line.first_visit:.1f}",
        ]
        for line in lines
    ]  # fmt: skip
    what = f"medians of {rounds} rounds, steps a second with resets"
    out = [
        _report.how("worlds_speed", ["--rounds", str(rounds), "--write"], what),
        "",
        _report.table(["family", "stock", "ours", "ratio", "lowest round", "first visit"], rows),
    ]
    for kind, wanted in (("static", False), ("Dynamic-Obstacles", True)):
        held = [n.ratio for n in lines if (FAMILIES[n.family].dynamics == "obstacles") is wanted]
        if held:
            out += ["", f"Lowest ratio of a {kind} family: x{min(held):.0f}."]
    return "\n".join(out) + "\n"


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--families", nargs="*", default=[])
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    known = [name for name, family in FAMILIES.items() if family.dynamics != "safety"]
    lines = [measure(family, asked.rounds) for family in asked.families or known]
    text = table(lines, asked.rounds)
    print(text)
    if asked.write:
        _report.write("worlds_speed", text)


if __name__ == "__main__":
    main()
