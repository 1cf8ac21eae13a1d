"""A toy track at each age, made once through the command line and copied for who needs one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from commands import Run, act, runner

TOY = Path(__file__).parents[1] / "data" / "toy"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(capsys)


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    return copied(TOY, tmp_path)


def copied(place: Path, to: Path) -> Path:
    target = to / "toy"
    shutil.copytree(place, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    return target


@pytest.fixture(scope="session")
def _checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = copied(TOY, tmp_path_factory.mktemp("checked"))
    act(place, "preflight", "toy")
    act(place, "review", "toy", "--reviewer", "somebody else", "--blocking", "It must stop.")
    return place


@pytest.fixture(scope="session")
def _frozen(tmp_path_factory: pytest.TempPathFactory, _checked: Path) -> Path:
    place = copied(_checked, tmp_path_factory.mktemp("frozen"))
    act(place, "review", "toy", "--answer", "1.1", "--action", "It stops now.")
    act(place, "freeze", "toy")
    return place


@pytest.fixture(scope="session")
def _decided(tmp_path_factory: pytest.TempPathFactory, _frozen: Path) -> Path:
    place = copied(_frozen, tmp_path_factory.mktemp("decided"))
    act(place, "exam", "toy")
    return place


@pytest.fixture
def checked(tmp_path: Path, _checked: Path) -> Path:
    """After a review with an open blocking finding."""
    return copied(_checked, tmp_path)


@pytest.fixture
def frozen(tmp_path: Path, _frozen: Path) -> Path:
    return copied(_frozen, tmp_path)


@pytest.fixture
def decided(tmp_path: Path, _decided: Path) -> Path:
    return copied(_decided, tmp_path)
