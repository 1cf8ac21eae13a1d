"""From faults to candidates: which edit of the reading would have changed what misled.

Contract B v1 section 3. An edit of one key *explains* a fault of that key if with it the memory
would not give, untested, the answer that failed; an edit of everything explains a fault if
moreover it changes what the memory answers now. Edits are ranked by the failed episodes that they
explain, then by the wasteful ones, then by how much of the evidence would speak for what happened.
Without faults nothing is proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import add
from typing import Final, NamedTuple

from echoctl.mind.edits import (
    BORDER,
    BOUND,
    MERGE,
    NAMES,
    ORDER,
    RANK,
    REFINE,
    SILENCE,
    SIZE,
    VERIFY,
    Configuration,
    Edit,
    EditedReading,
    EditedTables,
    Experience,
    bits_of,
    bound,
    child,
    detail,
)
from echoctl.mind.reading import FIRST, SECOND, Reading
from echoctl.mind.roles import NOOP, ROLES, UNKNOWN
from echoctl.tracks.acumula.policy import Fault

MILDEST_FIRST: Final = (REFINE, VERIFY, SILENCE, BOUND, MERGE, ORDER)
"""Between edits that explain as much, the one that takes least away is tried first."""

NO_ROW: Final = (0,) * (len(ROLES) + 1)


class Effect(NamedTuple):
    """What the layer that misled would say with an edit, and the evidence that it would have."""

    role: int
    row: Sequence[int] = NO_ROW

    def speaks_for(self, role: int) -> int:
        """Return the percentage of the evidence that speaks for a role (0 for UNKNOWN)."""
        known = self.row[-1] and role != UNKNOWN
        return 100 * self.row[role] // self.row[-1] if known else 0


Foresee = Callable[[Fault], Effect | None]
"""The effect of an edit on a fault; None where it explains nothing of it."""


class Proposal(NamedTuple):
    """A candidate and how many episodes' faults it explains."""

    edit: Edit
    explained: int


class Menu(NamedTuple):
    """What the contract lets be edited."""

    edits: frozenset[int]
    n_min: tuple[int, ...]
    umbral: tuple[int, ...]

    @classmethod
    def of(cls, names: Sequence[str], n_min: Sequence[int], umbral: Sequence[int]) -> Menu:
        """Return the menu of a contract's settings; ValueError for an edit that is not known."""
        return cls(frozenset(NAMES.index(name) for name in names), tuple(n_min), tuple(umbral))


class Diagnosis:
    """One memory under one configuration, and what can be said about faults it led to."""

    def __init__(
        self, configuration: Configuration, base: Reading, experience: Experience, menu: Menu
    ) -> None:
        self.configuration = configuration
        self.base = base
        self.experience = experience
        self.menu = menu
        self.reading = configuration.reading(base)
        self.tables = experience.read(self.reading)

    def valid(self) -> list[Edit]:
        """Return every edit that could be made now, in a fixed order: what chance draws from.

        It is the menu that `proposals` ranks, of all places that saw a case, silent ones included.
        """
        return [*self._of_places(self.tables.second), *self._global()]

    def proposals(self, faults: Iterable[Fault]) -> list[Proposal]:
        """Return candidates by episodes explained, most first."""
        blamed = list(faults)
        edits = self._of_places({f.belief.key for f in blamed if f.belief.layer == SECOND})
        if len({(fault.belief.layer, fault.belief.key) for fault in blamed}) >= 2:
            edits += self._global()
        found = []
        for edit in edits:
            foresee = self._foresight(edit)
            effects = [
                (fault, effect)
                for fault in blamed
                if (effect := foresee(fault)) is not None and effect.role != fault.belief.role
            ]
            failed = len({fault.episode for fault, _ in effects if fault.failed})
            explained = len({fault.episode for fault, _ in effects})
            right = sum(effect.speaks_for(fault.did) for fault, effect in effects)
            if explained:
                rank = (-failed, -explained, -right, MILDEST_FIRST.index(edit.kind), edit)
                found.append((rank, Proposal(edit, explained)))
        return [proposal for _, proposal in sorted(found)]

    def _now(self, tables: EditedTables, fault: Fault) -> Effect:
        """Return what the layer that answered would answer now, by these tables."""
        if fault.belief.layer == FIRST:
            return Effect(tables.first_answers[fault.key], tables.first.get(fault.key, NO_ROW))
        reading = tables.reading
        place = reading.place(reading.sign(fault.shape), fault.key & 7)
        role = tables.second_answers.get(place, UNKNOWN)
        return Effect(role, tables.second.get(place, NO_ROW))

    def _of_places(self, places: Iterable[int]) -> list[Edit]:
        return [edit for place in sorted(places) for edit in self._local(place)]

    def _local(self, place: int) -> Iterator[Edit]:
        reading = self.reading
        if place in reading.silenced:
            return
        options = [Edit(REFINE, place, bit) for bit in (SIZE, BORDER, RANK)]
        options = [edit for edit in options if edit.arg not in bits_of(place)]
        if place not in reading.verified:
            options.append(Edit(VERIFY, place))
        options.append(Edit(SILENCE, place))
        yield from (edit for edit in options if edit.kind in self.menu.edits)

    def _global(self) -> Iterator[Edit]:
        reading = self.reading
        if BOUND in self.menu.edits:
            for layer in (FIRST, SECOND):
                for n_min in self.menu.n_min:
                    for umbral in self.menu.umbral:
                        if (n_min, umbral) != (reading.n_min[layer - 1], reading.umbral[layer - 1]):
                            yield bound(layer, n_min, umbral)
        if MERGE in self.menu.edits:
            for bit in (SIZE, BORDER):
                if not reading.merged >> bit & 1:
                    yield Edit(MERGE, 0, bit)
        if ORDER in self.menu.edits and not reading.second_first:
            yield Edit(ORDER)

    def _foresight(self, edit: Edit) -> Foresee:
        if edit.kind in (SILENCE, VERIFY, REFINE):
            change = self._change(edit)
            return lambda fault: (
                change(fault)
                if fault.belief.layer == SECOND and fault.belief.key == edit.key
                else None
            )
        if edit.kind == ORDER:
            return self._overruled
        edited = self.experience.read(self.configuration.with_(edit).reading(self.base))
        layers = (edit.arg,) if edit.kind == BOUND else (SECOND,)

        def foresee(fault: Fault) -> Effect | None:
            if fault.belief.layer not in layers:
                return None
            effect = self._now(edited, fault)
            return effect if effect.role != self._now(self.tables, fault).role else None

        return foresee

    def _change(self, edit: Edit) -> Callable[[Fault], Effect]:
        if edit.kind == SILENCE:
            return lambda fault: Effect(UNKNOWN)
        if edit.kind == VERIFY:
            return lambda fault: Effect(_unchecked(fault))
        parts = self._split(edit.key, edit.arg)
        return lambda fault: parts.get(detail(fault.shape, edit.arg), Effect(UNKNOWN))

    def _overruled(self, fault: Fault) -> Effect | None:
        if fault.belief.layer != FIRST:
            return None
        place = self.reading.place(self.reading.sign(fault.shape), fault.key & 7)
        second = self.tables.second_answers.get(place, UNKNOWN)
        return None if second == UNKNOWN else Effect(second, self.tables.second[place])

    def _split(self, place: int, bit: int) -> Mapping[int, Effect]:
        """Return what each part of a place would answer if it were split by a bit."""
        reading = self.reading
        rows: dict[int, list[int]] = {}
        for (shape, kind), row in self.experience.cases.items():
            if reading.place(reading.sign(shape), kind) == place:
                value = detail(shape, bit)
                rows[value] = list(map(add, rows.get(value, NO_ROW), row))
        return {
            value: Effect(
                reading.hushed(child(place, bit, value), reading.answer(SECOND, row)), row
            )
            for value, row in rows.items()
        }


def _unchecked(fault: Fault) -> int:
    """Return what a place still says untested once it is verified."""
    if fault.belief.role == NOOP:
        return UNKNOWN
    return EditedReading(verified=frozenset((fault.belief.key,))).hushed(
        fault.belief.key, fault.belief.role
    )
