"""The Ray engine on a real cluster of two nodes, both on this machine.

The nodes are started with a broken package `echoctl` first on their path: whatever imports the
project on a node, other than from the zip that travelled, fails.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ray: Any = pytest.importorskip("ray", reason="Ray is optional: pip install 'echoctl[ray]'")

from bench_track import BenchTrack  # noqa: E402
from test_runner import Kept, jobs, play, sealed, tree  # noqa: E402

from echoctl.errors import CheckFailed, Inconsistent, Interrupted, Refused, UsageError  # noqa: E402
from echoctl.runner import host  # noqa: E402
from echoctl.runner.ray import Ray  # noqa: E402
from echoctl.runner.run import Artefact, Code, Progress, Silent, Task, run  # noqa: E402
from echoctl.track import Job  # noqa: E402
from echoctl.track.closure import imports_of  # noqa: E402
from echoctl.track.files import read_outcome  # noqa: E402
from echoctl.track.loading import TrackSource  # noqa: E402

TOY = Path(__file__).parents[1] / "data" / "toy"

# Ray leaves pipes and log files to the end of the process, and tells of its own future.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:Tip. In future versions of Ray:FutureWarning"),
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two nodes of one CPU each; the package echoctl is broken on both."""
    from ray.cluster_utils import Cluster

    broken = tmp_path_factory.mktemp("broken")
    (broken / "echoctl").mkdir()
    (broken / "echoctl" / "__init__.py").write_text("raise ImportError('not from the zip')\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", str(broken))
        nodes = Cluster()
        nodes.add_node(num_cpus=1, object_store_memory=80 * 2**20, include_dashboard=False)
        nodes.add_node(num_cpus=1, object_store_memory=80 * 2**20)
        nodes.wait_for_nodes()
        ready = subprocess.run(
            [sys.executable, "-c", "import echoctl"], check=False, capture_output=True
        )
        assert b"not from the zip" in ready.stderr
    yield nodes
    nodes.shutdown()


@pytest.fixture(scope="module")
def engine(cluster: Any) -> Iterator[Ray]:
    """One engine and one connection for every run, as a command has it."""
    made = Ray(cluster.address)
    yield made
    made.close()


def play_on(
    engine: Ray, folder: Path, what: list[Job], code: Code, watch: Silent | None = None
) -> Kept:
    folder.mkdir(exist_ok=True)
    kept = Kept(folder)
    run(
        what, engine=engine, code=code, workers=2, sink=kept, observer=watch or Silent(),
        what="test", resume="echoctl exam x --resume",
    )  # fmt: skip
    return kept


def written(kept: Kept) -> dict[str, bytes]:
    return {name: result.task.out.read_bytes() for name, result in kept.results.items()}


def node_of(engine: Ray, worker: int) -> str:
    from ray._private.state import actors

    return str(actors(engine._workers[worker].actor._actor_id.hex())["Address"]["NodeID"])


class Once(Silent):
    """Does something the first time that a job is under way."""

    def __init__(self, engine: Ray) -> None:
        self.engine = engine
        self.done = False

    def act(self) -> None:
        raise NotImplementedError

    def progress(self, at: Progress) -> None:
        if not self.done and at.rows and all(worker.ready for worker in self.engine._workers):
            self.done = True
            self.act()


def test_two_nodes_give_the_bytes_of_this_machine_and_the_zip_travels_to_both(
    engine: Ray, tmp_path: Path
) -> None:
    (tmp_path / "local").mkdir()
    here = written(play(tmp_path / "local", jobs(4), tree()))
    nodes: set[str] = set()

    class Where(Silent):
        def progress(self, at: Progress) -> None:
            nodes.update(node_of(engine, number) for number in range(2))

    assert written(play_on(engine, tmp_path / "tree", jobs(4), tree(), Where())) == here
    assert len(nodes) == 2
    what = [*jobs(4), Job("where", "exam", {}, {"where": True})]
    kept = play_on(engine, tmp_path / "zip", what, sealed(tmp_path))
    where = Path(read_outcome(kept.results.pop("where").task.out).digests["where"])
    assert where.name == "code.zip"
    assert where != tmp_path / "code.zip"
    assert written(kept) == here


def test_files_beside_a_track_and_artefacts_travel_both_ways(engine: Ray, tmp_path: Path) -> None:
    shutil.copytree(TOY / "tracks", tmp_path / "tracks")
    (tmp_path / "tracks" / "table.txt").write_text("data\n")
    source = TrackSource("toy", "Toy", "tracks")
    code = Code(source, tmp_path, sealed=False, measures=("harm", "skill"))
    train = Job(
        "train-1", "training", {"unit": 1}, {"seeds": [5, 6, 7], "family": "f"},
        makes=("memory-1",),
    )  # fmt: skip
    exam = Job(
        "exam-1", "development", {"unit": 1, "arm": "aprendida"},
        {"stage": "development", "settings": {"peek": 1}, "lives": {"f": [1, 2, 3]}},
        needs=("memory-1",),
    )  # fmt: skip
    trained = tmp_path / "memory-1"

    class Keeping(Kept):
        def begin(self, job: Job, attempt: int) -> Task:
            task = super().begin(job, attempt)
            makes = {name: self.folder / name for name in job.makes}
            known = {name: Artefact(trained, self.sha) for name in job.needs}
            return Task(job, attempt, task.out, known, makes)

        sha = ""

    kept = Keeping(tmp_path)
    for job in (train, exam):
        run([job], engine=engine, code=code, workers=1, sink=kept, observer=Silent(), what="t")
        Keeping.sha = kept.results["train-1"].artefacts["memory-1"]
    assert hashlib.sha256(trained.read_bytes()).hexdigest() == Keeping.sha
    assert read_outcome(kept.results["exam-1"].task.out).digests["memory"] == "3"


def test_a_worker_killed_in_mid_job_is_replaced_and_the_incident_is_recorded(
    engine: Ray, tmp_path: Path
) -> None:
    kept = play_on(engine, tmp_path / "killed", jobs(2, die_once=str(tmp_path / "died")), tree())
    assert [one for one in kept.begun if one[1] == 2] == [(kept.incidents[0][0], 2)]
    assert [one[1:] for one in kept.incidents] == [("worker lost", "signal SIGKILL")]
    assert {name: result.rows for name, result in kept.results.items()} == {"job-0": 3, "job-1": 3}
    left = tmp_path / "killed" / f"{kept.incidents[0][0]}.1.part"
    assert left.is_file()  # what was half-written travels too, so that it can be compared


def test_an_actor_killed_in_mid_job_is_replaced_and_the_bytes_are_the_same(
    engine: Ray, tmp_path: Path
) -> None:
    class Killing(Once):
        def act(self) -> None:
            ray.kill(self.engine._workers[0].actor)

    what = jobs(2, rows=60, nap=20)
    (tmp_path / "local").mkdir()
    here = written(play(tmp_path / "local", what, tree()))
    kept = play_on(engine, tmp_path / "ray", what, tree(), Killing(engine))
    assert [(job, kind) for job, kind, _ in kept.incidents] == [("job-0", "worker lost")]
    assert ("job-0", 2) in kept.begun
    assert written(kept) == here


def test_a_node_that_goes_takes_its_jobs_to_another(
    cluster: Any, engine: Ray, tmp_path: Path
) -> None:
    extra: Any = None

    class Removing(Once):
        def act(self) -> None:
            cluster.remove_node(extra, allow_graceful=False)

    extra = cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20)
    cluster.wait_for_nodes()
    what = jobs(3, rows=80, nap=20)
    (tmp_path / "local").mkdir()
    here = written(play(tmp_path / "local", what, tree()))
    kept = Kept(tmp_path)
    run(
        what, engine=engine, code=tree(), workers=3, sink=kept, observer=Removing(engine),
        what="test",
    )  # fmt: skip
    assert {kind for _, kind, _ in kept.incidents} == {"worker lost"}
    assert written(kept) == here


def test_a_job_that_raises_says_where(engine: Ray, tmp_path: Path) -> None:
    with pytest.raises(CheckFailed, match=r"job job-0: RuntimeError: what a track may raise \(ben"):
        play_on(engine, tmp_path, jobs(1, **{"raise": True}), tree())


def test_a_track_that_does_not_load_stops_the_run_at_once(engine: Ray, tmp_path: Path) -> None:
    code = Code(TrackSource("bench_track", "Nobody", ""), tree().root, False, ("harm",))
    with pytest.raises(CheckFailed, match="bench_track:Nobody does not load"):
        play_on(engine, tmp_path, jobs(2), code)


def test_more_workers_than_the_cluster_has_cpus_are_refused(engine: Ray, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"99 workers were asked of a cluster that has \d CPUs"):
        run(
            jobs(99), engine=engine, code=tree(), workers=99, sink=Kept(tmp_path),
            observer=Silent(), what="test",
        )  # fmt: skip


def test_a_node_with_another_version_is_refused_before_its_results_are_believed(
    engine: Ray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = {
        "python": sys.version.split()[0], "implementation": "cpython", "platform": "linux-m68k",
        "distributions": {"numpy": "0.0.1"}, "code": {},
    }  # fmt: skip
    monkeypatch.setattr("echoctl.runner.ray._environment", lambda code: here)
    with pytest.raises(Refused, match=r"platform is .* there, linux-m68k here; numpy is .* 0\.0"):
        play_on(engine, tmp_path, jobs(1), tree())


def test_ctrl_c_stops_the_workers_and_names_the_command_that_resumes(
    engine: Ray, tmp_path: Path
) -> None:
    class Impatient(Once):
        def act(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted, match="stopped after") as caught:
        play_on(engine, tmp_path, jobs(2, rows=5000, nap=20), tree(), Impatient(engine))
    assert caught.value.todo == "resume with: echoctl exam x --resume"
    free = 0
    while free < 2:  # both CPUs come back: no actor is left
        time.sleep(0.1)
        free = int(ray.available_resources().get("CPU", 0))


def test_an_address_where_nobody_answers_is_named() -> None:
    with pytest.raises(CheckFailed, match=r"no Ray cluster answers at 127\.0\.0\.1:1: "):
        Ray("127.0.0.1:1").start(tree(), 1)
    for wrong in ("ray://head:10001", "head", "head:port", ":1"):
        with pytest.raises(UsageError, match="is no address of a Ray cluster"):
            Ray(wrong).start(tree(), 1)


def test_a_process_that_is_in_one_cluster_does_not_pretend_to_be_in_another(engine: Ray) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        engine.start(tree(), 1)
        engine.stop()
        with pytest.raises(UsageError, match="is connected to the Ray cluster at"):
            Ray(f"127.0.0.1:{server.getsockname()[1]}").start(tree(), 1)


def test_a_machine_without_ray_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match="Ray is not installed here") as caught:
        Ray().start(tree(), 1)
    assert caught.value.todo == "run: pip install 'echoctl[ray]'"


def test_code_that_changed_on_its_way_is_refused_by_the_node() -> None:
    one = host.Host(b"other bytes", "0" * 64, {"sealed": True}, None)
    said = one.begin([])
    one.end()
    assert said["failed"]["exit"] == Inconsistent.exit_code
    assert "the code arrived as" in said["failed"]["why"]


def test_what_travels_by_value_imports_nothing_of_the_project() -> None:
    source = Path(host.__file__).read_bytes()
    tops = {name.partition(".")[0] for name in imports_of(source, host.__name__, package=False)}
    assert tops <= sys.stdlib_module_names
    assert BenchTrack.id == "bench"
