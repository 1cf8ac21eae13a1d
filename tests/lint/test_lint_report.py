"""The linter says by itself what authors had to work out by hand, and shows what it says."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from lint_design import acumula3, contract

from echoctl.canon import canonical
from echoctl.contract import Contract, load_contract
from echoctl.lint import LintReport, Witness, lint
from echoctl.lint.words import COMPOSED, PARTS, WORDS
from echoctl.track import Outcome
from echoctl.verdict import decide

ROOT = Path(__file__).parents[2]
W: dict[str, Any] = {"measure": "harm", "arm": "t", "below": ["c", "d"], "alpha": "0.01"}


def from_file(name: str) -> LintReport:
    path = ROOT / "contracts" / name
    return lint(load_contract(path.read_bytes(), path.name))


@cache
def of_memx() -> LintReport:
    return from_file("memx.yaml")


@cache
def of_acumula3() -> LintReport:
    return lint(acumula3())


def texts(report: LintReport, where: str, lang: Any = "en") -> str:
    return "\n".join(f.text(lang) for f in report.findings if f.where == where)


def codes(report: LintReport, level: Any) -> list[tuple[str, str]]:
    return [(f.code, f.where) for f in report.of(level)]


# --- what it says --------------------------------------------------------------------------


def test_acumula3_needs_near_total_dominance_and_the_linter_says_so() -> None:
    said = texts(of_acumula3(), "Q2")
    assert "thresholds 1/500 · 1/400 · 1/300 · 1/200 · 1/100" in said
    assert "the smallest attainable p is 1/1024" in said
    assert (
        "at least two controls must lose in all ten macros (or in nine with one tie, "
        "or in nine if the one win is the smallest difference)" in said
    )
    assert "all five controls must lose in all ten macros (or in seven with three ties" in said


def test_the_contract_of_this_repository_gets_the_same_sentence() -> None:
    report = from_file("acumula3.yaml")
    assert report.ok
    assert texts(report, "Q2").count("at least two controls must lose in all ten macros") == 2
    assert report.green is not None
    assert all(report.red.values())


def test_it_says_the_same_in_spanish() -> None:
    said = texts(of_acumula3(), "Q2", "es")
    assert "al menos dos controles tienen que perder en diez de diez macros" in said
    assert "o en nueve con un empate" in said


def test_with_other_numbers_it_says_other_things() -> None:
    one = texts(lint(contract({"wilcoxon": W | {"correction": "holm"}}, units=8)), "P")
    assert (
        "at least one control must lose in all eight macros (no tie and no win is affordable)"
        in one
    )
    assert "all two controls must lose in all eight macros (or in seven with one tie" in one
    alone = texts(lint(contract({"wilcoxon": W | {"below": ["c"]}}, units=7)), "P")
    assert "c must lose in all seven macros (no tie and no win is affordable)" in alone


def test_memx_is_accepted_and_each_deciding_prediction_is_shown_in_both_colours() -> None:
    report = of_memx()
    assert report.ok
    assert report.green is not None
    assert report.green.colour == "green"
    assert set(report.red) == {"P1", "P2", "P3", "invariant 1"}
    for name, witness in report.red.items():
        assert witness is not None
        assert (witness.colour, witness.passed[name], witness.alone) == ("red", False, True)


def replayed(design: Contract, witness: Witness, stages: dict[str, Any]) -> list[Outcome]:
    """Build the witness's outcomes again from its record alone."""
    record = witness.as_json()
    values = {
        (unit, arm, stage, family, regime, number, measure): value
        for (first, last), arm, stage, family, regime, number, measure, value in record["cells"]
        for unit in range(first, last + 1)
    }
    measures = tuple(design.measures)
    columns = ("stage", "family", "round", "episode", "seed", *measures)
    out = []
    for unit in range(1, design.unit.count + 1):
        for arm in design.arms:
            for regime in design.regimes:

                def where(s: str, f: str, n: int, at: Any = (unit, arm.id, regime)) -> Any:
                    return (at[0], at[1], s, f, at[2], n)

                rows = [
                    (s, f, n, 0, 0, *(values.get((*where(s, f, n), m), 0) for m in measures))
                    for s, (families, numbers) in stages.items()
                    for f in families
                    for n in numbers
                ]  # fmt: skip
                keys: dict[str, int | str] = {"unit": unit, "arm": arm.id, "regime": regime}
                out.append(Outcome(f"{unit}-{arm.id}-{regime.lower()}", keys, columns, rows))
    return out


def test_a_recorded_synthetic_result_gives_its_colour_again() -> None:
    design, report = acumula3(), of_acumula3()
    stages = {
        name: (stage.families, range(stage.first_round, stage.first_round + stage.rounds))
        for name, stage in design.worlds.items()
    }
    for witness in (report.green, *report.red.values()):
        assert witness is not None
        assert decide(design, replayed(design, witness, stages)).colour == witness.colour
    spoiled = report.green
    assert spoiled is not None
    assert len({w.cells for w in report.red.values() if w} | {spoiled.cells}) == 5


def test_the_report_is_canonical_data_and_repeats_byte_for_byte() -> None:
    assert canonical(of_acumula3().as_json()) == canonical(lint(acumula3()).as_json())


# --- both colours for every entry of the menu ----------------------------------------------

HERE = {"regime": "A1", "family": "F", "round": 0}
MENU: dict[str, dict[str, Any]] = {
    "wilcoxon": {"wilcoxon": W},
    "wilcoxon above": {"wilcoxon": {**W, "below": [], "above": ["c"]}},
    "wilcoxon two-sided": {"wilcoxon": {**W, "below": [], "differs_from": ["c", "d"]}},
    "ratio": {"ratio": {"measure": "harm", "arm": "t", "to": "c", "at_most": "0.3"}},
    "ratio between": {
        "ratio": {"measure": "harm", "arm": "t", "to": "c", "at_least": "1/3", "at_most": "2/5"}
    },
    "ratio with zero": {
        "ratio": {
            "measure": "harm", "arm": "t", "to": "c", "at_most": "0.3",
            "if_control_zero": "pass_if_zero",
        }
    },
    "not lower": {"not_lower": {"measure": "harm", "arm": "t", "than": ["c", "d"]}},
    "not higher across rounds": {
        "not_higher": {
            "measure": "harm", "arm": "t", "than": ["t"], "where": {"round": 5},
            "against": {"round": 0},
        }
    },
    "monotone": {"monotone": {"measure": "harm", "arm": "t", "in_a_row": 2, "last_round": 5}},
    "monotone increasing with guard": {
        "monotone": {
            "measure": "harm", "arm": "t", "in_a_row": 4, "last_round": 5,
            "direction": "increasing", "guard": {"measure": "steps", "may_not": "fall"},
        }
    },
    "share": {
        "share": {
            "measure": "harm", "arm": "t", "relation": "below", "than": "c", "at_least": "75 %",
        }
    },
    "share at most": {
        "share": {
            "measure": "harm", "arm": "t", "relation": "above", "than": "c", "at_most": "5 %",
        }
    },
    "share between": {
        "share": {
            "measure": "harm", "arm": "t", "relation": "equal", "than": "c",
            "at_least": "25 %", "at_most": "0.5",
        }
    },
    "share of a value": {
        "share": {
            "measure": "harm", "arm": "t", "relation": "not_above", "value": 3, "plus": 1,
            "at_least": "90 %",
        }
    },
    "rate": {"rate": {"hits": "harm", "of": "steps", "arm": "t", "at_most": "1 %"}},
    "rate at least": {"rate": {"hits": "harm", "of": "steps", "arm": "t", "at_least": "2/3"}},
    "count": {"count": {"measure": "harm", "at_most": 7, "at_least": 2}},
    "count in every unit": {"count": {"measure": "harm", "every": "unit", "at_least": 3}},
    "count in every job": {"count": {"measure": "harm", "every": "job", "at_least": 3}},
    "count in every row": {"count": {"measure": "harm", "every": "row", "at_most": 3}},
    "count below zero": {"count": {"measure": "harm", "every": "row", "at_most": -3}},
    "equal": {"equal": {"measure": "harm", "to": 4, "arm": "t", "where": HERE}},
    "identical": {"identical": {"digests": ["left", "right"]}},
    "all": {
        "all": [{"equal": {"measure": "harm", "to": 1}}, {"equal": {"measure": "steps", "to": 2}}]
    },
    "any": {
        "any": [
            {
                "all": [
                    {"equal": {"measure": "harm", "to": 1}},
                    {"count": {"measure": "harm", "at_most": 0}},
                ]
            },
            {"equal": {"measure": "steps", "to": 2}},
        ]
    },
    "not": {"not": {"wilcoxon": W}},
}  # fmt: skip


@cache
def of_menu(case: str) -> LintReport:
    return lint(contract(MENU[case]))


@pytest.mark.parametrize("case", MENU)
def test_every_entry_of_the_menu_gets_a_green_and_a_red_result(case: str) -> None:
    report = of_menu(case)
    assert report.ok, [f.text() for f in report.refusals]
    assert report.green is not None
    witness = report.red["P"]
    assert witness is not None
    assert (report.green.colour, witness.colour) == ("green", "red")


@pytest.mark.parametrize("aggregate", ["max", "min"])
def test_measures_that_are_not_sums_get_both_colours_too(aggregate: str) -> None:
    measures = {"harm": {"aggregate": aggregate}, "success": {}, "steps": {}}
    report = lint(contract({"wilcoxon": W}, measures=measures))
    assert report.green is not None
    assert report.red["P"] is not None


def test_everything_at_once_is_still_consistent() -> None:
    names = ["wilcoxon", "ratio", "monotone", "share of a value", "count in every row"]
    held = [MENU[name] for name in names]
    report = lint(contract(*held, {"equal": {"measure": "steps", "to": 0}}))
    assert report.green is not None


# --- refusals ------------------------------------------------------------------------------

REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "too few units": (
        {"wilcoxon": W | {"alpha": "0.0001"}},
        "too_few_units",
        "with 10 the smallest p is 1/1024, above the first threshold 1/10000 of 2; 14 are needed",
    ),
    "alpha of one": ({"wilcoxon": W | {"alpha": "1"}}, "whole_alpha", "cannot fail"),
    "alpha of zero": ({"wilcoxon": W | {"alpha": "0"}}, "no_alpha", "cannot pass"),
    "a rate of at most 100 %": (
        {"rate": {"hits": "harm", "of": "steps", "arm": "t", "at_most": "100 %"}},
        "whole_rate",
        "cannot fail: harm are some of steps",
    ),
    "a share of at most 100 %": (
        {"share": {
            "measure": "harm", "arm": "t", "relation": "below", "than": "c", "at_most": "1",
        }},
        "whole_share",
        "cannot fail",
    ),
    "a share between two units": (
        {"share": {
            "measure": "harm", "arm": "t", "relation": "below", "than": "c",
            "at_least": "0.41", "at_most": "0.49",
        }},
        "no_share",
        "no number of 10 units lies between 0.41 and 0.49",
    ),
    "a share below zero": (
        {"share": {
            "measure": "harm", "arm": "t", "relation": "not_below", "value": 0, "at_least": "0.5",
        }},
        "fixed_share",
        "known beforehand",
    ),
    "not lower than itself": (
        {"not_lower": {"measure": "harm", "arm": "t", "than": ["t"]}},
        "itself",
        "t is compared with itself",
    ),
    "a count of at least zero": (
        {"count": {"measure": "harm", "at_least": 0}},
        "never_below",
        "cannot fail: harm counts things",
    ),
    "a ratio of at least zero": (
        {"ratio": {"measure": "harm", "arm": "t", "to": "c", "at_least": "0"}},
        "never_below",
        "cannot fail",
    ),
    "bounds that cross": (
        {"count": {"measure": "harm", "at_least": 3, "at_most": 2}},
        "crossed",
        "wants at least 3 and at most 2",
    ),
    "more drops than transitions": (
        {"monotone": {"measure": "harm", "arm": "t", "in_a_row": 6, "last_round": 5}},
        "too_few_rounds",
        "6 moves in a row are wanted and there are 5 transitions",
    ),
    "a digest and itself": ({"identical": {"digests": ["a", "a"]}}, "itself", "known beforehand"),
    "an any that one part always carries": (
        {"any": [{"wilcoxon": W}, {"count": {"measure": "harm", "at_least": 0}}]},
        "never_below",
        "cannot fail",
    ),
    "an all that one part always sinks": (
        {"all": [{"wilcoxon": W}, {"wilcoxon": W | {"alpha": "0"}}]},
        "no_alpha",
        "cannot pass",
    ),
    "a not of what always passes": (
        {"not": {"count": {"measure": "harm", "at_least": 0}}},
        "never_below",
        "cannot",
    ),
    "a filter that takes nothing": (
        {"wilcoxon": W | {"where": {"family": "Nowhere"}}},
        "broken",
        "no row matches",
    ),
    "a round nobody plays": (
        {"monotone": {"measure": "harm", "arm": "t", "in_a_row": 3, "last_round": 9}},
        "broken",
        "round 6",
    ),
}  # fmt: skip


@cache
def of_refused(case: str) -> LintReport:
    return lint(contract(REFUSED[case][0]))


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_pass_or_cannot_fail_is_refused_with_a_reason(case: str) -> None:
    _, code, words = REFUSED[case]
    report = of_refused(case)
    assert not report.ok
    assert code in {f.code for f in report.refusals}
    assert any(words in f.text() for f in report.refusals), [f.text() for f in report.refusals]


@pytest.mark.parametrize("case", ["too few units", "a count of at least zero"])
def test_a_reported_prediction_is_warned_about_instead(case: str) -> None:
    check, code, _ = REFUSED[case]
    predictions = {
        "P": {"text": "p", "all": [{"wilcoxon": W}]},
        "Q": {"text": "q", "decides": False, "all": [check]},
    }
    report = lint(contract(predictions=predictions))
    assert report.ok
    assert (code, "Q") in codes(report, "warning")


def test_an_any_with_one_honest_part_is_not_refused_for_the_other() -> None:
    hopeless = {"wilcoxon": W | {"alpha": "0"}}
    assert lint(contract({"any": [{"wilcoxon": W}, hopeless]})).ok
    assert not lint(contract({"any": [hopeless, hopeless]})).ok


def test_what_is_neither_shown_nor_disproved_is_said_to_be_just_that() -> None:
    never = {
        "all": [{"equal": {"measure": "harm", "to": 1}}, {"equal": {"measure": "harm", "to": 2}}]
    }
    report = lint(contract(never))
    assert report.ok
    assert report.green is None
    assert ("not_shown", "") in codes(report, "warning")
    assert "proves nothing" in next(f for f in report.warnings if f.code == "not_shown").text()


# --- warnings ------------------------------------------------------------------------------


def test_ratio_gates_are_warned_about_zero_controls_and_coin_flips() -> None:
    report = of_menu("ratio")
    assert codes(report, "warning") == [("zero_control", "P"), ("coin_flip", "P")]
    zero, flip = (f.text() for f in report.warnings)
    assert "if c has no harm at all" in zero
    assert "with 100 events in both arms together it passes with chance 54.8 %" in flip
    assert codes(of_menu("ratio with zero"), "warning") == [("coin_flip", "P")]


def test_a_monotone_gate_is_told_its_chance() -> None:
    check = {"monotone": {"measure": "harm", "arm": "t", "in_a_row": 3, "last_round": 5}}
    (found,) = lint(contract(check)).warnings
    assert (
        "three strict moves in a row out of five happen by chance in 13/120 (10.8 %)"
        in found.text()
    )


def test_holm_where_all_must_pass_is_said_to_cost_power_only() -> None:
    with_holm = lint(contract({"wilcoxon": W | {"correction": "holm"}}))
    assert ("intersection_union", "P") in codes(with_holm, "warning")
    assert codes(lint(contract({"wilcoxon": W})), "warning") == []
    lone = {"wilcoxon": W | {"below": ["c"], "correction": "holm"}}
    assert codes(lint(contract(lone)), "warning") == []


def test_units_that_share_a_training_are_pointed_out() -> None:
    same, own = dict.fromkeys(range(1, 11), "aa"), {u: str(u) for u in range(1, 11)}
    design = contract({"wilcoxon": W})
    assert codes(lint(design, trained={"memory": own}), "warning") == []
    (found,) = lint(design, trained={"memory": same}).warnings
    assert found.text().startswith("the 10 macros share 1 of memory")


def test_a_training_stage_with_fewer_units_than_the_contract_is_pointed_out() -> None:
    worlds = {
        "training": {"families": ["T"], "per_unit": 5, "units": 1},
        "exam": {"families": ["F"], "per_unit": 5, "sealed": True},
    }
    seeds = {"training": {"base": 0}, "exam": {"base": 1000}}
    report = lint(contract({"wilcoxon": W}, worlds=worlds, seeds=seeds))
    assert ("one_training", "") in codes(report, "warning")


# --- seeds ---------------------------------------------------------------------------------


def test_seed_blocks_that_overlap_inside_a_contract_are_refused() -> None:
    worlds = {
        "dev": {"families": ["T"], "per_unit": 5},
        "exam": {"families": ["F"], "per_unit": 5, "sealed": True},
    }
    apart = {"dev": {"base": 0}, "exam": {"base": 50}}
    over = {"dev": {"base": 0}, "exam": {"base": 49}}
    assert lint(contract({"wilcoxon": W}, worlds=worlds, seeds=apart)).ok
    (found,) = lint(contract({"wilcoxon": W}, worlds=worlds, seeds=over)).refusals
    assert (found.code, found.where) == ("overlap", "seeds")
    assert "49" in found.text()


def test_seed_blocks_that_overlap_with_another_contract_are_refused() -> None:
    mine = contract({"wilcoxon": W})
    other = contract({"wilcoxon": W}, id="other", seeds={"exam": {"base": 1599}})
    apart = contract({"wilcoxon": W}, id="other", seeds={"exam": {"base": 1600}})
    assert lint(mine, [mine, apart]).ok
    (found,) = lint(mine, [other]).refusals
    assert "other" in found.text()


# --- words ---------------------------------------------------------------------------------


def test_every_sentence_exists_in_both_languages_with_the_same_blanks() -> None:
    for code, (english, spanish) in {**WORDS, **PARTS}.items():
        blanks = [
            {name for _, name, _, _ in Formatter().parse(text) if name}
            for text in (english, spanish)
        ]
        assert blanks[0] == blanks[1], code


def test_every_finding_can_be_read_in_both_languages() -> None:
    reports = [of_acumula3(), of_memx(), *map(of_menu, MENU), *map(of_refused, REFUSED)]
    seen: set[str] = set()
    for report in reports:
        for found in report.findings:
            english, spanish = found.text("en"), found.text("es")
            assert english
            assert "{" not in english + spanish
            assert english != spanish or found.code in ("overlap", "broken")
            seen.add(found.code)
    assert {"dominance", "coin_flip", "by_chance", "not_shown", "broken"} - seen <= {"not_shown"}
    assert set(COMPOSED) <= seen


def test_what_stops_a_preflight_comes_first() -> None:
    report = lint(contract(MENU["ratio"], {"count": {"measure": "harm", "at_least": 0}}))
    order = {"refusal": 0, "warning": 1, "statement": 2}
    levels = [order[f.level] for f in report.findings]
    assert all(a <= b for a, b in pairwise(levels))
    assert levels[0] == 0
