"""The chance of a green, drawn: bars for the terminal, curves as an SVG file of its own."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from echoctl.lint.power import MOST_UNITS, PowerReport
from echoctl.lint.simulation import Simulated
from echoctl.render.markup import Markup, tag
from echoctl.render.numbers import decimal
from echoctl.render.text import Lang

WORDS: dict[str, tuple[str, str]] = {
    "title": (
        "{id}: chance of a green with {units} {unit}",
        "{id}: probabilidad de verde con {units} {unit}",
    ),
    "assumed": (
        "assumed: each {unit} is won with chance {win} and tied with {tie}; sizes are untied, "
        "{losses}",
        "se supone: cada {unit} se gana con probabilidad {win} y se empata con {tie}; tamaños "
        "distintos, {losses}",
    ),
    "any": ("telling nothing about who won", "que no dicen quién gana"),
    "small": ("every loss smaller than every win", "toda derrota menor que toda victoria"),
    "rival": (
        "against {rival}: won with {win}, tied with {tie}",
        "frente a {rival}: se gana con {win}, se empata con {tie}",
    ),
    "family": (
        "{name}  {measure} of {arm} against {rivals}: {chance} if rivals are independent, between "
        "{low} and {high} whatever they are (exact)",
        "{name}  {measure} de {arm} frente a {rivals}: {chance} si los rivales son independientes, "
        "entre {low} y {high} sean como sean (exacto)",
    ),
    "beyond": (
        "{name}  {measure} of {arm} against {rivals}: too many units for an exact chance",
        "{name}  {measure} de {arm} frente a {rivals}: demasiadas unidades para el valor exacto",
    ),
    "gate": (
        "{name}  {kind}: taken to pass with chance {chance}",
        "{name}  {kind}: se supone que pasa con probabilidad {chance}",
    ),
    "simulated": (
        "{name}  {chance} of {runs} simulated exams (95 % limits {low} to {high})",
        "{name}  {chance} de {runs} exámenes simulados (límites del 95 %: {low} a {high})",
    ),
    "verdict": ("green", "verde"),
    "curve": (
        "chance of a green when each {unit} is won against every rival with this chance "
        "(simulated, {runs} exams a line)",
        "probabilidad de verde si cada {unit} se gana a cada rival con esta probabilidad "
        "(simulado, {runs} exámenes por línea)",
    ),
    "needed": (
        "all families of tests together would reject nine times of ten from {needed} {unit} on "
        "(exact, independent)",
        "todas las familias de contrastes a la vez rechazarían nueve de cada diez veces desde "
        "{needed} {unit} (exacto, independientes)",
    ),
    "never": (
        "no number of units up to {most} makes all families of tests reject nine times of ten",
        "ningún número de unidades hasta {most} hace rechazar a todas las familias de contrastes "
        "nueve de cada diez veces",
    ),
    "x": ("chance of winning a {unit}", "probabilidad de ganar cada {unit}"),
}

BAR = 40
"""Cells of a full bar."""


def say(code: str, lang: Lang, **facts: object) -> str:
    """Return one sentence."""
    return WORDS[code][lang == "es"].format(**facts)


def percent(value: Fraction, lang: Lang, places: int = 1) -> str:
    """Return a chance as a percentage; a chance that is not certain never reads as certain."""
    shown = value * 100
    edge = Fraction(1, 10**places)
    if 0 < shown < edge:
        return f"< {decimal(edge, places, comma=lang == 'es')} %"
    if 100 - edge < shown < 100:
        return f"> {decimal(100 - edge, places, comma=lang == 'es')} %"
    return f"{decimal(shown, places, comma=lang == 'es')} %"


def lines(report: PowerReport, lang: Lang) -> Iterator[str]:
    """Yield the answer for a terminal, the curve as bars."""
    unit = report.unit
    effects = report.effects
    yield say("title", lang, id=report.id, units=report.units, unit=_several(unit))
    losses = say("small" if effects.small_losses else "any", lang)
    win, tie = percent(effects.usual.win, lang), percent(effects.usual.tie, lang)
    yield say("assumed", lang, unit=unit, win=win, tie=tie, losses=losses)
    for rival, effect in sorted(effects.rivals.items()):
        yield "  " + say(
            "rival", lang, rival=rival,
            win=percent(effect.win, lang), tie=percent(effect.tie, lang),
        )  # fmt: skip
    yield ""
    for family in report.families:
        facts = {
            "name": family.prediction, "measure": family.measure, "arm": family.arm,
            "rivals": ", ".join(family.rivals),
        }  # fmt: skip
        if family.chance is None or family.low is None or family.high is None:
            yield say("beyond", lang, **facts)
        else:
            limits = {
                "chance": percent(family.chance, lang), "low": percent(family.low, lang),
                "high": percent(family.high, lang),
            }  # fmt: skip
            yield say("family", lang, **facts, **limits)
    for name, kind, likely in report.gates:
        yield say("gate", lang, name=name, kind=kind, chance=percent(likely, lang))
    yield ""
    for name, found in report.predictions.items():
        yield _simulated(name, found, lang)
    yield _simulated(say("verdict", lang), report.verdict, lang)
    yield ""
    yield say("curve", lang, unit=unit, runs=report.curve[0].verdict.runs)
    for point in report.curve:
        cells = round(point.verdict.chance * BAR)
        bar = ("█" * cells).ljust(BAR, "·")
        at, chance = percent(point.win, lang, 0), percent(point.verdict.chance, lang)
        yield f"{at:>6} {bar} {chance:>8}"
    yield ""
    if report.needed is not None:
        yield say("needed", lang, needed=report.needed, unit=_several(unit))
    elif report.families:
        yield say("never", lang, most=MOST_UNITS)


def _simulated(name: str, found: Simulated, lang: Lang) -> str:
    return say(
        "simulated", lang, name=name, chance=percent(found.chance, lang), runs=found.runs,
        low=percent(found.low, lang), high=percent(found.high, lang),
    )  # fmt: skip


def _several(unit: str) -> str:
    return unit if unit.endswith("s") else unit + "s"


# --- as a file -----------------------------------------------------------------------------

LEFT, TOP, WIDE, HIGH = 56, 40, 480, 280
DASHES = ("6 3", "2 3", "9 3 2 3", "1 2", "12 4")
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1f2430}.grid{stroke:#d7dae0;stroke-width:1}"
    ".line{fill:none;stroke:#5b6472;stroke-width:1.5}.verdict{fill:none;stroke:#0b6e4f;"
    "stroke-width:2.5}.limit{stroke:#0b6e4f;stroke-width:1}.title{font-weight:600;font-size:14px}"
)


def svg(report: PowerReport, lang: Lang) -> str:
    """Return the curve as an SVG document: a line a family (exact), the verdict with its limits."""
    unit = report.unit
    wins = [point.win for point in report.curve]

    def x(win: Fraction) -> float:
        return LEFT + float((win - wins[0]) / (wins[-1] - wins[0])) * WIDE

    def y(chance: Fraction) -> float:
        return TOP + float(1 - chance) * HIGH

    title = say("title", lang, id=report.id, units=report.units, unit=_several(unit))
    parts: list[Markup] = [tag("style", Markup(STYLE)), tag("title", title)]
    parts.append(tag("rect", width="100%", height="100%", fill="#ffffff"))
    parts.append(tag("text", title, x=LEFT, y=22, class_="title"))
    for step in range(0, 101, 20):
        level = y(Fraction(step, 100))
        parts.append(tag("line", x1=LEFT, x2=LEFT + WIDE, y1=level, y2=level, class_="grid"))
        parts.append(tag("text", f"{step} %", x=LEFT - 8, y=level + 4, text_anchor="end"))
    for win in wins[::2]:
        at = percent(win, lang, 0)
        parts.append(tag("text", at, x=x(win), y=TOP + HIGH + 18, text_anchor="middle"))
    middle = LEFT + WIDE / 2
    x_axis = say("x", lang, unit=unit)
    parts.append(tag("text", x_axis, x=middle, y=TOP + HIGH + 38, text_anchor="middle"))
    names: list[tuple[str, str | None]] = [(say("verdict", lang), None)]
    for i, family in enumerate(report.families):
        pattern = DASHES[i % len(DASHES)]
        chances = [(p.win, p.families[i]) for p in report.curve]
        points = " ".join(f"{x(w):.1f},{y(c):.1f}" for w, c in chances if c is not None)
        if points:
            parts.append(tag("polyline", points=points, class_="line", stroke_dasharray=pattern))
            names.append((f"{family.prediction}: {', '.join(family.rivals)}", pattern))
    for point in report.curve:
        at_x = x(point.win)
        low, high = y(point.verdict.low), y(point.verdict.high)
        parts.append(tag("line", x1=at_x, x2=at_x, y1=low, y2=high, class_="limit"))
    whole = " ".join(f"{x(p.win):.1f},{y(p.verdict.chance):.1f}" for p in report.curve)
    parts.append(tag("polyline", points=whole, class_="verdict"))
    for i, (label, dash) in enumerate(names):
        row = TOP + HIGH + 60 + 18 * i
        drawn = "line" if dash else "verdict"
        end = LEFT + 36
        parts.append(
            tag("line", x1=LEFT, x2=end, y1=row, y2=row, class_=drawn, stroke_dasharray=dash)
        )
        parts.append(tag("text", label, x=LEFT + 46, y=row + 4))
    height = TOP + HIGH + 70 + 18 * len(names)
    return str(
        tag(
            "svg", parts, xmlns="http://www.w3.org/2000/svg", role="img",
            viewBox=f"0 0 {LEFT + WIDE + 40} {height}", width=LEFT + WIDE + 40, height=height,
        )
    ) + "\n"  # fmt: skip
