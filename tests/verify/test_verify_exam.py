"""A whole exam under the second opinion: what it accepts, says and compares."""

from __future__ import annotations

import ast
import json
import string
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import exam_builder as builder
import pytest

from echoctl import verify

VERIFIER = Path(verify.__file__)


@pytest.fixture(scope="module")
def exam() -> builder.Exam:
    return builder.build()


def alone(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the file itself with an interpreter that can import nothing but the standard library."""
    return subprocess.run(
        [sys.executable, "-I", "-S", VERIFIER, *words],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_an_honest_exam_passes_every_check_that_needs_nobody_outside(exam: builder.Exam) -> None:
    report = exam.verified()
    states = {check.name: check.state for check in report.case.checks.values()}
    outside = {"rerun", "receipt", "witness", "git", "ssh", "time"}
    assert {name for name, state in states.items() if state != "ok"} == outside
    assert (report.case.colour, report.case.grade) == ("green", "L0")


def test_a_red_exam_is_verified_as_loudly_as_a_green_one() -> None:
    red = builder.build(harm_of=lambda arm, unit, regime, family, seed: 5)
    report = red.verified()
    assert report.decided
    assert report.case.colour == "red"
    assert verify.exit_code(report, expect=None, at_least="L0", rerun=0)[0] == 0


def test_the_file_runs_alone_with_the_standard_library_only(
    exam: builder.Exam, tmp_path: Path
) -> None:
    run = alone(exam.write(tmp_path), "toy")
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stderr == ""
    assert "verified · verdict GREEN" in run.stdout
    assert run.stdout.endswith("grade L0\nverdict green\nfailures 0\n\n")


def test_a_zip_and_a_tar_bundle_are_read_without_unpacking_them(
    exam: builder.Exam, tmp_path: Path
) -> None:
    exam.write(tmp_path / "toy-bundle")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as bundle:
        for name, data in exam.files.items():
            bundle.writestr(name, data)
    with tarfile.open(tmp_path / "b.tar.gz", "w:gz") as bundle:
        bundle.add(tmp_path / "toy-bundle", "toy-bundle")
    for name in ("b.zip", "b.tar.gz"):
        run = alone(tmp_path / name)
        assert run.returncode == 0, f"{name}: {run.stdout}{run.stderr}"
        assert "verdict GREEN" in run.stdout


def test_the_canonical_text_is_the_same_in_every_language(
    exam: builder.Exam, tmp_path: Path
) -> None:
    exam.write(tmp_path)
    english, spanish = alone(tmp_path), alone(tmp_path, "--lang", "es")
    assert "sin comprobar" in spanish.stdout
    assert "veredicto VERDE" in spanish.stdout
    start = "echoctl-verification 1\n"
    assert english.stdout.partition(start)[2] == spanish.stdout.partition(start)[2] != ""


def test_every_sentence_takes_the_same_facts_in_both_languages() -> None:
    for key, (english, spanish) in verify.WORDS.items():
        fields = [
            {name for _, name, _, _ in string.Formatter().parse(text) if name}
            for text in (english, spanish)
        ]
        assert fields[0] == fields[1], key


def test_every_sentence_that_the_file_says_is_written_and_gets_its_facts() -> None:
    said = set()
    for call in ast.walk(ast.parse(VERIFIER.read_text("utf-8"))):
        if not isinstance(call, ast.Call) or not call.args:
            continue
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        key = call.args[0]
        if name not in ("Broken", "NotChecked", "wrong", "note", "say"):
            continue
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            given = {keyword.arg for keyword in call.keywords if keyword.arg}
            wanted = {f for _, f, _, _ in string.Formatter().parse(verify.WORDS[key.value][0]) if f}
            assert name == "say" or wanted <= given, f"{key.value}: {wanted - given} is not given"
            said.add(key.value)
    assert len(said) > 60
    assert {f"#{name}" for name, _, _ in verify.CHECKS} <= set(verify.WORDS)
    assert {key for key in verify.WORDS if key[0] not in "#."} <= said | {"needs"}


def test_what_was_not_checked_is_named_and_is_no_pass(exam: builder.Exam) -> None:
    text = exam.verified().canonical_text
    assert "rerun: not checked (rerun_unasked)\n" in text
    assert "git: not checked (no_git)\n" in text
    assert "ran ok (" not in text


def test_json_names_every_check_with_its_state(exam: builder.Exam, tmp_path: Path) -> None:
    run = alone(exam.write(tmp_path), "--json")
    answer = json.loads(run.stdout)
    (found,) = answer["contracts"]
    assert answer["exit"] == 0
    assert [check["name"] for check in found["checks"]] == [name for name, _, _ in verify.CHECKS]
    assert found["colour"] == "green"
    assert found["summary"] == builder.sha(found["text"].encode())


def test_a_colour_or_a_grade_that_was_not_expected_ends_with_one(
    exam: builder.Exam, tmp_path: Path
) -> None:
    exam.write(tmp_path)
    assert alone(tmp_path, "--expect", "green").returncode == 0
    assert alone(tmp_path, "--expect", "red").returncode == 1
    assert alone(tmp_path, "--at-least", "L1").returncode == 1


def test_what_is_no_evidence_ends_with_two_and_a_sentence(
    exam: builder.Exam, tmp_path: Path
) -> None:
    (tmp_path / "noise").write_bytes(b"noise")
    exam.write(tmp_path / "ws")
    for words in ((tmp_path / "absent",), (tmp_path / "noise",), (tmp_path / "ws", "other")):
        run = alone(*words)
        assert run.returncode == 2
        assert run.stderr.startswith("usage (2): ")
        assert "Traceback" not in run.stderr


def test_an_exam_that_is_under_way_has_no_verdict_and_no_contradiction(tmp_path: Path) -> None:
    early = builder.build(decided=False)
    run = alone(early.write(tmp_path), "toy")
    assert run.returncode == 1
    assert "the exam has 42 of 42 jobs" in run.stdout
    assert "GREEN" not in run.stdout
    assert "RED" not in run.stdout.replace("FAILED", "")


def test_jobs_drawn_by_the_results_play_again_to_the_same_bytes(exam: builder.Exam) -> None:
    report = exam.verified(rerun=4)
    assert report.case.checks["rerun"].state == "ok"
    chosen = verify.drawn(report.case, report.case.jobs, 4)
    assert len(set(chosen)) == 4
    report.case.results = "0" * 64
    assert verify.drawn(report.case, report.case.jobs, 4) != chosen


def test_training_plays_again_to_the_very_memory_that_was_sealed(exam: builder.Exam) -> None:
    report = exam.verified(rerun=2)
    (note,) = [facts for key, facts in report.case.checks["rerun"].said if key == "rerun"]
    assert str(note["jobs"]).count("train-memory-") == 2


def test_only_a_reported_arm_may_say_that_its_answers_came_from_outside() -> None:
    arms = [{"id": "model", "kind": "reported"}, {"id": "new", "kind": "treatment"}]
    table = verify.Table({"arms": arms})
    said = {verify.OUTSIDE: "0" * 64}
    table.digests = {"a": ("model", said), "b": ("new", said), "c": ("model", {})}
    assert verify.unrepeatable(table) == {"a"}


def test_a_rerun_that_cannot_start_is_not_a_pass(exam: builder.Exam) -> None:
    report = exam.verified(rerun=1, python="/no/such/python")
    assert report.case.checks["rerun"].state == "not checked"
    assert verify.exit_code(report, expect=None, at_least="L0", rerun=1)[0] == 1


def test_honest_differences_do_not_break_the_seal(exam: builder.Exam, tmp_path: Path) -> None:
    """Compiled tests, a CRLF checkout of text files, a path with spaces and accents."""
    place = exam.write(tmp_path / "mi carpeta con ñandú")
    cache = place / "artifacts/toy/frozen/tests/__pycache__"
    cache.mkdir()
    (cache / "test_toy.cpython-311.pyc").write_bytes(b"compiled")
    for name in exam.files:
        if not name.endswith((".gz", ".zip")):
            data = (place / name).read_bytes()
            (place / name).write_bytes(data.replace(b"\n", b"\r\n"))
    run = alone(place, "toy")
    assert run.returncode == 0, run.stdout
    assert "only the line endings of artifacts/toy/frozen/contract.yaml differ" in run.stdout


def test_seeds_of_another_contract_that_overlap_are_noticed() -> None:
    exam = builder.build()
    other = {"blocks": {"exam": {"base": 2_000_040, "size": 10, "family": {}}}}
    exam.files["seeds/other.json"] = builder.dump(other)
    assert exam.verified().case.checks["disjoint"].state == "failed"
    other["blocks"]["exam"]["base"] = 2_000_042
    exam.files["seeds/other.json"] = builder.dump(other)
    assert exam.verified().case.checks["disjoint"].state == "ok"


def test_memory_that_was_destroyed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builder.memory

    def destroyed(name: str, *_: int) -> tuple[bytes, list[object]]:
        data, (size, prev) = real(name)
        line = builder.dump({"destroyed": 1, "n": size, "prev": prev})
        return data + line + b"\n", [size + 1, builder.role("memory", line)]

    monkeypatch.setattr(builder, "memory", destroyed)
    report = builder.build().verified()
    assert [check.name for check in report.failed] == ["memories"]


def test_a_chain_whose_head_was_not_sealed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builder.memory
    monkeypatch.setattr(builder, "memory", lambda name, *_: (real(name)[0], None))
    report = builder.build().verified()
    assert [check.name for check in report.failed] == ["memories"]
    assert report.failed[0].said[0][0] == "headless"


@pytest.mark.parametrize(
    ("colour", "same", "state"),
    [("green", True, "ok"), ("red", True, "failed"), ("green", False, "failed")],
)
def test_what_a_track_rests_on_is_compared(colour: str, same: bool, state: str) -> None:
    rests = {"track": "first", "verdict": "green", "artefacts": True}
    exam = builder.build(builder.contract(requires=[rests]))
    assert exam.verified().case.checks["requires"].reason is not None
    sealed = json.loads(exam.files["artifacts/toy/frozen/manifest.json"])["artefacts"]
    if not same:
        sealed["memory-03"] = {"sha256": "0" * 64, "head": None}
    exam.files["artifacts/first/ledger.jsonl"] = (
        builder.dump({"event": "verdict", "data": {"colour": colour}}) + b"\n"
    )
    exam.files["artifacts/first/frozen/manifest.json"] = builder.dump({"artefacts": sealed}) + b"\n"
    assert exam.verified().case.checks["requires"].state == state
