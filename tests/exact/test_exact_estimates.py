from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from echoctl.errors import UsageError
from echoctl.exact import (
    clopper_pearson,
    decimal_text,
    exact_number,
    hodges_lehmann,
    improvement,
    mean_difference,
    rank_biserial,
    wilcoxon,
)

units = st.lists(st.integers(-50, 50), min_size=1, max_size=14)
F = Fraction


def test_hodges_lehmann_of_one_to_ten_has_the_textbook_limits() -> None:
    found = hodges_lehmann(list(range(1, 11)))
    # n = 10: W <= 8 in 25 of 1024 patterns, so the 9th smallest and 9th largest averages
    assert (found.estimate, found.low, found.high) == (F(11, 2), F(3), F(8))
    assert found.confidence == 1 - F(50, 1024)


def test_too_few_units_have_an_estimate_and_no_limits() -> None:
    found = hodges_lehmann([1, 2, 4])
    assert (found.estimate, found.low, found.high) == (F(9, 4), None, None)


@settings(deadline=None)
@given(units, st.integers(-100, 100))
def test_hodges_lehmann_moves_with_the_data(d: list[int], by: int) -> None:
    here, there = hodges_lehmann(d), hodges_lehmann([v + by for v in d])
    assert there.estimate == here.estimate + by
    if here.low is not None and here.high is not None:
        assert there.low == here.low + by
        assert here.low <= here.estimate <= here.high


@settings(deadline=None)
@given(st.sets(st.integers(1, 2**12), min_size=6, max_size=9), st.integers(0, 2**9 - 1))
def test_a_shift_beyond_the_limits_is_what_the_test_rejects(sizes: set[int], signs: int) -> None:
    d = [v if signs >> i & 1 else -v for i, v in enumerate(sorted(sizes))]
    found = hodges_lehmann(d, F(9, 10))
    assert found.low is not None
    assert found.high is not None
    below, above = found.low - F(1, 10**6), found.high + F(1, 10**6)
    assert wilcoxon([v - below for v in d], "greater").p <= F(1, 20)
    assert wilcoxon([v - above for v in d], "less").p <= F(1, 20)


@settings(deadline=None)
@given(units)
def test_estimates_mirror_when_the_arms_swap(d: list[int]) -> None:
    swapped = [-v for v in d]
    assert hodges_lehmann(swapped).estimate == -hodges_lehmann(d).estimate
    assert rank_biserial(swapped) == -rank_biserial(d)
    assert improvement(swapped) == 1 - improvement(d)
    assert mean_difference(swapped) == -mean_difference(d)


def test_estimates_of_a_small_sample_by_hand() -> None:
    d = [1, -2, 3, 0]
    assert mean_difference(d) == F(1, 2)
    assert improvement(d) == F(5, 8)
    assert rank_biserial(d) == F(1 - 2 + 3, 6)
    assert rank_biserial([0, 0]) == 0


def chance_of_at_least(hits: int, tried: int, p: Fraction) -> Fraction:
    total = F(0)
    for pattern in product((0, 1), repeat=tried):
        if sum(pattern) >= hits:
            total += p ** sum(pattern) * (1 - p) ** (tried - sum(pattern))
    return total


@pytest.mark.parametrize(("hits", "tried"), [(1, 5), (3, 7), (5, 6), (8, 8), (1, 1)])
def test_clopper_pearson_brackets_the_limit_within_one_digit(hits: int, tried: int) -> None:
    low = clopper_pearson(hits, tried, digits=4).low
    assert low is not None
    tail = F(25, 1000)
    assert chance_of_at_least(hits, tried, low) <= tail
    assert chance_of_at_least(hits, tried, low + F(1, 10**4)) > tail


def test_clopper_pearson_of_nothing_and_of_everything_touches_the_ends() -> None:
    none, all_ = clopper_pearson(0, 10), clopper_pearson(10, 10)
    assert (none.low, all_.high) == (F(0), F(1))
    assert none.high is not None
    # 1 - 0.025^(1/10) = 0.30849710...
    assert none.high == F(308498, 10**6)
    assert all_.low == 1 - none.high


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(1, 60), st.sampled_from([F(1, 2), F(9, 10), F(999, 1000)]))
def test_clopper_pearson_agrees_with_scipy_rounded_outwards(
    hits: int, tried: int, confidence: Fraction
) -> None:
    hits = min(hits, tried)
    found = clopper_pearson(hits, tried, confidence)
    peer = binomtest(hits, tried).proportion_ci(float(confidence))
    assert found.low is not None
    assert found.high is not None
    assert -1e-9 <= peer.low - float(found.low) <= 1.001e-6
    assert -1e-9 <= float(found.high) - peer.high <= 1.001e-6


def test_clopper_pearson_reaches_the_sizes_of_radio_trials() -> None:
    found = clopper_pearson(1, 200_000)
    assert (found.low, found.high) == (F(0), F(28, 10**6))


@pytest.mark.parametrize(("hits", "tried"), [(2, 1), (-1, 5), (0, 0)])
def test_what_is_no_proportion_is_refused(hits: int, tried: int) -> None:
    with pytest.raises(UsageError, match="no proportion"):
        clopper_pearson(hits, tried)


@pytest.mark.parametrize("confidence", [F(0), F(1), 0.95, 1])
def test_a_confidence_that_is_no_fraction_inside_zero_and_one_is_refused(confidence: Any) -> None:
    with pytest.raises(UsageError, match="confidence"):
        hodges_lehmann([1, 2], confidence)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (F(1, 1024), "0.0009766"),
        (F(1, 2**300), "4.909e-91"),
        (F(1, 3), "0.3333"),
        (F(-5, 2), "-2.5"),
        (F(99999, 100000), "1"),
        (F(99999, 10**12), "1e-7"),
        (F(1, 10**5), "0.00001"),
        (10, "10"),
        (0, "0"),
        (1234567, "1235000"),
        (F(2 * 10**9, 3), "6.667e8"),
    ],
)
def test_a_rational_is_written_with_four_figures(value: Fraction, text: str) -> None:
    assert decimal_text(value, 4) == text


@settings(deadline=None)
@given(st.fractions(), st.integers(1, 30))
def test_decimal_text_is_within_half_a_figure_and_zero_only_for_zero(
    value: Fraction, digits: int
) -> None:
    shown = Fraction(decimal_text(value, digits))
    assert (shown == 0) == (value == 0)
    assert abs(shown - value) <= abs(value) * F(1, 2) * F(1, 10 ** (digits - 1))


@settings(deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False, places=6))
def test_a_decimal_is_read_without_rounding(value: Any) -> None:
    assert exact_number(str(value)) == Fraction(value)


@pytest.mark.parametrize(
    "text", ["", "abc", "1,5", "1/0", "1_000", "0x10", "1e999999", "٣", "1/2e3"]
)
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        exact_number(text)


@pytest.mark.parametrize("text", ["nan", "NaN", "-inf", "Infinity"])
def test_what_is_not_finite_is_refused_as_such(text: str) -> None:
    with pytest.raises(UsageError, match="not a finite number"):
        exact_number(text)
