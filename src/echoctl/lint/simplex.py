"""A small exact solver: whole numbers that satisfy a list of linear inequalities.

Dual simplex in fractions with the smallest-index rule (it cannot cycle), then branch and bound.
It minimises a weighted sum of the variables, so that an example is small enough to read. The same
input gives the same answer on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

MAX_NODES = 60


@dataclass(frozen=True)
class AtMost:
    """The sum of coefficient times variable is at most `limit`."""

    terms: Mapping[int, int]
    """variable -> coefficient"""
    limit: int


def smallest(weights: Sequence[int], rules: Sequence[AtMost]) -> list[int] | None:
    """Return a whole number >= 0 for each weight so that every rule holds.

    None if there are none or none were found among the first branches. The weights (above zero)
    say what is small.
    """
    pending: list[list[AtMost]] = [[]]
    for _ in range(MAX_NODES):
        if not pending:
            return None
        extra = pending.pop()
        found = _relaxed(weights, [*rules, *extra])
        if found is None:
            continue
        broken = next((i for i, value in enumerate(found) if value.denominator != 1), None)
        if broken is None:
            return [int(value) for value in found]
        floor = found[broken].numerator // found[broken].denominator
        pending.append([*extra, AtMost({broken: 1}, floor)])
        pending.append([*extra, AtMost({broken: -1}, -(floor + 1))])
    return None


def _relaxed(weights: Sequence[int], rules: Sequence[AtMost]) -> list[Fraction] | None:
    """Return the point of least weighted sum in the polyhedron, or None if it is empty."""
    count = len(weights)
    # Row i reads: basic variable i + sum of row terms = limit. Slack of rule i is count + i.
    rows = [{var: Fraction(c) for var, c in rule.terms.items() if c} for rule in rules]
    limits = [Fraction(rule.limit) for rule in rules]
    basis = [count + i for i in range(len(rules))]
    cost = {var: Fraction(weight) for var, weight in enumerate(weights)}
    while True:
        wrong = [i for i, limit in enumerate(limits) if limit < 0]
        if not wrong:
            break
        leaving = min(wrong, key=lambda i: basis[i])
        row = rows[leaving]
        able = [var for var, coefficient in row.items() if coefficient < 0]
        if not able:
            return None
        entering = min(able, key=lambda var: (cost.get(var, Fraction(0)) / -row[var], var))
        _pivot(rows, limits, basis, cost, leaving, entering)
    out = [Fraction(0)] * count
    for i, var in enumerate(basis):
        if var < count:
            out[var] = limits[i]
    return out


def _pivot(
    rows: list[dict[int, Fraction]],
    limits: list[Fraction],
    basis: list[int],
    cost: dict[int, Fraction],
    leaving: int,
    entering: int,
) -> None:
    row = rows[leaving]
    scale = row.pop(entering)
    turned = {var: c / scale for var, c in row.items()}
    turned[basis[leaving]] = 1 / scale
    limit = limits[leaving] / scale
    rows[leaving], limits[leaving], basis[leaving] = turned, limit, entering
    for i, other in enumerate(rows):
        if i != leaving and entering in other:
            factor = other.pop(entering)
            _subtract(other, turned, factor)
            limits[i] -= factor * limit
    if entering in cost:
        factor = cost.pop(entering)
        _subtract(cost, turned, factor)


def _subtract(row: dict[int, Fraction], other: Mapping[int, Fraction], factor: Fraction) -> None:
    for var, coefficient in other.items():
        value = row.get(var, Fraction(0)) - factor * coefficient
        if value:
            row[var] = value
        else:
            row.pop(var, None)
