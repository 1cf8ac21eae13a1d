"""What was checked before an exam, in a terminal: the linter and the preflight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text as Rich

from echoctl.render.tell import where
from echoctl.render.text import Text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from echoctl.desk import Preflight
    from echoctl.lint import LintReport


def preflight(found: Preflight, t: Text) -> Iterator[RenderableType]:
    """Yield what a preflight proved, and what it published."""
    record = found.record
    yield Rich.assemble((f"{found.id}  ", "bold"), ("preflight ✓", "bold green"))
    grid = Table.grid(padding=(0, 2, 0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    same = record["determinism"]
    grid.add_row(t("preflight.determinism"), t("preflight.same", count=same["jobs"]))
    ceiling = record.get("ceiling")
    if ceiling is not None:
        (arm, top), (below, low) = ceiling["arm"], ceiling["above"]
        grid.add_row(
            t("preflight.ceiling"),
            f"{ceiling['measure']}: {arm} {top} · {below} {low} ({ceiling['units']} {t('units')})",
        )
    few = [
        f"{name} {different}/{count}"
        for name, (different, count) in record["starts"].items()
        if different < count
    ]
    if few:
        grid.add_row(t("preflight.starts"), t("preflight.few", families=", ".join(few)))
    if record["data"]:
        grid.add_row(t("preflight.data"), ", ".join(record["data"]))
    how = t("preflight.published" if found.published else "preflight.already")
    grid.add_row(t("seeds"), f"{found.seed_count} · seeds/{found.id}.json {found.seeds} · {how}")
    grid.add_row(t("event.jobs"), t("preflight.jobs", count=found.exam_jobs))
    yield grid


LEVELS = {"refusal": ("✗", "bold red"), "warning": ("!", "yellow"), "statement": ("·", "")}


def lint(found: LintReport, t: Text) -> Iterator[RenderableType]:
    """Yield what the linter says: objections first, then warnings, then what can be shown."""
    head = Rich(f"{found.id}  ", style="bold")
    if found.ok:
        head.append(t("lint.ok"), style="bold green")
    else:
        head.append(t("lint.errors", count=len(found.refusals)), style="bold red")
    head.append(f" · {t('lint.warnings', count=len(found.warnings))}", style="dim")
    yield head
    for level in (found.refusals, found.warnings, found.statements):
        grid = Table.grid(padding=(0, 1, 0, 1))
        grid.add_column(no_wrap=True)
        grid.add_column(no_wrap=True, style="bold")
        grid.add_column(overflow="fold")
        said = dict.fromkeys(
            (finding.level, finding.where, finding.text(t.lang))
            for finding in level
            if finding.code not in _IN_TABLE
        )
        for name, place, sentence in said:
            sign, style = LEVELS[name]
            grid.add_row(Rich(sign, style=style), place, sentence)
        yield grid
    yield from _ladders(found, t)


_IN_TABLE = frozenset({"family"})
"""Findings that the table of ladders says better."""


def _ladders(found: LintReport, t: Text) -> Iterator[RenderableType]:
    """Yield one line per Holm step: its threshold, and what it can afford."""
    if not found.reach:
        return
    table = Table(box=None, pad_edge=False, header_style="dim", title=t("ladder.title"),
                  title_justify="left", title_style="bold")  # fmt: skip
    table.add_column("", no_wrap=True)
    table.add_column("", overflow="fold")
    for name in ("ladder.threshold", "ladder.most", "ladder.ties", "ladder.loss", "ladder.losses"):
        table.add_column(t(name), justify="right")
    for reach in found.reach:
        what = [reach.measure, *where(reach.where, t), f"{reach.arm} / {', '.join(reach.rivals)}"]
        for step in reach.ladder.steps:
            first = step is reach.ladder.steps[0]
            table.add_row(
                (reach.prediction + ("" if reach.decides else " ·")) if first else "",
                " · ".join(what) if first else "",
                t.threshold(step.threshold),
                f"{max(0, step.k)}/2^{reach.ladder.units}",
                *(_afford(n) for n in (step.zeros, step.loss_rank, step.losses)),
            )
    yield ""
    yield table


def _afford(count: int) -> str:
    return str(count) if count >= 0 else "–"
