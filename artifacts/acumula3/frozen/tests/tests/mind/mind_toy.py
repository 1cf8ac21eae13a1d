"""A tiny world of letters for the mind's tests: its rules are a dozen lines, its ids are ours.

``#`` wall, ``.`` floor, ``G`` goal, ``~`` lava, ``k`` key, ``b`` box (a goal to take in ``goal``),
``D`` locked door, ``d`` shut door, ``_`` open door, ``o`` something that moves (see `drift`).
A capital ``K`` is a key hidden in a box ``B``. The agent is ``>``, ``v``, ``<`` or ``^``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from echoctl.mind import Mind, Reading, Rule, Shape, Tables, Trial, Veto
from echoctl.mind.gate import Gate
from echoctl.mind.roles import ENTER
from echoctl.percept import DROP, FORWARD, LEFT, RIGHT, TAKE, USE, Percept

IDS: Mapping[str, int] = {letter: 40 + 7 * at for at, letter in enumerate("#.G~kbDd_oB")}
EMPTY_HAND = 3
FLAT = Shape(0, 1, 0, 5, 5, 0)


class Toy:
    """One episode; `goal` is the letter whose taking wins, `drift` the ticks at which `o` moves."""

    def __init__(self, *rows: str, goal: str = "", drift: Sequence[int] = ()) -> None:
        self.width, self.height = len(rows[0]), len(rows)
        text = "".join(rows)
        self.pos = next(at for at, letter in enumerate(text) if letter in ">v<^")
        self.heading = ">v<^".index(text[self.pos])
        self.grid = [letter if letter not in ">v<^" else "." for letter in text]
        self.hand = ""
        self.goal = goal
        self.drift = drift
        self.tick = 0
        self.over = False

    def percept(self, reward: int = 0) -> Percept:
        cells = bytes(IDS[letter] for letter in self.grid)
        hand = IDS[self.hand] if self.hand else EMPTY_HAND
        return Percept(
            self.width, self.height, cells, self.pos, self.heading, hand, reward, self.over
        )

    def step(self, action: int) -> Percept:
        front = self.pos + (1, self.width, -1, -self.width)[self.heading]
        ahead = self.grid[front]
        reward = 0
        self.tick += 1
        if self.tick in self.drift:
            self._move()
        if action == LEFT:
            self.heading = (self.heading - 1) % 4
        elif action == RIGHT:
            self.heading = (self.heading + 1) % 4
        elif action == FORWARD:
            if ahead in "~o":
                self.over = True
            elif self.grid[front] in "._G":
                self.pos = front
                if ahead == "G":
                    self.over, reward = True, 900
        elif action == TAKE and not self.hand and ahead in "kb":
            self.hand, self.grid[front] = ahead, "."
            if ahead == self.goal:
                self.over, reward = True, 900
        elif action == DROP and self.hand and ahead == ".":
            self.grid[front], self.hand = self.hand, ""
        elif action == USE:
            turned = {"d": "_", "_": "d", "b": ".", "B": "k"}
            if ahead == "D" and self.hand == "k":
                self.grid[front] = "_"
            elif ahead in turned:
                self.grid[front] = turned[ahead]
        return self.percept(reward)

    def _move(self) -> None:
        """Move every `o` one cell east if that is floor, else one cell west."""
        for at in [at for at, letter in enumerate(self.grid) if letter == "o"]:
            for to in (at + 1, at - 1):
                if self.grid[to] == "." and to != self.pos:
                    self.grid[at], self.grid[to] = ".", "o"
                    break


def live(mind: Mind, world: Toy, steps: int = 60) -> list[tuple[str, int]]:
    """Play and return (rule, action) of every step, until the end or so many steps."""
    mind.begin(world.percept())
    out: list[tuple[str, int]] = []
    while not world.over and len(out) < steps:
        action = mind.act()
        out.append((mind.rule, action))
        mind.feel(world.step(action))
    return out


def case(letter: str, kind: int, role: int, shape: Shape = FLAT, episode: int = 0) -> Trial:
    return Trial(episode, IDS[letter], kind, role, shape)


def known(*facts: tuple[str, int, int], reading: Reading | None = None, times: int = 3) -> Tables:
    """Return tables in which layer 1 knows each (letter, kind, role); shapes are out of the way."""
    odd = Shape(1, 1, 1, 5, 5, 0)
    trials = [
        case(letter, kind, role, odd, episode)
        for letter, kind, role in facts
        for episode in range(times)
    ]
    return Tables(reading or Reading(), trials)


def mind_of(
    tables: Tables,
    rules: Sequence[Rule],
    *,
    gate: Gate | None = None,
    learning: bool = True,
    vetoes: Iterable[Veto] = (),
) -> Mind:
    return Mind(tables, rules, gate=gate, learning=learning, lasting="goal", vetoes=tuple(vetoes))


FREE_FLOOR = (".", ENTER, 0)
