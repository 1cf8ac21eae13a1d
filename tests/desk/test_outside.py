from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from desk_kit import edit, results_of, start

from echoctl import desk
from echoctl.desk import Workspace
from echoctl.errors import Inconsistent, Refused, UsageError


def test_a_bundle_is_verified_with_python_alone_by_the_verifier_inside(
    decided: Workspace, tmp_path: Path
) -> None:
    desk.dev(decided, "toy", units=1)
    made = desk.bundle(decided, "toy", to=tmp_path / "away.zip")
    with zipfile.ZipFile(made.path) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "stranger")
    assert len(names) == made.files
    assert not [name for name in names if "/dev/" in name or name.endswith(".part")]
    place = tmp_path / "stranger" / "toy-evidence"
    for target in (place, made.path):
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(place / "verify.py"), str(target), "--json"],
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        assert json.loads(done.stdout)["contracts"][0]["colour"] == "green"


def test_the_same_evidence_gives_the_same_bundle(decided: Workspace, tmp_path: Path) -> None:
    one = desk.bundle(decided, "toy", to=tmp_path / "one.zip")
    assert desk.bundle(decided, "toy", to=tmp_path / "two.zip").sha256 == one.sha256


def test_what_is_not_frozen_is_neither_bundled_nor_verified(toy: Workspace, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="is not frozen"):
        desk.bundle(toy, "toy", to=tmp_path / "x.zip")
    with pytest.raises(UsageError, match="no evidence of 'toy'"):
        desk.verify(toy, "toy")


def test_a_verification_is_recorded_once_and_a_failing_one_never(decided: Workspace) -> None:
    assert desk.verify(decided, "toy").recorded
    assert not desk.verify(decided, "toy").recorded
    before = decided.ledger_path("toy").read_bytes()
    edit(decided.artifacts("toy") / "verdict.json", '"green"', '"red"')
    failed = desk.verify(decided, "toy")
    assert (failed.exit, failed.colour, failed.recorded) == (5, None, False)
    assert decided.ledger_path("toy").read_bytes() == before


def test_a_report_is_recorded_with_its_files_and_a_later_one_replaces_it(
    decided: Workspace,
) -> None:
    desk.record_report(decided, "toy", {"toy.md": b"# one\n", "toy/fig.svg": b"<svg/>"})
    desk.record_report(decided, "toy", {"toy.md": b"# two\n"})
    assert not (decided.results_path("toy") / "toy" / "fig.svg").exists()
    assert len(decided.dossier("toy").reports) == 2
    desk.record_report(decided, "toy", {"toy.md": b"# two\n"})
    assert len(decided.dossier("toy").reports) == 2
    assert desk.verify(decided, "toy").failures == 0
    (decided.results_path("toy") / "toy.md").write_text("# better\n")
    assert desk.verify(decided, "toy").exit == 5


@pytest.mark.parametrize("name", ["other.md", "../toy.md", "toy/../x", "toy.md/\n", "toy"])
def test_a_report_writes_its_own_files_only(decided: Workspace, name: str) -> None:
    with pytest.raises(UsageError, match="is no file of the report"):
        desk.record_report(decided, "toy", {name: b""})


def test_results_are_what_was_sealed_and_decided_anew(decided: Workspace) -> None:
    found = desk.results(decided, "toy")
    assert (found.verdict.colour, found.rehearsal, found.incidents) == ("green", False, ())
    assert len(list(found.outcomes())) == 18
    events = [line.event for line in found.history]
    assert events == ["preflight", "review", "freeze", "claim", "complete", "verdict"]
    assert found.contract.title == "Toy"
    decided.contract_path("toy").unlink()
    assert desk.results(decided, "toy").verdict == found.verdict


def test_ctrl_c_ends_with_4_and_the_command_that_resumes(
    checked: Workspace, decided_once: Workspace
) -> None:
    edit(checked.contract_path("toy"), "ceiling:", "settings: {nap: 20}\nceiling:")
    desk.amend(checked, "toy", why="slower")
    desk.preflight(checked, "toy")
    desk.review(checked, "toy", reviewer="somebody else")
    desk.freeze(checked, "toy")
    process = start(checked, "exam")
    while desk.status(checked, "toy").done < 2:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=300)
    assert process.returncode == 4, said
    assert "resume with: echoctl exam toy --resume" in said
    status = desk.status(checked, "toy")
    assert status.state == "opened"
    assert 2 <= status.done < 18
    assert desk.exam(checked, "toy", resume=True).colour == "green"
    mine, theirs = results_of(checked), results_of(decided_once)
    mine.pop("verdict"), theirs.pop("verdict")
    assert {name: data.splitlines()[1:] for name, data in mine.items()} == {
        name: data.splitlines()[1:] for name, data in theirs.items()
    }
    assert desk.verify(checked, "toy").failures == 0


def test_ctrl_c_before_the_claim_and_while_deciding_can_be_resumed(
    frozen: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    from echoctl.desk import examining
    from echoctl.errors import Interrupted

    def stop(*given: object) -> None:
        raise KeyboardInterrupt

    for step, resume, todo in (
        ("open_sealed", False, "resume with: echoctl exam toy"),
        ("decide_sealed", False, "resume with: echoctl exam toy --resume"),
        ("open_sealed", True, "resume with: echoctl exam toy --resume"),
    ):
        monkeypatch.setattr(examining, step, stop)
        with pytest.raises(Interrupted) as caught:
            desk.exam(frozen, "toy", resume=resume)
        assert caught.value.todo == todo
        monkeypatch.undo()
    assert desk.exam(frozen, "toy", resume=True).colour == "green"


WALKER = """
from echoctl.draws import Draws
from echoctl.track import Job, Track


class Walker(Track):
    id = "walker"

    def plan(self, contract, seeds, phase):
        if phase == "training":
            return []
        families = contract.worlds[phase].families
        return [
            Job(f"{phase}-{arm.id}-{unit}", phase, {"unit": unit, "arm": arm.id, "regime": "A1"},
                {"stage": phase, "worlds": {f: list(seeds.of(phase, f, unit)) for f in families}})
            for arm in contract.arms for unit in range(1, contract.unit.count + 1)
        ]

    def play(self, job, bench):
        for family, seeds in job.inputs["worlds"].items():
            for episode, seed in enumerate(seeds):
                world = bench.world(family, seed, ("walker",), job.inputs["stage"])
                world.reset()
                draws = Draws("walker", job.keys["arm"], seed)
                while not world.over and world.steps < 30:
                    world.step(draws.below(3))
                harm = 1 if world.harm else 0
                yield {"stage": job.inputs["stage"], "family": family, "round": 1,
                       "episode": episode, "seed": seed, "harm": harm, "skill": world.steps}
"""


@pytest.fixture
def walker(toy: Workspace) -> Workspace:
    """A track with real worlds: a random walk among lava; both stages play open families."""
    (toy.root / "tracks" / "walker.py").write_text(WALKER)
    text = (
        toy.contract_path("toy").read_text().replace("tracks/toy.py:Toy", "tracks/walker.py:Walker")
    )
    text = text.replace("[dice]", "[LavaGapS7]").replace("loaded: dice", "LavaGapS5: LavaGapS7")
    text = text.replace("[loaded]", "[LavaGapS5]").replace("count: 6", "count: 5")
    text = text[: text.index("ceiling:")] + text[text.index("predictions:") :]
    text = text.replace("green: [P1]", "green: [P1]\nexhibits:\n  - gif: {arms: [vacia, oraculo]}")
    toy.contract_path("toy").write_text(text)
    return toy


def played(walker: Workspace, row: int) -> int:
    """Return the steps of a development episode."""
    return len(desk.replay(walker, "toy", "development-vacia-1", row).moments) - 1


def test_an_episode_is_looked_at_again_when_the_exam_is_complete_and_not_before(
    walker: Workspace,
) -> None:
    desk.preflight(walker, "toy")
    desk.dev(walker, "toy", units=2)
    seen = desk.replay(walker, "toy", "development-vacia-1", 3)
    assert len(seen.moments) == int(seen.row["skill"]) + 1
    assert (seen.family, seen.seed, seen.row["episode"]) == ("LavaGapS7", 11003, 3)
    assert [moment.action for moment in seen.moments[:1]] == [""]
    desk.review(walker, "toy", reviewer="somebody else")
    desk.freeze(walker, "toy")
    with pytest.raises(Refused, match="looked at when the exam is complete"):
        desk.replay(walker, "toy", "exam-vacia-1", 0)
    desk.exam(walker, "toy")
    film = desk.replay(walker, "toy", "exam-vacia-1", 2)
    assert (film.family, film.seed) == ("LavaGapS5", 13002)
    (shown,) = desk.exhibits(walker, "toy")
    assert [one.arm for one in shown.replays] == ["vacia", "oraculo"]
    assert {one.seed for one in shown.replays} == {13000}
    with pytest.raises(UsageError, match="has rows 0 to 9"):
        desk.replay(walker, "toy", "exam-vacia-1", 10)
    with pytest.raises(UsageError, match="has no recorded job"):
        desk.replay(walker, "toy", "exam-nobody-1", 0)
    early = next(n for n in range(9) if played(walker, n) < 30)
    edit(walker.root / "tracks" / "walker.py", "draws.below(3)", "0 * draws.below(3)")
    assert desk.replay(walker, "toy", "exam-vacia-1", 2) == film, "the sealed code films the exam"
    with pytest.raises(Inconsistent, match="differently from what was recorded"):
        desk.replay(walker, "toy", "development-vacia-1", early)


def test_a_row_that_was_one_of_several_walks_shows_no_film_rather_than_a_wrong_one(
    walker: Workspace,
) -> None:
    edit(
        walker.root / "tracks" / "walker.py",
        "                world = bench.world(",
        "                for a in (0, 1):\n"
        "                    bench.world(family, seed, (str(a),), job.inputs['stage']).step(a)\n"
        "                world = bench.world(",
    )
    desk.dev(walker, "toy", units=1)
    with pytest.raises(UsageError, match="in 3 ways before it counted one"):
        desk.replay(walker, "toy", "development-vacia-1", 1)


def test_a_row_that_only_says_an_earlier_round_again_has_the_film_of_that_round(
    walker: Workspace,
) -> None:
    edit(walker.root / "tracks" / "walker.py", "yield {", "row = {")
    with (walker.root / "tracks" / "walker.py").open("a") as track:
        track.write("                yield from ({**row, 'round': n} for n in (1, 2))\n")
    desk.dev(walker, "toy", units=1)
    first, again = (desk.replay(walker, "toy", "development-vacia-1", n) for n in (6, 7))
    assert (first.row["round"], again.row["round"]) == (1, 2)
    assert again.moments == first.moments


def test_development_cannot_build_what_is_sealed(walker: Workspace) -> None:
    edit(
        walker.root / "tracks" / "walker.py", 'contract.worlds[phase].families',
        'contract.worlds["exam"].families',
    )  # fmt: skip
    edit(walker.root / "tracks" / "walker.py", "seeds.of(phase,", 'seeds.of("exam",')
    with pytest.raises(Refused, match="does not cover the family"):
        desk.dev(walker, "toy")
    assert list((walker.artifacts("toy") / "dev").iterdir()) == []


def test_a_rehearsal_of_worlds_builds_no_sealed_family(walker: Workspace) -> None:
    rehearsal = desk.rehearse(walker, "toy", units=1)
    try:
        families = {
            row[outcome.columns.index("family")]
            for outcome in desk.results(rehearsal.workspace, "toy").outcomes()
            for row in outcome.rows
        }
        assert families == {"LavaGapS7"}
    finally:
        rehearsal.discard()
