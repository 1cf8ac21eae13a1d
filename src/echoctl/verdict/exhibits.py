"""The curves, tables, logs and comparisons that a contract asks for. Nothing here decides.

What an exhibit looks for and nobody played is left out: an exhibit never keeps a verdict from
being given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from echoctl.contract import Contract
from echoctl.contract.exhibits import Curve, Exhibit, Figure, Log, Published, Table
from echoctl.contract.values import Where
from echoctl.track.outcome import Outcome
from echoctl.verdict.cube import KEYS, Cell, CellKey, Cube, Standins, Tally, selection
from echoctl.verdict.shown import (
    CurveLine,
    CurveResult,
    ExhibitResult,
    LogLine,
    LogResult,
    PublishedLine,
    PublishedResult,
    TableLine,
    TableResult,
)

_Cells: TypeAlias = Mapping[CellKey, Cell]


class LogFold:
    """Counts the rows that a log tells, one outcome at a time; keeps a count a value."""

    def __init__(self, contract: Contract, log: Log, standins: Standins) -> None:
        self.log = log
        self.units: dict[tuple[str, str | int, int], set[int]] = {}
        self.rows: dict[tuple[str, str | int, int], int] = {}
        self.beside: dict[tuple[str, str | int, int], list[int]] = {}
        arms = log.arms or tuple(arm.id for arm in contract.arms)
        self._chosen = {arm: selection(log.where, arm, standins) for arm in arms}

    def add(self, outcome: Outcome) -> None:
        """Fold one outcome's rows in; the cube has checked them."""
        log, at = self.log, {name: i for i, name in enumerate(outcome.columns)}
        if not {log.measure, *log.only, *log.beside} <= at.keys():
            return
        taken: dict[tuple[object, ...], CellKey | None] = {}
        moving = [at[name] for name in KEYS if name in at]
        value_at, only = at[log.measure], [at[name] for name in log.only]
        beside = [at[name] for name in log.beside]
        for row in outcome.rows:
            if not row[value_at] or (only and not any(row[i] for i in only)):
                continue
            place = tuple([row[i] for i in moving])
            if place not in taken:
                said = {"regime": "", **outcome.keys, **{n: row[at[n]] for n in KEYS if n in at}}
                key = CellKey(**{name: said[name] for name in KEYS})  # type: ignore[arg-type]
                chosen = self._chosen.get(key.arm)
                taken[place] = key if chosen is not None and chosen.takes(key) else None
            if (found := taken[place]) is None:
                continue
            line = (found.arm, getattr(found, log.by), int(row[value_at]))
            self.units.setdefault(line, set()).add(found.unit)
            self.rows[line] = self.rows.get(line, 0) + 1
            sums = self.beside.setdefault(line, [0] * len(beside))
            for i, column in enumerate(beside):
                sums[i] += int(row[column])


def log_folds(contract: Contract, standins: Standins) -> list[LogFold]:
    """Return what has to be counted row by row while outcomes stream past."""
    logs = [exhibit.log for exhibit in contract.exhibits]
    return [LogFold(contract, log, standins) for log in logs if log is not None]


def exhibit_results(
    contract: Contract, cube: Cube, standins: Standins, folds: Sequence[LogFold]
) -> tuple[ExhibitResult, ...]:
    """Return the numbers of every exhibit but films, in the contract's order."""
    waiting = iter(folds)
    show = _Show(contract, cube, standins)
    out: list[ExhibitResult] = []
    for exhibit in contract.exhibits:
        if exhibit.curve is not None:
            out.append(show.curve(exhibit, exhibit.curve))
        elif exhibit.table is not None:
            out.append(show.table(exhibit, exhibit.table))
        elif exhibit.log is not None:
            out.append(show.log(exhibit, next(waiting)))
        elif exhibit.published is not None:
            out.append(show.published(exhibit, exhibit.published))
    return tuple(out)


class _Show:
    """Adds folded outcomes up the way exhibits ask for."""

    def __init__(self, contract: Contract, cube: Cube, standins: Standins) -> None:
        self.contract = contract
        self.cube = cube
        self.standins = standins

    def curve(self, exhibit: Exhibit, one: Curve) -> CurveResult:
        """Return a measure's totals round by round."""
        by_arm = {
            arm: {
                number: self._total(one.measure, cells)
                for number, cells in _by("round", found).items()
            }
            for arm, found in self._arms(one.arms, one.where)
        }
        rounds = tuple(sorted({number for line in by_arm.values() for number in line}))
        lines = tuple(
            CurveLine(arm, tuple(line.get(number) for number in rounds))
            for arm, line in by_arm.items()
        )
        return CurveResult(exhibit.text, one.measure, _said(one.where), rounds, lines)

    def table(self, exhibit: Exhibit, one: Table) -> TableResult:
        """Return totals a line, and what they were in the rows they are compared with."""
        after = dict(self._arms(one.arms, one.where))
        before = dict(self._arms(one.arms, one.against)) if one.against is not None else {}
        lines = [
            self._line(one, arm.id, name, new, old)
            for arm in self.contract.arms
            for name, new, old in _beside(
                _by(one.by, after.get(arm.id, {})), _by(one.by, before.get(arm.id, {}))
            )
        ]
        against = None if one.against is None else _said(one.against)
        return TableResult(
            exhibit.text, one.measures, one.by, _said(one.where), against, tuple(lines)
        )

    def _line(self, one: Table, arm: str, name: str | int, new: _Cells, old: _Cells) -> TableLine:
        totals = tuple(self._total(measure, new) for measure in one.measures)
        if one.against is None:
            return TableLine(arm, name, _rows(new), totals, None, (), ())
        olds = tuple(self._total(measure, old) for measure in one.measures)
        rows, rows_before = _rows(new), _rows(old)
        moves = []
        for measure, total, before in zip(one.measures, totals, olds, strict=True):
            if total is None or before is None:
                moves.append("")
                continue
            # Sums over different numbers of rows are compared row for row.
            per_row = self.contract.measures[measure].aggregate == "sum"
            gain = total * rows_before - before * rows if per_row else total - before
            moves.append(self._move(measure, gain))
        return TableLine(arm, name, rows, totals, rows_before, olds, tuple(moves))

    def log(self, exhibit: Exhibit, fold: LogFold) -> LogResult:
        """Return the counted values: arms in the contract's order, the commonest value first."""
        one, order = fold.log, {arm.id: at for at, arm in enumerate(self.contract.arms)}
        lines = sorted(
            fold.rows,
            key=lambda k: (order[k[0]], k[1], -len(fold.units[k]), -fold.rows[k], k[2]),
        )
        scales = [self.contract.measures[name].scale for name in one.beside]
        return LogResult(
            exhibit.text, one.measure, one.by, one.beside, _said(one.where),
            tuple(
                LogLine(
                    *line, len(fold.units[line]), fold.rows[line],
                    tuple(map(Fraction, fold.beside[line], scales)),
                )
                for line in lines
            ),
        )  # fmt: skip

    def published(self, exhibit: Exhibit, one: Published) -> PublishedResult:
        """Return each published figure beside what this exam gave."""
        return PublishedResult(exhibit.text, tuple(self._figure(figure) for figure in one.figures))

    def _figure(self, one: Figure) -> PublishedLine:
        units: dict[str | int, _Cells] = {}
        for _, found in self._arms((one.arm,), one.where):
            units = _by("unit", found)
        totals = [self._total(one.measure, cells) for cells in units.values()]
        known = [total for total in totals if total is not None]
        whole = bool(known) and len(known) == len(totals)
        mean = sum(known, Fraction(0)) / len(known) if whole else None
        return PublishedLine(one.measure, one.arm, _said(one.where), one.mean, mean, len(totals))

    def _arms(
        self, named: Sequence[str], where: Where
    ) -> Iterable[tuple[str, dict[CellKey, Cell]]]:
        """Yield each wanted arm that has such cells, with its cells."""
        for arm in self.contract.arms:
            if named and arm.id not in named:
                continue
            chosen = selection(where, arm.id, self.standins)
            if found := {key: cell for key, cell in self.cube.cells.items() if chosen.takes(key)}:
                yield arm.id, found

    def _total(self, measure: str, cells: _Cells) -> Fraction | None:
        """Return a measure over some cells; None where some of them do not carry it."""
        tallies = [cell.tallies.get(measure) for cell in cells.values()]
        whole: Tally | None = None
        for tally in tallies:
            if tally is None:
                return None
            if whole is None:
                whole = Tally(tally.total, tally.low, tally.high)
            else:
                whole.merge(tally)
        declared = self.contract.measures[measure]
        return None if whole is None else Fraction(whole.value(declared.aggregate), declared.scale)

    def _move(self, measure: str, gain: Fraction) -> str:
        if not gain:
            return "same"
        better = self.contract.measures[measure].better
        if better == "neither":
            return "higher" if gain > 0 else "lower"
        return "better" if (gain > 0) is (better == "higher") else "worse"


def _by(name: str, cells: _Cells) -> dict[str | int, _Cells]:
    groups: dict[str | int, dict[CellKey, Cell]] = {}
    for key, cell in cells.items():
        groups.setdefault(getattr(key, name), {})[key] = cell
    return {value: groups[value] for value in sorted(groups)}


def _beside(
    new: dict[str | int, _Cells], old: dict[str | int, _Cells]
) -> Iterator[tuple[str | int, _Cells, _Cells]]:
    """Yield each line's cells now and before, also where it is in only one of them."""
    for name in sorted({*new, *old}):
        yield name, new.get(name, {}), old.get(name, {})


def _rows(cells: _Cells) -> int:
    return sum(cell.rows for cell in cells.values())


def _said(where: Where) -> dict[str, object]:
    return where.model_dump(exclude_none=True)
