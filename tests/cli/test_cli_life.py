from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

from commands import Run

from echoctl.cli import main


def test_a_draft_is_listed_with_its_title_and_next_step(run: Run, toy: Path) -> None:
    ran = run("list", "-w", toy)
    assert ran.code == 0
    assert ran.out.split() == ["toy", "Toy", "draft", "echoctl", "preflight", "toy", "1", "draft"]
    assert run("list", "-w", toy, "--json").json["tracks"][0]["state"] == "draft"


def test_an_empty_workspace_says_how_to_begin(run: Run, tmp_path: Path) -> None:
    (tmp_path / "contracts").mkdir()
    ran = run("list", "-w", tmp_path)
    assert ran.code == 0
    assert "echoctl new" in ran.out


def test_a_contract_is_shown_whole_and_in_the_language_asked_for(run: Run, toy: Path) -> None:
    ran = run("show", "toy", "-w", toy)
    for word in ("Toy", "aprendida", "P1", "0.3", "Wilcoxon", "anything about real dice"):
        assert word in ran.out
    assert "Lo que no dice" in run("show", "toy", "-w", toy, "--lang", "es").out
    assert run("show", "toy", "-w", toy, "--json").json["schema"] == "echoctl/1"


def test_lint_says_what_each_test_can_afford(run: Run, toy: Path) -> None:
    ran = run("lint", "toy", "-w", toy)
    assert ran.code == 0
    assert "3/2^6" in ran.out
    assert run("lint", "toy", "-w", toy, "--json").json["ok"] is True
    assert run("lint", toy / "contracts" / "toy.yaml").code == 0


def test_lint_ends_with_1_for_a_design_that_cannot_pass(run: Run, toy: Path) -> None:
    path = toy / "contracts" / "toy.yaml"
    path.write_text(path.read_text().replace('alpha: "0.05"', 'alpha: "0.001"'))
    ran = run("lint", "toy", "-w", toy)
    assert ran.code == 1
    assert "cannot pass" in ran.out


def test_lint_of_everything_tells_the_broken_from_the_sound(run: Run, toy: Path) -> None:
    (toy / "contracts" / "bad.yaml").write_text("id: bad\nid: worse\n")
    ran = run("lint", "-w", toy)
    assert ran.code == 2
    assert "nothing to object" in ran.out
    assert "bad.yaml:2:1: " in ran.err
    said = run("lint", "-w", toy, "--json")
    assert [sorted(one)[0] for one in said.json] == ["findings", "error"]


def test_development_is_marked_and_decides_nothing(run: Run, toy: Path) -> None:
    ran = run("dev", "toy", "--units", 3, "-w", toy)
    assert ran.code == 0
    assert "DEVELOPMENT · decides nothing" in ran.out
    assert "development · A1" in ran.out
    assert "ceiling  ✓ harm: oraculo" in ran.out
    assert ran.err != ""
    assert run("list", "-w", toy, "--json").json["tracks"][0]["state"] == "draft"


def test_quiet_leaves_only_the_result(run: Run, toy: Path) -> None:
    assert run("dev", "toy", "--units", 1, "-w", toy, "--quiet").err == ""


def test_a_rehearsal_goes_all_the_way_and_leaves_nothing_behind(run: Run, toy: Path) -> None:
    before = sorted(toy.rglob("*"))
    ran = run("rehearse", "toy", "--units", 6, "-w", toy, "--json")
    assert ran.code == 0
    assert ran.json["mark"] == "REHEARSAL"
    assert ran.json["exam"]["verdict"]["mark"] == "REHEARSAL"
    assert [p for p in sorted(toy.rglob("*")) if "__pycache__" not in p.parts] == before


def test_a_kept_rehearsal_has_a_page_that_says_what_it_is(run: Run, toy: Path) -> None:
    kept = toy.parent / "kept"
    ran = run("rehearse", "toy", "--units", 6, "--keep", kept, "-w", toy)
    assert ran.code == 0
    assert "REHEARSAL" in ran.out
    page = (kept / "docs" / "results" / "toy.html").read_text()
    assert "REHEARSAL" in page
    assert str(kept / "docs" / "results" / "toy.html") in ran.out.replace("\n", "")


def test_expect_turns_another_colour_into_1_and_changes_nothing_else(
    run: Run, decided: Path
) -> None:
    green = run("verify", "toy", "--expect", "green", "-w", decided)
    red = run("verify", "toy", "--expect", "red", "-w", decided)
    assert (green.code, red.code) == (0, 1)
    assert green.out.splitlines()[0] == red.out.splitlines()[0]


def test_findings_are_recorded_answered_and_counted(run: Run, checked: Path) -> None:
    assert "1 blocking" in run("status", "toy", "-w", checked).out
    ran = run("review", "toy", "--answer", "1.1", "--action", "It stops now.", "-w", checked)
    assert ran.code == 0
    assert "1 answered" in run("status", "toy", "-w", checked).out


def test_a_review_can_be_a_file(run: Run, checked: Path, tmp_path: Path) -> None:
    file = tmp_path / "review.yaml"
    file.write_text("reviewer: ann\nfindings:\n  - {text: A doubt., blocking: false}\n")
    ran = run("review", "toy", "--file", file, "-w", checked, "--json")
    assert ran.code == 0
    assert ran.json["reviewer"] == "ann"
    assert ran.json["findings"][0]["text"] == "A doubt."


def test_an_amendment_shows_the_difference(run: Run, checked: Path) -> None:
    path = checked / "contracts" / "toy.yaml"
    path.write_text(path.read_text().replace("title: Toy", "title: Dice"))
    ran = run("amend", "toy", "--why", "A better title.", "-w", checked)
    assert ran.code == 0
    assert "-title: Toy" in ran.out
    assert "+title: Dice" in ran.out


def test_a_closed_track_is_listed_as_closed_red(run: Run, checked: Path) -> None:
    assert run("close", "toy", "--why", "No ceiling.", "-w", checked).code == 0
    assert "closed red" in run("list", "-w", checked).out


def test_a_frozen_track_says_its_receipt(run: Run, frozen: Path) -> None:
    said = run("status", "toy", "-w", frozen, "--json").json
    assert said["state"] == "frozen"
    assert said["evidence"]["receipts"] == [f"echoctl-freeze toy {said['facts']['freeze']}"]
    assert said["facts"]["freeze"] in run("status", "toy", "-w", frozen).out.replace("\n", "")


def test_the_exam_shows_no_measure_before_its_verdict(run: Run, frozen: Path) -> None:
    ran = run("exam", "toy", "-w", frozen)
    assert ran.code == 0
    assert "harm" not in ran.err
    assert "GREEN" not in ran.err
    assert "toy  GREEN  P1 ✓" in ran.out
    assert "echoctl-claim toy " in ran.out


def test_the_exam_as_json_is_one_value_with_the_verdict(run: Run, frozen: Path) -> None:
    ran = run("exam", "toy", "-w", frozen, "--json", "--expect", "red")
    assert ran.code == 1
    assert ran.json["colour"] == "green"
    assert ran.json["verdict"]["predictions"][0]["passed"] is True
    assert ran.err == ""


def test_the_report_is_written_again_to_the_byte(run: Run, decided: Path) -> None:
    results = decided / "docs" / "results"
    before = {path.name: path.read_bytes() for path in results.iterdir()}
    assert set(before) == {"toy.md", "toy.html"}
    ledger = (decided / "artifacts" / "toy" / "ledger.jsonl").read_bytes()
    for path in results.iterdir():
        path.unlink()
    ran = run("report", "-w", decided)
    assert ran.code == 0
    assert len(ran.out.splitlines()) == 2
    assert {path.name: path.read_bytes() for path in results.iterdir()} == before
    assert (decided / "artifacts" / "toy" / "ledger.jsonl").read_bytes() == ledger


def test_the_report_speaks_the_language_asked_for(run: Run, decided: Path) -> None:
    assert run("report", "toy", "--lang", "es", "-w", decided).code == 0
    assert "VERDE" in (decided / "docs" / "results" / "toy.md").read_text()


def test_the_second_opinion_names_each_check(run: Run, decided: Path) -> None:
    ran = run("verify", "toy", "--rerun", 2, "-w", decided)
    assert ran.code == 0
    assert "every check that ran agrees" in ran.out
    assert "not checked" in ran.out
    said = run("verify", "-w", decided, "--json").json
    assert said[0]["colour"] == "green"


def test_a_changed_result_ends_the_second_opinion_with_5(run: Run, decided: Path) -> None:
    verdict = decided / "artifacts" / "toy" / "verdict.json"
    verdict.write_bytes(verdict.read_bytes().replace(b"green", b"red  "))
    ran = run("verify", "toy", "-w", decided)
    assert ran.code == 5
    assert "FAILED" in ran.out


def test_a_bundle_is_verified_by_python_alone(run: Run, decided: Path, tmp_path: Path) -> None:
    archive = tmp_path / "evidence.zip"
    ran = run("bundle", "toy", "--to", archive, "-w", decided, "--json")
    assert ran.code == 0
    assert ran.json["path"] == str(archive)
    place = tmp_path / "stranger"
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(place)
    [inside] = place.iterdir()
    done = subprocess.run(
        [sys.executable, "-I", "verify.py", "."], cwd=inside, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_everything_a_program_reads_is_one_json_value(run: Run, decided: Path) -> None:
    for words in (("list",), ("status",), ("status", "toy"), ("show", "toy"), ("lint",),
                  ("lint", "toy"), ("report",), ("report", "toy"), ("verify",)):  # fmt: skip
        ran = run(*words, "-w", decided, "--json")
        assert ran.code == 0, words
        json.loads(ran.out)
        assert ran.err == "", words


def test_the_module_is_the_command(toy: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "echoctl", "list", "-w", str(toy)], capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stdout.startswith("toy  Toy")
    assert main(["list", "-w", str(toy)]) == 0
