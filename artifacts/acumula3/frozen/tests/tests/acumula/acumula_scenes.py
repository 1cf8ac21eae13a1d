"""One small world for each edit and each piece of policy, lived without it and with it.

    python tests/acumula/acumula_scenes.py

writes the walks anew (tests/acumula/walks/NAME.txt). A changed file in a diff is changed behaviour.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "mind"))

from mind_toy import IDS, Toy, case

from echoctl.mind import Mind, Reading, Shape, Trial
from echoctl.mind.edits import (
    BORDER,
    MERGE,
    ORDER,
    RANK,
    REFINE,
    SILENCE,
    VERIFY,
    Configuration,
    Edit,
    Experience,
    bound,
)
from echoctl.mind.roles import DROP, ENTER, GOAL, HURT, NONE, NOOP, PICK, TAKE, USE, USE_WITH
from echoctl.percept import ACTION_NAMES
from echoctl.tracks.acumula.policy import Agent
from echoctl.tracks.acumula3.policy import Handy
from echoctl.tracks.memx.policy import RULES, swap

WALKS = Path(__file__).parent / "walks"

ODD = Shape(1, 1, 1, 5, 5, 0)
"""A shape that nothing in these worlds has: what was learned with it stays in layer 1."""
SINGLE = Shape(0, 1, 0, 9, 9, 4)
AREA = Shape(0, 20, 0, 9, 9, 1)
POOL = Shape(0, 6, 0, 9, 9, 2)
FRAME = Shape(0, 32, 32, 9, 9, 0)

FLOOR = (".", ENTER, NONE)
WALL = (("#", ENTER, NOOP), ("#", TAKE, NOOP), ("#", USE, NOOP), ("#", USE_WITH, NOOP))
GROUND = (".", DROP, NONE)


def by_id(*facts: tuple[str, int, int]) -> list[Trial]:
    """Return three cases for each (letter, kind, role), known by the id alone."""
    return [case(*fact, ODD, episode) for fact in facts for episode in range(3)]


def by_shape(shape: Shape, kind: int, role: int, times: int = 3) -> list[Trial]:
    """Return cases of a shape under ids that these worlds do not show."""
    return [Trial(at, 200 + at % 50, kind, role, shape) for at in range(times)]


def place(shape: Shape, kind: int) -> int:
    """Return the unrefined key of layer 2."""
    reading = Reading()
    return reading.place(reading.sign(shape), kind)


@dataclass(frozen=True)
class Scene:
    """A world, what is remembered, and what is switched on in the second of two lives."""

    text: str
    world: Callable[[], Letters]
    memory: Sequence[Trial]
    edit: Edit | None = None
    piece: str = ""
    rules: tuple[tuple[str, Callable[[Mind], bool]], ...] = ()
    fix: bool = False
    """Without means without the hand fix."""
    steps: int = 30

    def live(self, *, on: bool) -> tuple[list[str], Letters, Agent]:
        """Live the scene; return one line a step, the world and the mind as they ended."""
        configuration = Configuration((self.edit,) if self.edit and on else ())
        tables = Experience(self.memory).read(configuration.reading(Reading()))
        pieces = frozenset({self.piece} if on and self.piece else ())
        mind = Handy(tables, pieces) if on or not self.fix else Agent(tables)
        if self.rules:
            mind.rules = self.rules
        world = self.world()
        mind.begin(world.percept())
        lines = ["start".ljust(22) + board(world)]
        while not world.over and len(lines) <= self.steps:
            action = mind.act()
            mind.feel(world.step(action))
            lines.append(f"{len(lines):2} {mind.rule:8}{ACTION_NAMES[action]:11}" + board(world))
            if mind.idle > 1:
                lines.append("   and rests for good")
                break
        if world.over:
            lines.append("   " + ("won" if world.won else "hurt"))
        return lines, world, mind


class Letters(Toy):
    """A toy that says how it ended and shows the agent."""

    @property
    def won(self) -> bool:
        """It is over and was not ended by lava."""
        return self.over and (bool(self.hand) or self.grid[self.pos] == "G")


def board(world: Toy) -> str:
    """Return the board in one line, rows apart, the agent as an arrow, then what is held."""
    shown = list(world.grid)
    shown[world.pos] = ">v<^"[world.heading]
    width = world.width
    rows = ["".join(shown[at : at + width]) for at in range(0, len(shown), width)]
    return " ".join(rows) + (f"  holding {world.hand}" if world.hand else "")


def _greedy(mind: Mind) -> bool:
    """Take what lies in front of the way, whatever is in the hand (the bug behind the hand fix)."""
    return mind.pursue(
        lambda m, id_: TAKE if id_ == IDS["b"] and m.role(id_ * 8 + TAKE) != NOOP else -1
    )


def _grasp(mind: Mind) -> bool:
    return not mind.carrying and mind.pursue(
        lambda m, id_: TAKE if m.role(id_ * 8 + TAKE) == PICK else -1
    )


KEY = (("k", ENTER, NOOP), ("k", TAKE, PICK), ("k", USE, NOOP))
LOCK = (("D", ENTER, NOOP), ("D", TAKE, NOOP), ("D", USE, NOOP))

TWO_THINGS = by_id(
    FLOOR, *WALL, *KEY, *LOCK, GROUND, ("b", ENTER, NOOP), ("b", TAKE, PICK), ("b", USE, NOOP)
)
"""Two things to pick up, one of which opens the door."""

SCENES = {
    "silence": Scene(
        "Single things could never be entered, says the memory. It is silenced: the goal is tried.",
        lambda: Letters("#####", "#>.G#", "#####"),
        [*by_id(FLOOR, *WALL), *by_shape(SINGLE, ENTER, NOOP), *by_shape(SINGLE, TAKE, NOOP),
         *by_shape(SINGLE, USE, NOOP)],
        Edit(SILENCE, place(SINGLE, ENTER)), steps=14,
    ),
    "verify": Scene(
        "The same belief is kept, but has to be checked once in the episode.",
        lambda: Letters("#####", "#>.G#", "#####"),
        [*by_id(FLOOR, *WALL), *by_shape(SINGLE, ENTER, NOOP), *by_shape(SINGLE, TAKE, NOOP),
         *by_shape(SINGLE, USE, NOOP)],
        Edit(VERIFY, place(SINGLE, ENTER)), steps=14,
    ),
    "refine": Scene(
        "Floor and lava look alike; split by rank, the third class is told from the second.",
        lambda: Letters("#########", "#>.~~~.G#", "#..~~~..#", "#.......#", "#########"),
        [*by_id(*WALL), *by_shape(AREA, ENTER, NONE, 20), *by_shape(POOL, ENTER, HURT)],
        Edit(REFINE, place(AREA, ENTER), RANK),
    ),
    "merge": Scene(
        "Frames cannot be entered, taken or used; without the border bit, nor can what is inside.",
        lambda: Letters("######", "#>D..#", "#.D.G#", "#....#", "######"),
        [*by_id(FLOOR, *WALL, ("G", ENTER, GOAL))]
        + [t for kind in (ENTER, TAKE, USE) for t in by_shape(FRAME, kind, NOOP)],
        Edit(MERGE, 0, BORDER), rules=(RULES[0], RULES[4], RULES[1], RULES[-1]),
    ),
    "bound": Scene(
        "Two deaths are no rule where three are asked for; where two are enough, they are.",
        lambda: Letters("######", "#>.~G#", "#...~#", "######"),
        [*by_id(FLOOR, *WALL), *by_shape(Shape(0, 2, 0, 6, 4, 2), ENTER, HURT, 2)],
        bound(2, 2, 85), steps=8,
    ),
    "order": Scene(
        "By chance the goal has the id of a wall; asked first, its shape says what it is.",
        lambda: Letters("#####", "#>.G#", "#####"),
        [*by_id(FLOOR, *WALL, ("G", ENTER, NOOP), ("G", TAKE, NOOP), ("G", USE, NOOP)),
         *by_shape(SINGLE, ENTER, GOAL)],
        Edit(ORDER), steps=8,
    ),
    "commit": Scene(
        "A policy that would rather swap than apply goes back and forth between two things; who "
        "commits keeps the key while there is a door that it may open.",
        lambda: Letters("########", "#k>..b.#", "#.....D#", "########"), TWO_THINGS,
        piece="commit", rules=(RULES[3], ("take", _grasp), ("swap", swap), RULES[7], RULES[-1]),
    ),
    "no_repick": Scene(
        "A policy that takes the nearest thing picks up what it just put down; once is enough, "
        "and the other thing gets its turn.",
        lambda: Letters("########", "#k>..b.#", "#.....D#", "########"), TWO_THINGS,
        piece="no_repick", rules=(("take", _grasp), RULES[3], ("swap", swap), RULES[7], RULES[-1]),
    ),
    "no_retoggle": Scene(
        "By chance the open door has the id of a wall, and would be shut again.",
        lambda: Letters("#######", "#>.d..#", "#######"),
        by_id(FLOOR, *WALL, ("d", ENTER, NOOP), ("d", TAKE, NOOP), ("_", ENTER, NOOP),
              ("_", TAKE, NOOP)),
        piece="no_retoggle", steps=16,
    ),
    "clear": Scene(
        "Before the goal can be taken the key has to be put down: in the corridor, or out of the "
        "way.",
        lambda: Letters("#########", "#>k.D..b#", "####.####", "#########", goal="b"),
        by_id(FLOOR, *WALL, *KEY, *LOCK, GROUND, ("b", ENTER, NOOP), ("b", TAKE, GOAL)),
        piece="clear", steps=40,
    ),
    "wander": Scene(
        "With nothing left to try, one waits and the other goes where it has been least.",
        lambda: Letters("#####", "#>..#", "#.#.#", "#...#", "#####"),
        by_id(FLOOR, *WALL), piece="wander", steps=14,
    ),
    "hand": Scene(
        "A take with a full hand fails; with the hand fix (every arm has it) it counts.",
        lambda: Letters("######", "#>k.b#", "######"),
        by_id(FLOOR, *WALL, *KEY, *LOCK),
        rules=(("take", _grasp), ("greedy", _greedy), RULES[-1]), fix=True, steps=10,
    ),
}  # fmt: skip


def record(name: str) -> str:
    """Return the whole file of a scene: what it shows, the life without, the life with."""
    scene = SCENES[name]
    out = [f"{name}: {scene.text}", ""]
    for on in (False, True):
        out += [f"{'with' if on else 'without'} {name}", *scene.live(on=on)[0], ""]
    return "\n".join(out[:-1]) + "\n"


if __name__ == "__main__":
    for each in SCENES:
        (WALKS / f"{each}.txt").write_text(record(each), encoding="utf-8")
