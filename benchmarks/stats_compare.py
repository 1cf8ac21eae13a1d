"""Our answer beside SciPy's, statsmodels' and pingouin's on inputs where they differ.

    python benchmarks/stats_compare.py [--write]

Needs the dependency group `bench`. With ``--write`` the tables go into ``docs/statistics.md``,
between their markers. SciPy is asked twice: with ``method="exact"`` and as it comes ("auto").
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from echoctl.errors import UsageError
from echoctl.exact import Alternative, decimal_text, differences, exact_number, holm, wilcoxon

PAGE = Path(__file__).resolve().parents[1] / "docs" / "statistics.md"
LIBRARIES = ("scipy", "statsmodels", "pingouin")


class Pairs(NamedTuple):
    """A Wilcoxon input: numbers as text, so that each side reads them in its own way."""

    what: str
    x: Sequence[str]
    y: Sequence[str]
    alternative: Alternative = "greater"
    zeros: Any = "wilcox"


def against_zero(what: str, d: Sequence[int], *more: Any) -> Pairs:  # noqa: ANN401
    """Return differences as pairs whose second arm is zero."""
    return Pairs(what, [str(value) for value in d], ["0"] * len(d), *more)


PAIRS = (
    against_zero("-2, 2, 2 and seven 3s", [-2, 2, 2, *[3] * 7]),
    against_zero("nine zeros and a loss, less, Pratt", [*[0] * 9, -1], "less", "pratt"),
    against_zero("0, -1, -2 and 4 to 10, Pratt", [0, -1, -2, *range(4, 11)], "greater", "pratt"),
    against_zero("11 wins and 9 zeros", [*[0] * 9, *range(1, 12)]),
    against_zero("14 zeros", [0] * 14),
    against_zero("19 wins, the smallest tied with a loss", [-1, *range(1, 20)]),
    against_zero("51 untied, every third a loss", [-i if i % 3 == 0 else i for i in range(1, 52)]),
    against_zero("64 wins, all tied", [3] * 64),
    Pairs("0.1 + 0.2 less 0.3, then 1 to 4", ["0.1+0.2", "2", "3", "4", "5"],
          ["0.3", "1", "1", "1", "1"]),
    Pairs("six decimals, four 0.2 and two -0.2", ["0.3", "0.2", "0.5", "1.1", "0.7", "0.9"],
          ["0.1", "0.4", "0.7", "0.9", "0.5", "0.7"]),
    Pairs("1 to 10, both arms above 10^18", [str(10**18 + i) for i in range(1, 11)],
          [str(10**18)] * 10),
)  # fmt: skip

FAMILIES = (
    ("1/1024 and a NaN", ("1/1024", "nan"), "1/100"),
    ("1/512, a NaN, 9/1024", ("1/512", "nan", "9/1024"), "1/100"),
    (
        "1/500 to 1/100, each at its threshold",
        ("1/500", "1/400", "1/300", "1/200", "1/100"),
        "1/100",
    ),
    ("1/2 and 3/2", ("1/2", "3/2"), "1/100"),
)


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write docs/statistics.md")
    text = "\n".join([_versions(), "", *_pairs_table(), "", *_families_table()])
    if parser.parse_args().write:
        put(PAGE, "stats_compare", text)
    else:
        print(text)


def put(page: Path, mark: str, text: str) -> None:
    """Replace what stands between the markers of `mark` in a page."""
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    before, rest = page.read_text().split(begin)
    page.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}")


def _versions() -> str:
    names = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return f"`python benchmarks/stats_compare.py --write`: {names}."


def _pairs_table() -> list[str]:
    lines = [
        "| differences x - y | ours | SciPy exact | SciPy auto | pingouin |",
        "|---|--:|--:|--:|--:|",
    ]
    scipy, pingouin = import_module("scipy.stats"), import_module("pingouin")
    for case in PAIRS:
        d = differences(_read(case.x, exact_number), _read(case.y, exact_number))
        test = wilcoxon(d, case.alternative, case.zeros)
        x, y = _read(case.x, float), _read(case.y, float)
        how: dict[str, Any] = {"alternative": case.alternative, "zero_method": case.zeros}
        cells = [
            _asked(scipy.wilcoxon, x, y, method="exact", **how),
            _asked(scipy.wilcoxon, x, y, **how),
            _asked(pingouin.wilcoxon, x, y, **how),
        ]
        ours = f"{test.k}/2^{test.n} = " if test.k < 10**6 else ""
        ours += decimal_text(test.p)
        shown = [_beside(cell, test.p) for cell in cells]
        lines.append(f"| {case.what} | {ours} | {' | '.join(shown)} |")
    return lines


def _families_table() -> list[str]:
    lines = [
        "| family of p, alpha 1/100 | ours rejects | statsmodels rejects | pingouin rejects |",
        "|---|---|---|---|",
    ]
    multiple = import_module("statsmodels.stats.multitest").multipletests
    pingouin = import_module("pingouin")
    for what, family, level in FAMILIES:
        alpha = float(Fraction(level))
        p = [float("nan") if v == "nan" else float(Fraction(v)) for v in family]
        cells = [
            _ours(family, level),
            _asked(multiple, p, alpha=alpha, method="holm"),
            _asked(pingouin.multicomp, p, alpha=alpha, method="holm"),
        ]
        first, *rest = map(_rejected, cells)
        shown = [cell if cell == first else f"**{cell}**" for cell in rest]
        lines.append(f"| {what} | {first} | {' | '.join(shown)} |")
    return lines


def _ours(family: Sequence[str], level: str) -> object:
    try:
        return holm([exact_number(v) for v in family], Fraction(level)).reject
    except UsageError as problem:
        return f"error: {problem}"


def _read(values: Sequence[str], number: Callable[[str], Any]) -> list[Any]:
    """Read each text, or sum of texts, in a side's own arithmetic."""
    return [sum(map(number, value.split("+"))) for value in values]


def _asked(function: Callable[..., Any], *data: object, **how: object) -> object:
    """Return a library's p or rejections, or the error it raised. Warnings are not answers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = function(*data, **how)
        except Exception as problem:  # whatever it raises is what a user would see
            return f"error: {type(problem).__name__}"
    if isinstance(found, tuple) and not hasattr(found, "pvalue"):
        return list(found[0])
    return float(found.pvalue if hasattr(found, "pvalue") else found.filter(like="p").iloc[0, 0])


def _beside(answer: object, exact: Fraction) -> str:
    """Write a library's p, in bold where it is off by more than a billionth of the exact p."""
    if not isinstance(answer, float):
        return f"**{answer}**"
    if answer != answer:
        return "**NaN**"
    text = decimal_text(Fraction(answer))
    same = abs(Fraction(answer) - exact) <= exact / 10**9
    return text if same else f"**{text}**"


def _rejected(answer: object) -> str:
    if not isinstance(answer, Sequence) or isinstance(answer, str):
        return str(answer)
    return ", ".join("yes" if one else "no" for one in answer)


if __name__ == "__main__":
    main()
