"""Which key misled, which edits would have changed it, and which gate lets them in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mind_toy import IDS, Toy

from echoctl.mind import Reading, Shape, Trial
from echoctl.mind.edits import (
    BORDER,
    BOUND,
    NAMES,
    ORDER,
    RANK,
    REFINE,
    SILENCE,
    VERIFY,
    Configuration,
    Edit,
    Experience,
)
from echoctl.mind.reading import FIRST, SECOND, Belief
from echoctl.mind.roles import ENTER, GOAL, HURT, NONE, NOOP, TAKE, UNKNOWN, USE
from echoctl.tracks.acumula.diagnosis import Diagnosis, Menu
from echoctl.tracks.acumula.gates import Score, noisy, strict
from echoctl.tracks.acumula.policy import Agent, Fault

BASE = Reading()
MENU = Menu.of(NAMES[1:7], (2, 3, 5), (70, 85, 95))
FLOOR, LAVA = Shape(0, 30, 0, 9, 9, 1), Shape(0, 20, 0, 9, 9, 2)
GROUND = BASE.place(BASE.sign(FLOOR), ENTER)
MIXED = [Trial(at, at, ENTER, NONE, FLOOR) for at in range(30)] + [
    Trial(at, 100 + at, ENTER, HURT, LAVA) for at in range(4)
]


def death(episode: int, shape: Shape = LAVA, *, failed: bool = True) -> Fault:
    return Fault(episode, failed, 200 * 8 + ENTER, shape, HURT, Belief(NONE, SECOND, GROUND))


def proposed(faults: list[Fault], memory: list[Trial] | None = None) -> list[tuple[Edit, int]]:
    diagnosis = Diagnosis(Configuration(), BASE, Experience(memory or MIXED), MENU)
    return [tuple(one) for one in diagnosis.proposals(faults)]  # type: ignore[misc]


def test_without_faults_nothing_is_proposed() -> None:
    assert proposed([]) == []


def test_the_split_that_tells_lava_from_floor_comes_first_then_verify_then_silence() -> None:
    edits = proposed([death(1), death(2), death(2)])
    assert edits[0] == (Edit(REFINE, GROUND, RANK), 2), "two episodes, however many faults"
    assert (Edit(VERIFY, GROUND), 2) in edits
    assert (Edit(SILENCE, GROUND), 2) in edits
    assert edits.index((Edit(VERIFY, GROUND), 2)) < edits.index((Edit(SILENCE, GROUND), 2))


def test_a_split_that_changes_no_answer_explains_nothing() -> None:
    assert Edit(REFINE, GROUND, BORDER) not in [edit for edit, _ in proposed([death(1)])]


def test_failed_episodes_weigh_more_than_wasteful_ones() -> None:
    wall = Shape(0, 1, 0, 9, 9, 4)
    place = BASE.place(BASE.sign(wall), USE)
    waste = [
        Fault(at, False, 9 * 8 + USE, wall, NOOP, Belief(GOAL, SECOND, place)) for at in range(5)
    ]
    edits = proposed([*waste, death(9)])
    assert edits[0][0].key == GROUND
    assert dict(edits)[Edit(SILENCE, place)] == 5


def test_edits_of_everything_need_two_keys_that_failed() -> None:
    chance = Fault(3, True, 7 * 8 + ENTER, FLOOR, HURT, Belief(NONE, FIRST, 7 * 8 + ENTER))
    memory = [*MIXED, *(Trial(at, 7, ENTER, NONE, LAVA) for at in range(3))]
    alone = [edit.kind for edit, _ in proposed([chance], memory)]
    both = [edit.kind for edit, _ in proposed([chance, death(1)], memory)]
    assert BOUND not in alone
    assert BOUND in both


def test_order_explains_a_chance_collision_that_the_shape_knows_better() -> None:
    memory = [Trial(at, 7, ENTER, NONE, FLOOR) for at in range(4)]
    memory += [Trial(at, 90, ENTER, HURT, LAVA._replace(border=6)) for at in range(4)]
    edge = LAVA._replace(border=6)
    place = BASE.place(BASE.sign(edge), ENTER)
    chance = Fault(1, True, 7 * 8 + ENTER, edge, HURT, Belief(NONE, FIRST, 7 * 8 + ENTER))
    other = Fault(2, True, 8 * 8 + ENTER, edge, NONE, Belief(HURT, SECOND, place))
    assert dict(proposed([chance, other], memory))[Edit(ORDER)] == 1


def test_what_can_be_drawn_by_chance_holds_everything_that_is_proposed() -> None:
    diagnosis = Diagnosis(Configuration(), BASE, Experience(MIXED), MENU)
    valid = diagnosis.valid()
    assert len(set(valid)) == len(valid)
    assert {edit for edit, _ in proposed([death(1), death(2)])} <= set(valid)


def test_what_was_accepted_is_not_proposed_again() -> None:
    split = Configuration((Edit(REFINE, GROUND, RANK),))
    assert Edit(REFINE, GROUND, RANK) not in Diagnosis(split, BASE, Experience(MIXED), MENU).valid()
    hushed = Configuration((Edit(SILENCE, GROUND),))
    valid = Diagnosis(hushed, BASE, Experience(MIXED), MENU).valid()
    assert not [edit for edit in valid if edit.key == GROUND and edit.kind in (VERIFY, SILENCE)]


# --- the agent that notes faults ---------------------------------------------------------------


def agent_in(world: Toy, memory: list[Trial], steps: int = 12) -> Agent:
    agent = Agent(Experience(memory).read(Configuration().reading(BASE)))
    agent.begin(world.percept(), 5)
    for _ in range(steps):
        if world.over:
            break
        agent.feel(world.step(agent.act()))
    return agent


def test_a_death_is_blamed_on_the_key_that_answered_just_before() -> None:
    world = Toy("#########", "#>~~~~~G#", "#########")
    agent = agent_in(world, MIXED + [Trial(at, 222, ENTER, NONE, LAVA) for at in range(4)])
    (fault,) = [f for f in agent.blamed(failed=True, harmed=True) if f.did == HURT]
    assert fault.belief == Belief(NONE, SECOND, GROUND)
    assert (fault.episode, fault.key, fault.failed) == (5, IDS["~"] * 8 + ENTER, True)
    assert fault.shape.cells == 5


def test_a_belief_that_said_what_happened_is_not_to_blame() -> None:
    shape = Shape(0, 1, 0, 9, 9, 4)
    memory = [Trial(at, 222, kind, NOOP, shape) for kind in (ENTER, TAKE, USE) for at in range(4)]
    agent = agent_in(Toy("#####", "#>.G#", "#####"), memory, steps=20)
    did = {(fault.key & 7, fault.did) for fault in agent.blamed(failed=True, harmed=False)}
    assert (TAKE, NOOP) not in did, "it was doubted, tried, and right"
    assert (ENTER, UNKNOWN) in did, "it was never put to the test"


def test_an_episode_that_reached_the_goal_blames_no_refusal() -> None:
    shape = Shape(0, 1, 0, 9, 9, 4)
    memory = [Trial(at, 222, kind, NOOP, shape) for kind in (ENTER, TAKE, USE) for at in range(4)]
    agent = agent_in(Toy("#####", "#>.G#", "#####"), memory, steps=20)
    assert not [f for f in agent.blamed(failed=False, harmed=False) if f.did == UNKNOWN]
    assert agent.refusals()


# --- the gates ---------------------------------------------------------------------------------

SCORES = st.builds(Score, st.integers(0, 20), st.integers(0, 20), st.integers(0, 200))


@given(SCORES, SCORES)
def test_no_gate_lets_in_more_harm_or_less_success(before: Score, after: Score) -> None:
    if after.harm > before.harm or after.success < before.success:
        assert not strict(before, after)
        assert not noisy(before, after)


@given(SCORES)
def test_no_gate_lets_in_what_changes_nothing(score: Score) -> None:
    assert not strict(score, score)
    assert not noisy(score, score)


@pytest.mark.parametrize(
    ("after", "by_strict", "by_noisy"),
    [
        (Score(4, 10, 100), True, True),
        (Score(5, 11, 200), True, True),
        (Score(5, 10, 99), True, False),
        (Score(5, 10, 90), True, True),
        (Score(5, 10, 91), True, False),
        (Score(4, 9, 0), False, False),
        (Score(6, 20, 0), False, False),
    ],
)
def test_the_two_gates_differ_in_how_much_less_waste_is_enough(
    after: Score, by_strict: bool, by_noisy: bool
) -> None:
    before = Score(5, 10, 100)
    assert (strict(before, after), noisy(before, after)) == (by_strict, by_noisy)
