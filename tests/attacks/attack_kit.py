"""What every attack needs: run a tool as a user would, and look at what it said."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import exam_builder as builder

from echoctl import verify

VERDICT = re.compile(r"(?<![.\w])(green|red|verde|rojo)\b", re.IGNORECASE)
"""A colour, unless it is the name of a rule in the contract (``verdict.green``)."""


def alone(place: Path, *words: str) -> tuple[int, str]:
    """Run the verifier on artefacts and return its exit code and all that it printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = verify.main([str(place), *words])
    return code, out.getvalue() + err.getvalue()


def caught(exam: builder.Exam, place: Path, *sentences: str, words: tuple[str, ...] = ()) -> str:
    """Write a forged exam, and assert that the verifier alone finds it and names no verdict."""
    code, said = alone(exam.write(place), exam.ident, *words)
    assert code == 5, said
    assert not VERDICT.search(said), said
    assert "Traceback" not in said
    for sentence in sentences:
        assert sentence in " ".join(said.split()), f"{sentence!r} is not in:\n{said}"
    return said


def echoctl(place: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the real command line in a workspace."""
    import os

    return subprocess.run(
        [sys.executable, "-m", "echoctl", *words], cwd=place, capture_output=True, text=True,
        check=False, timeout=300, env={**os.environ, "NO_COLOR": "1", **env},
    )  # fmt: skip


def refused(run: subprocess.CompletedProcess[str], code: int, *sentences: str) -> str:
    """Assert an exit code, that no verdict is named and no traceback shown; return the words."""
    said = run.stdout + run.stderr
    assert run.returncode == code, said
    assert not VERDICT.search(said), said
    assert "Traceback" not in said
    for sentence in sentences:
        assert sentence in " ".join(said.split()), f"{sentence!r} is not in:\n{said}"
    return said
