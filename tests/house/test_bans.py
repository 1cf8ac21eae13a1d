"""Each ban of the house is shown catching a violation: a ban that cannot fail is decoration."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

VIOLATIONS = {
    "a floor may not use a floor above it": (
        "floors",
        "canon.py",
        "import echoctl.chain",
    ),
    "a room without a floor is refused": (
        "floors",
        "undeclared.py",
        '"""A room that nobody declared."""',
    ),
    "the desk may not import a track": (
        "tracks-by-name",
        "desk/__init__.py",
        "import echoctl.tracks.memx",
    ),
    "the arena may not import a track": (
        "tracks-by-name",
        "arena.py",
        "import echoctl.tracks.memx",
    ),
    "a track may not know the verdict": (
        "tracks-stay-below",
        "tracks/memx/__init__.py",
        "import echoctl.verdict",
    ),
    "a track may not know the dossier": (
        "tracks-stay-below",
        "tracks/memx/__init__.py",
        "import echoctl.dossier",
    ),
    "a mind may not import numpy": (
        "minds-are-integers",
        "mind/__init__.py",
        "import numpy",
    ),
    "a mind may not import chance": (
        "minds-are-integers",
        "mind/__init__.py",
        "import random",
    ),
    "a mind may not import a world": (
        "minds-are-integers",
        "mind/__init__.py",
        "import echoctl.worlds",
    ),
    "the second opinion may not import the project": (
        "verify-stands-alone",
        "verify.py",
        "import echoctl.canon",
    ),
    "the second opinion may not import numpy": (
        "verify-stands-alone",
        "verify.py",
        "import numpy",
    ),
    "what decides may not import scipy": (
        "verdicts-are-exact",
        "verdict/__init__.py",
        "import scipy",
    ),
    "exact arithmetic may not import math": (
        "verdicts-are-exact",
        "exact/__init__.py",
        "import math",
    ),
}


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("house")
    shutil.copytree(
        ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


@pytest.fixture
def house(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "house"))


def lint_imports(house: Path, contract: str) -> tuple[int, str]:
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command; lint_imports_command()",
            "--contract",
            contract,
            "--no-cache",
        ],
        cwd=house,
        env={**os.environ, "PYTHONPATH": str(house / "src"), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return run.returncode, run.stdout + run.stderr


@pytest.mark.parametrize("contract", sorted({ban for ban, _, _ in VIOLATIONS.values()}))
def test_the_house_as_it_stands_keeps_its_bans(pristine: Path, contract: str) -> None:
    code, said = lint_imports(pristine, contract)
    assert code == 0, said
    assert "1 kept, 0 broken" in said


@pytest.mark.parametrize("sentence", VIOLATIONS)
def test_a_violation_is_caught(house: Path, sentence: str) -> None:
    contract, room, line = VIOLATIONS[sentence]
    target = house / "src" / "echoctl" / room
    target.parent.mkdir(parents=True, exist_ok=True)
    before = target.read_text("utf-8") if target.exists() else '"""A room."""\n'
    target.write_text(f"{before}\n{line}\n", "utf-8")
    code, said = lint_imports(house, contract)
    assert code == 1, f"{sentence}: {said}"
    assert "0 kept, 1 broken" in said or "undeclared" in said, f"{sentence}: {said}"
