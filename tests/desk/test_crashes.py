from __future__ import annotations

import json
import random
import time

import pytest
from desk_kit import act, results_of, start

from echoctl import desk
from echoctl.desk import Workspace
from echoctl.disk import FAULT_POINTS

EXAM_POINTS = [
    point
    for point in FAULT_POINTS
    if not point.startswith(("freeze.", "replace.")) and point != "ledger.half"
]
COMMON = {
    "exam.claimed:1", "exam.published:7", "exam.decided:1", "ledger.half:9", "worker.row:5",
}  # fmt: skip
VISITS = {"ledger": (1, 2, 3, 9, 30), "exam": (1, 7), "worker": (1, 5), "once": (1, 2, 9)}


def _walk() -> list[str]:
    out = [f"ledger.half:{n}" for n in (1, 2, 3, 9, 30)]
    for point in EXAM_POINTS:
        out += [f"{point}:{visit}" for visit in VISITS[point.partition(".")[0]]]
    out += [f"replace.{step}:1" for step in ("before", "half", "written", "synced", "renamed")]
    return sorted(out)


def _marked() -> list[object]:
    return [
        one if one in COMMON else pytest.param(one, marks=pytest.mark.nightly) for one in _walk()
    ]


def resume_until_done(ws: Workspace) -> None:
    opened = (ws.exam("toy") / "claim.json").exists()
    status, said = act(ws, "exam", *(["resume"] if opened else []))
    assert (status, said.strip()) == (0, "green")


@pytest.mark.parametrize("fault", _marked())
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


@pytest.mark.parametrize(
    "fault",
    [
        "freeze.sealing:1",
        "freeze.sealed:1",
        "freeze.renamed:1",
        *(
            pytest.param(one, marks=pytest.mark.nightly)
            for one in ("replace.half:3", "replace.renamed:9", "ledger.half:1", "ledger.half:4",
                        "ledger.half:7", "ledger.written:7", "once.linked:1", "once.half:1")
        ),
    ],
)  # fmt: skip
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


@pytest.mark.parametrize(
    "moment", [0, *(pytest.param(n, marks=pytest.mark.nightly) for n in range(1, 40))]
)
def test_killed_at_a_random_moment_and_resumed_it_gives_the_same_bytes(
    frozen: Workspace, decided_once: Workspace, moment: int
) -> None:
    chance = random.Random(moment)
    for _ in range(3):
        opened = (frozen.exam("toy") / "claim.json").exists()
        process = start(frozen, "exam", *(["resume"] if opened else []))
        time.sleep(chance.uniform(0.5, 2.5))
        process.kill()
        process.communicate()
        if desk.status(frozen, "toy").state == "green":
            break
    else:
        resume_until_done(frozen)
    assert results_of(frozen) == results_of(decided_once)
    assert desk.verify(frozen, "toy").failures == 0


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


def test_a_half_written_result_that_is_no_beginning_of_the_new_one_is_told(
    frozen: Workspace,
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
    other = next(iter(jobs.glob("*.gz")), None)
    part = jobs / f".{job}.1.part"
    from echoctl.disk import packed

    part.write_bytes(other.read_bytes() if other else packed(b'{"columns":["made up"]}\n'))
    decided = desk.exam(frozen, "toy", resume=True)
    assert [one for one in decided.incidents if "is no beginning of the new one" in one]
    assert decided.verdict.notes
    assert desk.verify(frozen, "toy").failures == 0
