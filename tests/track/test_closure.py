from __future__ import annotations

import shutil
import time
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from echoctl.errors import Refused, UsageError
from echoctl.track.closure import build_zip, code_closure, imports_of
from echoctl.track.loading import TrackSource, find_track, load_track

TOY = Path(__file__).parent.parent / "data" / "toy"
WORKER = ("echoctl.runner.worker",)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    shutil.copytree(TOY, tmp_path / "w", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "w"


def closure(workspace: Path) -> dict[str, bytes]:
    return code_closure(find_track("tracks/toy.py:Toy", workspace), workspace, WORKER)


def test_the_closure_holds_what_the_track_imports_and_what_that_imports(workspace: Path) -> None:
    files = closure(workspace)
    assert {"tracks/toy.py", "tracks/dice.py", "__main__.py"} <= files.keys()
    assert {"echoctl/draws.py", "echoctl/canon.py", "echoctl/chain.py"} <= files.keys()
    assert "echoctl/runner/worker.py" in files


def test_imports_inside_functions_are_followed(workspace: Path) -> None:
    assert "echoctl/worlds/permit.py" in closure(workspace)


def test_what_only_types_import_stays_outside(workspace: Path) -> None:
    files = closure(workspace)
    assert not [name for name in files if name.startswith("echoctl/contract/")]


def test_nothing_of_desk_render_verdict_or_command_line_is_sealed(workspace: Path) -> None:
    rooms = {name.split("/")[1] for name in closure(workspace) if name.startswith("echoctl/")}
    assert not rooms & {"desk", "render", "cli", "verdict", "lint"}


def test_a_change_three_imports_away_changes_the_closure(workspace: Path) -> None:
    before = closure(workspace)
    (workspace / "tracks/dice.py").write_text("from far import throw\n")
    (workspace / "tracks/far.py").write_text("from farther import throw\n")
    (workspace / "tracks/farther.py").write_text("def throw(seed, sides):\n    return 0\n")
    after = closure(workspace)
    assert after.keys() - before.keys() == {"tracks/far.py", "tracks/farther.py"}
    (workspace / "tracks/farther.py").write_text("def throw(seed, sides):\n    return 1\n")
    assert closure(workspace) != after


def test_a_symlink_in_the_closure_is_refused(workspace: Path) -> None:
    (workspace / "tracks/dice.py").rename(workspace / "elsewhere.py")
    (workspace / "tracks/dice.py").symlink_to(workspace / "elsewhere.py")
    with pytest.raises(Refused, match=r"tracks/dice\.py is a symlink"):
        closure(workspace)


def test_a_file_that_does_not_parse_is_named(workspace: Path) -> None:
    (workspace / "tracks/dice.py").write_text("def throw(:\n")
    with pytest.raises(UsageError, match=r"tracks/dice\.py does not parse"):
        closure(workspace)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import a.b.c", {"a", "a.b", "a.b.c"}),
        ("from a import b", {"a", "a.b"}),
        ("from . import b", {"p.q", "p", "p.q.b"}),
        ("from .. import b", {"p", "p.b"}),
        ("from ..r.s import b", {"p", "p.r", "p.r.s", "p.r.s.b"}),
        ("from a import *", {"a"}),
        ("def f():\n    import a", {"a"}),
        ("try:\n    import a\nexcept ImportError:\n    import b", {"a", "b"}),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a", {"typing"}),
        ("import typing\nif typing.TYPE_CHECKING:\n    import a\nelse:\n    import b",
         {"typing", "b"}),
        ("import importlib\nimportlib.import_module('a.b')", {"importlib", "a", "a.b"}),
        ("__import__('a')", {"a"}),
    ],
)  # fmt: skip
def test_every_way_to_import_is_seen(source: str, found: set[str]) -> None:
    names = imports_of(source.encode(), "p.q.m", package=False)
    assert names - {"typing.TYPE_CHECKING"} == found


def test_a_package_counts_its_dots_from_itself() -> None:
    assert imports_of(b"from . import b", "p.q", package=True) == {"p", "p.q", "p.q.b"}


def test_the_zip_is_the_same_bytes_for_the_same_files(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"b.py": b"2", "a.py": b"1", "é/ñ.py": b"3"}
    first = build_zip(files)
    monkeypatch.setattr(time, "time", lambda: 4_000_000_000.0)
    assert build_zip(dict(reversed(files.items()))) == first
    with zipfile.ZipFile(BytesIO(first)) as archive:
        assert archive.namelist() == ["a.py", "b.py", "é/ñ.py"]
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}


def test_two_workspaces_may_have_tracks_of_the_same_name(workspace: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(workspace, other)
    toy = (other / "tracks/toy.py").read_text().replace('id = "toy"', 'id = "other"')
    (other / "tracks/toy.py").write_text(toy)
    assert load_track("tracks/toy.py:Toy", workspace).id == "toy"
    assert load_track("tracks/toy.py:Toy", other).id == "other"
    assert load_track("tracks/toy.py:Toy", workspace).id == "toy"


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("nobody", "no installed track is called 'nobody'"),
        ("tracks/none.py:Toy", r"there is no tracks/none\.py"),
        ("../toy.py:Toy", "is not a file inside the workspace"),
        ("tracks/toy.txt:Toy", "is not a file inside the workspace"),
        ("tracks/toy.py:Nobody", "does not load"),
        ("tracks/toy.py:SIDES", "is no Track"),
        ("json.py:Toy", "hides the module json"),
    ],
)
def test_a_track_that_cannot_be_loaded_says_why(workspace: Path, spec: str, says: str) -> None:
    (workspace / "json.py").write_text("")
    with pytest.raises(UsageError, match=says):
        load_track(spec, workspace)


def test_an_installed_track_has_no_folder() -> None:
    found = find_track("memx", Path())
    assert found == TrackSource("echoctl.tracks.memx", "Memx")
