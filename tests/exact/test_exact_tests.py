from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from exact_brute import brute_flip, brute_wilcoxon
from hypothesis import given, settings
from hypothesis import strategies as st

from echoctl.errors import UsageError
from echoctl.exact import (
    Alternative,
    SubsetSums,
    ZeroMethod,
    differences,
    exact_number,
    sign_flip,
    sign_test,
    wilcoxon,
)

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "wilcoxon.json").read_text()
)
ALTERNATIVES: tuple[Alternative, ...] = ("less", "greater", "two-sided")
MIRROR: dict[Alternative, Alternative] = {
    "less": "greater",
    "greater": "less",
    "two-sided": "two-sided",
}
ZEROS: tuple[ZeroMethod, ...] = ("wilcox", "pratt")

small = st.lists(st.integers(-6, 6), min_size=1, max_size=40)
any_size = st.lists(st.integers(-(10**30), 10**30), min_size=1, max_size=16)
units = small | any_size
alternatives = st.sampled_from(ALTERNATIVES)
zero_methods = st.sampled_from(ZEROS)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_reference_case_gives_its_fraction(case: dict[str, Any]) -> None:
    x, y = ([Fraction(v) for v in case[arm]] for arm in ("x", "y"))
    test = wilcoxon(differences(x, y), case["alternative"], case["zero_method"])
    assert (test.p.numerator, test.p.denominator) == (case["p_num"], case["p_den"])


def test_ten_wins_of_ten_are_one_in_1024() -> None:
    test = wilcoxon([3, 1, 4, 1, 5, 9, 2, 6, 5, 3], "greater")
    assert (test.k, test.n, test.p) == (1, 10, Fraction(1, 1024))


def test_nine_wins_and_a_tie_are_one_in_512() -> None:
    test = wilcoxon([3, 1, 4, 1, 5, 9, 2, 6, 5, 0], "greater")
    assert (test.p, test.wins, test.ties, test.losses) == (Fraction(1, 512), 9, 1, 0)


def test_eleven_wins_and_nine_ties_are_one_in_2048() -> None:
    assert wilcoxon(list(range(1, 12)) + [0] * 9, "greater").p == Fraction(1, 2048)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("zero_method", ZEROS)
def test_all_equal_is_one(alternative: Alternative, zero_method: ZeroMethod) -> None:
    assert wilcoxon([0] * 20, alternative, zero_method).p == 1
    assert sign_flip([0] * 20, alternative).p == sign_test([0] * 20, alternative).p == 1


def test_pratts_zeros_take_ranks_and_move_the_p() -> None:
    d = [0, -1, -2, 4, 5, 6, 7, 8, 9, 10]
    assert wilcoxon(d, "greater").p == Fraction(5, 512)
    assert wilcoxon(d, "greater", "pratt").p == Fraction(6, 512)


def test_one_huge_loss_hides_from_ranks_and_not_from_the_mean() -> None:
    d = [-1000, *list(range(2, 21))]
    assert (
        wilcoxon(d, "greater").p < Fraction(1, 50) < Fraction(49, 100) < sign_flip(d, "greater").p
    )


def test_the_statistic_is_the_rank_sum_the_mean_and_the_wins() -> None:
    d = [Fraction(1, 2), Fraction(1, 2), Fraction(-2), Fraction(0)]
    assert wilcoxon(d, "greater").statistic == 3
    assert sign_flip(d, "greater").statistic == Fraction(-1, 4)
    assert sign_test(d, "greater").statistic == 2


def test_sign_test_of_nine_in_ten_is_eleven_in_1024() -> None:
    assert sign_test([1] * 9 + [-1], "greater").p == Fraction(11, 1024)


def test_ten_thousand_random_inputs_agree_with_every_sign_pattern_counted() -> None:
    chance = random.Random(20261020)
    known: dict[tuple[object, ...], Fraction] = {}
    for turn in range(10_000):
        size = chance.choice((2, 4, 30, 10**25))
        d = [chance.randint(-size, size) for _ in range(chance.randint(1, 8))]
        alternative = ALTERNATIVES[turn % 3]
        zero_method = ZEROS[turn // 3 % 2]
        key = (tuple(sorted(d)), alternative, zero_method)
        if key not in known:
            known[key] = brute_wilcoxon(d, alternative, zero_method)
        assert wilcoxon(d, alternative, zero_method).p == known[key], key
        if turn % 5 == 0:
            assert sign_flip(d, alternative).p == brute_flip(d, alternative), key


@pytest.mark.parametrize("size", [3, 40, 10**12])
def test_longer_inputs_agree_with_every_sign_pattern_counted(size: int) -> None:
    chance = random.Random(size)
    d = [chance.randint(-size, size) for _ in range(13)]
    for alternative in ALTERNATIVES:
        assert wilcoxon(d, alternative).p == brute_wilcoxon(d, alternative)
        assert sign_flip(d, alternative).p == brute_flip(d, alternative)


@settings(deadline=None)
@given(units, alternatives, zero_methods)
def test_swapping_the_arms_mirrors_the_p(
    d: list[int], alternative: Alternative, zero_method: ZeroMethod
) -> None:
    swapped = [-v for v in d]
    mirror = MIRROR[alternative]
    assert wilcoxon(d, alternative, zero_method).p == wilcoxon(swapped, mirror, zero_method).p
    assert sign_flip(d, alternative).p == sign_flip(swapped, mirror).p


@settings(deadline=None)
@given(units, alternatives, zero_methods)
def test_scaling_by_ten_changes_nothing(
    d: list[int], alternative: Alternative, zero_method: ZeroMethod
) -> None:
    for scaled in ([10 * v for v in d], [Fraction(v, 10) for v in d]):
        assert wilcoxon(scaled, alternative, zero_method) == wilcoxon(d, alternative, zero_method)
        assert sign_flip(scaled, alternative).p == sign_flip(d, alternative).p


@settings(deadline=None)
@given(units, alternatives, zero_methods, st.randoms())
def test_the_order_of_the_units_changes_nothing(
    d: list[int], alternative: Alternative, zero_method: ZeroMethod, chance: random.Random
) -> None:
    mixed = chance.sample(d, len(d))
    assert wilcoxon(mixed, alternative, zero_method) == wilcoxon(d, alternative, zero_method)
    assert sign_flip(mixed, alternative) == sign_flip(d, alternative)


@settings(deadline=None)
@given(units, alternatives, zero_methods)
def test_a_p_is_above_zero_and_at_most_one(
    d: list[int], alternative: Alternative, zero_method: ZeroMethod
) -> None:
    for test in (wilcoxon(d, alternative, zero_method), sign_flip(d, alternative)):
        assert 0 < test.p <= 1
        assert test.p == Fraction(test.k, 2**test.n)
        assert test.wins + test.ties + test.losses == len(d)


@settings(deadline=None)
@given(units)
def test_less_and_greater_overlap_in_what_was_seen(d: list[int]) -> None:
    assert wilcoxon(d, "less").p + wilcoxon(d, "greater").p > 1


@settings(deadline=None)
@given(st.lists(st.integers(1, 40), max_size=90))
def test_subset_sums_count_up_one_by_one(weights: list[int]) -> None:
    counts = {0: 1}
    for weight in weights:
        for total, ways in sorted(counts.items(), reverse=True):
            counts[total + weight] = counts.get(total + weight, 0) + ways
    sums = SubsetSums(weights)
    running = 0
    for t in range(-1, sum(weights) + 2):
        running += counts.get(t, 0)
        assert sums.at_most(t) == running


def test_a_thousand_tied_units_agree_with_the_binomial_and_with_themselves_mirrored() -> None:
    chance = random.Random(1)
    d = [chance.choice((-1, 1, 1)) for _ in range(1000)]
    assert wilcoxon(d, "greater").p == sign_test(d, "greater").p
    d = [chance.randint(-3, 40) for _ in range(250)]
    less, greater = wilcoxon(d, "less"), wilcoxon(d, "greater")
    assert 2**less.n < less.k + greater.k < 2**less.n + 2 ** (less.n - 4)


def test_forty_units_of_any_size_are_flipped_and_more_are_refused_with_the_limit() -> None:
    chance = random.Random(3)
    d = [chance.randint(10**30, 10**31) for _ in range(60)]
    assert sign_flip(d[:36], "greater").p == Fraction(1, 2**36)
    with pytest.raises(UsageError, match="1048576 different sums"):
        sign_flip(d, "greater")


def test_unequal_arms_are_an_error_that_says_both_lengths() -> None:
    with pytest.raises(UsageError, match="3 and 2 units"):
        differences([1, 2, 3], [1, 2])


def test_no_unit_is_an_error() -> None:
    with pytest.raises(UsageError, match="no unit"):
        differences([], [])
    with pytest.raises(UsageError, match="no unit"):
        wilcoxon([], "less")


@pytest.mark.parametrize("bad", [0.5, float("nan"), True, None, "1"])
def test_what_is_not_exact_is_refused(bad: Any) -> None:
    with pytest.raises(UsageError, match="value 2 is"):
        wilcoxon([1, bad], "less")


def test_unknown_options_are_refused_and_the_known_ones_named() -> None:
    with pytest.raises(UsageError, match="'up' is unknown"):
        wilcoxon([1], "up")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="'zsplit' is unknown"):
        wilcoxon([1], "less", "zsplit")  # type: ignore[arg-type]


def test_decimals_make_the_ties_and_zeros_that_they_show() -> None:
    x = [exact_number(v) for v in ("0.3", "0.5", "0.7")]
    y = [exact_number("0.1") + exact_number("0.2"), exact_number("0.4"), exact_number("0.6")]
    test = wilcoxon(differences(x, y), "greater")
    assert (test.ties, test.p) == (1, Fraction(1, 4))
