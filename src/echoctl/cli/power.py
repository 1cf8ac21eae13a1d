"""`echoctl power`: the chance of a green for effects that the user names."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from echoctl.cli.session import Session, verb

if TYPE_CHECKING:
    from echoctl.lint.simulation import Effect, Effects


@verb
def power(
    s: Session,
    id: Annotated[str, typer.Argument(metavar="ID", help="A contract's id.")],
    win: Annotated[
        str,
        typer.Option("--win", metavar="CHANCE", help="Of beating a rival in a unit: 0.9, 90 %."),
    ] = "0.9",
    tie: Annotated[
        str, typer.Option("--tie", metavar="CHANCE", help="Of tying with a rival in a unit.")
    ] = "0",
    rival: Annotated[
        list[str] | None,
        typer.Option("--rival", metavar="NAME=WIN[,TIE]", help="Other chances for one rival."),
    ] = None,
    gate: Annotated[
        list[str] | None,
        typer.Option(
            "--gate", metavar="P=CHANCE", help="Of each gate of a prediction; 1 if absent."
        ),
    ] = None,
    small_losses: Annotated[
        bool, typer.Option("--small-losses", help="Every loss is smaller than every win.")
    ] = False,
    units: Annotated[
        int | None, typer.Option("--units", metavar="N", min=1, help="Ask about so many units.")
    ] = None,
    simulations: Annotated[
        int, typer.Option("--simulations", metavar="N", min=1, help="Exams to simulate.")
    ] = 2000,
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Write the curve as SVG too.")
    ] = None,
) -> None:
    """Say how likely a green is, for effects that you name.

    Exact for each family of tests; simulated, with its error, for the whole rule.
    """
    from echoctl import desk
    from echoctl.lint.power import power as compute
    from echoctl.render import power as draw
    from echoctl.verdict.numbers import plain

    contract = desk.load(s.desk, id)
    effects = _effects(win, tie, rival or [], gate or [], small_losses)
    found = compute(contract, effects, units=units, runs=simulations)
    lang = s.lang or contract.lang
    if svg is not None:
        svg.write_text(draw.svg(found, lang), encoding="utf-8")
    if s.json:
        s.screen.json(plain(found))
    else:
        s.screen.lines(draw.lines(found, lang))
        if svg is not None:
            s.screen.note(str(svg))


def _effects(
    win: str, tie: str, rivals: list[str], gates: list[str], small_losses: bool
) -> Effects:
    from echoctl.lint.simulation import Effects

    return Effects(
        usual=_effect(win, tie),
        rivals={name: _effect(*_pair(value)) for name, value in map(_named, rivals)},
        gates={name: _chance(value) for name, value in map(_named, gates)},
        small_losses=small_losses,
    )


def _effect(win: str, tie: str) -> Effect:
    from echoctl.lint.simulation import Effect

    return Effect(_chance(win), _chance(tie))


def _named(given: str) -> tuple[str, str]:
    from echoctl.errors import UsageError

    name, sign, value = given.partition("=")
    if not sign or not name.strip():
        raise UsageError(f"{given!r} names no chance", "write it as NAME=0.9")
    return name.strip(), value


def _pair(value: str) -> tuple[str, str]:
    win, comma, tie = value.partition(",")
    return win, tie if comma else "0"


def _chance(text: str) -> Fraction:
    """Read a chance from ``0.9``, ``9/10`` or ``90 %``."""
    from echoctl.contract.values import exact
    from echoctl.errors import UsageError

    try:
        value = exact(text)
    except ValueError as problem:
        raise UsageError(str(problem), "write a chance as 0.9, 9/10 or 90 %") from None
    assert isinstance(value, Fraction)
    return value
