"""What a mind may see, and what it may not."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import echoctl
from echoctl.percept import ACTIONS, FORWARD, TAKE, USE, Percept
from echoctl.worlds import FAMILIES, Permit, World, build, scene, truth
from echoctl.worlds.things import (
    BOXES,
    CHAR_LAVA,
    CLASSES,
    EMPTY,
    GOAL,
    LAVA,
    NOTHING,
    WALL,
    opaque_ids,
)

PERMIT = Permit.conformance(FAMILIES)
SOURCE = Path(echoctl.__file__).parent
NAMES = st.lists(st.one_of(st.integers(0, 2**53 - 1), st.text(max_size=8)), max_size=4).map(tuple)


def world_of(family: str, seed: int, *ids: str | int) -> World:
    return build(family, seed, ids=ids or ("secret",), permit=PERMIT)


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- names never cross -----------------------------------------------------------------------


def test_minds_and_percepts_load_where_importing_minigrid_fails() -> None:
    run("""
        import sys
        for name in ("minigrid", "gymnasium", "numpy", "echoctl.worlds"):
            sys.modules[name] = None
        import echoctl.percept, echoctl.mind
        try:
            import minigrid
        except ImportError:
            pass
        else:
            raise SystemExit("minigrid was meant to fail here")
    """)


def test_naming_the_worlds_loads_neither_minigrid_nor_numpy() -> None:
    run("""
        import sys
        import echoctl.worlds
        loaded = {"minigrid", "gymnasium", "numpy", "pygame"} & set(sys.modules)
        assert not loaded, loaded
    """)


def test_a_safety_gridworld_is_built_and_played_without_minigrid_or_numpy() -> None:
    run("""
        import sys
        for name in ("minigrid", "gymnasium", "numpy"):
            sys.modules[name] = None
        from echoctl.worlds import Permit, build
        permit = Permit.conformance(["island_navigation"])
        world = build("island_navigation", 900_000, ids=("a",), permit=permit)
        assert world.step(0).reward == -1000
    """)


def test_nothing_is_printed_when_minigrid_loads() -> None:
    printed = run("""
        from echoctl.worlds import Permit, build
        build("LavaGapS5", 900_000, ids=("a",), permit=Permit.conformance(["LavaGapS5"]))
    """)
    assert printed == ""


def test_worlds_are_built_from_a_sealed_zip(tmp_path: Path) -> None:
    archive = tmp_path / "code.zip"
    with zipfile.ZipFile(archive, "w") as sealed:
        for file in sorted(SOURCE.rglob("*.py")):
            sealed.write(file, str(file.relative_to(SOURCE.parent)))
    run(f"""
        import sys
        sys.path.insert(0, {str(archive)!r})
        import echoctl.worlds
        assert ".zip" in echoctl.worlds.__file__
        permit = echoctl.worlds.Permit.conformance(echoctl.worlds.FAMILIES)
        for family in ("ShiftTest", "LavaGapS5"):
            echoctl.worlds.build(family, 900_000, ids=("a",), permit=permit).step(0)
    """)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_percept_is_whole_numbers_and_one_string_of_bytes(family: str) -> None:
    world = world_of(family, 900_001)
    for percept in (world.reset(), world.step(FORWARD)):
        assert type(percept) is Percept
        kinds = [type(value) for value in percept]
        assert kinds == [int, int, bytes, int, int, int, int, bool]
        assert len(percept.cells) == percept.width * percept.height


@pytest.mark.parametrize("family", FAMILIES)
def test_the_board_is_the_same_object_until_something_on_it_changes(family: str) -> None:
    draw = random.Random(family)
    for seed in range(900_000, 900_006):
        world = world_of(family, seed)
        before = world.reset()
        while not world.over:
            after = world.step(draw.choice(ACTIONS))
            if FAMILIES[family].dynamics != "obstacles":
                assert (after.cells is before.cells) == (after.cells == before.cells)
            before = after


def test_the_cell_under_the_agent_shows_what_it_stands_on() -> None:
    draw = random.Random(3)
    table = opaque_ids(("secret",))
    stood_on = set()
    for seed in range(900_000, 900_040):
        world = world_of("KeyCorridorS3R1", seed)
        percept = world.reset()
        while not world.over:
            assert percept.cells[percept.pos] == table[world._grid[percept.pos] & 255]
            stood_on.add(scene(world).cells[percept.pos].type)
            percept = world.step(draw.choice((*ACTIONS, FORWARD, FORWARD, USE)))
    assert stood_on == {"empty", "door"}


def test_what_a_box_hides_shows_nowhere_until_it_is_opened() -> None:
    world = world_of("ObstructedMaze-2Dlh", 900_001)
    hidden = [held >> 8 for held in world._grid if held > 255]
    assert len(hidden) == 2
    assert len(set(hidden)) == 2
    percept = world.reset()
    table = opaque_ids(("secret",))
    assert all(percept.cells.count(table[inside]) == 0 for inside in hidden)
    boxes = {percept.cells[at] for at, held in enumerate(world._grid) if held > 255}
    assert len(boxes) == 1  # two boxes of one colour look the same whatever is in them
    assert boxes <= {table[box] for box in BOXES}


# --- opaque ids ------------------------------------------------------------------------------


@given(NAMES)
def test_every_class_has_its_own_id_an_empty_hand_included(ids: tuple[str | int, ...]) -> None:
    table = opaque_ids(ids)
    assert len({table[class_] for class_ in CLASSES}) == len(CLASSES)
    assert NOTHING in CLASSES


def test_the_same_name_gives_the_same_ids_in_every_family() -> None:
    goal = {family: world_of(family, 900_000, "A1", 7) for family in ("LavaGapS7", "DoorKey-6x6")}
    tables = {family: truth(world) for family, world in goal.items()}
    assert tables["LavaGapS7"] == tables["DoorKey-6x6"]
    other = truth(world_of("LavaGapS7", 900_000, "A1", 8))
    assert other != tables["LavaGapS7"]


def test_ids_are_pinned_so_that_no_release_redraws_them() -> None:
    table = opaque_ids(("A1", 1))
    pinned = [table[class_] for class_ in (NOTHING, EMPTY, WALL, GOAL, LAVA, CHAR_LAVA)]
    assert pinned == [192, 248, 66, 190, 65, 112]


def test_ids_are_drawn_from_all_256_and_may_meet_ids_of_another_bijection_by_chance() -> None:
    counts: Counter[int] = Counter()
    met = 0
    learned = {opaque_ids(("learned",))[class_] for class_ in CLASSES}
    for name in range(2000):
        ids = {opaque_ids(("fresh", name))[class_] for class_ in CLASSES}
        counts.update(ids)
        met += len(ids & learned)
    assert set(counts) == set(range(256))
    expected = 2000 * len(CLASSES) / 256
    assert sum((n - expected) ** 2 / expected for n in counts.values()) < 330  # 255 freedoms
    assert 2000 * len(CLASSES) * len(CLASSES) / 256 * 0.95 < met
    assert met < 2000 * len(CLASSES) * len(CLASSES) / 256 * 1.05


# --- the truth that the oracle is given ------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_the_true_roles_are_what_random_actions_bring_about(family: str) -> None:
    draw = random.Random(family)
    for seed in range(900_000, 900_030):
        world = world_of(family, seed)
        before = world.reset()
        roles = truth(world)
        while not world.over:
            ahead = before.pos + (1, before.width, -1, -before.width)[before.heading]
            held = roles[before.cells[ahead]]
            action = draw.choice((*ACTIONS, FORWARD, FORWARD))
            after = world.step(action)
            if action == FORWARD:
                assert ("HURT" in held) == (after.terminal and after.reward <= 0)
                assert "NOOP" not in held or after.pos == before.pos
                if "FREE" in held and FAMILIES[family].dynamics != "obstacles":
                    assert after.pos == ahead
                if "GOAL" in held and "PICK" not in held:
                    assert after.reward > 0
            if action == TAKE and before.hand == opaque_ids(("secret",))[NOTHING]:
                assert ("PICK" in held) == (after.hand != before.hand)
                assert ("PICK" in held and "GOAL" in held) == (after.reward > 0)
            if action == USE and after.cells[ahead] != before.cells[ahead]:
                assert held & {"OPEN", "FREE", "GOAL", "AUTO"}
            before = after


@pytest.mark.parametrize("family", FAMILIES)
def test_every_visible_thing_has_a_true_role(family: str) -> None:
    for seed in range(900_000, 900_010):
        world = world_of(family, seed)
        assert set(world.reset().cells) <= set(truth(world))
