from __future__ import annotations

import re
from importlib.resources import files
from itertools import product

import pytest

STYLE = files("echoctl.render").joinpath("report.css").read_text(encoding="utf-8")
LIGHT, DARK = (
    dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block))
    for block in re.findall(r":root \{(.*?)\}", STYLE, re.S)[:2]
)


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_both_themes_define_the_same_colours() -> None:
    assert LIGHT.keys() == DARK.keys()
    assert len(LIGHT) > 10


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_all_text_reads_on_every_ground_it_stands_on(theme: dict[str, str]) -> None:
    pairs = [
        *product(("ink", "soft", "ours", "green", "red"), ("paper", "card", "panel")),
        ("green", "green-wash"), ("red", "red-wash"), ("amber", "amber-wash"),
    ]  # fmt: skip
    for text, ground in pairs:
        assert contrast(theme[text], theme[ground]) >= 4.5, (text, ground)


def mixed(one: str, other: str, share: float) -> str:
    parts = [
        round(int(one[i : i + 2], 16) * share + int(other[i : i + 2], 16) * (1 - share))
        for i in (1, 3, 5)
    ]
    return "#" + "".join(f"{part:02x}" for part in parts)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("tone", ["heat", "heat-bad"])
def test_numbers_read_on_the_darkest_cell(theme: dict[str, str], tone: str) -> None:
    most = re.search(r"var\(--share\) \* (\d+)%", STYLE)
    assert most is not None
    darkest = mixed(theme[tone], theme["panel"], int(most[1]) / 100)
    assert contrast(theme["ink"], darkest) >= 4.5


def test_marks_of_the_figures_stand_out_from_their_ground() -> None:
    for theme in (LIGHT, DARK):
        for mark in ("ours", "theirs", "red"):
            assert contrast(theme[mark], theme["panel"]) >= 3, mark
