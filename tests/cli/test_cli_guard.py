from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import runner

from echoctl.cli import acts
from echoctl.errors import CheckFailed, EchoError, Inconsistent, Interrupted, Refused, UsageError


def ending(monkeypatch: pytest.MonkeyPatch, problem: BaseException) -> None:
    """Make `echoctl list` end in this way."""

    def fail(*_: object) -> None:
        raise problem

    monkeypatch.setattr(acts, "list_", fail)


@pytest.mark.parametrize(
    ("problem", "code", "word"),
    [
        (CheckFailed("why", "todo"), 1, "failed"),
        (UsageError("why", "todo"), 2, "usage"),
        (Refused("why", "todo"), 3, "refused"),
        (Interrupted("why", "todo"), 4, "interrupted"),
        (Inconsistent("why", "todo"), 5, "inconsistent"),
    ],
)
def test_every_way_to_fail_has_its_word_and_its_exit_code(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    problem: EchoError,
    code: int,
    word: str,
) -> None:
    ending(monkeypatch, problem)
    ran = runner(capsys)("list")
    assert (ran.code, ran.out) == (code, "")
    assert ran.err == f"{word} ({code}): why\n  todo\n"
    said = runner(capsys)("list", "--json")
    assert said.code == code
    assert said.json == {"error": word, "exit": code, "why": "why", "todo": "todo"}
    assert said.err == ""


def test_a_defect_is_said_in_two_lines_and_its_details_are_kept(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ending(monkeypatch, RuntimeError("boom"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ran = runner(capsys)("list")
    assert ran.code == 70
    assert len(ran.err.splitlines()) == 2
    assert "defect of echoctl" in ran.err
    [crash] = tmp_path.iterdir()
    assert str(crash) in ran.err
    kept = crash.read_text()
    assert "$ echoctl list" in kept
    assert "RuntimeError: boom" in kept


def test_a_defect_is_one_json_value_for_programs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ending(monkeypatch, RuntimeError("boom"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ran = runner(capsys)("list", "--json")
    assert ran.json["error"] == "bug"
    assert ran.json["exit"] == ran.code == 70


def test_the_debug_variable_lets_the_traceback_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ending(monkeypatch, RuntimeError("boom"))
    monkeypatch.setenv("ECHOCTL_DEBUG", "1")
    with pytest.raises(RuntimeError):
        runner(capsys)("list")


def test_ctrl_c_says_how_to_go_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ending(monkeypatch, KeyboardInterrupt())
    ran = runner(capsys)("list", "--quiet")
    assert ran.code == 4
    assert "echoctl list --quiet" in ran.err


def test_a_full_disk_is_no_defect(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ending(monkeypatch, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "some/file"))
    ran = runner(capsys)("list")
    assert ran.code == 4
    assert "some/file: No space left on device" in ran.err
    assert "free some space" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("nonsense",),
        ("list", "--nonsense"),
        ("status", "a", "b"),
        ("show",),
        ("exam",),
        ("amend", "memx"),
        ("dev", "memx", "--units", "none"),
        ("dev", "memx", "--units", "0"),
        ("exam", "memx", "--expect", "blue"),
        ("list", "--lang", "fr"),
        ("replay", "memx"),
    ],
)
def test_a_malformed_request_is_usage_and_says_where_help_is(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    ran = runner(capsys)(*words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("usage (2): ")
    assert "--help" in ran.err
    assert len(ran.err.splitlines()) <= 3


def test_a_near_miss_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    assert "list" in runner(capsys)("lst").err


def test_without_words_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    ran = runner(capsys)()
    assert (ran.code, ran.err) == (2, "")
    assert ran.out.startswith("Usage: echoctl")
    assert "rehearse" in ran.out


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    from echoctl import __version__

    assert runner(capsys)("--version").out.strip() == f"echoctl {__version__}"


def echoctl(
    *words: str, cwd: Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    surroundings = {**os.environ, "COLUMNS": "80", **(env or {})}
    return subprocess.run(
        [sys.executable, "-m", "echoctl", *words],
        cwd=cwd, env=surroundings, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_a_reader_that_goes_away_is_no_traceback_and_keeps_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "contracts").mkdir()
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as out:
        ran = subprocess.run(
            [sys.executable, "-m", "echoctl", "list"],
            cwd=tmp_path, stdout=out, stderr=subprocess.PIPE, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_terminal_that_only_knows_ascii_gets_words_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "contracts").mkdir()
    ran = echoctl("list", "--lang", "es", cwd=tmp_path, env={"PYTHONIOENCODING": "ascii"})
    assert ran.returncode == 0
    assert "contratos" in ran.stdout


def test_no_colour_reaches_a_pipe(tmp_path: Path) -> None:
    (tmp_path / "contracts").mkdir()
    ran = echoctl("list", cwd=tmp_path)
    assert "\x1b" not in ran.stdout + ran.stderr


def test_the_help_loads_nothing_heavy(tmp_path: Path) -> None:
    script = (
        "import sys; from echoctl.cli import main; main(['--help']);"
        "heavy = {'pydantic', 'rich', 'numpy', 'yaml', 'PIL', 'minigrid', 'gymnasium', 'scipy'};"
        "sys.exit(','.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert ran.stderr == ""


def test_outside_any_workspace_a_command_says_so(tmp_path: Path) -> None:
    ran = echoctl("list", cwd=tmp_path)
    assert ran.returncode == 2
    assert "no workspace" in ran.stderr
