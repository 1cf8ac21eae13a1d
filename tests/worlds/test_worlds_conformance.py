"""Each MiniGrid family beside its stock environment: zero differences."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from sidebyside import (
    MINIGRID,
    start_both,
    step_both,
    walk_both,
    world_of,
)

from echoctl.percept import FORWARD, LEFT, RIGHT, WAIT
from echoctl.worlds import FAMILIES, scene
from echoctl.worlds.starts import stock

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
    from minigrid.wrappers import FullyObsWrapper

    events = walk_both(family, 150, seed=4, env=FullyObsWrapper(stock(family)))
    assert events["step"] >= 150


@pytest.mark.parametrize("family", MINIGRID)
def test_the_fully_observed_image_shows_what_a_scene_shows(family: str) -> None:
    from minigrid.core.constants import COLOR_TO_IDX, OBJECT_TO_IDX
    from minigrid.wrappers import FullyObsWrapper

    env = FullyObsWrapper(stock(family))
    image = env.reset(seed=900_007)[0]["image"]
    shown = scene(world_of(family, 900_007))
    assert image.shape == (shown.width, shown.height, 3)
    for at, held in enumerate(shown.cells):
        if at == shown.pos:
            continue  # the stock observation draws the agent over what it stands on
        state = ("open", "closed", "locked").index(held.state) if held.state else 0
        colour = COLOR_TO_IDX[held.colour] if held.colour else 0
        triple = [OBJECT_TO_IDX[held.type], colour, state]
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
    from minigrid.core.world_object import Wall

    from echoctl.worlds.things import EMPTY, WALL

    for at, held in enumerate(world._grid):
        if held == EMPTY and at != world._pos:  # fill every free cell of both with wall
            env.grid.grid[at] = Wall()
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
