from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from desk_kit import act, edit, results_of

from echoctl import desk
from echoctl.desk import Workspace
from echoctl.errors import EchoError, Inconsistent, Refused, UsageError
from echoctl.track.closure import build_zip

Break = Callable[[Workspace], None]


def reviewed(ws: Workspace) -> Workspace:
    desk.review(ws, "toy", reviewer="somebody else")
    return ws


def jobs_of(ws: Workspace) -> list[Path]:
    return sorted((ws.exam("toy") / "jobs").glob("*.gz"))


# --- before the freeze ------------------------------------------------------------------------


def test_a_contract_that_changed_must_be_amended_and_checked_again(checked: Workspace) -> None:
    reviewed(checked)
    edit(checked.contract_path("toy"), '"0.30"', '"0.40"')
    for act_on in (desk.preflight, desk.freeze):
        with pytest.raises(Refused, match="changed since the ledger accepted it"):
            act_on(checked, "toy")
    amended = desk.amend(checked, "toy", why="0.30 was a slip")
    assert "-      - ratio: {measure: harm, where: {stage: exam}, arm: apr" in amended.diff
    assert amended.number == 1
    with pytest.raises(Refused, match="amended since its last preflight"):
        desk.freeze(checked, "toy")
    desk.preflight(checked, "toy")
    assert desk.freeze(checked, "toy").jobs == 18
    sealed = json.loads((checked.frozen("toy") / "manifest.json").read_text())
    assert [one["why"] for one in sealed["amendments"]] == ["0.30 was a slip"]


def test_an_amendment_needs_a_change_a_reason_and_a_contract_that_can_be_read(
    checked: Workspace,
) -> None:
    with pytest.raises(UsageError, match="nothing to amend"):
        desk.amend(checked, "toy", why="because")
    edit(checked.contract_path("toy"), '"0.30"', '"0.40"')
    with pytest.raises(UsageError, match="nothing was said"):
        desk.amend(checked, "toy", why="  ")
    edit(checked.contract_path("toy"), "green: [P1]", "green: [P9]")
    with pytest.raises(UsageError, match="P9"):
        desk.amend(checked, "toy", why="because")


def test_nothing_is_amended_reviewed_or_frozen_before_the_preflight(toy: Workspace) -> None:
    acts: list[Callable[[], object]] = [
        lambda: desk.amend(toy, "toy", why="because"),
        lambda: desk.review(toy, "toy", reviewer="me"),
        lambda: desk.freeze(toy, "toy"),
        lambda: desk.exam(toy, "toy"),
        lambda: desk.exam(toy, "toy", resume=True),
        lambda: desk.results(toy, "toy"),
    ]
    for one in acts:
        with pytest.raises(Refused) as caught:
            one()
        assert "echoctl preflight toy" in caught.value.todo


def test_an_amendment_that_moves_seeds_publishes_the_new_ones(checked: Workspace) -> None:
    edit(checked.contract_path("toy"), "base: 13000", "base: 14000")
    desk.amend(checked, "toy", why="another range")
    assert desk.preflight(checked, "toy").published
    assert b"14000" in checked.seeds_path("toy").read_bytes()


def test_a_freeze_without_the_reviews_that_the_contract_asks_for_is_refused(
    checked: Workspace,
) -> None:
    with pytest.raises(Refused, match=r"asks for 1 reviews and has 0"):
        desk.freeze(checked, "toy")


def test_an_open_blocking_finding_stops_the_freeze_until_it_is_acted_on(checked: Workspace) -> None:
    desk.review(checked, "toy", reviewer="r", findings=[{"text": "P1 cannot fail"}])
    desk.review(checked, "toy", reviewer="s", findings=[{"text": "nit", "blocking": False}])
    with pytest.raises(Refused, match=r"finding 1\.1 blocks the freeze: P1 cannot fail"):
        desk.freeze(checked, "toy")
    with pytest.raises(UsageError, match="nothing was said"):
        desk.answer(checked, "toy", finding="1.1", action=" ")
    with pytest.raises(UsageError, match="has no finding '9'"):
        desk.answer(checked, "toy", finding="9", action="done")
    desk.answer(checked, "toy", finding="1.1", action="it can")
    with pytest.raises(Refused, match=r"finding 1\.1 was answered"):
        desk.answer(checked, "toy", finding="1.1", action="again")
    assert desk.freeze(checked, "toy").jobs == 18


def test_a_review_can_come_from_a_file_and_a_broken_one_says_where(
    checked: Workspace, tmp_path: Path
) -> None:
    file = tmp_path / "review.yaml"
    file.write_text("reviewer: Ada\nfindings:\n  - {text: too few units, blocking: true, id: u}\n")
    assert desk.review(checked, "toy", file=file).reviewer == "Ada"
    assert list(desk.status(checked, "toy").as_json()["facts"]) == []
    file.write_text("reviewer: Ada\nreviewer: Bob\n")
    with pytest.raises(UsageError, match=r"review\.yaml:2:1"):
        desk.review(checked, "toy", file=file)
    file.write_text("findings: [{text: x, size: 3}]\nreviewer: Ada\n")
    with pytest.raises(UsageError, match="a finding has no 'size'"):
        desk.review(checked, "toy", file=file)
    with pytest.raises(UsageError, match="a review says who made it"):
        desk.review(checked, "toy", reviewer="")


def test_a_closed_track_stays_closed(checked: Workspace) -> None:
    desk.close(checked, "toy", why="development came out red")
    assert desk.status(checked, "toy").state == "closed"
    for one in (desk.preflight, desk.freeze, desk.exam):
        with pytest.raises(Refused, match=r"was closed on .*: development came out red"):
            one(checked, "toy")


def _link_track(ws: Workspace) -> None:
    (ws.root / "tracks" / "dice.py").rename(ws.root / "dice.py")
    (ws.root / "tracks" / "dice.py").symlink_to("../dice.py")


def _link_artefact(ws: Workspace) -> None:
    (ws.artifacts("toy") / "extra").symlink_to("/etc/hostname")


@pytest.mark.parametrize("link", [_link_track, _link_artefact])
def test_symlinks_cannot_be_sealed(checked: Workspace, link: Break) -> None:
    reviewed(checked)
    link(checked)
    with pytest.raises(Refused, match="is a symlink"):
        desk.freeze(checked, "toy")


# --- after the freeze -------------------------------------------------------------------------


def test_nothing_that_was_promised_changes_after_the_freeze(frozen: Workspace) -> None:
    for one in (
        lambda: desk.freeze(frozen, "toy"),
        lambda: desk.preflight(frozen, "toy"),
        lambda: desk.amend(frozen, "toy", why="better"),
        lambda: desk.review(frozen, "toy", reviewer="late"),
    ):
        with pytest.raises(Refused, match="was frozen on"):
            one()


def _edit_sealed(ws: Workspace) -> None:
    edit(ws.frozen("toy") / "contract.yaml", '"0.30"', '"0.90"')


def _edit_working(ws: Workspace) -> None:
    edit(ws.contract_path("toy"), '"0.30"', '"0.90"')


def _edit_canonical(ws: Workspace) -> None:
    edit(ws.frozen("toy") / "contract.json", '"3/10"', '"9/10"')


def _edit_seeds(ws: Workspace) -> None:
    edit(ws.seeds_path("toy"), "13007", "13060")


def _edit_jobs(ws: Workspace) -> None:
    edit(ws.frozen("toy") / "jobs.jsonl", "13007", "13060")


def _edit_manifest(ws: Workspace) -> None:
    edit(ws.frozen("toy") / "manifest.json", '"count":18', '"count":17')


def _edit_zip(ws: Workspace) -> None:
    import zipfile

    path = ws.frozen("toy") / "code.zip"
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["tracks/dice.py"] = files["tracks/dice.py"].replace(b"below(sides)", b"below(2)")
    path.write_bytes(build_zip(files))


def _edit_memory(ws: Workspace) -> None:
    path = ws.frozen("toy") / "artefacts" / "memory-1.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()) + b"{}\n"))


def _add_file(ws: Workspace) -> None:
    (ws.frozen("toy") / "new\nline.txt").write_text("x")


def _link_sealed(ws: Workspace) -> None:
    path = ws.frozen("toy") / "jobs.jsonl"
    path.rename(ws.root / "jobs.jsonl")
    path.symlink_to(ws.root / "jobs.jsonl")


def _cut_freeze(ws: Workspace) -> None:
    lines = ws.ledger_path("toy").read_bytes().splitlines(keepends=True)
    ws.ledger_path("toy").write_bytes(b"".join(lines[:-2]) + lines[-1])


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (_edit_sealed, r"contract\.yaml is not what was sealed"),
        (_edit_working, r"contracts/toy\.yaml was changed after the freeze"),
        (_edit_canonical, r"contract\.json is not what was sealed"),
        (_edit_seeds, r"toy\.json is not what was sealed"),
        (_edit_jobs, r"jobs\.jsonl is not what was sealed"),
        (_edit_manifest, r"manifest\.json is not what was sealed"),
        (_edit_zip, r"code\.zip is not what was sealed"),
        (_edit_memory, "artefact memory-1 is not what was sealed"),
        (_add_file, r"frozen/'new\\nline\.txt' was never sealed"),
        (_link_sealed, r"frozen/jobs\.jsonl is a symlink"),
        (_cut_freeze, "does not follow the line before it"),
    ],
)
def test_an_exam_of_anything_but_what_was_frozen_is_refused_before_its_claim(
    frozen: Workspace, harm: Break, says: str
) -> None:
    harm(frozen)
    with pytest.raises(Inconsistent, match=says):
        desk.exam(frozen, "toy")
    assert not frozen.exam("toy").exists()


def test_a_working_tree_that_changed_is_reported_and_the_sealed_code_runs(
    frozen: Workspace, decided_once: Workspace
) -> None:
    edit(frozen.root / "tracks" / "dice.py", "below(sides)", "below(2)")
    notes: list[str] = []

    class Listening(desk.Silent):
        def note(self, text: str) -> None:
            notes.append(text)

    desk.exam(frozen, "toy", observer=Listening())
    assert "working tree: tracks/dice.py differs; the sealed code runs" in notes
    assert results_of(frozen) == results_of(decided_once)


def test_a_checkout_with_other_line_endings_is_named_and_breaks_nothing(
    frozen: Workspace, decided_once: Workspace
) -> None:
    for path in (
        frozen.contract_path("toy"), frozen.seeds_path("toy"), frozen.frozen("toy") / "jobs.jsonl",
        frozen.root / "tracks" / "toy.py",
    ):  # fmt: skip
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    notes: list[str] = []

    class Listening(desk.Silent):
        def note(self, text: str) -> None:
            notes.append(text)

    desk.exam(frozen, "toy", observer=Listening())
    assert "jobs.jsonl differs in its line endings only (CRLF)" in notes
    assert any("toy.py differs in its line endings only" in note for note in notes)
    assert results_of(frozen) == results_of(decided_once)


def test_another_environment_is_refused_with_the_difference_before_the_claim(
    frozen: Workspace,
) -> None:
    # The manifest is rewritten together with its freeze line, as if another machine had frozen.
    from echoctl.canon import canonical, digest

    path = frozen.frozen("toy") / "manifest.json"
    text = path.read_text().replace('"rfc8785":"', '"rfc8785":"9.')
    path.write_text(text)
    lines = frozen.ledger_path("toy").read_bytes().splitlines(keepends=True)
    last = json.loads(lines[-1])
    last["data"]["manifest"] = digest("manifest", text.encode())
    frozen.ledger_path("toy").write_bytes(b"".join(lines[:-1]) + canonical(last) + b"\n")
    with pytest.raises(Refused, match=r"not the environment that was frozen: rfc8785 is .*, was 9"):
        desk.exam(frozen, "toy")
    assert not (frozen.exam("toy") / "claim.json").exists()


# --- after the claim --------------------------------------------------------------------------


def test_an_exam_runs_once_whatever_came_out(decided: Workspace) -> None:
    for resume in (False, True):
        with pytest.raises(Refused):
            desk.exam(decided, "toy", resume=resume)
    with pytest.raises(Refused, match="An exam runs once, whatever came out") as caught:
        desk.exam(decided, "toy")
    assert "echoctl new toy2 --follows toy" in caught.value.todo
    with pytest.raises(Refused, match="was opened"):
        desk.close(decided, "toy", why="I do not like it")


def _delete_result(ws: Workspace) -> None:
    jobs_of(ws)[3].unlink()


def _swap_results(ws: Workspace) -> None:
    one, other, *_ = jobs_of(ws)
    data = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(data)


def _edit_result(ws: Workspace) -> None:
    path = jobs_of(ws)[0]
    data = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(data.replace(b",13001,", b",13002,", 1)))


def _edit_verdict(ws: Workspace) -> None:
    edit(ws.artifacts("toy") / "verdict.json", '"green"', '"red"')


def _edit_ledger(ws: Workspace) -> None:
    edit(ws.ledger_path("toy"), '"rows":10', '"rows":11')


def _cut_middle(ws: Workspace) -> None:
    lines = ws.ledger_path("toy").read_bytes().splitlines(keepends=True)
    del lines[12]
    ws.ledger_path("toy").write_bytes(b"".join(lines))


@pytest.mark.parametrize(
    "harm",
    [_delete_result, _swap_results, _edit_result, _edit_verdict, _edit_ledger, _cut_middle],
)
def test_no_report_is_made_of_results_that_were_changed(decided: Workspace, harm: Break) -> None:
    harm(decided)
    with pytest.raises(Inconsistent):
        desk.results(decided, "toy")
    assert desk.verify(decided, "toy").exit == 5


def test_a_ledger_without_its_tail_cannot_reopen_the_exam(decided: Workspace) -> None:
    path = decided.ledger_path("toy")
    lines = path.read_bytes().splitlines(keepends=True)
    claim = next(n for n, line in enumerate(lines) if b'"event":"claim"' in line)
    path.write_bytes(b"".join(lines[:claim]))
    with pytest.raises(Refused, match="has a claim already"):
        desk.exam(decided, "toy")
    freeze = next(n for n, line in enumerate(lines) if b'"event":"freeze"' in line)
    path.write_bytes(b"".join(lines[:freeze]))
    with pytest.raises(Inconsistent, match="its tail was cut"):
        desk.freeze(decided, "toy")
    assert desk.verify(decided, "toy").exit == 5


@pytest.mark.parametrize("kept", ["witness", "verdict", "results", "report", "nothing"])
def test_an_exam_of_which_anything_is_left_cannot_be_opened_again(
    decided: Workspace, kept: str
) -> None:
    desk.record_report(decided, "toy", {"toy.md": b"# red\n"})
    path = decided.ledger_path("toy")
    lines = path.read_bytes().splitlines(keepends=True)
    claim = next(n for n, line in enumerate(lines) if b'"event":"claim"' in line)
    path.write_bytes(b"".join(lines[:claim]))
    traces = {
        "witness": decided.artifacts("toy") / "witness" / "claim.txt",
        "verdict": decided.artifacts("toy") / "verdict.json",
        "results": decided.exam("toy"),
        "report": decided.results_path("toy") / "toy.md",
    }
    for name, trace in traces.items():
        if name != kept:
            shutil.rmtree(trace) if trace.is_dir() else trace.unlink()
    if kept == "nothing":
        # What no local file can catch (attacks.md, row 16): only a receipt kept outside can.
        assert desk.exam(decided, "toy").colour == "green"
        return
    (decided.exam("toy") / "claim.json").unlink(missing_ok=True)
    with pytest.raises(Inconsistent, match="the ledger of toy has no claim: its tail was cut"):
        desk.exam(decided, "toy")


def test_results_whose_receipts_were_cut_away_are_played_again_and_compared(
    decided: Workspace, decided_once: Workspace
) -> None:
    path = decided.ledger_path("toy")
    lines = path.read_bytes().splitlines(keepends=True)
    claim = next(n for n, line in enumerate(lines) if b'"event":"claim"' in line)
    path.write_bytes(b"".join(lines[: claim + 1]))
    _swap_results(decided)
    done = desk.exam(decided, "toy", resume=True)
    assert sum("a result without a receipt differs" in one for one in done.incidents) == 2
    assert len(done.verdict.notes) == 2
    mine, theirs = results_of(decided), results_of(decided_once)
    assert {k: v for k, v in mine.items() if k != "verdict"} == {
        k: v for k, v in theirs.items() if k != "verdict"
    }
    assert len(list((decided.exam("toy") / "quarantine").iterdir())) == 2
    assert desk.verify(decided, "toy").failures == 0


def test_a_file_of_no_sealed_job_among_the_outcomes_is_refused(frozen: Workspace) -> None:
    assert act(frozen, "exam", fault="exam.claimed:1")[0] == -9
    (frozen.exam("toy") / "jobs").mkdir(parents=True)
    (frozen.exam("toy") / "jobs" / "better.jsonl").write_bytes(b"")
    with pytest.raises(Inconsistent, match="belongs to no sealed job"):
        desk.exam(frozen, "toy", resume=True)


def test_resuming_what_was_never_opened_is_refused(frozen: Workspace) -> None:
    with pytest.raises(Refused, match="was never opened"):
        desk.exam(frozen, "toy", resume=True)


def test_a_second_process_leaves_at_once_with_3(frozen: Workspace) -> None:
    with frozen.writing("toy"):
        status, said = act(frozen, "exam")
    assert status == 3
    assert "another process is working on toy" in said
    assert act(frozen, "exam")[0] == 0


def test_a_clock_that_runs_backwards_is_an_error_until_it_is_acknowledged(
    frozen: Workspace, decided_once: Workspace
) -> None:
    status, said = act(frozen, "exam", fault="clock:-86400")
    assert status == 1
    assert "the clock runs backwards" in said
    assert not (frozen.exam("toy") / "claim.json").exists()
    status, said = act(frozen, "exam", "acknowledge", fault="clock:-86400")
    assert (status, said.strip()) == (0, "green")
    kinds = [
        json.loads(line)["data"].get("kind")
        for line in frozen.ledger_path("toy").read_text().splitlines()
    ]
    assert kinds.count("clock") == 1
    assert desk.verify(frozen, "toy").failures == 0


def test_a_full_disk_interrupts_and_nothing_is_lost(
    frozen: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    from echoctl.desk import receiving
    from echoctl.disk import publish
    from echoctl.errors import Interrupted

    left = [5]

    def full(part: Path, final: Path) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, os.strerror(28))
        publish(part, final)

    monkeypatch.setattr(receiving, "publish", full)
    with pytest.raises(Interrupted, match="No space left on device"):
        desk.exam(frozen, "toy")
    monkeypatch.undo()
    assert desk.status(frozen, "toy").done == 5
    assert desk.exam(frozen, "toy", resume=True).colour == "green"
    assert desk.verify(frozen, "toy").failures == 0


def test_no_word_of_a_verdict_or_a_measure_is_shown_before_every_job_is_in(
    frozen: Workspace,
) -> None:
    seen: list[str] = []

    class Listening(desk.Silent):
        def note(self, text: str) -> None:
            seen.append(text)

        def progress(self, at: desk.Progress) -> None:
            seen.append(repr(at))

    desk.exam(frozen, "toy", observer=Listening())
    shown = " ".join(seen)
    assert not [word for word in ("green", "red,", "harm", "skill", "P1") if word in shown]


def test_a_job_that_fails_in_the_exam_leaves_no_verdict_and_no_measure_behind(
    checked: Workspace,
) -> None:
    edit(
        checked.root / "tracks" / "toy.py", "harm = throw",
        'harm = "leaked" if inputs["stage"] == "exam" else throw',
    )  # fmt: skip
    reviewed(checked)
    desk.freeze(checked, "toy")
    with pytest.raises(EchoError, match="harm must be an integer"):
        desk.exam(checked, "toy")
    ledger = checked.ledger_path("toy").read_text()
    assert "leaked" not in ledger
    assert '"kind":"failed"' in ledger
    assert desk.status(checked, "toy").state == "opened"
    assert not (checked.artifacts("toy") / "verdict.json").exists()
