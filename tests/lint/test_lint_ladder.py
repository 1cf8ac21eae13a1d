"""What a test on n units can show, held against the exact tests themselves."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from echoctl.contract.menu import Wilcoxon
from echoctl.exact import wilcoxon
from echoctl.lint import Ladder, ladder
from echoctl.lint.chance import monotone_by_chance, ratio_at_truth, ratio_for_power
from echoctl.lint.simplex import AtMost, smallest


def family(tests: int, units: int, correction: str = "holm", alpha: str = "0.01") -> Ladder:
    rivals = tuple(f"r{i}" for i in range(tests))
    check = Wilcoxon(measure="m", arm="t", below=rivals, alpha=alpha, correction=correction)  # type: ignore[arg-type]
    return ladder(check, units)


def test_alpha_of_one_percent_needs_7_8_9_9_9_10_units_for_one_to_six_tests() -> None:
    needed = [next(n for n in range(1, 20) if family(tests, n).reachable) for tests in range(1, 7)]
    assert needed == [7, 8, 9, 9, 9, 10]


def test_ten_units_carry_at_most_ten_tests() -> None:
    assert family(10, 10).reachable
    assert not family(11, 10).reachable


def test_a_single_loss_at_ten_units_may_have_rank_5_3_2_1_1() -> None:
    steps = family(5, 10).steps
    assert [step.loss_rank for step in reversed(steps)] == [5, 3, 2, 1, 1]


def test_two_zeros_cannot_reach_a_third_of_alpha_and_four_cannot_even_alone() -> None:
    assert [step.zeros for step in family(3, 10).steps] == [1, 2, 3]


def test_a_loss_tied_with_a_smallest_win_fails_the_fourth_and_fifth_of_alpha() -> None:
    assert [step.tied_loss for step in family(5, 10).steps] == [False, False, True, True, True]


@given(st.integers(1, 11), st.integers(1, 4), st.sampled_from(["0.01", "0.05", "0.2", "1/64"]))
@settings(max_examples=60, deadline=None)
def test_the_ladder_says_what_the_exact_test_says(units: int, tests: int, alpha: str) -> None:
    for step in family(tests, units, alpha=alpha).steps:
        sizes = list(range(1, units + 1))

        def passes(differences: list[int], limit: Fraction = step.threshold) -> bool:
            return wilcoxon(differences, "less").p <= limit

        for tied in range(units):
            assert passes([0] * tied + [-s for s in sizes[tied:]]) == (tied <= step.zeros)
        for rank in range(1, units + 1):
            lost = [s if s == rank else -s for s in sizes]
            assert passes(lost) == (rank <= step.loss_rank)
        for count in range(units + 1):
            lost = [s if s <= count else -s for s in sizes]
            assert passes(lost) == (count <= step.losses)
        if units > 1:
            tie = [1, -1, *(-s for s in range(2, units))]
            assert passes(tie) == step.tied_loss


def test_a_two_sided_family_needs_one_unit_more() -> None:
    check = Wilcoxon(measure="m", arm="t", differs_from=("r",), alpha="1/128")  # type: ignore[arg-type]
    assert [ladder(check, units).reachable for units in (7, 8)] == [False, True]
    assert ladder(check, 8).smallest == Fraction(1, 128)


def test_three_drops_in_a_row_of_five_pass_13_of_120_exchangeable_sequences() -> None:
    assert monotone_by_chance(6, 3, guarded=False) == Fraction(13, 120)


@pytest.mark.parametrize("guarded", [False, True])
def test_the_chance_of_a_monotone_gate_equals_counting_every_order(guarded: bool) -> None:
    for rounds in range(2, 6 if guarded else 7):
        for wanted in range(1, rounds):
            orders = list(permutations(range(rounds)))
            guards = orders if guarded else [tuple(reversed(range(rounds)))]
            passing = 0
            for totals, guard in product(orders, guards):
                run = best = 0
                for (a, b), (x, y) in zip(pairwise(totals), pairwise(guard), strict=True):
                    run = run + 1 if b < a and y <= x else 0
                    best = max(best, run)
                passing += best >= wanted
            expected = Fraction(passing, len(orders) * len(guards))
            assert monotone_by_chance(rounds, wanted, guarded=guarded) == expected


def test_a_ratio_gate_at_its_own_bound_is_near_a_coin_flip_and_surer_below_it() -> None:
    bound = Fraction(3, 10)
    for events in (50, 200, 500):
        assert Fraction(45, 100) < ratio_at_truth(bound, events) < Fraction(60, 100)
    assert ratio_at_truth(bound, 13) == sum(
        Fraction(c * 3**k * 10 ** (13 - k), 13**13) for k, c in enumerate([1, 13, 78, 286])
    )  # 3 of 13 are 3 against 10
    needed = ratio_for_power(bound, 100, Fraction(9, 10))
    assert needed < bound
    assert ratio_at_truth(bound, 100, needed) >= Fraction(9, 10)


rules = st.lists(
    st.tuples(st.lists(st.integers(-3, 3), min_size=2, max_size=2), st.integers(-6, 6)),
    min_size=1,
    max_size=4,
)


@given(rules)
@settings(max_examples=200, deadline=None)
def test_the_solver_finds_the_smallest_whole_numbers_or_there_are_none(drawn: Any) -> None:
    system = [AtMost(dict(enumerate(terms)), limit) for terms, limit in drawn]

    def holds(point: tuple[int, ...]) -> bool:
        return all(
            sum(c * point[var] for var, c in rule.terms.items()) <= rule.limit for rule in system
        )

    found = smallest([1, 1], system)
    reachable = [point for point in product(range(40), repeat=2) if holds(point)]
    if found is None:
        assert not reachable
    else:
        assert holds(tuple(found))
        assert all(value >= 0 for value in found)
