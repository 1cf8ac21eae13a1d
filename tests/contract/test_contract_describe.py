from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from contract_toys import EXAMPLES, REAL, load, real
from hypothesis import given
from hypothesis import strategies as st

from echoctl.contract import describe_check, describe_number
from echoctl.contract.model import CHECKS, Check


def check(**entry: object) -> Check:
    return Check.model_validate(entry)


def test_a_ratio_is_said_in_both_languages_with_their_decimal_mark() -> None:
    first = real("memx").predictions["P1"].all[0]
    assert describe_check(first, "en") == (
        "the total of harm of aprendida is at most 0.3 times that of vacia (regime A1); "
        "if vacia has 0, it fails"
    )
    assert describe_check(first, "es") == (
        "el total de harm de aprendida es como mucho 0,3 veces el de vacia (régimen A1); "
        "si vacia tiene 0, no pasa"
    )


def test_a_wilcoxon_says_its_direction_its_alpha_and_its_family_of_tests() -> None:
    said = describe_check(real("acumula3").predictions["Q2"].all[0])
    assert "lower than that of azar, sin_acumular, fija, lote_final and vacia_online" in said
    assert "one-sided" in said
    assert "p at most 0.01, Holm over 5 tests" in said
    two = check(wilcoxon={"measure": "m", "arm": "a", "differs_from": ("b",), "alpha": "1/3"})
    assert "two-sided Wilcoxon over the units, p at most 1/3" in describe_check(two)


def test_the_other_entries_say_what_they_demand() -> None:
    where = {"stage": "exam", "round": (1, 2)}
    cases = {
        "never falls": check(not_lower={"measure": "m", "arm": "a", "than": ("b",),
                                        "where": where}),
        "share": check(share={"measure": "m", "arm": "a", "relation": "not_above", "than": "b",
                              "plus": 1, "at_least": "75 %"}),
        "rate": check(rate={"hits": "lost", "of": "sent", "arm": "a", "at_most": "0.05"}),
        "count": check(count={"measure": "m", "every": "job", "at_most": 4}),
        "equal": check(equal={"measure": "m", "to": 0, "arm": "a"}),
        "same": check(identical={"digests": ("x", "y")}),
    }  # fmt: skip
    said = {name: describe_check(one) for name, one in cases.items()}
    assert said == {
        "never falls": "the total of m of a (stage exam, round 1 or 2) is not lower than that of b",
        "share": "in at least 75 % of the units, m of a is not above that of b + 1",
        "rate": "lost of a are at most 5 % of its sent",
        "count": "m is at most 4 in every job",
        "equal": "m of a is 0 in every episode",
        "same": "the digests x and y are identical in every job that records them",
    }


def test_another_filter_on_the_other_side_is_said() -> None:
    said = describe_check(real("acumula3").predictions["Q3"].all[0])
    assert "recursiva (stage bank, round 1) is not higher than that of recursiva there" in said
    assert "(stage bank, round 0)" in said


@pytest.mark.parametrize("path", [*REAL, *EXAMPLES], ids=lambda path: path.stem)
def test_every_check_of_every_contract_has_a_sentence_in_both_languages(path: Path) -> None:
    contract = load(path)
    checks = [one for p in contract.predictions.values() for one in p.all] + [*contract.invariants]
    for one in checks:
        english, spanish = describe_check(one, "en"), describe_check(one, "es")
        assert english != spanish
        assert "{" not in english + spanish


def test_the_contracts_of_the_sources_use_the_whole_menu() -> None:
    used = {
        one.kind
        for path in [*REAL, *EXAMPLES]
        for prediction in load(path).predictions.values()
        for one in prediction.all
    }
    assert {*CHECKS} - used <= {"equal"}  # which the invariants use


@given(st.integers(-(10**9), 10**9), st.integers(0, 9))
def test_a_number_that_ends_is_said_as_the_decimal_that_it_is(digits: int, places: int) -> None:
    value = Fraction(digits, 10**places)
    said = describe_number(value)
    assert Fraction(said) == value
    assert describe_number(value, "es") == said.replace(".", ",")


def test_a_number_that_does_not_end_is_said_as_a_fraction() -> None:
    assert describe_number(Fraction(1, 300)) == "1/300"
