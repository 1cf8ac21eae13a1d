from __future__ import annotations

import base64
import io
from typing import Any

import pytest
import render_sample as sample
from PIL import Image

from echoctl.render import theatre
from echoctl.render.film import MOST_FRAMES, Film, gif, picture, player, rows, still
from echoctl.render.screen import Screen
from echoctl.render.text import Text


def boards(film: dict[str, Any]) -> list[list[int]]:
    """Play a film's changes as the page's script does."""
    board = [-1] * (film["width"] * film["height"])
    out = []
    for changes, *_ in film["moments"]:
        for at, tile in zip(changes[::2], changes[1::2], strict=True):
            board[at] = tile
        out.append(list(board))
    return out


def test_the_player_shows_every_moment_of_every_film() -> None:
    films = sample.films()
    data = player(films)
    for film, recorded in zip(films, data["films"], strict=True):
        assert len(recorded["moments"]) == len(film.frames)
        kinds: dict[int, object] = {}
        for frame, board in zip(film.frames, boards(recorded), strict=True):
            for held, tile in zip(frame.scene.cells, board, strict=True):
                assert kinds.setdefault(tile, held) == held
        assert [m[1] for m in recorded["moments"]] == [f.scene.pos for f in film.frames]


def test_the_sheet_holds_every_tile_and_four_arrows() -> None:
    data = player(sample.films("DoorKey-6x6"))
    image = Image.open(io.BytesIO(base64.b64decode(data["sheet"].partition(",")[2])))
    assert image.size == ((data["agent"] + 4) * data["tile"], data["tile"])


def test_a_gif_moves_loops_and_shows_the_films_side_by_side() -> None:
    films = sample.films("Dynamic-Obstacles-6x6")
    with Image.open(io.BytesIO(gif(films, fps=10, size=12))) as image:
        assert image.n_frames == max(len(f.frames) for f in films)  # type: ignore[attr-defined]
        assert image.width >= 2 * 6 * 12
        assert image.info["loop"] == 0


def test_a_long_episode_becomes_a_gif_of_bounded_length() -> None:
    film = sample.films()[1]
    long = Film(film.arm, film.family, film.seed, list(film.frames) * 30, film.end)
    assert len(long.frames) > MOST_FRAMES
    with Image.open(io.BytesIO(gif([long], size=8))) as image:
        assert image.n_frames <= MOST_FRAMES + 1  # type: ignore[attr-defined]


def test_a_still_is_the_last_moment() -> None:
    film = sample.films()[0]
    image = Image.open(io.BytesIO(base64.b64decode(still(film, 8).partition(",")[2])))
    assert image.size == (film.frames[-1].scene.width * 8, film.frames[-1].scene.height * 8)


def test_different_things_look_different() -> None:
    shown = sample.films("DoorKey-6x6")[0].frames[0].scene
    image = picture(shown, 16)
    by_thing = {}
    for at, held in enumerate(shown.cells):
        if at != shown.pos:
            left, top = at % shown.width * 16, at // shown.width * 16
            by_thing[held] = image.crop((left, top, left + 16, top + 16)).tobytes()
    assert len(by_thing) >= 5
    assert len(set(by_thing.values())) == len(by_thing)


def test_the_terminal_shows_the_agent_where_it_is() -> None:
    shown = sample.films()[0].frames[0].scene
    cells = [cell for line in rows(shown) for cell in line]
    assert cells[shown.pos][0] in {">>", "vv", "<<", "^^"}
    assert all(len(text) == 2 for text, _ in cells)
    assert len(cells) == shown.width * shown.height


def test_an_episode_in_a_pipe_is_a_readable_walk(capsys: pytest.CaptureFixture[str]) -> None:
    film = sample.films("DoorKey-6x6")[1]
    theatre.play(film, Screen(), Text("en"), fps=60)
    out = capsys.readouterr().out
    assert out.splitlines()[0] == f"DoorKey-6x6 · aprendida · {film.seed}"
    assert out.count("##") >= 20 * len(film.frames)
    assert f"{film.steps}/{film.steps}" in out
    assert Text("en")(f"end.{film.end}") in out.splitlines()[-film.frames[0].scene.height - 1]
