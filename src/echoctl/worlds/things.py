"""What can stand in a cell, as small integers.

A *class* is a byte: ``type * 18 + colour * 3 + state`` with MiniGrid's own indices, and from 198
on the characters of the safety gridworlds. An *object* is a class plus 256 times the class that
it hides (a key in a box); only its class is ever shown.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from echoctl.draws import Draws

TYPES: Final = (
    "nothing", "empty", "wall", "floor", "door", "key", "ball", "box", "goal", "lava",
)  # fmt: skip
COLOURS: Final = ("red", "green", "blue", "purple", "yellow", "grey")
STATES: Final = ("open", "closed", "locked")
_CHARACTERS: Final = ("empty", "wall", "goal", "water", "lava")


def class_of(type_: int, colour: int, state: int) -> int:
    """Return the class of MiniGrid's triple of indices."""
    return type_ * 18 + colour * 3 + state


NOTHING: Final = 0
"""An empty hand."""
EMPTY: Final = class_of(1, 0, 0)
WALL: Final = class_of(2, 5, 0)
GOAL: Final = class_of(8, 1, 0)
LAVA: Final = class_of(9, 0, 0)
BALL: Final = class_of(6, 2, 0)
"""The blue ball: the obstacle of Dynamic-Obstacles."""
DOORS: Final = tuple(class_of(4, colour, state) for colour in range(6) for state in range(3))
KEYS: Final = tuple(class_of(5, colour, 0) for colour in range(6))
BALLS: Final = tuple(class_of(6, colour, 0) for colour in range(6))
BOXES: Final = tuple(class_of(7, colour, 0) for colour in range(6))
CHAR_EMPTY: Final = 198
CHAR_WALL: Final = 199
CHAR_GOAL: Final = 200
CHAR_WATER: Final = 201
CHAR_LAVA: Final = 202

CLASSES: Final = (
    NOTHING, EMPTY, WALL, GOAL, LAVA, *DOORS, *KEYS, *BALLS, *BOXES,
    CHAR_EMPTY, CHAR_WALL, CHAR_GOAL, CHAR_WATER, CHAR_LAVA,
)  # fmt: skip
"""Every class that a world can show, in the order in which opaque ids are drawn."""


@lru_cache(maxsize=4096)
def opaque_ids(ids: tuple[str | int, ...]) -> bytes:
    """Return the bijection that `ids` names, as a table of 256 bytes: class -> opaque id.

    Each class of `CLASSES` gets an id drawn without replacement from all 256, so an id of one
    bijection can mean something else in another: chance collisions with what a mind learned are
    kept, as in the sources. Bytes that are no class stay 0 and are never looked up.
    """
    draws = Draws("ids", *ids)
    urn = list(range(256))
    table = bytearray(256)
    for at, class_ in enumerate(CLASSES):
        other = at + draws.below(256 - at)
        urn[at], urn[other] = urn[other], urn[at]
        table[class_] = urn[at]
    return bytes(table)


class Thing(NamedTuple):
    """A class by name, for those who draw it. `state` is empty except for a door."""

    type: str
    colour: str
    state: str


def thing(class_: int) -> Thing:
    """Return the names of a class. Characters of the safety gridworlds have no colour."""
    if class_ >= CHAR_EMPTY:
        return Thing(_CHARACTERS[class_ - CHAR_EMPTY], "", "")
    kind, rest = divmod(class_, 18)
    colour, state = divmod(rest, 3)
    named = TYPES[kind]
    if named in ("nothing", "empty"):
        return Thing(named, "", "")
    return Thing(named, COLOURS[colour], STATES[state] if named == "door" else "")
