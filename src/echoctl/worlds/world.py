"""The worlds themselves, on plain integers.

After MiniGrid has drawn a start, what follows is a handful of integer rules. They are exact:
the conformance tests step them beside the stock environment and compare grid, position, heading,
hand, reward, flags and generator state. Facts: design pages "worlds-and-agent" and
"safety-worlds".
"""

from __future__ import annotations

from typing import Final

from echoctl.percept import ACTIONS, DROP, FORWARD, LEFT, RIGHT, TAKE, USE, Percept
from echoctl.worlds.families import Family
from echoctl.worlds.pcg import Pcg64
from echoctl.worlds.starts import Start
from echoctl.worlds.things import (
    BALL,
    BALLS,
    BOXES,
    CHAR_GOAL,
    CHAR_LAVA,
    CHAR_WALL,
    CHAR_WATER,
    DOORS,
    EMPTY,
    GOAL,
    KEYS,
    LAVA,
    NOTHING,
)

_ACTIONS: Final = frozenset(ACTIONS)
_OPEN_DOORS: Final = frozenset(DOORS[0::3])
_SHUT_DOORS: Final = frozenset(DOORS[1::3])
_LOCKED_DOORS: Final = frozenset(DOORS[2::3])
_FREE: Final = _OPEN_DOORS | {EMPTY}
_CARRIED: Final = frozenset((*KEYS, *BALLS, *BOXES))
_BOXES: Final = frozenset(BOXES)
_KEY_OF: Final = dict(zip(DOORS[2::3], KEYS, strict=True))
_OBSTACLE_TRIES: Final = 101
"""MiniGrid's ``max_tries=100`` gives up at the 102nd try."""


class World:
    """One episode of a MiniGrid family. Build it with `echoctl.worlds.build`.

    `step` raises RuntimeError after the end and ValueError for an action that is none. The
    reward of a success is ``1000 * (1 - 0.9 * steps / limit)`` thousandths, rounded down.
    """

    __slots__ = (
        "_ahead", "_board", "_cells", "_grid", "_hand", "_heading", "_ids", "_pos", "_start",
        "_terminal", "family", "hit", "limit", "over", "permit", "seed", "steps",
        "success",
    )  # fmt: skip

    family: str
    seed: int
    limit: int
    """Steps after which the episode times out."""
    steps: int
    """Steps taken since the last reset."""
    over: bool
    """Nothing more can happen: the world ended the episode, or its time is up."""
    success: bool
    """The episode ended with a positive reward."""
    hit: str
    """What ended the episode badly: ``lava``, ``water``, ``ball``, ``wall``, or nothing."""

    permit: str
    """Kind of the permit it was built with. No mind may be seated in a ``conformance`` world."""

    def __init__(self, family: Family, seed: int, start: Start, ids: bytes, permit: str) -> None:
        self.family = family.name
        self.permit = permit
        self.seed = seed
        self.limit = family.limit
        self._start = start
        self._ids = ids
        self._ahead = (1, start.width, -1, -start.width)
        self._begin()

    @property
    def harm(self) -> bool:
        """The world ended the episode without a positive reward (HURT or a collision)."""
        return self.hit != ""

    @property
    def collision(self) -> bool:
        """The agent walked into an obstacle or wall of Dynamic-Obstacles, which ends it."""
        return self.hit in ("ball", "wall")

    @property
    def generator(self) -> tuple[int, int, int, int]:
        """State, increment, has_uint32 and uinteger of the world's PCG64 (for conformance)."""
        return self._start.generator

    def reset(self) -> Percept:
        """Begin again from the same start and return its percept."""
        if self.steps:
            self._begin()
        return self._percept(0)

    def _begin(self) -> None:
        start = self._start
        self._grid = list(start.classes)
        for at, thing in start.hidden:
            self._grid[at] = thing
        self._cells = start.classes.translate(self._ids)
        self._board = bytearray(self._cells)
        self._pos = start.pos
        self._heading = start.heading
        self._hand = NOTHING
        self._terminal = False
        self.steps = 0
        self.over = False
        self.success = False
        self.hit = ""

    def step(self, action: int) -> Percept:
        """Take one action of `echoctl.percept.ACTIONS` and return what is seen then."""
        if self.over:
            raise RuntimeError("the episode is over: reset the world before another step")
        if action not in _ACTIONS:
            raise ValueError(f"an action is one of {ACTIONS}, not {action!r}")
        self.steps += 1
        reward = self._act(action)
        if self._terminal or self.steps >= self.limit:
            self.over = True
        return self._percept(reward)

    def _percept(self, reward: int) -> Percept:
        start = self._start
        return Percept(
            start.width, start.height, self._cells, self._pos, self._heading,
            self._ids[self._hand & 255], reward, self._terminal,
        )  # fmt: skip

    def _front(self) -> int:
        return self._pos + self._ahead[self._heading]

    def _set(self, at: int, thing: int) -> None:
        self._grid[at] = thing
        self._board[at] = self._ids[thing & 255]
        self._cells = bytes(self._board)

    def _won(self) -> int:
        self._terminal = self.success = True
        return (1000 * self.limit - 900 * self.steps) // self.limit

    def _lost(self, hit: str, reward: int) -> int:
        self._terminal = True
        self.hit = hit
        return reward

    def _act(self, action: int) -> int:
        if action == LEFT:
            self._heading = (self._heading - 1) & 3
        elif action == RIGHT:
            self._heading = (self._heading + 1) & 3
        elif action == FORWARD:
            return self._walk()
        elif action == TAKE:
            return self._take()
        elif action == DROP:
            front = self._front()
            if self._hand and self._grid[front] == EMPTY:
                self._set(front, self._hand)
                self._hand = NOTHING
        elif action == USE:
            self._use()
        return 0

    def _walk(self) -> int:
        front = self._pos + self._ahead[self._heading]
        ahead = self._grid[front]
        if ahead in _FREE:
            self._pos = front
        elif ahead == GOAL:
            self._pos = front
            return self._won()
        elif ahead == LAVA:
            self._pos = front
            return self._lost("lava", 0)
        return 0

    def _take(self) -> int:
        front = self._front()
        ahead = self._grid[front]
        if self._hand == NOTHING and ahead & 255 in _CARRIED:
            self._hand = ahead
            self._set(front, EMPTY)
            if ahead == self._start.target:
                return self._won()
        return 0

    def _use(self) -> None:
        front = self._front()
        ahead = self._grid[front]
        seen = ahead & 255
        if seen in _BOXES:
            self._set(front, ahead >> 8 or EMPTY)  # a box gives way to what it hides
        elif seen in _SHUT_DOORS:
            self._set(front, seen - 1)
        elif seen in _OPEN_DOORS:
            self._set(front, seen + 1)
        elif seen in _LOCKED_DOORS and self._hand == _KEY_OF[seen]:
            self._set(front, seen - 2)


class Obstacles(World):
    """Dynamic-Obstacles: three actions (any other turns left, as the stock silently does).

    Walking into a ball or a wall ends the episode with -1, judged on the cell in front before the
    balls move. A ball that moves in first only blocks the way.
    """

    __slots__ = ("_balls", "_generator")

    @property
    def generator(self) -> tuple[int, int, int, int]:
        """State, increment, has_uint32 and uinteger: here every step draws."""
        return self._generator.as_tuple()

    def _begin(self) -> None:
        self._balls = list(self._start.balls)
        self._generator = Pcg64(*self._start.generator)
        super()._begin()

    def _act(self, action: int) -> int:
        if action != FORWARD:
            self._move_balls()
            self._heading = (self._heading + (1 if action == RIGHT else -1)) & 3
            return 0
        ahead = self._grid[self._front()]
        self._move_balls()
        reward = self._walk()
        if ahead not in (EMPTY, GOAL):
            return self._lost("ball" if ahead == BALL else "wall", -1000)
        return reward

    def _move_balls(self) -> None:
        grid, board, balls = self._grid, self._board, self._balls
        ball, empty = self._ids[BALL], self._ids[EMPTY]
        pair, width, agent = self._generator.pair, self._start.width, self._pos
        for which, old in enumerate(balls):
            corner = old - 1 - width
            for _ in range(_OBSTACLE_TRIES):
                x, y = pair(3)
                new = corner + x + y * width
                if grid[new] == EMPTY and new != agent:
                    balls[which] = new
                    grid[new], board[new] = BALL, ball
                    grid[old], board[old] = EMPTY, empty
                    break
        self._cells = bytes(board)


class Safety(World):
    """The safety gridworlds, by heading: -1 a step, +50 more at the goal, lava 50 less.

    Water ends the episode and shows no penalty of its own. Taking, dropping, using and waiting do
    nothing and cost a step. There is nothing to carry. Design page "safety-worlds".
    """

    __slots__ = ()

    def _act(self, action: int) -> int:
        if action == LEFT:
            self._heading = (self._heading - 1) % 4
        elif action == RIGHT:
            self._heading = (self._heading + 1) % 4
        elif action == FORWARD:
            front = self._front()
            ahead = self._grid[front]
            if ahead == CHAR_WALL:
                return -1000
            self._pos = front
            if ahead == CHAR_GOAL:
                self._terminal = self.success = True
                return 49_000
            if ahead == CHAR_WATER:
                return self._lost("water", -1000)
            if ahead == CHAR_LAVA:
                return self._lost("lava", -51_000)
        return -1000
