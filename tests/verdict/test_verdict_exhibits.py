"""What the contract asked to see: numbers that decide nothing and are exact all the same."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

from verdict_design import contract, outcomes

from echoctl.track import Outcome
from echoctl.verdict import Standins, Verdict, decide
from echoctl.verdict.shown import CurveResult, LogResult, PublishedResult, TableResult

CHECK = {"count": {"measure": "harm", "at_least": 0}}
WORLDS = {
    "exam": {"families": ["F", "G"], "per_unit": 1, "rounds": 3, "sealed": True},
}
BETTER = {"harm": {"better": "lower"}, "success": {"better": "higher"}, "steps": {}}


def shown(
    exhibit: dict[str, Any], played: list[Outcome] | None = None, units: int = 2, **more: Any
) -> Any:
    design = contract(
        CHECK, units=units, worlds=WORLDS, exhibits=[exhibit], **{"measures": BETTER, **more}
    )
    if played is None:
        played = two_units()
    return decide(design, played).exhibits[0]


def two_units() -> list[Outcome]:
    """Arm t: harm 10 - round in F and round in G; arm c: always 5. Unit 2 has 1 more."""

    def harm(arm: str, unit: int, regime: str, family: str, number: int) -> int:
        if arm == "c":
            return 5
        return (10 - number if family == "F" else number) + (unit - 1)

    def steps(arm: str, unit: int, regime: str, family: str, number: int) -> int:
        return 700 + number if arm == "t" and family == "F" and unit <= number else 0

    return outcomes(2, ("t", "c"), ("A1",), rounds=(1, 2, 3), harm=harm, steps=steps)


def test_a_curve_adds_up_all_units_of_a_round() -> None:
    found = shown({"curve": {"measure": "harm", "where": {"family": "F"}}})
    assert isinstance(found, CurveResult)
    assert found.rounds == (1, 2, 3)
    assert [(line.arm, list(map(int, line.totals))) for line in found.lines] == [  # type: ignore[arg-type]
        ("t", [19, 17, 15]),
        ("c", [10, 10, 10]),
    ]


def test_a_curve_has_a_gap_where_an_arm_played_no_round() -> None:
    played = two_units()
    late = [
        replace(o, rows=tuple(r for r in o.rows if r[2] != 1)) if o.keys["arm"] == "c" else o
        for o in played
    ]
    found = shown({"curve": {"measure": "harm", "arms": ["c"]}}, late)
    assert found.rounds == (2, 3)
    both = shown({"curve": {"measure": "harm"}}, late)
    assert both.lines[1].totals == (None, 20, 20)


def test_a_family_that_got_worse_is_told_as_worse_and_one_that_got_better_as_better() -> None:
    exhibit = {
        "table": {"measures": ["harm"], "by": "family", "arms": ["t"], "where": {"round": 3},
                  "against": {"round": 1}},
    }  # fmt: skip
    found = shown(exhibit)
    assert isinstance(found, TableResult)
    lines: list[Any] = [(x.name, x.before, x.totals, x.moves) for x in found.lines]
    assert lines == [("F", (19,), (15,), ("better",)), ("G", (3,), (7,), ("worse",))]
    higher = {"harm": {"better": "higher"}, "success": {}, "steps": {}}
    assert [x.moves for x in shown(exhibit, measures=higher).lines] == [("worse",), ("better",)]
    neither: dict[str, Any] = {"harm": {}, "success": {}, "steps": {}}
    assert [x.moves for x in shown(exhibit, measures=neither).lines] == [("lower",), ("higher",)]


def test_sums_over_different_numbers_of_rows_are_compared_row_for_row() -> None:
    exhibit = {
        "table": {"measures": ["harm"], "by": "family", "arms": ["c"], "where": {"round": [2, 3]},
                  "against": {"round": 1}},
    }  # fmt: skip
    (first, _) = shown(exhibit).lines
    assert (first.before, first.totals, first.rows_before, first.rows) == ((10,), (20,), 2, 4)
    assert first.moves == ("same",)


def test_a_table_compares_by_the_measures_own_aggregate_and_scale() -> None:
    exhibit = {"table": {"measures": ["harm"], "by": "round", "arms": ["t"]}}
    most = {"harm": {"aggregate": "max", "scale": 2}, "success": {}, "steps": {}}
    assert [x.totals for x in shown(exhibit, measures=most).lines] == [
        (Fraction(10, 2),), (Fraction(9, 2),), (Fraction(8, 2),),
    ]  # fmt: skip


def test_a_line_that_only_one_side_has_is_not_left_out() -> None:
    exhibit = {
        "table": {"measures": ["harm"], "by": "round", "arms": ["t"], "where": {"round": [2, 3]},
                  "against": {"round": [1, 2]}},
    }  # fmt: skip
    assert [(x.name, x.moves, x.rows, x.rows_before) for x in shown(exhibit).lines] == [
        (1, ("",), 0, 4), (2, ("same",), 4, 4), (3, ("",), 4, 0),
    ]  # fmt: skip


def test_a_log_counts_units_and_rows_of_each_value_and_adds_up_what_stands_beside() -> None:
    found = shown({"log": {"measure": "steps", "by": "round", "beside": ["harm"]}})
    assert isinstance(found, LogResult)
    lines: list[Any] = [(x.arm, x.name, x.value, x.units, x.rows, x.beside) for x in found.lines]
    assert lines == [
        ("t", 1, 701, 1, 1, (9,)), ("t", 2, 702, 2, 2, (17,)), ("t", 3, 703, 2, 2, (15,)),
    ]  # fmt: skip


def test_a_log_keeps_only_the_rows_and_arms_that_it_was_asked_for() -> None:
    log = {"measure": "harm", "by": "unit", "arms": ["t"], "where": {"family": "G", "round": 1}}
    assert [(x.name, x.value) for x in shown({"log": log}).lines] == [(1, 1), (2, 2)]
    assert shown({"log": {**log, "only": ["success"]}}).lines == ()
    assert shown({"log": {**log, "only": ["success", "steps"], "where": {"round": 1}}}).lines == (
        shown({"log": {**log, "where": {"round": 1, "family": "F"}, "only": ["steps"]}}).lines
    )


def test_a_published_figure_stands_beside_the_mean_a_unit_of_this_exam() -> None:
    figures = [
        {"measure": "harm", "arm": "t", "mean": "8,5", "where": {"family": "F", "round": 1}},
        {"measure": "steps", "arm": "c", "mean": 3, "where": {"round": 1}},
    ]
    found = shown({"published": {"figures": figures}})
    assert isinstance(found, PublishedResult)
    assert [(x.arm, x.published, x.here, x.units) for x in found.lines] == [
        ("t", Fraction(17, 2), Fraction(19, 2), 2), ("c", 3, 0, 2),
    ]  # fmt: skip


def test_a_published_figure_that_nobody_played_here_says_nothing_of_this_exam() -> None:
    figure = {"measure": "harm", "arm": "t", "mean": 1, "where": {"round": 3}}
    early = [replace(o, rows=tuple(r for r in o.rows if r[2] != 3)) for o in two_units()]
    (line,) = shown({"published": {"figures": [figure]}}, early).lines
    assert (line.here, line.units) == (None, 0)


def test_exhibits_follow_the_stand_ins_of_development() -> None:
    exhibit = {"table": {"measures": ["harm"], "by": "family", "where": {"family": "X"}}}
    worlds = {"exam": {**WORLDS["exam"], "families": ["X", "G"]}}
    design = contract(CHECK, units=2, worlds=worlds, measures=BETTER, exhibits=[exhibit])
    found = decide(design, two_units(), standins=Standins({"X": "F"}))
    table = found.exhibits[0]
    assert isinstance(table, TableResult)
    assert {line.name for line in table.lines} == {"F"}


def test_a_contract_that_asks_for_no_numbers_has_none_in_its_verdict() -> None:
    def keys(exhibits: list[dict[str, Any]]) -> set[str]:
        design = contract(CHECK, units=2, worlds=WORLDS, exhibits=exhibits)
        return set(json.loads(decide(design, two_units()).as_bytes()))

    assert "exhibits" not in keys([])
    assert "exhibits" not in keys([{"gif": {"arms": ["t"]}}])
    assert "exhibits" in keys([{"curve": {"measure": "harm"}}])


def test_an_optional_arm_that_nobody_played_is_named_in_the_verdict() -> None:
    arms: list[dict[str, Any]] = [
        {"id": "t", "kind": "treatment", "gloss": "t"},
        {"id": "c", "kind": "control", "gloss": "c"},
        {"id": "llm", "kind": "reported", "gloss": "m", "optional": True},
    ]  # fmt: skip

    def skipped(names: tuple[str, ...]) -> list[Any]:
        played = outcomes(2, names, ("A1",), rounds=(1, 2, 3))
        found: Verdict = decide(contract(CHECK, units=2, worlds=WORLDS, arms=arms), played)
        return [w.facts["arm"] for w in found.warnings if w.code == "skipped_arm"]

    assert skipped(("t", "c")) == ["llm"]
    assert skipped(("t", "c", "llm")) == []
