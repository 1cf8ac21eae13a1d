"""Each MiniGrid family beside its stock environment: zero differences.

Grid (with what is hidden), position, heading, hand, reward, flags and generator state are
compared after every step, on seeds that no contract uses and with random actions only.
"""

from __future__ import annotations

import random
from collections import Counter
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from echoctl.percept import DROP, FORWARD, LEFT, RIGHT, TAKE, USE, WAIT, Percept
from echoctl.worlds import CONFORMANCE_SEEDS, FAMILIES, Permit, World, build, scene
from echoctl.worlds.starts import stock
from echoctl.worlds.things import EMPTY, NOTHING, WALL, class_of, opaque_ids

PERMIT = Permit.conformance(FAMILIES)
IDS = ("conformance",)
MINIGRID = [name for name, family in FAMILIES.items() if family.dynamics != "safety"]
HABITS = (
    (1, 1, 1, 1, 1, 1, 1),
    (1, 1, 4, 2, 1, 2, 0),
    (1, 1, 3, 3, 0, 3, 0),
    (1, 1, 6, 0, 0, 2, 0),
)
"""Weights of the seven actions; each episode draws one row, so that doors get opened at times."""


def conformance_seed(draw: random.Random) -> int:
    return draw.randrange(*CONFORMANCE_SEEDS)


def world_of(family: str, seed: int) -> World:
    return build(family, seed, ids=IDS, permit=PERMIT)


def fully_observed(family: str) -> Any:
    """Return the stock loop that everybody runs: ``gym.make`` and ``FullyObsWrapper``."""
    env = stock(family)
    return import_module("minigrid.wrappers").FullyObsWrapper(env)


def object_of(cell: Any) -> int:
    if cell is None:
        return EMPTY
    if cell.type == "wall":
        return WALL
    inner = 256 * object_of(cell.contains) if cell.contains is not None else 0
    return class_of(*cell.encode()) + inner


def stock_generator(env: Any) -> tuple[int, int, int, int]:
    state = env.np_random.bit_generator.state
    return (
        state["state"]["state"],
        state["state"]["inc"],
        state["has_uint32"],
        state["uinteger"],
    )


def start_both(env: Any, family: str, seed: int) -> tuple[World, Percept]:
    """Reset both to the same seed. Where the layout is fixed the seed turns the stock agent too."""
    env.reset(seed=seed)
    if FAMILIES[family].turned:
        env.unwrapped.agent_dir = seed % 4
    world = world_of(family, seed)
    percept = world.reset()
    compare(env.unwrapped, world, percept)
    return world, percept


def compare(env: Any, world: World, percept: Percept) -> None:
    """Grid with what is hidden, position, heading, hand, generator state, and the percept."""
    where = (world.family, world.seed, world.steps)
    table = opaque_ids(IDS)
    grid = [object_of(cell) for cell in env.grid.grid]
    assert world._grid == grid, where
    assert percept.cells == bytes(table[held & 255] for held in grid), where
    assert (percept.width, percept.height) == (env.width, env.height), where
    assert percept.pos == env.agent_pos[1] * env.width + env.agent_pos[0], where
    assert percept.heading == env.agent_dir, where
    hand = NOTHING if env.carrying is None else object_of(env.carrying)
    assert world._hand == hand, where
    assert percept.hand == table[hand & 255], where
    assert world.generator == stock_generator(env), where


def step_both(env: Any, world: World, action: int) -> Percept:
    """Take one action in both, compare, and return our percept."""
    _, reward, terminated, truncated, _ = env.step(action)
    percept = world.step(action)
    compare(env.unwrapped, world, percept)
    where = (world.family, world.seed, world.steps)
    assert percept.terminal == terminated, where
    assert (world.steps >= world.limit) == truncated, where
    assert world.over == (terminated or truncated), where
    assert percept.reward == exact_reward(world, reward), where
    assert world.success == (terminated and reward > 0), where
    assert world.harm == (terminated and reward <= 0), where
    return percept


def exact_reward(world: World, reward: float) -> int:
    """Return the stock reward in thousandths, by the stock formula in whole numbers."""
    if reward <= 0:
        assert reward in (0, -1)
        return 1000 * int(reward)
    assert reward == 1 - 0.9 * (world.steps / world.limit)
    return (1000 * world.limit - 900 * world.steps) // world.limit


def walk_both(family: str, steps: int, seed: int, env: Any = None) -> Counter[str]:
    """Take so many random actions in both; return how often each kind of event was compared."""
    if env is None:
        env = stock(family).unwrapped
        env.gen_obs = lambda: {}  # the view draws nothing and changes nothing: see the full loop
    draw = random.Random(f"{family} {seed}")
    events: Counter[str] = Counter()
    while events["step"] < steps:
        world, before = start_both(env, family, conformance_seed(draw))
        habit = draw.choice(HABITS)
        while not world.over:
            action = draw.choices(range(7), habit)[0]
            after = step_both(env, world, action)
            events["step"] += 1
            events.update(kinds(world, before, action, after))
            before = after
    return events


def kinds(world: World, before: Percept, action: int, after: Percept) -> list[str]:
    """Name what happened in one step."""
    seen = []
    if action == TAKE and before.hand != after.hand:
        seen.append("took")
    if action == DROP and before.hand != after.hand:
        seen.append("dropped")
    if action == USE and before.cells != after.cells:
        seen.append("used")
    if action == FORWARD and before.pos != after.pos:
        seen.append("walked")
    if world.success:
        seen.append("won")
    if world.hit:
        seen.append(world.hit)
    if world.over and not after.terminal:
        seen.append("timed out")
    return seen


STEPS = 8_000
"""For each of 26 families: 208,000 steps in the normal test run."""
NIGHTLY_STEPS = 100_000
SEEN: Counter[str] = Counter()


@pytest.mark.parametrize("family", MINIGRID)
def test_a_random_walk_differs_from_stock_minigrid_in_nothing(family: str) -> None:
    events = walk_both(family, STEPS, seed=1)
    assert events["step"] >= STEPS
    SEEN.update(events)


def test_the_walks_met_everything_that_can_happen() -> None:
    if SEEN["step"] < STEPS * len(MINIGRID):
        pytest.skip("needs all the walks of this file")
    wanted = ("took", "dropped", "used", "walked", "won", "lava", "ball", "wall", "timed out")
    assert {kind for kind in wanted if SEEN[kind] == 0} == set()


@pytest.mark.nightly
@pytest.mark.parametrize("family", MINIGRID)
@pytest.mark.parametrize("seed", [2, 3])
def test_millions_of_steps_differ_from_stock_minigrid_in_nothing(family: str, seed: int) -> None:
    assert walk_both(family, NIGHTLY_STEPS, seed)["step"] >= NIGHTLY_STEPS


@pytest.mark.parametrize("family", MINIGRID)
def test_the_full_stock_loop_with_its_views_and_wrappers_differs_in_nothing(family: str) -> None:
    events = walk_both(family, 150, seed=4, env=fully_observed(family))
    assert events["step"] >= 150


@pytest.mark.parametrize("family", MINIGRID)
def test_the_fully_observed_image_shows_what_a_scene_shows(family: str) -> None:
    env = fully_observed(family)
    names = import_module("minigrid.core.constants")
    image = env.reset(seed=900_007)[0]["image"]
    shown = scene(world_of(family, 900_007))
    assert image.shape == (shown.width, shown.height, 3)
    for at, held in enumerate(shown.cells):
        if at == shown.pos:
            continue  # the stock observation draws the agent over what it stands on
        state = ("open", "closed", "locked").index(held.state) if held.state else 0
        colour = names.COLOR_TO_IDX[held.colour] if held.colour else 0
        triple = [names.OBJECT_TO_IDX[held.type], colour, state]
        assert image[at % shown.width, at // shown.width].tolist() == triple


@pytest.mark.parametrize("family", MINIGRID)
def test_the_step_limit_is_the_stock_one(family: str) -> None:
    assert stock(family).unwrapped.max_steps == FAMILIES[family].limit


def test_a_success_on_the_very_last_step_is_terminal_and_a_success() -> None:
    env = stock("LavaGapS5").unwrapped
    draw = random.Random(5)
    while True:
        world, _ = start_both(env, "LavaGapS5", 900_001)
        path = []
        while not world.over:
            path.append(draw.choice((LEFT, RIGHT, FORWARD, FORWARD)))
            world.step(path[-1])
        if world.success:
            break
    world, _ = start_both(env, "LavaGapS5", 900_001)
    for action in [WAIT] * (world.limit - len(path)) + path:
        percept = step_both(env, world, action)
    assert world.steps == world.limit
    assert percept.terminal
    assert world.success
    assert percept.reward == 100


def test_an_obstacle_boxed_in_on_all_sides_stays_and_its_draws_are_spent() -> None:
    env = stock("Dynamic-Obstacles-5x5").unwrapped
    world, _ = start_both(env, "Dynamic-Obstacles-5x5", 900_003)
    wall = import_module("minigrid.core.world_object").Wall
    for at, held in enumerate(world._grid):
        if held == EMPTY and at != world._pos:  # fill every free cell of both with wall
            env.grid.grid[at] = wall()
            world._set(at, WALL)
    before = world.generator
    step_both(env, world, LEFT)
    assert world.generator != before


@pytest.mark.parametrize("family", ["Dynamic-Obstacles-6x6", "DoorKey-6x6"])
def test_the_comparison_notices_a_world_that_is_off_by_one(family: str) -> None:
    env = stock(family).unwrapped
    world, _ = start_both(env, family, 900_011)
    world._heading = (world._heading + 1) % 4
    with pytest.raises(AssertionError):
        step_both(env, world, LEFT)


def test_a_reused_stock_environment_draws_what_a_fresh_one_draws() -> None:
    reused = stock("ObstructedMaze-2Dlh").unwrapped
    for seed in range(900_020, 900_030):
        fresh = stock("ObstructedMaze-2Dlh").unwrapped
        fresh.reset(seed=seed)
        reused.reset(seed=seed)
        assert np.array_equal(fresh.grid.encode(), reused.grid.encode())
        assert fresh.np_random.bit_generator.state == reused.np_random.bit_generator.state
