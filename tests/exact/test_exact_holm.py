from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from echoctl.errors import UsageError
from echoctl.exact import holm

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "holm.json").read_text()
)
GOOD = [case for case in CASES if case["status"] != "invalid"]
ALPHA = Fraction(1, 100)
families = st.lists(
    st.integers(0, 2000).map(lambda above: Fraction(above, 2000)), min_size=1, max_size=12
)


@pytest.mark.parametrize("case", GOOD, ids=[case["name"] for case in GOOD])
def test_the_reference_family_is_adjusted_and_rejected_exactly(case: dict[str, Any]) -> None:
    found = holm([Fraction(p) for p in case["p"]], Fraction(case["alpha"]))
    assert [[p.numerator, p.denominator] for p in found.adjusted] == case["adjusted"]
    assert list(found.reject) == case["reject"]


def test_the_ladder_of_b_v3_goes_from_one_in_500_to_one_in_100() -> None:
    found = holm([Fraction(1, 1024)] * 5, ALPHA)
    assert found.thresholds == tuple(Fraction(1, below) for below in (500, 400, 300, 200, 100))


def test_a_p_equal_to_its_threshold_is_rejected() -> None:
    assert holm([Fraction(1, 100)], ALPHA).reject == (True,)
    assert holm([Fraction(1, 100) + Fraction(1, 10**40)], ALPHA).reject == (False,)


def test_after_the_first_failure_nothing_is_rejected() -> None:
    found = holm([Fraction(6, 1024), Fraction(1, 1024), Fraction(6, 1024)], ALPHA)
    assert found.reject == (False, True, False)


def test_a_family_may_not_shrink_below_what_was_registered() -> None:
    with pytest.raises(UsageError, match="5 tests were registered and 4 have a p"):
        holm([Fraction(1, 1024)] * 4, ALPHA, registered=5)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (None, "test 2 of 2 has no exact p"),
        (0.5, "test 2 of 2 has no exact p"),
        (float("nan"), "test 2 of 2 has no exact p"),
        (Fraction(3, 2), "outside"),
        (Fraction(-1, 2), "outside"),
    ],
)
def test_a_bad_member_spoils_the_family_and_is_named(bad: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        holm([Fraction(1, 1024), bad], ALPHA)


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(11, 10), 0.01, None])
def test_an_alpha_that_is_no_fraction_of_one_is_refused(alpha: Any) -> None:
    with pytest.raises(UsageError, match="alpha"):
        holm([Fraction(1, 2)], alpha)


@settings(deadline=None)
@given(families, st.randoms())
def test_order_changes_nothing_and_adjusted_p_are_monotone(
    family: list[Fraction], chance: Any
) -> None:
    found = holm(family, ALPHA)
    pairs = sorted(zip(family, found.adjusted, strict=True))
    assert [adjusted for _, adjusted in pairs] == sorted(found.adjusted)
    assert all(p <= adjusted <= 1 for p, adjusted in pairs)
    order = chance.sample(range(len(family)), len(family))
    again = holm([family[i] for i in order], ALPHA)
    assert again.adjusted == tuple(found.adjusted[i] for i in order)


@settings(deadline=None)
@given(families, st.integers(1, 1000).map(lambda above: Fraction(above, 1000)))
def test_rejected_is_exactly_where_the_adjusted_p_is_at_most_alpha(
    family: list[Fraction], alpha: Fraction
) -> None:
    found = holm(family, alpha)
    assert found.reject == tuple(adjusted <= alpha for adjusted in found.adjusted)


@settings(deadline=None)
@given(families)
def test_a_smaller_p_never_hurts_another(family: list[Fraction]) -> None:
    better = holm([family[0] / 2, *family[1:]], ALPHA)
    worse = holm(family, ALPHA)
    assert all(one <= other for one, other in zip(better.adjusted, worse.adjusted, strict=True))
