"""Small pictures of the things that stand in a cell, drawn once and used everywhere.

Every picture of a world (page, GIF, still) is put together from these tiles. They are drawn at
four times their size and reduced, which is what smooths the edges.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw

if TYPE_CHECKING:
    from echoctl.worlds.things import Thing

SIZE = 32
"""Width and height of a tile in pixels."""
_BIG = 4 * SIZE

Colour = tuple[int, int, int]

FLOOR: Colour = (244, 242, 234)
GRID: Colour = (226, 222, 210)
COLOURS: dict[str, Colour] = {
    "red": (200, 55, 45), "green": (46, 139, 87), "blue": (45, 105, 185),
    "purple": (128, 70, 160), "yellow": (214, 160, 20), "grey": (125, 128, 132),
}  # fmt: skip
DARK: Colour = (38, 42, 48)
AGENT: Colour = (208, 48, 92)


@lru_cache(maxsize=256)
def tile(held: Thing) -> Image.Image:
    """Return the tile of a thing on the floor."""
    image = Image.new("RGB", (_BIG, _BIG), FLOOR)
    pen = ImageDraw.Draw(image)
    draw = {
        "wall": _wall, "goal": _goal, "lava": _lava, "water": _water, "door": _door,
        "key": _key, "ball": _ball, "box": _box,
    }.get(held.type)  # fmt: skip
    if draw is not None:
        draw(pen, held)
    if held.type not in {"wall", "lava", "water"}:
        pen.rectangle((0, 0, _BIG - 1, _BIG - 1), outline=GRID, width=4)
    return image.resize((SIZE, SIZE), Image.Resampling.LANCZOS)


@lru_cache(maxsize=4)
def agent(heading: int) -> Image.Image:
    """Return the agent's arrow (0 east, clockwise) on a transparent tile."""
    image = Image.new("RGBA", (_BIG, _BIG), (*AGENT, 0))
    pen = ImageDraw.Draw(image)
    middle, far = _BIG / 2, _BIG * 0.40
    turn = math.radians(90 * heading)
    points = [
        (middle + far * r * math.cos(turn + a), middle + far * r * math.sin(turn + a))
        for r, a in ((1.0, 0.0), (1.0, 2.45), (0.35, math.pi), (1.0, -2.45))
    ]
    pen.polygon(points, fill=(*AGENT, 255), outline=(255, 255, 255, 255), width=5)
    return image.resize((SIZE, SIZE), Image.Resampling.LANCZOS)


def _wall(pen: ImageDraw.ImageDraw, held: Thing) -> None:
    pen.rectangle((0, 0, _BIG, _BIG), fill=(92, 97, 104))
    pen.rectangle((0, _BIG - 10, _BIG, _BIG), fill=(74, 79, 86))
    pen.rectangle((0, 0, _BIG, 6), fill=(112, 117, 124))


def _goal(pen: ImageDraw.ImageDraw, held: Thing) -> None:
    pen.rectangle((0, 0, _BIG, _BIG), fill=(205, 232, 213))
    edge = _BIG * 0.17
    pen.rounded_rectangle((edge, edge, _BIG - edge, _BIG - edge), 18, fill=COLOURS["green"])
    tick = [(0.32, 0.52), (0.45, 0.65), (0.69, 0.37)]
    points = [(_BIG * x, _BIG * y) for x, y in tick]
    pen.line(points, fill=(255, 255, 255), width=13, joint="curve")


def _waves(pen: ImageDraw.ImageDraw, ground: Colour, crest: Colour) -> None:
    pen.rectangle((0, 0, _BIG, _BIG), fill=ground)
    for row in (0.24, 0.52, 0.80):
        points = [
            (x, _BIG * (row + 0.055 * math.sin(2 * math.pi * x / (_BIG / 2))))
            for x in range(0, _BIG + 1, 4)
        ]
        pen.line(points, fill=crest, width=9, joint="curve")


def _lava(pen: ImageDraw.ImageDraw, held: Thing) -> None:
    _waves(pen, (222, 98, 32), (255, 190, 80))


def _water(pen: ImageDraw.ImageDraw, held: Thing) -> None:
    _waves(pen, (62, 120, 178), (150, 196, 232))


def _door(pen: ImageDraw.ImageDraw, held: Thing) -> None:
    colour = COLOURS.get(held.colour, DARK)
    edge = _BIG * 0.07
    if held.state == "open":
        pen.rectangle((edge, edge, _BIG * 0.22, _BIG - edge), fill=colour)
        return
    pen.rectangle((edge, edge, _BIG - edge, _BIG - edge), fill=colour)
    inner = _BIG * 0.16
    lighter = tuple((c + 255) // 2 for c in colour)
    fill = colour if held.state == "locked" else lighter
    pen.rectangle((inner, inner, _BIG - inner, _BIG - inner), fill=fill, outline=FLOOR, width=5)
    if held.state == "locked":
        pen.ellipse((_BIG * 0.40, _BIG * 0.34, _BIG * 0.60, _BIG * 0.54), fill=FLOOR)
        pen.rectangle((_BIG * 0.46, _BIG * 0.48, _BIG * 0.54, _BIG * 0.70), fill=FLOOR)
    else:
        pen.ellipse((_BIG * 0.66, _BIG * 0.46, _BIG * 0.76, _BIG * 0.56), fill=colour)


def _key(pen: ImageDraw.ImageDraw, held: Thing) -> None:
    colour = COLOURS.get(held.colour, DARK)
    pen.ellipse((_BIG * 0.32, _BIG * 0.12, _BIG * 0.68, _BIG * 0.48), outline=colour, width=16)
    pen.rectangle((_BIG * 0.45, _BIG * 0.46, _BIG * 0.56, _BIG * 0.88), fill=colour)
    pen.rectangle((_BIG * 0.54, _BIG * 0.62, _BIG * 0.70, _BIG * 0.70), fill=colour)
    pen.rectangle((_BIG * 0.54, _BIG * 0.78, _BIG * 0.74, _BIG * 0.87), fill=colour)


def _ball(pen: ImageDraw.ImageDraw, held: Thing) -> None:
    colour = COLOURS.get(held.colour, DARK)
    pen.ellipse((_BIG * 0.17, _BIG * 0.17, _BIG * 0.83, _BIG * 0.83), fill=colour)
    light = tuple((c + 2 * 255) // 3 for c in colour)
    pen.ellipse((_BIG * 0.32, _BIG * 0.28, _BIG * 0.46, _BIG * 0.42), fill=light)


def _box(pen: ImageDraw.ImageDraw, held: Thing) -> None:
    colour = COLOURS.get(held.colour, DARK)
    edge = _BIG * 0.16
    light = tuple((c + 2 * 255) // 3 for c in colour)
    pen.rounded_rectangle(
        (edge, edge, _BIG - edge, _BIG - edge), 8, fill=light, outline=colour, width=14
    )
    pen.line((edge, _BIG / 2, _BIG - edge, _BIG / 2), fill=colour, width=12)
    pen.rectangle((_BIG * 0.45, _BIG * 0.44, _BIG * 0.55, _BIG * 0.60), fill=colour)
