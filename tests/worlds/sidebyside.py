"""Step a world and the stock environment together and compare everything that either holds."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from echoctl.percept import DROP, FORWARD, TAKE, USE, Percept
from echoctl.worlds import CONFORMANCE_SEEDS, FAMILIES, Permit, World, build
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
