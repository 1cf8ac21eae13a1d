"""Small mistakes planted in the verdict: the tests of this folder must kill every one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MUTANTS = [
    ("checks.py", "longest >= check.in_a_row", "longest > check.in_a_row"),
    ("checks.py", "if moves and holds else 0", "if moves else 0"),
    ("checks.py", "totals[i + 1] < totals[i] if down", "totals[i + 1] <= totals[i] if down"),
    ("checks.py", "arm <= theirs if higher", "arm < theirs if higher"),
    ("checks.py", "value <= against(check.at_most)", "value < against(check.at_most)"),
    ("checks.py", "value >= against(check.at_least)", "value > against(check.at_least)"),
    ("checks.py", "count.jobs > 0 and not count.differing", "not count.differing"),
    ("checks.py", '== "pass_if_zero" and arm == 0', '== "pass_if_zero"'),
    ("checks.py", "all(test.rejected for test in tests)", "any(test.rejected for test in tests)"),
    ("checks.py", '"any": any(each)', '"any": all(each)'),
    ("checks.py", '"not": not each[0]', '"not": each[0]'),
    ("checks.py", '"not_above": left <= right', '"not_above": left < right'),
    ("checks.py", "worst[0] == check.to,", "worst[0] <= check.to,"),
    ("cube.py", "set(map(type, values)) != {int}", "not all(isinstance(v, int) for v in values)"),
    ("cube.py", "if first is None and second is None:", "if first is None or second is None:"),
    ("cube.py", "if out and first <= out[-1][1]:", "if out and first < out[-1][1]:"),
    ("cube.py", "self.high = max(self.high, other.high)", "self.high = other.high"),
    ("cube.py", "(self.round is None or key.round in self.round)", "True"),
    ("decide.py", "tuple(range(1, count + 1))", "tuple(sorted(seen))"),
    ("decide.py", "if extra := sorted(cube.jobs.keys() - planned.keys()):", "if extra := []:"),
    ("decide.py", "check.passed for check in invariants\n", "True for check in invariants\n"),
    ("decide.py", "passed[name] is False for name", "passed[name] is True for name"),
    ("paired.py", "registered=m)", "registered=m) if m < 2 else exact.holm(values, Fraction(1))"),
    ("paired.py", 'sign = -1 if direction == "below" else 1', "sign = 1"),
    ("paired.py", '"below": "less"', '"below": "two-sided"'),
]


@pytest.mark.parametrize("number", range(len(MUTANTS)))
def test_each_mutant_is_still_possible_to_plant(number: int) -> None:
    file, old, new = MUTANTS[number]
    text = (ROOT / "src/echoctl/verdict" / file).read_text("utf-8")
    assert old in text
    assert old != new


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(len(MUTANTS)))
def test_each_mutant_dies(number: int, tmp_path: Path) -> None:
    file, old, new = MUTANTS[number]
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    target = tmp_path / "src/echoctl/verdict" / file
    target.write_text(target.read_text("utf-8").replace(old, new), "utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not nightly",
         "--deselect", "tests/verdict/test_verdict_mutants.py", "tests/verdict"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ran.returncode == 1, ran.stdout[-2000:] + ran.stderr[-2000:]
