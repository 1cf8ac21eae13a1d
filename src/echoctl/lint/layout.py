"""The rows that an exam of a contract would have, one a cell, for synthetic results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from echoctl.contract import Contract
from echoctl.contract.menu import Check, Monotone
from echoctl.contract.values import Where
from echoctl.track import Outcome
from echoctl.verdict.checks import leaves
from echoctl.verdict.cube import Standins, selection


class Spot(NamedTuple):
    """A place that one unit of one arm plays."""

    stage: str
    family: str
    regime: str
    round: int


def checks_of(contract: Contract, *, deciding: bool = False) -> list[Check]:
    """Return every check, or only those of predictions that decide and of invariants."""
    named = contract.predictions.values()
    out = [c for p in named if p.decides or not deciding for c in p.all]
    return [*out, *contract.invariants]


def filters_of(checks: Sequence[Check]) -> list[Where]:
    """Return every filter that the checks apply, rounds of a monotone opened."""
    out = []
    for leaf in (leaf for check in checks for leaf in leaves(check)):
        where = getattr(leaf, "where", None)
        if where is None:
            continue
        if isinstance(leaf, Monotone):
            rounds = range(leaf.first_round, leaf.last_round + 1)
            out += [where.model_copy(update={"round": number}) for number in rounds]
        else:
            out.append(where)
        if (against := getattr(leaf, "against", None)) is not None:
            out.append(against)
    return out


@dataclass(frozen=True)
class Layout:
    """Which spots each arm plays, and the groups of spots that no filter tells apart."""

    arms: Mapping[str, tuple[Spot, ...]]
    group: Mapping[Spot, int]

    def groups(self, arm: str, where: Where) -> dict[int, int]:
        """Return group -> number of its spots that the arm plays and the filter takes."""
        takes = selection(where, None, Standins())
        out: dict[int, int] = {}
        for spot in self.arms.get(arm, ()):
            if _taken(takes.regime, spot.regime) and _taken(takes.family, spot.family) and (
                _taken(takes.stage, spot.stage) and _taken(takes.round, spot.round)
            ):  # fmt: skip
                out[self.group[spot]] = out.get(self.group[spot], 0) + 1
        return out


def layout(contract: Contract, *, fine: bool = False) -> Layout:
    """Return what an exam would play: sealed stages, and any other that a check names.

    `fine` keeps every spot in a group of its own: more unknowns, more results.
    """
    every = filters_of(checks_of(contract))
    named = {str(stage) for where in every for stage in where.values("stage")}
    arms: dict[str, list[Spot]] = {arm.id: [] for arm in contract.arms if not arm.optional}
    for name, stage in contract.worlds.items():
        if not stage.sealed and name not in named:
            continue
        rounds = range(stage.first_round, stage.first_round + stage.rounds)
        regimes = stage.regimes or contract.regimes or ("",)
        for arm in stage.arms or tuple(arms):
            if arm in arms:
                arms[arm] += [
                    Spot(name, family, regime, number)
                    for number, regime in product(rounds, regimes)
                    for family in stage.families_in(number)
                ]
    deciding = filters_of(checks_of(contract, deciding=True))
    takers = [selection(where, None, Standins()) for where in deciding]
    marks: dict[tuple[object, ...], int] = {}
    group = {}
    for spot in sorted({spot for spots in arms.values() for spot in spots}):
        mark: tuple[object, ...] = (
            spot if fine else None,
            spot.round,
            spot.regime,
            *(
                _taken(t.regime, spot.regime)
                and _taken(t.family, spot.family)
                and _taken(t.stage, spot.stage)
                and _taken(t.round, spot.round)
                for t in takers
            ),
        )
        group[spot] = marks.setdefault(mark, len(marks))
    return Layout({arm: tuple(spots) for arm, spots in arms.items()}, group)


def _taken(allowed: frozenset[str] | frozenset[int] | None, value: str | int) -> bool:
    return allowed is None or value in allowed


@dataclass(frozen=True)
class Synthetic:
    """A made-up result: the value of a measure in each group of spots; what is absent is 0."""

    values: Mapping[tuple[str, str, int, int], int]
    """(measure, arm, group of spots, first unit of the block of units) -> value of every row."""
    blocks: tuple[tuple[int, int], ...]
    """First and last unit of each block of units that get the same values."""
    digests: Mapping[str, str]

    def outcomes(self, contract: Contract, spots: Layout) -> list[Outcome]:
        """Return the result as outcomes, one a unit, arm and regime, one row a spot."""
        measures = tuple(contract.measures)
        columns = ("stage", "family", "round", "episode", "seed", *measures)
        out = []
        for first, last in self.blocks:
            for arm, played in spots.arms.items():
                by_regime: dict[str, list[tuple[int | str, ...]]] = {}
                for spot in played:
                    group = spots.group[spot]
                    row = [self.values.get((m, arm, group, first), 0) for m in measures]
                    by_regime.setdefault(spot.regime, []).append(
                        (spot.stage, spot.family, spot.round, 0, 0, *row)
                    )
                for unit, (regime, rows) in product(range(first, last + 1), by_regime.items()):
                    keys: dict[str, int | str] = {"unit": unit, "arm": arm, "regime": regime}
                    job = f"{unit}-{arm}-{regime}"
                    out.append(Outcome(job, keys, columns, rows, dict(self.digests)))
        return out


def blocks_of(contract: Contract, cuts: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return blocks of units that end at the given cuts and at the last unit."""
    ends = sorted({*(cut for cut in cuts if 0 < cut < contract.unit.count), contract.unit.count})
    starts = [1, *(end + 1 for end in ends[:-1])]
    return tuple(zip(starts, ends, strict=True))
