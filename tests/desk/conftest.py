"""Toy workspaces at three ages, made once and copied for each test that needs one."""

from __future__ import annotations

from pathlib import Path

import pytest
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
