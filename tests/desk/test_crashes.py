from __future__ import annotations

import json

import pytest
from desk_kit import act, results_of

from echoctl import desk
from echoctl.desk import Workspace
from echoctl.disk import packed

STEPS = (
    "exam.claimed:1", "exam.published:7", "exam.decided:1", "ledger.half:9", "worker.row:5",
)  # fmt: skip
"""A few; `test_kills.py` walks every write of an exam and of a freeze."""


def resume_until_done(ws: Workspace) -> None:
    opened = (ws.exam("toy") / "claim.json").exists()
    status, said = act(ws, "exam", *(["resume"] if opened else []))
    assert (status, said.strip()) == (0, "green")


@pytest.mark.parametrize("fault", STEPS)
def test_killed_at_any_step_of_an_exam_and_resumed_it_gives_the_same_bytes(
    frozen: Workspace, decided_once: Workspace, fault: str
) -> None:
    status, said = act(frozen, "exam", fault=fault)
    decided = desk.status(frozen, "toy").state == "green"
    assert status in (0, -9), said
    if not decided:
        resume_until_done(frozen)
    assert results_of(frozen) == results_of(decided_once)
    assert desk.verify(frozen, "toy").failures == 0
    left = [p.name for p in (frozen.exam("toy") / "jobs").iterdir() if p.suffix == ".part"]
    assert left == []


@pytest.mark.parametrize("fault", ["freeze.sealing:1", "freeze.sealed:1", "freeze.renamed:1"])
def test_killed_at_any_step_of_a_freeze_it_can_be_frozen_again(
    checked: Workspace, fault: str
) -> None:
    desk.review(checked, "toy", reviewer="somebody else")
    status, _ = act(checked, "freeze", fault=fault)
    assert status == -9
    if desk.status(checked, "toy").state != "frozen":
        assert act(checked, "freeze")[0] == 0
    assert not list(checked.artifacts("toy").glob(".frozen-*"))
    assert desk.exam(checked, "toy").colour == "green"
    assert desk.verify(checked, "toy").failures == 0


def test_a_torn_last_line_is_moved_aside_and_recorded(frozen: Workspace) -> None:
    path = frozen.ledger_path("toy")
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"data":{"jo')
    assert desk.status(frozen, "toy").state == "frozen"
    desk.exam(frozen, "toy")
    assert path.with_name("ledger.jsonl.torn-0").read_bytes() == b'{"data":{"jo'
    kinds = [json.loads(line)["data"].get("kind") for line in path.read_text().splitlines()]
    assert kinds.count("torn-line") == 1
    assert desk.verify(frozen, "toy").failures == 0


@pytest.mark.parametrize("killed_again", [False, True])
def test_a_half_written_result_that_is_no_beginning_of_the_new_one_is_told(
    frozen: Workspace, killed_again: bool
) -> None:
    status, _ = act(frozen, "exam", fault="exam.started:3")
    assert status == -9
    jobs = frozen.exam("toy") / "jobs"
    started = [
        json.loads(line)["data"]["job"]
        for line in frozen.ledger_path("toy").read_text().splitlines()
        if '"event":"start"' in line
    ]
    done = {path.name.removesuffix(".jsonl.gz") for path in jobs.glob("*.gz")}
    job = next(job for job in started if job not in done)
    part = jobs / f".{job}.1.part"
    part.write_bytes(packed(b'{"columns":["made up"]}\n'))
    if killed_again:  # between the incident that tells of it and the moving aside
        assert act(frozen, "exam", "resume", fault="exam.aside:1")[0] == -9
        assert part.exists()
    decided = desk.exam(frozen, "toy", resume=True)
    assert [one for one in decided.incidents if "is no beginning of the new one" in one]
    assert len(list((frozen.exam("toy") / "quarantine").iterdir())) == 1
    assert decided.verdict.notes
    assert desk.verify(frozen, "toy").failures == 0
