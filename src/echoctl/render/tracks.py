"""Tracks in a terminal: the list, and one track at a glance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text as Rich

from echoctl.render.text import Text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from echoctl.desk import Listing, Status

TONES = {"green": "bold green", "red": "bold red", "closed": "red", "": "bold red on default"}


def listing(found: Listing, place: str, t: Text) -> Iterator[RenderableType]:
    """Yield every track with its state and next step, and the count of each state."""
    if not found.tracks:
        yield Rich(t("list.none", place=place))
        return
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", ratio=None)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", style="dim")
    for one in found.tracks:
        grid.add_row(Rich(one.id, style="bold"), one.title or one.problem.splitlines()[0],
                     state(one, t), one.next)  # fmt: skip
    yield grid
    parts = [f"{count} {t('state.' + name)}" for name, count in found.counts.items()]
    yield Rich(" · ".join(parts), style="dim")


def state(one: Status, t: Text) -> Rich:
    """Return the state in its colour; an inconsistent ledger is the loudest."""
    name = one.state or "inconsistent"
    return Rich(t(f"state.{name}"), style=TONES.get(one.state, ""))


def status(one: Status, t: Text) -> Iterator[RenderableType]:
    """Yield one track: what has been done, what it rests on, what comes next."""
    head = Rich(f"{one.id}  {one.title}   ", style="bold")
    head.append_text(state(one, t))
    if one.since:
        head.append(f" {one.since[:10]}", style="dim")
    if one.evidence is not None:
        head.append(f" · {t('grade').lower()} {one.evidence.grade}", style="dim")
    yield head
    grid = Table.grid(padding=(0, 2, 0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    if one.preflight is not None:
        grid.add_row("preflight", f"✓ seeds/{one.id}.json {one.seeds[:12]}…")
    if one.reviews:
        found = t("status.findings", found=one.findings, answered=one.answered)
        line = Rich(f"{one.reviews} · {found}")
        if one.blocking:
            line.append(f" · {t('status.blocking', count=one.blocking)}", style="bold red")
        grid.add_row(t("status.reviews"), line)
    if one.amendments:
        grid.add_row(t("amendments").lower(), str(one.amendments))
    if one.jobs:
        grid.add_row(t("jobs"), f"{one.done}/{one.jobs}")
    for name, value in one.facts.items():
        grid.add_row(t(f"event.{name}"), value)
    if one.evidence is not None:
        grid.add_row(t("evidence").lower(), t(f"grade.{one.evidence.grade}"))
        for name, said in one.evidence.spoken(t.lang).items():
            grid.add_row("", Rich(f"{name}: {said}", style="dim"))
    for incident in one.incidents:
        grid.add_row(t("event.incident"), Rich(incident, style="yellow"))
    if one.changed:
        grid.add_row("!", Rich(t("status.changed"), style="yellow"))
    if one.problem:
        grid.add_row("!", Rich(one.problem, style="bold red"))
    if one.next:
        grid.add_row(t("next"), Rich(one.next, style="bold"))
    yield grid
