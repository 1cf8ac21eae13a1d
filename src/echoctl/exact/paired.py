"""Tests and estimates on paired differences, one difference a unit, all exact.

A *difference* is treatment minus control of one unit (an int or a Fraction). The null hypothesis
of each test is that every difference could as well have had the other sign; the p is conditional
on the sizes. Design page "statistics", rules 1 and 2 and "What is shown beside each p".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeAlias, TypeVar, get_args

from echoctl.errors import UsageError
from echoctl.exact.rational import Number, whole
from echoctl.exact.subsets import SubsetSums

_T = TypeVar("_T")

Alternative: TypeAlias = Literal["less", "greater", "two-sided"]
"""What the test tries to show: differences below zero, above zero, or either."""

ZeroMethod: TypeAlias = Literal["wilcox", "pratt"]
"""Zeros are dropped before ranking (`wilcox`, decides) or after it (`pratt`, shown)."""

MAX_SUMS = 2**20
"""Most different sums that `sign_flip` follows in one half: 40 units of any size, or any number
of units whose sizes, in the smallest common step, add up to about two million."""


@dataclass(frozen=True)
class ExactTest:
    """The result of a test on signs: p is exactly k / 2^n."""

    alternative: Alternative
    statistic: Fraction
    """Wilcoxon: W, the rank sum of the wins. Sign flip: the mean difference. Sign: the wins."""
    k: int
    """How many of the 2^n sign patterns are at least as extreme as what was seen."""
    n: int
    """Units whose difference is not zero."""
    wins: int
    """Units with a difference above zero."""
    ties: int
    losses: int

    @property
    def p(self) -> Fraction:
        """Return the exact p, in (0, 1]."""
        return Fraction(self.k, 1 << self.n)


@dataclass(frozen=True)
class Interval:
    """An estimate with exact limits; a limit is None where the data cannot give one."""

    estimate: Fraction
    low: Fraction | None
    high: Fraction | None
    confidence: Fraction
    """The confidence that is guaranteed: at least what was asked if there are limits."""


def differences(x: Sequence[Number], y: Sequence[Number]) -> tuple[Fraction, ...]:
    """Return x - y unit by unit. UsageError if lengths differ or there is no unit."""
    if len(x) != len(y):
        raise UsageError(
            f"the arms have {len(x)} and {len(y)} units",
            "pair them: every unit needs one number in each arm",
        )
    values, scale = whole([*x, *y])
    pairs = zip(values[: len(x)], values[len(x) :], strict=True)
    return tuple(Fraction(one - other, scale) for one, other in _some(list(pairs)))


def wilcoxon(
    d: Sequence[Number], alternative: Alternative, zero_method: ZeroMethod = "wilcox"
) -> ExactTest:
    """Test the differences `d` by the exact conditional signed-rank test, mid-ranks for ties.

    All differences zero: p = 1. Two-sided p is twice the smaller one-sided p, at most 1.
    Raises UsageError for no units, floats, or an unknown option. Rule 2.
    """
    if zero_method not in get_args(ZeroMethod):
        raise UsageError(f"zero_method {zero_method!r} is unknown", "use wilcox or pratt")
    sizes, _ = whole(_some(d))
    ranked = sizes if zero_method == "pratt" else [size for size in sizes if size]
    ranks = _doubled_ranks([abs(size) for size in ranked])
    signed = [ranks[size] if size > 0 else -ranks[-size] for size in ranked if size]
    total = sum(weight for weight in signed if weight > 0)
    return _test(d, signed, Fraction(total, 2), alternative)


def sign_flip(d: Sequence[Number], alternative: Alternative) -> ExactTest:
    """Test the mean of the differences `d` by flipping signs, without ranks.

    Any size of number. It is exact, so its reach is limited: see MAX_SUMS; beyond it UsageError.
    """
    sizes, scale = whole(_some(d))
    signed = [size for size in sizes if size]
    return _test(d, signed, Fraction(sum(sizes), scale * len(sizes)), alternative, MAX_SUMS)


def sign_test(d: Sequence[Number], alternative: Alternative) -> ExactTest:
    """Test the differences `d` by the number of wins; zeros are dropped."""
    sizes, _ = whole(_some(d))
    signed = [1 if size > 0 else -1 for size in sizes if size]
    return _test(d, signed, Fraction(signed.count(1)), alternative)


def _test(
    d: Sequence[Number],
    signed: Sequence[int],
    statistic: Fraction,
    alternative: Alternative,
    limit: int | None = None,
) -> ExactTest:
    if alternative not in get_args(Alternative):
        raise UsageError(
            f"alternative {alternative!r} is unknown", "use less, greater or two-sided"
        )
    weights = [abs(weight) for weight in signed]
    won = sum(weight for weight in signed if weight > 0)
    lost = sum(weights) - won
    # Patterns whose wins weigh at least `won` are those whose losses weigh at most `lost`.
    tail = {"less": won, "greater": lost, "two-sided": min(won, lost)}[alternative]
    k = SubsetSums(weights, min(won, lost), limit).at_most(tail)
    if alternative == "two-sided":
        k = min(2 * k, 1 << len(signed))
    wins = sum(value > 0 for value in d)
    losses = sum(value < 0 for value in d)
    return ExactTest(
        alternative=alternative, statistic=statistic, k=k, n=len(signed),
        wins=wins, ties=len(d) - wins - losses, losses=losses,
    )  # fmt: skip


def _doubled_ranks(sizes: Sequence[int]) -> dict[int, int]:
    """Return twice the mid-rank of each size, which is whole."""
    ranks: dict[int, int] = {}
    first: dict[int, int] = {}
    for place, size in enumerate(sorted(sizes), start=1):
        ranks[size] = first.setdefault(size, place) + place
    return ranks


# --- estimates: shown beside a p, never deciding -------------------------------------------


def mean_difference(d: Sequence[Number]) -> Fraction:
    """Return the mean of the differences over all units."""
    return Fraction(sum(map(Fraction, _some(d))), len(d))


def rank_biserial(d: Sequence[Number]) -> Fraction:
    """Return the matched-pairs rank-biserial correlation, in [-1, 1].

    The share of the rank sum won less the share lost, zeros dropped; 0 if all are zero.
    """
    sizes = [size for size in whole(_some(d))[0] if size]
    if not sizes:
        return Fraction(0)
    ranks = _doubled_ranks([abs(size) for size in sizes])
    balance = sum(ranks[size] if size > 0 else -ranks[-size] for size in sizes)
    return Fraction(balance, len(sizes) * (len(sizes) + 1))


def improvement(d: Sequence[Number]) -> Fraction:
    """Return the paired probability of improvement: share of wins, a tie counting one half."""
    wins, ties = sum(value > 0 for value in _some(d)), sum(value == 0 for value in d)
    return Fraction(2 * wins + ties, 2 * len(d))


def hodges_lehmann(d: Sequence[Number], confidence: Fraction = Fraction(95, 100)) -> Interval:
    """Return the Hodges-Lehmann estimate of the differences `d`, with exact limits.

    The estimate is the median of the n(n+1)/2 averages of two units (a unit with itself too),
    zeros included. The limits are the averages that the exact untied signed-rank distribution
    leaves; as a closed interval they keep at least `confidence` for tied data also. Too few
    units for it: limits None, confidence 0. `confidence`: a Fraction in (0, 1).
    """
    tail = tail_of(confidence)
    values, scale = whole(_some(d))
    n = len(values)
    sums = sorted(values[i] + values[j] for i in range(n) for j in range(i, n))
    middle = sums[(len(sums) - 1) // 2] + sums[len(sums) // 2]
    estimate = Fraction(middle, 4 * scale)
    cut, count = _quantile(n, tail)
    if cut < 0:
        return Interval(estimate, None, None, Fraction(0))
    low, high = sums[cut], sums[len(sums) - 1 - cut]
    guaranteed = 1 - Fraction(2 * count, 1 << n)
    return Interval(estimate, Fraction(low, 2 * scale), Fraction(high, 2 * scale), guaranteed)


@lru_cache(maxsize=256)
def _quantile(n: int, tail: Fraction) -> tuple[int, int]:
    """Return the largest w with P(W <= w) <= tail for n untied units, and the count; or -1."""
    null = SubsetSums(range(1, n + 1))
    most = (tail.numerator << n) // tail.denominator
    low = last_that(lambda w: null.at_most(w) <= most, -1, null.total // 2)
    return low, null.at_most(low)


def last_that(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the last integer of [low, high) where `holds`, which is true at low, then false."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def tail_of(confidence: Fraction) -> Fraction:
    """Return the chance left on each side; refuse a confidence that is not inside (0, 1)."""
    if not isinstance(confidence, Fraction) or not 0 < confidence < 1:
        raise UsageError(
            f"confidence {confidence!r} is not a Fraction between 0 and 1", "use Fraction(95, 100)"
        )
    return (1 - confidence) / 2


def _some(values: Sequence[_T]) -> Sequence[_T]:
    if not values:
        raise UsageError("there is no unit", "give at least one pair")
    return values
