"""Every entry of the menu is seen green and red, at its edge where it has one."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from verdict_design import Value, by_round, contract, harm, outcomes, verdict

from echoctl.errors import CheckFailed, Inconsistent
from echoctl.verdict import decide
from echoctl.verdict.results import (
    CombinedResult,
    IdenticalResult,
    MonotoneResult,
    RatioResult,
    WilcoxonResult,
)

HERE = {"regime": "A1", "family": "F"}


def wins(lost: int = 0, tied: int = 0) -> Value:
    """Return harm with untied sizes: the `lost` smallest differences go against arm t."""

    def value(arm: str, unit: int, regime: str, family: str, number: int) -> int:
        if arm == "t":
            return 50
        size = 0 if unit > 10 - tied else unit
        return 50 - size if unit <= lost else 50 + size

    return value


W: dict[str, Any] = {
    "measure": "harm",
    "arm": "t",
    "below": ["c"],
    "where": HERE,
    "alpha": "0.01",
}
R: dict[str, Any] = {"measure": "harm", "arm": "t", "to": "c", "where": HERE}
S: dict[str, Any] = {
    "measure": "harm",
    "arm": "t",
    "relation": "below",
    "than": "c",
    "where": HERE,
    "at_least": "75 %",
}
M: dict[str, Any] = {
    "measure": "harm",
    "arm": "t",
    "in_a_row": 3,
    "first_round": 0,
    "last_round": 5,
    "where": HERE,
}
GUARD = {"guard": {"measure": "success", "may_not": "fall"}}


def rounds(*totals: int) -> dict[str, Any]:
    return {"rounds": range(6), "harm": by_round(dict(enumerate(totals)))}


def in_units(hits: int) -> Value:
    return lambda arm, unit, *_: 0 if arm == "t" and unit <= hits else 1


BOTH_COLOURS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "wilcoxon: ten of ten passes, all tied fails": (
        {"wilcoxon": W},
        {"harm": wins()},
        {"harm": lambda *_: 7},
    ),
    "wilcoxon: a loss of rank 5 is affordable at alpha, ranks 1 to 4 lost are not": (
        {"wilcoxon": W},
        {"harm": lambda arm, unit, *_: 50 if arm == "t" else 50 + (unit if unit != 5 else -5)},
        {"harm": wins(lost=4)},
    ),
    "wilcoxon: three zeros are affordable alone, four never": (
        {"wilcoxon": W},
        {"harm": wins(tied=3)},
        {"harm": wins(tied=4)},
    ),
    "wilcoxon above: the direction is the contract's": (
        {"wilcoxon": {k: v for k, v in W.items() if k != "below"} | {"above": ["c"]}},
        {"harm": harm(5, 4)},
        {"harm": harm(4, 5)},
    ),
    "wilcoxon two-sided: either direction counts": (
        {"wilcoxon": {k: v for k, v in W.items() if k != "below"} | {"differs_from": ["c"]}},
        {"harm": harm(5, 4)},
        {"harm": harm(4, 4)},
    ),
    "holm: two perfect rivals pass, one tied rival sinks both": (
        {"wilcoxon": W | {"below": ["c", "d"], "correction": "holm"}},
        {"harm": harm(1, 2, 3)},
        {"harm": harm(1, 2, 1)},
    ),
    "ratio: exactly at the bound passes, one more fails": (
        {"ratio": R | {"at_most": "0.30"}},
        {"harm": harm(3, 10)},
        {"harm": lambda a, u, g, f, n: {"t": 31 if u == 1 else 30, "c": 100, "d": 0}[a]},
    ),
    "ratio at least": (
        {"ratio": R | {"at_least": "2"}},
        {"harm": harm(4, 2)},
        {"harm": harm(3, 2)},
    ),
    "ratio: a control of zero fails unless the contract says otherwise": (
        {"ratio": R | {"at_most": "0.30"}},
        {"harm": harm(0, 1)},
        {"harm": harm(0, 0)},
    ),
    "ratio: pass_if_zero lets zero against zero pass and nothing else": (
        {"ratio": R | {"at_most": "0.30", "if_control_zero": "pass_if_zero"}},
        {"harm": harm(0, 0)},
        {"harm": harm(1, 0)},
    ),
    "not lower: equal totals pass": (
        {"not_lower": {"measure": "harm", "arm": "t", "than": ["c", "d"], "where": HERE}},
        {"harm": harm(2, 2, 1)},
        {"harm": harm(2, 2, 3)},
    ),
    "not higher: equal totals pass": (
        {"not_higher": {"measure": "harm", "arm": "t", "than": ["c", "d"], "where": HERE}},
        {"harm": harm(2, 2, 3)},
        {"harm": harm(2, 2, 1)},
    ),
    "monotone: three strict drops in a row pass, a plateau breaks the run": (
        {"monotone": M},
        rounds(9, 9, 8, 7, 6, 9),
        rounds(9, 8, 7, 7, 6, 5),
    ),
    "monotone increasing": (
        {"monotone": M | {"direction": "increasing"}},
        rounds(1, 2, 3, 4, 4, 4),
        rounds(9, 8, 7, 6, 5, 4),
    ),
    "monotone: a guard that falls in one of those transitions breaks the run": (
        {"monotone": M | GUARD},
        rounds(9, 8, 7, 6, 6, 6) | {"success": by_round({0: 1, 1: 1, 2: 2, 3: 2, 4: 0, 5: 0})},
        rounds(9, 8, 7, 6, 6, 6) | {"success": by_round({0: 1, 1: 1, 2: 0, 3: 2, 4: 2, 5: 2})},
    ),
    "share: eight of ten reach 75 %, seven do not": (
        {"share": S},
        {"harm": in_units(8)},
        {"harm": in_units(7)},
    ),
    "share at most": (
        {"share": {k: v for k, v in S.items() if k != "at_least"} | {"at_most": "5 %"}},
        {"harm": in_units(0)},
        {"harm": in_units(1)},
    ),
    "share: at most one more than the other arm": (
        {"share": S | {"relation": "not_above", "plus": 1, "at_least": "90 %"}},
        {"harm": harm(3, 2)},
        {"harm": harm(4, 2)},
    ),
    "share against a fixed value": (
        {"share": {k: v for k, v in S.items() if k != "than"} | {"value": 1}},
        {"harm": in_units(8)},
        {"harm": in_units(7)},
    ),
    "rate: hits of tried, exactly at the bound": (
        {"rate": {"hits": "harm", "of": "steps", "arm": "t", "where": HERE, "at_most": "1 %"}},
        {"harm": harm(1, 0), "steps": lambda *_: 100},
        {"harm": harm(2, 0), "steps": lambda *_: 199},
    ),
    "rate: nothing tried fails": (
        {"rate": {"hits": "harm", "of": "steps", "arm": "t", "at_most": "1 %"}},
        {"harm": lambda *_: 0, "steps": lambda *_: 1},
        {"harm": lambda *_: 0, "steps": lambda *_: 0},
    ),
    "count: a bound on the total": (
        {"count": {"measure": "harm", "arm": "t", "where": HERE, "at_most": 10}},
        {"harm": harm(1, 0)},
        {"harm": harm(2, 0)},
    ),
    "count in every row": (
        {"count": {"measure": "harm", "every": "row", "at_most": 1}},
        {"harm": lambda *_: 1},
        {"harm": lambda a, u, g, f, n: 2 if (a, u, g, f) == ("d", 7, "A2", "G") else 1},
    ),
    "count in every unit": (
        {"count": {"measure": "harm", "every": "unit", "at_least": 4}},
        {"harm": lambda *_: 1},
        {"harm": lambda a, u, g, f, n: 0 if (a, u, g, f) == ("d", 7, "A2", "G") else 1},
    ),
    "count in every job": (
        {"count": {"measure": "harm", "every": "job", "at_least": 2, "at_most": 2}},
        {"harm": lambda *_: 1},
        {"harm": lambda a, u, g, f, n: 0 if (a, u, g, f) == ("d", 7, "A2", "G") else 1},
    ),
    "equal in every row of every arm": (
        {"equal": {"measure": "harm", "to": 0}},
        {"harm": lambda *_: 0},
        {"harm": lambda a, u, g, f, n: 1 if (a, u, g, f) == ("d", 7, "A2", "G") else 0},
    ),
    "equal notices +1 and -1 that cancel in a sum": (
        {"equal": {"measure": "harm", "to": 0}},
        {"harm": lambda *_: 0},
        {"harm": lambda a, u, g, f, n: {"F": 1, "G": -1}[f]},
    ),
    "identical digests": (
        {"identical": {"digests": ["left", "right"]}},
        {"digests": {"left": "aa", "right": "aa"}},
        {"digests": {"left": "aa", "right": "ab"}},
    ),
    "identical digests: one alone is not equal": (
        {"identical": {"digests": ["left", "right"]}},
        {"digests": {"left": "aa", "right": "aa"}},
        {"digests": {"left": "aa"}},
    ),
    "identical digests: none recorded fails": (
        {"identical": {"digests": ["left", "right"], "arm": "t"}},
        {"digests": {"left": "aa", "right": "aa"}},
        {},
    ),
    "all needs every part": (
        {
            "all": [
                {"equal": {"measure": "harm", "to": 0}},
                {"equal": {"measure": "steps", "to": 0}},
            ]
        },
        {},
        {"steps": lambda *_: 1},
    ),
    "any needs one part": (
        {
            "any": [
                {"equal": {"measure": "harm", "to": 0}},
                {"equal": {"measure": "steps", "to": 0}},
            ]
        },
        {"steps": lambda *_: 1},
        {"steps": lambda *_: 1, "harm": lambda *_: 1},
    ),
    "not turns a check round": (
        {"not": {"equal": {"measure": "harm", "to": 0}}},
        {"harm": lambda *_: 1},
        {"harm": lambda *_: 0},
    ),
}


@pytest.mark.parametrize("case", BOTH_COLOURS)
def test_each_check_is_seen_in_both_colours(case: str) -> None:
    check, green, red = BOTH_COLOURS[case]
    assert verdict(check, outcomes(**green)).colour == "green"
    assert verdict(check, outcomes(**red)).colour == "red"


def test_the_filter_decides_which_rows_count() -> None:
    def split(arm: str, unit: int, regime: str, family: str, number: int) -> int:
        better = (regime, family, number) == ("A2", "G", 2)
        return {"t": 1, "c": 2, "d": 2}[arm] if better else {"t": 2, "c": 1, "d": 1}[arm]

    played = outcomes(rounds=(1, 2), harm=split)
    inside = {"regime": "A2", "family": ["G"], "round": 2, "stage": "exam"}
    for where, colour in [(inside, "green"), ({"family": "G"}, "red"), ({"round": [1, 2]}, "red")]:
        assert verdict({"wilcoxon": W | {"where": where}}, played).colour == colour


def test_holm_meets_each_p_with_its_own_step() -> None:
    def value(arm: str, unit: int, *_: Any) -> int:
        sizes = {"t": 0, "c": unit, "d": unit if unit > 1 else -1}
        return 50 + sizes[arm]

    check = W | {"below": ["d", "c"], "correction": "holm", "where": {}}
    (found,) = verdict({"wilcoxon": check}, outcomes(harm=value)).prediction("P").checks
    assert isinstance(found, WilcoxonResult)
    facts = [(t.rival, t.p.value, t.step, t.threshold, t.rejected) for t in found.tests]
    assert facts == [
        ("d", Fraction(2, 1024), 2, Fraction(1, 100), True),
        ("c", Fraction(1, 1024), 1, Fraction(1, 200), True),
    ]
    assert [(t.wins, t.ties, t.losses) for t in found.tests] == [(9, 0, 1), (10, 0, 0)]
    assert (found.tests[0].p.k, found.tests[0].p.n) == (2, 10)


def test_the_estimates_beside_a_p_are_exact_and_point_the_named_way() -> None:
    (found,) = verdict({"wilcoxon": W}, outcomes(harm=wins())).prediction("P").checks
    assert isinstance(found, WilcoxonResult)
    estimates = found.tests[0].estimates
    assert estimates.mean_difference == Fraction(-11, 2)
    assert estimates.hodges_lehmann == Fraction(-11, 2)
    assert [estimates.rank_biserial, estimates.improvement] == [Fraction(1)] * 2
    assert estimates.sign_flip is not None
    assert estimates.pratt.value == estimates.sign_flip.value == Fraction(1, 1024)


def test_one_huge_loss_hidden_from_the_ranks_shows_in_the_test_of_the_mean() -> None:
    def value(arm: str, unit: int, *_: Any) -> int:
        return 0 if arm != "t" else (1_000_000 if unit == 1 else -unit)

    (found,) = verdict({"wilcoxon": W}, outcomes(harm=value)).prediction("P").checks
    assert isinstance(found, WilcoxonResult)
    sign_flip = found.tests[0].estimates.sign_flip
    assert sign_flip is not None
    assert found.tests[0].p.value < Fraction(1, 10) < sign_flip.value


def test_a_zero_control_is_reported_by_name() -> None:
    found = verdict({"ratio": R | {"at_most": "0.3"}}, outcomes()).prediction("P").checks[0]
    assert isinstance(found, RatioResult)
    assert found.notes == ("control_zero",)
    assert found.ratio is None


def test_one_job_that_lacks_one_of_two_digests_breaks_their_identity() -> None:
    played = outcomes(digests={"left": "aa", "right": "aa"})
    check = {"identical": {"digests": ["left", "right"]}}
    assert verdict(check, played).green
    spoiled = [replace(played[0], digests={"left": "aa"}), *played[1:]]
    found = verdict(check, spoiled).prediction("P").checks[0]
    assert isinstance(found, IdenticalResult)
    assert (found.passed, found.jobs, found.first_differing) == (False, 60, ("1-t-a1",))


def test_nine_of_thirty_is_not_above_thirty_percent() -> None:
    played = outcomes(harm=lambda a, u, *_: {"t": 9, "c": 30, "d": 0}[a])
    assert verdict({"ratio": R | {"at_most": "0.30"}}, played).green
    assert not verdict({"ratio": R | {"at_most": "0.29999"}}, played).green


def test_monotone_shows_every_total_and_the_longest_run() -> None:
    found = verdict({"monotone": M}, outcomes(**rounds(9, 8, 7, 7, 6, 5))).prediction("P").checks[0]
    assert isinstance(found, MonotoneResult)
    assert list(map(int, found.totals)) == [90, 80, 70, 70, 60, 50]
    assert (found.longest, found.needed) == (2, 3)


def test_every_part_of_a_combination_is_evaluated_and_shown() -> None:
    parts = [{"equal": {"measure": m, "to": 0}} for m in ("harm", "steps", "success")]
    found = verdict({"any": parts}, outcomes()).prediction("P").checks[0]
    assert isinstance(found, CombinedResult)
    assert [part.passed for part in found.parts] == [True, True, True]


def test_against_compares_an_arm_with_itself_in_another_round() -> None:
    gate = {"measure": "harm", "arm": "t", "than": ["t"], "where": {"round": 2}}
    check = {"not_higher": gate | {"against": {"round": 1}}}
    for late, colour in [(5, "green"), (6, "red")]:
        levels = {1: 5, 2: late}
        played = outcomes(rounds=(1, 2), harm=lambda a, u, g, f, n, at=levels: at[n])  # type: ignore[misc]
        assert verdict(check, played).colour == colour
    with pytest.raises(CheckFailed, match="compared with itself"):
        verdict({"not_higher": gate}, outcomes(rounds=(1, 2)))


def test_aggregates_add_rows_up_to_a_unit_as_the_contract_says() -> None:
    def value(arm: str, unit: int, regime: str, family: str, number: int) -> int:
        return {"t": {"F": 5, "G": 5}, "c": {"F": 7, "G": 1}, "d": {"F": 0, "G": 0}}[arm][family]

    played = outcomes(regimes=("A1",), harm=value)
    for aggregate, colour in [("sum", "red"), ("max", "green"), ("min", "red")]:
        design = contract(
            {"wilcoxon": W | {"where": {}}},
            measures={"harm": {"aggregate": aggregate}, "success": {}, "steps": {}},
        )
        assert decide(design, played).colour == colour, aggregate


def test_a_scale_changes_what_is_shown_and_nothing_that_is_decided() -> None:
    played = outcomes(harm=harm(150, 225))
    design = contract(
        {"ratio": R | {"at_most": "2/3"}},
        {"wilcoxon": W},
        measures={"harm": {"scale": 100}, "success": {}, "steps": {}},
    )
    found = decide(design, played)
    assert found.green
    ratio = found.prediction("P").checks[0]
    assert isinstance(ratio, RatioResult)
    assert [ratio.arm_total, ratio.control_total] == [Fraction(15), Fraction(45, 2)]
    line = next(x for x in found.table if (x.arm, x.regime, x.family) == ("t", "A1", "F"))
    assert line.as_json()["means"]["harm"] == "1.5"


CANNOT_BE_COMPUTED: dict[str, tuple[dict[str, Any], str]] = {
    "no rival": ({"wilcoxon": W | {"below": []}}, "names no rival"),
    "a rival twice": ({"wilcoxon": W | {"below": ["c", "c"]}}, "twice"),
    "a rival in two directions": ({"wilcoxon": W | {"above": ["c"]}}, "twice"),
    "itself": ({"wilcoxon": W | {"below": ["t"]}}, "compared with itself"),
    "an unknown arm": ({"wilcoxon": W | {"below": ["nobody"]}}, "no arm 'nobody'"),
    "an unknown measure": ({"ratio": R | {"measure": "joy", "at_most": "1"}}, "no measure 'joy'"),
    "a ratio without a bound": ({"ratio": R}, "no bound"),
    "a count without a bound": ({"count": {"measure": "harm"}}, "no bound"),
    "a share against nothing": ({"share": S | {"than": None}}, "`than`"),
    "an empty any": ({"any": []}, "of nothing"),
    "rounds named twice": ({"monotone": M | {"where": {"round": 1}}}, "names its rounds itself"),
    "a digest and itself": ({"identical": {"digests": ["a", "a"]}}, "compared with itself"),
}


@pytest.mark.parametrize("case", CANNOT_BE_COMPUTED)
def test_a_check_that_cannot_be_computed_says_where_and_why(case: str) -> None:
    check, message = CANNOT_BE_COMPUTED[case]
    with pytest.raises(CheckFailed, match=r"P, check 1 \(") as caught:
        verdict(check, outcomes(rounds=range(6)))
    assert message in caught.value.why


def test_a_filter_that_takes_no_row_is_an_error_not_a_pass() -> None:
    with pytest.raises(Inconsistent, match="no row matches: arm t, family Nowhere"):
        verdict({"wilcoxon": W | {"where": {"family": "Nowhere"}}}, outcomes())


def test_a_round_that_was_not_played_is_an_error() -> None:
    with pytest.raises(Inconsistent, match="round 5"):
        verdict({"monotone": M}, outcomes(rounds=range(5)))
