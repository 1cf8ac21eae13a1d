"""The base policy of MEMORIA-X: named rules in order, the same in all arms.

Contract A section 2.4; the order is that of the design page "worlds-and-agent", "Base policy".
Whole numbers only, deterministic, no names. Each rule either makes a plan or leaves the step to
the next one:

    look     the very first action is to wait, to see who moves
    goal     go to a known, reachable goal, never through what hurts
    open     open what is known to open
    resume   do what the hand was emptied for
    probe    the nearest unknown class: enter it, then take it, then use it
    fetch    take something that may be of use
    empty    put down what is held where a take is still untried
    apply    use what is held on what cannot be entered
    swap     put down what is of no more use for something that may be
    unpack   use what can be taken, when all else has failed
    doubt    take or use what was pruned for its shape, once, when nothing else is left
    rest     wait until something changes

A curious mind (half of the training episodes) probes before it walks to a known goal.
"""

from __future__ import annotations

from typing import Final

from echoctl.mind.agent import Choice, Mind, Rule
from echoctl.mind.gate import BLOCK, MODIFY
from echoctl.mind.reading import FIRST, LIVED
from echoctl.mind.roles import (
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
)

NOTHING: Final = -1


def look(mind: Mind) -> bool:
    """Wait once, at the very start."""
    return mind.steps == 0 and mind.wait()


def goal(mind: Mind) -> bool:
    """Go to a known goal; if it has to be taken and the hand is full, put that down beside it."""
    if mind.pursue(_goal_kind):
        return True
    return mind.carrying and mind.pursue(_goal_to_take, drop_first=True)


def open_(mind: Mind) -> bool:
    """Open what is known to open, with what is in the hand or without."""
    return mind.pursue(_opening)


def resume(mind: Mind) -> bool:
    """Do what the hand was emptied for, if it is still untried."""
    if mind.intention is None:
        return False
    id_, kind = mind.intention
    if mind.carrying or mind.role(id_ * 8 + kind) == NOOP:
        mind.intention = None
        return False
    return mind.pursue(_RESUMED[kind], when=_intended)


def probe(mind: Mind) -> bool:
    """Try the nearest class of which the next step is unknown."""
    return mind.pursue(untested)


def fetch(mind: Mind) -> bool:
    """Take something that may be of use on something that cannot be entered."""
    return not mind.carrying and mind.pursue(_takable, when=_useful)


def empty(mind: Mind) -> bool:
    """Put down what is held, beside something whose taking is untried."""
    return mind.carrying and mind.pursue(_untaken, drop_first=True)


def apply(mind: Mind) -> bool:
    """Use what is held on what cannot be entered."""
    return mind.carrying and mind.pursue(_applicable)


def swap(mind: Mind) -> bool:
    """Put down what is of no more use, beside something that may be."""
    return mind.carrying and mind.pursue(_takable, when=_useful, drop_first=True)


def unpack(mind: Mind) -> bool:
    """Use something that can be taken: it may hold something."""
    return mind.pursue(_unopened, drop_first=mind.carrying)


def doubt(mind: Mind) -> bool:
    """Try once, when nothing else is left, what was pruned only because of its shape.

    What this very id did is never doubted, nor what happens on entering: doubting those makes an
    agent walk into walls.
    """
    return mind.pursue(_pruned_by_shape, insist=True)


def rest(mind: Mind) -> bool:
    """Nothing is left to do: wait."""
    return mind.rest_here()


RULES: Final[tuple[Rule, ...]] = (
    ("look", look),
    ("goal", goal),
    ("open", open_),
    ("resume", resume),
    ("probe", probe),
    ("fetch", fetch),
    ("empty", empty),
    ("apply", apply),
    ("swap", swap),
    ("unpack", unpack),
    ("doubt", doubt),
    ("rest", rest),
)

CURIOUS_RULES: Final[tuple[Rule, ...]] = (
    RULES[0],
    ("probe", probe),
    *(rule for rule in RULES[1:] if rule[0] != "probe"),
)
"""Probing comes first: without it things beside the way to a known goal are never touched."""


def untested(mind: Mind, id_: int) -> int:
    """Return the next untried kind of action on a class: enter, then take, then use.

    The next kind is due only when the one before did nothing, was known to, or was pruned by the
    gate. Using needs a take with an empty hand to have failed. What is known to be of some use
    is not unknown; what is believed to hurt is proposed, so that the gate can say no.
    """
    lived, verdicts = mind.lived, mind.gate.verdicts
    for kind in (ENTER, TAKE, USE):
        if kind != ENTER and mind.carrying:
            return NOTHING
        key = id_ * 8 + kind
        if lived[key] == NOOP or verdicts[key] == MODIFY:
            continue
        if verdicts[key] == BLOCK:
            return NOTHING
        role = mind.role(key)
        if role in (UNKNOWN, NOOP) or (role == HURT and lived[key] != HURT):
            return kind
        return NOTHING
    return NOTHING


def shut(mind: Mind, id_: int) -> bool:
    """Say whether a class cannot be entered, as lived, as remembered or as pruned."""
    key = id_ * 8 + ENTER
    return mind.role(key) == NOOP or mind.gate.verdicts[key] == MODIFY


def _goal_kind(mind: Mind, id_: int) -> int:
    role, key = mind.role, id_ * 8
    if role(key) == GOAL:
        return ENTER
    if role(key + TAKE) == GOAL:
        return NOTHING if mind.carrying else TAKE
    if role(key + USE) == GOAL:
        return NOTHING if mind.carrying else USE
    return NOTHING


def _goal_to_take(mind: Mind, id_: int) -> int:
    return TAKE if mind.role(id_ * 8 + TAKE) == GOAL else NOTHING


def _opening(mind: Mind, id_: int) -> int:
    kind = USE_WITH if mind.carrying else USE
    # What may be taken is taken first: using it could destroy it.
    return kind if mind.role(id_ * 8 + kind) == OPEN and _fixed(mind, id_) else NOTHING


def _untaken(mind: Mind, id_: int) -> int:
    key = id_ * 8 + TAKE
    role = mind.role(key)
    if role == UNKNOWN:
        return TAKE if shut(mind, id_) else NOTHING
    # Believed both to be taken and to be opened, by shape: taking it does no damage.
    torn = (
        role == PICK
        and mind.lived[key] != PICK
        and mind.role(id_ * 8 + USE_WITH) == OPEN
        and mind.role(id_ * 8 + ENTER) not in (NONE, GOAL)
    )
    return TAKE if torn else NOTHING


def _fixed(mind: Mind, id_: int) -> bool:
    """Shut and not to be taken, as lived, remembered or pruned: a door rather than a key."""
    key = id_ * 8 + TAKE
    untakable = mind.role(key) == NOOP or mind.gate.verdicts[key] == MODIFY
    return untakable and shut(mind, id_)


def _applicable(mind: Mind, id_: int) -> int:
    if not _fixed(mind, id_):
        return NOTHING
    return USE_WITH if mind.role(id_ * 8 + USE_WITH) == UNKNOWN else NOTHING


def _takable(mind: Mind, id_: int) -> int:
    if mind.role(id_ * 8 + TAKE) != PICK:
        return NOTHING
    return TAKE if mind.role(id_ * 8 + ENTER) not in (NONE, GOAL) else NOTHING


def _useful(mind: Mind, id_: int) -> bool:
    """Say whether something here may yield to a thing, as lived or as far as remembered."""
    for other in mind.board.present:
        if not mind.board.masks[other] or not _fixed(mind, other):
            continue
        key = other * 8 + USE_WITH
        tried = mind.tried_with(id_, other)
        if tried == OPEN:
            return True
        pruned = mind.gate.verdicts[key] == MODIFY
        if tried == UNKNOWN and not pruned and mind.remembers(key) in (UNKNOWN, OPEN):
            return True
    return False


def _intended(mind: Mind, id_: int) -> bool:
    return mind.intention is not None and mind.intention[0] == id_


_RESUMED: Final[dict[int, Choice]] = {
    kind: (lambda mind, id_, kind=kind: kind)  # type: ignore[misc]
    for kind in (TAKE, USE)
}


def _pruned_by_shape(mind: Mind, id_: int) -> int:
    if not shut(mind, id_):
        return NOTHING
    for kind in (USE_WITH,) if mind.carrying else (TAKE, USE):
        key = id_ * 8 + kind
        if mind.role(key) in (UNKNOWN, NOOP) and mind.believe(key).layer not in (LIVED, FIRST):
            return kind
    return NOTHING


def _unopened(mind: Mind, id_: int) -> int:
    key = id_ * 8 + USE
    if mind.role(id_ * 8 + TAKE) != PICK:
        return NOTHING
    return USE if mind.role(key) in (UNKNOWN, OPEN) else NOTHING
