"""What an exact Wilcoxon test on n units can show, step by step of its Holm ladder.

Design page "statistics", "What a design can and cannot show". Everything is counted on the
exact null distribution; nothing is looked up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from echoctl.contract.menu import Wilcoxon
from echoctl.exact import SubsetSums


@dataclass(frozen=True)
class Step:
    """What one test must look like to pass at one step. -1 means that nothing is enough."""

    step: int
    threshold: Fraction
    k: int
    """Largest k for which k / 2^n still passes."""
    zeros: int
    """How many units may tie when all others are won."""
    loss_rank: int
    """Largest rank that a single loss may have among untied sizes; 0: no loss at all."""
    losses: int
    """How many losses are affordable when they are the smallest differences."""
    tied_loss: bool
    """One loss may be of the same size as the smallest win."""

    @property
    def reachable(self) -> bool:
        """Say whether any result passes at this step."""
        return self.zeros >= 0

    @property
    def demand(self) -> tuple[int, int, int]:
        """Return what makes two steps ask for the same thing."""
        return self.zeros, self.loss_rank, self.losses


@dataclass(frozen=True)
class Ladder:
    """A family of m tests on n units."""

    units: int
    tests: int
    alpha: Fraction
    correction: str
    two_sided: bool
    smallest: Fraction
    """The smallest attainable p."""
    steps: tuple[Step, ...]

    @property
    def reachable(self) -> bool:
        """Say whether all tests of the family can reject together."""
        return all(step.reachable for step in self.steps)

    @property
    def demands(self) -> tuple[Step, ...]:
        """Return the last step of each run of steps that ask for the same thing.

        Read as: at least ``step`` of the tests must meet that demand.
        """
        out: list[Step] = []
        for step in self.steps:
            if out and out[-1].demand == step.demand:
                out[-1] = step
            else:
                out.append(step)
        return tuple(out)


def ladder(check: Wilcoxon, units: int) -> Ladder:
    """Return the ladder of a check's family on so many units."""
    m = len(check.below) + len(check.above) + len(check.differs_from)
    two_sided = bool(check.differs_from)
    holm = check.correction == "holm"
    thresholds = [check.alpha / (m - i) if holm else check.alpha for i in range(m)]
    null = SubsetSums(range(1, units + 1))
    return Ladder(
        units=units,
        tests=m,
        alpha=check.alpha,
        correction=check.correction,
        two_sided=two_sided,
        smallest=min(Fraction(1), Fraction(2 if two_sided else 1, 2**units)),
        steps=tuple(
            _step(number, threshold, units, null, 2 if two_sided else 1)
            for number, threshold in enumerate(thresholds, start=1)
        ),
    )


def _step(number: int, threshold: Fraction, units: int, null: SubsetSums, sides: int) -> Step:
    def passes(patterns: int, n: int) -> bool:
        return Fraction(min(sides * patterns, 2**n), 2**n) <= threshold

    def affords(weight: int) -> bool:
        return passes(null.at_most(weight), units)

    return Step(
        step=number,
        threshold=threshold,
        k=threshold.numerator * 2**units // threshold.denominator,
        zeros=_last(lambda tied: passes(1, units - tied), units),
        loss_rank=_last(affords, units),
        losses=_last(lambda lost: affords(lost * (lost + 1) // 2), units),
        # Losing one of two equal smallest sizes (mid-rank 1.5) weighs at least as much as
        # nothing lost, that one lost, or the other one lost: three patterns.
        tied_loss=units > 1 and passes(3, units),
    )


def _last(holds: Callable[[int], bool], most: int) -> int:
    """Return the largest value from 0 to `most` up to which `holds`, or -1."""
    low, high = -1, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
