"""Chance made of integers: the name decides, the machine does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echoctl.draws import Draws

NAMES = st.lists(st.text(max_size=5) | st.integers(0, 10**6), min_size=1, max_size=4)


def test_a_name_gives_these_draws_on_every_machine_and_in_every_year() -> None:
    assert Draws("a", 1).shuffled(range(10)) == [1, 2, 0, 9, 3, 4, 8, 5, 7, 6]


@given(NAMES, st.integers(0, 300))
def test_a_shuffle_is_fisher_yates_drawn_from_below(name: list[str | int], count: int) -> None:
    fast, plain = Draws(*name), Draws(*name)
    expected = list(range(count))
    for last in range(count - 1, 0, -1):
        other = plain.below(last + 1)
        expected[last], expected[other] = expected[other], expected[last]
    assert fast.shuffled(range(count)) == expected
    assert fast.below(1000) == plain.below(1000)


@given(NAMES, st.lists(st.integers(1, 2**64 - 1), min_size=1, max_size=20))
def test_a_draw_lies_below_its_bound(name: list[str | int], bounds: list[int]) -> None:
    draws = Draws(*name)
    assert all(0 <= draws.below(bound) < bound for bound in bounds)


def test_every_order_of_three_comes_about_equally_often() -> None:
    seen: dict[tuple[int, ...], int] = {}
    for number in range(6000):
        order = tuple(Draws("orders", number).shuffled((1, 2, 3)))
        seen[order] = seen.get(order, 0) + 1
    assert len(seen) == 6
    assert all(850 < count < 1150 for count in seen.values())


@pytest.mark.parametrize("bound", [0, -1, 2**64])
def test_a_bound_that_is_none_is_refused(bound: int) -> None:
    with pytest.raises(ValueError, match="a bound must be"):
        Draws("a").below(bound)
