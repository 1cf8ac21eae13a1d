"""Where words reach a terminal: one screen for results, one for what accompanies them.

Results go to standard output; progress, notes and refusals to standard error, so that a pipe
carries only what was asked for. Colour follows the terminal, ``NO_COLOR`` and ``--json``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from functools import cached_property
from typing import IO, TYPE_CHECKING

from echoctl.errors import EchoError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


class Screen:
    """Standard output and standard error of one command.

    `as_json` prints one JSON value and nothing else on standard output; `quiet` drops what only
    accompanies a result. A reader that goes away (``| head``) ends the output, not the act.
    """

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet

    @cached_property
    def out(self) -> Console:
        """Return the console of standard output."""
        return _console(sys.stdout)

    @cached_property
    def err(self) -> Console:
        """Return the console of standard error."""
        return _console(sys.stderr)

    def show(self, *parts: RenderableType) -> None:
        """Print a result for people; text that must not be wrapped (a path) is not."""
        for part in parts:
            self.out.print(part, soft_wrap=getattr(part, "no_wrap", None) is True)

    def note(self, *parts: RenderableType) -> None:
        """Print what only accompanies a result; nothing with ``--quiet`` or ``--json``."""
        if not self.quiet and not self.as_json:
            for part in parts:
                self.err.print(part)

    def json(self, value: object) -> None:
        """Print a JSON value, keys sorted, readable."""
        _write(sys.stdout, _json(value, sys.stdout) + "\n")

    def lines(self, lines: Iterable[str]) -> None:
        """Print lines as they are, without any markup."""
        for line in lines:
            _write(sys.stdout, line + "\n")

    def error(self, problem: EchoError) -> None:
        """Print a refusal: what was asked and why not, then what to do instead."""
        if self.as_json:
            self.json(problem.as_json())
            return
        _write(sys.stderr, "\n".join(refusal(problem)) + "\n")


def refusal(problem: EchoError) -> list[str]:
    """Return the lines of a refusal: ``refused (3): why`` and, indented, what to do.

    Several reasons (each line of a broken contract) follow one a line, so that an editor finds
    ``file:line:column`` where it expects it.
    """
    first, *more = problem.why.splitlines() or [""]
    lines = [f"{problem.word} ({problem.exit_code}): {first}", *more]
    if more:
        lines = [f"{problem.word} ({problem.exit_code}): {len(more) + 1} problems", first, *more]
    lines += [f"  {line}" for line in problem.todo.splitlines() if line.strip()]
    return lines


def _console(stream: IO[str]) -> Console:
    from rich.console import Console

    class Quietly(Console):
        """A console whose reader may go away: the rest of the output is dropped."""

        def on_broken_pipe(self) -> None:
            self.quiet = True
            hush(stream)

    return Quietly(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=False)


def _json(value: object, stream: IO[str]) -> str:
    encoding = str(getattr(stream, "encoding", None) or "utf-8")
    plain = not encoding.lower().replace("-", "").startswith("utf8")
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=plain)


def _write(stream: IO[str], text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        hush(stream)


def hush(stream: IO[str]) -> None:
    """Send what a stream still holds nowhere: its reader has gone."""
    try:
        target = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, target)
    os.close(nowhere)
