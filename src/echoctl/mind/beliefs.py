"""What a mind believes of each key, and which layer and key of its memory said so.

One lookup a key and episode: an answer is kept until the case is lived, until the class looks
different, or until something else is in the hand.
"""

from __future__ import annotations

from typing import Any, Final

from echoctl.mind.board import Board
from echoctl.mind.gate import Gate
from echoctl.mind.reading import FIRST, LIVED, NOWHERE, SECOND, STALE, Belief, Tables
from echoctl.mind.roles import ENTER, GOAL, HURT, KEYS, NONE, NOOP, OPEN, UNKNOWN, USE, USE_WITH
from echoctl.percept import Percept

_UNLIVED: Final = bytes([UNKNOWN]) * KEYS

NO_BELIEF: Final = Belief(UNKNOWN, NOWHERE, -1)


class Beliefs:
    """The part of a mind that answers what it believes. `Mind` adds plans and a policy."""

    tables: Tables
    gate: Gate

    def _begin_beliefs(self, percept: Percept) -> None:
        """Start an episode: nothing lived, everything to be looked up."""
        self.now = percept
        self.empty = percept.hand
        """The id of an empty hand: whatever is held at the start (declared in the contract)."""
        self.carrying = False
        """Whether something is in the hand."""
        self.board = Board(percept.width, percept.height, percept.cells)
        self.lived = bytearray(_UNLIVED)
        """key -> the role lived in this episode (using while carrying: only successes)."""
        self._lived_with: dict[int, bytearray] = {}
        self._memo = self.tables.roles_at_start()
        self._kept: dict[int, Belief] = {}
        self._signs = [-1] * 256
        self._chosen: dict[Any, tuple[dict[int, int], int]] = {}
        """For each choice: id -> the kind it chose, and how much of `_touched` it has seen."""
        self._touched: list[int] = []
        """Ids of which something believed, or a verdict, changed in this episode, in order."""
        self._raw: dict[int, tuple[int, int, int]] = {}
        # What it stands on has been entered already, or it would not stand there.
        here = percept.cells[percept.pos] * 8 + ENTER
        self.lived[here] = self._memo[here] = NONE

    def role(self, key: int) -> int:
        """Return the role believed of ``id * 8 + kind``, or UNKNOWN."""
        role = self._memo[key]
        if role == STALE:
            role = self.lived[key]
            if key & 7 == USE_WITH and self.carrying:
                role = self.tried_with(self.now.hand, key >> 3)
            if role == UNKNOWN:
                role = self.remembers(key)
            self._memo[key] = role
        return role

    def believe(self, key: int) -> Belief:
        """Return what is believed of a key and which layer and key said so.

        Lived in this episode beats layer 1, which beats layer 2 (the reading may swap the two).
        """
        belief = self._kept.get(key)
        if belief is None:
            belief = self._kept[key] = self._look_up(key)
        return belief

    def _look_up(self, key: int) -> Belief:
        id_, kind = key >> 3, key & 7
        lived = self.lived[key]
        if kind == USE_WITH and self.carrying:
            lived = self.tried_with(self.now.hand, id_)
        if lived != UNKNOWN:
            return Belief(lived, LIVED, key)
        tables = self.tables
        first = tables.first_answers[key]
        if first == UNKNOWN and not tables.second_answers:
            return NO_BELIEF
        place = tables.reading.place(self.sign(id_), kind)
        second = tables.second_answers.get(place, UNKNOWN)
        if second != UNKNOWN and (first == UNKNOWN or tables.reading.second_first):
            return Belief(second, SECOND, place)
        return NO_BELIEF if first == UNKNOWN else Belief(first, FIRST, key)

    def remembers(self, key: int) -> int:
        """Return the role that the memory alone believes, whatever was lived."""
        tables = self.tables
        first = tables.first_answers[key]
        if not tables.second_answers or (first != UNKNOWN and not tables.reading.second_first):
            return first
        place = tables.reading.place(self.sign(key >> 3), key & 7)
        second = tables.second_answers.get(place, UNKNOWN)
        return first if second == UNKNOWN else second

    def tried_with(self, held: int, id_: int) -> int:
        """Return what using one thing on another did in this episode, or UNKNOWN."""
        tried = self._lived_with.get(held)
        return tried[id_] if tried else UNKNOWN

    def evidence(self, belief: Belief) -> tuple[int, int]:
        """Return successes and trials of the row that a belief came from (0, 0 for none)."""
        row = None
        if belief.layer == FIRST:
            row = self.tables.first.get(belief.key)
        elif belief.layer == SECOND:
            row = self.tables.second.get(belief.key)
        return (row[belief.role], row[-1]) if row else (0, 0)

    def sign(self, id_: int) -> int:
        """Return the signature of an id as it looks now."""
        sign = self._signs[id_]
        if sign < 0:
            reading = self.tables.reading
            sign = self._signs[id_] = reading.sign(self.board.shape(id_, reading.uses_rank))
        return sign

    def _shuts(self, id_: int) -> bool:
        """Say whether a class bars the way: not to be entered, or once opened in this episode."""
        return (
            self.role(id_ * 8) in (NOOP, HURT)
            or self.lived[id_ * 8 + USE] == OPEN
            or self.lived[id_ * 8 + USE_WITH] == OPEN
        )

    def _live(self, key: int, role: int, hand: int = -1) -> bool:
        """Take in one case: it beats whatever the memory says, until the episode ends.

        `hand` is what was held while using. Says whether a belief changed.
        """
        if key & 7 == USE_WITH:
            # What one thing does not open another may: failures are kept for each thing held.
            tried = self._lived_with.setdefault(hand, bytearray([UNKNOWN]) * 256)
            if tried[key >> 3] == role:
                return False
            tried[key >> 3] = role
            if role in (OPEN, GOAL):
                self.lived[key] = role
        else:
            if self.lived[key] == role:
                return False
            self.lived[key] = role
        self.gate.forget(key)
        self._touched.append(key >> 3)
        same = self._memo[key] == role
        self._forget(key)
        return not same

    def _look_again(self, changed: list[int]) -> bool:
        """Look beliefs up again where changed ids read differently now; say whether any does."""
        board, reading = self.board, self.tables.reading
        masks, border = board.masks, board.geometry.border
        same = True
        for id_ in changed:
            mask = masks[id_]
            raw = (mask.bit_count(), (mask & border).bit_count(), board.movers[id_])
            if self._raw.get(id_) != raw:
                self._raw[id_] = raw
                same = False
        if same:
            return False  # things changed places, and no count is another
        differs = False
        for id_ in board.present if reading.uses_rank else changed:
            old = self._signs[id_]
            if old < 0:
                continue
            new = reading.sign(board.shape(id_, reading.uses_rank))
            if new != old:
                self._signs[id_] = new
                for key in range(id_ * 8, id_ * 8 + 8):
                    self._forget(key)
                    self.gate.forget(key)
                self._touched.append(id_)
                differs = True
        return differs

    def _forget(self, key: int) -> None:
        """Look a key up again when it is next asked about."""
        self._memo[key] = STALE
        self._kept.pop(key, None)

    def _forget_hand(self) -> None:
        """Look up again what is believed of using, now that the hand holds something else."""
        for id_ in self.board.present:
            self._forget(id_ * 8 + USE_WITH)
        self._touched += self.board.present
