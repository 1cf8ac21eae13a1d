from __future__ import annotations

import io
from fractions import Fraction
from functools import cache

import pytest
import render_sample as sample
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console, RenderableType

from echoctl.contract import Contract
from echoctl.errors import Refused, UsageError
from echoctl.render import terminal
from echoctl.render.screen import Screen, refusal
from echoctl.render.tell import p_text
from echoctl.render.text import Lang, Text
from echoctl.verdict import Verdict
from echoctl.verdict.results import PValue

LANGS: tuple[Lang, ...] = ("en", "es")


@cache
def sampled() -> tuple[Verdict, Contract]:
    return sample.verdict(), sample.contract()


def printed(parts: list[RenderableType], width: int) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False, markup=False)
    for part in parts:
        console.print(part)
    return out.getvalue()


@settings(max_examples=25, deadline=None)
@given(st.integers(36, 200))
def test_a_table_of_cells_never_loses_an_arm_or_a_number(width: int) -> None:
    found, contract = sampled()
    t = Text("en")
    text = printed(list(terminal.cells(found, contract, t, width)), width)
    numbers = [word for word in text.split() if word.replace(".", "").isdigit() and "." in word]
    measures, arms, lines = 3, 5, 2 * 5
    assert len(numbers) == measures * arms * lines
    assert all(len(line) <= width for line in text.splitlines())


@settings(max_examples=15, deadline=None)
@given(st.integers(40, 200), st.sampled_from(LANGS))
def test_a_verdict_fits_any_terminal_and_says_every_p_from_eighty_columns_on(
    width: int, lang: Lang
) -> None:
    found, contract = sampled()
    t = Text(lang)
    text = printed(list(terminal.verdict(found, contract, t)), width)
    assert all(len(line) <= width for line in text.splitlines())
    if width < 80:
        return  # the columns are wrapped beside each other
    for test in found.prediction("P1").checks[1].tests:  # type: ignore[union-attr]
        assert p_text(test.p, t) in text


@pytest.mark.parametrize("lang", LANGS)
def test_the_table_of_arms_has_every_arm_and_every_measure_that_adds_up(lang: Lang) -> None:
    found, contract = sampled()
    text = printed(list(terminal.arms(found, contract, Text(lang), 120)), 120)
    for name in [*contract.measures, "vacia", "aprendida", "barajada", "marginal", "oraculo"]:
        assert name in text


@pytest.mark.parametrize("lang", LANGS)
def test_a_contract_is_a_page_to_read(lang: Lang) -> None:
    _, contract = sampled()
    text = printed(list(terminal.contract_page(contract, Text(lang))), 100)
    for word in ("MUESTRA", "P1", "P5", "LavaGapS7", "Holm", "transferencia de identidad"):
        assert word in text


def test_few_units_are_said_to_be_few() -> None:
    contract = sample.contract()
    from echoctl.verdict import decide

    found = decide(contract, sample.outcomes(contract, units=3), mark="REHEARSAL")
    text = printed(list(terminal.verdict(found, contract, Text("en"))), 120)
    assert "3 of 10 units: no p can be below 1/8" in text


def test_colour_follows_the_terminal_and_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = sampled()
    line = terminal.headline(found, Text("en"))
    for variable in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)

    def escapes() -> bool:
        out = io.StringIO()
        Console(file=out, force_terminal=True, width=80, color_system="standard").print(line)
        return "\x1b[1;32m" in out.getvalue()

    assert escapes()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not escapes()


def test_a_refusal_is_one_line_and_what_to_do() -> None:
    assert refusal(Refused("it was opened", "write a new one")) == [
        "refused (3): it was opened",
        "  write a new one",
    ]


def test_several_reasons_begin_their_lines_where_an_editor_looks() -> None:
    said = refusal(UsageError("a.yaml:1:2: one\na.yaml:3:4: two", "mend"))
    assert said == ["usage (2): 2 problems", "a.yaml:1:2: one", "a.yaml:3:4: two", "  mend"]


def test_a_path_is_never_broken_over_lines(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.text import Text as Rich

    path = "/a/very/long/path" * 20
    Screen().show(Rich(path, no_wrap=True, overflow="ignore"))
    assert capsys.readouterr().out == f"{path}\n"


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (PValue(Fraction(1, 1024), 1, 10), "1/1024 = 0.00098"),
        (PValue(Fraction(1), 1, 0), "1"),
        (PValue(Fraction(3, 2**40), 3, 40), "3/2^40 = 2.7e-12"),
        (None, "–"),
    ],
)
def test_a_p_is_written_as_what_was_counted(p: PValue | None, said: str) -> None:
    assert p_text(p, Text("en")) == said
