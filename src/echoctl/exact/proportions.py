"""Exact limits of a proportion."""

from __future__ import annotations

from fractions import Fraction

from echoctl.errors import UsageError
from echoctl.exact.paired import Interval, last_that, tail_of

PRECISION = 192
"""Bits to which chances are summed, far beyond any number of digits that is shown."""


def clopper_pearson(
    hits: int, tried: int, confidence: Fraction = Fraction(95, 100), digits: int = 6
) -> Interval:
    """Return hits / tried with Clopper-Pearson limits, to `digits` decimals.

    The limits are decimals rounded outwards, so the interval is never too short; each is within
    one unit of its last digit of the true limit. Found by bisection in integers. Raises
    UsageError unless 0 <= hits <= tried, tried >= 1 and digits >= 1.
    """
    if not 0 <= hits <= tried or tried < 1 or digits < 1:
        raise UsageError(
            f"{hits} of {tried} to {digits} digits is no proportion",
            "give 0 <= hits <= tried, at least one trial and one digit",
        )
    tail = tail_of(confidence)
    one = 10**digits

    def lower(hits: int) -> int:
        """Return the largest a / one at which `hits` or more have at most the tail's chance."""
        if hits == 0:
            return 0
        # holds at 0, where the chance of a hit is nothing
        return last_that(lambda a: _surely_rare(hits, tried, a, one, tail), 0, one)

    return Interval(
        Fraction(hits, tried),
        Fraction(lower(hits), one),
        1 - Fraction(lower(tried - hits), one),
        confidence,
    )


def _surely_rare(hits: int, tried: int, a: int, one: int, tail: Fraction) -> bool:
    """Return whether P(X >= hits) <= tail is certain, for X binomial(tried, a / one).

    Chances are taken relative to P(X = hits), with PRECISION bits; those above are rounded up and
    those below down, so a yes is exact and a no may be wrong only within that precision.
    """
    if a * tried >= hits * one:
        return False  # the median is at least `hits`
    b = one - a
    above = term = 1 << PRECISION
    for j in range(hits, tried):
        term = -(-term * (tried - j) * a // ((j + 1) * b))
        above += term
        if term == 1:
            above += tried - j - 1  # what is left only shrinks
            break
    enough = -(-above * (tail.denominator - tail.numerator) // tail.numerator)
    below, term = 0, 1 << PRECISION
    for j in range(hits, 0, -1):
        term = term * j * b // ((tried - j + 1) * a)
        below += term
        if below >= enough:
            return True
        if term == 0:
            break
    return False
