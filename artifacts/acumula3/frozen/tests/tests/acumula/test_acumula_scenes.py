"""Each edit and each piece changes what happens in a small world, and its walk is on file."""

from __future__ import annotations

import pytest
from acumula_scenes import SCENES, WALKS, record

from echoctl.mind.edits import NAMES
from echoctl.tracks.acumula3.policy import PIECES, Handy


@pytest.mark.parametrize("name", SCENES)
def test_the_recorded_lives_are_lived_again_to_the_letter(name: str) -> None:
    assert record(name) == (WALKS / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SCENES)
def test_it_changes_what_happens(name: str) -> None:
    without, _, _ = SCENES[name].live(on=False)
    with_, _, _ = SCENES[name].live(on=True)
    assert without != with_


def test_every_edit_every_piece_and_the_hand_fix_have_a_scene_and_nothing_else_has() -> None:
    edits = set(NAMES) - {"", "pieces"}
    assert set(SCENES) == edits | set(PIECES) | {"hand"}
    assert {path.stem for path in WALKS.iterdir()} == set(SCENES)


@pytest.mark.parametrize("name", ["silence", "verify", "refine", "order"])
def test_this_edit_turns_a_failure_into_a_success(name: str) -> None:
    _, without, _ = SCENES[name].live(on=False)
    _, with_, _ = SCENES[name].live(on=True)
    assert (without.won, with_.won) == (False, True)


def test_bound_keeps_out_of_what_killed_twice() -> None:
    assert SCENES["bound"].live(on=False)[1].over
    assert not SCENES["bound"].live(on=True)[1].over


def test_commit_ends_the_going_back_and_forth_and_opens_the_door() -> None:
    assert "D" in SCENES["commit"].live(on=False)[1].grid
    assert "_" in SCENES["commit"].live(on=True)[1].grid


def test_no_repick_bans_an_id_everywhere_and_only_until_something_is_new() -> None:
    _, _, mind = SCENES["no_repick"].live(on=True)
    assert isinstance(mind, Handy)
    assert set(mind.picks.values()) == {2, 3}
    assert any(since < mind.news for since in mind.not_again.values()), "that ban is over"


def test_no_retoggle_leaves_the_door_open() -> None:
    assert "d" in SCENES["no_retoggle"].live(on=False)[1].grid
    assert "_" in SCENES["no_retoggle"].live(on=True)[1].grid


def test_clear_puts_the_key_where_it_cuts_nothing() -> None:
    _, _, without = SCENES["clear"].live(on=False)
    _, world, with_ = SCENES["clear"].live(on=True)
    assert isinstance(without, Handy)
    assert isinstance(with_, Handy)
    assert (without.cut, with_.cut) == (1, 0)
    assert world.won


def test_wander_visits_every_cell_before_any_twice() -> None:
    _, _, mind = SCENES["wander"].live(on=True)
    assert isinstance(mind, Handy)
    assert len(mind.visits) == 8
