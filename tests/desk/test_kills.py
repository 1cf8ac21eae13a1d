"""Kills through the real command line: at every write, and at any instant of a process's life."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import crash_kit as kit
import pytest
from crash_kit import HOME, copy_of, done, echoctl, evidence

from echoctl import verify
from echoctl.disk import FAULT_POINTS

KILLED = -signal.SIGKILL
Record = Callable[[str, object], None]

IN_AN_EXAM = [
    point for point in FAULT_POINTS if not point.startswith("freeze.") and point != "exam.aside"
]
IN_A_FREEZE = [point for point in FAULT_POINTS if not point.startswith("exam.")]
EVERY_NIGHT = 20, 15
"""Chunks of random moments, and kills in each."""


def agrees(ws: Path, theirs: Path) -> int:
    """Assert that nothing tells this exam from an undisturbed one; return the differing bytes."""
    bytes_ = kit.differing(evidence(ws), evidence(theirs))
    assert bytes_ == 0
    assert kit.left_behind(ws) == []
    assert verify.verify(verify.Folder(ws), "toy", verify.Options()).failed == []
    return bytes_


def night(points: list[str], *usual: str) -> list[object]:
    """Return the points, of which only the usual ones are walked by day."""
    assert set(usual) <= set(points)
    return [one if one in usual else pytest.param(one, marks=pytest.mark.nightly) for one in points]


@pytest.mark.parametrize("point", night(IN_AN_EXAM, "exam.all-in"))
def test_killed_at_every_visit_of_a_point_an_exam_resumes_to_the_same_bytes(
    frozen_tiny: Path,
    undisturbed: tuple[Path, float],
    tmp_path: Path,
    record_property: Record,
    point: str,
) -> None:
    visit = kills = resumes = bytes_ = 0
    while True:
        ws = copy_of(frozen_tiny, tmp_path / str(visit) / "ws")
        code, said = echoctl(ws, "exam", "toy", ECHOCTL_FAULT=f"{point}:{visit + 1}")
        died = kit.lost_workers(ws) if point.startswith("worker.") else int(code == KILLED)
        if not died:
            break
        visit, kills = visit + 1, kills + died
        assert code == (0 if point.startswith("worker.") else KILLED), said
        resumes += kit.finish(ws)
        bytes_ += agrees(ws, undisturbed[0])
        shutil.rmtree(ws)
    assert (code, visit > 0) == (0, True), said
    record_property("killed: an exam, at every write", [visit, kills, resumes, bytes_])


@pytest.mark.parametrize("point", night(IN_A_FREEZE, "freeze.sealed"))
def test_killed_at_every_visit_of_a_point_a_freeze_is_made_again_to_the_same_bytes(
    reviewed_tiny: Path,
    frozen_tiny: Path,
    undisturbed: tuple[Path, float],
    tmp_path: Path,
    record_property: Record,
    point: str,
) -> None:
    visit = kills = again = bytes_ = 0
    while True:
        ws = copy_of(reviewed_tiny, tmp_path / str(visit) / "ws")
        code, said = echoctl(ws, "freeze", "toy", ECHOCTL_FAULT=f"{point}:{visit + 1}")
        died = int(code == KILLED or "lost its worker" in said)
        if not died:
            break
        visit, kills = visit + 1, kills + died
        if not any(one["event"] == "freeze" for one in kit.events(ws)):
            done(echoctl(ws, "freeze", "toy"))
            again += 1
        elif code == KILLED:  # sealed and recorded; whatever comes next writes what is missing
            done(echoctl(ws, "exam", "toy"))
            again += 1
            assert kit.differing(kit.results(ws), kit.results(undisturbed[0])) == 0
            assert verify.verify(verify.Folder(ws), "toy", verify.Options()).failed == []
        assert (ws / HOME / "witness/freeze.txt").read_text().startswith("echoctl-freeze toy ")
        bytes_ += kit.differing(kit.sealed(ws), kit.sealed(frozen_tiny))
        assert bytes_ == 0
        assert kit.left_behind(ws) == []
        shutil.rmtree(ws)
    assert (code, visit > 0) == (0, True), said
    record_property("killed: a freeze, at every write", [visit, kills, again, bytes_])


@pytest.mark.parametrize(
    ("chunk", "wanted"),
    [
        (0, 3),
        *(
            pytest.param(1 + chunk, EVERY_NIGHT[1], marks=pytest.mark.nightly)
            for chunk in range(EVERY_NIGHT[0])
        ),
    ],
)
def test_killed_at_random_moments_an_exam_resumes_to_the_same_bytes(
    frozen_tiny: Path,
    undisturbed: tuple[Path, float],
    tmp_path: Path,
    record_property: Record,
    chunk: int,
    wanted: int,
) -> None:
    chance = random.Random(chunk)
    theirs, longest = undisturbed
    life: dict[tuple[str, ...], float] = {}
    """Seconds that a command lives: to open the exam, to go on with it, to report."""
    kills = resumes = bytes_ = exams = 0
    fell = {"before the claim": 0, "after it": 0, "after the verdict": 0}
    while kills < wanted:
        ws = copy_of(frozen_tiny, tmp_path / str(exams) / "ws")
        exams += 1
        before = kills
        for _ in range(chance.randint(1, 6)):
            began, words = time.monotonic(), kit.what_is_left(ws)
            whole = life.get(words, longest)
            resumes += kills > before and words != ()
            late, moment = chance.random() < 0.6, chance.random() * whole
            if late:  # most of a life goes by before the first write
                moment /= 2
            if not killed_within(ws, moment, late=late, tree=chance.random() < 0.75):
                # Shorter than was thought: the machine is faster now, or less was left to do.
                life[words] = min(whole, time.monotonic() - began)
                break
            kills += 1
            words = kit.what_is_left(ws)
            where = "after the verdict" if "exam" not in words else "after it"
            fell[where if words != ("exam", "toy") else "before the claim"] += 1
        resumes += kit.finish(ws)
        bytes_ += agrees(ws, theirs)
        done(echoctl(ws, "verify", "toy"))
        shutil.rmtree(ws)
    record_property("killed: an exam, at a random moment", [kills, kills, resumes, bytes_])
    for where, count in {**fell, "exams in all": exams}.items():
        record_property(f"fell: {where}", count)


def killed_within(ws: Path, seconds: float, *, late: bool, tree: bool) -> bool:
    """Go on with an exam and kill it after so many seconds, counted from its start.

    With `late` they are counted from when it first writes to the ledger. False where the exam
    was done by then.
    """
    words = kit.what_is_left(ws)
    if not words:
        return False
    ledger = ws / HOME / "ledger.jsonl"
    before = ledger.stat().st_size
    process = kit.start(ws, *words)
    while late and process.poll() is None and ledger.stat().st_size == before:
        time.sleep(0.002)
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        kit.kill(process, tree=tree)
        return process.returncode == KILLED
    assert process.returncode == 0, said
    return False


@pytest.mark.parametrize(
    "second",
    night(
        ["once.half:1", "once.synced:1", "once.linked:1", "once.done:1", "ledger.before:1",
         "ledger.half:1", "ledger.written:1", "exam.locked:1"],
        "once.linked:1",
    ),
)  # fmt: skip
def test_killed_again_while_it_moves_a_torn_line_aside_it_tells_of_the_line_all_the_same(
    frozen_tiny: Path, undisturbed: tuple[Path, float], tmp_path: Path, second: str
) -> None:
    ws = copy_of(frozen_tiny, tmp_path / "ws")
    assert echoctl(ws, "exam", "toy", ECHOCTL_FAULT="ledger.half:6")[0] == KILLED
    assert echoctl(ws, "exam", "toy", "--resume", ECHOCTL_FAULT=second)[0] == KILLED
    kit.finish(ws)
    aside = {path.name for path in (ws / HOME).glob("ledger.jsonl.torn-*")}
    told = {
        one["data"]["text"].split()[-1]
        for one in kit.events(ws)
        if one["event"] == "incident" and one["data"]["kind"] == "torn-line"
    }
    assert aside == told != set()
    agrees(ws, undisturbed[0])


def test_killed_while_it_writes_its_report_an_exam_names_the_command_that_writes_it(
    frozen_tiny: Path, undisturbed: tuple[Path, float], tmp_path: Path
) -> None:
    ws = copy_of(frozen_tiny, tmp_path / "ws")
    assert echoctl(ws, "exam", "toy", ECHOCTL_FAULT="replace.half:2")[0] == KILLED
    code, said = echoctl(ws, "exam", "toy", "--resume")
    assert (code, "echoctl report toy" in said) == (3, True), said
    assert "echoctl report toy" in done(echoctl(ws, "status", "toy"))
    done(echoctl(ws, "report", "toy"))
    agrees(ws, undisturbed[0])


@pytest.mark.parametrize("verb", ["report", "verify"])
def test_killed_inside_the_last_line_of_all_the_same_command_goes_on(
    undisturbed: tuple[Path, float], tmp_path: Path, verb: str
) -> None:
    ws = copy_of(undisturbed[0], tmp_path / "ws")
    path = ws / HOME / "ledger.jsonl"
    *rest, last = path.read_bytes().splitlines(keepends=True)
    assert b'"event":"verification"' in last
    if verb == "report":
        *rest, last = rest
        assert b'"event":"report"' in last
    path.write_bytes(b"".join(rest) + last[: len(last) // 2])
    done(echoctl(ws, verb, "toy"))
    assert [one["data"]["kind"] for one in kit.events(ws)[-2:-1]] == ["torn-line"]
    agrees(ws, undisturbed[0])


@pytest.mark.parametrize("left", night(["all but the newline", "half", "one byte"], "half"))
def test_a_receipt_cut_short_is_moved_aside_and_its_job_is_played_again(
    frozen_tiny: Path, undisturbed: tuple[Path, float], tmp_path: Path, left: str
) -> None:
    ws = copy_of(frozen_tiny, tmp_path / "ws")
    assert echoctl(ws, "exam", "toy", ECHOCTL_FAULT="exam.received:3")[0] == KILLED
    path = ws / HOME / "ledger.jsonl"
    *whole, last = path.read_bytes().splitlines()
    assert b'"event":"done"' in last
    keep = {"all but the newline": len(last), "half": len(last) // 2, "one byte": 1}[left]
    path.write_bytes(b"".join(line + b"\n" for line in whole) + last[:keep])
    assert "torn" in done(echoctl(ws, "exam", "toy", "--resume"))
    assert path.with_name("ledger.jsonl.torn-0").read_bytes() == last[:keep]
    agrees(ws, undisturbed[0])


def test_a_clock_set_back_stops_a_resumed_exam_until_it_is_acknowledged(
    frozen_tiny: Path, undisturbed: tuple[Path, float], tmp_path: Path
) -> None:
    ws = copy_of(frozen_tiny, tmp_path / "ws")
    assert echoctl(ws, "exam", "toy", ECHOCTL_FAULT="exam.received:3")[0] == KILLED
    before = kit.events(ws)
    resume = ("exam", "toy", "--resume")
    code, said = echoctl(ws, *resume, ECHOCTL_FAULT="clock:-3600")
    assert (code, "the clock runs backwards" in said) == (1, True), said
    assert kit.events(ws) == before
    done(echoctl(ws, *resume, "--acknowledge-clock", ECHOCTL_FAULT="clock:-3600"))
    kinds = [one["data"]["kind"] for one in kit.events(ws) if one["event"] == "incident"]
    assert kinds.count("clock") == 1
    agrees(ws, undisturbed[0])


@pytest.mark.parametrize("act", ["exam", "freeze"])
def test_of_two_that_begin_at_the_same_moment_one_goes_on_and_the_other_is_refused(
    reviewed_tiny: Path, frozen_tiny: Path, undisturbed: tuple[Path, float], tmp_path: Path,
    act: str,
) -> None:  # fmt: skip
    ws = copy_of(frozen_tiny if act == "exam" else reviewed_tiny, tmp_path / "ws")
    both = [kit.start(ws, act, "toy") for _ in range(2)]
    said = [process.communicate(timeout=300)[0] for process in both]
    assert sorted(process.returncode for process in both) == [0, 3], said
    claims = [one for one in kit.events(ws) if one["event"] in ("claim", "freeze")]
    assert len(claims) == (2 if act == "exam" else 1)
    if act == "exam":
        agrees(ws, undisturbed[0])
    else:
        assert kit.differing(kit.sealed(ws), kit.sealed(frozen_tiny)) == 0
