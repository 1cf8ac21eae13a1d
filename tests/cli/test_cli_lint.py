from __future__ import annotations

from pathlib import Path

import pytest
from commands import runner

BROKEN = sorted((Path(__file__).parents[1] / "contract" / "broken").glob("*.yaml"))


def expected(path: Path) -> list[tuple[str, str]]:
    """Return ``line:column`` and a fragment for each ``# expect:`` comment of a broken contract."""
    out = []
    for line in path.read_bytes().decode("utf-8", "replace").splitlines():
        if line.lstrip("\ufeff").startswith("# expect: "):
            place, _, fragment = line.lstrip("\ufeff").removeprefix("# expect: ").partition(" ")
            out.append((place, fragment))
    return out


def test_there_are_at_least_thirty_broken_contracts() -> None:
    assert len(BROKEN) >= 30


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_a_broken_contract_is_told_with_file_line_and_column(
    capsys: pytest.CaptureFixture[str], path: Path
) -> None:
    ran = runner(capsys)("lint", path)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("usage (2): ")
    for place, fragment in expected(path):
        assert f"{path}:{place}: " in ran.err
        assert fragment in ran.err
    said = runner(capsys)("lint", path, "--json")
    assert said.code == 2
    assert said.json["file"] == str(path)
    found = [f"{p['line']}:{p['column']}" for p in said.json["problems"]]
    assert [place for place, _ in expected(path)] == found or not expected(path)


def test_a_file_that_is_not_there_is_usage(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ran = runner(capsys)("lint", tmp_path / "none.yaml")
    assert ran.code == 2
    assert "there is no file" in ran.err
