"""What a contract asked to see, in the page, in Markdown and in a terminal."""

from __future__ import annotations

import dataclasses
import io
import re
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
import render_sample as sample
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from echoctl.render import terminal
from echoctl.render.exhibits import number, panels
from echoctl.render.html import page
from echoctl.render.markdown import markdown
from echoctl.render.report import Report
from echoctl.render.svg import curves
from echoctl.render.text import Lang, Text
from echoctl.verdict.shown import (
    CurveResult,
    LogResult,
    PublishedLine,
    PublishedResult,
    TableLine,
    TableResult,
)

LANGS: tuple[Lang, ...] = ("en", "es")


@cache
def report() -> Report:
    return sample.report(exhibits=False)


def asked(*exhibits: Any, **more: Any) -> Report:
    """Return the sample report as if the contract had asked for these alone."""
    found = dataclasses.replace(report().verdict, exhibits=exhibits)
    return dataclasses.replace(report(), verdict=found, **more)


def printed(shown: Report, t: Text, width: int = 120, colour: bool = False) -> str:
    out = io.StringIO()
    console = Console(
        file=out, width=width, highlight=False, markup=False, force_terminal=colour,
        color_system="standard" if colour else None,
    )  # fmt: skip
    for part in terminal.exhibits(shown.verdict, shown.contract, shown.word, t, width):
        console.print(part)
    return out.getvalue()


def section(html: str) -> str:
    """Return the page's section of exhibits."""
    return html[html.index('id="exhibits"') : html.index('id="table"')]


def lines(text: str) -> list[list[str]]:
    """Return the tables of a Markdown text (or of a page), cell by cell."""
    if "<tr" in text:
        rows = re.findall(r"<tr[^>]*>(.*?)</tr>", text, re.S)
        return [
            [re.sub(r"<[^>]+>", "", c) for c in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
            for row in rows
        ]
    return [[c.strip() for c in row.strip("| ").split(" | ")] for row in text.splitlines()]


@pytest.mark.parametrize("lang", LANGS)
def test_a_curve_shows_every_total_of_every_round_in_all_three_forms(lang: Lang) -> None:
    t = Text(lang)
    curve = report().verdict.exhibits[0]
    assert isinstance(curve, CurveResult)
    assert len(curve.lines) == 5
    for line in curve.lines:
        row = [line.arm, *(t.amount(v) for v in line.totals if v is not None)]
        assert row in lines(section(page(report(), t)))
        assert row in lines(markdown(report(), t))
        assert row in [text.split() for text in printed(report(), t).splitlines()]


@pytest.mark.parametrize("lang", LANGS)
def test_every_number_of_a_table_and_of_a_log_is_in_all_three_forms(lang: Lang) -> None:
    t = Text(lang)
    forms = [lines(section(page(report(), t))), lines(markdown(report(), t))]
    forms.append([text.split() for text in printed(report(), t).splitlines()])
    plain, log = report().verdict.exhibits[2], report().verdict.exhibits[4]
    assert isinstance(plain, TableResult)
    assert isinstance(log, LogResult)
    assert len(plain.lines) == 5
    assert len(log.lines) > 5
    wanted = [[str(x.name), *(t.amount(v) for v in x.totals if v is not None)] for x in plain.lines]
    of = t("exhibit.units", units="{}", of=report().verdict.units)
    several = any(x.rows != x.units for x in log.lines)
    wanted += [
        [str(x.name), str(x.value), of.format(x.units), *([str(x.rows)] if several else []),
         *map(t.amount, x.beside)]
        for x in log.lines
    ]  # fmt: skip
    for row in wanted:
        assert row in forms[0]
        assert ["aprendida", *row] in forms[1]
        assert " ".join(row).split() in forms[2]


WORSE = TableResult(
    "Antes y después.", ("harm",), "family", {"round": 5}, {"round": 1},
    (
        TableLine("aprendida", "Mal-5x5", 300, (Fraction(103),), 300, (Fraction(91),), ("worse",)),
        TableLine("aprendida", "Bien-9x9", 300, (Fraction(12),), 300, (Fraction(91),), ("better",)),
        TableLine("aprendida", "Nada-7x7", 300, (Fraction(5),), 300, (Fraction(5),), ("same",)),
    ),
)  # fmt: skip


@pytest.mark.parametrize("lang", LANGS)
def test_a_family_that_got_worse_is_printed_as_loudly_as_one_that_got_better(lang: Lang) -> None:
    t = Text(lang)
    worse, better = f"✗ {t('move.worse')}", f"✓ {t('move.better')}"
    shown = asked(WORSE)
    html, text = section(page(shown, t)), markdown(shown, t)
    for family, move, change, tone in (
        ("Mal-5x5", worse, "+12", "fail-text"), ("Bien-9x9", better, "-79", "pass-text"),
    ):  # fmt: skip
        said = f"{move}: {family} ({change})"
        assert f'<span class="{tone}">{said}</span>' in html
        assert f'<span class="{tone}">{move}</span>' in html
        assert f"**{said}**" in text
    assert ["Mal-5x5", worse, "91", "103", "+12", "300"] in lines(html)
    assert ["aprendida", "Mal-5x5", worse, "91", "103", "+12", "300"] in lines(text)
    assert f"= {t('move.same')}: Nada-7x7" in text
    coloured = printed(shown, t, colour=True)
    assert coloured.count("\x1b[1;31m") == coloured.count("\x1b[1;32m") == 2


def test_two_sides_are_headed_by_what_tells_them_apart() -> None:
    far = dataclasses.replace(
        WORSE, where={"stage": "exam", "round": 5}, against={"stage": "exam", "round": 1}
    )
    (panel,) = panels(asked(far).verdict, report().contract, number, Text("es"))
    assert panel.title == "harm por familia · exam · ronda 1 → ronda 5"
    assert panel.sheets[0].head[2:4] == ("ronda 1", "ronda 5")


def test_different_numbers_of_episodes_on_both_sides_are_shown() -> None:
    (first, *_) = WORSE.lines
    few = dataclasses.replace(WORSE, lines=(dataclasses.replace(first, rows_before=100),))
    assert "100 → 300" in markdown(asked(few), Text("es"))


@pytest.mark.parametrize("lang", LANGS)
def test_a_log_speaks_the_words_of_the_track_and_none_of_them_is_markup(lang: Lang) -> None:
    t = Text(lang)
    shown = dataclasses.replace(report(), word=lambda measure, value: f"<{measure} {value * 100}>")
    value = next(one for one in report().verdict.exhibits if isinstance(one, LogResult)).lines[0]
    said = f"waste {value.value * 100}"
    assert f'<td class="words">&lt;{said}&gt;</td>' in section(page(shown, t))
    assert f"\\<{said}>" in markdown(shown, t)
    assert f"<{said}>" in printed(shown, t)


@pytest.mark.parametrize("lang", LANGS)
def test_a_log_of_nothing_says_so(lang: Lang) -> None:
    t = Text(lang)
    empty = asked(LogResult("", "waste", "round", ("harm",), {}, ()))
    for text in (section(page(empty, t)), markdown(empty, t), printed(empty, t)):
        assert t("exhibit.nothing") in text


@pytest.mark.parametrize("lang", LANGS)
def test_an_optional_arm_that_was_skipped_is_told_with_what_it_needs(lang: Lang) -> None:
    t = Text(lang)
    needs = "Sin servicio configurado no se juega."
    said = t("warn.skipped_arm", arm="llm", text=needs)
    assert said.endswith(needs)
    out = io.StringIO()
    console = Console(file=out, width=300)
    for part in terminal.verdict(report().verdict, report().contract, t):
        console.print(part)
    for text in (page(report(), t), markdown(report(), t), out.getvalue()):
        assert said in text


def test_a_curve_with_gaps_is_drawn_where_there_is_something() -> None:
    curve = report().verdict.exhibits[0]
    assert isinstance(curve, CurveResult)
    first, second, *rest = curve.lines
    late = dataclasses.replace(first, totals=(None, None, *first.totals[2:]))
    never = dataclasses.replace(second, totals=(None,) * 5)
    html = section(page(asked(dataclasses.replace(curve, lines=(late, never, *rest))), Text("es")))
    svg = html[html.index("<svg") : html.index("</svg>")]
    assert svg.count("<polyline") == 4
    assert svg.count("<circle") == 3 * 5 + 3


def test_the_names_at_the_ends_of_a_curve_cover_neither_each_other_nor_the_rounds() -> None:
    flat = {f"arm{i}": [Fraction(9), Fraction(0)] for i in range(8)}
    drawn = curves("t", "axis", [0, 1], flat, "arm0")
    heights = sorted(float(y) for y in re.findall(r'y="([0-9.]+)" class="name', drawn))
    ticks = [
        float(y) for y in re.findall(r'y="([0-9.]+)" class="small" text-anchor="middle"', drawn)
    ]
    assert all(b - a >= 14 for a, b in pairwise(heights))
    assert max(heights) < min(ticks) - 10


def test_the_line_that_decides_is_drawn_over_the_others() -> None:
    drawn = curves("t", "axis", [0, 1], {"a": [1, 2], "b": [1, 2]}, "a")
    assert re.findall(r'class="curve (\w+)"', drawn) == ["theirs", "ours"]


def test_a_prediction_does_not_draw_again_the_curve_that_the_contract_asked_for() -> None:
    curve = report().verdict.exhibits[0]
    assert isinstance(curve, CurveResult)
    same = asked(dataclasses.replace(curve, where={}))
    assert page(report(), Text("es")).count("<polyline") == 2 * 5
    assert page(same, Text("es")).count("<polyline") == 5


@pytest.mark.parametrize("lang", LANGS)
def test_a_published_figure_stands_beside_ours_in_all_three_forms(lang: Lang) -> None:
    t = Text(lang)
    line = PublishedLine("harm", "aprendida", {"regime": "A1"}, Fraction(24), Fraction(51, 2), 10)
    absent = dataclasses.replace(line, arm="marginal", here=None, units=0)
    shown = asked(PublishedResult("As it was published.", (line, absent)))
    forms = [lines(section(page(shown, t))), lines(markdown(shown, t))]
    forms.append([text.split() for text in printed(shown, t).splitlines()])
    row = ["aprendida", "24", t.amount(Fraction(51, 2)), f"+{t.amount(Fraction(3, 2))}"]
    for form in forms:
        assert any(found[-4:] == row for found in form)
        assert any(found[-4:] == ["marginal", "24", "–", "–"] for found in form)
    for text in (page(shown, t), markdown(shown, t)):
        assert "As it was published." in text
    head = next(found for found in forms[1] if t("published") in found)
    assert len(set(head)) == len(head), "no two columns are called the same"


def test_without_exhibits_there_is_no_such_section_and_no_style_for_it() -> None:
    t = Text("es")
    bare = asked()
    assert 'id="exhibits"' not in page(bare, t)
    assert ".exhibit" not in page(bare, t)
    assert ".exhibit" in page(report(), t)
    assert t("exhibits-head") not in markdown(bare, t)
    assert printed(bare, t) == ""


@settings(max_examples=20, deadline=None)
@given(st.integers(40, 200), st.sampled_from(LANGS))
def test_exhibits_fit_any_terminal(width: int, lang: Lang) -> None:
    text = printed(report(), Text(lang), width)
    assert all(len(line) <= width for line in text.splitlines())
