"""``--runner ray`` from the command line, on a cluster of this machine's own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Run


def development(place: Path, *words: str) -> dict[str, bytes]:
    """Play development in a process of its own and return every outcome's bytes."""
    done = subprocess.run(
        [sys.executable, "-m", "echoctl", "dev", "toy", "-w", str(place), "--json", *words],
        capture_output=True, text=True, check=True, timeout=500,
    )  # fmt: skip
    folder = Path(json.loads(done.stdout)["folder"])
    return {path.name: path.read_bytes() for path in sorted((folder / "jobs").glob("*.gz"))}


def test_ray_gives_the_bytes_of_local_workers_from_the_command_line(toy: Path) -> None:
    pytest.importorskip("ray", reason="Ray is optional: pip install 'echoctl[ray]'")
    found = development(toy, "--units", "2", "--runner", "ray", "--workers", "2")
    assert len(found) == 6
    assert found == development(toy, "--units", "2", "--workers", "1")


def test_an_address_that_cannot_be_used_is_refused_before_anything_is_written(
    toy: Path, run: Run
) -> None:
    dev = ("dev", "toy", "-w", toy)
    ran = run(*dev, "--address", "127.0.0.1:1")
    assert (ran.code, "add --runner ray" in ran.err) == (2, True)
    pytest.importorskip("ray", reason="Ray is optional: pip install 'echoctl[ray]'")
    ran = run(*dev, "--runner", "ray", "--address", "127.0.0.1:1")
    assert (ran.code, "no Ray cluster answers at 127.0.0.1:1" in ran.err) == (1, True)
    assert not (toy / "artifacts").exists()
