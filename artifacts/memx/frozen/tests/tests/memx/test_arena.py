from __future__ import annotations

from pathlib import Path

import pytest
from memx_bench import FAMILIES, PERMIT, contract

from echoctl.arena import Episode, play
from echoctl.contract import Seeds
from echoctl.errors import Refused
from echoctl.mind import Memory, Mind, Reading, Tables
from echoctl.percept import DROP, FORWARD, LEFT, RIGHT, TAKE, USE, WAIT, Percept
from echoctl.tracks.memx import chain_name, ids_of
from echoctl.tracks.memx.arms import ARMS, MEMORY_OF, Seat, seat
from echoctl.tracks.memx.policy import RULES
from echoctl.worlds import Permit, World, build

SEEDS = 4
RATES = {"A1": (200, 30, 90), "A2": (200, 20, 120)}


class Script:
    """A player that does what it is told and counts what it was shown."""

    rest_kind = 0

    def __init__(self, *actions: int) -> None:
        self.actions = list(actions)
        self.shown: list[Percept] = []

    def begin(self, percept: Percept, episode: int = 0) -> None:
        self.shown = [percept]

    def act(self) -> int:
        return self.actions.pop(0) if self.actions else WAIT

    def feel(self, after: Percept) -> None:
        self.shown.append(after)

    def rest(self, steps: int) -> None:
        raise AssertionError("a script never rests")

    def counts(self) -> tuple[int, int, int, int]:
        return 4, 3, 2, 1


def door_key(seed: int = 1_100_001) -> World:
    """Return the world of `tests/memx`: agent in the corner beside the key, facing south.

    ::  ky vv %y
    """
    return build("DoorKey-6x6", seed, ids=("test",), permit=PERMIT)


def waste_of(*actions: int) -> int:
    return play(Script(*actions), door_key()).waste


@pytest.mark.parametrize(
    ("actions", "waste"),
    [
        ((), 0),
        ((LEFT, RIGHT, WAIT), 0),
        ((FORWARD,), 0),
        ((LEFT, FORWARD), 1),
        ((TAKE,), 1),
        ((USE, DROP), 2),
        ((RIGHT, TAKE), 0),
        ((RIGHT, TAKE, TAKE), 1),
        ((RIGHT, TAKE, DROP), 0),
        ((RIGHT, TAKE, LEFT, LEFT, USE, FORWARD), 0),
        ((LEFT, USE, FORWARD), 2),
    ],
    ids=[
        "waiting", "turning", "walking", "a locked door does not let in", "nothing to take",
        "nothing to use or drop", "a key is taken", "a full hand takes nothing more", "and drops",
        "it opens the door and walks in", "without it the door stays shut",
    ],
)  # fmt: skip
def test_waste_is_a_blocked_step_or_an_action_that_changes_neither_hand_nor_front(
    actions: tuple[int, ...], waste: int
) -> None:
    assert waste_of(*actions) == waste


def test_the_episode_ends_with_the_world_and_carries_the_gates_counts() -> None:
    world = door_key()
    assert play(Script(), world) == Episode(0, 0, 0, 0, world.limit, 4, 3, 2, 1)
    assert world.over


def test_what_ends_the_episode_badly_is_harm_and_no_waste() -> None:
    world = build("Dynamic-Obstacles-6x6", 1_100_040, ids=("test",), permit=PERMIT)
    played = play(Script(LEFT, FORWARD), world)
    assert (played.harm, played.collision, played.waste, played.steps) == (1, 1, 0, 2)
    lava = build("LavaGapS7", 1_100_000, ids=("test",), permit=PERMIT)
    deaths = [play(Script(*[FORWARD] * steps), lava) for steps in range(1, 6)]
    assert any(one.harm and not one.collision and not one.waste for one in deaths)


def test_a_mind_is_shown_the_start_and_then_what_followed_each_action() -> None:
    script = Script(RIGHT, TAKE)
    seen: list[tuple[int, int]] = []
    play(script, door_key(), trace=lambda world, action: seen.append((world.steps, action)))
    assert seen[:3] == [(0, -1), (1, RIGHT), (2, TAKE)]
    assert len(script.shown) == len(seen)


def test_no_mind_is_seated_in_a_conformance_world() -> None:
    world = build("DoorKey-6x6", 900_000, ids=("test",), permit=Permit.conformance(["DoorKey-6x6"]))
    script = Script()
    with pytest.raises(Refused, match="conformance"):
        play(script, world)
    assert script.shown == []


def seat_of(arm: str, regime: str, trained: Path) -> Seat:
    memory = ()
    if arm in MEMORY_OF:
        kept = MEMORY_OF[arm]
        memory = Memory(chain_name(kept, 1), trained / f"{kept}-m01.jsonl")  # type: ignore[assignment]
    reading = Reading((1, 1), (1, 1)) if arm == "sin_cota" else Reading()
    return seat(arm, regime, reading, memory, RATES[regime])


@pytest.mark.parametrize("regime", ["A1", "A2"])
@pytest.mark.parametrize("arm", ARMS)
def test_stopping_early_gives_the_same_episode_as_playing_to_the_end(
    arm: str, regime: str, trained: Path
) -> None:
    seeds = Seeds.lay_out(contract())
    sit = seat_of(arm, regime, trained)
    saved = 0
    for family in FAMILIES:
        for seed in seeds.of("development", family, 1)[:SEEDS]:
            world = build(family, seed, ids=ids_of(regime, 1, family, seed), permit=PERMIT)
            early = play(sit(world), world)
            saved += early.steps - world.steps
            whole = play(sit(world), world, full=True)
            assert whole.steps == world.steps
            assert early == whole, (family, seed)
    if arm in ("barajada", "marginal"):
        assert saved > 500, "this arm gets stuck often: the test must have seen it"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_mind_at_rest_is_told_of_the_steps_that_were_left_out(family: str) -> None:
    minds = []
    for full in (False, True):
        world = build(family, 1_100_007, ids=("test",), permit=PERMIT)
        mind = Mind(Tables(Reading()), [("rest", Mind.rest_here)])
        play(mind, world, full=full)
        minds.append((mind.steps, mind.idle, mind.failures, mind.counts()))
    assert minds[0] == minds[1]


def test_a_learning_mind_watches_what_moves_to_the_end() -> None:
    world = build("Dynamic-Obstacles-6x6", 1_100_040, ids=("test",), permit=PERMIT)
    mind = Mind(Tables(Reading()), [("rest", Mind.rest_here)], learning=True)
    played = play(mind, world)
    assert played.steps == world.steps == world.limit
    still = Mind(Tables(Reading()), [("rest", Mind.rest_here)])
    play(still, world)
    assert world.steps < world.limit


def test_a_mind_that_is_awake_is_never_cut_short() -> None:
    world = door_key()
    mind = Mind(Tables(Reading()), (*RULES[:-1], ("wait", Mind.wait)))
    played = play(mind, world)
    assert played.steps == world.steps
