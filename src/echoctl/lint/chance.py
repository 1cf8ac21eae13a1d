"""How often a gate passes when there is nothing to find, counted exactly."""

from __future__ import annotations

from fractions import Fraction
from math import factorial


def monotone_by_chance(rounds: int, in_a_row: int, *, guarded: bool) -> Fraction:
    """Return the chance that exchangeable, untied totals pass a monotone gate.

    `rounds` totals have ``rounds - 1`` transitions. With a guard, a second sequence that is as
    exchangeable and independent of the first may not move the forbidden way in the same
    transitions. Counted over all orders by inserting one relative rank after another.
    """
    # state: relative ranks of the last totals, length of the run -> orders that never passed
    states: dict[tuple[int, int, int], int] = {(0, 0, 0): 1}
    for seen in range(1, rounds):
        grown: dict[tuple[int, int, int], int] = {}
        for (rank, guard, run), ways in states.items():
            for new in range(seen + 1):
                falls = new <= rank  # the old total moves up by one when the new one goes below
                for other in range(seen + 1) if guarded else (0,):
                    holds = other <= guard if guarded else True
                    longer = run + 1 if falls and holds else 0
                    if longer >= in_a_row:
                        continue
                    key = (new, other, longer)
                    grown[key] = grown.get(key, 0) + ways
        states = grown
    orders = factorial(rounds) ** (2 if guarded else 1)
    return 1 - Fraction(sum(states.values()), orders)


def ratio_at_truth(bound: Fraction, events: int, truth: Fraction | None = None) -> Fraction:
    """Return the chance that a ratio gate passes when the true ratio is `truth`.

    The model: `events` independent events in both arms together, of which each falls to the
    treatment with chance truth / (1 + truth) (two Poisson counts, given their sum). `truth`
    defaults to the bound itself.
    """
    truth = bound if truth is None else truth
    a, b = truth.numerator, truth.denominator
    ways, passing = 1, 0
    for treated in range(events + 1):
        control = events - treated
        if control and treated * bound.denominator <= bound.numerator * control:
            passing += ways * a**treated * b**control
        ways = ways * (events - treated) // (treated + 1)
    return Fraction(passing, (a + b) ** events)


def ratio_for_power(bound: Fraction, events: int, wanted: Fraction) -> Fraction:
    """Return the largest true ratio, in percent of the bound, that passes with chance `wanted`."""
    low, high = 0, 101
    while high - low > 1:
        middle = (low + high) // 2
        enough = ratio_at_truth(bound, events, bound * middle / 100) >= wanted
        low, high = (middle, high) if enough else (low, middle)
    return bound * low / 100
