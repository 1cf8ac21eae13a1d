"""The signals that propose pieces, and the menu that they lead to."""

from __future__ import annotations

import pytest
from acumula_scenes import SCENES
from life_bench import life_of

from echoctl.mind.edits import PIECES as PIECE
from echoctl.mind.edits import Edit
from echoctl.tracks.acumula3 import LifeWithPieces
from echoctl.tracks.acumula3.policy import Handy, signals

COMMIT, NO_REPICK, NO_RETOGGLE, CLEAR, WANDER = 1, 2, 4, 8, 16


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("commit", ["pickdrop", "blockdrop"]),
        ("clear", ["blockdrop"]),
        ("bound", []),
        ("no_repick", ["pickdrop", "blockdrop"]),
    ],
)
def test_a_life_without_the_piece_shows_its_signal(name: str, expected: list[str]) -> None:
    _, _, mind = SCENES[name].live(on=False)
    assert isinstance(mind, Handy)
    assert signals(mind, pickdrop=3, retoggle=3, idle=20) == expected


def test_changing_a_cell_three_times_is_a_signal_and_twice_is_none() -> None:
    _, _, mind = SCENES["no_retoggle"].live(on=False)
    assert isinstance(mind, Handy)
    assert signals(mind, 3, 3, 99) == []
    assert signals(mind, 3, 2, 99) == ["retoggle"]


def test_idle_counts_the_steps_that_were_left_out_at_rest() -> None:
    _, _, mind = SCENES["wander"].live(on=False)
    assert isinstance(mind, Handy)
    assert "idle" not in signals(mind, 3, 3, 20)
    mind.rest(30)
    assert "idle" in signals(mind, 3, 3, 20)


def pieces_of(frequencies: dict[str, int] | None, *on: int) -> list[tuple[int, int]]:
    life = life_of("acumula3", "recursiva")
    assert isinstance(life, LifeWithPieces)
    for mask in on:
        life.configuration = life.configuration.with_(Edit(PIECE, mask))
    return [(p.edit.key, p.explained) for p in life.pieces_menu(frequencies)]


def test_the_pair_is_offered_beside_commit_and_no_repick_never_alone() -> None:
    assert pieces_of({"pickdrop": 2}) == [(COMMIT, 2), (COMMIT | NO_REPICK, 2)]


def test_once_commit_is_on_no_repick_is_offered_by_itself() -> None:
    assert pieces_of({"pickdrop": 2}, COMMIT) == [(NO_REPICK, 2)]


def test_pieces_come_by_frequency_of_their_signal_and_only_if_signalled() -> None:
    asked = {"idle": 1, "retoggle": 3, "blockdrop": 2}
    assert pieces_of(asked) == [(NO_RETOGGLE, 3), (CLEAR, 2), (WANDER, 1)]
    assert pieces_of({}) == []


def test_what_is_on_is_not_offered_again_and_chance_draws_from_all_the_rest() -> None:
    assert pieces_of({"idle": 4}, WANDER) == []
    assert {mask for mask, _ in pieces_of(None, WANDER)} == {
        COMMIT, COMMIT | NO_REPICK, NO_RETOGGLE, CLEAR,
    }  # fmt: skip
