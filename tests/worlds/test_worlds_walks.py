"""Each family of worlds keeps one walk as a readable file, and a test walks it again.

    python tests/worlds/test_worlds_walks.py

writes the files anew (tests/walks/FAMILY.txt). A changed file in a diff is a changed world.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from echoctl.draws import Draws
from echoctl.percept import ACTION_NAMES, DROP, FORWARD, LEFT, RIGHT, TAKE, USE, WAIT
from echoctl.worlds import FAMILIES, Permit, World, build, picture, scene, sign

WALKS = Path(__file__).parents[1] / "walks"
PERMIT = Permit.conformance(FAMILIES)
LENGTH = 24
CANDIDATES = 100
MENU = (LEFT, RIGHT, FORWARD, FORWARD, FORWARD, FORWARD, TAKE, TAKE, DROP, USE, WAIT)
PAGE_WIDTH = 100


def walk(family: str, seed: int) -> tuple[list[list[str]], set[str]]:
    """Return one frame a step (caption, then board) and the kinds of events met."""
    world = build(family, seed, ids=("walk",), permit=PERMIT)
    draws = Draws("walk", family, seed)
    frames = [frame(world, "start", 0)]
    met: set[str] = set()
    for number in range(1, LENGTH + 1):
        action = draws.choice(MENU)
        before, hand = scene(world).cells, scene(world).hand
        reward = world.step(action).reward
        frames.append(frame(world, f"{number} {ACTION_NAMES[action]}", reward))
        if scene(world).cells != before and FAMILIES[family].dynamics != "obstacles":
            met.add(f"changed by {ACTION_NAMES[action]} from {sign(hand)}")
        if world.over:
            met.add(world.hit or "won")
            break
    return frames, met


def frame(world: World, what: str, reward: int) -> list[str]:
    end = "  won" if world.success else f"  {world.hit}" if world.hit else ""
    return [what, f"{sign(scene(world).hand)} {reward:+d}{end}", *picture(world)]


def record(family: str, seed: int) -> str:
    """Return the whole file: a header, then as many frames side by side as a page holds."""
    frames, _ = walk(family, seed)
    width = max(len(line) for shown in frames for line in shown) + 2
    a_row = max(1, PAGE_WIDTH // width)
    out = [
        f"{family}, seed {seed}: random actions from the same start, step by step.",
        "Over each board: the action, what is in hand, the reward in thousandths.",
        "> v < ^ agent  ## wall  GG goal  ~~ lava  ww water  k key  o ball  b box",
        "_ | % door open, closed, locked; then the colour's first letter",
    ]
    for first in range(0, len(frames), a_row):
        out.append("")
        for lines in zip(*frames[first : first + a_row], strict=True):
            out.append("".join(line.ljust(width) for line in lines).rstrip())
    return "\n".join(out) + "\n"


def most_telling_seed(family: str) -> int:
    """Return the reserved seed whose walk meets the most kinds of events, the longest of those."""

    def score(seed: int) -> tuple[int, int, int]:
        frames, met = walk(family, seed)
        return len(met), len(frames), -seed

    return max(range(900_000, 900_000 + CANDIDATES), key=score)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_recorded_walk_is_walked_again_to_the_letter(family: str) -> None:
    recorded = (WALKS / f"{family}.txt").read_text(encoding="utf-8")
    seed = int(recorded.split("seed ")[1].split(":")[0])
    assert record(family, seed) == recorded


def test_there_is_a_walk_for_every_family_and_for_nothing_else() -> None:
    assert {file.name for file in WALKS.iterdir()} == {f"{family}.txt" for family in FAMILIES}


def test_a_walk_from_another_seed_reads_otherwise() -> None:
    assert record("DoorKey-6x6", 900_000) != record("DoorKey-6x6", 900_001)


if __name__ == "__main__":
    for name in FAMILIES:
        (WALKS / f"{name}.txt").write_text(record(name, most_telling_seed(name)), encoding="utf-8")
