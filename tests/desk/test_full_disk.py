"""A real disk that is really full: a tmpfs with a few pages left, mounted where only we see it."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import crash_kit as kit
import pytest
from crash_kit import HOME, done, echoctl, evidence

PROGRAM = Path(__file__).with_name("full_disk.py")
FULL = "No space left on device"


@pytest.fixture(scope="session")
def apart(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the words that run a program where it may mount; skip where there are none."""
    place = tmp_path_factory.mktemp("mount")
    words = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "-m"]
    try:
        tried = subprocess.run(
            [*words, "mount", "-t", "tmpfs", "-o", "size=64k", "none", str(place)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        pytest.skip("no unshare here, so no small disk can be made")
    if tried.returncode != 0:
        pytest.skip(f"nothing can be mounted here: {tried.stderr.strip()}")
    return words


def examined(
    apart: list[str], frozen: Path, place: Path, pages: int, scratch: Path
) -> list[dict[str, Any]]:
    """Return what an exam said on a disk with so many pages left; its workspace is in `place`."""
    place.mkdir()
    run = subprocess.run(
        [*apart, sys.executable, str(PROGRAM), str(frozen), str(place), str(pages)],
        capture_output=True, text=True, check=False, env={**os.environ, "TMPDIR": str(scratch)},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    said: list[dict[str, Any]] = json.loads(run.stdout)
    return said


def stopped_and_went_on(said: list[dict[str, Any]], place: Path, theirs: Path) -> int:
    """Assert that a full disk cost nothing but time; return the differing bytes."""
    first, again, last = said
    for one in (first, again):
        assert "Traceback" not in one["said"]
        assert (FULL in one["said"], "free some space, then: echoctl" in one["said"]) == (
            True, True,
        ), one  # fmt: skip
    assert (again["code"], last["code"]) == (4, 0), said
    whole = evidence(theirs)
    for path in (place / "full" / HOME / "exam/jobs").glob("[!.]*"):
        assert gzip.decompress(path.read_bytes()) == whole[path.name]  # no half file
    ws = place / "ws"
    bytes_ = kit.differing(evidence(ws), whole)
    assert bytes_ == 0
    assert kit.left_behind(ws) == []
    incidents = [one["data"] for one in kit.events(ws) if one["event"] == "incident"]
    assert {one["kind"] for one in incidents} <= {"interrupted", "torn-line"}
    done(echoctl(ws, "verify", "toy"))
    return bytes_


def test_an_exam_on_a_full_disk_says_so_and_goes_on_when_there_is_room(
    apart: list[str], frozen_tiny: Path, undisturbed: tuple[Path, float], tmp_path: Path
) -> None:
    place = tmp_path / "full"
    said = examined(apart, frozen_tiny, place, 4, tmp_path)
    stopped_and_went_on(said, place, undisturbed[0])


@pytest.mark.nightly
def test_whatever_room_a_disk_has_left_an_exam_stops_and_goes_on_or_fits(
    apart: list[str],
    frozen_tiny: Path,
    undisturbed: tuple[Path, float],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    pages = resumes = bytes_ = 0
    while True:
        place = tmp_path / str(pages)
        said = examined(apart, frozen_tiny, place, pages, tmp_path)
        if said[0]["code"] == 0:
            break
        bytes_ += stopped_and_went_on(said, place, undisturbed[0])
        pages, resumes = pages + 1, resumes + 2
    assert pages > 5
    record_property("killed: an exam, by a full disk (no kill)", [pages, 0, resumes, bytes_])
