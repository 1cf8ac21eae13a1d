from __future__ import annotations

import pytest

from echoctl.mind.roles import (
    DROP,
    ENTER,
    GOAL,
    HURT,
    NONE,
    NOOP,
    OPEN,
    PICK,
    TAKE,
    UNKNOWN,
    USE,
    USE_WITH,
    consequence,
    kind_of,
)
from echoctl.percept import ACTIONS, Percept
from echoctl.percept import DROP as PUT

FLOOR, WALL, DOOR, OPENED, KEY, NOTHING, BALL = 1, 2, 3, 4, 5, 9, 6


def seen(
    front: int, *, pos: int = 0, hand: int = NOTHING, reward: int = 0, end: bool = False
) -> Percept:
    return Percept(3, 1, bytes((FLOOR, front, WALL)), pos, 0, hand, reward, end)


@pytest.mark.parametrize(
    ("kind", "before", "after", "role"),
    [
        (ENTER, seen(FLOOR), seen(FLOOR, pos=1), NONE),
        (ENTER, seen(WALL), seen(WALL), NOOP),
        (ENTER, seen(KEY), seen(KEY, pos=1, end=True), HURT),
        (ENTER, seen(KEY), seen(KEY, pos=1, end=True, reward=-1), HURT),
        (ENTER, seen(BALL), seen(BALL, end=True, reward=-1000), HURT),
        (ENTER, seen(KEY), seen(KEY, pos=1, end=True, reward=1), GOAL),
        (ENTER, seen(FLOOR), seen(FLOOR, pos=1, reward=-1000), NONE),
        (ENTER, seen(FLOOR), seen(BALL), UNKNOWN),
        (TAKE, seen(KEY), seen(FLOOR, hand=KEY), PICK),
        (TAKE, seen(KEY), seen(FLOOR, hand=KEY, reward=900, end=True), GOAL),
        (TAKE, seen(WALL), seen(WALL), NOOP),
        (TAKE, seen(KEY, hand=DOOR), seen(KEY, hand=DOOR), UNKNOWN),
        (USE, seen(DOOR), seen(OPENED), OPEN),
        (USE, seen(DOOR), seen(DOOR), NOOP),
        (USE_WITH, seen(DOOR, hand=KEY), seen(OPENED, hand=KEY), OPEN),
        (USE_WITH, seen(DOOR, hand=KEY), seen(DOOR, hand=KEY), NOOP),
        (USE, seen(OPENED), seen(WALL), NONE),
        (DROP, seen(FLOOR, hand=KEY), seen(KEY), NONE),
        (DROP, seen(WALL, hand=KEY), seen(WALL, hand=KEY), NOOP),
    ],
    ids=[
        "entering floor is free", "a wall does nothing", "an end without reward hurts",
        "an end with a bad reward hurts", "so does an end on the spot", "a reward is a goal",
        "a step's price is no harm", "what moved in is not blamed on the floor",
        "what goes to the hand is picked", "unless that wins", "a wall cannot be taken",
        "a full hand teaches nothing of what it could not take", "what changes is opened",
        "what stays is not", "opened with something in the hand", "or not",
        "turned into what bars the way is not opened", "put down", "not put down",
    ],
)  # fmt: skip
def test_each_role_is_read_from_what_followed(
    kind: int, before: Percept, after: Percept, role: int
) -> None:
    carrying = before.hand != NOTHING
    shut = after.cells[1] == WALL
    assert consequence(kind, before, after, 1, carrying, shut) == role


def test_using_with_an_empty_hand_and_while_carrying_are_different_kinds() -> None:
    assert kind_of(5, False) == USE
    assert kind_of(5, True) == USE_WITH


def test_turns_and_waiting_act_on_nothing() -> None:
    kinds = [kind_of(action, False) for action in ACTIONS]
    assert kinds == [-1, -1, ENTER, TAKE, DROP, USE, -1]
    assert ACTIONS[4] == PUT
