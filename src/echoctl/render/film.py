"""One episode as pictures: in the terminal, as a GIF, and as data for the page's player."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL import Image

    from echoctl.worlds import Scene
    from echoctl.worlds.things import Thing

MOST_FRAMES = 240
"""A GIF shows at most this many moments; a longer episode is shown every so many steps."""


@dataclass(frozen=True)
class Frame:
    """One moment: what there was to see after an action (empty for the first)."""

    scene: Scene
    action: str = ""
    reward: int = 0
    """Thousandths."""


@dataclass(frozen=True)
class Film:
    """One recorded episode of one arm in one world."""

    arm: str
    family: str
    seed: int
    frames: Sequence[Frame]
    end: str
    """``success``, ``harm`` or ``timeout``."""

    @property
    def steps(self) -> int:
        """Return the number of steps played."""
        return len(self.frames) - 1


# --- terminal ------------------------------------------------------------------------------

_STYLES = {
    "wall": "white on grey39", "goal": "bold white on dark_green", "lava": "yellow on dark_orange3",
    "water": "bright_white on blue",
}  # fmt: skip
_INKS = {"red": "red", "green": "green", "blue": "blue", "purple": "magenta", "yellow": "yellow",
         "grey": "bright_black"}  # fmt: skip


def rows(shown: Scene) -> Iterator[list[tuple[str, str]]]:
    """Yield the board row by row as (two characters, style); readable without colour too."""
    from echoctl.worlds.behind import sign

    for top in range(shown.height):
        line = []
        for at in range(top * shown.width, (top + 1) * shown.width):
            held = shown.cells[at]
            style = _STYLES.get(held.type, f"bold {_INKS.get(held.colour, 'default')}")
            if at == shown.pos:
                ground = style.partition(" on ")[2] if held.type in _STYLES else ""
                line.append(
                    (">v<^"[shown.heading] * 2, f"bold bright_red on {ground or 'default'}")
                )
            else:
                line.append((sign(held), style))
        yield line


# --- pictures ------------------------------------------------------------------------------


def picture(shown: Scene, size: int = 24) -> Image.Image:
    """Return one moment as an image of `size` pixels a cell."""
    from PIL import Image

    from echoctl.render.tiles import SIZE, agent, tile

    image = Image.new("RGB", (shown.width * SIZE, shown.height * SIZE))
    for at, held in enumerate(shown.cells):
        image.paste(tile(held), (at % shown.width * SIZE, at // shown.width * SIZE))
    arrow = agent(shown.heading)
    left, top = shown.pos % shown.width * SIZE, shown.pos // shown.width * SIZE
    image.paste(arrow, (left, top), arrow)
    if shown.hand.type != "nothing":
        image.paste(tile(shown.hand).resize((SIZE // 2, SIZE // 2)), (left + SIZE // 2, top))
    if size != SIZE:
        image = image.resize((shown.width * size, shown.height * size), Image.Resampling.LANCZOS)
    return image


def still(film: Film, size: int = 24) -> str:
    """Return the last moment as a PNG data address."""
    image = picture(film.frames[-1].scene, size).quantize(64)
    return _data(image, "PNG")


def gif(films: Sequence[Film], fps: int = 6, size: int = 20) -> bytes:
    """Return the films side by side as one looping GIF that rests on its last moment."""
    from PIL import Image

    longest = max(len(film.frames) for film in films)
    stride = -(-longest // MOST_FRAMES)
    moments = sorted({*range(0, longest, stride), longest - 1})
    pictures = []
    for moment in moments:
        parts = [picture(f.frames[min(moment, len(f.frames) - 1)].scene, size) for f in films]
        width = sum(p.width for p in parts) + size * (len(parts) - 1) // 2
        sheet = Image.new("RGB", (width, max(p.height for p in parts)), (255, 255, 255))
        left = 0
        for part in parts:
            sheet.paste(part, (left, 0))
            left += part.width + size // 2
        pictures.append(sheet)
    palette = pictures[0].quantize(128)
    frames = [p.quantize(palette=palette, dither=Image.Dither.NONE) for p in pictures]
    each = max(20, 1000 // fps)
    buffer = io.BytesIO()
    frames[0].save(
        buffer,
        "GIF",
        save_all=True,
        append_images=frames[1:],
        loop=0,
        duration=[each] * (len(frames) - 1) + [2500],
        optimize=False,
    )
    return buffer.getvalue()


def player(films: Sequence[Film]) -> dict[str, Any]:
    """Return what the page's player needs: one sheet of tiles, and per film only the changes.

    A moment is ``[changes, position, heading, hand, action, reward]``; changes are cell and
    tile numbers in turn.
    """
    from PIL import Image

    from echoctl.render.tiles import SIZE, agent, tile

    numbers: dict[Thing, int] = {}
    recorded = []
    for film in films:
        before: tuple[Thing, ...] = ()
        moments: list[list[Any]] = []
        for frame in film.frames:
            changes: list[int] = []
            for at, held in enumerate(frame.scene.cells):
                if not before or (before[at] is not held and before[at] != held):
                    changes += [at, numbers.setdefault(held, len(numbers))]
            before = frame.scene.cells
            hand = frame.scene.hand
            held_tile = -1 if hand.type == "nothing" else numbers.setdefault(hand, len(numbers))
            moments.append(
                [
                    changes,
                    frame.scene.pos,
                    frame.scene.heading,
                    held_tile,
                    frame.action,
                    frame.reward,
                ]
            )
        first = film.frames[0].scene
        recorded.append(
            {
                "arm": film.arm,
                "width": first.width,
                "height": first.height,
                "end": film.end,
                "moments": moments,
            }
        )
    sheet = Image.new("RGBA", (SIZE * (len(numbers) + 4), SIZE))
    for held, number in numbers.items():
        sheet.paste(tile(held), (number * SIZE, 0))
    for heading in range(4):
        sheet.paste(agent(heading), ((len(numbers) + heading) * SIZE, 0))
    return {"tile": SIZE, "sheet": _data(sheet, "PNG"), "agent": len(numbers), "films": recorded}


def _data(image: Image.Image, kind: str) -> str:
    buffer = io.BytesIO()
    image.save(buffer, kind, optimize=True)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
