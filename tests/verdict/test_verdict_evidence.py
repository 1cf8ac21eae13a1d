"""Whatever is missing, double or not an integer is an error that says which; no verdict then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from verdict_design import COLUMNS, contract, harm, outcomes, tupled

from echoctl.errors import CheckFailed, EchoError, Inconsistent
from echoctl.track import Job, Outcome
from echoctl.verdict import Verdict, decide

GATE = {"not_higher": {"measure": "harm", "arm": "t", "than": ["c"]}}


def played(**more: Any) -> list[Outcome]:
    return outcomes(harm=harm(1, 2), **more)


def planned(what: Sequence[Outcome]) -> list[Job]:
    return [Job(one.job, "exam", one.keys) for one in what]


def cell(outcome: Outcome, column: str, value: Any, row: int = 0) -> Outcome:
    """Return the outcome with one entry changed."""
    rows = [list(r) for r in outcome.rows]
    rows[row][outcome.columns.index(column)] = value
    return replace(outcome, rows=tuple(map(tuple, rows)))


def without(outcome: Outcome, column: str) -> Outcome:
    place = outcome.columns.index(column)
    return replace(
        outcome,
        columns=outcome.columns[:place] + outcome.columns[place + 1 :],
        rows=tuple(tuple(r[:place]) + tuple(r[place + 1 :]) for r in outcome.rows),
    )


def at(
    index: int, change: Callable[[Outcome], Outcome]
) -> Callable[[list[Outcome]], list[Outcome]]:
    return lambda all_: [change(o) if i == index else o for i, o in enumerate(all_)]


# outcome 0 is job 1-t-a1
SPOILED: dict[str, tuple[Callable[[list[Outcome]], list[Outcome]], str]] = {
    "a missing job leaves a unit short": (lambda a: a[1:], "macro 1 is missing in arm t"),
    "a missing unit": (
        lambda a: [o for o in a if o.keys["unit"] != 4],
        "macro 4 is missing in arm c, stage exam, family F, round 1, regime A1",
    ),
    "an extra unit": (
        lambda a: [*a, replace(a[0], job="11-t-a1", keys={**a[0].keys, "unit": 11})],
        "macro 11 in arm t, stage exam, family F, round 1, regime A1 is not in the contract",
    ),
    "a job counted twice": (lambda a: [*a, a[0]], "job 1-t-a1 has two outcomes"),
    "a unit counted twice under another job id": (
        lambda a: [*a, replace(a[0], job="again")],
        "episode 0 of unit 1 was counted twice",
    ),
    "a row counted twice inside a job": (
        at(0, lambda o: replace(o, rows=(*o.rows, o.rows[0]))),
        "episode 0 of unit 1 was counted twice",
    ),
    "a float": (at(0, lambda o: cell(o, "harm", 1.0)), "harm is 1.0, not an integer"),
    "a NaN": (at(0, lambda o: cell(o, "harm", float("nan"))), "harm is nan, not an integer"),
    "a boolean": (at(0, lambda o: cell(o, "harm", True)), "harm is True, not an integer"),
    "a string": (at(0, lambda o: cell(o, "harm", "1")), "harm is '1', not an integer"),
    "a null": (at(0, lambda o: cell(o, "harm", None)), "harm is None, not an integer"),
    "a float in a measure that no check reads": (
        at(0, lambda o: cell(o, "steps", 0.5)),
        "steps is 0.5, not an integer",
    ),
    "a round that is no integer": (at(0, lambda o: cell(o, "round", "1")), "round must be int"),
    "a family that is no text": (at(0, lambda o: cell(o, "family", 3)), "family must be str"),
    "a unit that is a boolean": (
        at(0, lambda o: replace(o, keys={**o.keys, "unit": True})),
        "unit must be int",
    ),
    "a measure missing in one job": (at(0, lambda o: without(o, "harm")), "harm is missing in"),
    "a short row": (
        at(0, lambda o: replace(o, rows=(o.rows[0][:-1],))),
        "a row of job 1-t-a1 has 7 entries for 8 columns",
    ),
    "a column named twice": (
        at(0, lambda o: replace(o, columns=(*COLUMNS[:-1], "harm"))),
        "names a column twice",
    ),
    "no episode": (at(0, lambda o: without(o, "episode")), "have no episode"),
    "no stage": (at(0, lambda o: without(o, "stage")), "does not say its stage"),
    "no arm": (
        at(0, lambda o: replace(o, keys={"unit": 1, "regime": "A1"})),
        "does not say its arm",
    ),
    "an arm nobody declared": (
        at(0, lambda o: replace(o, keys={**o.keys, "arm": "tt"})),
        "no arm 'tt'",
    ),
    "a regime nobody declared": (
        at(0, lambda o: replace(o, keys={**o.keys, "regime": "A3"})),
        "no regime 'A3'",
    ),
    "keys in two places": (
        at(0, lambda o: replace(o, keys={**o.keys, "stage": "exam"})),
        "says its stage twice",
    ),
    "one unit plays other families": (
        at(0, lambda o: replace(o, rows=(o.rows[0],))),
        "macro 1 is missing in arm t, stage exam, family G",
    ),
    "one arm never plays a family": (
        lambda a: [replace(o, rows=(o.rows[0],)) if o.keys["arm"] == "t" else o for o in a],
        "only one of the arms t and c has rows in stage exam, family G",
    ),
    "an arm that a check needs never plays": (
        lambda a: [o for o in a if o.keys["arm"] != "c"],
        "no row matches: arm c",
    ),
    "nothing at all": (lambda a: [], "there are no rows"),
}


@pytest.mark.parametrize("case", SPOILED)
def test_spoiled_evidence_gives_an_error_that_says_which_and_no_verdict(case: str) -> None:
    spoil, message = SPOILED[case]
    with pytest.raises(Inconsistent) as caught:
        decide(contract(GATE), spoil(played()))
    assert message in caught.value.why
    assert caught.value.exit_code == 5


PLANS: dict[str, tuple[Callable[[list[Job]], list[Job]], str]] = {
    "a planned job without an outcome": (
        lambda j: [*j, Job("extra", "exam", {"unit": 1, "arm": "o", "regime": "A1"})],
        "job extra has no outcome",
    ),
    "an outcome that nobody planned": (lambda j: j[1:], "job 1-t-a1 was never planned"),
    "an outcome that says other keys than its job": (
        lambda j: [replace(j[0], keys={**j[0].keys, "arm": "c"}), *j[1:]],
        "job 1-t-a1 was planned as",
    ),
}


@pytest.mark.parametrize("case", PLANS)
def test_outcomes_are_held_against_the_sealed_list_of_jobs(case: str) -> None:
    change, message = PLANS[case]
    everything = played()
    jobs = planned(everything)
    assert decide(contract(GATE), everything, jobs=jobs).green
    with pytest.raises(Inconsistent, match=message):
        decide(contract(GATE), everything, jobs=change(jobs))


def test_a_rehearsal_may_play_fewer_units_and_says_so() -> None:
    few = played(units=3)
    with pytest.raises(Inconsistent, match="macro 4 is missing"):
        decide(contract(GATE), few)
    found = decide(contract(GATE), few, mark="REHEARSAL")
    assert (found.mark, found.units) == ("REHEARSAL", 3)
    assert codes(found) == ["fewer_units"]


def test_a_unit_split_over_several_jobs_is_one_unit_when_the_episodes_differ() -> None:
    halves = []
    for one in played():
        rows = [list(row) for row in one.rows]
        for row in rows:
            row[COLUMNS.index("episode")] = 1
        halves += [one, replace(one, job=one.job + "-b", rows=tuple(map(tuple, rows)))]
    found = decide(contract(GATE), halves)
    assert (found.units, found.jobs, found.rows) == (10, 120, 240)


def codes(found: Verdict) -> list[str]:
    return [warning.code for warning in found.warnings]


def test_paired_arms_with_unequal_rows_are_pointed_out() -> None:
    everything = played()
    extra = cell(cell(everything[0], "episode", 1), "episode", 1, row=1)
    found = decide(contract(GATE), [*everything, replace(extra, job="more")])
    assert codes(found) == ["uneven_rows"]


def test_undeclared_columns_are_not_read_and_are_pointed_out() -> None:
    wider = [
        replace(o, columns=(*o.columns, "luck"), rows=tuple((*r, "x") for r in o.rows))
        for o in played()
    ]
    assert codes(decide(contract(GATE), wider)) == ["undeclared_columns"]


def test_units_that_share_one_training_are_told_to_the_reader() -> None:
    def warnings(hashes: dict[int, str]) -> list[str]:
        found = decide(contract(GATE), played(), trained={"aprendida": hashes})
        return [warning.text for warning in found.warnings]

    assert warnings({unit: f"{unit:064}" for unit in range(1, 11)}) == []
    (text,) = warnings(dict.fromkeys(range(1, 11), "ab" * 32))
    assert text.startswith("10 units used 1 different aprendida")


def test_a_measure_that_no_row_carries_is_an_error_only_where_a_check_needs_it() -> None:
    bare = [without(o, "steps") for o in played()]
    assert codes(decide(contract(GATE), bare)) == ["absent_measures"]
    with pytest.raises(Inconsistent, match="steps is missing in"):
        decide(contract({"count": {"measure": "steps", "at_most": 1}}), bare)


RULES: dict[str, tuple[dict[str, Any], str]] = {
    "green needs nothing": ({"verdict": {"green": []}}, "names no prediction"),
    "green needs a stranger": ({"verdict": {"green": ["Q"]}}, "'Q', which is no prediction"),
    "green needs what is only reported": (
        {"predictions": {"P": {"text": "p", "decides": False, "all": [GATE]}}},
        "only reported",
    ),
    "a prediction without a check": (
        {"predictions": {"P": {"text": "p", "all": []}}},
        "holds no check",
    ),
    "a label about a stranger": (
        {"verdict": {"green": ["P"], "labels": [{"when": {"fail": ["Q"]}, "text": "x"}]}},
        "'Q'",
    ),
}


@pytest.mark.parametrize("case", RULES)
def test_a_rule_that_decides_nothing_gives_no_verdict(case: str) -> None:
    change, message = RULES[case]
    with pytest.raises(CheckFailed, match=message):
        decide(contract(GATE, **tupled(change)), played())


def test_a_broken_reported_prediction_is_an_error_too() -> None:
    predictions = {
        "P": {"text": "p", "all": [GATE]},
        "Q": {"text": "q", "decides": False, "all": [{"count": {"measure": "joy", "at_most": 1}}]},
    }
    with pytest.raises(EchoError, match="Q, check 1"):
        decide(contract(GATE, predictions=predictions), played())


def test_an_optional_arm_that_was_not_played_leaves_its_reported_prediction_open() -> None:
    arms = [
        {"id": name, "kind": kind, "gloss": name, "optional": name == "llm"}
        for name, kind in [
            ("t", "treatment"),
            ("c", "control"),
            ("d", "control"),
            ("llm", "reported"),
        ]
    ]
    shown = {"not_higher": {"measure": "harm", "arm": "t", "than": ["llm"]}}
    predictions = {
        "P": {"text": "p", "all": [GATE]},
        "Q": {"text": "q", "decides": False, "all": [shown]},
    }
    design = contract(GATE, arms=arms, predictions=predictions)
    found = decide(design, played()).prediction("Q")
    assert (found.passed, found.notes) == (None, ("not_played:llm",))
    assert decide(design, played(arms=("t", "c", "d", "llm"))).prediction("Q").passed is not None
