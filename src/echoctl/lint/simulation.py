"""Simulated exams: what is assumed of each comparison, and how often the rule turns green."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from echoctl.contract import Contract
from echoctl.contract.menu import Check, Wilcoxon
from echoctl.draws import Draws
from echoctl.errors import UsageError
from echoctl.exact import SubsetSums, clopper_pearson
from echoctl.verdict.checks import entry


@dataclass(frozen=True)
class Effect:
    """What one unit of one comparison does."""

    win: Fraction
    tie: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if min(self.win, self.tie) < 0 or self.win + self.tie > 1:
            raise UsageError(
                f"win {self.win} and tie {self.tie} are no chances of one thing",
                "both lie between 0 and 1, and so does their sum",
            )


@dataclass(frozen=True)
class Effects:
    """What is assumed of every comparison and of every gate."""

    usual: Effect
    rivals: Mapping[str, Effect]
    gates: Mapping[str, Fraction]
    """Prediction -> chance that each of its gates passes; absent: 1."""
    small_losses: bool = False

    def of(self, rival: str) -> Effect:
        """Return what is assumed against one rival."""
        return self.rivals.get(rival, self.usual)


@dataclass(frozen=True)
class Simulated:
    """A simulated chance: `hits` of `runs`, with exact 95 % limits of the Monte-Carlo error."""

    hits: int
    runs: int
    low: Fraction
    high: Fraction

    @property
    def chance(self) -> Fraction:
        """Return the share of runs that passed."""
        return Fraction(self.hits, self.runs)


def deciding(contract: Contract) -> list[tuple[str, Sequence[Check]]]:
    """Return the predictions that green needs, with their checks."""
    return [(name, contract.predictions[name].all) for name in contract.verdict.green]


def rivals_of(one: Wilcoxon) -> tuple[str, ...]:
    """Return every rival of a family of tests."""
    return (*one.below, *one.above, *one.differs_from)


@lru_cache(maxsize=1024)
def null(k: int) -> SubsetSums:
    """Return the null distribution of the rank sum of k untied units."""
    return SubsetSums(range(1, k + 1))


def simulate(
    contract: Contract, effects: Effects, units: int, runs: int, stream: str
) -> dict[str, Simulated]:
    """Return simulated chances of each deciding prediction, and of the ``verdict``."""
    chance = Draws("power", contract.id, stream, units)
    known: dict[tuple[int, int], Fraction] = {}

    def p_of(rival: str) -> Fraction:
        effect = effects.of(rival)
        whole = effect.win.denominator * effect.tie.denominator
        won, tied = int(effect.win * whole), int(effect.tie * whole)
        k = losses = lost = 0
        for _ in range(units):
            drawn = chance.below(whole)
            if won <= drawn < won + tied:
                continue
            k += 1
            if drawn >= won:
                losses += 1
                lost += losses if effects.small_losses else k
        if (k, lost) not in known:
            known[k, lost] = Fraction(null(k).at_most(lost), 2**k)
        return known[k, lost]

    def passes(name: str, check: Check, seen: dict[tuple[str, ...], Fraction]) -> bool:
        one = entry(check)
        if check.kind == "not":
            return not passes(name, one, seen)
        if check.kind in ("all", "any"):
            each = [passes(name, part, seen) for part in one]
            return all(each) if check.kind == "all" else any(each)
        if isinstance(one, Wilcoxon):
            return _rejects(one, seen, p_of)
        likely = effects.gates.get(name, Fraction(1))
        return chance.below(likely.denominator) < likely.numerator

    rule = deciding(contract)
    hits = {name: 0 for name, _ in rule} | {"verdict": 0}
    for _ in range(runs):
        seen: dict[tuple[str, ...], Fraction] = {}
        each = {}
        for name, checks in rule:  # no short cut: every run draws the same number of times
            each[name] = not [check for check in checks if not passes(name, check, seen)]
        for name, passed in each.items():
            hits[name] += passed
        hits["verdict"] += all(each.values())
    return {name: _measured(count, runs) for name, count in hits.items()}


def _rejects(
    one: Wilcoxon, seen: dict[tuple[str, ...], Fraction], p_of: Callable[[str], Fraction]
) -> bool:
    """Say whether every test of a family rejects; the same comparison is drawn once a run."""
    values = []
    for rival in rivals_of(one):
        key = (one.measure, one.arm, rival, one.where.model_dump_json())
        if key not in seen:
            seen[key] = p_of(rival)
        values.append(min(Fraction(1), 2 * seen[key]) if rival in one.differs_from else seen[key])
    m = len(values)
    if one.correction == "none":
        return all(value <= one.alpha for value in values)
    return all(value <= one.alpha / (m - i) for i, value in enumerate(sorted(values)))


def _measured(hits: int, runs: int) -> Simulated:
    found = clopper_pearson(hits, runs)
    assert found.low is not None
    assert found.high is not None
    return Simulated(hits, runs, found.low, found.high)
