"""Figures as SVG, drawn from whole numbers; colours come from the page's style sheet.

Each figure is one accessible image: a title that says what it is and a description that says
what it shows. Coordinates are rounded to tenths, so the same verdict gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from echoctl.render.markup import Markup, tag

WIDTH = 640
"""Width of the drawing's own coordinates; the page scales it."""


@dataclass(frozen=True)
class Pairs:
    """One comparison: a value per unit for the arm and for its rival, in the same order."""

    rival: str
    units: Sequence[str]
    ours: Sequence[int | Fraction]
    theirs: Sequence[int | Fraction]
    note: str


def paired(title: str, arm: str, axis: str, panels: Sequence[Pairs]) -> Markup:
    """Return a dumbbell plot: one panel per rival, one line per unit from rival to arm."""
    values = [float(v) for p in panels for v in (*p.ours, *p.theirs)]
    scale = _Scale(min([0.0, *values]), max([1.0, *values]), 150, WIDTH - 24)
    parts: list[Markup] = []
    top = 8.0
    for panel in panels:
        count = len(panel.units)
        step = 9.0 if count <= 24 else max(2.5, 216 / count)
        height = max(34.0, count * step + 10)
        middle = top + height / 2
        parts.append(tag("text", panel.rival, x=0, y=middle - 3, class_="name"))
        parts.append(tag("text", panel.note, x=0, y=middle + 11, class_="small"))
        parts.append(
            tag(
                "rect",
                x=scale.low,
                y=top,
                width=scale.high - scale.low,
                height=height,
                class_="panel",
            )
        )
        first = middle - (count - 1) * step / 2
        for row in range(count):
            y = first + row * step
            a, b = scale(panel.ours[row]), scale(panel.theirs[row])
            parts.append(tag("line", x1=a, x2=b, y1=y, y2=y, class_="link"))
            parts.append(tag("circle", cx=b, cy=y, r=min(2.8, step / 2), class_="theirs"))
            parts.append(tag("circle", cx=a, cy=y, r=min(3.2, step / 2), class_="ours"))
        top += height + 8
    parts.extend(_axis(scale, top, axis))
    describe = "; ".join(f"{arm} / {p.rival}: {p.note}" for p in panels)
    return _figure(title, describe, top + 34, parts)


def bars(
    title: str,
    axis: str,
    rows: Sequence[tuple[str, int | Fraction, str]],
    limit: Fraction | None,
    limit_text: str,
) -> Markup:
    """Return horizontal bars (name, value, written value) and one line at the limit."""
    values = [float(v) for _, v, _ in rows] + ([float(limit)] if limit is not None else [])
    scale = _Scale(
        min([0.0, *values]),
        max([1.0, *values]) if max(values) > 1 else max(values) or 1.0,
        150,
        WIDTH - 70,
    )
    parts: list[Markup] = []
    top = 8.0
    for index, (name, value, written) in enumerate(rows):
        end = scale(value)
        parts.append(tag("text", name, x=0, y=top + 13, class_="name"))
        parts.append(
            tag(
                "rect",
                x=min(scale(0), end),
                y=top,
                width=max(1.0, abs(end - scale(0))),
                height=18,
                rx=2,
                class_="bar ours" if index == 0 else "bar theirs",
            )
        )
        parts.append(tag("text", written, x=max(end, scale(0)) + 6, y=top + 13, class_="value"))
        top += 26
    if limit is not None:
        x = scale(limit)
        parts.append(tag("line", x1=x, x2=x, y1=2.0, y2=top, class_="limit"))
        anchor = "end" if x > WIDTH * 0.7 else "start"
        shift = -5 if anchor == "end" else 5
        parts.append(
            tag(
                "text",
                limit_text,
                x=x + shift,
                y=top + 8,
                class_="small limit-text",
                text_anchor=anchor,
            )
        )
        top += 14
    parts.extend(_axis(scale, top, axis))
    describe = "; ".join(f"{name}: {written}" for name, _, written in rows)
    return _figure(title, f"{describe}. {limit_text}", top + 34, parts)


def curves(
    title: str,
    axis: str,
    rounds: Sequence[int],
    series: Mapping[str, Sequence[int | Fraction | None]],
    ours: str,
) -> Markup:
    """Return one line per arm over the rounds, named at its end; the arm that decides is bold.

    None stands where an arm played no such round; each line has a value somewhere.
    """
    known = {name: [v for v in line if v is not None] for name, line in series.items()}
    values = [float(v) for line in known.values() for v in line]
    height = 260.0
    across = _Scale(
        float(rounds[0]), float(rounds[-1]) if len(rounds) > 1 else rounds[0] + 1.0, 44, WIDTH - 130
    )
    up = _Scale(0.0, max([1.0, *values]), height - 8, 10)
    parts: list[Markup] = []
    for mark in up.ticks():
        y = up(mark)
        parts.append(tag("line", x1=across.low, x2=across.high, y1=y, y2=y, class_="grid"))
        parts.append(tag("text", _short(mark), x=38, y=y + 4, class_="small", text_anchor="end"))
    for number in rounds:
        parts.append(
            tag(
                "text",
                number,
                x=across(number),
                y=height + 14,
                class_="small",
                text_anchor="middle",
            )
        )
    parts.append(tag("text", axis, x=across.low, y=height + 32, class_="small"))
    labels = _spread({name: up(line[-1]) for name, line in known.items()}, 14, height - 8)
    for name, line in sorted(series.items(), key=lambda item: item[0] == ours):
        kind = "ours" if name == ours else "theirs"
        seen = [(r, v) for r, v in zip(rounds, line, strict=True) if v is not None]
        points = " ".join(f"{across(r):.1f},{up(v):.1f}" for r, v in seen)
        parts.append(tag("polyline", points=points, class_=f"curve {kind}"))
        for number, value in seen:
            parts.append(tag("circle", cx=across(number), cy=up(value), r=2.6, class_=kind))
        written = f"{name} {_short(seen[-1][1])}"
        parts.append(
            tag("text", written, x=across.high + 8, y=labels[name] + 4, class_=f"name {kind}-text")
        )
    describe = "; ".join(
        f"{name}: " + ", ".join(_short(v) for v in line) for name, line in known.items()
    )
    return _figure(title, describe, height + 40, parts)


class _Scale:
    """A linear scale with round ticks, from values to coordinates."""

    def __init__(self, least: float, most: float, low: float, high: float) -> None:
        self.least, self.most, self.low, self.high = least, max(most, least + 1e-9), low, high

    def __call__(self, value: int | float | Fraction) -> float:
        share = (float(value) - self.least) / (self.most - self.least)
        return self.low + share * (self.high - self.low)

    def ticks(self) -> list[int | Fraction]:
        """Return up to six round values inside the scale."""
        span = Fraction(self.most - self.least).limit_denominator(10**6)
        size = Fraction(10) ** (len(str(int(span))) - 1) if span >= 1 else Fraction(1, 100)
        step = next(
            s * size * k
            for k in (1, 10, 100)
            for s in (Fraction(1, 5), Fraction(1, 2), 1, 2)
            if span / (s * size * k) <= 6
        )
        first = -(-Fraction(self.least).limit_denominator(10**6) // step) * step
        count = int((Fraction(self.most).limit_denominator(10**6) - first) / step) + 1
        return [first + step * index for index in range(count)]


def _axis(scale: _Scale, top: float, name: str) -> list[Markup]:
    parts = [tag("line", x1=scale.low, x2=scale.high, y1=top, y2=top, class_="axis")]
    for mark in scale.ticks():
        x = scale(mark)
        parts.append(tag("line", x1=x, x2=x, y1=top, y2=top + 4, class_="axis"))
        parts.append(
            tag("text", _short(mark), x=x, y=top + 16, class_="small", text_anchor="middle")
        )
    parts.append(tag("text", name, x=scale.low, y=top + 31, class_="small"))
    return parts


def _short(value: int | Fraction) -> str:
    value = Fraction(value)
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.2f}".rstrip("0")


def _spread(wanted: Mapping[str, float], gap: float, most: float) -> dict[str, float]:
    """Move labels apart vertically, none below `most`, so that none covers another; order kept."""
    placed: dict[str, float] = {}
    last = float("-inf")
    for name, y in sorted(wanted.items(), key=lambda item: (item[1], item[0])):
        last = max(y, last + gap)
        placed[name] = last
    for name, y in reversed(placed.items()):
        placed[name] = min(y, most)
        most = placed[name] - gap
    return placed


def _figure(title: str, describe: str, height: float, parts: Sequence[Markup]) -> Markup:
    return tag(
        "svg",
        tag("title", title),
        tag("desc", describe),
        parts,
        viewBox=f"0 0 {WIDTH} {height:.0f}",
        role="img",
        aria_label=f"{title}. {describe}",
        class_="figure",
    )
