from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echoctl.mind import Belief, Mind, Reading, Shape, Tables, Trial
from echoctl.mind.reading import FIRST, LIVED, NOWHERE, SECOND
from echoctl.mind.roles import ENTER, HURT, KINDS, NONE, NOOP, ROLES, TAKE, UNKNOWN
from echoctl.percept import Percept

ONE = Shape(0, 1, 0, 6, 6, 0)
SHAPES = st.builds(
    Shape, st.integers(0, 1), st.integers(1, 300), st.integers(0, 60), *[st.integers(1, 25)] * 3
)
TRIALS = st.lists(
    st.builds(
        Trial, st.integers(0, 9), st.integers(0, 3), st.integers(0, len(KINDS) - 1),
        st.integers(0, len(ROLES) - 1), SHAPES,
    ),
    max_size=30,
)  # fmt: skip


def told(role: int, successes: int, failures: int = 0, reading: Reading | None = None) -> Tables:
    other = NOOP if role != NOOP else NONE
    cases = [role] * successes + [other] * failures
    return Tables(
        reading or Reading(), [Trial(at, 5, ENTER, one, ONE) for at, one in enumerate(cases)]
    )


@pytest.mark.parametrize(
    ("successes", "failures", "speaks"),
    [(2, 0, False), (3, 0, True), (17, 3, True), (16, 3, False), (84, 16, False), (85, 15, True)],
)
def test_a_rule_speaks_from_three_cases_and_85_percent_on(
    successes: int, failures: int, speaks: bool
) -> None:
    tables = told(HURT, successes, failures)
    assert tables.first_answers[5 * 8 + ENTER] == (HURT if speaks else UNKNOWN)
    place = Reading().place(Reading().sign(ONE), ENTER)
    assert tables.second_answers[place] == (HURT if speaks else UNKNOWN)


def test_a_contradiction_silences_a_rule_and_deletes_nothing() -> None:
    tables = told(HURT, 3)
    key = 5 * 8 + ENTER
    assert tables.first_answers[key] == HURT
    tables.add([Trial(9, 5, ENTER, NONE, ONE)])
    assert tables.first_answers[key] == UNKNOWN
    assert tables.first[key][HURT] == 3
    assert tables.first[key][-1] == 4


def test_without_a_bound_one_case_speaks_and_the_most_frequent_wins() -> None:
    loose = Reading(n_min=(1, 1), umbral=(1, 1))
    assert told(HURT, 1, reading=loose).first_answers[5 * 8] == HURT
    assert told(HURT, 1, 4, loose).first_answers[5 * 8] == NOOP
    assert told(HURT, 2, 2, loose).first_answers[5 * 8] == HURT, "a tie goes to what hurts"


@given(TRIALS, TRIALS)
def test_counting_at_once_or_in_parts_is_the_same(one: list[Trial], two: list[Trial]) -> None:
    whole = Tables(Reading(), one + two)
    parts = Tables(Reading(), one)
    parts.add(two)
    assert parts.first == whole.first
    assert parts.second == whole.second
    assert parts.first_answers == whole.first_answers
    assert parts.second_answers == whole.second_answers


@given(TRIALS)
def test_each_row_counts_its_trials_by_role(trials: list[Trial]) -> None:
    tables = Tables(Reading(), trials)
    for row in (*tables.first.values(), *tables.second.values()):
        assert sum(row[:-1]) == row[-1]
    assert sum(row[-1] for row in tables.first.values()) == len(trials)
    assert sum(row[-1] for row in tables.second.values()) == len(trials)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Shape(0, 3, 0, 6, 6, 1), Shape(0, 8, 0, 16, 16, 4)),
        (Shape(1, 3, 0, 6, 6, 1), Shape(1, 8, 0, 16, 16, 2)),
        (Shape(0, 20, 20, 6, 6, 0), Shape(0, 60, 60, 16, 16, 1)),
        (Shape(0, 20, 10, 6, 6, 0), Shape(0, 20, 20, 6, 6, 0)),
    ],
    ids=["three balls and eight", "three movers and eight", "two sizes of wall", "half is half"],
)
def test_shapes_that_the_source_reads_alike_share_a_signature(one: Shape, other: Shape) -> None:
    assert Reading().sign(one) == Reading().sign(other)


def test_what_moves_counts_and_lies_on_the_border_tells_signatures_apart() -> None:
    shapes = [
        Shape(moves, cells, border, 9, 9, 0)
        for moves in (0, 1)
        for cells, border in ((1, 0), (1, 1), (9, 0), (9, 4), (9, 5))
    ]
    assert len({Reading().sign(shape) for shape in shapes}) == len(shapes)


def mind_seeing(cells: bytes, tables: Tables) -> Mind:
    mind = Mind(tables, [("rest", lambda one: one.rest_here())])
    mind.begin(Percept(len(cells), 1, cells, 0, 0, 0, 0, False))
    return mind


def both_layers(reading: Reading) -> Tables:
    """Layer 1 says that id 5 hurts; layer 2 says that things of its shape do nothing."""
    here = Shape(0, 1, 1, 3, 1, 0)
    away = Shape(1, 1, 0, 3, 1, 0)
    return Tables(
        reading,
        [Trial(at, 5, ENTER, HURT, away) for at in range(3)]
        + [Trial(at, 6, ENTER, NOOP, here) for at in range(30)],
    )


def test_what_was_lived_beats_layer_1_which_beats_layer_2() -> None:
    mind = mind_seeing(b"\x01\x05\x02", both_layers(Reading()))
    assert mind.believe(5 * 8 + ENTER) == Belief(HURT, FIRST, 5 * 8 + ENTER)
    assert mind.believe(1 * 8 + ENTER).layer == LIVED, "it stands on id 1"
    assert mind.believe(2 * 8 + ENTER).layer == SECOND
    assert mind.believe(2 * 8 + ENTER).role == NOOP
    assert mind.believe(2 * 8 + TAKE) == Belief(UNKNOWN, NOWHERE, -1)
    mind._live(5 * 8 + ENTER, NONE)
    assert mind.believe(5 * 8 + ENTER) == Belief(NONE, LIVED, 5 * 8 + ENTER)


def test_a_reading_can_ask_layer_2_first() -> None:
    mind = mind_seeing(b"\x01\x05\x02", both_layers(Reading(second_first=True)))
    assert mind.believe(5 * 8 + ENTER).role == NOOP
    assert mind.believe(5 * 8 + ENTER).layer == SECOND


@given(TRIALS, st.booleans(), st.integers(0, 9 * 8 + 3))
def test_the_role_of_a_key_is_that_of_what_is_believed_of_it(
    trials: list[Trial], second_first: bool, lived: int
) -> None:
    reading = Reading(n_min=(1, 1), umbral=(60, 60), second_first=second_first)
    mind = mind_seeing(bytes(range(10)), Tables(reading, trials))
    for _ in range(2):
        for key in range(10 * 8):
            assert mind.role(key) == mind.believe(key).role, key
        mind._live(lived, HURT)


class Ranked(Reading):
    """A reading that a later track might write: it looks at the rank and silences one key."""

    def sign(self, shape: Shape) -> int:
        return super().sign(shape) * 2 + (shape.rank > 1)

    def answer(self, layer: int, row: list[int]) -> int:
        return UNKNOWN if layer == FIRST else super().answer(layer, row)


def test_another_reading_of_the_same_trials_needs_no_new_trials() -> None:
    lava, floor = Shape(0, 4, 0, 7, 7, 2), Shape(0, 20, 0, 7, 7, 1)
    trials = [Trial(at, 8, ENTER, HURT, lava) for at in range(3)]
    trials += [Trial(at, 9, ENTER, NONE, floor) for at in range(60)]
    plain, ranked = Tables(Reading(), trials), Tables(Ranked(uses_rank=True), trials)
    assert list(plain.second_answers.values()) == [NONE], "one key, and the lava drowns in it"
    assert sorted(ranked.second_answers.values()) == [NONE, HURT]
    assert ranked.first_answers[8 * 8] == UNKNOWN
    assert plain.first == ranked.first
