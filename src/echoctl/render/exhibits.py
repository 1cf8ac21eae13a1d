"""A verdict's curves, tables, logs and comparisons as captioned sheets, for all three forms.

Every figure is read from the verdict; a change is the difference of two of its totals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from echoctl.contract import Contract
from echoctl.render.tell import where
from echoctl.render.text import Text
from echoctl.verdict.results import Verdict
from echoctl.verdict.shown import CurveResult, LogResult, PublishedResult, TableLine, TableResult

Word: TypeAlias = Callable[[str, int], str]
"""What a track calls a value of a measure."""

SIGNS = {"better": "✓", "worse": "✗", "same": "=", "higher": "↑", "lower": "↓", "": ""}
TONES: dict[str, bool] = {"better": True, "worse": False}
"""Better and worse are told in the same voice: what is bold for one is bold for the other."""


@dataclass(frozen=True)
class Mark:
    """A word that says better (True), worse (False) or neither (None)."""

    text: str
    good: bool | None = None


@dataclass(frozen=True)
class Row:
    """A line of a sheet: its name, what became of it, and its numbers."""

    name: str
    cells: tuple[str, ...]
    mark: Mark | None = None
    """Stands before the numbers, where no narrow screen cuts it off."""
    ours: bool = False


@dataclass(frozen=True)
class Sheet:
    """A table of text. Rows come in groups, each under a title that may be empty."""

    caption: str
    head: tuple[str, ...]
    groups: tuple[tuple[str, tuple[Row, ...]], ...]
    words: int = 1
    """How many of its columns, from the left, are words."""
    lead: str = ""
    """What the groups' titles are, where they are not arms."""


@dataclass(frozen=True)
class Panel:
    """One exhibit."""

    title: str
    text: str
    summary: tuple[tuple[str, tuple[Mark, ...]], ...]
    """Arm -> what got better and what got worse, each by name."""
    sheets: tuple[Sheet, ...]
    curve: CurveResult | None = None
    ours: str = ""
    """The arm whose line is drawn bold."""


def number(measure: str, value: int) -> str:
    """Return a value that no track has a word for."""
    return str(value)


def panels(found: Verdict, contract: Contract, word: Word, t: Text) -> Iterator[Panel]:
    """Yield what the contract asked to see, in its order."""
    tell = _Tell(found, contract, word, t)
    for shown in found.exhibits:
        match shown:
            case CurveResult():
                yield tell.curve(shown)
            case TableResult():
                yield tell.table(shown)
            case LogResult():
                yield tell.log(shown)
            case PublishedResult():
                yield tell.published(shown)


class _Tell:
    def __init__(self, found: Verdict, contract: Contract, word: Word, t: Text) -> None:
        self.found, self.contract, self.word, self.t = found, contract, word, t
        self.ours = {arm.id for arm in contract.arms if arm.kind == "treatment"}

    def curve(self, shown: CurveResult) -> Panel:
        t = self.t
        caption = t("rounds.caption", measure=shown.measure, units=self.found.units)
        rows = tuple(
            Row(line.arm, tuple(map(self._amount, line.totals)), ours=line.arm in self.ours)
            for line in shown.lines
        )
        head = (t("arm"), *map(str, shown.rounds))
        title = " · ".join([shown.measure, *where(shown.where, t)])
        return Panel(
            title,
            shown.text.strip(),
            (),
            (Sheet(caption, head, (("", rows),)),),
            shown,
            next((line.arm for line in shown.lines if line.arm in self.ours), ""),
        )

    def table(self, shown: TableResult) -> Panel:
        title = self._title(f"{', '.join(shown.measures)} {self._by(shown.by)}", shown)
        text = shown.text.strip()
        if shown.against is not None:
            each = range(len(shown.measures))
            sheets = tuple(self._compared(shown, at) for at in each)
            return Panel(title, text, tuple(self._summary(shown)), sheets)
        caption = self.t("exhibit.totals", units=self.found.units)
        arms = list(dict.fromkeys(line.arm for line in shown.lines))
        if len(shown.measures) == 1:
            values: dict[str | int, dict[str, str]] = {}
            for line in shown.lines:
                values.setdefault(line.name, {})[line.arm] = self._amount(line.totals[0])
            rows = tuple(
                Row(str(name), tuple(values[name].get(a, "–") for a in arms))
                for name in sorted(values)
            )
            head = (self._word(shown.by), *arms)
            return Panel(title, text, (), (Sheet(caption, head, (("", rows),)),))
        groups = self._groups(
            (line.arm, Row(str(line.name), tuple(map(self._amount, line.totals))))
            for line in shown.lines
        )
        sheet = Sheet(caption, (self._word(shown.by), *shown.measures), groups)
        return Panel(title, text, (), (sheet,))

    def _compared(self, shown: TableResult, at: int) -> Sheet:
        """Return one measure before and after, with what became of each line."""
        t, (old, new) = self.t, self._sides(shown)
        rows = []
        for line in shown.lines:
            before, after = line.before[at], line.totals[at]
            change = "–" if before is None or after is None else self._signed(after - before)
            even = line.rows == line.rows_before
            held = str(line.rows) if even else f"{line.rows_before} → {line.rows}"
            cells = (self._amount(before), self._amount(after), change, held)
            rows.append((line.arm, Row(str(line.name), cells, self._mark(line, at))))
        head = (self._word(shown.by), t("outcome"), old, new, t("change"), t("of-rows"))
        caption = f"{shown.measures[at]} · {t('exhibit.totals', units=self.found.units)}"
        return Sheet(caption, head, self._groups(rows), words=2)

    def _summary(self, shown: TableResult) -> Iterator[tuple[str, tuple[Mark, ...]]]:
        """Yield each treatment's lines that moved, named, better or worse alike."""
        for at, measure in enumerate(shown.measures):
            for arm in dict.fromkeys(line.arm for line in shown.lines if line.arm in self.ours):
                marks = []
                for move in ("better", "worse", "higher", "lower", "same"):
                    named = [
                        self._moved(line, at)
                        for line in shown.lines
                        if line.arm == arm and line.moves[at] == move
                    ]
                    if named:
                        said = f"{SIGNS[move]} {self.t(f'move.{move}')}: {', '.join(named)}"
                        marks.append(Mark(said, TONES.get(move)))
                yield f"{measure} · {arm}", tuple(marks)

    def _moved(self, line: TableLine, at: int) -> str:
        before, after = line.before[at], line.totals[at]
        name = str(line.name)
        if before is None or after is None or before == after:
            return name
        return f"{name} ({self._signed(after - before)})"

    def _mark(self, line: TableLine, at: int) -> Mark:
        move = line.moves[at]
        return Mark(f"{SIGNS[move]} {self.t(f'move.{move}')}" if move else "–", TONES.get(move))

    def log(self, shown: LogResult) -> Panel:
        t, units = self.t, self.found.units
        several = any(line.rows != line.units for line in shown.lines)
        rows = []
        for line in shown.lines:
            counts = [t("exhibit.units", units=line.units, of=units)]
            counts += [str(line.rows)] if several else []
            counts += [t.amount(value) for value in line.beside]
            said = self.word(shown.measure, line.value)
            rows.append((line.arm, Row(str(line.name), (said, *counts))))
        head = (
            self._word(shown.by), shown.measure, self._word("unit"),
            *((t("of-rows"),) if several else ()), *shown.beside,
        )  # fmt: skip
        title = " · ".join([f"{shown.measure} {self._by(shown.by)}", *where(shown.where, t)])
        caption = t("exhibit.log") if rows else t("exhibit.nothing")
        sheet = Sheet(caption, head, self._groups(rows), words=2)
        return Panel(title, shown.text.strip(), (), (sheet,))

    def published(self, shown: PublishedResult) -> Panel:
        t = self.t
        rows = []
        for line in shown.lines:
            place = " · ".join([line.measure, *where(line.where, t)])
            change = "–" if line.here is None else self._signed(line.here - line.published)
            cells = (self._amount(line.published), self._amount(line.here), change)
            rows.append((place, Row(line.arm, cells, ours=line.arm in self.ours)))
        head = (t("arm"), t("published"), t("here"), t("difference"))
        caption = t("published.caption", unit=self.found.unit)
        sheet = Sheet(caption, head, self._groups(rows), lead=t("what-of"))
        return Panel(t("published-head"), shown.text.strip(), (), (sheet,))

    # --- words ---

    def _groups(self, rows: Iterable[tuple[str, Row]]) -> tuple[tuple[str, tuple[Row, ...]], ...]:
        groups: dict[str, list[Row]] = {}
        for arm, row in rows:
            groups.setdefault(arm, []).append(row)
        return tuple((arm, tuple(inner)) for arm, inner in groups.items())

    def _title(self, what: str, shown: TableResult) -> str:
        """Return what is told and where; what two sides share is said once."""
        if shown.against is None:
            return " · ".join([what, *where(shown.where, self.t)])
        both = {k: v for k, v in shown.where.items() if shown.against.get(k) == v}
        return " · ".join([what, *where(both, self.t), " → ".join(self._sides(shown))])

    def _sides(self, shown: TableResult) -> tuple[str, str]:
        """Return how the rows before and after are called: by what tells them apart."""
        assert shown.against is not None
        old, new = shown.against, shown.where
        return self._side(old, new), self._side(new, old)

    def _side(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
        own = {key: value for key, value in one.items() if other.get(key) != value}
        return ", ".join(where(own, self.t)) or self.t("everything")

    def _word(self, by: str) -> str:
        return self.found.unit if by == "unit" else self.t(by)

    def _by(self, by: str) -> str:
        return self.t("exhibit.by", by=self._word(by))

    def _amount(self, value: Fraction | None) -> str:
        return "–" if value is None else self.t.amount(value)

    def _signed(self, value: Fraction) -> str:
        return f"{'+' if value > 0 else ''}{self.t.amount(value)}"


def flat(sheet: Sheet, lead: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return a sheet without groups: their titles become a first column, which `lead` heads."""
    titled = any(title for title, _ in sheet.groups)
    rows = [
        (
            *([title] if titled else []),
            row.name,
            *((row.mark.text,) if row.mark else ()),
            *row.cells,
        )
        for title, group in sheet.groups
        for row in group
    ]
    return ((sheet.lead or lead, *sheet.head) if titled else sheet.head), rows
