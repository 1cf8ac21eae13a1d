"""The verdict as data: stable bytes, no float, every number, whatever the order."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from verdict_design import COLUMNS, contract, harm, outcomes, verdict

from echoctl.track import Outcome
from echoctl.verdict import Standins, decide, decimal, exact_text
from echoctl.verdict.results import WilcoxonResult

HERE = {"regime": "A1", "family": "F"}
TEST = {
    "measure": "harm",
    "arm": "t",
    "below": ["c", "d"],
    "where": HERE,
    "alpha": "0.01",
    "correction": "holm",
}
WILCOXON = {"wilcoxon": TEST}
tables = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6)), min_size=4, max_size=8
)


def from_table(table: list[tuple[int, int, int]]) -> list[Outcome]:
    def value(arm: str, unit: int, regime: str, family: str, number: int) -> int:
        return table[unit - 1]["tcd".index(arm)] if (regime, family) == ("A1", "F") else 9

    return outcomes(units=len(table), harm=value)


@given(tables, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_outcomes_and_rows_never_changes_a_byte(
    table: list[tuple[int, int, int]], chance: Any
) -> None:
    played = from_table(table)
    design = contract(WILCOXON, units=len(table))
    expected = decide(design, played).as_bytes()
    shuffled = [replace(o, rows=tuple(chance.sample(o.rows, len(o.rows)))) for o in played]
    chance.shuffle(shuffled)
    assert decide(design, iter(shuffled)).as_bytes() == expected


@given(tables, st.integers(2, 10**30))
@settings(max_examples=40, deadline=None)
def test_multiplying_every_value_changes_no_p_and_no_colour(
    table: list[tuple[int, int, int]], factor: int
) -> None:
    ratio = {"ratio": {"measure": "harm", "arm": "t", "to": "c", "where": HERE, "at_most": "0.5"}}
    design = contract(WILCOXON, ratio, units=len(table))
    first = decide(design, from_table(table))
    other = decide(design, from_table([tuple(v * factor for v in row) for row in table]))  # type: ignore[misc]
    assert first.colour == other.colour

    def ps(found: Any) -> list[Fraction]:
        return [test.p.value for test in found.prediction("P").checks[0].tests]

    assert ps(first) == ps(other)


@given(tables)
@settings(max_examples=40, deadline=None)
def test_swapping_the_arms_swaps_wins_and_losses(table: list[tuple[int, int, int]]) -> None:
    def tests(rows: list[tuple[int, int, int]]) -> Any:
        design = contract({"wilcoxon": {**TEST, "below": ["c"]}}, units=len(rows))
        return decide(design, from_table(rows)).prediction("P").checks[0].tests[0]  # type: ignore[union-attr]

    one, other = tests(table), tests([(c, t, d) for t, c, d in table])
    assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)
    assert one.estimates.rank_biserial == -other.estimates.rank_biserial
    assert one.p.value + other.p.value >= 1


def test_the_verdict_holds_no_float_and_reads_back_the_same() -> None:
    found = verdict(WILCOXON, outcomes(harm=harm(1, 2, 3)))
    text = found.as_bytes()
    assert text.endswith(b"}\n")

    def refuse(number: str) -> None:
        raise AssertionError(number)

    back = json.loads(text, parse_float=refuse)
    assert back["schema"] == "echoctl/verdict/1"
    (test, _) = back["predictions"][0]["checks"][0]["tests"]
    assert test["p"] == {
        "k": 1,
        "n": 10,
        "value": {"exact": "1/1024", "decimal": "0.000976562"},
    }
    assert test["threshold"] == {"exact": "1/200", "decimal": "0.005"}


def test_integers_beyond_what_json_keeps_travel_as_strings() -> None:
    huge = 10**40
    found = verdict(
        {"count": {"measure": "harm", "arm": "t", "at_most": huge * 10}},
        outcomes(harm=harm(huge, 0)),
    )
    check = json.loads(found.as_bytes())["predictions"][0]["checks"][0]
    assert check["high"]["exact"] == f"{10 * huge}/1"
    assert found.green


def test_the_table_has_every_cell_with_totals_and_means_as_exact_text() -> None:
    found = verdict(WILCOXON, outcomes(harm=lambda a, u, *_: 1 if u <= 7 else 0))
    table = json.loads(found.as_bytes())["table"]
    assert len(table) == 3 * 2 * 2
    assert table[0] == {
        "stage": "exam",
        "family": "F",
        "regime": "A1",
        "arm": "t",
        "round": 1,
        "units": 10,
        "rows": 10,
        "totals": {"harm": "7", "steps": "0", "success": "0"},
        "means": {"harm": "0.7", "steps": "0", "success": "0"},
    }


def three(**labels: Any) -> Any:
    def gate(measure: str) -> dict[str, Any]:
        return {"equal": {"measure": measure, "to": 0}}

    rules = [
        {"when": {"pass": ["P1"], "fail": ["P2"]}, "text": "identity, not role"},
        {"when": {"pass": ["P1", "P2"]}, "text": "both"},
    ]
    return contract(
        predictions={
            "P1": {"text": "1", "all": [gate("harm")]},
            "P2": {"text": "2", "all": [gate("success")]},
            "P3": {"text": "3", "decides": False, "all": [gate("steps")]},
        },
        verdict={"green": ["P1", "P2"], "labels": rules},
        **labels,
    )


def test_green_needs_each_deciding_prediction_and_never_a_reported_one() -> None:
    names = {"P1": "harm", "P2": "success", "P3": "steps"}
    for size in range(4):
        for red in combinations(names, size):
            measures: Any = {names[p]: (lambda *_: 1) for p in red}
            found = decide(three(), outcomes(**measures))
            assert found.colour == ("red" if {"P1", "P2"} & set(red) else "green")
            assert {p.id: p.passed for p in found.predictions} == {p: p not in red for p in names}


def test_labels_go_with_what_passed_and_what_failed() -> None:
    assert decide(three(), outcomes()).labels == ("both",)
    assert decide(three(), outcomes(success=lambda *_: 1)).labels == ("identity, not role",)
    assert decide(three(), outcomes(harm=lambda *_: 1)).labels == ()


def test_a_broken_invariant_turns_an_otherwise_green_verdict_red() -> None:
    held = three(invariants=[{"equal": {"measure": "steps", "to": 0}}])
    assert decide(held, outcomes()).green
    found = decide(held, outcomes(steps=lambda a, u, *_: int((a, u) == ("d", 9))))
    assert not found.green
    assert "arm d, round 1, unit 9" in found.invariants[0].worst_at  # type: ignore[union-attr]


def test_standins_rename_the_filters_families_and_stages() -> None:
    played = [
        replace(o, rows=tuple(("development", "Dev", *row[2:]) for row in o.rows[:1]))
        for o in outcomes(harm=harm(1, 2, 3))
    ]
    test = {**TEST, "where": {"regime": "A1", "family": "F", "stage": "exam"}}
    standins = Standins({"F": "Dev"}, {"exam": "development"})
    found = decide(contract({"wilcoxon": test}), played, mark="DEVELOPMENT", standins=standins)
    assert found.green
    assert found.mark == "DEVELOPMENT"


def test_memory_does_not_grow_with_rows() -> None:
    def peak(parts: int) -> int:
        def jobs() -> Iterator[Outcome]:
            for unit in range(1, 11):
                for arm in ("t", "c"):
                    for part in range(parts):
                        first = part * 200
                        rows = [("exam", "F", 1, first + e, e, e % 3, 0, 0) for e in range(200)]
                        keys = {"unit": unit, "arm": arm, "regime": "A1"}
                        yield Outcome(f"{unit}-{arm}-{part}", keys, COLUMNS, rows)

        gate = {"not_higher": {"measure": "harm", "arm": "t", "than": ["c"]}}
        tracemalloc.start()
        decide(contract(gate), jobs())
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    more_rows = 10 * 2 * 200 * (16 - 1)
    assert peak(16) - peak(1) < more_rows * 5  # bytes; a row held as a tuple takes over a hundred


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(1, 1024), "0.000976562"),
        (Fraction(1, 300), "0.00333333"),
        (Fraction(1, 2**200), "0." + "0" * 60 + "622302"),
        (Fraction(-7, 2), "-3.5"),
        (Fraction(9_999_999, 10_000_000), "1"),
        (Fraction(2**70, 3), "393530540239137101141.3"),
        (12, "12"),
        (Fraction(0), "0"),
    ],
)
def test_decimals_are_for_reading_and_never_show_zero_for_more(value: Fraction, text: str) -> None:
    assert decimal(value) == text


@given(st.fractions(max_denominator=10**9))
def test_exact_text_reads_back_as_the_same_number(value: Fraction) -> None:
    assert Fraction(exact_text(value)) == value


def test_a_family_of_tests_says_how_many_were_registered() -> None:
    found = verdict(WILCOXON, outcomes(harm=harm(1, 2, 3))).prediction("P").checks[0]
    assert isinstance(found, WilcoxonResult)
    assert (found.family, len(found.tests)) == (2, 2)
