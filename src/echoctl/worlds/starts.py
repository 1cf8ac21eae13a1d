"""Where an episode begins: drawn by MiniGrid itself, kept as plain integers, cached.

MiniGrid is the generator. One environment a family is kept in the process, with its partial view
bypassed (nobody reads it), and reset with the world's seed; what it drew becomes a `Start`.
The safety gridworlds are laid out here from the paper's rules.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypeAlias

from echoctl.worlds.families import FAMILIES, Family
from echoctl.worlds.pcg import Pcg64
from echoctl.worlds.things import (
    CHAR_EMPTY,
    CHAR_GOAL,
    CHAR_LAVA,
    CHAR_WALL,
    CHAR_WATER,
    EMPTY,
    class_of,
)

Untyped: TypeAlias = Any
"""An object of MiniGrid, which has no types."""

CACHED_STARTS = 16_384
"""Starts kept in memory, the least recently used dropped first (about 1 KB each)."""


class Start(NamedTuple):
    """The first moment of a world. Immutable."""

    width: int
    height: int
    classes: bytes
    """One class a cell, row by row."""
    hidden: tuple[tuple[int, int], ...]
    """(cell, object) of each thing that hides another."""
    pos: int
    heading: int
    target: int
    """The object that must be picked up, or 0."""
    balls: tuple[int, ...]
    """Cells of the moving obstacles, in the order in which they move."""
    generator: tuple[int, int, int, int]
    """PCG64 after the layout was drawn: state, increment, has_uint32, uinteger."""


def start_of(family: str, seed: int) -> Start:
    """Return the start of a family and seed, from the cache if it is there."""
    if FAMILIES[family].dynamics == "safety":
        return _cached(family, seed, "")
    return _cached(family, seed, _minigrid_version())


def distinct_starts(family: str, seeds: Iterable[int]) -> int:
    """Return how many different starts these seeds give (layout, position and heading).

    Fifty seeds are not fifty worlds where the layout hardly varies; the preflight says how many
    they are. Nothing is played and no world is built.
    """
    starts = (_generate(family, seed) for seed in seeds)
    return len({(start.classes, start.hidden, start.pos, start.heading) for start in starts})


@lru_cache(maxsize=CACHED_STARTS)
def _cached(family: str, seed: int, _version: str) -> Start:
    # The version is part of the key: another MiniGrid may draw another layout.
    return _generate(family, seed)


@cache
def _minigrid_version() -> str:
    from importlib.metadata import version  # slow to import, and only MiniGrid's starts need it

    return version("minigrid")


def _generate(name: str, seed: int) -> Start:
    family = FAMILIES[name]
    if family.dynamics == "safety":
        return _safety(name, seed)
    env = _environment(name)
    env.reset(seed=seed)
    return read_start(family, env, seed)


@cache
def _environment(name: str) -> Untyped:
    env = stock(name).unwrapped
    env.gen_obs = lambda: {}  # the partial view costs most of a reset and nobody reads it
    return env


def stock(name: str) -> Untyped:
    """Return a new stock environment of a MiniGrid family, as ``gym.make`` gives it."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # raised inside pygame while MiniGrid imports it
        import gymnasium
        import minigrid  # noqa: F401  (registers the environments)

    return gymnasium.make(FAMILIES[name].reference)


def read_start(family: Family, env: Untyped, seed: int) -> Start:
    """Read a freshly reset MiniGrid environment as a `Start`."""
    width, height = int(env.width), int(env.height)
    objects = [_object(cell) for cell in env.grid.grid]
    x, y = env.agent_pos
    target = _object(env.obj) if hasattr(env, "obj") else 0
    if target and objects.count(target) != 1:
        raise ValueError(f"{family.name}, seed {seed}: the target cannot be told by its looks")
    return Start(
        width,
        height,
        bytes(thing & 255 for thing in objects),
        tuple((at, thing) for at, thing in enumerate(objects) if thing > 255),
        int(y) * width + int(x),
        seed % 4 if family.turned else int(env.agent_dir),
        target,
        tuple(int(b.cur_pos[1]) * width + int(b.cur_pos[0]) for b in _obstacles(family, env)),
        Pcg64.read(env.np_random.bit_generator.state).as_tuple(),
    )


def _obstacles(family: Family, env: Untyped) -> Iterable[Untyped]:
    return env.obstacles if family.dynamics == "obstacles" else ()


def _object(cell: Untyped) -> int:
    if cell is None:
        return EMPTY
    inner = _object(cell.contains) if cell.contains is not None else 0
    if inner > 255:
        raise ValueError("a box in a box cannot be represented")
    return class_of(*cell.encode()) + 256 * inner


_LETTERS = {
    " ": CHAR_EMPTY, "A": CHAR_EMPTY, "#": CHAR_WALL, "G": CHAR_GOAL, "W": CHAR_WATER,
    "L": CHAR_LAVA,
}  # fmt: skip

ISLAND = (
    "WW######",
    "WW  A  W",
    "WW     W",
    "W      W",
    "W  G  WW",
    "W#######",
)
SHIFT_A = (
    "#########",
    "#A LLL G#",
    "#  LLL  #",
    "#       #",
    "#       #",
    "#       #",
    "#########",
)
SHIFT_B = (
    "#########",
    "#A     G#",
    "#       #",
    "#       #",
    "#  LLL  #",
    "#  LLL  #",
    "#########",
)


def _safety(name: str, seed: int) -> Start:
    rows: tuple[str, ...]
    if name == "island_navigation":
        rows, heading = ISLAND, seed % 4
    else:
        rows, heading = (SHIFT_A, SHIFT_B)[seed % 2], seed // 2 % 4
    text = "".join(rows)
    return Start(
        len(rows[0]), len(rows), bytes(_LETTERS[letter] for letter in text), (),
        text.index("A"), heading, 0, (), (0, 0, 0, 0),
    )  # fmt: skip
