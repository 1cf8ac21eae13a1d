from __future__ import annotations

from pathlib import Path

import pytest
from commands import Run

from echoctl.cli.reference import commands, reference, undocumented

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"

EXPECTED = [
    "list",
    "status",
    "show",
    "lint",
    "preflight",
    "dev",
    "rehearse",
    "amend",
    "review",
    "close",
    "freeze",
    "exam",
    "report",
    "verify",
    "bundle",
    "replay",
    "stats",
]


def test_every_command_of_the_life_cycle_is_there() -> None:
    names = [path.split()[1] for path, _ in commands()]
    assert set(EXPECTED) - set(names) == set()


def test_every_command_argument_and_option_has_words_of_its_own() -> None:
    assert undocumented() == []


def test_the_reference_on_disk_is_not_stale() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(), "run: make docs"


@pytest.mark.parametrize(("path", "command"), list(commands()), ids=lambda value: str(value))
def test_a_command_explains_itself_within_a_line_and_has_help(
    run: Run, path: str, command: object
) -> None:
    ran = run(*path.split()[1:], "--help")
    assert ran.code == 0
    assert ran.out.startswith(f"Usage: {path}")


def test_the_summary_of_no_command_is_cut_off(run: Run) -> None:
    assert "..." not in run("--help").out.replace("[ARGS]...", "")
