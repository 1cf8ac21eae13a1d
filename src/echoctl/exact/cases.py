"""Comparisons in a file: what `echoctl stats` reads and what it answers. Pure.

JSON: a list of cases (or one case). A Wilcoxon case has `name`, `x`, `y` and, where the default
is not meant, `number_semantics` (`int`, `binary64`, `decimal`), `zero_method` and `alternative`;
a Holm case has `name`, `p`, `alpha` and optionally `m`, the number of registered tests. Other
keys are ignored. CSV: two columns x and y, a header if wanted, one unit a row.

Numbers are taken from the text of the file, so an integer of any size and a decimal arrive whole.
Only `binary64` rounds, to the double that the text names, because that is what it asks for.
A case that cannot be answered is a UsageError of its own; a file that cannot be read is one too.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import cast

from echoctl.errors import UsageError
from echoctl.exact.holm import Holm, holm
from echoctl.exact.paired import Alternative, ExactTest, ZeroMethod, differences, wilcoxon
from echoctl.exact.rational import exact_number

SEMANTICS = ("int", "binary64", "decimal")


class Literal(str):
    """The text of a number as it stands in the file (a JSON number, NaN, or a CSV cell)."""

    __slots__ = ()


@dataclass(frozen=True)
class Case:
    """One comparison as it was read; nothing about its content is known yet."""

    name: str
    data: dict[str, object]
    problem: str = ""
    """Why it can't be answered at all, such as a key that is there twice."""


@dataclass(frozen=True)
class Comparison:
    """A Wilcoxon case that was answered."""

    name: str
    d: tuple[Fraction, ...]
    """x - y, unit by unit."""
    zero_method: ZeroMethod
    test: ExactTest


@dataclass(frozen=True)
class Family:
    """A Holm case that was answered."""

    name: str
    p: tuple[Fraction, ...]
    alpha: Fraction
    result: Holm


def read_cases(path: Path) -> list[Case]:
    """Read the cases of a JSON or CSV file. UsageError, with file and place, if it is neither."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as problem:
        raise UsageError(
            f"{path}: {problem.strerror or 'cannot be read'}", "name a readable JSON or CSV file"
        ) from problem
    except UnicodeDecodeError as problem:
        raise UsageError(
            f"{path}: byte {problem.start} is not UTF-8 text", "save the file as UTF-8"
        ) from problem
    if not text.strip():
        raise UsageError(f"{path}: the file is empty", "give a list of cases, or two columns")
    if path.suffix.lower() in {".csv", ".tsv"} or text.lstrip()[0] not in "[{":
        return [_read_csv(text, path)]
    return _read_json(text, path)


class _Object(dict[str, object]):
    """A JSON object that remembers which keys were given more than once."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        keys = [key for key, _ in pairs]
        self.twice = sorted({key for key in keys if keys.count(key) > 1})


def _read_json(text: str, path: Path) -> list[Case]:
    try:
        found = json.loads(
            text, parse_int=Literal, parse_float=Literal, parse_constant=Literal,
            object_pairs_hook=_Object,
        )  # fmt: skip
    except json.JSONDecodeError as problem:
        raise UsageError(
            f"{path}, line {problem.lineno}, column {problem.colno}: {problem.msg}",
            "the file must be JSON (a list of cases) or two columns of CSV",
        ) from problem
    except RecursionError as problem:
        raise UsageError(f"{path}: nested too deeply", "give a flat list of cases") from problem
    entries = found if isinstance(found, list) else [found]
    cases = []
    for place, entry in enumerate(entries, start=1):
        name = f"case {place}"
        if not isinstance(entry, _Object):
            cases.append(Case(name, {}, "it is not an object with a name and numbers"))
            continue
        if isinstance(entry.get("name"), str):
            name = str(entry["name"])
        twice = ", ".join(entry.twice)
        cases.append(Case(name, entry, f"given more than once: {twice}" if twice else ""))
    return cases


def _read_csv(text: str, path: Path) -> Case:
    first_line = text.lstrip().splitlines()[0]
    mark = next((mark for mark in "\t;," if mark in first_line), ",")
    x: list[object] = []
    y: list[object] = []
    first = True
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if len(cells) != 2:
                raise UsageError(
                    f"{path}, line {rows.line_num}: {len(cells)} columns where two belong",
                    "keep two columns, x and y, and one unit a row",
                )
            if mark == ";":
                cells = [cell.replace(",", ".") for cell in cells]
            header = first and not any(_like_a_number(cell) for cell in cells)
            first = False
            if not header:
                x.append(Literal(cells[0]))
                y.append(Literal(cells[1]))
    except csv.Error as problem:
        raise UsageError(
            f"{path}, line {rows.line_num}: {problem}", "keep two plain columns, x and y"
        ) from problem
    return Case(path.stem, {"x": x, "y": y})


def _like_a_number(cell: str) -> bool:
    if not cell or cell.lstrip("+-").lower() in {"nan", "inf", "infinity"}:
        return True  # a value, if a bad one: never taken for a title
    return cell.lstrip("+-.")[:1].isdigit()


def compare(case: Case, alternative: str, zero_method: str, semantics: str) -> Comparison:
    """Answer a Wilcoxon case; the options stand in for what the case doesn't say."""
    data = _content(case)
    how = _word(data, "number_semantics", semantics)
    if how not in SEMANTICS:
        raise UsageError(f"number_semantics {how!r} is unknown", f"use {', '.join(SEMANTICS)}")
    x, y = (_numbers(data, arm, how) for arm in ("x", "y"))
    d = differences(x, y)
    zeros = cast(ZeroMethod, _word(data, "zero_method", zero_method))
    direction = cast(Alternative, _word(data, "alternative", alternative))
    return Comparison(case.name, d, zeros, wilcoxon(d, direction, zeros))  # refuses other words


def correct(case: Case) -> Family:
    """Answer a Holm case."""
    data = _content(case)
    p = _numbers(data, "p", "decimal")
    if data.get("alpha") is None:
        raise UsageError("alpha is missing", 'give it as text, such as "1/100"')
    alpha = _number(data["alpha"], "decimal", "alpha")
    registered = None
    if data.get("m") is not None:
        registered = int(_number(data["m"], "int", "m"))
    return Family(case.name, tuple(p), alpha, holm(p, alpha, registered))


def compared_json(answer: Comparison) -> dict[str, object]:
    """Return what `--json` prints for a Wilcoxon case: name, p_num, p_den in lowest terms."""
    p = answer.test.p
    return {"name": answer.name, "p_num": p.numerator, "p_den": p.denominator}


def corrected_json(answer: Family) -> dict[str, object]:
    """Return what `--json` prints for a Holm case: name, adjusted as [num, den], reject."""
    adjusted = [[p.numerator, p.denominator] for p in answer.result.adjusted]
    return {"name": answer.name, "adjusted": adjusted, "reject": list(answer.result.reject)}


def _content(case: Case) -> dict[str, object]:
    if case.problem:
        raise UsageError(case.problem, "correct the case")
    return case.data


def _word(data: dict[str, object], key: str, default: str) -> str:
    value = data.get(key)
    return default if value is None else str(value)


def _numbers(data: dict[str, object], key: str, how: str) -> Sequence[Fraction]:
    values = data.get(key)
    if not isinstance(values, list):
        raise UsageError(f"{key} is not a list of numbers", f"give {key} as a list")
    return [_number(value, how, f"{key}[{place}]") for place, value in enumerate(values)]


def _number(value: object, how: str, where: str) -> Fraction:
    """Read one number as `how` says; it may stand as a JSON number, as text, or as [num, den]."""
    try:
        if isinstance(value, list) and len(value) == 2 and how == "decimal":
            above, below = (_number(part, "int", where) for part in value)
            if below == 0:
                raise UsageError("it divides by zero", "give a denominator above zero")
            return above / below
        if not isinstance(value, str):
            raise UsageError(f"{json.dumps(value)} is not a number", "give one number a unit")
        exact = exact_number(value)
        if how == "binary64":
            # the double nearest to the value, whole again from here on
            return Fraction(float(exact))
        if how == "int" and exact.denominator != 1:
            raise UsageError(f"{value} is not whole", "set number_semantics to decimal or binary64")
        return exact
    except OverflowError as problem:
        raise UsageError(f"{where}: {value} is beyond binary64", "use decimal") from problem
    except UsageError as problem:
        raise UsageError(f"{where}: {problem.why}", problem.todo) from problem
