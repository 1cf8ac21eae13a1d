"""The agent of ACUMULA-3: ACUMULA's with the hand fix, and five pieces of policy to switch on.

Contract B v3 section 2 with amendment 1. A piece never names anything; it forbids, moves or adds a
plan. What each signal saw is counted as the episode is lived, whichever pieces are on:

    commit        keep what may still open something, rather than swap it for what was had before
    no_repick     do not go on picking up an id after picking up again what one had put down there
    no_retoggle   do not go on using what stands in a cell that one changed before
    clear         put things down where they do not cut the way
    wander        with nothing left to try, go where one has been least

The hand fix belongs to every arm: a take that fails with a full hand counts, in that episode,
against taking that id.
"""

from __future__ import annotations

from typing import Final

from echoctl.mind.agent import Mind
from echoctl.mind.board import around, nearest
from echoctl.mind.edits import EditedTables
from echoctl.mind.roles import GOAL, NOOP, OPEN, PICK, TAKE, UNKNOWN, USE, USE_WITH
from echoctl.percept import DROP as PUT
from echoctl.percept import FORWARD, RIGHT, Percept
from echoctl.percept import TAKE as GRASP
from echoctl.percept import USE as TURN
from echoctl.tracks.acumula.policy import Agent
from echoctl.tracks.memx.policy import RULES, shut

PIECES: Final = ("commit", "no_repick", "no_retoggle", "clear", "wander")


class Handy(Agent):
    """An agent with the hand fix; `pieces` are those that are switched on."""

    def __init__(
        self, tables: EditedTables, pieces: frozenset[str] = frozenset(), *,
        learning: bool = False, clear_steps: int = 8,
    ) -> None:  # fmt: skip
        rules = (*RULES[:-1], ("wander", wander), RULES[-1]) if "wander" in pieces else RULES
        vetoes = [veto for name, veto in _VETOES if name in pieces]
        super().__init__(tables, learning=learning, rules=rules, vetoes=vetoes, listeners=(watch,))
        self.pieces = pieces
        self.clear_steps = clear_steps
        """How far one may walk to put something down where it does not cut the way."""

    def begin(self, percept: Percept, episode: int = 0) -> None:
        """Start an episode: nothing put down, changed or visited yet."""
        super().begin(percept, episode)
        self.put_down: dict[int, tuple[int, int]] = {}
        """cell -> (id that was put down there, `news` then)."""
        self.news = 0
        """Grows when a cell is opened or something is picked up that was not before."""
        self.not_again: dict[int, int] = {}
        """id that is not picked up -> as long as `news` is this."""
        self.turned: dict[int, int] = {}
        """cell -> times that using something there changed it."""
        self.not_used: set[int] = set()
        """Ids that are not used any more in this episode."""
        self.cut = 0
        """Times that putting something down made the reachable area smaller."""
        self.longest_idle = 0
        self.visits: dict[int, int] = {percept.pos: 1}

    def reach(self) -> int:
        """Return the cells that can be walked to, as bits, the own cell included."""
        return flood(self.geometry.stride, self.free, 1 << self.geometry.place[self.now.pos])

    def follow(self, way: list[int]) -> bool:
        """Plan to walk a way that ends with nothing to do."""
        self._plan(way, -1)
        return True

    def count_against(self, key: int) -> None:
        """Take in that an action did nothing, as if it had been tried with an empty hand."""
        if self._live(key, NOOP):
            self._path.clear()
            self.resting = False

    def _drop_beside(self, cell: int) -> list[int] | None:
        """Return the way to put down what is held; with `clear`, where it does not cut the way."""
        way = super()._drop_beside(cell)
        if way is None or "clear" not in self.pieces:
            return way
        geo = self.geometry
        here = 1 << geo.place[self.now.pos]
        reach = self.reach()
        target = 1 << geo.place[cell]
        spots = _uncut(geo.stride, reach) & self.ground() & ~target
        beside = around(geo.stride, target) & reach
        if beside & (beside - 1) == 0:
            spots &= ~beside  # the only cell from which to act on what the hand is emptied for
        if self._put_at(way) & spots:
            return way
        want = (spots >> 1, spots >> geo.stride, spots << 1, spots << geo.stride)
        found = nearest(geo.stride, self.free, here, self.now.heading, want)
        return way if found is None or len(found[0]) > self.clear_steps else [PUT, *found[0]]

    def _put_at(self, way: list[int]) -> int:
        """Return the cell, as a bit, onto which a way that ends with putting down puts it."""
        at, heading = self.now.pos, self.now.heading
        for action in reversed(way[1:]):
            if action == FORWARD:
                at += self.geometry.steps[heading]
            else:
                heading = (heading + (1 if action == RIGHT else 3)) & 3
        return 1 << self.geometry.place[at + self.geometry.steps[heading]]


def watch(mind: Mind, before: Percept, action: int, after: Percept) -> None:
    """Keep the counts that pieces and signals rest on, and mend the hand's bookkeeping."""
    assert isinstance(mind, Handy)
    mind.longest_idle = max(mind.longest_idle, mind.idle)
    if after.pos != before.pos:
        mind.visits[after.pos] = mind.visits.get(after.pos, 0) + 1
    if action not in (GRASP, PUT, TURN):
        return
    front = before.pos + mind.geometry.steps[before.heading]
    was, now = before.cells[front], after.cells[front]
    if action == GRASP and after.hand == before.hand and mind.empty != before.hand:
        mind.count_against(was * 8 + TAKE)
    elif action == GRASP and after.hand != before.hand:
        if mind.put_down.get(front) == (after.hand, mind.news):
            mind.not_again[after.hand] = mind.news
        elif mind.picks.get(after.hand) == 1:
            mind.news += 1
    elif action == PUT and after.hand != before.hand:
        mind.put_down[front] = (before.hand, mind.news)
        stride, spot = mind.geometry.stride, 1 << mind.geometry.place[front]
        here = 1 << mind.geometry.place[before.pos]
        whole = flood(stride, mind.free | spot, here)
        mind.cut += flood(stride, mind.free & ~spot, here) != whole & ~spot
    elif action == TURN and now != was:
        mind.turned[front] = mind.turned.get(front, 0) + 1
        mind.news += 1


def flood(stride: int, free: int, start: int) -> int:
    """Return what can be walked to from `start` through `free`, both as bits."""
    reach = front = start
    while front:
        front = around(stride, front) & free & ~reach
        reach |= front
    return reach


def _uncut(stride: int, reach: int) -> int:
    """Return the cells whose blocking would leave all the others of a region connected."""
    spots, rest = 0, reach
    while rest:
        spot = rest & -rest
        rest ^= spot
        others = reach ^ spot
        if flood(stride, others, others & -others) == others:
            spots |= spot
    return spots


def commits(mind: Mind, id_: int, kind: int, cell: int) -> bool:
    """Forbid to empty the hand for what was picked up before, while what is held may open."""
    assert isinstance(mind, Handy)
    return kind == TAKE and mind.carrying and id_ in mind.picks and may_open(mind)


def may_open(mind: Handy) -> bool:
    """Say whether what is held may open something within reach that is no wall.

    A wall is the commonest id of the border. Open is what cannot be entered and has not shown
    that this does nothing to it.
    """
    geo, board = mind.geometry, mind.board
    near = around(geo.stride, mind.reach())
    wall = max(board.present, key=lambda id_: (board.masks[id_] & geo.border).bit_count())
    return any(
        id_ != wall
        and board.masks[id_] & near
        and shut(mind, id_)
        and mind.role(id_ * 8 + TAKE) not in (PICK, GOAL)
        and mind.role(id_ * 8 + USE_WITH) in (UNKNOWN, OPEN)
        for id_ in board.present
    )


def repicks(mind: Mind, id_: int, kind: int, cell: int) -> bool:
    """Forbid to pick up an id that was put down and picked up again with nothing new since."""
    assert isinstance(mind, Handy)
    return kind == TAKE and mind.not_again.get(id_) == mind.news


def retoggles(mind: Mind, id_: int, kind: int, cell: int) -> bool:
    """Forbid, from the first attempt on, to use what stands in a cell that one changed before."""
    assert isinstance(mind, Handy)
    if kind not in (USE, USE_WITH):
        return False
    if cell in mind.turned:
        mind.not_used.add(id_)
    return id_ in mind.not_used


def wander(mind: Mind) -> bool:
    """Go to the cell within reach where one has been least, the nearest of those."""
    assert isinstance(mind, Handy)
    geo = mind.geometry
    here = 1 << geo.place[mind.now.pos]
    reach = mind.reach() & ~here
    least, spots = 0, 0
    for at, place in enumerate(geo.place):
        if reach >> place & 1:
            times = mind.visits.get(at, 0)
            if not spots or times < least:
                least, spots = times, 1 << place
            elif times == least:
                spots |= 1 << place
    found = nearest(geo.stride, mind.free, here, mind.now.heading, (spots,) * 4) if spots else None
    return found is not None and mind.follow(found[0])


_VETOES: Final = (("commit", commits), ("no_repick", repicks), ("no_retoggle", retoggles))


def signals(mind: Handy, pickdrop: int, retoggle: int, idle: int) -> list[str]:
    """Return what a failed episode asks for; the numbers are the contract's thresholds."""
    found = []
    if max(mind.picks.values(), default=0) >= pickdrop:
        found.append("pickdrop")
    if max(mind.turned.values(), default=0) >= retoggle:
        found.append("retoggle")
    if mind.cut:
        found.append("blockdrop")
    if max(mind.longest_idle, mind.idle) >= idle:
        found.append("idle")
    return found
