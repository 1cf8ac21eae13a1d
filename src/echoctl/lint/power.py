"""How likely a green is, for effects that the user names: exact where it can be, else simulated.

The model of a comparison: in each unit, independently, the arm beats the rival with chance
`win` and ties with chance `tie`; sizes are untied and tell nothing about who won (or, with
`small_losses`, every loss is smaller than every win). Rivals are independent given that, which
a shared treatment arm breaks: the exact chance comes with limits that hold whatever the
dependence. Gates that are no test pass with a chance that the user names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import comb

from echoctl.contract import Contract
from echoctl.contract.menu import Wilcoxon
from echoctl.errors import UsageError
from echoctl.exact import SubsetSums
from echoctl.lint.ladder import Ladder, ladder
from echoctl.lint.simulation import (
    Effect,
    Effects,
    Simulated,
    deciding,
    null,
    rivals_of,
    simulate,
)
from echoctl.verdict.checks import leaves

MOST_UNITS = 60
"""Exact chances are computed up to here; beyond it only the simulation answers."""

WINS = tuple(Fraction(percent, 100) for percent in range(50, 101, 5))
"""The chances of winning a unit at which the curve is drawn."""


@dataclass(frozen=True)
class FamilyPower:
    """The chance that one family of tests rejects throughout."""

    prediction: str
    measure: str
    arm: str
    rivals: tuple[str, ...]
    alone: tuple[Fraction | None, ...]
    """Chance that each rival's p is at most alpha; None beyond `MOST_UNITS`."""
    chance: Fraction | None
    """Of rejecting every test, if rivals are independent."""
    low: Fraction | None
    high: Fraction | None
    """Limits that hold whatever the dependence."""


@dataclass(frozen=True)
class Point:
    """One point of the curve: every rival at this chance of winning a unit."""

    win: Fraction
    families: tuple[Fraction | None, ...]
    verdict: Simulated


@dataclass(frozen=True)
class PowerReport:
    """The chance of a green, and what was assumed for it."""

    id: str
    unit: str
    units: int
    effects: Effects
    families: tuple[FamilyPower, ...]
    gates: tuple[tuple[str, str, Fraction], ...]
    """(prediction, kind of check, assumed chance) of everything that is not a test."""
    predictions: Mapping[str, Simulated]
    verdict: Simulated
    curve: tuple[Point, ...]
    needed: int | None
    """Fewest units with which all families reject with chance 0.9 (exact, independent)."""


def power(
    contract: Contract,
    effects: Effects,
    *,
    units: int | None = None,
    runs: int = 2000,
    curve_runs: int = 300,
) -> PowerReport:
    """Return how likely the contract's rule turns green under the named effects.

    The simulation draws from `echoctl.draws`, so the same question gives the same answer.
    Raises UsageError for effects of rivals or predictions that the contract does not have.
    """
    if runs < 1 or curve_runs < 1:
        raise UsageError("at least one simulation is needed", "give --simulations 2000")
    count = contract.unit.count if units is None else units
    if count < 1:
        raise UsageError(f"{count} units are no design", "give one unit or more")
    found = _families(contract)
    _known(contract, effects, found)
    families = tuple(_family(name, one, count, effects) for name, one in found)
    hits = simulate(contract, effects, count, runs, "green")
    points = []
    for win in WINS:
        at = Effects(
            Effect(win, min(effects.usual.tie, 1 - win)), {}, effects.gates, effects.small_losses
        )
        points.append(
            Point(
                win,
                tuple(_family(name, one, count, at).chance for name, one in found),
                simulate(contract, at, count, curve_runs, f"curve {win}")["verdict"],
            )
        )
    return PowerReport(
        id=contract.id,
        unit=contract.unit.name,
        units=count,
        effects=effects,
        families=families,
        gates=tuple(_gates(contract, effects)),
        predictions={name: hit for name, hit in hits.items() if name != "verdict"},
        verdict=hits["verdict"],
        curve=tuple(points),
        needed=_needed(found, effects),
    )


def _families(contract: Contract) -> list[tuple[str, Wilcoxon]]:
    return [
        (name, leaf)
        for name, checks in deciding(contract)
        for check in checks
        for leaf in leaves(check)
        if isinstance(leaf, Wilcoxon)
    ]


def _gates(contract: Contract, effects: Effects) -> list[tuple[str, str, Fraction]]:
    out = [
        (name, _menu_name(leaf), effects.gates.get(name, Fraction(1)))
        for name, checks in deciding(contract)
        for check in checks
        for leaf in leaves(check)
        if not isinstance(leaf, Wilcoxon)
    ]
    return out + [
        (f"invariant {i}", check.kind, Fraction(1))
        for i, check in enumerate(contract.invariants, start=1)
    ]


def _menu_name(leaf: object) -> str:
    """Return ``not_lower`` for a NotLower."""
    name = type(leaf).__name__
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def _known(contract: Contract, effects: Effects, families: Sequence[tuple[str, Wilcoxon]]) -> None:
    rivals = {rival for _, one in families for rival in rivals_of(one)}
    for rival in effects.rivals:
        if rival not in rivals:
            raise UsageError(
                f"no test that decides {contract.id} has the rival {rival}",
                "rivals: " + (", ".join(sorted(rivals)) or "none"),
            )
    for name, chance in effects.gates.items():
        if name not in contract.verdict.green:
            raise UsageError(
                f"{name} does not decide {contract.id}",
                "it decides by: " + ", ".join(contract.verdict.green),
            )
        if not 0 <= chance <= 1:
            raise UsageError(f"the chance of {name} is {chance}", "give one between 0 and 1")


# --- exact ---------------------------------------------------------------------------------


def _family(name: str, one: Wilcoxon, units: int, effects: Effects) -> FamilyPower:
    steps, rivals = ladder(one, units), rivals_of(one)
    if units > MOST_UNITS:
        return FamilyPower(
            name, one.measure, one.arm, rivals, (None,) * len(rivals), None, None, None
        )
    at = [_reaches(steps, effects.of(rival), effects.small_losses) for rival in rivals]
    thresholds = [step.threshold for step in steps.steps]
    low = 1 - sum((1 - chances[0] for chances in at), Fraction(0))
    return FamilyPower(
        prediction=name,
        measure=one.measure,
        arm=one.arm,
        rivals=rivals,
        alone=tuple(chances[-1] for chances in at),
        chance=_all_reject(at, thresholds),
        low=max(Fraction(0), low),
        high=min(chances[-1] for chances in at),
    )


@lru_cache(maxsize=1024)
def _reaches(steps: Ladder, effect: Effect, small_losses: bool) -> tuple[Fraction, ...]:
    """Return the chance that one test's p is at most each threshold of the ladder."""
    n = steps.units
    whole = effect.win.denominator * effect.tie.denominator
    win, tie = int(effect.win * whole), int(effect.tie * whole)
    loss = whole - win - tie
    out = [0] * len(steps.steps)
    for k in range(n + 1):
        ways = comb(n, k) * tie ** (n - k)
        if not ways:
            continue
        up_to = _lost_up_to(k, win, loss, small_losses)
        untied = null(k)
        for i, step in enumerate(steps.steps):
            most = step.threshold / (2 if steps.two_sided else 1)
            cut = _cut(untied, most)
            reached = up_to[cut + 1]
            if steps.two_sided:  # the other tail, as long as it does not meet this one
                above = max(untied.total - cut, cut + 1)
                reached += up_to[-1] - up_to[min(above, untied.total + 1)]
            out[i] += ways * reached
    return tuple(Fraction(weight, whole**n) for weight in out)


@lru_cache(maxsize=1024)
def _lost_up_to(k: int, win: int, loss: int, small_losses: bool) -> tuple[int, ...]:
    """Return running sums of `_lost`, from 0."""
    if not small_losses:
        return (0, *accumulate(_lost(k, win, loss)))
    out = [0] * (k * (k + 1) // 2 + 1)
    for losses in range(k + 1):  # ranks 1 to `losses` are the lost ones
        out[losses * (losses + 1) // 2] += comb(k, losses) * loss**losses * win ** (k - losses)
    return (0, *accumulate(out))


@lru_cache(maxsize=1024)
def _lost(k: int, win: int, loss: int) -> tuple[int, ...]:
    """Return the weight of each rank sum lost among k untied units; in all (win + loss)^k."""
    if k == 0:
        return (1,)
    fewer = _lost(k - 1, win, loss)
    grown = [win * weight for weight in fewer] + [0] * k
    for total, weight in enumerate(fewer):
        grown[total + k] += loss * weight
    return tuple(grown)


def _cut(null: SubsetSums, most: Fraction) -> int:
    """Return the largest rank sum whose p is at most `most`, or -1."""
    allowed = most.numerator * 2**null.n // most.denominator
    low, high = -1, null.total + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if null.at_most(middle) <= allowed else (low, middle)
    return low


def _all_reject(at: Sequence[Sequence[Fraction]], thresholds: Sequence[Fraction]) -> Fraction:
    """Return the chance that independent tests climb the whole ladder.

    They do when for every step at least so many p are at most its threshold.
    """
    m = len(at)
    states: dict[tuple[int, ...], Fraction] = {(0,) * m: Fraction(1)}
    for chances in at:
        grown: dict[tuple[int, ...], Fraction] = {}
        for counts, chance in states.items():
            before = Fraction(0)
            for step in range(m):
                exactly = chances[step] - before  # this p lies between two thresholds
                before = chances[step]
                if exactly:
                    key = tuple(c + (i >= step) for i, c in enumerate(counts))
                    grown[key] = grown.get(key, Fraction(0)) + chance * exactly
        states = grown
    if len(set(thresholds)) == 1:
        return sum((c for counts, c in states.items() if counts[-1] == m), Fraction(0))
    climbed = (
        chance
        for counts, chance in states.items()
        if all(count > i for i, count in enumerate(counts))
    )
    return sum(climbed, Fraction(0))


def _needed(families: Sequence[tuple[str, Wilcoxon]], effects: Effects) -> int | None:
    if not families:
        return None
    for units in range(1, MOST_UNITS + 1):
        whole = Fraction(1)
        for name, one in families:
            whole *= _family(name, one, units, effects).chance or Fraction(0)
            if whole < Fraction(9, 10):
                break
        if whole >= Fraction(9, 10):
            return units
    return None
