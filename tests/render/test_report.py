from __future__ import annotations

import dataclasses
import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
import render_sample as sample

from echoctl.render.html import page
from echoctl.render.markdown import markdown
from echoctl.render.markup import VOID
from echoctl.render.text import Lang, Text

LANGS: tuple[Lang, ...] = ("en", "es")


class Reader(HTMLParser):
    """Checks that every element is closed, and keeps what a test asks about."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str, str] = {}
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.elements.append((tag, found))
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            name = str(self.elements[-1][1].get("id"))
            self.scripts[name] = self.scripts.get(name, "") + data
        elif self.open and self.open[-1] != "style":
            self.words.append(data)


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module", params=LANGS)
def lang(request: pytest.FixtureRequest) -> Lang:
    lang: Lang = request.param
    return lang


@pytest.fixture(scope="module")
def html(lang: Lang) -> str:
    return page(sample.report(), Text(lang))


def test_the_page_is_well_formed_and_no_id_is_used_twice(html: str) -> None:
    reader = read(html)
    assert len(reader.ids) == len(set(reader.ids))


def test_the_page_asks_nobody_for_anything(html: str) -> None:
    reader = read(html)
    for tag, found in reader.elements:
        for name in ("src", "srcset", "href", "data", "action", "poster"):
            value = found.get(name)
            assert value is None or value.startswith(("data:", "#")), (tag, name, value)
    policies = [f["content"] for t, f in reader.elements if t == "meta" and "http-equiv" in f]
    assert [str(policy).split(";")[0] for policy in policies] == ["default-src 'none'"]
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest", html)


def test_every_link_inside_the_page_leads_somewhere(html: str) -> None:
    reader = read(html)
    wanted = {str(f["href"])[1:] for t, f in reader.elements if t == "a" and f.get("href")}
    assert wanted - set(reader.ids) == set()


def test_every_picture_has_words_for_who_cannot_see_it(html: str) -> None:
    reader = read(html)
    pictures = [f for t, f in reader.elements if t == "img"]
    figures = [f for t, f in reader.elements if t == "svg"]
    assert pictures
    assert figures
    assert all(f.get("alt") for f in pictures)
    assert all(f.get("role") == "img" and f.get("aria-label") for f in figures)


def test_headings_never_skip_a_level(html: str) -> None:
    levels = [int(t[1]) for t, _ in read(html).elements if re.fullmatch(r"h[1-6]", t)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))


def test_the_block_of_json_is_the_verdict(html: str) -> None:
    block = json.loads(read(html).scripts["report-data"])
    assert block["verdict"] == sample.verdict().as_json()


def test_text_of_a_contract_is_never_markup(lang: Lang) -> None:
    report = sample.report(exhibits=False)
    nasty = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    kind = report.contract.model_copy(update={"question": nasty, "does_not_claim": (nasty,)})
    found = dataclasses.replace(report.verdict, notes=(nasty,), labels=(nasty,))
    text = page(dataclasses.replace(report, contract=kind, verdict=found), Text(lang))
    reader = read(text)
    assert not any("onerror" in f for _, f in reader.elements)
    assert nasty in "".join(reader.words)


@pytest.mark.parametrize("mark", ["DEVELOPMENT", "REHEARSAL"])
def test_what_decides_nothing_says_so_before_anything_else(lang: Lang, mark: str) -> None:
    t = Text(lang)
    text = page(sample.report(mark, exhibits=False), t)
    words = [word for word in read(text).words if word.strip()]
    assert t(f"mark.{mark}") in words[:4]
    assert t(f"mark.{mark}") in markdown(sample.report(mark, exhibits=False), t)[:400]
    assert "echoctl verify" not in text


def test_an_exam_carries_no_mark(html: str) -> None:
    assert 'class="mark"' not in html


def test_a_red_verdict_is_red_in_both_forms(lang: Lang) -> None:
    t = Text(lang)
    worse = {**sample.TENDENCY, "aprendida": 70}
    report = dataclasses.replace(sample.report(exhibits=False), verdict=sample.verdict("", worse))
    assert report.verdict.colour == "red"
    for text in (page(report, t), markdown(report, t)):
        assert t("red") in text
        assert t("green") not in text.replace(t("rule", needs="P1"), "")
        assert "✗" in text


def test_the_same_results_give_the_same_bytes(lang: Lang) -> None:
    t = Text(lang)
    assert page(sample.report(), t) == page(sample.report(), t)
    assert markdown(sample.report(), t) == markdown(sample.report(), t)


def test_every_p_and_threshold_of_the_verdict_is_in_both_forms(html: str, lang: Lang) -> None:
    t = Text(lang)
    text = markdown(sample.report(), t)
    for found in (html, text):
        for test in sample.verdict().prediction("P1").checks[1].tests:  # type: ignore[union-attr]
            assert t.small(test.p.value) in found
            assert t.threshold(test.threshold) in found


def test_every_cell_of_the_table_is_in_both_forms(html: str, lang: Lang) -> None:
    t = Text(lang)
    cells = sample.verdict().table
    assert len(cells) == 3 * 2 * 5 * 5
    heats = html[html.index('id="table"') :]
    assert heats.count("<td") >= 4 * len(cells)
    lines = [
        line for line in markdown(sample.report(), t).splitlines() if line.startswith("| exam")
    ]
    assert len(lines) == 4 * 3 * 2 * 5


def test_the_markdown_has_no_raw_markup_from_a_contract() -> None:
    assert "\\<aprendida>" in markdown(sample.report(), Text("es"))


def test_a_page_with_recorded_episodes_stays_small() -> None:
    assert len(page(sample.report(), Text("es")).encode()) < 1_000_000
