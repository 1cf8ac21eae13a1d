from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from desk_kit import copied, edit, results_of

from echoctl import desk
from echoctl.desk import Workspace
from echoctl.errors import CheckFailed, Inconsistent, Refused, UsageError


def test_a_track_goes_from_a_draft_to_a_verdict_that_a_stranger_confirms(toy: Workspace) -> None:
    assert desk.status(toy, "toy").next == "echoctl preflight toy"
    assert desk.preflight(toy, "toy").published
    assert desk.status(toy, "toy").state == "preflighted"
    review = desk.review(
        toy, "toy", reviewer="a stranger", findings=[{"text": "say more", "blocking": True}]
    )
    assert [one["id"] for one in review.findings] == ["1.1"]
    assert desk.answer(toy, "toy", finding="1.1", action="said").blocking == 0
    frozen = desk.freeze(toy, "toy")
    assert frozen.receipt == f"echoctl-freeze toy {frozen.freeze}"
    decided = desk.exam(toy, "toy")
    assert (decided.colour, decided.jobs, decided.rows, decided.incidents) == ("green", 18, 180, ())
    status = desk.status(toy, "toy")
    assert (status.state, status.colour, status.done) == ("green", "green", 18)
    verified = desk.verify(toy, "toy", rerun=2)
    assert (verified.exit, verified.failures, verified.colour) == (0, 0, "green")


def test_the_same_bytes_come_from_one_worker_and_two_and_from_another_folder(
    frozen: Workspace, decided_once: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = copied(frozen, tmp_path / "a folder with spaces and acción")
    monkeypatch.chdir(tmp_path)
    desk.exam(elsewhere, "toy", workers=1)
    assert results_of(elsewhere) == results_of(decided_once)


def test_development_decides_nothing_and_keeps_every_run_in_its_own_folder(toy: Workspace) -> None:
    runs = [desk.dev(toy, "toy", units=6, workers=1) for _ in range(2)]
    for run in runs:
        assert run.verdict is not None
        assert run.verdict.mark == "DEVELOPMENT"
        assert len(list(run.outcomes())) == run.jobs == 18
    assert runs[0].folder != runs[1].folder
    assert desk.status(toy, "toy").state == "draft"


def test_two_runs_in_the_same_second_do_not_share_a_folder(tmp_path: Path) -> None:
    from echoctl.desk.playing import stamped

    folders = {stamped(tmp_path, "2026-11-30T10:00:00Z") for _ in range(3)}
    assert {path.name for path in folders} == {
        "20261130T100000Z", "20261130T100000Z-2", "20261130T100000Z-3",
    }  # fmt: skip


def test_a_rehearsal_is_marked_and_leaves_the_real_track_alone(toy: Workspace) -> None:
    before = sorted(path.name for path in toy.root.rglob("*"))
    rehearsal = desk.rehearse(toy, "toy", units=3)
    try:
        assert rehearsal.decided.verdict.mark == "REHEARSAL"
        verified = desk.verify(rehearsal.workspace, "toy", rerun=1)
        assert (verified.failures, verified.rehearsal) == (0, True)
        assert "DistShift2" not in (rehearsal.workspace.ledger_path("toy")).read_text()
        assert desk.results(rehearsal.workspace, "toy").rehearsal
    finally:
        rehearsal.discard()
    assert not rehearsal.workspace.root.exists()
    after = sorted(p.name for p in toy.root.rglob("*") if "__pycache__" not in p.parts)
    assert after == before


def test_a_kept_rehearsal_replaces_an_earlier_one_and_nothing_else(
    toy: Workspace, tmp_path: Path
) -> None:
    keep = tmp_path / "demo"
    for _ in range(2):
        desk.rehearse(toy, "toy", units=1, keep=keep).discard()
        assert (keep / "artifacts" / "toy" / "verdict.json").exists()
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("years of work")
    with pytest.raises(Refused, match="is not empty and no rehearsal"):
        desk.rehearse(toy, "toy", units=1, keep=tmp_path / "precious")
    assert (tmp_path / "precious" / "thesis.txt").exists()


def test_preflight_again_publishes_the_same_bytes_and_adds_no_line(checked: Workspace) -> None:
    seeds, ledger = checked.seeds_path("toy").read_bytes(), checked.ledger_path("toy").read_bytes()
    assert not desk.preflight(checked, "toy").published
    assert checked.seeds_path("toy").read_bytes() == seeds
    assert checked.ledger_path("toy").read_bytes() == ledger


def test_a_seed_that_was_changed_by_hand_is_noticed(checked: Workspace) -> None:
    edit(checked.seeds_path("toy"), "13007", "13060")
    with pytest.raises(Inconsistent, match="13060"):
        desk.preflight(checked, "toy")
    desk_review(checked)
    with pytest.raises(Inconsistent, match="13060"):
        desk.freeze(checked, "toy")


def desk_review(ws: Workspace) -> None:
    desk.review(ws, "toy", reviewer="somebody else")


def test_a_job_that_depends_on_set_order_is_found_by_the_preflight(toy: Workspace) -> None:
    edit(toy.contract_path("toy"), "ceiling:", "settings: {sets: 1}\nceiling:")
    with pytest.raises(CheckFailed, match=r"not deterministic: development-.* differs between"):
        desk.preflight(toy, "toy")
    assert not toy.seeds_path("toy").exists()


def test_a_job_that_depends_on_its_process_is_found_by_the_preflight(toy: Workspace) -> None:
    edit(toy.contract_path("toy"), "ceiling:", "settings: {pid: 1}\nceiling:")
    with pytest.raises(CheckFailed, match="not deterministic"):
        desk.preflight(toy, "toy")


def test_a_track_without_a_ceiling_stops_at_the_preflight(toy: Workspace) -> None:
    edit(toy.root / "tracks" / "toy.py", '"oraculo": 2', '"oraculo": 200')
    with pytest.raises(CheckFailed, match="no ceiling: harm of oraculo is"):
        desk.preflight(toy, "toy")


def test_data_that_jobs_read_is_found_sealed_and_read_from_the_zip(toy: Workspace) -> None:
    edit(toy.contract_path("toy"), "ceiling:", "settings: {peek: 1}\nceiling:")
    table = toy.root / "tracks" / "table.txt"
    table.write_text("7")
    assert desk.preflight(toy, "toy").record["data"] == ["tracks/table.txt"]
    desk_review(toy)
    desk.freeze(toy, "toy")
    manifest = json.loads((toy.frozen("toy") / "manifest.json").read_text())
    assert "tracks/table.txt" in manifest["code"]["files"]
    table.unlink()
    assert desk.exam(toy, "toy").colour == "green"


def test_a_block_of_seeds_that_another_contract_uses_is_refused(toy: Workspace) -> None:
    other = toy.contract_path("toy").read_text().replace("id: toy", "id: other")
    toy.contract_path("other").write_text(other)
    with pytest.raises(Refused, match=r"belong to both toy\.training .* and other\.training"):
        desk.preflight(toy, "toy")


def test_seeds_that_were_published_stay_used_when_their_contract_is_gone(
    checked: Workspace,
) -> None:
    moved = checked.contract_path("toy").read_text().replace("id: toy", "id: other")
    checked.contract_path("other").write_text(moved.replace("base: 10000", "base: 20000"))
    checked.contract_path("toy").unlink()
    with pytest.raises(Refused, match=r"belong to both other\.development .* and toy\.dev"):
        desk.preflight(checked, "other")


def test_a_required_track_must_have_its_verdict(toy: Workspace, decided: Workspace) -> None:
    moved = (
        toy.contract_path("toy").read_text().replace("id: toy", "id: second")
        .replace("unit: {name", "requires: [{track: toy, verdict: green}]\nunit: {name")
    )  # fmt: skip
    for old in ("10000", "11000", "12000", "13000"):
        moved = moved.replace(f"base: {old}", f"base: 2{old}")
    for ws in (toy, decided):
        ws.contract_path("second").write_text(moved)
    with pytest.raises(Refused, match="second requires toy to be green; it is draft"):
        desk.preflight(toy, "second")
    assert desk.preflight(decided, "second").exam_jobs == 18


def test_a_track_can_start_from_another_tracks_sealed_artefacts(decided: Workspace) -> None:
    text = decided.contract_path("toy").read_text().replace("id: toy", "id: second")
    text = text.replace("unit: {name", "requires: [{track: toy, artefacts: true}]\nunit: {name")
    text = text.replace("tracks/toy.py:Toy", "tracks/second.py:Second")
    for old in ("10000", "11000", "12000", "13000"):
        text = text.replace(f"base: {old}", f"base: 2{old}")
    decided.contract_path("second").write_text(text)
    (decided.root / "tracks" / "second.py").write_text(
        "from toy import Toy\n"
        "from dataclasses import replace\n\n\n"
        "class Second(Toy):\n"
        "    id = 'second'\n\n"
        "    def plan(self, contract, seeds, phase):\n"
        "        if phase == 'training':\n"
        "            return []\n"
        "        jobs = super().plan(contract, seeds, phase)\n"
        "        return [replace(j, needs=tuple('toy.' + n for n in j.needs)) for j in jobs]\n"
    )
    desk.preflight(decided, "second")
    desk.review(decided, "second", reviewer="somebody else")
    desk.freeze(decided, "second")
    mine, theirs = (
        json.loads((decided.frozen(id) / "manifest.json").read_text())["artefacts"]
        for id in ("second", "toy")
    )
    assert {n.removeprefix("toy."): a["sha256"] for n, a in mine.items()} == {
        n: a["sha256"] for n, a in theirs.items()
    }
    assert desk.exam(decided, "second").colour == "green"
    verified = desk.verify(decided, "second", rerun=2)
    assert verified.failures == 0, [c for c in verified.checks if c["state"] == "failed"]


def test_an_unknown_track_is_named_with_those_there_are(toy: Workspace) -> None:
    with pytest.raises(UsageError, match="there is no track 'nobody'") as caught:
        desk.status(toy, "nobody")
    assert caught.value.todo == "known: toy"


def test_a_workspace_is_found_from_below_and_its_absence_is_said(
    toy: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(toy.root / "tracks")
    assert Workspace.find().root == toy.root
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="there is no workspace here or above"):
        Workspace.find()
    with pytest.raises(UsageError, match="is no workspace"):
        Workspace.find(tmp_path)


def test_list_counts_reds_and_inconsistent_tracks_too(decided: Workspace) -> None:
    shutil.copytree(decided.artifacts("toy"), decided.artifacts("broken"))
    listing = desk.list_tracks(decided)
    assert [one.id for one in listing.tracks] == ["broken", "toy"]
    assert listing.counts == {"green": 1, "inconsistent": 1}
    assert "does not follow" in listing.tracks[0].problem


def test_a_freeze_in_a_clean_repository_names_its_commit_and_earns_l1_after_the_claim(
    checked: Workspace,
) -> None:
    desk_review(checked)

    def git(*words: str) -> str:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        done = subprocess.run(
            ["git", *identity, *words], cwd=checked.root, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    (checked.root / ".gitignore").write_text("__pycache__/\n")
    git("init", "-q")
    git("add", ".")
    with pytest.raises(Refused, match="the tree is dirty"):
        desk.freeze(checked, "toy")
    git("commit", "-qm", "before")
    desk.freeze(checked, "toy")
    manifest = json.loads((checked.frozen("toy") / "manifest.json").read_text())
    assert manifest["git"] == git("rev-parse", "HEAD")
    git("add", ".")
    git("commit", "-qm", "frozen")
    desk.exam(checked, "toy")
    assert desk.status(checked, "toy").evidence.grade == "L0"  # type: ignore[union-attr]
    git("add", ".")
    git("commit", "-qm", "decided")
    assert desk.status(checked, "toy").evidence.grade == "L1"  # type: ignore[union-attr]
    assert desk.verify(checked, "toy").grade == "L1"
