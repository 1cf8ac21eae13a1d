"""An episode played in the terminal: live where there is one, as a readable walk in a pipe."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text as Rich

from echoctl.render.film import Film, Frame, rows
from echoctl.render.screen import Screen
from echoctl.render.text import Text

if TYPE_CHECKING:
    from rich.console import RenderableType


def play(film: Film, screen: Screen, t: Text, fps: float) -> None:
    """Show the film moment after moment; on a terminal at `fps`, elsewhere without waiting."""
    title = Rich(f"{film.family} · {film.arm} · {film.seed}", style="bold")
    if not screen.out.is_terminal:
        screen.show(title, *(moment(film, number, t) for number in range(len(film.frames))))
        return
    from rich.live import Live

    with Live(console=screen.out, auto_refresh=False) as live:
        for number in range(len(film.frames)):
            live.update(Group(title, moment(film, number, t)), refresh=True)
            time.sleep(1 / fps)


def moment(film: Film, number: int, t: Text) -> RenderableType:
    """Return one moment: what was done, what there is to see, what is in hand."""
    frame = film.frames[number]
    board = []
    for line in rows(frame.scene):
        text = Rich("  ")
        for cell, style in line:
            text.append(cell, style=style)
        board.append(text)
    return Group(_caption(film, number, frame, t), *board)


def _caption(film: Film, number: int, frame: Frame, t: Text) -> Rich:
    from echoctl.worlds.behind import sign

    words = [f"{number}/{film.steps}"]
    words.append(t.maybe(f"action.{frame.action}", frame.action) if number else t("player.start"))
    if frame.reward:
        words.append(f"{t('player.reward')} {frame.reward / 1000:+g}")
    if frame.scene.hand.type != "nothing":
        words.append(f"{t('player.hand')} {sign(frame.scene.hand)}")
    if number == film.steps:
        words.append(t(f"end.{film.end}"))
    return Rich("  " + " · ".join(words), style="dim")
