"""Edits change how a memory is read, never what was witnessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echoctl.mind import OK, Memory, Mind, Reading, Shape, Tables, Trial
from echoctl.mind.edits import (
    BIT_NAMES,
    BORDER,
    BOUND,
    MERGE,
    ORDER,
    PIECES,
    RANK,
    REFINE,
    SILENCE,
    SIZE,
    VERIFY,
    Configuration,
    Edit,
    EditedGate,
    EditedTables,
    Experience,
    bits_of,
    bound,
    child,
    detail,
    edit_of,
    root,
)
from echoctl.mind.reading import SECOND, Belief
from echoctl.mind.roles import (
    ENTER,
    GOAL,
    HURT,
    NONE,
    NOOP,
    OPEN,
    PICK,
    TAKE,
    UNKNOWN,
    USE,
    USE_WITH,
)  # fmt: skip

BASE = Reading()
FLOOR = Shape(0, 30, 0, 9, 9, 1)
LAVA = Shape(0, 6, 0, 9, 9, 2)
PAIR = Shape(0, 2, 0, 9, 9, 3)
GROUND = BASE.place(BASE.sign(FLOOR), ENTER)

SHAPES = st.builds(
    lambda moves, cells, border, rank: Shape(moves, cells, min(border, cells), 9, 9, rank),
    st.integers(0, 1), st.integers(1, 40), st.integers(0, 40), st.integers(0, 9),
)  # fmt: skip
TRIALS = st.lists(
    st.builds(Trial, st.integers(0, 9), st.integers(0, 9), st.integers(0, 4), st.integers(0, 6),
              SHAPES),
    max_size=40,
)  # fmt: skip
PLACES = st.integers(0, 93)
EDITS = st.one_of(
    st.builds(lambda k, p: Edit(k, p), st.sampled_from([SILENCE, VERIFY]), PLACES),
    st.builds(lambda p, b: Edit(REFINE, p, b), PLACES, st.integers(1, 3)),
    st.builds(lambda b: Edit(MERGE, 0, b), st.sampled_from([SIZE, BORDER])),
    st.builds(bound, st.integers(1, 2), st.sampled_from([2, 3, 5]), st.sampled_from([70, 85, 95])),
    st.just(Edit(ORDER)),
    st.builds(lambda mask: Edit(PIECES, mask), st.integers(1, 31)),
)


def reading(*edits: Edit) -> Configuration:
    return Configuration(tuple(edits))


def answer(trials: list[Trial], shape: Shape, kind: int, *edits: Edit) -> int:
    tables = Experience(trials).read(reading(*edits).reading(BASE))
    place = tables.reading.place(tables.reading.sign(shape), kind)
    return tables.second_answers.get(place, UNKNOWN)


def cases(shape: Shape, kind: int, role: int, times: int) -> list[Trial]:
    return [Trial(at, at % 250, kind, role, shape) for at in range(times)]


@given(st.lists(EDITS, max_size=6))
def test_a_configuration_travels_as_whole_numbers_and_back(edits: list[Edit]) -> None:
    configuration = Configuration(tuple(edits))
    assert Configuration.from_json(configuration.as_json()) == configuration
    assert all(0 < code < 2**53 for code in configuration.as_json())


@pytest.mark.parametrize("code", [0, 8, 15, -3])
def test_what_is_no_edit_is_refused(code: int) -> None:
    with pytest.raises(ValueError, match="not an edit"):
        edit_of(code)


@given(TRIALS)
def test_without_edits_a_memory_reads_as_it_always_did(trials: list[Trial]) -> None:
    plain, edited = Tables(BASE, trials), Experience(trials).read(reading().reading(BASE))
    assert edited.first == plain.first
    assert edited.second == plain.second
    assert edited.first_answers == plain.first_answers
    for place in plain.second:
        assert edited.second_answers[place] == plain.second_answers[place]


@given(TRIALS, TRIALS, st.lists(EDITS, max_size=5))
def test_reading_again_equals_counting_every_trial_under_the_edits(
    old: list[Trial], new: list[Trial], edits: list[Edit]
) -> None:
    lens = reading(*edits).reading(BASE)
    counted = EditedTables(lens, old)
    counted.add(new)
    experience = Experience(old)
    experience.add(new)
    again = experience.read(lens)
    assert (again.first, again.second) == (counted.first, counted.second)
    assert again.first_answers == counted.first_answers
    assert again.second_answers == counted.second_answers


@given(TRIALS, st.lists(EDITS, max_size=5))
def test_no_edit_touches_what_was_witnessed(trials: list[Trial], edits: list[Edit]) -> None:
    memory = Memory("test")
    for trial in trials:
        memory.witness(trial)
    before = memory.as_bytes()
    tables = Experience(memory).read(reading(*edits).reading(BASE))
    tables.add(trials)
    assert memory.as_bytes() == before
    assert memory.destroyed() == 0


@given(TRIALS, TRIALS)
def test_a_copy_learns_alone(trials: list[Trial], more: list[Trial]) -> None:
    tables = Experience(trials).read(reading().reading(BASE))
    untouched = Experience(trials).read(reading().reading(BASE))
    tables.copy().add(more)
    assert (tables.first, tables.second) == (untouched.first, untouched.second)
    assert tables.second_answers == untouched.second_answers


@given(PLACES, st.permutations([SIZE, BORDER, RANK]), st.lists(st.integers(0, 15), min_size=3))
def test_a_split_place_remembers_its_root_and_its_bits(
    place: int, bits: list[int], values: list[int]
) -> None:
    split = place
    for number, (bit, value) in enumerate(zip(bits, values, strict=False), start=1):
        split = child(split, bit, value)
        assert root(split) == place
        assert bits_of(split) == set(bits[:number])


@given(SHAPES, SHAPES, PLACES, st.integers(1, 3))
def test_a_refined_place_tells_apart_exactly_what_its_bit_tells_apart(
    one: Shape, other: Shape, place: int, bit: int
) -> None:
    lens = reading(Edit(REFINE, place, bit)).reading(BASE)
    kind = place & 7
    places = [lens.place(lens.sign(shape), kind) for shape in (one, other)]
    plain = [BASE.place(BASE.sign(shape), kind) for shape in (one, other)]
    if place not in plain:
        assert places == plain
    elif plain[0] == plain[1]:
        assert (places[0] == places[1]) == (detail(one, bit) == detail(other, bit))


def test_rank_tells_ground_from_a_pool_and_a_pool_from_a_handful() -> None:
    assert [detail(shape, RANK) for shape in (FLOOR, LAVA, PAIR)] == [1, 2, 3]
    memory = (
        cases(FLOOR, ENTER, NONE, 30) + cases(LAVA, ENTER, HURT, 3) + cases(PAIR, ENTER, NOOP, 2)
    )
    assert answer(memory, LAVA, ENTER) == NONE
    split = Edit(REFINE, GROUND, RANK)
    assert answer(memory, LAVA, ENTER, split) == HURT
    assert answer(memory, FLOOR, ENTER, split) == NONE
    assert answer(memory, PAIR, ENTER, split) == UNKNOWN, "two cases are no rule"


def test_a_child_can_be_split_and_silenced_again() -> None:
    memory = cases(LAVA, ENTER, HURT, 3) + cases(LAVA._replace(cells=20), ENTER, GOAL, 3)
    pool = child(GROUND, RANK, 2)
    once = Edit(REFINE, GROUND, RANK)
    assert answer(memory, LAVA, ENTER, once) == UNKNOWN
    assert answer(memory, LAVA, ENTER, once, Edit(REFINE, pool, SIZE)) == HURT
    assert answer(cases(LAVA, ENTER, HURT, 3), LAVA, ENTER, once, Edit(SILENCE, pool)) == UNKNOWN


@pytest.mark.parametrize(
    ("kind", "role", "said"),
    [
        (ENTER, NONE, UNKNOWN), (ENTER, HURT, UNKNOWN), (ENTER, GOAL, GOAL), (TAKE, PICK, PICK),
        (USE, OPEN, OPEN), (ENTER, NOOP, NOOP), (TAKE, NOOP, NOOP), (USE, NOOP, NOOP),
        (USE_WITH, NOOP, UNKNOWN),
    ],
)  # fmt: skip
def test_a_verified_place_keeps_only_what_will_be_tested_by_acting_on_it(
    kind: int, role: int, said: int
) -> None:
    memory = cases(LAVA, kind, role, 4)
    place = BASE.place(BASE.sign(LAVA), kind)
    assert answer(memory, LAVA, kind) == role
    assert answer(memory, LAVA, kind, Edit(VERIFY, place)) == said
    assert answer(memory, LAVA, kind, Edit(SILENCE, place)) == UNKNOWN


def test_the_gate_lets_a_verified_noop_through_and_no_other() -> None:
    gate = EditedGate()
    gate.mind = Mind.__new__(Mind)
    gate.mind.tables = EditedTables(reading(Edit(VERIFY, 40)).reading(BASE))
    assert gate.judge(0, Belief(NOOP, SECOND, 40)) == OK
    assert gate.judge(0, Belief(NOOP, SECOND, 41)) != OK
    assert gate.judge(0, Belief(NOOP, 1, 40)) != OK


def test_merging_ignores_a_bit_of_what_stands_still_and_not_of_what_moves() -> None:
    inside, edge = Shape(0, 8, 0, 9, 9, 1), Shape(0, 8, 8, 9, 9, 1)
    merged = reading(Edit(MERGE, 0, BORDER)).reading(BASE)
    assert BASE.sign(inside) != BASE.sign(edge)
    assert merged.sign(inside) == merged.sign(edge)
    moving = [shape._replace(moves=1) for shape in (inside, edge)]
    assert merged.sign(moving[0]) != merged.sign(moving[1])
    sizes = reading(Edit(MERGE, 0, SIZE)).reading(BASE)
    assert sizes.sign(inside) == sizes.sign(inside._replace(cells=1))


def test_a_bound_holds_for_its_layer_alone() -> None:
    lens = reading(bound(2, 5, 95)).reading(BASE)
    assert (lens.n_min, lens.umbral) == ((3, 5), (85, 95))


def test_order_asks_the_shape_first() -> None:
    assert reading(Edit(ORDER)).reading(BASE).second_first
    assert not reading().reading(BASE).second_first


def test_edits_in_words() -> None:
    edits = [Edit(SILENCE, 24), Edit(VERIFY, 3), Edit(REFINE, 24, RANK), Edit(MERGE, 0, SIZE),
             bound(1, 5, 95), Edit(ORDER), Edit(PIECES, 0b10001)]  # fmt: skip
    assert [edit.text(["a", "b", "c", "d", "e"]) for edit in edits] == [
        "silence(24)", "verify(3)", "refine(24, rank)", "merge(size)", "bound(1, 5, 95)", "order",
        "a+e",
    ]  # fmt: skip
    assert edits[4].kind == BOUND
    assert BIT_NAMES[RANK] == "rank"
