"""The verifier's arithmetic against the reference cases, the exact room and the verdict room."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import exam_builder as builder
import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from echoctl import verify
from echoctl.contract.canonical import canonical_bytes
from echoctl.track import Outcome, Value
from echoctl.verdict import decide

DATA = Path(__file__).parents[1] / "data"


def integers(case: dict[str, Any]) -> list[int]:
    """Return x - y of a reference case as integers on one scale."""
    read = float if case["number_semantics"] == "binary64" else lambda text: Decimal(str(text))
    exact = [
        Fraction(read(x)) - Fraction(read(y)) for x, y in zip(case["x"], case["y"], strict=True)
    ]
    scale = 1
    for value in exact:
        scale = scale * value.denominator // _gcd(scale, value.denominator)
    return [int(value * scale) for value in exact]


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def test_every_reference_p_is_reproduced_as_a_fraction() -> None:
    cases = json.loads((DATA / "wilcoxon.json").read_text("utf-8"))
    checked = 0
    for case in cases:
        if case["zero_method"] not in ("wilcox", "pratt") or len(case["x"]) > 300:
            continue
        sign = {"greater": 1, "less": -1, "two-sided": 1}[case["alternative"]]
        p = verify.signed_rank_p(
            [sign * d for d in integers(case)],
            two_sided=case["alternative"] == "two-sided",
            pratt=case["zero_method"] == "pratt",
        )
        assert p == Fraction(int(case["p_num"]), int(case["p_den"])), case["name"]
        checked += 1
    assert checked > 100


def test_every_reference_ladder_is_reproduced() -> None:
    cases = json.loads((DATA / "holm.json").read_text("utf-8"))
    checked = 0
    for case in cases:
        if case["status"] != "ok":
            continue
        adjusted, reject = verify.holm([Fraction(p) for p in case["p"]], Fraction(case["alpha"]))
        assert adjusted == [Fraction(int(n), int(d)) for n, d in case["adjusted"]], case["name"]
        assert reject == case["reject"], case["name"]
        checked += 1
    assert checked > 10


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=14))
def test_counting_sums_in_a_table_agrees_with_every_pattern(weights: list[int]) -> None:
    sizes = verify.doubled_ranks([abs(w) for w in weights])
    brute = verify.sums_of_subsets(sizes)
    limit, verify.MAX_BRUTE = verify.MAX_BRUTE, 0
    try:
        assert verify.sums_of_subsets(sizes) == brute
    finally:
        verify.MAX_BRUTE = limit


@given(st.lists(st.fractions(0, 1), min_size=1, max_size=7), st.sampled_from(["1/100", "1/20"]))
def test_the_shortcut_of_closed_testing_is_closed_testing(ps: list[Fraction], alpha: str) -> None:
    padded = [*ps, *[Fraction(1)] * (13 - len(ps))]
    long, _ = verify.holm(padded, Fraction(alpha))
    order = sorted(range(13), key=lambda i: padded[i])
    running = Fraction(0)
    for place, i in enumerate(order):
        running = max(running, min(padded[i] * (13 - place), Fraction(1)))
        assert long[i] == running


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_canonical_bytes_are_those_of_rfc_8785(value: Any) -> None:
    try:
        expected = rfc8785.dumps(value)
    except (UnicodeEncodeError, rfc8785.CanonicalizationError):
        with pytest.raises(ValueError, match=r"\w"):
            verify.canonical(value)
        return
    assert verify.canonical(value) == expected
    assert verify.parse(expected) == value


@pytest.mark.parametrize(
    "text",
    ["1.0", "1e3", "NaN", "Infinity", '{"a":1,"a":1}', '{"b":1,"a":1}', " 1", "-0", "01",
     "9007199254740992", '"\\u0041"', "[1, 2]", "[1]\n", ""],
)  # fmt: skip
def test_any_other_spelling_of_a_value_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        verify.parse(text.encode())


COMPARED = {
    "wilcoxon": {"measure": "harm", "arm": "learned", "below": ["empty"], "alpha": "0.05"},
    "holm": {"measure": "harm", "arm": "learned", "below": ["empty"], "above": ["shuffled"],
             "alpha": "1/10", "correction": "holm", "where": {"family": "Near"}},
    "both": {"measure": "harm", "arm": "learned", "differs_from": ["empty", "shuffled"],
             "alpha": "1/10", "correction": "holm"},
    "most": {"measure": "harm", "arm": "learned", "to": "empty", "at_most": "0.30"},
    "least": {"measure": "harm", "arm": "learned", "to": "empty", "at_least": "1/3",
              "if_control_zero": "pass_if_zero", "where": {"regime": ["A1"]}},
    "lower": {"measure": "success", "arm": "learned", "than": ["empty", "shuffled"]},
    "higher": {"measure": "harm", "arm": "learned", "than": ["empty"],
               "where": {"round": [3, 4]}, "against": {"round": [1, 2]}},
    "share": {"measure": "harm", "arm": "learned", "relation": "not_above", "than": "empty",
              "plus": 1, "at_least": "75 %"},
    "fixed": {"measure": "harm", "arm": "learned", "relation": "below", "value": 9,
              "at_most": "5 %"},
    "rate": {"hits": "harm", "of": "success", "arm": "learned", "at_most": "1/2"},
    "total": {"measure": "harm", "at_most": 900},
    "unit": {"measure": "harm", "arm": "learned", "every": "unit", "at_least": 3},
    "job": {"measure": "harm", "every": "job", "at_most": 40, "at_least": 0},
    "row": {"measure": "harm", "arm": "empty", "every": "row", "at_most": 9},
    "equal": {"measure": "destroyed", "to": 0},
    "monotone": {"measure": "harm", "arm": "learned", "in_a_row": 2, "first_round": 1,
                 "last_round": 4, "guard": {"measure": "success", "may_not": "fall"}},
}  # fmt: skip
KINDS = {
    "holm": "wilcoxon", "both": "wilcoxon", "most": "ratio", "least": "ratio",
    "lower": "not_lower", "higher": "not_higher", "fixed": "share", "total": "count",
    "unit": "count", "job": "count", "row": "count",
}  # fmt: skip
SHOWN: list[dict[str, Any]] = [
    {"curve": {"measure": "harm", "where": {"family": "Near"}}},
    {"curve": {"measure": "success", "arms": ["empty", "learned"]}},
    {"table": {"measures": ["harm", "success"], "by": "family", "where": {"round": 4},
               "against": {"round": [1, 2]}}},
    {"table": {"measures": ["destroyed"], "by": "unit", "arms": ["learned"]}},
    {"table": {"measures": ["success"], "by": "round", "where": {"round": [2, 3]},
               "against": {"regime": "A1", "round": [1, 2]}}},
    {"log": {"measure": "harm", "by": "round", "beside": ["success", "harm"]}},
    {"published": {"figures": [
        {"measure": "harm", "arm": "learned", "mean": "24", "where": {"round": 2}},
        {"measure": "success", "arm": "empty", "mean": "49,6", "where": {"regime": "A2"}}]}},
    {"log": {"measure": "success", "by": "family", "only": ["harm", "destroyed"],
             "arms": ["empty"], "where": {"regime": "A2", "round": [1, 4]}}},
]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_both_opinions_agree_on_every_number_of_the_whole_menu(data: st.DataObject) -> None:
    units, rounds = data.draw(st.integers(1, 8)), 4
    checks = [{KINDS.get(name, name): spec} for name, spec in COMPARED.items()]
    checks += [{"not": checks[0]}, {"any": checks[3:5]}, {"all": checks[:2]}]
    terms = builder.contract(
        units=units, episodes=1,
        worlds={"exam": {"families": list(builder.FAMILIES), "per_unit": 1, "rounds": rounds,
                         "sealed": True}},
        exhibits=SHOWN,
        measures={"harm": {"scale": 10, "better": "lower"}, "success": {"aggregate": data.draw(
            st.sampled_from(["sum", "max", "min"]))}, "destroyed": {}},
        predictions={
            **{f"P{i}": {"text": "p", "all": [check]} for i, check in enumerate(checks)
               if "rate" not in check},
        },
        verdict={"green": ["P0", "P3"], "labels": [
            {"when": {"pass": ["P1"], "fail": ["P4"]}, "text": "one"},
            {"when": {"fail": ["P1"]}, "text": "two"}]},
    )  # fmt: skip
    spread, chance = data.draw(st.sampled_from([1, 3, 12])), data.draw(st.randoms())
    outcomes, table = [], verify.Table(json.loads(canonical_bytes(terms)))
    table.logs = [(spec, {}) for spec in verify.asked(table.contract, "log")]
    for unit in range(1, units + 1):
        for arm in builder.ARMS:
            for regime in builder.REGIMES:
                rows = [
                    (
                        "exam",
                        family,
                        r,
                        0,
                        0,
                        0,
                        chance.randint(0, spread),
                        chance.randint(0, spread),
                    )
                    for family in builder.FAMILIES
                    for r in range(1, rounds + 1)
                ]
                job = f"{unit}-{arm}-{regime.lower()}"
                keys: dict[str, Value] = {"arm": arm, "regime": regime, "unit": unit}
                columns = (*builder.ROWS, *builder.MEASURES)
                outcomes.append(Outcome(job, keys, columns, tuple(rows), {}))
                table.digests[job] = (arm, {})
                for row in rows:
                    cell = verify.Cell(job, unit, arm, regime, "exam", row[1], row[2], rows=1)
                    cell.fold(builder.MEASURES, [(value,) for value in row[5:]])
                    table.cells.append(cell)
                    verify.tell(table, cell, dict(zip(builder.MEASURES, row[5:], strict=True)))
    theirs = json.loads(decide(terms, outcomes).as_bytes())
    assert [shown["kind"] for shown in theirs["exhibits"]] == [next(iter(one)) for one in SHOWN]
    assert list(verify.differences(verify.verdict_of(table), theirs, "")) == []


def test_the_second_opinion_counts_what_the_exhibits_show_from_the_rows_themselves() -> None:
    shown = [
        {"table": {"measures": ["harm"], "by": "family", "where": {"regime": "A1"},
                   "against": {"regime": "A2"}}},
        {"log": {"measure": "harm", "by": "unit", "beside": ["success"]}},
    ]  # fmt: skip
    exam = builder.build(builder.contract(exhibits=shown))
    found = exam.verified()
    assert found.failed == []
    mine = verify.verdict_of(found.case.table)
    theirs = json.loads(exam.files["artifacts/toy/verdict.json"])
    table, log = theirs["exhibits"]
    line = table["lines"][0]
    for place, key, lie in (
        (line, "moves", ["better"] if line["moves"] == ["worse"] else ["worse"]),
        (log["lines"][3], "value", 99), (log["lines"][0], "units", 7),
    ):  # fmt: skip
        kept, place[key] = place[key], lie
        assert len(list(verify.differences(mine, theirs, ""))) == 1
        place[key] = kept
    del theirs["exhibits"]
    assert [where for where, _, _ in verify.differences(mine, theirs, "")] == [".exhibits"]


def test_a_verdict_file_that_says_anything_else_is_told_where() -> None:
    exam = builder.build()
    table = exam.verified().case.table
    mine = verify.verdict_of(table)
    theirs = json.loads(exam.files["artifacts/toy/verdict.json"])
    assert list(verify.differences(mine, theirs, "")) == []
    test = theirs["predictions"][0]["checks"][1]["tests"][0]
    for key, lie in (("wins", 6), ("rejected", False), ("rival", "shuffled"), ("step", 2)):
        kept, test[key] = test[key], lie
        (where, _, _), *_ = verify.differences(mine, theirs, "")
        assert where == f"predictions.P1.checks[1].tests[0].{key}"
        test[key] = kept
    test["p"]["value"]["decimal"] = "0.0001"
    assert [w for w, _, _ in verify.differences(mine, theirs, "")] == [
        "predictions.P1.checks[1].tests[0].p"
    ]
