"""What the benchmarks share: a Markdown table, and the page that it is written to."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance.md"


def how(script: str, words: Sequence[str], what: str) -> str:
    """Return the line above a table: the command that made it, the interpreter, what it shows."""
    command = " ".join(["python", f"benchmarks/{script}.py", *words])
    return f"`{command}`: CPython {platform.python_version()}, {what}."


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose first column is words and whose others are figures."""
    rule = ["---", *("--:" for _ in head[1:])]
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return "\n".join([lines[0], f"|{'|'.join(rule)}|", *lines[1:]])


def write(script: str, text: str) -> None:
    """Replace what stands between a script's markers in docs/performance.md.

    ValueError where the page has no such markers.
    """
    begin, end = f"<!-- {script}: begin -->", f"<!-- {script}: end -->"
    before, found, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    _, ended, after = rest.partition(end)
    if not (found and ended):
        raise ValueError(f"{PAGE.name} has no place for {script}: add {begin} and {end}")
    PAGE.write_text(f"{before}{begin}\n{text.rstrip()}\n{end}{after}", encoding="utf-8")
