from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echoctl.render.numbers import amount, decimal, seconds, significant, size, threshold

FRACTIONS = st.fractions(min_value=-1000, max_value=1000)


@given(FRACTIONS, st.integers(0, 8))
def test_a_decimal_is_within_half_a_unit_of_its_last_place(value: Fraction, places: int) -> None:
    written = Fraction(decimal(value, places))
    assert abs(written - value) <= Fraction(1, 2 * 10**places)


@given(st.fractions(min_value=0, max_value=1), st.integers(1, 6))
def test_what_is_not_zero_never_reads_zero(value: Fraction, figures: int) -> None:
    written = significant(value, figures)
    assert (Fraction(written) == 0) == (value == 0)


@given(st.integers(1, 2000))
def test_a_p_keeps_two_figures_however_small(n: int) -> None:
    value = Fraction(1, 2**n)
    written = Fraction(significant(value))
    assert abs(written - value) <= value / 18


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Fraction(1, 1024), "0.00098"),
        (Fraction(1, 2), "0.50"),
        (Fraction(1), "1.0"),
        (Fraction(0), "0"),
        (Fraction(999, 1_000_000), "0.0010"),
        (Fraction(1, 2**40), "9.1e-13"),
    ],
)
def test_small_numbers_are_written_with_two_figures(value: Fraction, written: str) -> None:
    assert significant(value) == written


def test_spanish_numbers_have_a_comma() -> None:
    assert significant(Fraction(1, 1024), comma=True) == "0,00098"
    assert decimal(Fraction(-5, 4), 1, comma=True) == "-1,3"


def test_rounding_is_half_away_from_zero() -> None:
    assert [decimal(Fraction(n, 4), 1) for n in (1, 3, -1, -3)] == ["0.3", "0.8", "-0.3", "-0.8"]


def test_what_rounds_to_zero_has_no_sign() -> None:
    assert decimal(Fraction(-1, 1000), 1) == "0.0"


def test_thresholds_read_as_the_contract_wrote_them() -> None:
    assert [threshold(Fraction(n)) for n in ("3/10", "1/100", "1/200", "1/300")] == [
        "0.30", "0.01", "0.005", "1/300",
    ]  # fmt: skip


def test_amounts_keep_whole_numbers_whole() -> None:
    assert [amount(Fraction(n)) for n in ("150", "252/10", "1/3")] == ["150", "25.2", "0.33"]


def test_durations_and_sizes_read_as_a_person_would_say_them() -> None:
    assert [seconds(n) for n in (0, 40, 200, 7500)] == ["0 s", "40 s", "3 min 20 s", "2 h 05 min"]
    assert [size(n) for n in (812, 4100, 2_300_000)] == ["812 B", "4.1 kB", "2.3 MB"]
