from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import echoctl
from echoctl.disk import (
    FAULT_POINTS,
    locked,
    make_folder,
    packed,
    publish,
    read_plain,
    write_once,
    write_whole,
)
from echoctl.errors import Inconsistent, Refused

SOURCE = Path(echoctl.__file__).parent


def test_every_fault_point_in_the_code_is_listed_and_every_listed_one_is_in_the_code() -> None:
    used = set()
    for path in SOURCE.rglob("*.py"):
        used.update(re.findall(r'fault\(f?"([a-z{}.-]+)"\)', path.read_text("utf-8")))
    spread = {one.replace("{kind}", kind) for one in used for kind in ("replace", "once")}
    assert spread == set(FAULT_POINTS)


def test_a_file_that_is_written_whole_replaces_the_old_one_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    write_whole(tmp_path / "a" / "b" / "file", b"one")
    write_whole(tmp_path / "a" / "b" / "file", b"two")
    assert (tmp_path / "a" / "b" / "file").read_bytes() == b"two"
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["file"]


def test_a_file_that_is_written_once_is_never_replaced(tmp_path: Path) -> None:
    write_once(tmp_path / "claim", b"first")
    with pytest.raises(Refused, match="claim is written already"):
        write_once(tmp_path / "claim", b"second")
    assert (tmp_path / "claim").read_bytes() == b"first"


def test_a_name_that_is_taken_even_by_a_symlink_is_not_published_over(tmp_path: Path) -> None:
    (tmp_path / "part").write_bytes(b"x")
    (tmp_path / "final").symlink_to(tmp_path / "nowhere")
    with pytest.raises(Refused):
        publish(tmp_path / "part", tmp_path / "final")
    assert not (tmp_path / "nowhere").exists()


def test_evidence_is_not_read_through_a_symlink(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert read_plain(tmp_path / "real") == b"x"
    with pytest.raises(Inconsistent, match="link"):
        read_plain(tmp_path / "link")
    with pytest.raises(Inconsistent, match="is missing"):
        read_plain(tmp_path / "none")


def test_a_lock_is_held_by_one_and_leaves_no_file_behind(tmp_path: Path) -> None:
    held, refused = locked(tmp_path / "toy", "toy"), locked(tmp_path / "toy", "toy")
    with held, pytest.raises(Refused, match="another process is working on toy"), refused:
        pass
    with locked(tmp_path / "toy", "toy"):
        pass
    assert list((tmp_path / "toy").iterdir()) == []


def test_a_lock_of_a_killed_process_is_free_at_once(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom echoctl.disk import locked\n"
        "with locked(Path(sys.argv[1]), 'toy'):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert done.returncode == -9
    with locked(tmp_path, "toy"):
        pass


def test_packed_bytes_hold_no_clock_and_no_name() -> None:
    assert packed(b"x")[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


def test_making_a_folder_twice_is_harmless(tmp_path: Path) -> None:
    for _ in range(2):
        make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
