"""Toy workspaces at three ages, made once and copied for each test that needs one.

The tiny ones are for the tests that kill: they live through the real command line.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from crash_kit import copy_of, done, echoctl, matrix, tiny
from desk_kit import copied, copy_toy

from echoctl import desk
from echoctl.desk import Workspace


@pytest.fixture
def toy(tmp_path: Path) -> Workspace:
    """A fresh workspace: the contract and the track, nothing done yet."""
    return copy_toy(tmp_path / "toy")


@pytest.fixture(scope="session")
def checked_once(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    ws = copy_toy(tmp_path_factory.mktemp("checked") / "toy")
    desk.preflight(ws, "toy")
    return ws


@pytest.fixture(scope="session")
def frozen_once(tmp_path_factory: pytest.TempPathFactory, checked_once: Workspace) -> Workspace:
    ws = copied(checked_once, tmp_path_factory.mktemp("frozen") / "toy")
    desk.review(ws, "toy", reviewer="somebody else")
    desk.freeze(ws, "toy")
    return ws


@pytest.fixture(scope="session")
def decided_once(tmp_path_factory: pytest.TempPathFactory, frozen_once: Workspace) -> Workspace:
    ws = copied(frozen_once, tmp_path_factory.mktemp("decided") / "toy")
    desk.exam(ws, "toy")
    return ws


@pytest.fixture
def checked(tmp_path: Path, checked_once: Workspace) -> Workspace:
    """After the preflight."""
    return copied(checked_once, tmp_path / "checked")


@pytest.fixture
def frozen(tmp_path: Path, frozen_once: Workspace) -> Workspace:
    """After the freeze."""
    return copied(frozen_once, tmp_path / "frozen")


@pytest.fixture
def decided(tmp_path: Path, decided_once: Workspace) -> Workspace:
    """After the exam."""
    return copied(decided_once, tmp_path / "decided")


@pytest.fixture(scope="session")
def reviewed_tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ws = tiny(tmp_path_factory.mktemp("reviewed") / "ws")
    done(echoctl(ws, "preflight", "toy"))
    done(echoctl(ws, "review", "toy", "--reviewer", "somebody else"))
    return ws


@pytest.fixture(scope="session")
def frozen_tiny(tmp_path_factory: pytest.TempPathFactory, reviewed_tiny: Path) -> Path:
    ws = copy_of(reviewed_tiny, tmp_path_factory.mktemp("frozen") / "ws")
    done(echoctl(ws, "freeze", "toy"))
    return ws


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, frozen_tiny: Path) -> tuple[Path, float]:
    """Return the exam that nobody killed, and the seconds that its process lived."""
    ws = copy_of(frozen_tiny, tmp_path_factory.mktemp("undisturbed") / "ws")
    began = time.monotonic()
    done(echoctl(ws, "exam", "toy"))
    life = time.monotonic() - began
    done(echoctl(ws, "verify", "toy"))
    return ws, life


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the kill matrix after a nightly run; docs/security.md shows the last one."""
    if config.option.markexpr != "nightly":
        return
    passed = terminalreporter.stats.get("passed", [])
    for line in matrix(one for report in passed for one in report.user_properties):
        terminalreporter.write_line(line)
