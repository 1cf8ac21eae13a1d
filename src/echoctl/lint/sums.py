"""Sums of unknown integers, and the rules between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from echoctl.contract import Contract
from echoctl.contract.menu import Count, Equal, Share
from echoctl.contract.values import Where
from echoctl.lint.layout import Layout, checks_of
from echoctl.lint.simplex import AtMost
from echoctl.verdict.checks import leaves

SHIFT = 10_000
"""Measures that a contract bounds below zero are searched from here below zero upwards."""


@dataclass(frozen=True)
class Line:
    """A sum of coefficient times variable, plus a constant."""

    terms: Mapping[int, int]
    constant: int = 0

    def at_most(self, other: Line, mine: int = 1, theirs: int = 1, gap: int = 0) -> AtMost:
        """Return the rule ``mine * self + gap <= theirs * other``."""
        terms = {var: mine * c for var, c in self.terms.items()}
        for var, c in other.terms.items():
            terms[var] = terms.get(var, 0) - theirs * c
        return AtMost(terms, theirs * other.constant - mine * self.constant - gap)


class Sums:
    """What the rows of a synthetic result add up to, as lines over its unknown values."""

    def __init__(
        self, contract: Contract, spots: Layout, blocks: Sequence[tuple[int, int]]
    ) -> None:
        self.contract = contract
        self.spots = spots
        self.blocks = blocks
        self.vars: dict[tuple[str, str, int, int], int] = {}
        """(measure, arm, group, first unit of the block) -> variable; made when first named."""
        self.signed = {
            leaf.measure
            for check in checks_of(contract, deciding=True)
            for leaf in leaves(check)
            if (isinstance(leaf, Equal) and leaf.to < 0)
            or (isinstance(leaf, Count) and ((leaf.at_most or 0) < 0 or (leaf.at_least or 0) < 0))
            or (isinstance(leaf, Share) and (leaf.value or 0) + leaf.plus < 0)
        }

    def var(self, measure: str, arm: str, group: int, block: int) -> Line:
        """Return the value of a measure in each row of a group of spots."""
        var = self.vars.setdefault((measure, arm, group, block), len(self.vars))
        return Line({var: 1}, -SHIFT if measure in self.signed else 0)

    @property
    def weights(self) -> list[int]:
        """Return for each variable how many units it counts for."""
        sizes = {first: last - first + 1 for first, last in self.blocks}
        return [sizes[first] for _, _, _, first in self.vars]

    def pieces(self, measure: str, arm: str, where: Where, blocks: Mapping[int, int]) -> list[Line]:
        """Return lines that stand for the arm's number over blocks of so many units.

        A sum is one line. A maximum or minimum is one line a group of spots: what holds for
        each of them holds for it.
        """
        lines = []
        for group, spots in sorted(self.spots.groups(arm, where).items()):
            terms: dict[int, int] = {}
            constant = 0
            each = 1 if self.contract.measures[measure].aggregate != "sum" else spots
            for block, units in blocks.items():
                line = self.var(measure, arm, group, block)
                for var in line.terms:
                    terms[var] = units * each
                constant += line.constant * units * each
            lines.append(Line(terms, constant))
        if self.contract.measures[measure].aggregate != "sum" or not lines:
            return lines
        merged = {var: c for line in lines for var, c in line.terms.items()}
        return [Line(merged, sum(line.constant for line in lines))]

    def total(self, measure: str, arm: str, where: Where) -> list[Line]:
        """Return the arm's total over all units."""
        sizes = {first: last - first + 1 for first, last in self.blocks}
        return self.pieces(measure, arm, where, sizes)

    def units(self, measure: str, arm: str, where: Where) -> Iterator[list[Line]]:
        """Yield the number of one unit, block by block."""
        for first, _ in self.blocks:
            yield self.pieces(measure, arm, where, {first: 1})

    def rows(self, measure: str, arm: str, where: Where) -> list[Line]:
        """Return every row's value."""
        return [
            self.var(measure, arm, group, first)
            for group in sorted(self.spots.groups(arm, where))
            for first, _ in self.blocks
        ]


def bound(line: Line, low: int | None, high: int | None) -> list[AtMost]:
    """Return rules that keep a line between two integers."""
    out = []
    if low is not None:
        out.append(Line({}, low).at_most(line))
    if high is not None:
        out.append(line.at_most(Line({}, high)))
    return out


def times(
    arm: Sequence[Line], other: Sequence[Line], limit: Fraction, upper: bool, gap: int
) -> list[AtMost]:
    """Return rules for ``arm <= limit * other`` (or >=), the gap in units of 1 / denominator."""
    num, den = limit.numerator, limit.denominator
    pairs = zip(arm, other, strict=False)
    return [a.at_most(b, den, num, gap) if upper else b.at_most(a, num, den, gap) for a, b in pairs]
