from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any

import pytest

from echoctl.errors import CheckFailed, Inconsistent, Interrupted, Refused
from echoctl.runner.local import Local
from echoctl.runner.run import Code, Progress, Result, Silent, Task, run
from echoctl.runner.worker import code_hash
from echoctl.track import Job
from echoctl.track.closure import build_zip, code_closure
from echoctl.track.files import outcome_hash, read_outcome
from echoctl.track.loading import TrackSource

HERE = Path(__file__).parent
SOURCE = TrackSource("bench_track", "BenchTrack", "")


@dataclass
class Kept:
    """A sink that keeps everything."""

    folder: Path
    begun: list[tuple[str, int]] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)
    incidents: list[tuple[str, str, str]] = field(default_factory=list)

    def begin(self, job: Job, attempt: int) -> Task:
        self.begun.append((job.id, attempt))
        return Task(job, attempt, self.folder / f"{job.id}.{attempt}.part")

    def done(self, result: Result) -> None:
        self.results[result.task.job.id] = result

    def incident(self, job: Job, kind: str, text: str) -> None:
        self.incidents.append((job.id, kind, text))


def jobs(count: int, **inputs: Any) -> list[Job]:
    return [Job(f"job-{n}", "exam", {"unit": n}, inputs) for n in range(count)]


def tree(**more: Any) -> Code:
    return Code(SOURCE, HERE, sealed=False, measures=("harm",), **more)


def sealed(folder: Path, **extra: bytes) -> Code:
    files = code_closure(SOURCE, HERE, ("echoctl.runner.worker",))
    (folder / "code.zip").write_bytes(build_zip({**files, **extra}))
    return Code(SOURCE, folder / "code.zip", sealed=True, measures=("harm",))


def play(folder: Path, what: list[Job], code: Code, workers: int = 1) -> Kept:
    kept = Kept(folder)
    run(
        what, engine=Local(), code=code, workers=workers, sink=kept, observer=Silent(),
        what="test", resume="again",
    )  # fmt: skip
    return kept


def test_every_job_is_played_once_and_its_outcome_is_on_disk(tmp_path: Path) -> None:
    kept = play(tmp_path, jobs(5), tree(), workers=2)
    assert sorted(kept.begun) == [(f"job-{n}", 1) for n in range(5)]
    for name, result in kept.results.items():
        outcome = read_outcome(result.task.out)
        assert (outcome.job, len(outcome.rows), result.rows) == (name, 3, 3)
        assert outcome_hash(result.task.out) == result.outcome


def test_one_worker_and_two_hash_seeds_and_the_zip_give_the_same_bytes(tmp_path: Path) -> None:
    codes = [(tree(hash_seed=1), 1), (tree(hash_seed=2), 2), (sealed(tmp_path), 2)]
    seen = []
    for number, (code, workers) in enumerate(codes):
        folder = tmp_path / str(number)
        folder.mkdir()
        kept = play(folder, jobs(4), code, workers)
        seen.append({name: r.task.out.read_bytes() for name, r in kept.results.items()})
    assert seen[0] == seen[1] == seen[2]


def test_in_an_exam_nothing_of_the_project_comes_from_outside_the_zip(tmp_path: Path) -> None:
    kept = play(tmp_path, jobs(1, where=True), sealed(tmp_path))
    where = read_outcome(kept.results["job-0"].task.out).digests["where"]
    assert where == str(tmp_path / "code.zip")


def test_a_module_that_was_not_sealed_is_missing_even_if_it_is_installed(tmp_path: Path) -> None:
    code = sealed(tmp_path)
    files = code_closure(SOURCE, HERE, ("echoctl.runner.worker",))
    kept = {n: d for n, d in files.items() if not n.startswith("echoctl/contract/")}
    assert kept.keys() != files.keys()
    code.root.write_bytes(build_zip(kept))
    with pytest.raises(CheckFailed, match=r"No module named 'echoctl\.contract'"):
        play(tmp_path, jobs(1, missing=True), code)


def test_a_killed_worker_is_replaced_and_its_job_is_played_again(tmp_path: Path) -> None:
    kept = play(tmp_path, jobs(2, die_once=str(tmp_path / "died")), tree())
    assert kept.begun == [("job-0", 1), ("job-0", 2), ("job-1", 1)]
    assert kept.incidents == [("job-0", "worker lost", "signal SIGKILL")]
    assert kept.results["job-0"].task.attempt == 2


def test_a_job_that_always_kills_its_worker_stops_the_run(tmp_path: Path) -> None:
    with pytest.raises(CheckFailed, match="job job-0 lost its worker 3 times: exit 7"):
        play(tmp_path, jobs(2, die=True), tree())


def test_a_full_disk_is_no_failure_of_the_job_and_names_the_command_that_goes_on(
    tmp_path: Path,
) -> None:
    kept = Kept(tmp_path)
    with pytest.raises(Interrupted, match="job-0: the disk refused: No space left on") as caught:
        run(
            jobs(1, errno=errno.ENOSPC), engine=Local(), code=tree(), workers=1, sink=kept,
            observer=Silent(), what="test", resume="again",
        )  # fmt: skip
    assert caught.value.todo == "free some space, then: again"
    assert kept.incidents == []


def test_a_file_that_a_track_does_not_find_is_the_failure_of_its_job(tmp_path: Path) -> None:
    with pytest.raises(CheckFailed, match="job-0: FileNotFoundError") as caught:
        play(tmp_path, jobs(1, errno=errno.ENOENT), tree())
    assert caught.value.todo == "mend the track"


def test_a_job_that_raises_says_where(tmp_path: Path) -> None:
    with pytest.raises(CheckFailed, match=r"job job-0: RuntimeError: what a track may raise \(ben"):
        play(tmp_path, jobs(1, **{"raise": True}), tree())


@pytest.mark.parametrize("harm", ["7", True, None, [1]])
def test_a_value_that_is_no_integer_is_refused_where_the_job_returns_it(
    tmp_path: Path, harm: object
) -> None:
    with pytest.raises(CheckFailed, match="job job-0, row 0: harm must be an integer"):
        play(tmp_path, jobs(1, harm=harm), tree())


def test_what_a_track_prints_does_not_reach_the_protocol(tmp_path: Path) -> None:
    kept = play(tmp_path, jobs(1, print=True), tree())
    assert kept.results["job-0"].rows == 3


def test_an_unsealed_file_is_noted_in_development_and_refused_in_an_exam(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    data = tmp_path / "secret" / "test.txt"
    data.write_text("7")
    kept = play(tmp_path, jobs(1, open=str(data)), tree())
    assert kept.results["job-0"].opened == (str(data),)
    (tmp_path / "exam").mkdir()
    with pytest.raises(Inconsistent, match=r"opened what is not sealed: .*test\.txt"):
        play(tmp_path / "exam", jobs(1, open=str(data)), sealed(tmp_path))


def test_sealed_data_is_read_from_the_zip(tmp_path: Path) -> None:
    code = sealed(tmp_path, **{"table.txt": b"sealed"})
    kept = play(tmp_path, jobs(1, data="table.txt"), code)
    assert read_outcome(kept.results["job-0"].task.out).digests["data0"] == "sealed"


def test_no_world_is_built_that_the_permit_does_not_cover(tmp_path: Path) -> None:
    permit = {"kind": "development", "families": ["LavaGapS7"], "ranges": [[5, 6]], "claim": None}
    play(tmp_path, jobs(1, world=5), tree(permit=permit))
    with pytest.raises(Refused, match="it does not cover the seed"):
        play(tmp_path, [Job("other", "exam", {}, {"world": 6})], tree(permit=permit))


def test_ctrl_c_stops_cleanly_and_names_the_command_that_resumes(tmp_path: Path) -> None:
    engine = Local()
    kept = Kept(tmp_path)
    pids: list[int] = []

    class Impatient(Silent):
        def progress(self, at: Progress) -> None:
            if not pids:
                pids.extend(engine.pids())
                os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted, match="stopped after") as caught:
        run(
            jobs(50, nap=20), engine=engine, code=tree(), workers=2, sink=kept,
            observer=Impatient(), what="test", resume="echoctl exam x --resume",
        )  # fmt: skip
    assert caught.value.todo == "resume with: echoctl exam x --resume"
    assert len(pids) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_worker_dies_with_its_parent(tmp_path: Path) -> None:
    engine = Local()
    engine.start(tree(), 1)
    (worker,) = engine._workers
    try:
        engine.send(0, Task(jobs(1, rows=2000, nap=50)[0], 1, tmp_path / "out"))
        while not (tmp_path / "out").exists():
            time.sleep(0.01)
        worker.input.close()
        assert worker.process.wait(timeout=60) == 0
    finally:
        engine.stop()


def test_progress_counts_jobs_and_episodes_to_the_end(tmp_path: Path) -> None:
    seen: list[Progress] = []

    class Watching(Silent):
        def progress(self, at: Progress) -> None:
            seen.append(at)

    run(
        jobs(4), engine=Local(), code=tree(), workers=2, sink=Kept(tmp_path),
        observer=Watching(), what="test",
    )  # fmt: skip
    assert [at.jobs for at in seen if at.rows == 12] == [4]
    assert (seen[-1].total, seen[-1].seconds_left, seen[-1].workers) == (4, 0, 2)


def test_a_worker_tells_its_interpreter_and_the_versions_that_it_loaded(tmp_path: Path) -> None:
    engine = Local()
    engine.start(tree(), 1)
    try:
        seen = engine.ask_environment()
        known = engine.ask_environment(["rfc8785", "no-such-thing"])
    finally:
        engine.stop()
    assert seen["python"] == ".".join(map(str, sys.version_info[:3]))
    assert seen["distributions"]["rfc8785"] == known["distributions"]["rfc8785"]
    assert known["distributions"].keys() == {"rfc8785", "no-such-thing"}
    assert known["distributions"]["no-such-thing"] == "absent"
    assert known["code"]["no-such-thing"] == "absent"
    assert known["code"]["rfc8785"] == seen["code"]["rfc8785"]
    assert len(known["code"]["rfc8785"]) == 64


def test_one_changed_byte_in_an_installed_module_changes_the_hash_of_its_code(
    tmp_path: Path,
) -> None:
    info = tmp_path / "thing-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: thing\nVersion: 1\n")
    (info / "RECORD").write_text("thing.py,,\nthing.txt,,\nthing-1.dist-info/RECORD,,\n")
    (tmp_path / "thing.py").write_text("x = 1\n")
    (tmp_path / "thing.txt").write_text("read me\n")
    before = code_hash(PathDistribution(info))
    (tmp_path / "thing.txt").write_text("read me again\n")
    assert code_hash(PathDistribution(info)) == before, "only code counts"
    (tmp_path / "thing.py").write_text("x = 2\n")
    changed = code_hash(PathDistribution(info))
    (tmp_path / "thing.py").unlink()
    assert len({before, changed, code_hash(PathDistribution(info))}) == 3


def test_a_track_that_does_not_load_stops_the_run_at_once(tmp_path: Path) -> None:
    code = Code(TrackSource("bench_track", "Nobody", ""), HERE, False, ("harm",))
    with pytest.raises(CheckFailed, match="bench_track:Nobody does not load"):
        play(tmp_path, jobs(2), code, workers=2)
    assert threading.active_count() == 1
