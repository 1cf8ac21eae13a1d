"""`echoctl stats`: exact tests on numbers in a file, so that anyone can check a comparison.

A case that can't be answered is an answer too (`error`), and the rest go on: the exit code is 0
whenever the file could be read, and 2 when it could not.
"""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from fractions import Fraction

    from rich.console import RenderableType

    from echoctl.exact import ExactTest, Interval
    from echoctl.exact.cases import Comparison, Family

app = typer.Typer(
    name="stats",
    help="Exact Wilcoxon tests and Holm corrections of numbers in a file.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="JSON cases, or CSV of two columns.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON value, for programs.")]


@app.command()
def wilcoxon(
    file: File,
    alternative: Annotated[
        Literal["less", "greater", "two-sided"],
        typer.Option(help="Direction of x - y, for cases that name none."),
    ] = "two-sided",
    zero_method: Annotated[
        Literal["wilcox", "pratt"],
        typer.Option(help="Drop zeros before ranking (wilcox) or after, for cases that say none."),
    ] = "wilcox",
    numbers: Annotated[
        Literal["int", "binary64", "decimal"],
        typer.Option(help="How numbers are read, for cases without number_semantics."),
    ] = "decimal",
    json: Json = False,
) -> None:
    """Test paired numbers by the exact Wilcoxon signed-rank test, with estimates beside it.

    With --json: a list with name, p_num and p_den of each case, or its name and error.
    """
    from echoctl.errors import UsageError
    from echoctl.exact import cases

    answers: list[Comparison | tuple[str, UsageError]] = []
    for case in cases.read_cases(file):
        try:
            answers.append(cases.compare(case, alternative, zero_method, numbers))
        except UsageError as problem:
            answers.append((case.name, problem))
    if json:
        _print_json(
            _failed(*answer) if isinstance(answer, tuple) else cases.compared_json(answer)
            for answer in answers
        )
        return
    _print(
        _problem(*answer) if isinstance(answer, tuple) else _comparison(answer)
        for answer in answers
    )


@app.command()
def holm(file: File, json: Json = False) -> None:
    """Correct families of p by Holm's method.

    With --json: a list with name, adjusted and reject of each case, or its name and error.
    """
    from echoctl.errors import UsageError
    from echoctl.exact import cases

    answers: list[Family | tuple[str, UsageError]] = []
    for case in cases.read_cases(file):
        try:
            answers.append(cases.correct(case))
        except UsageError as problem:
            answers.append((case.name, problem))
    if json:
        _print_json(
            _failed(*answer) if isinstance(answer, tuple) else cases.corrected_json(answer)
            for answer in answers
        )
        return
    _print(
        _problem(*answer) if isinstance(answer, tuple) else _family(answer) for answer in answers
    )


def _failed(name: str, problem: Exception) -> dict[str, object]:
    return {"name": name, "error": str(problem)}


def _print_json(answers: Iterator[dict[str, object]]) -> None:
    """Print a JSON list, one case a line; integers are written whole, of whatever size."""
    from echoctl.render.screen import Screen

    sys.set_int_max_str_digits(0)
    lines = ",\n".join(" " + json_module.dumps(answer) for answer in answers)
    Screen().lines(["[", lines, "]"] if lines else ["[]"])


def _print(parts: Iterator[RenderableType]) -> None:
    from echoctl.render.screen import Screen

    screen = Screen()
    for part in parts:
        screen.show(part, "")


def _problem(name: str, problem: Exception) -> RenderableType:
    from rich.text import Text

    return Text.assemble((name, "bold"), ": ", ("error", "red"), f": {problem}")


def _comparison(answer: Comparison) -> RenderableType:
    from rich import box
    from rich.table import Table

    from echoctl import exact

    d, test = answer.d, answer.test
    table = Table(title=answer.name, title_justify="left", box=box.SIMPLE, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("x - y", f"{test.wins} above, {test.ties} zero, {test.losses} below")
    for method, words in (("wilcox", "zeros dropped"), ("pratt", "Pratt")):
        if method == answer.zero_method:
            table.add_row(f"Wilcoxon, {words}, {test.alternative}", _p(test), style="bold")
            table.add_row("  W (rank sum above zero)", exact.decimal_text(test.statistic, 12))
        else:
            other = exact.wilcoxon(d, test.alternative, "pratt" if method == "pratt" else "wilcox")
            table.add_row(f"Wilcoxon, {words}, beside it", _p(other))
    table.add_row("sign test", _p(exact.sign_test(d, test.alternative)))
    table.add_row("sign flip of the mean", _flip(d, test.alternative))
    table.add_row("mean difference", _number(exact.mean_difference(d)))
    table.add_row("Hodges-Lehmann", _interval(exact.hodges_lehmann(d)))
    table.add_row("rank-biserial", _number(exact.rank_biserial(d)))
    table.add_row("probability of improvement", _number(exact.improvement(d)))
    return table


def _flip(d: tuple[Fraction, ...], alternative: Literal["less", "greater", "two-sided"]) -> str:
    from echoctl.errors import UsageError
    from echoctl.exact import sign_flip

    try:
        return _p(sign_flip(d, alternative))
    except UsageError as problem:
        return f"not computed: {problem.why}"


def _p(test: ExactTest) -> str:
    short = test.k < 10**12
    return f"{test.k if short else 'k'}/2^{test.n} = {_number(test.p)}"


def _number(value: Fraction) -> str:
    from echoctl.exact import decimal_text

    return decimal_text(value, 4)


def _interval(found: Interval) -> str:
    if found.low is None or found.high is None:
        return f"{_number(found.estimate)}, too few units for 95 % limits"
    limits = f"[{_number(found.low)}, {_number(found.high)}]"
    return f"{_number(found.estimate)} {limits} at {_number(found.confidence * 100)} % or more"


def _family(answer: Family) -> RenderableType:
    from rich import box
    from rich.table import Table

    result = answer.result
    title = f"{answer.name}: alpha {answer.alpha}, {len(answer.p)} tests"
    if not answer.p:
        title += "; an empty family claims nothing"
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    for heading in ("test", "p", "threshold", "adjusted p", "rejected"):
        table.add_column(heading, justify="right")
    rows = zip(answer.p, result.thresholds, result.adjusted, result.reject, strict=True)
    for place, (p, threshold, adjusted, reject) in enumerate(rows, start=1):
        table.add_row(
            str(place), _fraction(p), str(threshold), _fraction(adjusted), "yes" if reject else "no"
        )
    return table


def _fraction(value: Fraction) -> str:
    text = str(value)
    return f"{text} = {_number(value)}" if "/" in text and len(text) < 24 else _number(value)
