"""Starts: drawn by MiniGrid, counted, cached."""

from __future__ import annotations

import pytest

from echoctl.percept import ACTIONS, FORWARD, WAIT
from echoctl.worlds import FAMILIES, Permit, build, distinct_starts, scene, starts
from echoctl.worlds.starts import CACHED_STARTS, start_of

PERMIT = Permit.conformance(FAMILIES)

SOURCES = (
    "LavaGapS7 DoorKey-6x6 Dynamic-Obstacles-6x6 LavaCrossingS9N1 KeyCorridorS3R1 DistShift2 "
    "UnlockPickup Dynamic-Obstacles-16x16 "  # A
    "DistShift1 LavaGapS5 LavaCrossingS9N2 Dynamic-Obstacles-5x5 SimpleCrossingS9N1 "
    "LavaCrossingS9N3 KeyCorridorS3R2 DoorKey-8x8 LavaCrossingS11N5 "
    "Dynamic-Obstacles-Random-6x6 BlockedUnlockPickup ObstructedMaze-1Dl "  # B v1
    "ObstructedMaze-2Dlh Dynamic-Obstacles-Random-5x5 ObstructedMaze-2Dl ObstructedMaze-1Dlhb "
    "KeyCorridorS3R3 ObstructedMaze-1Dlh "  # B v3
    "island_navigation ShiftTest"
)


def test_every_family_that_the_contracts_name_is_there_and_no_other() -> None:
    assert sorted(SOURCES.split()) == sorted(FAMILIES)
    assert sum(family.dynamics != "safety" for family in FAMILIES.values()) == 26


@pytest.mark.parametrize(
    ("family", "seeds", "expected"),
    [
        ("DistShift1", 50, 4),  # one layout, four headings
        ("LavaGapS5", 200, 3),
        ("LavaGapS7", 400, 15),
        ("LavaCrossingS9N1", 900, 42),
        ("SimpleCrossingS9N1", 900, 42),
        ("Dynamic-Obstacles-5x5", 900, 21),
        ("island_navigation", 50, 4),
        ("ShiftTest", 50, 8),
        ("DoorKey-8x8", 1, 1),
    ],
)
def test_distinct_starts_are_those_that_the_design_counted(
    family: str, seeds: int, expected: int
) -> None:
    assert distinct_starts(family, range(900_000, 900_000 + seeds)) == expected


def test_the_order_of_seeds_does_not_change_a_start() -> None:
    forwards = [start_of("KeyCorridorS3R3", seed) for seed in range(900_000, 900_010)]
    starts._cached.cache_clear()
    backwards = [start_of("KeyCorridorS3R3", seed) for seed in reversed(range(900_000, 900_010))]
    assert forwards == backwards[::-1]


def test_a_seen_start_comes_from_the_cache_and_the_cache_is_bounded() -> None:
    starts._cached.cache_clear()
    first = start_of("LavaGapS7", 900_123)
    assert start_of("LavaGapS7", 900_123) is first
    info = starts._cached.cache_info()
    assert (info.hits, info.misses, info.maxsize) == (1, 1, CACHED_STARTS)


def test_another_minigrid_version_invalidates_cached_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = start_of("LavaGapS7", 900_124)
    monkeypatch.setattr(starts, "_minigrid_version", lambda: "9.9.9")
    assert start_of("LavaGapS7", 900_124) is not first


def test_a_cached_start_is_not_changed_by_playing_it() -> None:
    world = build("ObstructedMaze-2Dlh", 900_200, ids=("a",), permit=PERMIT)
    kept = start_of("ObstructedMaze-2Dlh", 900_200)
    begun = scene(world)
    for _ in range(20):
        for action in ACTIONS:
            world.step(action)
    assert start_of("ObstructedMaze-2Dlh", 900_200) == kept
    world.reset()
    assert scene(world) == begun


@pytest.mark.parametrize("family", FAMILIES)
def test_a_reset_repeats_the_episode_exactly(family: str) -> None:
    world = build(family, 900_300, ids=("a",), permit=PERMIT)
    actions = [(seed * 7 + seed // 3) % 7 for seed in range(60)]

    def play() -> list[object]:
        seen: list[object] = [world.reset()]
        for action in actions:
            if world.over:
                break
            seen.append(world.step(action))
        return [*seen, world.steps, world.hit, world.success, world.generator]

    assert play() == play()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_step_after_the_end_is_an_error_until_the_world_is_reset(family: str) -> None:
    world = build(family, 900_300, ids=("a",), permit=PERMIT)
    while not world.over:
        world.step(WAIT)
    with pytest.raises(RuntimeError, match="episode is over"):
        world.step(WAIT)
    world.reset()
    world.step(WAIT)


@pytest.mark.parametrize("action", [-1, 7, 100])
def test_an_action_that_is_none_is_an_error_and_costs_nothing(action: int) -> None:
    for family in ("LavaGapS5", "Dynamic-Obstacles-5x5", "ShiftTest"):
        world = build(family, 900_300, ids=("a",), permit=PERMIT)
        with pytest.raises(ValueError, match="an action is one of"):
            world.step(action)
        assert world.steps == 0
        world.step(FORWARD)


@pytest.mark.parametrize("family", [name for name in FAMILIES if FAMILIES[name].turned])
def test_where_the_layout_is_fixed_four_seeds_face_four_ways(family: str) -> None:
    pace = 2 if family == "ShiftTest" else 1
    seeds = range(900_000, 900_000 + 4 * pace, pace)
    headings = [scene(build(family, s, ids=("a",), permit=PERMIT)).heading for s in seeds]
    assert headings == [0, 1, 2, 3]
