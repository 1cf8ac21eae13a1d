"""Verdicts and contracts in a terminal: calm, exact, and readable at forty columns or in a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text as Rich

from echoctl.contract import describe_check
from echoctl.render.exhibits import Mark, Sheet, Word, panels
from echoctl.render.figures import main_measures, takes
from echoctl.render.numbers import seconds
from echoctl.render.report import declarations
from echoctl.render.tell import Told, mark, summary, tell, warned
from echoctl.render.text import Text
from echoctl.verdict.results import PredictionResult, Verdict

if TYPE_CHECKING:
    from rich.console import RenderableType

    from echoctl.contract import Contract
    from echoctl.desk import Played

TONE = {"green": "bold green", "red": "bold red", True: "green", False: "red", None: "dim"}


def verdict(found: Verdict, contract: Contract, t: Text) -> Iterator[RenderableType]:
    """Yield the verdict: its line, each prediction with its numbers, what it does not say."""
    if found.mark:
        yield banner(found.mark, t)
    yield headline(found, t)
    for label in found.labels:
        yield Rich(f"       {label}", style="italic")
    if found.mark and found.units < contract.unit.count:
        few = t("rehearsal.few", units=found.units, of=contract.unit.count, p=f"1/{2**found.units}")
        yield _hanging(f"  ! {few}", 4, "yellow")
    for prediction in found.predictions:
        yield from _prediction(prediction, t)
    for check in found.invariants:
        yield from _check(tell(check, t), t("invariant"), 0)
    for warning in found.warnings:
        yield _hanging(f"  ! {warned(warning, contract, t)}", 4, "yellow")
    for note in found.notes:
        yield _hanging(f"  ! {note}", 4, "yellow")
    yield Rich(f"  {t('does-not-say').lower()}", style="dim")
    for text in contract.does_not_claim:
        yield _hanging(f"    · {text.strip()}", 6, "dim")


def banner(name: str, t: Text) -> RenderableType:
    """Return the loud line over whatever decides nothing."""
    from rich.panel import Panel

    return Panel(Rich(t(f"mark.{name}"), style="bold", justify="center"), style="yellow")


def headline(found: Verdict, t: Text) -> Rich:
    """Return ``memx  GREEN  P1 ✓  P2 ✓   reported: P4 ✗``."""
    line = Rich(f"{found.id}  ", style="bold")
    line.append(t(found.colour), style=TONE[found.colour])
    for p in summary(found.predictions, decides=True):
        line.append(f"  {p.id} {mark(p.passed)}", style=TONE[p.passed])
    others = summary(found.predictions, decides=False)
    if others:
        line.append(f"   {t('reported')}:", style="dim")
        for p in others:
            line.append(f" {p.id} {mark(p.passed)}", style=TONE[p.passed])
    return line


def _prediction(p: PredictionResult, t: Text) -> Iterator[RenderableType]:
    for index, check in enumerate(p.checks):
        yield from _check(tell(check, t), p.id if index == 0 else "", 0)
    for note in p.notes:
        yield Rich(f"  {p.id}  {t.maybe('note.' + note.partition(':')[0], note)}", style="dim")


def _check(told: Told, name: str, depth: int) -> Iterator[RenderableType]:
    indent = "  " * depth
    head = Rich(told.what)
    if told.how:
        head.append(f"  {told.how}", style="dim")
    lead = Rich(f"  {name:<3} {indent}", style="bold")
    lead.append(f"{mark(told.passed)} ", style=TONE[told.passed])
    yield _beside(lead, head)
    if told.lines:
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_column(overflow="fold")
        for line in told.lines:
            left = Rich(f"        {indent}")
            left.append("  " if line.passed is None else f"{mark(line.passed)} ",
                        style=TONE[line.passed])  # fmt: skip
            grid.add_row(left.append(line.left), line.middle, line.right)
        yield grid
    for note in told.notes:
        yield Rich(f"          {indent}{note}", style="dim")
    for part in told.parts:
        yield from _check(part, "", depth + 1)


def cells(found: Verdict, contract: Contract, t: Text, width: int) -> Iterator[RenderableType]:
    """Yield one table per measure that decides: arms across, means per unit.

    Where all arms do not fit into `width` columns the table is continued below, never cut.
    A track of several rounds gets one line a round, its families added up; the page has them all.
    """
    arms = [a.id for a in contract.arms if any(c.arm == a.id for c in found.table)]
    several = len({c.round for c in found.table}) > 1
    for measure in main_measures(contract):
        lines: dict[tuple[str, str], dict[str, Fraction]] = {}
        for cell in found.table:
            if measure in cell.means:
                group = " · ".join(p for p in (cell.stage, cell.regime) if p)
                name = f"{t('round')} {cell.round}" if several else cell.family
                line = lines.setdefault((group, name), {})
                line[cell.arm] = line.get(cell.arm, Fraction(0)) + cell.means[measure]
        written = {
            place: {a: _mean(line[a], t) if a in line else "–" for a in arms}
            for place, line in sorted(lines.items())
        }
        title = t("mean-per", unit=found.unit) + f": {measure}"
        for some in _fitting(written, arms, width):
            yield _cells(title, written, some)
            title = ""


def exhibits(
    found: Verdict, contract: Contract, word: Word, t: Text, width: int
) -> Iterator[RenderableType]:
    """Yield the curves, tables and logs that the contract asked for, as tables."""
    for panel in panels(found, contract, word, t):
        yield Rich(f"\n{panel.title}", style="bold")
        if panel.text:
            yield _hanging(f"  {panel.text}", 2, "dim")
        for who, marks in panel.summary:
            line = Rich()
            for one in marks:
                line.append("  " if line else "").append(one.text, style=_voice(one))
            yield _beside(Rich(f"  {who}  ", style="dim"), line)
        for sheet in panel.sheets:
            yield Rich(f"  {sheet.caption}", style="dim")
            if any(rows for _, rows in sheet.groups):
                yield from _sheet(sheet, width)


def _voice(one: Mark) -> str:
    """Return the style of better and worse: bold both."""
    return "" if one.good is None else f"bold {TONE[one.good]}"


def _sheet(sheet: Sheet, width: int) -> Iterator[RenderableType]:
    """Yield one table a group under its title, all of them with the same columns."""
    rows = [row for _, group in sheet.groups for row in group]
    lines = [(f"  {r.name}", *([r.mark.text] if r.mark else []), *r.cells) for r in rows]
    widths = _widths((f"  {sheet.head[0]}", *sheet.head[1:]), lines, sheet.words, width)
    for at, (title, group) in enumerate(sheet.groups):
        table = Table(
            box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim", show_header=at == 0
        )
        for i, name in enumerate(sheet.head):
            table.add_column(
                f"  {name}" if i == 0 else name, overflow="fold", width=widths[i],
                justify="left" if i < sheet.words else "right",
            )  # fmt: skip
        if title:
            yield Rich(f"  {title}", style="italic dim")
        for row in group:
            marks = [Rich(row.mark.text, style=_voice(row.mark))] if row.mark else []
            style = "bold" if row.ours else ""
            table.add_row(Rich(f"  {row.name}", style=style), *marks, *row.cells)
        yield table


def _widths(
    head: Sequence[str], lines: Sequence[Sequence[str]], words: int, width: int
) -> list[int]:
    """Return the columns' widths; where they do not fit, headings fold first and then words."""
    columns = list(zip(head, *lines, strict=True))
    widths = [max(map(len, column)) for column in columns]
    least = [8 if i < words else max(5, *map(len, c[1:])) for i, c in enumerate(columns)]
    for some in (range(words, len(widths)), range(words)):
        while sum(widths) + len(widths) > width:
            room, at = max(((widths[i] - least[i], i) for i in some), default=(0, 0))
            if room <= 0:
                break
            widths[at] -= 1
    return widths


def arms(found: Verdict, contract: Contract, t: Text, width: int) -> Iterator[RenderableType]:
    """Yield the table of arms: every measure that adds up, mean per unit over all families."""
    summed = [name for name, measure in contract.measures.items() if measure.aggregate == "sum"]
    lines: dict[tuple[str, str], dict[str, Fraction]] = {}
    order = {arm.id: place for place, arm in enumerate(contract.arms)}
    for cell in sorted(found.table, key=lambda c: (c.stage, c.regime, order[c.arm])):
        group = " · ".join(part for part in (cell.stage, cell.regime) if part)
        line = lines.setdefault((group, cell.arm), {})
        for name in summed:
            if name in cell.means:
                line[name] = line.get(name, Fraction(0)) + cell.means[name]
    written = {
        place: {name: _mean(line[name], t) if name in line else "–" for name in summed}
        for place, line in lines.items()
    }
    title = t("mean-per", unit=found.unit)
    for some in _fitting(written, summed, width):
        yield _cells(title, written, some)
        title = ""


def ceiling(found: Verdict, contract: Contract, t: Text) -> RenderableType | None:
    """Return whether the reference beats the arm that the contract names, where it names one."""
    asked = contract.ceiling
    if asked is None:
        return None
    totals = {asked.arm: Fraction(0), asked.above: Fraction(0)}
    filters = asked.where.model_dump(exclude_none=True)
    for cell in found.table:
        if cell.arm in totals and all(takes(v, getattr(cell, k)) for k, v in filters.items()):
            totals[cell.arm] += cell.totals.get(asked.measure, Fraction(0))
    top, low = totals[asked.arm], totals[asked.above]
    lower = contract.measures[asked.measure].better == "lower"
    holds = top < low if lower else top > low
    line = Rich(f"{t('preflight.ceiling')}  ", style="bold")
    line.append(f"{mark(holds)} ", style=TONE[holds])
    sign = ("<" if lower else ">") if holds else ("≥" if lower else "≤")
    shown = f"{asked.arm} {t.amount(top)} {sign} {asked.above} {t.amount(low)}"
    return line.append(f"{asked.measure}: {shown}", style="not bold")


def _mean(value: Fraction, t: Text) -> str:
    return t.decimal(value, 1 if abs(value) < 1000 else 0)


def _fitting(
    written: Mapping[tuple[str, str], Mapping[str, str]], arms: Sequence[str], width: int
) -> list[list[str]]:
    """Split the arms into as few tables as fit, their names broken over lines where need be."""
    left = width - 3 - max(len(name) for _, name in written)
    each = 1 + max(5, *(len(value) for line in written.values() for value in line.values()))
    if sum(max(len(arm) + 1, each) for arm in arms) <= left:
        return [list(arms)]
    count = max(1, left // each)
    return [list(arms[i : i + count]) for i in range(0, len(arms), count)]


def _cells(
    title: str, written: Mapping[tuple[str, str], Mapping[str, str]], arms: Sequence[str]
) -> Table:
    table = Table(
        title=title or None, title_justify="left", title_style="bold", header_style="dim",
        box=None, pad_edge=False, padding=(0, 1, 0, 0),
    )  # fmt: skip
    table.add_column("", no_wrap=True)
    for arm in arms:
        table.add_column(arm, justify="right", overflow="fold", min_width=5)
    before = None
    for (group, name), line in written.items():
        if group != before:
            table.add_row(Rich(group, style="italic dim"))
            before = group
        table.add_row(f"  {name}", *(line[arm] for arm in arms))
    return table


def cost(played: Played, t: Text) -> RenderableType:
    """Return what a development run took: jobs, episodes, time, and where it lies."""
    rate = played.rows * 1000 // max(1, played.milliseconds)
    parts = [
        f"{played.jobs} {t('jobs')}",
        t("rows", rows=played.rows),
        seconds(played.milliseconds / 1000),
        t("progress.rate", rate=rate),
        str(played.folder),
    ]
    return Rich("  " + " · ".join(parts), style="dim")


def contract_page(contract: Contract, t: Text) -> Iterator[RenderableType]:
    """Yield a contract as a page to read: the whole rule, in the order in which one asks."""
    yield Rich(f"{contract.id}  {contract.title}", style="bold")
    if contract.approved:
        yield Rich(t("approved", by=contract.approved.by, on=contract.approved.on), style="dim")
    if contract.follows:
        yield Rich(t("follows", id=contract.follows), style="dim")
    for needed in contract.requires:
        yield Rich(t("requires", track=needed.track, verdict=t(needed.verdict)), style="dim")
    yield ""
    yield Rich(contract.question.strip())
    yield _title(t("arms"))
    grid = Table.grid(padding=(0, 2, 0, 0))
    for arm in contract.arms:
        grid.add_row(f"  {arm.id}", Rich(t(f"arm.kind.{arm.kind}"), style="dim"),
                     arm.text or arm.gloss)  # fmt: skip
    yield grid
    yield _title(t("worlds"))
    for name, stage in contract.worlds.items():
        line = t("worlds.line", stage=name, families=", ".join(stage.families), per=stage.per_unit)
        line += f" · {t('sealed')}" if stage.sealed else ""
        yield _hanging(f"  {line}", 2)
    yield _title(t("predictions"))
    for name, prediction in contract.predictions.items():
        kind = t("decides" if prediction.decides else "reported")
        yield _hanging(f"  {name} ({kind}): {prediction.text.strip()}", 2)
        for check in prediction.all:
            yield _hanging(f"    · {describe_check(check, t.lang)}", 6, "dim")
    for check in contract.invariants:
        yield _hanging(f"  {t('invariant')}: {describe_check(check, t.lang)}", 2)
    yield _title(t("verdict"))
    yield _hanging(f"  {t('rule', needs=t.listed(contract.verdict.green))}", 2)
    for label in contract.verdict.labels:
        when = [f"{p} ✓" for p in label.when.passed] + [f"{p} ✗" for p in label.when.failed]
        yield _hanging(f"  {' '.join(when)} → {label.text}", 2)
    if contract.tunable:
        yield _title(t("tunable"))
        yield Rich("  " + ", ".join(f"{k} = {v}" for k, v in contract.tunable.items()))
    sections = [(t("does-not-say"), [x.strip() for x in contract.does_not_claim])]
    for title, texts in sections + declarations(contract, t):
        yield _title(title)
        for text in texts:
            yield _hanging(f"  · {text}", 4)


def _title(text: str) -> Rich:
    return Rich(f"\n{text}", style="bold")


def _hanging(text: str, indent: int, style: str = "") -> RenderableType:
    """Return a paragraph whose first line hangs out to the left of the others."""
    return _beside(Rich(text[:indent], style=style), Rich(text[indent:], style=style))


def _beside(lead: Rich, text: Rich) -> RenderableType:
    grid = Table.grid()
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(lead, text)
    return grid
