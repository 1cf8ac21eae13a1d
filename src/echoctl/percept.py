"""All that crosses from a world to a mind, and the actions that go back.

Contract A section 2.1: the board as opaque ids, own position and heading, the reward of the
step, terminal, and the id in hand. Nothing else: no name, no colour, no clock.
"""

from __future__ import annotations

from typing import Final, NamedTuple

LEFT: Final = 0
RIGHT: Final = 1
FORWARD: Final = 2
TAKE: Final = 3
DROP: Final = 4
USE: Final = 5
WAIT: Final = 6
ACTIONS: Final = (LEFT, RIGHT, FORWARD, TAKE, DROP, USE, WAIT)
ACTION_NAMES: Final = ("left", "right", "forward", "take", "drop", "use", "wait")

EAST: Final = 0
SOUTH: Final = 1
WEST: Final = 2
NORTH: Final = 3


class Percept(NamedTuple):
    """One moment as a mind sees it. Everything is an integer.

    `cells` holds one opaque id a cell, row by row (``y * width + x``); the cell under the agent
    shows what it stands on. `cells` is the same object as long as nothing on the board changed.
    """

    width: int
    height: int
    cells: bytes
    pos: int
    """Own cell as an index into `cells`."""
    heading: int
    """0 east, 1 south, 2 west, 3 north."""
    hand: int
    """Opaque id of what is carried; an empty hand has an opaque id of its own."""
    reward: int
    """Reward of the last step in thousandths; 0 before the first."""
    terminal: bool
    """The world ended the episode. A time-out is not terminal."""
