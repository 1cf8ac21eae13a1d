"""Attacks through the real command line, on exams that it sealed and played itself.

Each asserts the exit code, the sentence, and that no verdict is named.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import exam_builder as builder
import pytest
from attack_kit import VERDICT, alone, echoctl, refused

TOY = Path(__file__).parents[1] / "data" / "toy"
HOME = Path("artifacts/toy")


def prepared(place: Path) -> Path:
    """Copy the toy workspace; its dice are shared code three imports away from the track."""
    shutil.copytree(TOY, place, ignore=shutil.ignore_patterns("__pycache__"))
    dice = (place / "tracks/dice.py").read_text("utf-8")
    (place / "tracks/ivory.py").write_text(dice, "utf-8")
    again = '"""A helper of a helper."""\n\nfrom {} import throw\n\n__all__ = ["throw"]\n'
    (place / "tracks/bone.py").write_text(again.format("ivory"), "utf-8")
    (place / "tracks/dice.py").write_text(again.format("bone"), "utf-8")
    return place


def done(run: subprocess.CompletedProcess[str]) -> str:
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout + run.stderr


@pytest.fixture(scope="session")
def reviewed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = prepared(tmp_path_factory.mktemp("reviewed") / "ws")
    done(echoctl(place, "preflight", "toy"))
    done(echoctl(place, "review", "toy", "--reviewer", "somebody else"))
    return place


@pytest.fixture(scope="session")
def frozen_once(tmp_path_factory: pytest.TempPathFactory, reviewed_once: Path) -> Path:
    place = Path(shutil.copytree(reviewed_once, tmp_path_factory.mktemp("frozen") / "ws"))
    done(echoctl(place, "freeze", "toy"))
    return place


@pytest.fixture(scope="session")
def opened_once(tmp_path_factory: pytest.TempPathFactory, frozen_once: Path) -> Path:
    place = tmp_path_factory.mktemp("opened") / "ws"
    shutil.copytree(frozen_once, place)
    run = echoctl(place, "exam", "toy", ECHOCTL_FAULT="exam.received:5")
    assert run.returncode == -signal.SIGKILL
    return place


@pytest.fixture(scope="session")
def decided_once(tmp_path_factory: pytest.TempPathFactory, frozen_once: Path) -> Path:
    place = tmp_path_factory.mktemp("decided") / "ws"
    shutil.copytree(frozen_once, place)
    assert "GREEN" in done(echoctl(place, "exam", "toy"))
    return place


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    return prepared(tmp_path / "ws")


@pytest.fixture
def reviewed(tmp_path: Path, reviewed_once: Path) -> Path:
    return Path(shutil.copytree(reviewed_once, tmp_path / "ws"))


@pytest.fixture
def frozen(tmp_path: Path, frozen_once: Path) -> Path:
    return Path(shutil.copytree(frozen_once, tmp_path / "ws"))


@pytest.fixture
def opened(tmp_path: Path, opened_once: Path) -> Path:
    return Path(shutil.copytree(opened_once, tmp_path / "ws"))


@pytest.fixture
def decided(tmp_path: Path, decided_once: Path) -> Path:
    return Path(shutil.copytree(decided_once, tmp_path / "ws"))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def outcomes(place: Path) -> dict[str, bytes]:
    files = sorted((place / HOME / "exam/jobs").glob("*.gz"))
    return {path.name: gzip.decompress(path.read_bytes()) for path in files}


def forged(place: Path, change: Callable[[builder.Exam], None]) -> None:
    """Change an exam as a diligent forger, and write every file back."""
    exam = builder.Exam.read(place)
    before = set(exam.files)
    change(exam)
    for name in before - set(exam.files):
        (place / name).unlink()
    exam.write(place)


def resealed(place: Path, old: str, new: str) -> Path:
    """Return the frozen workspace as if its track had been written otherwise from the start."""

    def change(exam: builder.Exam) -> None:
        home = "artifacts/toy/"
        with zipfile.ZipFile(place / home / "frozen/code.zip") as archive:
            code = {name: archive.read(name) for name in archive.namelist()}
        text = code["tracks/toy.py"].decode("utf-8")
        assert old in text
        code["tracks/toy.py"] = text.replace(old, new, 1).encode()
        manifest = json.loads(exam.files[home + "frozen/manifest.json"])
        exam.files[home + "frozen/code.zip"] = builder.zipped(code)
        manifest["code"] = {
            "zip": builder.sha(exam.files[home + "frozen/code.zip"]),
            "files": {name: builder.sha(data) for name, data in code.items()},
        }
        reseal(exam, manifest)

    forged(place, change)
    return place


def reseal(exam: builder.Exam, manifest: dict[str, Any]) -> None:
    """Freeze again with another manifest, consistently."""
    data = builder.dump(manifest) + b"\n"
    freeze = builder.role("manifest", data)
    exam.files["artifacts/toy/frozen/manifest.json"] = data
    exam.files["artifacts/toy/witness/freeze.txt"] = f"echoctl-freeze toy {freeze}\n".encode()
    exam.find("freeze")["data"]["manifest"] = freeze
    exam.relink()


def cut(place: Path, event: str, *, after: bool = False) -> None:
    """Cut the ledger's tail at the first line of a kind."""
    path = place / HOME / "ledger.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if json.loads(line)["event"] == event)
    path.write_bytes(b"".join(lines[: at + after]))


def all_refuse(place: Path, *sentences: str) -> None:
    """Assert that exam, report, verify and the verifier alone refuse, each by itself."""
    for words in (("report", "toy"), ("verify", "toy")):
        refused(echoctl(place, *words), 5, *sentences)
    code, said = alone(place, "toy")
    assert code == 5, said
    assert not VERDICT.search(said), said


# --- row 1 ---------------------------------------------------------------------------------


def test_row01_the_exam_refuses_an_edited_contract_and_shows_what_differs(frozen: Path) -> None:
    with (frozen / HOME / "frozen/contract.yaml").open("a", encoding="utf-8") as out:
        out.write("# and one more thing\n")
    refused(echoctl(frozen, "exam", "toy"), 5, "contract.yaml is not what was sealed")
    assert not (frozen / HOME / "exam/claim.json").exists()


def test_row01_the_exam_refuses_a_contract_edited_with_its_recorded_hash(frozen: Path) -> None:
    edit(frozen / HOME / "frozen/contract.json", '"at_most":"3/10"', '"at_most":"9/10"')
    data = (frozen / HOME / "frozen/contract.json").read_bytes()
    path = frozen / HOME / "frozen/manifest.json"
    manifest = json.loads(path.read_bytes())
    path.write_bytes(builder.dump({**manifest, "contract_json": builder.sha(data)}) + b"\n")
    refused(echoctl(frozen, "exam", "toy"), 5, "manifest.json is not what was sealed")


def test_row01_report_and_verify_refuse_an_edited_contract(decided: Path) -> None:
    edit(decided / HOME / "frozen/contract.json", '"at_most":"3/10"', '"at_most":"9/10"')
    all_refuse(decided, "contract.json")


def test_row01_the_working_contract_cannot_drift_from_the_sealed_one(frozen: Path) -> None:
    edit(frozen / "contracts/toy.yaml", '"0.30"', '"0.90"')
    refused(echoctl(frozen, "exam", "toy"), 5, "contracts/toy.yaml was changed after the freeze")


# --- row 2 ---------------------------------------------------------------------------------


def test_row02_code_edited_three_imports_away_is_reported_and_the_sealed_code_runs(
    frozen: Path, decided_once: Path
) -> None:
    edit(frozen / "tracks/ivory.py", ".below(sides)", ".below(1)")
    said = done(echoctl(frozen, "exam", "toy"))
    assert "working tree: tracks/ivory.py differs; the sealed code runs" in said
    assert outcomes(frozen) == outcomes(decided_once)


def test_row02_a_changed_zip_is_refused(frozen: Path) -> None:
    path = frozen / HOME / "frozen/code.zip"
    data = path.read_bytes()
    assert data.count(b".below(sides)") == 1
    path.write_bytes(data.replace(b".below(sides)", b".below(    1)"))
    refused(echoctl(frozen, "exam", "toy"), 5, "code.zip is not what was sealed")


def test_row02_a_changed_zip_is_found_after_the_exam(decided: Path) -> None:
    path = decided / HOME / "frozen/code.zip"
    path.write_bytes(path.read_bytes().replace(b".below(sides)", b".below(    1)"))
    all_refuse(decided, "code.zip")


# --- row 3 ---------------------------------------------------------------------------------


def test_row03_a_second_exam_is_refused_whatever_came_out(decided: Path) -> None:
    refused(echoctl(decided, "exam", "toy"), 3, "An exam runs once, whatever came out.")
    refused(echoctl(decided, "exam", "toy", "--resume"), 3)


def test_row03_a_claimed_exam_never_reopens(opened: Path) -> None:
    refused(echoctl(opened, "exam", "toy"), 3, "runs once")


def test_row03_deleted_results_are_missing_evidence_not_free_slots(opened: Path) -> None:
    first = sorted((opened / HOME / "exam/jobs").glob("*.jsonl.gz"))[0]
    first.unlink()
    said = refused(echoctl(opened, "exam", "toy", "--resume"), 5, "is missing, and it was received")
    assert "written once and never played again" in said
    assert alone(opened, "toy")[0] == 5


def test_row03_everything_deleted_but_the_claim_does_not_reopen(decided: Path) -> None:
    shutil.rmtree(decided / HOME / "exam/jobs")
    (decided / HOME / "verdict.json").unlink()
    cut(decided, "claim")
    refused(echoctl(decided, "exam", "toy"), 3, "has a claim already")
    assert alone(decided, "toy")[0] == 5


# --- row 4 ---------------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["freeze", "claim", "start", "complete", "verdict", "report"])
def test_row04_a_cut_tail_is_inconsistent_whichever_command_looks(
    decided: Path, event: str
) -> None:
    cut(decided, event)
    refused(echoctl(decided, "verify", "toy"), 5)
    refused(echoctl(decided, "verify"), 5)
    assert alone(decided)[0] == 5, "without an id too: a short ledger must not hide a track"


def test_row04_a_better_tail_does_not_fit(decided: Path) -> None:
    def better(exam: builder.Exam) -> None:
        for line in exam.ledger:
            if line["event"] == "done" and "aprendida" in line["data"]["job"]:
                line["data"]["outcome"] = "0" * 64
        done = [line["data"] for line in exam.ledger if line["event"] == "done"]
        pairs = sorted([data["job"], data["outcome"]] for data in done)
        exam.find("complete")["data"]["results"] = builder.role("results", builder.dump(pairs))
        exam.relink()

    forged(decided, better)
    all_refuse(decided, "was changed: its hash is ")


# --- row 5 ---------------------------------------------------------------------------------


def test_row05_a_job_recorded_again_is_refused(decided: Path) -> None:
    def again(exam: builder.Exam) -> None:
        place = exam.ledger.index(exam.find("done"))
        line = exam.ledger[place]
        exam.ledger.insert(place + 1, {**line, "data": {**line["data"], "outcome": "0" * 64}})
        exam.relink()

    forged(decided, again)
    all_refuse(decided, "job")


def relabelled(exam: builder.Exam) -> None:
    """Show the two best of a job's episodes as its first, with the first ones' seeds."""
    name = "artifacts/toy/exam/jobs/exam-aprendida-2.jsonl.gz"
    lines = [json.loads(line) for line in gzip.decompress(exam.files[name]).splitlines()]
    best = sorted(line[5:] for line in lines[1:-1])
    lines[1:-1] = [[*line[:5], *best[i % 2]] for i, line in enumerate(lines[1:-1])]
    data = b"".join(builder.dump(line) + b"\n" for line in lines)
    exam.files[name] = builder.packed(data)
    for line in exam.ledger:
        if line["event"] == "done" and line["data"]["job"] == "exam-aprendida-2":
            line["data"]["outcome"] = builder.role("outcome", data)
    done = [line["data"] for line in exam.ledger if line["event"] == "done"]
    pairs = sorted([data["job"], data["outcome"]] for data in done)
    exam.find("complete")["data"]["results"] = builder.role("results", builder.dump(pairs))
    exam.ledger = exam.ledger[: exam.ledger.index(exam.find("verdict"))]
    exam.relink()


def test_row05_the_best_worlds_under_the_first_ones_seeds_are_exposed_by_playing_again(
    decided: Path,
) -> None:
    forged(decided, relabelled)
    (decided / HOME / "verdict.json").unlink()
    shutil.rmtree(decided / "docs")
    done(echoctl(decided, "exam", "toy", "--resume"))
    assert echoctl(decided, "verify", "toy").returncode == 0, "every hash was made again"
    said = refused(echoctl(decided, "verify", "toy", "--rerun", "18"), 5)
    assert "exam-aprendida-2 gives other bytes" in said
    code, said = alone(decided, "toy", "--rerun", "18")
    assert code == 5
    assert "exam-aprendida-2 gives other bytes" in said


# --- row 6 ---------------------------------------------------------------------------------


def dropped(exam: builder.Exam, *, crashed: bool) -> None:
    job = "exam-aprendida-6"
    place = next(i for i, line in enumerate(exam.ledger) if line["data"].get("job") == job)
    time = exam.ledger[place]["time"]
    exam.ledger = [line for line in exam.ledger if line["data"].get("job") != job]
    del exam.files[f"artifacts/toy/exam/jobs/{job}.jsonl.gz"]
    if crashed:
        data = {"job": job, "kind": "crashed", "text": "it could not be played"}
        exam.ledger.insert(place, {"event": "incident", "data": data, "time": time})
    done = [line["data"] for line in exam.ledger if line["event"] == "done"]
    pairs = sorted([data["job"], data["outcome"]] for data in done)
    complete = {"jobs": len(pairs), "results": builder.role("results", builder.dump(pairs))}
    exam.find("complete")["data"].update(complete)
    exam.relink()


@pytest.mark.parametrize("crashed", [False, True])
def test_row06_an_inconvenient_job_cannot_be_left_out(decided: Path, crashed: bool) -> None:
    forged(decided, lambda exam: dropped(exam, crashed=crashed))
    all_refuse(decided)
    assert "exam-aprendida-6" in alone(decided, "toy")[1]


# --- row 7 ---------------------------------------------------------------------------------


def test_row07_amendments_end_at_the_freeze(frozen: Path) -> None:
    edit(frozen / "contracts/toy.yaml", '"0.30"', '"0.90"')
    refused(echoctl(frozen, "amend", "toy", "--why", "better so"), 3)


@pytest.mark.parametrize("option", ["--alpha", "--margin", "--baseline", "--exclude", "--units"])
def test_row07_grading_takes_no_option_that_could_change_a_number(
    decided: Path, option: str
) -> None:
    for command in ("exam", "report", "verify"):
        refused(echoctl(decided, command, "toy", option, "1"), 2)


def test_row07_nothing_shows_a_measure_before_every_job_is_in(opened: Path) -> None:
    for words in (("status", "toy"), ("list",), ("status", "toy", "--json")):
        run = echoctl(opened, *words)
        assert run.returncode == 0, run.stderr
        assert "harm" not in run.stdout
        assert not VERDICT.search(run.stdout)
    refused(echoctl(opened, "report", "toy"), 3)
    (job, *_) = sorted(path.name.removesuffix(".jsonl.gz")
                       for path in (opened / HOME / "exam/jobs").glob("*.gz"))  # fmt: skip
    refused(echoctl(opened, "replay", "toy", job), 3)
    code, said = alone(opened, "toy")
    assert code == 1
    assert "harm" not in said


# --- row 8 ---------------------------------------------------------------------------------


def test_row08_a_result_edited_by_hand_is_refused(decided: Path) -> None:
    path = decided / HOME / "exam/jobs/exam-vacia-1.jsonl.gz"
    data = gzip.decompress(path.read_bytes())
    path.write_bytes(builder.packed(data.replace(b"0,13000,", b"0,13000,9", 1)))
    all_refuse(decided, "exam-vacia-1")


def test_row08_two_swapped_results_are_refused(decided: Path) -> None:
    one, other = (decided / HOME / f"exam/jobs/exam-vacia-{n}.jsonl.gz" for n in (1, 2))
    data = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(data)
    all_refuse(decided, "exam-vacia-1")


def test_row08_the_verdict_file_is_never_read(decided: Path) -> None:
    before = (decided / "docs/results/toy.md").read_bytes()
    path = decided / HOME / "verdict.json"
    path.write_bytes(path.read_bytes().replace(b'"green"', b'"red"'))
    refused(echoctl(decided, "verify", "toy"), 5, "verdict.json was changed")
    run = echoctl(decided, "report", "toy")
    assert run.returncode == 5 or (decided / "docs/results/toy.md").read_bytes() == before


def test_row08_an_edited_report_is_refused(decided: Path) -> None:
    for name in ("toy.md", "toy.html"):
        path = decided / "docs/results" / name
        kept = path.read_bytes()
        path.write_bytes(kept.replace(b"41.8", b"11.8"))
        assert path.read_bytes() != kept
        refused(echoctl(decided, "verify", "toy"), 5, f"docs/results/{name} was changed")
        path.write_bytes(kept)


# --- row 9 ---------------------------------------------------------------------------------


def test_row09_a_symlink_among_sealed_files_is_refused(frozen: Path, tmp_path: Path) -> None:
    path = frozen / HOME / "frozen/contract.json"
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    refused(echoctl(frozen, "exam", "toy"), 5, "contract.json is a symlink")
    assert alone(frozen, "toy")[0] == 5


def test_row09_a_symlink_is_refused_at_the_freeze(reviewed: Path, tmp_path: Path) -> None:
    (reviewed / "contracts/toy.yaml").rename(tmp_path / "elsewhere.yaml")
    (reviewed / "contracts/toy.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    run = echoctl(reviewed, "freeze", "toy")
    assert run.returncode in (3, 5), run.stdout + run.stderr
    refused(run, run.returncode)


@pytest.mark.parametrize("name", ["frozen/extra.py", "frozen/line\nbreak.py"])
def test_row09_a_file_that_nobody_sealed_is_refused(frozen: Path, name: str) -> None:
    (frozen / HOME / name).write_text("?", "utf-8")
    said = refused(echoctl(frozen, "exam", "toy"), 5, "was never sealed")
    assert "\nbreak" not in said
    assert alone(frozen, "toy")[0] == 5


def test_row09_a_job_that_reads_what_is_not_sealed_fails(frozen: Path, tmp_path: Path) -> None:
    secret = tmp_path / "answers.txt"
    secret.write_text("1 2 3", "utf-8")
    resealed(
        frozen, '        for family, seeds in inputs["lives"].items():\n',
        f'        open({str(secret)!r}).close()\n'
        '        for family, seeds in inputs["lives"].items():\n',
    )  # fmt: skip
    run = echoctl(frozen, "exam", "toy")
    assert run.returncode in (1, 5), run.stdout + run.stderr
    refused(run, run.returncode, "opened what is not sealed")
    assert alone(frozen, "toy")[0] == 1


# --- row 10 --------------------------------------------------------------------------------


def test_row10_a_freeze_dated_in_the_past_is_refused(reviewed: Path) -> None:
    refused(
        echoctl(reviewed, "freeze", "toy", ECHOCTL_FAULT="clock:-3600"),
        1,
        "the clock runs backwards",
    )


def test_row10_a_freeze_dated_in_the_future_makes_the_exam_run_backwards(reviewed: Path) -> None:
    done(echoctl(reviewed, "freeze", "toy", ECHOCTL_FAULT="clock:86400"))
    refused(echoctl(reviewed, "exam", "toy"), 1, "the clock runs backwards")
    done(echoctl(reviewed, "exam", "toy", "--acknowledge-clock"))
    code, said = alone(reviewed, "toy")
    assert code == 0, said
    assert "incident recorded: clock" in said


# --- row 11 --------------------------------------------------------------------------------


def test_row11_a_killed_exam_resumes_to_the_same_bytes(opened: Path, decided_once: Path) -> None:
    done(echoctl(opened, "exam", "toy", "--resume"))
    assert outcomes(opened) == outcomes(decided_once)
    assert alone(opened, "toy")[0] == 0


@pytest.mark.parametrize(
    "point", ["ledger.half:9", "once.half:2", "worker.row:7", "replace.half:1"]
)
def test_row11_a_kill_inside_a_write_leaves_nothing_that_cannot_be_resumed(
    frozen: Path, decided_once: Path, point: str
) -> None:
    echoctl(frozen, "exam", "toy", ECHOCTL_FAULT=point)
    run = echoctl(frozen, "exam", "toy", "--resume")
    if run.returncode == 3:  # the fault killed a worker only, and the exam went on
        assert (frozen / HOME / "verdict.json").exists()
    else:
        done(run)
    assert outcomes(frozen) == outcomes(decided_once)
    code, said = alone(frozen, "toy")
    assert code == 0, said


def test_row11_a_torn_last_line_is_moved_aside_and_told(opened: Path, decided_once: Path) -> None:
    with (opened / HOME / "ledger.jsonl").open("ab") as out:
        out.write(b'{"data":{"attempt":1,"job":"exam-')
    said = done(echoctl(opened, "exam", "toy", "--resume"))
    assert "torn" in said
    assert (opened / HOME / "ledger.jsonl.torn-0").exists()
    assert outcomes(opened) == outcomes(decided_once)
    assert alone(opened, "toy")[0] == 0


@pytest.fixture
def slow(frozen: Path) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """Return a slow exam that is under way in a process of its own."""
    resealed(
        frozen, "                harm = throw(",
        '                time.sleep(float(os.environ.get("TOY_NAP", "0")))\n'
        "                harm = throw(",
    )  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "echoctl", "exam", "toy"], cwd=frozen,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "TOY_NAP": "0.5"},
    )  # fmt: skip
    for _ in range(1200):
        if list((frozen / HOME / "exam/jobs").glob(".*.part")):
            break
        time.sleep(0.05)
    yield frozen, process
    process.kill()
    process.wait()


def test_row11_of_two_processes_the_second_leaves_at_once(
    slow: tuple[Path, subprocess.Popen[bytes]], decided_once: Path
) -> None:
    place, process = slow
    refused(echoctl(place, "exam", "toy", "--resume"), 3, "another process is working on toy")
    assert process.poll() is None
    process.kill()
    process.wait()
    done(echoctl(place, "exam", "toy", "--resume"))
    assert outcomes(place).keys() == outcomes(decided_once).keys()
    assert alone(place, "toy")[0] == 0


def test_row11_ctrl_c_stops_cleanly_and_says_how_to_go_on(
    slow: tuple[Path, subprocess.Popen[bytes]],
) -> None:
    place, process = slow
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 4
    done(echoctl(place, "exam", "toy", "--resume"))
    assert alone(place, "toy")[0] == 0


def test_row11_a_disk_that_is_full_keeps_what_is_done(frozen: Path, decided_once: Path) -> None:
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000));"
        "from echoctl.cli import main; sys.exit(main(['exam', 'toy']))"
    )
    run = subprocess.run(
        [sys.executable, "-c", limited], cwd=frozen, capture_output=True, text=True, check=False,
        timeout=120, env={**os.environ, "NO_COLOR": "1"},
    )  # fmt: skip
    refused(run, 4, "--resume")
    done(echoctl(frozen, "exam", "toy", "--resume"))
    assert outcomes(frozen) == outcomes(decided_once)
    assert alone(frozen, "toy")[0] == 0


# --- row 12 --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "harm", ['float("nan")', 'float("inf")', "1e400", "True", '"7"', "None", "2**53", "1.0"]
)
def test_row12_what_is_no_integer_is_refused_where_the_job_returns_it(
    frozen: Path, harm: str
) -> None:
    resealed(
        frozen, "                yield _row(inputs[",
        f"                harm = {harm} if episode == 3 else harm\n"
        "                yield _row(inputs[",
    )  # fmt: skip
    refused(echoctl(frozen, "exam", "toy"), 1, "row 3: harm ")
    assert not (frozen / HOME / "verdict.json").exists()
    assert alone(frozen, "toy")[0] == 1


def test_row12_a_measure_that_is_missing_in_one_unit_is_refused(frozen: Path) -> None:
    resealed(
        frozen, "                yield _row(inputs[",
        '                if job.keys["unit"] == 4:\n'
        '                    yield {"stage": "exam", "family": family, "round": 1,\n'
        '                           "episode": episode, "seed": seed, "skill": skill}\n'
        "                    continue\n"
        "                yield _row(inputs[",
    )  # fmt: skip
    refused(echoctl(frozen, "exam", "toy"), 1, "lacks harm")


# --- row 13 --------------------------------------------------------------------------------

BOMB = "".join(f"x{i}: &x{i} [{', '.join([f'*x{i - 1}'] * 9) if i else '1'}]\n" for i in range(12))
TRAPS: dict[str, Callable[[bytes], bytes]] = {
    "duplicate key": lambda raw: raw + b"title: Another\n",
    "no": lambda raw: raw.replace(b"[A1]", b"no"),
    "010": lambda raw: raw.replace(b"base: 10000", b"base: 010"),
    "12:30": lambda raw: raw.replace(b"base: 10000", b"base: 12:30"),
    "tab": lambda raw: raw.replace(b"  P1:", b"\tP1:"),
    "anchors that explode": lambda raw: raw + BOMB.encode(),
    "50 MB": lambda raw: raw + b"# " + b"x" * 50_000_000 + b"\n",
    "not UTF-8": lambda raw: raw.replace(b"Toy", b"To\xff"),
    "a float": lambda raw: raw.replace(b'"0.30"', b".nan"),
    "NUL": lambda raw: raw.replace(b"Toy", b"To\x00"),
}
MEANT: dict[str, Callable[[bytes], bytes]] = {
    "0,30": lambda raw: raw.replace(b'"0.30"', b'"0,30"'),
    "3e-1": lambda raw: raw.replace(b'"0.30"', b"3e-1"),
    "BOM": lambda raw: b"\xef\xbb\xbf" + raw,
    "CRLF": lambda raw: raw.replace(b"\n", b"\r\n"),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_row13_a_yaml_trap_is_an_error_with_its_line(fresh: Path, trap: str) -> None:
    path = fresh / "contracts/toy.yaml"
    path.write_bytes(TRAPS[trap](path.read_bytes()))
    said = refused(echoctl(fresh, "lint", "toy"), 2)
    assert "toy.yaml" in said


@pytest.mark.parametrize("trap", MEANT)
def test_row13_a_yaml_spelling_means_what_the_schema_means_or_is_an_error(
    fresh: Path, trap: str
) -> None:
    path = fresh / "contracts/toy.yaml"
    path.write_bytes(MEANT[trap](path.read_bytes()))
    done(echoctl(fresh, "lint", "toy"))
    shown = done(echoctl(fresh, "show", "toy"))
    assert "0.30" in shown or "0.3 " in shown or "3/10" in shown, shown


# --- row 14 --------------------------------------------------------------------------------


def test_row14_honest_differences_break_nothing(frozen: Path, decided_once: Path) -> None:
    place = frozen.parent / "una carpeta con ñandúes"
    frozen.rename(place)
    (place / HOME / "frozen/__pycache__").mkdir()
    (place / HOME / "frozen/__pycache__/x.cpython-311.pyc").write_bytes(b"compiled")
    surroundings = {"TZ": "Pacific/Apia", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    elsewhere = place.parent
    words = ("--workspace", str(place))
    done(echoctl(elsewhere, "exam", "toy", *words, **surroundings))
    assert outcomes(place) == outcomes(decided_once)
    done(echoctl(elsewhere, "verify", "toy", "--rerun", "3", *words, **surroundings))
    assert alone(place, "toy")[0] == 0


def test_row14_a_crlf_checkout_is_named_as_such(frozen: Path) -> None:
    path = frozen / HOME / "frozen/contract.yaml"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    said = done(echoctl(frozen, "exam", "toy"))
    assert "line endings only (CRLF)" in said
    code, said = alone(frozen, "toy")
    assert code == 0
    assert "only the line endings of artifacts/toy/frozen/contract.yaml differ" in said


# --- row 15 --------------------------------------------------------------------------------


def git(place: Path, *words: str) -> None:
    who = {f"GIT_{role}_{what}": "a@example.org"
           for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}  # fmt: skip
    subprocess.run(
        ["git", *words], cwd=place, check=True, capture_output=True, timeout=60,
        env={**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull},
    )  # fmt: skip


def test_row15_a_dirty_tree_is_refused_at_the_freeze_and_listed(reviewed: Path) -> None:
    git(reviewed, "init", "-q")
    (reviewed / ".gitignore").write_text("__pycache__/\n", "utf-8")
    git(reviewed, "add", ".")
    git(reviewed, "commit", "-qm", "all")
    edit(reviewed / "tracks/ivory.py", "sides)", "sides)  # hm")
    refused(echoctl(reviewed, "freeze", "toy"), 3, "the tree is dirty", "tracks/ivory.py")


def test_row15_other_package_versions_at_the_exam_are_refused_and_listed(frozen: Path) -> None:
    def older(exam: builder.Exam) -> None:
        manifest = json.loads(exam.files["artifacts/toy/frozen/manifest.json"])
        assert manifest["environment"]["distributions"]["rfc8785"]
        manifest["environment"]["distributions"]["rfc8785"] = "0.0.1"
        reseal(exam, manifest)

    # As if it had been frozen where another version was installed.
    forged(frozen, older)
    refused(echoctl(frozen, "exam", "toy"), 3, "rfc8785 is ", "was 0.0.1")
    assert not (frozen / HOME / "exam/claim.json").exists()


def test_row15_a_package_edited_under_its_old_version_is_refused_at_the_exam(frozen: Path) -> None:
    def edited(exam: builder.Exam) -> None:
        manifest = json.loads(exam.files["artifacts/toy/frozen/manifest.json"])
        assert len(manifest["environment"]["code"]["rfc8785"]) == 64
        manifest["environment"]["code"]["rfc8785"] = "0" * 64
        reseal(exam, manifest)

    # As if the installed files had been others when it was frozen.
    forged(frozen, edited)
    refused(echoctl(frozen, "exam", "toy"), 3, "rfc8785", "has other code than it had")
    assert not (frozen / HOME / "exam/claim.json").exists()


# --- row 16 --------------------------------------------------------------------------------


def test_row16_everything_made_again_is_told_by_the_grade_and_caught_by_a_kept_receipt(
    decided: Path, tmp_path: Path
) -> None:
    exam = builder.Exam.read(decided)
    kept = f"echoctl-freeze toy {exam.find('freeze')['data']['manifest']}"
    again = prepared(tmp_path / "again")
    edit(again / "contracts/toy.yaml", '"0.30"', '"0.31"')
    done(echoctl(again, "preflight", "toy"))
    done(echoctl(again, "review", "toy", "--reviewer", "somebody else"))
    done(echoctl(again, "freeze", "toy"))
    done(echoctl(again, "exam", "toy"))
    said = done(echoctl(again, "verify", "toy"))
    assert "L0" in said
    assert "self-attested" in said
    assert "proved" not in said
    refused(echoctl(again, "verify", "toy", "--receipt", kept), 5, "kept outside says")
    assert alone(again, "toy", "--receipt", kept)[0] == 5


def test_a_bundle_is_verified_by_its_own_file_with_nothing_but_python(
    decided: Path, tmp_path: Path
) -> None:
    done(echoctl(decided, "bundle", "toy", "--to", str(tmp_path / "toy.zip")))
    shutil.unpack_archive(tmp_path / "toy.zip", tmp_path / "out")
    (verifier,) = (tmp_path / "out").rglob("verify.py")
    for place in (verifier.parent, tmp_path / "toy.zip"):
        run: Any = subprocess.run(
            [sys.executable, "-I", "-S", str(verifier), str(place)], cwd=tmp_path,
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert run.returncode == 0, run.stdout + run.stderr
        assert "verdict GREEN" in run.stdout
