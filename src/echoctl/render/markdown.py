"""The report as Markdown, for whoever reads repositories: every number, no picture needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from echoctl.render.exhibits import flat, panels
from echoctl.render.report import Report, declarations
from echoctl.render.tell import Told, mark, summary, tell, warned
from echoctl.render.text import Text
from echoctl.verdict.results import PredictionResult, TableCell


def markdown(report: Report, t: Text) -> str:
    """Return the report as Markdown, ending in a newline."""
    kept: list[str] = []
    for line in _lines(report, t):
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept) + "\n"


def _lines(report: Report, t: Text) -> Iterator[str]:
    verdict, contract = report.verdict, report.contract
    yield f"# {_plain(verdict.title)} (`{verdict.id}`): {t(verdict.colour)}"
    yield ""
    if verdict.mark:
        yield f"> **{t('mark.' + verdict.mark)}**"
        yield ""
    for label in verdict.labels:
        yield from (f"> {_plain(label)}", "")
    deciding = [f"{p.id} {mark(p.passed)}" for p in summary(verdict.predictions, decides=True)]
    others = [f"{p.id} {mark(p.passed)}" for p in summary(verdict.predictions, decides=False)]
    yield f"**{' · '.join(deciding)}**" + (f" — {t('reported')}: {' · '.join(others)}" if others
                                           else "")  # fmt: skip
    yield ""
    yield t("rule", needs=t.listed(verdict.green_needs))
    yield (
        f"{verdict.units} × {verdict.unit} · {verdict.jobs} {t('jobs')} · "
        f"{t('rows', rows=verdict.rows)}"
    )
    yield from _section(t("question"))
    yield _plain(contract.question.strip())
    yield from _section(t("does-not-say"))
    yield from (f"- {_plain(text.strip())}" for text in contract.does_not_claim)
    if verdict.warnings or verdict.notes:
        yield from _section(t("warnings"))
        yield from (f"- {_plain(warned(w, contract, t))}" for w in verdict.warnings)
        yield from (f"- {_plain(note)}" for note in verdict.notes)
    for decides in (True, False):
        chosen = summary(verdict.predictions, decides=decides)
        if chosen:
            yield from _section(t("what-decided" if decides else "reported-head"))
            for p in chosen:
                yield from _prediction(p, t)
        if decides and verdict.invariants:
            yield from _section(t("invariants").capitalize())
            for check in verdict.invariants:
                yield from _check(tell(check, t), 0)
    yield from _exhibits(report, t)
    yield from _cells(report, t)
    yield from _episodes(report, t)
    for title, texts in declarations(contract, t):
        yield from _section(title)
        yield from (f"- {_plain(text)}" for text in texts)
    yield from _evidence(report, t)
    yield ""
    yield f"<sub>{t('generated', version=report.version)}</sub>"


def _prediction(p: PredictionResult, t: Text) -> Iterator[str]:
    word = t("not-decided") if p.passed is None else t("pass" if p.passed else "fail")
    yield f"### {p.id} {mark(p.passed)} {word}"
    yield ""
    yield f"> {_plain(p.text.strip())}"
    yield ""
    for note in p.notes:
        yield f"- {t.maybe('note.' + note.partition(':')[0], note)}"
    for check in p.checks:
        yield from _check(tell(check, t), 0)


def _check(told: Told, depth: int) -> Iterator[str]:
    indent = "  " * depth
    how = f" — {told.how}" if told.how else ""
    yield f"{indent}- {mark(told.passed)} **{_plain(told.what)}**{how}"
    for note in told.notes:
        yield f"{indent}  - {note}"
    if not told.tables:
        for line in told.lines:
            sign = "" if line.passed is None else f"{mark(line.passed)} "
            parts = [part for part in (line.left, line.middle, line.right) if part]
            yield f"{indent}  - {sign}{_plain(' · '.join(parts))}"
    for part in told.parts:
        yield from _check(part, depth + 1)
    for table in told.tables:
        yield ""
        yield f"{indent}  {table.caption}"
        yield ""
        yield from (f"{indent}  {row}" for row in _table(table.head, table.rows))
    yield ""


def _exhibits(report: Report, t: Text) -> Iterator[str]:
    shown = list(panels(report.verdict, report.contract, report.word, t))
    if not shown:
        return
    yield from (*_section(t("exhibits-head")), t("exhibits.note"))
    for panel in shown:
        yield from ("", f"### {_plain(panel.title)}", "")
        if panel.text:
            yield from (_plain(panel.text), "")
        for who, marks in panel.summary:
            said = "; ".join(f"**{_plain(one.text)}**" for one in marks)
            yield f"- {_plain(who)}: {said}"
        for sheet in panel.sheets:
            head, rows = flat(sheet, t("arm"))
            yield from ("", _plain(sheet.caption), "")
            if rows:
                yield from _table(head, rows, words=sheet.words + len(head) - len(sheet.head))


def _cells(report: Report, t: Text) -> Iterator[str]:
    verdict, contract = report.verdict, report.contract
    if not verdict.table:
        return
    yield from _section(t("table"))
    several = len({cell.round for cell in verdict.table}) > 1
    for measure in contract.measures:
        places: dict[tuple[str, ...], dict[str, Fraction]] = {}
        for cell in verdict.table:
            if measure in cell.means:
                places.setdefault(_place(cell, several), {})[cell.arm] = cell.means[measure]
        if not places:
            continue
        whole = all(v.denominator == 1 for line in places.values() for v in line.values())
        arms = [a.id for a in contract.arms if any(a.id in line for line in places.values())]
        head = (t("stage"), t("regime"), *((t("round"),) if several else ()), t("family"), *arms)
        rows = [
            (*place, *(t.decimal(line[a], 0 if whole else 1) if a in line else "–" for a in arms))
            for place, line in places.items()
        ]
        yield f"**{measure}** — {t('mean-per', unit=verdict.unit)}"
        yield ""
        yield from _table(head, rows, words=len(head) - len(arms))
        yield ""


def _episodes(report: Report, t: Text) -> Iterator[str]:
    """Yield each exhibit as the GIF that lies beside this file."""
    if report.unseen:
        yield from (*_section(t("episodes-head")), _plain(report.unseen))
    if not report.exhibits:
        return
    yield from (*_section(t("episodes-head")), t("episodes.note"), "")
    for exhibit in report.exhibits:
        ends = "; ".join(
            f"{film.arm} {t('episode.end', end=t(f'end.{film.end}'), steps=film.steps)}"
            for film in exhibit.films
        )
        title = " · ".join(part for part in (exhibit.family, exhibit.regime) if part)
        yield f"**{_plain(title)}** — {_plain(ends)} ({_plain(exhibit.where)})"
        yield ""
        yield f"![{_plain(f'{title}: {ends}')}]({report.contract.id}/{exhibit.name}.gif)"
        yield ""


def _place(cell: TableCell, several: bool) -> tuple[str, ...]:
    return (cell.stage, cell.regime, *((str(cell.round),) if several else ()), cell.family)


def _evidence(report: Report, t: Text) -> Iterator[str]:
    seen = report.evidence
    yield from _section(t("evidence"))
    yield t(f"grade.{seen.grade or 'none'}")
    if not seen.grade:
        return
    yield ""
    yield t("grade.limit")
    yield ""
    yield from (f"- {name}: {_plain(said)}" for name, said in seen.witnesses.items())
    yield from ("", "```", *seen.receipts, "```", "")
    yield f"**{t('incidents')}**: " + ("" if seen.incidents else t("incidents.none"))
    yield from (f"- {_plain(text)}" for text in seen.incidents)
    yield ""
    yield from (f"- {e.time} **{t('event.' + e.event)}** {_plain(e.text)}" for e in seen.events)
    yield ""
    yield from (f"- {t('seal.' + name)} `{value}`" for name, value in seen.seals.items())
    yield ""
    yield f"{t('environment')}: " + ", ".join(f"{k} {v}" for k, v in seen.environment.items())
    if report.decided:
        identity = report.contract.id
        yield from ("", f"{t('check-again.here')} `echoctl verify {identity} --rerun 4`")
        yield f"{t('check-again.alone')} `python verify.py {identity}-evidence.zip`"


def _section(title: str) -> Iterator[str]:
    yield from ("", f"## {title}", "")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1) -> Iterator[str]:
    yield "| " + " | ".join(map(_cell, head)) + " |"
    yield "|" + "|".join(" --- " if i < words else " ---: " for i in range(len(head))) + "|"
    for row in rows:
        yield "| " + " | ".join(map(_cell, row)) + " |"


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")


def _plain(text: str) -> str:
    """Return text on one line that Markdown will not read as markup."""
    one = " ".join(text.split())
    for sign in ("\\", "`", "*", "_", "<", "[", "]"):
        one = one.replace(sign, f"\\{sign}")
    return one
