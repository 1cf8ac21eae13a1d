from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from commands import Run

from echoctl.contract import load_contract
from echoctl.contract.seeds import Seeds, conflicts


def test_a_new_track_lints_and_rehearses_green_as_it_is(run: Run, tmp_path: Path) -> None:
    ran = run("new", "first_try", "-w", tmp_path)
    assert ran.code == 0
    assert "echoctl rehearse first_try --units 8" in ran.out
    assert run("lint", "first_try", "-w", tmp_path).code == 0
    words = ("rehearse", "first_try", "--units", 8, "--expect", "green", "-w", tmp_path, "--quiet")
    assert run(*words).code == 0


def test_without_a_workspace_the_folder_becomes_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("list").code == 2
    ran = run("new", "first", "--json")
    assert ran.json["files"] == ["contracts/first.yaml", "tracks/first.py"]
    assert run("list").code == 0


@pytest.mark.parametrize("id", ["First", "1st", "a-b", "x", "a" * 41, "../x"])
def test_an_id_that_is_none_is_usage(run: Run, tmp_path: Path, id: str) -> None:
    ran = run("new", id, "-w", tmp_path)
    assert ran.code == 2
    assert not list(tmp_path.rglob("*.yaml"))


@pytest.mark.parametrize("trace", ["contracts/used.yaml", "artifacts/used/x", "seeds/used.json"])
def test_an_id_that_was_used_is_refused_and_nothing_is_overwritten(
    run: Run, tmp_path: Path, trace: str
) -> None:
    (tmp_path / "contracts").mkdir()
    path = tmp_path / trace
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    ran = run("new", "used", "-w", tmp_path)
    assert ran.code == 3
    assert "used once" in ran.err
    assert path.read_text() == "mine"


def test_an_id_that_only_history_remembers_is_refused(run: Run, tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *words],
            cwd=tmp_path, check=True, capture_output=True,
        )  # fmt: skip

    git("init", "-q")
    assert run("new", "gone", "-w", tmp_path).code == 0
    git("add", ".")
    git("commit", "-qm", "begin")
    git("rm", "-qr", "contracts/gone.yaml", "tracks")
    git("commit", "-qm", "regret")
    (tmp_path / "contracts").mkdir(exist_ok=True)
    ran = run("new", "gone", "-w", tmp_path)
    assert ran.code == 3
    assert "history" in ran.err


def test_a_file_in_the_tracks_place_is_not_overwritten(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tracks").mkdir()
    (tmp_path / "tracks" / "mine.py").write_text("precious")
    assert run("new", "mine", "-w", tmp_path).code == 3
    assert (tmp_path / "tracks" / "mine.py").read_text() == "precious"
    assert not (tmp_path / "contracts" / "mine.yaml").exists()


CONTRACTS = sorted((Path(__file__).parents[2] / "contracts").glob("*.yaml"))


@pytest.mark.parametrize("path", CONTRACTS, ids=lambda path: path.stem)
def test_a_second_attempt_says_the_same_on_seeds_that_nobody_has_used(
    run: Run, tmp_path: Path, path: Path
) -> None:
    (tmp_path / "contracts").mkdir()
    (tmp_path / "contracts" / path.name).write_bytes(path.read_bytes())
    new = f"{path.stem}_again"
    ran = run("new", new, "--follows", path.stem, "-w", tmp_path)
    assert ran.code == 0, ran.err
    before = load_contract(path.read_bytes(), path.name)
    after = load_contract((tmp_path / "contracts" / f"{new}.yaml").read_bytes(), new)
    assert (after.id, after.follows, after.approved, after.amendments) == (new, before.id, None, ())
    assert conflicts([Seeds.lay_out(before), Seeds.lay_out(after)]) == []
    kept = {"id", "follows", "approved", "amendments", "seeds"}
    assert after.model_dump(exclude=kept) == before.model_dump(exclude=kept)


def test_following_a_track_that_is_not_there_is_usage(run: Run, toy: Path) -> None:
    ran = run("new", "toy2", "--follows", "none", "-w", toy)
    assert ran.code == 2
    assert "toy" in ran.err


def test_a_contract_in_another_layout_is_copied_whole_or_not_at_all(run: Run, toy: Path) -> None:
    path = toy / "contracts" / "toy.yaml"
    text = path.read_text().replace("id: toy\n", '"id": toy\n', 1)
    path.write_text(text)
    ran = run("new", "toy2", "--follows", "toy", "-w", toy)
    assert ran.code == 1
    assert "by hand" in ran.err
    assert not (toy / "contracts" / "toy2.yaml").exists()
