"""What a check may read of a cube: whole selections, complete units, paired arms.

Whatever is missing is an error that says which, never a smaller sample. Design page
"statistics", rule 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from echoctl.contract import Contract
from echoctl.contract.model import Where
from echoctl.errors import CheckFailed, Inconsistent
from echoctl.verdict.cube import Cell, CellKey, Cube, Selection, Standins, Tally, selection
from echoctl.verdict.paired import Pairs
from echoctl.verdict.results import Scope

Place: TypeAlias = tuple[str, str, str, int]
"""Stage, family, regime, round."""


class Reader:
    """One contract's folded outcomes, behind the rules of completeness."""

    def __init__(
        self, contract: Contract, cube: Cube, units: Mapping[str, Sequence[int]], standins: Standins
    ) -> None:
        self.contract = contract
        self.cube = cube
        self.standins = standins
        self.uneven: set[str] = set()
        """Paired arms that did not play the same number of rows in some unit."""
        self._units = units
        self._taken: dict[Selection, dict[CellKey, Cell]] = {}
        self.arms = {arm.id: arm for arm in contract.arms}

    def scale(self, measure: str) -> int:
        """Return what a declared measure is stored times."""
        if measure not in self.contract.measures:
            raise CheckFailed(f"the contract declares no measure {measure!r}")
        return self.contract.measures[measure].scale

    def cells(self, arm: str | None, where: Where) -> dict[CellKey, Cell]:
        """Return the cells that a filter takes; never none."""
        if arm is not None and arm not in self.arms:
            raise CheckFailed(f"the contract has no arm {arm!r}")
        chosen = selection(where, arm, self.standins)
        found = self._taken.get(chosen)
        if found is None:
            found = {key: cell for key, cell in self.cube.cells.items() if chosen.takes(key)}
            self._taken[chosen] = found
        if not found:
            raise Inconsistent(f"no row matches: {chosen}", "a check on nothing decides nothing")
        return found

    def tally(self, measure: str, key: CellKey, cell: Cell) -> Tally:
        """Return a cell's tally of a measure that it must carry."""
        tally = cell.tallies.get(measure)
        if tally is None:
            raise Inconsistent(f"measure {measure} is missing in {key}")
        return tally

    def merged(self, measure: str, cells: Mapping[CellKey, Cell]) -> Tally:
        """Return the tally of a measure over several cells."""
        out: Tally | None = None
        for key, cell in cells.items():
            tally = self.tally(measure, key, cell)
            if out is None:
                out = Tally(tally.total, tally.low, tally.high)
            else:
                out.merge(tally)
        assert out is not None
        return out

    def by_unit(self, measure: str, arm: str, where: Where) -> dict[int, int]:
        """Return unit -> the unit's number. Every unit must be there, each with the same cells."""
        self.scale(measure)
        cells = self.cells(arm, where)
        per_unit: dict[int, dict[CellKey, Cell]] = {}
        for key, cell in cells.items():
            per_unit.setdefault(key.unit, {})[key] = cell
        shapes = {unit: _shape(inner) for unit, inner in per_unit.items()}
        whole: set[Place] = set().union(*shapes.values())
        for unit in sorted({unit for stage, *_ in whole for unit in self._units[stage]}):
            if missing := sorted(whole - shapes.get(unit, set())):
                raise Inconsistent(f"unit {unit} of arm {arm} has no rows in {_named(missing[0])}")
        aggregate = self.contract.measures[measure].aggregate
        return {
            unit: self.merged(measure, per_unit[unit]).value(aggregate) for unit in sorted(per_unit)
        }

    def paired(
        self, measure: str, arm: str, rival: str, where: Where, against: Where | None = None
    ) -> Pairs:
        """Return both arms unit by unit. `against` chooses the rival's rows where they differ."""
        other = where if against is None else against
        if arm == rival and other == where:
            raise CheckFailed(f"arm {arm} is compared with itself")
        left, right = self.by_unit(measure, arm, where), self.by_unit(measure, rival, other)
        if odd := sorted(left.keys() ^ right.keys()):
            raise Inconsistent(f"unit {odd[0]} is in only one of the arms {arm} and {rival}")
        mine, theirs = self.cells(arm, where), self.cells(rival, other)
        if odd_places := sorted(_places(mine, against) ^ _places(theirs, against)):
            raise Inconsistent(
                f"only one of the arms {arm} and {rival} has rows in {_named(odd_places[0])}"
            )
        if _rows(mine) != _rows(theirs):
            self.uneven.add(f"{arm}, {rival}")
        return Pairs(tuple(left.values()), tuple(right.values()), self.scale(measure), tuple(left))

    def scope(self, measure: str, *looks: tuple[str | None, Where]) -> Scope:
        """Return how much a check looked at; the first filter is the one that is shown."""
        cells: dict[CellKey, Cell] = {}
        for arm, where in looks:
            cells.update(self.cells(arm, where))
        shown = looks[0][1].model_dump(exclude_none=True)
        rows = sum(cell.rows for cell in cells.values())
        return Scope(measure, shown, rows, len({key.unit for key in cells}))


def _shape(cells: Mapping[CellKey, Cell]) -> set[Place]:
    return {(key.stage, key.family, key.regime, key.round) for key in cells}


def _places(cells: Mapping[CellKey, Cell], against: Where | None) -> set[Place]:
    """Return what two arms must share; across rounds or stages, families and regimes only."""
    if against is None:
        return _shape(cells)
    return {("", key.family, key.regime, 0) for key in cells}


def _rows(cells: Mapping[CellKey, Cell]) -> dict[int, int]:
    out: dict[int, int] = {}
    for key, cell in cells.items():
        out[key.unit] = out.get(key.unit, 0) + cell.rows
    return out


def _named(place: Place) -> str:
    stage, family, regime, number = place
    parts = [f"stage {stage}"] if stage else []
    parts.append(f"family {family}")
    parts += [f"round {number}"] if stage else []
    parts += [f"regime {regime}"] if regime else []
    return ", ".join(parts)
