"""Edits of how a memory is read, as data that travels beside it. What was witnessed never changes.

Contract B v1 section 2, a closed menu. A *place* is a key of layer 2 (`Reading.place`); `key`
and `arg` are what an edit needs::

    silence  key place                  the rule of this place does not answer
    verify   key place                  its belief is checked in the episode before it is trusted
    refine   key place, arg bit         the place is split by a bit (size, border or rank)
    merge    arg bit                    layer 2 ignores the bit of what does not move
    bound    key N_MIN * 128 + UMBRAL, arg layer    how much evidence a layer needs to speak
    order                               layer 2 is asked before layer 1
    pieces   key mask                   pieces of policy to switch on (nothing of the reading)

Whole numbers only; an edit packs into one integer (`Edit.code`) so that results can carry it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import add
from typing import Final, NamedTuple, Self, TypeVar

from echoctl.mind.gate import OK, Gate
from echoctl.mind.reading import FIRST, SECOND, Belief, Reading, Tables
from echoctl.mind.roles import DROP, HURT, NONE, NOOP, ROLES, UNKNOWN, USE_WITH, Shape, Trial

SILENCE: Final = 1
VERIFY: Final = 2
REFINE: Final = 3
MERGE: Final = 4
BOUND: Final = 5
ORDER: Final = 6
PIECES: Final = 7
NAMES: Final = ("", "silence", "verify", "refine", "merge", "bound", "order", "pieces")

SIZE: Final = 1
BORDER: Final = 2
RANK: Final = 3
BIT_NAMES: Final = ("", "size", "border", "rank")

FEW: Final = 3
"""Cells of a class that is a handful of things rather than an area."""

_CHILD: Final = 64
"""A place that was split by a bit of some value is ``(place + 2) * 64 + bit * 16 + value``."""


class Edit(NamedTuple):
    """One entry of the menu."""

    kind: int
    key: int = 0
    arg: int = 0

    @property
    def code(self) -> int:
        """The edit as one whole number; 0 is no edit."""
        return self.kind + 16 * self.arg + 256 * self.key

    def text(self, pieces: Sequence[str] = ()) -> str:
        """Return the edit in words: ``refine(37, rank)``; `pieces` name the bits of a mask."""
        name = NAMES[self.kind]
        if self.kind in (SILENCE, VERIFY):
            return f"{name}({self.key})"
        if self.kind == REFINE:
            return f"{name}({self.key}, {BIT_NAMES[self.arg]})"
        if self.kind == MERGE:
            return f"{name}({BIT_NAMES[self.arg]})"
        if self.kind == BOUND:
            return f"{name}({self.arg}, {self.key >> 7}, {self.key & 127})"
        if self.kind == PIECES:
            return "+".join(
                pieces[at] if at < len(pieces) else f"piece {at}"
                for at in range(self.key.bit_length())
                if self.key >> at & 1
            )
        return name


def edit_of(code: int) -> Edit:
    """Return the edit that `Edit.code` packed; ValueError if it is none."""
    kind, arg, key = code & 15, code >> 4 & 15, code >> 8
    if code < 0 or not SILENCE <= kind <= PIECES:
        raise ValueError(f"{code} is not an edit")
    return Edit(kind, key, arg)


def bound(layer: int, n_min: int, umbral: int) -> Edit:
    """Return the edit that sets how much evidence a layer needs."""
    return Edit(BOUND, n_min * 128 + umbral, layer)


@dataclass(frozen=True)
class Configuration:
    """The edits that were accepted, in their order."""

    edits: tuple[Edit, ...] = ()

    def with_(self, edit: Edit) -> Configuration:
        """Return the configuration with one more edit."""
        return Configuration((*self.edits, edit))

    @property
    def pieces(self) -> int:
        """The mask of all pieces of policy that are switched on."""
        mask = 0
        for edit in self.edits:
            if edit.kind == PIECES:
                mask |= edit.key
        return mask

    def as_json(self) -> list[int]:
        """Return the edits as whole numbers."""
        return [edit.code for edit in self.edits]

    @classmethod
    def from_json(cls, codes: Iterable[int]) -> Self:
        """Return the configuration that `as_json` wrote."""
        return cls(tuple(edit_of(code) for code in codes))

    def reading(self, base: Reading) -> EditedReading:
        """Return how a memory is read with these edits on top of a base reading."""
        n_min, umbral = list(base.n_min), list(base.umbral)
        second_first = base.second_first
        refined: dict[int, int] = {}
        places: dict[int, set[int]] = {SILENCE: set(), VERIFY: set()}
        merged = 0
        for kind, key, arg in self.edits:
            if kind in places:
                places[kind].add(key)
            elif kind == REFINE:
                refined.setdefault(key, arg)
            elif kind == MERGE:
                merged |= 1 << arg
            elif kind == BOUND:
                n_min[arg - 1], umbral[arg - 1] = key >> 7, key & 127
            elif kind == ORDER:
                second_first = True
        details = 0
        for bit in refined.values():
            details |= 1 << bit
        return EditedReading(
            n_min=(n_min[0], n_min[1]), umbral=(umbral[0], umbral[1]), second_first=second_first,
            uses_rank=bool(details >> RANK & 1), silenced=frozenset(places[SILENCE]),
            verified=frozenset(places[VERIFY]), refined=refined, merged=merged, details=details,
        )  # fmt: skip


def detail(shape: Shape, bit: int) -> int:
    """Return the value, 0 to 15, of one bit of a shape's signature.

    Size doubles from step to step (1, 2-3, 4-7, ...) and border counts eighths of the cells. Rank
    is 0 for the commonest class, 1 for the second, 2 for a further one of many cells and 3 for a
    further one of few (three at most).
    """
    if bit == SIZE:
        return min(shape.cells.bit_length(), 15)
    if bit == BORDER:
        return 8 * shape.border // shape.cells if shape.cells else 0
    return min(shape.rank, 2) + (shape.rank > 1 and shape.cells <= FEW)


def child(place: int, bit: int, value: int) -> int:
    """Return the place of those cases of a place whose bit has this value."""
    return (place + 2) * _CHILD + bit * 16 + value


def root(place: int) -> int:
    """Return the unrefined place that a place was split from."""
    while place >= 2 * _CHILD:
        place = place // _CHILD - 2
    return place


def bits_of(place: int) -> set[int]:
    """Return the bits by which a place was split already."""
    found = set()
    while place >= 2 * _CHILD:
        found.add(place % _CHILD >> 4)
        place = place // _CHILD - 2
    return found


@dataclass(frozen=True)
class EditedReading(Reading):
    """A reading with edits. Its signature carries the details that some refined place asks for."""

    silenced: frozenset[int] = frozenset()
    verified: frozenset[int] = frozenset()
    refined: Mapping[int, int] = field(default_factory=dict)
    """place -> the bit that splits it; a child may be split again."""
    merged: int = 0
    """Mask of the bits that are ignored in what does not move."""
    details: int = 0
    """Mask of the bits that `sign` carries beside the plain signature."""
    _signs: dict[Shape, int] = field(default_factory=dict, compare=False, repr=False)
    _places: dict[int, int] = field(default_factory=dict, compare=False, repr=False)

    def sign(self, shape: Shape) -> int:
        """Return the plain signature, and four bits for each detail that is asked for."""
        known = self._signs.get(shape)
        if known is not None:
            return known
        sign = super().sign(shape)
        if self.merged and not shape.moves:
            many, edge = sign // 3, sign % 3
            many = 0 if self.merged >> SIZE & 1 else many
            edge = 0 if self.merged >> BORDER & 1 else edge
            sign = 3 * many + edge
        if self.details:
            for bit in (SIZE, BORDER, RANK):
                if self.details >> bit & 1:
                    sign |= detail(shape, bit) << 4 * bit
        self._signs[shape] = sign
        return sign

    def place(self, sign: int, kind: int) -> int:
        """Return the key of layer 2, split as often as the edits say."""
        if not self.refined:
            return super().place(sign, kind)
        known = self._places.get(sign * 8 + kind)
        if known is not None:
            return known
        place = super().place(sign & 15, kind)
        while (bit := self.refined.get(place)) is not None:
            place = child(place, bit, sign >> 4 * bit & 15)
        self._places[sign * 8 + kind] = place
        return place

    def hushed(self, place: int, role: int) -> int:
        """Return what a place may say of what it would answer.

        A silenced place says nothing. A verified one keeps what has to be done to be had (GOAL,
        OPEN, PICK) and what an `EditedGate` lets be tried (NOOP of entering, taking, using), and
        says nothing of what would be trusted untried.
        """
        if place in self.silenced:
            return UNKNOWN
        if place in self.verified:
            tried = role != NOOP or root(place) & 7 not in (USE_WITH, DROP)
            return role if tried and role not in (NONE, HURT) else UNKNOWN
        return role


class Experience:
    """All that a memory has witnessed, counted so that it can be read again under other edits.

    Layer 1 is the same under every edit, and layer 2 only depends on how often each (shape, kind)
    showed each role.
    """

    __slots__ = ("cases", "first")

    def __init__(self, trials: Iterable[Trial] = ()) -> None:
        self.first: dict[int, list[int]] = {}
        """key of layer 1 -> successes by role, then trials."""
        self.cases: dict[tuple[Shape, int], list[int]] = {}
        """(shape, kind) -> successes by role, then trials."""
        self.add(trials)

    def add(self, trials: Iterable[Trial]) -> None:
        """Count more trials."""
        for trial in trials:
            count(self.first, trial.id * 8 + trial.kind, trial.role)
            count(self.cases, (trial.shape, trial.kind), trial.role)

    def read(self, reading: EditedReading) -> EditedTables:
        """Return the tables of a reading, as if it had counted every trial itself."""
        tables = EditedTables(reading)
        tables.first = {key: row.copy() for key, row in self.first.items()}
        for key, row in tables.first.items():
            tables.first_answers[key] = reading.answer(FIRST, row)
        for (shape, kind), row in self.cases.items():
            place = reading.place(reading.sign(shape), kind)
            known = tables.second.get(place)
            tables.second[place] = row.copy() if known is None else list(map(add, known, row))
        for place, row in tables.second.items():
            role = reading.hushed(place, reading.answer(SECOND, row))
            tables.second_answers[place] = role
        return tables


Key = TypeVar("Key")


def count(rows: dict[Key, list[int]], key: Key, role: int) -> None:
    """Count one trial of a key that showed a role."""
    row = rows.get(key)
    if row is None:
        row = rows[key] = [0] * (len(ROLES) + 1)
    row[role] += 1
    row[-1] += 1


class EditedTables(Tables):
    """The two layers as an edited reading answers them."""

    __slots__ = ()

    reading: EditedReading

    def add(self, trials: Iterable[Trial]) -> None:
        """Count more trials; then silence what is silenced."""
        super().add(trials)
        reading, answers = self.reading, self.second_answers
        for place in (*reading.silenced, *reading.verified):
            role = answers.get(place, UNKNOWN)
            if role != UNKNOWN:
                answers[place] = reading.hushed(place, role)

    def copy(self) -> EditedTables:
        """Return tables of the same counts that can learn on their own."""
        other = EditedTables(self.reading)
        other.first = {key: row.copy() for key, row in self.first.items()}
        other.second = {place: row.copy() for place, row in self.second.items()}
        other.first_answers = bytearray(self.first_answers)
        other.second_answers = dict(self.second_answers)
        return other


class EditedGate(Gate):
    """Lets what a verified place believes useless be tried once in an episode."""

    __slots__ = ()

    def judge(self, key: int, belief: Belief) -> int:
        """Return OK for a remembered NOOP that has to be checked first, else the usual verdict."""
        if belief.layer == SECOND and belief.role == NOOP:
            reading = self.mind.tables.reading
            if isinstance(reading, EditedReading) and belief.key in reading.verified:
                return OK
        return super().judge(key, belief)
