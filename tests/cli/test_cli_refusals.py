from __future__ import annotations

from pathlib import Path

import pytest
from commands import Ran, Run


def refused(ran: Ran, code: int) -> None:
    """A refusal is said in at most three lines on standard error and nothing on standard output."""
    assert ran.code == code
    assert ran.out == ""
    assert 1 <= len(ran.err.splitlines()) <= 3
    word = {1: "failed", 2: "usage", 3: "refused", 5: "inconsistent"}[code]
    assert ran.err.startswith(f"{word} ({code}): ")
    assert ran.err.splitlines()[-1].startswith("  "), "it says what to do instead"


def both(run: Run, code: int, *words: object) -> None:
    """The same request for people and for programs."""
    refused(run(*words), code)
    said = run(*words, "--json")
    assert said.code == code
    assert said.json["exit"] == code
    assert said.json["why"]
    assert said.json["todo"]
    assert said.err == ""


@pytest.mark.parametrize(
    "words",
    [
        ("status", "none"),
        ("show", "none"),
        ("lint", "none"),
        ("preflight", "none"),
        ("dev", "none"),
        ("rehearse", "none"),
        ("amend", "none", "--why", "x"),
        ("review", "none", "--reviewer", "ann"),
        ("close", "none", "--why", "x"),
        ("freeze", "none"),
        ("exam", "none"),
        ("report", "none"),
        ("verify", "none"),
        ("bundle", "none"),
        ("replay", "none", "job"),
    ],
    ids=lambda words: words[0],
)
def test_a_track_that_is_not_there_is_usage_and_the_known_ones_are_named(
    run: Run, toy: Path, words: tuple[str, ...]
) -> None:
    both(run, 2, *words, "-w", toy)
    assert "toy" in run(*words, "-w", toy).err


@pytest.mark.parametrize(
    "words",
    [("list",), ("exam", "toy"), ("lint",), ("verify", "toy")],
    ids=lambda words: words[0],
)
def test_a_folder_that_is_no_workspace_is_usage(
    run: Run, tmp_path: Path, words: tuple[str, ...]
) -> None:
    both(run, 2, *words, "-w", tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        ("amend", "toy", "--why", "x"),
        ("review", "toy", "--reviewer", "ann"),
        ("freeze", "toy"),
        ("exam", "toy"),
        ("exam", "toy", "--resume"),
        ("report", "toy"),
        ("bundle", "toy"),
        ("replay", "toy", "exam-vacia-1"),
    ],
    ids=lambda words: "-".join(words[:1]),
)
def test_what_comes_too_early_is_refused(run: Run, toy: Path, words: tuple[str, ...]) -> None:
    both(run, 3, *words, "-w", toy)


def test_an_open_blocking_finding_stops_the_freeze(run: Run, checked: Path) -> None:
    both(run, 3, "freeze", "toy", "-w", checked)
    assert "must stop" in run("freeze", "toy", "-w", checked).err


def test_a_finding_is_never_closed_without_an_action(run: Run, checked: Path) -> None:
    assert run("review", "toy", "--answer", "1.1", "-w", checked).code == 2
    assert run("review", "toy", "--answer", "1.1", "--action", " ", "-w", checked).code in (2, 3)
    assert run("review", "toy", "--answer", "9.9", "--action", "x", "-w", checked).code == 2


def test_a_review_and_an_answer_are_two_commands(run: Run, checked: Path) -> None:
    words = ("review", "toy", "--answer", "1.1", "--action", "x", "--reviewer", "ann")
    both(run, 2, *words, "-w", checked)


@pytest.mark.parametrize(
    "words",
    [
        ("amend", "toy", "--why", "x"),
        ("preflight", "toy"),
        ("freeze", "toy"),
        ("review", "toy", "--reviewer", "ann"),
        ("report", "toy"),
        ("replay", "toy", "exam-vacia-1"),
        ("exam", "toy", "--resume"),
    ],
    ids=lambda words: "-".join(words[:1]),
)
def test_after_the_freeze_nothing_that_decides_can_change(
    run: Run, frozen: Path, words: tuple[str, ...]
) -> None:
    both(run, 3, *words, "-w", frozen)


@pytest.mark.parametrize(
    "words",
    [
        ("exam", "toy"),
        ("exam", "toy", "--resume"),
        ("freeze", "toy"),
        ("amend", "toy", "--why", "x"),
        ("close", "toy", "--why", "x"),
        ("preflight", "toy"),
        ("review", "toy", "--reviewer", "ann"),
    ],
    ids=lambda words: "-".join(words[:1]),
)
def test_after_the_exam_nothing_runs_twice(run: Run, decided: Path, words: tuple[str, ...]) -> None:
    both(run, 3, *words, "-w", decided)


def test_a_second_exam_is_told_how_to_try_again(run: Run, decided: Path) -> None:
    ran = run("exam", "toy", "-w", decided)
    assert "An exam runs once" in ran.err
    assert "--follows toy" in ran.err


def test_evidence_that_contradicts_itself_ends_with_5(run: Run, decided: Path) -> None:
    ledger = decided / "artifacts" / "toy" / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b'"colour":"green"', b'"colour":"red"  '))
    both(run, 5, "report", "toy", "-w", decided)
    assert run("list", "-w", decided).code == 0
    assert "INCONSISTENT" in run("list", "-w", decided).out


def test_a_job_that_was_never_played_cannot_be_replayed(run: Run, decided: Path) -> None:
    both(run, 2, "replay", "toy", "exam-nobody-1", "-w", decided)


def test_an_archive_that_cannot_be_written_is_said(run: Run, decided: Path) -> None:
    place = decided / "docs" / "results" / "toy.md" / "evidence.zip"
    ran = run("bundle", "toy", "--to", place, "-w", decided)
    assert ran.code == 1
    assert "toy.md" in ran.err


def test_more_units_than_the_contract_has_are_refused(run: Run, toy: Path) -> None:
    both(run, 2, "dev", "toy", "--units", 7, "-w", toy)
    both(run, 2, "rehearse", "toy", "--units", 7, "-w", toy)


def test_a_full_folder_is_not_overwritten_by_a_rehearsal(
    run: Run, toy: Path, tmp_path: Path
) -> None:
    place = tmp_path / "mine"
    place.mkdir()
    (place / "thesis.txt").write_text("important")
    both(run, 3, "rehearse", "toy", "--keep", place, "-w", toy)
    assert (place / "thesis.txt").read_text() == "important"
