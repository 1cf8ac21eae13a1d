"""Attacks on the artefacts, with nothing but the artefacts and the verifier.

The forger is diligent: where it says *consistently*, every hash and link after the forged place
was made again, as anybody with this repository could do.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import exam_builder as builder
import pytest
from attack_kit import VERDICT, alone, caught

HOME = "artifacts/toy/"


@pytest.fixture(scope="module")
def sealed() -> builder.Exam:
    return builder.build()


@pytest.fixture
def exam(sealed: builder.Exam) -> builder.Exam:
    return deepcopy(sealed)


def rows_of(exam: builder.Exam, job: str) -> list[Any]:
    data = gzip.decompress(exam.files[f"{HOME}exam/jobs/{job}.jsonl.gz"])
    return [json.loads(line) for line in data.splitlines()]


def replace_outcome(exam: builder.Exam, job: str, lines: list[Any], *, receipt: bool) -> None:
    """Put other lines in a job's outcome; with `receipt`, make its hashes again, consistently."""
    data = b"".join(builder.dump(line) + b"\n" for line in lines)
    raw_outcome(exam, job, data, receipt=receipt)


def raw_outcome(exam: builder.Exam, job: str, data: bytes, *, receipt: bool) -> None:
    exam.files[f"{HOME}exam/jobs/{job}.jsonl.gz"] = builder.packed(data)
    if receipt:
        for line in exam.ledger:
            if line["event"] == "done" and line["data"]["job"] == job:
                line["data"]["outcome"] = builder.role("outcome", data)
        recount(exam)
        exam.relink()


def recount(exam: builder.Exam) -> None:
    """Make the hash of all results again."""
    done = [line["data"] for line in exam.ledger if line["event"] == "done"]
    pairs = sorted([data["job"], data["outcome"]] for data in done)
    exam.find("complete")["data"]["results"] = builder.role("results", builder.dump(pairs))


def edit_json(exam: builder.Exam, name: str, change: Callable[[Any], None]) -> bytes:
    value = json.loads(exam.files[name])
    change(value)
    end = b"\n" if exam.files[name].endswith(b"\n") else b""
    exam.files[name] = builder.dump(value) + end
    return exam.files[name]


def reverdict(exam: builder.Exam) -> None:
    """Record the verdict file's hash again, consistently."""
    data = exam.files[HOME + "verdict.json"]
    exam.find("verdict")["data"]["verdict"] = builder.role("verdict", data)
    exam.relink()


# --- row 1: the contract -------------------------------------------------------------------


def test_row01_an_edited_sealed_contract_is_named(exam: builder.Exam, tmp_path: Path) -> None:
    exam.files[HOME + "frozen/contract.yaml"] += b"# and one more thing\n"
    caught(exam, tmp_path, "frozen/contract.yaml was changed: its hash is ")


def test_row01_a_contract_edited_with_its_recorded_hash_breaks_the_freeze_id(
    exam: builder.Exam, tmp_path: Path
) -> None:
    name = HOME + "frozen/contract.json"
    data = edit_json(exam, name, lambda terms: terms["verdict"].update(green=["P2"]))
    edit_json(
        exam, HOME + "frozen/manifest.json", lambda m: m.update(contract_json=builder.sha(data))
    )
    caught(exam, tmp_path, "frozen/manifest.json was changed")


def test_row01_a_contract_edited_with_the_freeze_line_too_breaks_the_claim(
    exam: builder.Exam, tmp_path: Path
) -> None:
    data = edit_json(
        exam, HOME + "frozen/contract.json", lambda terms: terms["verdict"].update(green=["P2"])
    )
    manifest = edit_json(
        exam, HOME + "frozen/manifest.json", lambda m: m.update(contract_json=builder.sha(data))
    )
    freeze = builder.role("manifest", manifest)
    exam.find("freeze")["data"]["manifest"] = freeze
    exam.find("claim")["data"]["freeze"] = freeze
    exam.relink()
    caught(exam, tmp_path, "the claim in claim.json is of another freeze")


def test_row01_a_contract_that_decides_by_something_else_than_people_read_is_told(
    tmp_path: Path,
) -> None:
    kinder = builder.contract(verdict={"green": ["P2"]})
    forged = builder.build(kinder, reads_as=builder.contract())
    caught(forged, tmp_path, 'at verdict.green the YAML says ["P1", "P2"]')


# --- row 2: the code -----------------------------------------------------------------------


def test_row02_changed_code_in_the_sealed_zip_is_named_file_by_file(
    exam: builder.Exam, tmp_path: Path
) -> None:
    code = {"__main__.py": builder.WORKER, "toy.py": b"# toy, with a better idea\n"}
    exam.files[HOME + "frozen/code.zip"] = builder.zipped(code)
    caught(exam, tmp_path, "toy.py in the code zip was changed")


def test_row02_a_changed_zip_with_its_hashes_made_again_breaks_the_freeze_id(
    exam: builder.Exam, tmp_path: Path
) -> None:
    code = {"__main__.py": builder.WORKER, "toy.py": b"# toy, with a better idea\n"}
    data = exam.files[HOME + "frozen/code.zip"] = builder.zipped(code)
    listed = {name: builder.sha(content) for name, content in code.items()}
    edit_json(
        exam, HOME + "frozen/manifest.json",
        lambda m: m.update(code={"zip": builder.sha(data), "files": listed}),
    )  # fmt: skip
    caught(exam, tmp_path, "frozen/manifest.json was changed")


def test_row02_a_memory_written_by_hand_before_the_freeze_is_exposed_by_training_again(
    tmp_path: Path,
) -> None:
    exam = builder.build(by_hand="memory-03")
    code, _ = alone(exam.write(tmp_path), "toy")
    assert code == 0, "it was sealed with every hash right: only training tells"
    words = ("--rerun", "7")
    caught(exam, tmp_path, "training job train-memory-03 gives another memory-03", words=words)


# --- row 3: twice --------------------------------------------------------------------------


def test_row03_a_second_claim_in_the_ledger_is_no_lawful_move(
    exam: builder.Exam, tmp_path: Path
) -> None:
    again = [line for line in exam.ledger if line["event"] in ("claim", "start", "done")]
    exam.ledger[-3:-3] = deepcopy(again)
    exam.relink()
    caught(exam, tmp_path, "'claim' cannot come here", "'claim' is recorded more than once")


def test_row03_deleted_results_are_missing_evidence_not_free_slots(
    exam: builder.Exam, tmp_path: Path
) -> None:
    del exam.files[f"{HOME}exam/jobs/03-a1-learned.jsonl.gz"]
    caught(exam, tmp_path, "exam/jobs/03-a1-learned.jsonl.gz is missing")


def test_row03_a_second_run_under_a_new_claim_file_does_not_fit_the_first_ledger(
    exam: builder.Exam, tmp_path: Path
) -> None:
    edit_json(exam, HOME + "exam/claim.json", lambda claim: claim.update(nonce="f" * 32))
    caught(exam, tmp_path, "exam/claim.json was changed")


# --- row 4: the tail -----------------------------------------------------------------------


def test_row04_a_ledger_cut_anywhere_never_verifies(exam: builder.Exam) -> None:
    whole = exam.ledger
    for cut in range(len(whole)):
        exam.ledger = whole[:cut]
        exam.save()
        report = exam.verified()
        assert report.failed, f"cut before line {cut + 1}: {whole[cut]['event']}"
        assert not VERDICT.search(report.canonical_text)


def test_row04_a_tail_cut_before_the_claim_leaves_a_claim_nobody_recorded(
    exam: builder.Exam, tmp_path: Path
) -> None:
    claim = next(i for i, line in enumerate(exam.ledger) if line["event"] == "claim")
    exam.ledger = exam.ledger[:claim]
    exam.save()
    caught(exam, tmp_path, "exam/claim.json is here, the ledger has no 'claim': its tail was cut")


def test_row04_a_better_tail_does_not_fit_the_result_files(
    exam: builder.Exam, tmp_path: Path
) -> None:
    better = builder.build(harm_of=lambda arm, *_: 0 if arm == "learned" else 9)
    cut = next(i for i, line in enumerate(exam.ledger) if line["event"] == "start")
    exam.ledger[cut:] = better.ledger[cut:]
    exam.relink()
    caught(exam, tmp_path, "exam/jobs/01-a1-learned.jsonl.gz was changed")


# --- row 5: other values, other seeds ------------------------------------------------------


def test_row05_a_job_recorded_again_is_refused(exam: builder.Exam, tmp_path: Path) -> None:
    done = next(i for i, line in enumerate(exam.ledger) if line["event"] == "done")
    again = deepcopy(exam.ledger[done - 1 : done + 1])
    again[0]["data"]["attempt"] = again[1]["data"]["attempt"] = 2
    exam.ledger[done + 1 : done + 1] = again
    exam.relink()
    caught(exam, tmp_path, "job 01-a1-learned is recorded again")


def test_row05_the_best_worlds_shown_as_the_first_carry_the_wrong_seeds(
    exam: builder.Exam, tmp_path: Path
) -> None:
    lines = rows_of(exam, "02-a1-learned")
    lines[1], lines[2] = [*lines[1][:3], 0, *lines[2][4:]], [*lines[2][:3], 1, *lines[1][4:]]
    replace_outcome(exam, "02-a1-learned", lines, receipt=True)
    caught(exam, tmp_path, "episode 0 has seed 2000007, not the sealed 2000006")


def test_row05_values_relabelled_with_the_right_seeds_are_exposed_by_playing_again(
    exam: builder.Exam, tmp_path: Path
) -> None:
    lines = rows_of(exam, "02-a2-shuffled")
    hurt = lines[1][6]
    lines[1][6:], lines[2][6:] = [hurt + 1, 9 - hurt], [lines[2][6] - 1, 11 - lines[2][6]]
    replace_outcome(exam, "02-a2-shuffled", lines, receipt=True)
    code, _ = alone(exam.write(tmp_path), "toy")
    assert code == 0, "sums are the same and every hash was made again: only playing tells"
    caught(exam, tmp_path, "job 02-a2-shuffled gives other bytes", words=("--rerun", "42"))


# --- row 6: what is left out ---------------------------------------------------------------


def without(exam: builder.Exam, job: str) -> None:
    exam.ledger = [line for line in exam.ledger if line["data"].get("job") != job]
    del exam.files[f"{HOME}exam/jobs/{job}.jsonl.gz"]
    exam.find("complete")["data"]["jobs"] -= 1


def test_row06_a_dropped_job_is_missed(exam: builder.Exam, tmp_path: Path) -> None:
    without(exam, "05-a1-empty")
    recount(exam)
    exam.relink()
    caught(exam, tmp_path, "1 jobs were never received", "05-a1-empty", "an exam excludes none")


def test_row06_a_job_declared_crashed_is_no_exclusion(exam: builder.Exam, tmp_path: Path) -> None:
    without(exam, "05-a1-empty")
    place = exam.ledger.index(exam.find("complete"))
    data = {"job": "05-a1-empty", "kind": "crashed", "text": "could not be played"}
    exam.ledger.insert(place, {**exam.ledger[place], "event": "incident", "data": data})
    recount(exam)
    exam.relink()
    caught(exam, tmp_path, "1 jobs were never received", "an exam excludes none")


def test_row06_a_job_left_out_of_the_sealed_list_too_breaks_the_freeze_id(
    exam: builder.Exam, tmp_path: Path
) -> None:
    without(exam, "05-a1-empty")

    def shorter(manifest: Any) -> None:
        del manifest["jobs"]["ids"]["05-a1-empty"]
        manifest["jobs"]["count"] -= 1

    edit_json(exam, HOME + "frozen/manifest.json", shorter)
    exam.find("freeze")["data"]["jobs"] -= 1
    recount(exam)
    exam.relink()
    caught(exam, tmp_path, "frozen/manifest.json was changed")


# --- row 7: changing the rule after looking ------------------------------------------------


def test_row07_an_amendment_after_the_freeze_is_no_lawful_move(
    exam: builder.Exam, tmp_path: Path
) -> None:
    place = exam.ledger.index(exam.find("claim")) + 20
    data = {"from": "0" * 64, "to": "1" * 64, "why": "better so", "file": "1.diff", "diff": ""}
    exam.ledger.insert(place, {**exam.ledger[place], "event": "amendment", "data": data})
    exam.relink()
    caught(exam, tmp_path, "'amendment' cannot come here")


def test_row07_a_verdict_graded_with_another_alpha_or_margin_is_recomputed(
    exam: builder.Exam, tmp_path: Path
) -> None:
    def kinder(verdict: Any) -> None:
        ratio, tests = verdict["predictions"][0]["checks"]
        tests["alpha"] = {"exact": "1/2", "decimal": "0.5"}
        ratio["passed"] = False

    edit_json(exam, HOME + "verdict.json", kinder)
    reverdict(exam)
    caught(
        exam, tmp_path, "at predictions.P1.checks[0].passed; recomputed: true", "checks[1].alpha"
    )


def test_row07_stopping_at_a_good_interim_look_is_an_exam_without_all_its_jobs(
    exam: builder.Exam, tmp_path: Path
) -> None:
    first = [line for line in exam.ledger if line["event"] == "done"][:20]
    kept = {line["data"]["job"] for line in first}
    for job in {line["data"]["job"] for line in exam.ledger if line["event"] == "done"} - kept:
        without(exam, job)
    recount(exam)
    exam.relink()
    caught(exam, tmp_path, "22 jobs were never received")


# --- row 8: results and verdicts edited by hand --------------------------------------------


def test_row08_a_result_edited_by_hand_is_named(exam: builder.Exam, tmp_path: Path) -> None:
    lines = rows_of(exam, "01-a1-learned")
    lines[1][6] = 0
    replace_outcome(exam, "01-a1-learned", lines, receipt=False)
    caught(exam, tmp_path, "exam/jobs/01-a1-learned.jsonl.gz was changed")


def test_row08_a_result_edited_with_its_receipt_breaks_the_hash_of_all_results(
    exam: builder.Exam, tmp_path: Path
) -> None:
    lines = rows_of(exam, "01-a1-learned")
    lines[1][6] = 0
    results = exam.find("complete")["data"]["results"]
    replace_outcome(exam, "01-a1-learned", lines, receipt=True)
    exam.find("complete")["data"]["results"] = results
    exam.relink()
    caught(exam, tmp_path, "the results' hash is ")


def test_row08_a_result_edited_with_every_hash_does_not_give_the_recorded_verdict(
    exam: builder.Exam, tmp_path: Path
) -> None:
    lines = rows_of(exam, "01-a1-learned")
    lines[1][6] = 0
    replace_outcome(exam, "01-a1-learned", lines, receipt=True)
    caught(exam, tmp_path, "the verdict says ", "arm_total; recomputed: ")


def test_row08_an_edited_verdict_file_is_named(exam: builder.Exam, tmp_path: Path) -> None:
    edit_json(exam, HOME + "verdict.json", lambda verdict: verdict.update(labels=["better"]))
    caught(exam, tmp_path, "verdict.json was changed")


def test_row08_a_verdict_edited_with_its_hash_is_recomputed(
    exam: builder.Exam, tmp_path: Path
) -> None:
    def turn(verdict: Any) -> None:
        verdict["predictions"][2]["passed"] = True

    edit_json(exam, HOME + "verdict.json", turn)
    reverdict(exam)
    caught(exam, tmp_path, "at predictions.P3.passed; recomputed: false")


def test_row08_two_swapped_result_files_are_named(exam: builder.Exam, tmp_path: Path) -> None:
    one, other = (f"{HOME}exam/jobs/0{unit}-a1-learned.jsonl.gz" for unit in (1, 2))
    exam.files[one], exam.files[other] = exam.files[other], exam.files[one]
    caught(exam, tmp_path, "01-a1-learned.jsonl.gz is not of this job", "02-a1-learned.jsonl.gz")


# --- row 9: strange files ------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["frozen/extra.py", "frozen/artefacts/memory-99.gz", "exam/jobs/99-a1-learned.jsonl.gz",
     "exam/claim2.json", "notes.txt"],
)  # fmt: skip
def test_row09_a_file_that_nobody_sealed_is_named(
    exam: builder.Exam, tmp_path: Path, name: str
) -> None:
    exam.files[HOME + name] = b"?"
    caught(exam, tmp_path, name.rpartition("/")[2].removesuffix(".jsonl.gz"))


def test_row09_a_symlink_is_no_evidence(exam: builder.Exam, tmp_path: Path) -> None:
    place, name = tmp_path / "ws", HOME + "verdict.json"
    exam.write(place)
    (tmp_path / "elsewhere.json").write_bytes(exam.files.pop(name))
    (place / name).unlink()
    (place / name).symlink_to(tmp_path / "elsewhere.json")
    caught(exam, place, "verdict.json is no plain file")


def test_row09_a_folder_behind_a_symlink_is_no_evidence(exam: builder.Exam, tmp_path: Path) -> None:
    place = exam.write(tmp_path / "ws")
    (place / HOME / "exam").rename(tmp_path / "exam")
    (place / HOME / "exam").symlink_to(tmp_path / "exam")
    code, said = alone(place, "toy")
    assert code == 5
    assert "artifacts/toy/exam is no plain file" in said


def test_row09_a_newline_in_a_name_is_no_plain_name(exam: builder.Exam, tmp_path: Path) -> None:
    exam.files[HOME + "dev/innocent\nfiles: ran ok"] = b"?"
    said = caught(exam, tmp_path, "dev/innocent?files: ran ok is no plain file")
    assert "\nfiles: ran ok" not in said


# --- row 10: clocks ------------------------------------------------------------------------


def test_row10_a_clock_that_runs_back_unsaid_is_an_error(
    exam: builder.Exam, tmp_path: Path
) -> None:
    exam.find("freeze")["time"] = "2020-01-01T00:00:00Z"
    exam.relink()
    caught(exam, tmp_path, "the clock ran back from 2026-12-03T")


def test_row10_order_comes_from_links_whatever_the_dates_say(
    exam: builder.Exam, tmp_path: Path
) -> None:
    frozen = exam.ledger.index(exam.find("freeze"))
    claimed = exam.ledger.index(exam.find("claim"))
    lines = exam.ledger
    lines[frozen], lines[claimed] = lines[claimed], lines[frozen]
    lines[frozen]["time"], lines[claimed]["time"] = lines[claimed]["time"], lines[frozen]["time"]
    exam.relink()
    caught(exam, tmp_path, "'claim' cannot come here")


# --- row 11: torn and half-written files ---------------------------------------------------


def test_row11_a_torn_last_line_is_named(exam: builder.Exam, tmp_path: Path) -> None:
    exam.files[HOME + "ledger.jsonl"] = exam.files[HOME + "ledger.jsonl"][:-20]
    caught(exam, tmp_path, "ledger.jsonl: line 99 has no end")


def test_row11_a_half_written_result_is_not_taken_for_a_finished_one(
    exam: builder.Exam, tmp_path: Path
) -> None:
    name = f"{HOME}exam/jobs/01-a1-empty.jsonl.gz"
    exam.files[name] = exam.files[name][: len(exam.files[name]) // 2]
    caught(exam, tmp_path, "01-a1-empty.jsonl.gz is not as it was written")


# --- row 12: values that are no integers ---------------------------------------------------


@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "1e400", "1.0", "true", '"7"', "null", "9007199254740992", "-0"]
)
def test_row12_a_value_that_is_no_integer_is_refused_with_every_hash_made_again(
    exam: builder.Exam, tmp_path: Path, value: str
) -> None:
    head, first, *rest = rows_of(exam, "04-a2-empty")
    row = builder.dump([*first[:6], "HERE", *first[7:]]).replace(b'"HERE"', value.encode())
    data = b"".join(builder.dump(line) + b"\n" for line in rest)
    data = builder.dump(head) + b"\n" + row + b"\n" + data
    raw_outcome(exam, "04-a2-empty", data, receipt=True)
    caught(exam, tmp_path, "04-a2-empty.jsonl.gz is not as it was written")


def test_row12_a_measure_missing_in_one_unit_is_refused_with_every_hash_made_again(
    exam: builder.Exam, tmp_path: Path
) -> None:
    head, *rows, end = rows_of(exam, "04-a2-empty")
    head["columns"].remove("harm")
    replace_outcome(
        exam, "04-a2-empty", [head, *([*row[:6], *row[7:]] for row in rows), end], receipt=True
    )
    caught(exam, tmp_path, "04-a2-empty.jsonl.gz is not of this job, or names other columns")


# --- row 16: everything made again ---------------------------------------------------------


def test_row16_a_chain_rewritten_as_a_whole_is_caught_only_by_a_receipt_kept_outside(
    exam: builder.Exam, tmp_path: Path
) -> None:
    kept = [
        f"echoctl-{kind} toy {exam.find(kind)['data'][field]}"
        for kind, field in (("freeze", "manifest"), ("claim", "claim"))
    ]
    forged = builder.build(
        builder.contract(title="Toy, after looking"),
        harm_of=lambda arm, *_: 0 if arm == "learned" else 9,
    )
    code, said = alone(forged.write(tmp_path), "toy")
    assert code == 0
    assert "evidence L0: self-attested; whoever rewrites everything here" in said
    caught(forged, tmp_path, "the freeze receipt kept outside says ", words=("--receipt", kept[0]))
    caught(forged, tmp_path, "the claim receipt kept outside says ", words=("--receipt", kept[1]))
    code, _ = alone(tmp_path, "toy", "--at-least", "L1")
    assert code == 1
