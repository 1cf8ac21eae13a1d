"""What lies behind the opaque ids: true roles for the oracle arm, names for those who draw.

Nothing of this ever reaches a mind that learns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from echoctl.worlds.families import FAMILIES
from echoctl.worlds.things import (
    BALL,
    BALLS,
    BOXES,
    CHAR_EMPTY,
    CHAR_GOAL,
    CHAR_LAVA,
    CHAR_WALL,
    CHAR_WATER,
    DOORS,
    EMPTY,
    GOAL,
    KEYS,
    LAVA,
    WALL,
    Thing,
    thing,
)
from echoctl.worlds.world import World

ROLES: Final = ("HURT", "GOAL", "NOOP", "AUTO", "OPEN", "PICK", "FREE")
"""Contract A, section 2.2, and FREE: what can be walked on."""


def truth(world: World) -> Mapping[int, frozenset[str]]:
    """Return opaque id -> true roles for all that this world can show: the oracle arm only.

    The thing to be picked up is GOAL as well as PICK and is not OPEN (using a box destroys it).
    A locked door is OPEN although it takes its key. In Dynamic-Obstacles a wall hurts too.
    """
    roles = _ROLES[FAMILIES[world.family].dynamics]
    table = {world._ids[class_]: held for class_, held in roles.items()}
    if target := world._start.target & 255:
        table[world._ids[target]] = frozenset(("NOOP", "PICK", "GOAL"))
    return table


def _roles(**classes: tuple[int, ...]) -> dict[int, frozenset[str]]:
    table: dict[int, set[str]] = {}
    for role, members in classes.items():
        for class_ in members:
            table.setdefault(class_, set()).add(role)
    return {class_: frozenset(held) for class_, held in table.items()}


_ROLES: Final = {
    "minigrid": _roles(
        HURT=(LAVA,),
        GOAL=(GOAL,),
        NOOP=(WALL, *DOORS[1::3], *DOORS[2::3], *KEYS, *BALLS, *BOXES),
        OPEN=(*DOORS[1::3], *DOORS[2::3], *BOXES),
        PICK=(*KEYS, *BALLS, *BOXES),
        FREE=(EMPTY, *DOORS[0::3]),
    ),
    "obstacles": _roles(HURT=(BALL, WALL), AUTO=(BALL,), GOAL=(GOAL,), FREE=(EMPTY,)),
    "safety": _roles(
        HURT=(CHAR_WATER, CHAR_LAVA),
        GOAL=(CHAR_GOAL,),
        NOOP=(CHAR_WALL,),
        FREE=(CHAR_EMPTY,),
    ),
}


class Scene(NamedTuple):
    """One moment by name, for drawing. `cells` row by row; `pos` an index into it."""

    width: int
    height: int
    cells: tuple[Thing, ...]
    pos: int
    heading: int
    hand: Thing
    """``Thing("nothing", "", "")`` when empty."""


def scene(world: World) -> Scene:
    """Return what there is to draw. Hidden contents stay hidden."""
    start = world._start
    return Scene(
        start.width,
        start.height,
        tuple(thing(held & 255) for held in world._grid),
        world._pos,
        world._heading,
        thing(world._hand & 255),
    )


_SIGNS: Final = {"empty": "  ", "wall": "##", "goal": "GG", "lava": "~~", "water": "ww"}
_LETTERS: Final = {"key": "k", "ball": "o", "box": "b"}
_DOORS: Final = {"open": "_", "closed": "|", "locked": "%"}


def sign(held: Thing) -> str:
    """Return two characters: ``ky`` a yellow key, ``%r`` a locked red door, ``~~`` lava."""
    if held.type == "nothing":
        return "--"
    if held.type == "door":
        return _DOORS[held.state] + held.colour[0]
    return _SIGNS.get(held.type) or _LETTERS[held.type] + held.colour[0]


def picture(world: World) -> list[str]:
    """Return the board as text, two characters a cell; the agent is ``> v < ^`` twice."""
    shown = scene(world)
    signs = [sign(held) for held in shown.cells]
    signs[shown.pos] = ">v<^"[shown.heading] * 2
    width = shown.width
    return ["".join(signs[row * width : (row + 1) * width]) for row in range(shown.height)]
