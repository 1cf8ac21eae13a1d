"""The report as one page that asks nobody for anything: styles, script and pictures inside."""

from __future__ import annotations

import json
from importlib.resources import files

from echoctl.render import figures
from echoctl.render.exhibits import Mark, Panel, Sheet, panels
from echoctl.render.markup import Child, Markup, join, tag
from echoctl.render.report import Exhibit, Report, declarations
from echoctl.render.tell import Table, Told, mark, summary, tell, warned
from echoctl.render.text import Text
from echoctl.verdict.results import CheckResult, PredictionResult

MOST_ROWS = 40
"""A table of cells with more lines than this is folded."""


def page(report: Report, t: Text) -> str:
    """Return the report as HTML: one file, no request to anywhere."""
    verdict = report.verdict
    colour = t(verdict.colour)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        # The page may load nothing from anywhere, whatever gets into it.
        tag("meta", http_equiv="Content-Security-Policy",
            content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
            "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"),
        tag("title", f"{verdict.id} · {colour} · {verdict.title}"),
        tag("style", Markup(_styles(report))),
    )  # fmt: skip
    banner = None
    if verdict.mark:
        banner = tag("div", t(f"mark.{verdict.mark}"), class_="mark", role="note")
    body = tag(
        "body",
        tag("a", t("skip"), href="#verdict", class_="skip"),
        banner,
        tag("header", _top(report, t), class_="top"),
        tag(
            "main",
            _verdict(report, t),
            _limits(report, t),
            _predictions(report, t, decides=True),
            _invariants(report, t),
            _predictions(report, t, decides=False),
            _exhibits(report, t),
            _table(report, t),
            _episodes(report, t),
            _declared(report, t),
            _evidence(report, t),
        ),
        _footer(report, t),
        _json("report-data", report.data()),
        tag("script", Markup(_asset("report.js"))),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang=t.lang)}\n"


def _styles(report: Report) -> str:
    more = _asset("exhibits.css") if report.verdict.exhibits else ""
    return _asset("report.css") + more


def _asset(name: str) -> str:
    return files("echoctl.render").joinpath(name).read_text(encoding="utf-8")


def _json(name: str, value: object) -> Markup:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return tag("script", Markup(text.replace("<", "\\u003c")), type="application/json", id=name)


def _section(title: str, *children: Child, anchor: str | None = None) -> Markup:
    return tag("section", tag("h2", title), children, id=anchor)


# --- top and verdict -----------------------------------------------------------------------


def _top(report: Report, t: Text) -> Markup:
    contract = report.contract
    kicker = [f"echoctl · {contract.id}"]
    if contract.approved is not None:
        kicker.append(t("approved", by=contract.approved.by, on=contract.approved.on).rstrip("."))
    return join([
        tag("p", " · ".join(kicker), class_="kicker"),
        tag("h1", contract.title),
        tag("p", contract.question.strip(), class_="question"),
    ])  # fmt: skip


def _verdict(report: Report, t: Text) -> Markup:
    verdict = report.verdict
    chips = [
        tag("li", tag("a", f"{p.id} {mark(p.passed)}", href=f"#{p.id}",
                      class_=f"chip {'pass' if p.passed else 'fail'}"
                      f"{'' if p.decides else ' reported'}",
                      aria_label=f"{p.id}: {_word(p.passed, t)}"
                      f"{'' if p.decides else ', ' + t('reported')}"))
        for p in verdict.predictions
    ]  # fmt: skip
    facts: list[tuple[str, Child]] = [
        (t("decided-by"), t("rule", needs=t.listed(verdict.green_needs))),
        (t("units"), f"{verdict.units} × {verdict.unit} · {verdict.jobs} {t('jobs')} · "
         f"{t('rows', rows=verdict.rows)}"),
    ]  # fmt: skip
    if report.evidence.grade:
        facts.append((t("grade"), t(f"grade.{report.evidence.grade}")))
    box = tag(
        "div",
        tag("p", t(verdict.colour), class_="colour"),
        [tag("p", label, class_="label") for label in verdict.labels],
        tag("ul", chips, class_="chips"),
        tag("dl", [[tag("dt", name), tag("dd", value)] for name, value in facts], class_="facts"),
        class_=f"verdict {verdict.colour}",
    )
    weigh = None
    if verdict.warnings or verdict.notes:
        texts = [warned(w, report.contract, t) for w in verdict.warnings] + list(verdict.notes)
        weigh = join([tag("h2", t("warnings")), tag("ul", [tag("li", x) for x in texts])])
    return tag("section", box, weigh, id="verdict", aria_label=t("verdict"))


def _limits(report: Report, t: Text) -> Markup:
    items = [tag("li", text.strip()) for text in report.contract.does_not_claim]
    return _section(t("does-not-say"), tag("ul", items), anchor="limits")


def _word(passed: bool | None, t: Text) -> str:
    return t("not-decided") if passed is None else t("pass") if passed else t("fail")


# --- predictions ---------------------------------------------------------------------------


def _predictions(report: Report, t: Text, *, decides: bool) -> Markup | None:
    chosen = summary(report.verdict.predictions, decides=decides)
    if not chosen:
        return None
    title = t("what-decided" if decides else "reported-head")
    return _section(title, [_prediction(p, report, t) for p in chosen])


def _prediction(p: PredictionResult, report: Report, t: Text) -> Markup:
    tone = "pass-text" if p.passed else "fail-text"
    notes = [tag("p", t.maybe(f"note.{note.partition(':')[0]}", note), class_="small-print")
             for note in p.notes]  # fmt: skip
    return tag(
        "article",
        tag("h3", tag("span", p.id), tag("span", f"{mark(p.passed)} {_word(p.passed, t)}",
                                         class_=tone)),
        tag("blockquote", p.text.strip()),
        notes,
        [_check(check, report, t) for check in p.checks],
        class_="prediction", id=p.id,
    )  # fmt: skip


def _check(check: CheckResult, report: Report, t: Text, level: str = "h4") -> Markup:
    told = tell(check, t)
    tone = "pass-text" if told.passed else "fail-text"
    parts = getattr(check, "parts", ())
    drawn = figures.figure(check, report.verdict, t)
    return tag(
        "div",
        tag(level, tag("span", f"{mark(told.passed)} ", class_=tone), told.what,
            tag("span", f" — {told.how}" if told.how else "", class_="soft")),
        tag("div", drawn, class_="scroll") if drawn else None,
        _lines(told, t) if not told.tables else None,
        _html_table(told.tables[0]) if told.tables else None,
        tag("details", tag("summary", t("estimates")), [_html_table(x) for x in told.tables[1:]])
        if told.tables[1:]
        else None,
        [tag("p", note, class_="small-print") for note in told.notes],
        tag("div", [_check(part, report, t) for part in parts], class_="nested") if parts else None,
        class_="check",
    )  # fmt: skip


def _lines(told: Told, t: Text) -> Markup | None:
    if not told.lines:
        return None
    rows = [
        tag("tr", tag("th", line.left, scope="row"), tag("td", line.middle, class_="words"),
            tag("td", line.right),
            tag("td", "" if line.passed is None else mark(line.passed),
                class_="pass-text" if line.passed else "fail-text"))
        for line in told.lines
    ]  # fmt: skip
    return tag("div", tag("table", tag("tbody", rows), class_="lines"), class_="scroll")


def _html_table(table: Table) -> Markup:
    head = tag("tr", [tag("th", name, scope="col", class_=None if i else "words")
                      for i, name in enumerate(table.head)])  # fmt: skip
    rows = [
        tag("tr", tag("th", row[0], scope="row"), [tag("td", cell) for cell in row[1:]])
        for row in table.rows
    ]
    whole = tag("table", tag("caption", table.caption), tag("thead", head), tag("tbody", rows),
                class_="figures")  # fmt: skip
    return tag("div", whole, class_="scroll", tabindex=0, role="region", aria_label=table.caption)


def _invariants(report: Report, t: Text) -> Markup | None:
    if not report.verdict.invariants:
        return None
    checks = [_check(check, report, t, "h3") for check in report.verdict.invariants]
    return _section(t("invariants").capitalize(), checks)


# --- what the contract asked to see ----------------------------------------------------------


def _exhibits(report: Report, t: Text) -> Markup | None:
    shown = list(panels(report.verdict, report.contract, report.word, t))
    if not shown:
        return None
    note = tag("p", t("exhibits.note"), class_="soft")
    return _section(t("exhibits-head"), note, [_panel(one, t) for one in shown],
                    anchor="exhibits")  # fmt: skip


def _panel(panel: Panel, t: Text) -> Markup:
    drawn = figures.lines(panel.curve, panel.title, panel.ours, t) if panel.curve else None
    moved = [
        tag("li", tag("span", who, class_="soft"), [_tone(one) for one in marks])
        for who, marks in panel.summary
    ]
    return tag(
        "article",
        tag("h3", panel.title),
        tag("p", panel.text) if panel.text else None,
        tag("ul", moved, class_="moves") if moved else None,
        tag("div", drawn, class_="scroll") if drawn else None,
        [_sheet(one) for one in panel.sheets],
        class_="exhibit",
    )  # fmt: skip


def _tone(one: Mark) -> Markup:
    tones = {True: "pass-text", False: "fail-text", None: None}
    return tag("span", one.text, class_=tones[one.good])


def _sheet(sheet: Sheet) -> Markup:
    if not any(rows for _, rows in sheet.groups):
        return tag("p", sheet.caption)
    head = tag("tr", [tag("th", name, scope="col", class_="words" if i < sheet.words else None)
                      for i, name in enumerate(sheet.head)])  # fmt: skip
    bodies = []
    for title, rows in sheet.groups:
        top = tag("tr", tag("th", title, scope="rowgroup", colspan=len(sheet.head),
                            class_="group")) if title else None  # fmt: skip
        lines = [
            tag(
                "tr",
                tag("th", row.name, scope="row"),
                tag("td", _tone(row.mark), class_="mark-word") if row.mark else None,
                [
                    tag("td", cell, class_="words" if i < sheet.words else None)
                    for i, cell in enumerate(row.cells, start=2 if row.mark else 1)
                ],
                class_="ours" if row.ours else None,
            )
            for row in rows
        ]
        bodies.append(tag("tbody", top, lines))
    whole = tag("table", tag("caption", sheet.caption), tag("thead", head), bodies, class_="sheet")
    return tag("div", whole, class_="scroll", tabindex=0, role="region", aria_label=sheet.caption)


# --- table and episodes --------------------------------------------------------------------


def _table(report: Report, t: Text) -> Markup | None:
    contract, verdict = report.contract, report.verdict
    first = figures.main_measures(contract)
    places = {(c.stage, c.regime, c.round, c.family) for c in verdict.table}
    maps = [(m, figures.heat(verdict, contract, m, t)) for m in contract.measures]
    shown = [
        # A table that would push everything else off the page waits to be asked for.
        tag("details", tag("summary", measure), heat) if len(places) > MOST_ROWS else heat
        for measure, heat in maps
        if heat is not None and measure in first
    ]
    others = [heat for measure, heat in maps if heat is not None and measure not in first]
    if not shown and not others:
        return None
    fold = tag("details", tag("summary", t("table.more")), others) if others else None
    return _section(t("table"), shown, fold, anchor="table")


def _episodes(report: Report, t: Text) -> Markup | None:
    if not report.exhibits:
        if not report.unseen:
            return None
        return _section(t("episodes-head"), tag("p", report.unseen), anchor="episodes")
    groups: dict[str, list[Markup]] = {}
    for index, exhibit in enumerate(report.exhibits):
        groups.setdefault(exhibit.text, []).append(_film(index, exhibit, t))
    shown = [
        [tag("p", text) if text else None, tag("div", films, class_="episodes")]
        for text, films in groups.items()
    ]
    return _section(
        t("episodes-head"), tag("p", t("episodes.note"), class_="soft"), shown, anchor="episodes"
    )


def _film(index: int, exhibit: Exhibit, t: Text) -> Markup:
    from echoctl.render.film import player, still

    words = {
        **{key: t(f"player.{key}") for key in ("play", "pause", "step", "start", "reward")},
        **{end: t(f"end.{end}") for end in ("success", "harm", "timeout")},
        "actions": {
            name: t(f"action.{name}")
            for name in ("left", "right", "forward", "take", "drop", "use", "wait")
        },
    }
    stages = []
    for film in exhibit.films:
        end = t(f"end.{film.end}")
        alt = t("episode.alt", arm=film.arm, family=film.family, end=end, steps=film.steps)
        lasted = t("episode.end", end=end, steps=film.steps)
        caption = tag("figcaption", tag("strong", film.arm), f" · {lasted}", tag("br"),
                      tag("span", end, class_="moment soft"))  # fmt: skip
        stages.append(tag("figure", tag("img", src=still(film), alt=alt), caption))
    title = " · ".join(part for part in (exhibit.family, exhibit.regime) if part)
    return tag(
        "div",
        tag("h3", title),
        tag("div", stages, class_="pair"),
        tag("p", exhibit.where, class_="small-print"),
        _json(f"film-{index}", player(exhibit.films)),
        class_="film", data_film=f"film-{index}",
        data_words=json.dumps(words, ensure_ascii=False, sort_keys=True),
    )  # fmt: skip


# --- what surrounds it ---------------------------------------------------------------------


def _declared(report: Report, t: Text) -> Markup:
    return join([
        _section(title, tag("ul", [tag("li", text) for text in texts]))
        for title, texts in declarations(report.contract, t)
    ])  # fmt: skip


def _evidence(report: Report, t: Text) -> Markup:
    seen = report.evidence
    identity = report.contract.id
    lines = [
        tag("li", tag("time", e.time, datetime=e.time), tag("strong", t(f"event.{e.event}")),
            tag("span", e.text))
        for e in seen.events
    ]  # fmt: skip
    incidents: Child = [tag("li", text) for text in seen.incidents]
    seals = [(t(f"seal.{name}"), value) for name, value in seen.seals.items()]
    environment = [[tag("dt", name), tag("dd", value)] for name, value in seen.environment.items()]
    return _section(
        t("evidence"),
        tag("p", tag("strong", t(f"grade.{seen.grade or 'none'}"))),
        tag("p", t("grade.limit"), class_="soft") if seen.grade else None,
        tag("ul", [tag("li", f"{name}: {said}") for name, said in seen.witnesses.items()])
        if seen.witnesses
        else None,
        [tag("code", receipt, class_="receipt") for receipt in seen.receipts],
        tag("h3", t("incidents")) if seen.grade else None,
        (tag("ul", incidents) if seen.incidents else tag("p", t("incidents.none")))
        if seen.grade else None,
        [tag("h3", t("ledger")), tag("ol", lines, class_="timeline")] if lines else None,
        [tag("p", f"{name} ", tag("span", seal, class_="hash")) for name, seal in seals],
        tag("details", tag("summary", t("environment")), tag("dl", environment, class_="facts"))
        if environment else None,
        [
            tag("h3", t("check-again")),
            tag("p", t("check-again.here")), tag("code", f"echoctl verify {identity} --rerun 4",
                                                 class_="receipt"),
            tag("p", t("check-again.alone")),
            tag("code", f"python verify.py {identity}-evidence.zip", class_="receipt"),
        ] if report.decided else None,
        anchor="evidence",
    )  # fmt: skip


def _footer(report: Report, t: Text) -> Markup:
    return tag(
        "footer",
        tag("p", t("figures-data", id="report-data")),
        tag("p", t("generated", version=report.version)),
    )
