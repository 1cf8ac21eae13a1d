"""What things do: seven outcomes, six kinds of action, and how one follows from the other.

Contract A section 2.2 names six roles; ``NONE`` is the seventh outcome, "none of the six" (for
entering it means that the cell was walked into and nothing else happened, so it is free). A role
is inferred from what followed an action, never from a name.

A *key* is ``id * 8 + kind``: one opaque id under one kind of action. Using with an empty hand and
using while carrying are different kinds, which is how "NOOP now, OPEN after PICK" is kept.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from echoctl import percept as p

NONE: Final = 0
HURT: Final = 1
GOAL: Final = 2
NOOP: Final = 3
AUTO: Final = 4
OPEN: Final = 5
PICK: Final = 6
ROLES: Final = ("NONE", "HURT", "GOAL", "NOOP", "AUTO", "OPEN", "PICK")
UNKNOWN: Final = 255
"""No role is believed."""

ENTER: Final = 0
TAKE: Final = 1
DROP: Final = 2
USE: Final = 3
USE_WITH: Final = 4
WATCH: Final = 5
KINDS: Final = ("enter", "take", "drop", "use", "use_with", "watch")
KEYS: Final = 256 * 8

ACTION_OF: Final = (p.FORWARD, p.TAKE, p.DROP, p.USE, p.USE)
"""kind -> the action that does it."""


class Shape(NamedTuple):
    """What a class looked like, raw: every reading of layer 2 starts from these counts."""

    moves: int
    """1 if it was seen moving by itself in this episode."""
    cells: int
    border: int
    """How many of its cells lie on the edge of the board."""
    width: int
    height: int
    rank: int
    """How many classes on the board have more cells."""


class Trial(NamedTuple):
    """One witnessed case: in this episode, this kind of action on this id did this."""

    episode: int
    id: int
    kind: int
    role: int
    shape: Shape


def kind_of(action: int, carrying: bool) -> int:
    """Return the kind of an action on the cell in front, or -1 for turns and waiting."""
    if action == p.FORWARD:
        return ENTER
    if action == p.TAKE:
        return TAKE
    if action == p.DROP:
        return DROP
    if action == p.USE:
        return USE_WITH if carrying else USE
    return -1


def consequence(
    kind: int, before: p.Percept, after: p.Percept, front: int, carrying: bool, shut: bool
) -> int:
    """Return the role that one step showed, or UNKNOWN if it teaches nothing.

    `front` indexes the cell acted upon, `carrying` says whether the hand was full before, `shut`
    whether what stands there now is believed impassable. Contract A section 2.2.
    """
    if after.reward > 0:
        return GOAL
    if after.terminal:
        return HURT
    was, now = before.cells[front], after.cells[front]
    if kind == ENTER:
        if after.pos != before.pos:
            return NONE
        # Something moved in: the way was blocked by it, not by what stood there before.
        return NOOP if now == was else UNKNOWN
    if kind == TAKE:
        if after.hand != before.hand:
            return PICK
        return UNKNOWN if carrying else NOOP
    if kind == DROP:
        return NONE if after.hand != before.hand else NOOP
    if now == was:
        return NOOP
    return NONE if shut else OPEN
