"""Rounds, validation, probe and bank of one job, on a handful of development worlds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from life_bench import Bench, life_of

from echoctl.mind import Memory, Shape, Trial
from echoctl.mind.edits import PIECES, Edit, Experience, edit_of
from echoctl.mind.reading import FIRST, SECOND, Belief
from echoctl.mind.roles import ENTER, NONE, UNKNOWN
from echoctl.track import Row
from echoctl.tracks.acumula.diagnosis import Diagnosis, Proposal
from echoctl.tracks.acumula.life import ARMS, Life
from echoctl.tracks.acumula.policy import Fault

MISLED = [Trial(at, 60 + at, ENTER, NONE, Shape(0, 20, 0, 9, 9, 1)) for at in range(40)]
"""A memory that believes, by shape, that whatever covers an area can be walked on."""


@pytest.fixture
def start(tmp_path: Path) -> Memory:
    memory = Memory("start", tmp_path / "start.jsonl", append=True)
    for trial in MISLED:
        memory.witness(trial)
    memory.close()
    return Memory("start", tmp_path / "start.jsonl")


def lived(track: str, arm: str, start: Memory | None) -> list[Row]:
    return list(life_of(track, arm, start=start).rows())


def cells(rows: list[Row]) -> Counter[tuple[str, int]]:
    return Counter((str(row["stage"]), int(row["round"])) for row in rows)


ROUNDS = {("dev_rounds", n): 22 for n in (1, 2)} | {("dev_validation", n): 6 for n in (1, 2)}
PROBE = {("dev_probe", n): 6 for n in (0, 1, 2)}
BANK = {("dev_bank", n): 6 for n in (0, 1)}


@pytest.mark.parametrize(
    ("arm", "expected"),
    [
        ("recursiva", ROUNDS | PROBE | BANK),
        ("azar", ROUNDS | PROBE),
        ("sin_acumular", ROUNDS | PROBE),
        ("fija", ROUNDS | PROBE),
        ("lote_final", ROUNDS | PROBE),
        ("vacia_online", PROBE),
        ("piezas_dadas", ROUNDS | PROBE),
    ],
)
def test_an_arm_has_a_row_for_every_world_of_its_stages(
    arm: str, expected: dict[tuple[str, int], int], start: Memory
) -> None:
    rows = lived("acumula3", arm, start if ARMS[arm].lives else None)
    assert cells(rows) == expected
    keys = [(r["stage"], r["family"], r["round"], r["episode"]) for r in rows]
    assert len(set(keys)) == len(keys)


def test_the_same_job_gives_the_same_rows(start: Memory) -> None:
    assert lived("acumula3", "recursiva", start) == lived("acumula3", "recursiva", start)


def test_fixed_and_final_batch_are_the_same_until_the_last_round(start: Memory) -> None:
    def before_the_end(arm: str) -> list[Row]:
        rows = lived("acumula3", arm, start)
        return [r for r in rows if (r["stage"], r["round"]) not in {
            ("dev_rounds", 2), ("dev_validation", 2), ("dev_probe", 2),
        }]  # fmt: skip

    assert before_the_end("fija") == before_the_end("lote_final")
    assert not any(row["tried"] for row in lived("acumula3", "fija", start))
    assert any(row["tried"] for row in lived("acumula3", "lote_final", start))


def test_nothing_is_proposed_without_failures(
    start: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    life = life_of("acumula3", "recursiva", start=start)
    assert life._candidates(1) == []


def test_candidates_stand_on_the_rows_of_their_round_with_what_they_explain(start: Memory) -> None:
    rows = [r for r in lived("acumula3", "recursiva", start) if r["stage"] == "dev_rounds"]
    tried = [row for row in rows if row["tried"]]
    assert tried
    assert all(edit_of(int(row["edit"])) for row in tried)
    assert all(not row["edit"] for row in rows if not row["tried"])
    kept = [row for row in tried if row["accepted"] or row["pieces"]]
    assert kept
    assert all(row["explained"] for row in kept)
    assert not any(row["explained"] for row in tried if row not in kept)


def test_destroyed_is_zero_and_is_counted_by_looking(start: Memory) -> None:
    assert all(row["destroyed"] == 0 for row in lived("acumula3", "recursiva", start))
    life = life_of("acumula3", "fija", start=start)
    rows = iter(life.rows())
    next(rows)
    life.memory._trials.pop()
    life.start = None
    assert any(row["destroyed"] for row in rows)


def test_a_starting_memory_that_was_changed_on_disk_shows_in_the_last_row(start: Memory) -> None:
    rows = iter(life_of("acumula3", "fija", start=start).rows())
    first = next(rows)
    assert start.path is not None
    start.path.write_bytes(b"\n".join(start.path.read_bytes().split(b"\n")[:-3]) + b"\n")
    last = [first, *rows][-1]
    assert last["destroyed"] == 2


def scripted(life: Life, script: dict[int, list[Edit]]) -> None:
    """Let the life propose these edits in these rounds."""
    life._candidates = lambda number: [  # type: ignore[method-assign]
        Proposal(edit, 1) for edit in script.get(number, [])
    ]


SILENT, LIT = Edit(1, 5), Edit(PIECES, 3)


def test_an_edit_that_was_turned_down_before_and_enters_now_is_redeemed(start: Memory) -> None:
    life = life_of("acumula3", "recursiva", start=start)
    scripted(life, {1: [SILENT], 2: [SILENT, LIT]})
    opens = iter([False, True, True])
    life.gate = lambda before, after: next(opens)
    rows = [row for row in life.rows() if row["tried"]]
    told = [(r["round"], r["accepted"], r["pieces"], r["redeemed"]) for r in rows]
    assert told == [(1, 0, 0, 0), (2, 1, 0, 1), (2, 0, 2, 0)]
    assert life.configuration.edits == (SILENT, LIT)


def test_a_pair_that_was_turned_down_and_enters_as_its_other_half_is_redeemed(
    start: Memory,
) -> None:
    pair, half, other = Edit(PIECES, 0b11), Edit(PIECES, 0b01), Edit(PIECES, 0b10)
    life = life_of("acumula3", "recursiva", start=start)
    scripted(life, {1: [pair, half], 2: [other]})
    opens = iter([False, True, True])
    life.gate = lambda before, after: next(opens)
    assert [row["redeemed"] for row in life.rows() if row["tried"]] == [0, 0, 1]
    life = life_of("acumula3", "recursiva", start=start)
    scripted(life, {1: [pair], 2: [other]})
    opens = iter([False, True])
    life.gate = lambda before, after: next(opens)
    assert [row["redeemed"] for row in life.rows() if row["tried"]] == [0, 0], "half is not all"


def test_without_accumulating_every_round_begins_at_the_base(start: Memory) -> None:
    life = life_of("acumula3", "sin_acumular", start=start)
    scripted(life, {1: [SILENT], 2: [LIT]})
    life.gate = lambda before, after: True
    seen = []
    learn = life._learn

    def watched(number: int) -> list[Row]:
        seen.append(life.configuration.edits)
        return learn(number)

    life._learn = watched  # type: ignore[method-assign]
    list(life.rows())
    assert seen == [(), ()]


def test_chance_draws_as_many_of_each_menu_as_would_have_been_proposed(start: Memory) -> None:
    recursive, chance = (life_of("acumula3", arm, start=start) for arm in ("recursiva", "azar"))
    for life in (recursive, chance):
        life._learn(1)
        life.signals.update({"idle": 2, "retoggle": 1})
    proposed, drawn = recursive._candidates(1), chance._candidates(1)
    for is_piece in (False, True):
        counts = [
            sum((p.edit.kind == PIECES) == is_piece for p in each) for each in (proposed, drawn)
        ]
        assert counts[0] == counts[1] > 0
    assert drawn == chance._candidates(1)
    assert drawn != proposed


@pytest.mark.parametrize("arm", ["recursiva", "sin_acumular", "lote_final"])
def test_all_that_is_proposed_in_a_life_could_be_drawn_by_chance_there(
    arm: str, start: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent: list[Proposal] = []
    drawable: list[bool] = []
    proposals = Diagnosis.proposals

    def watched(self: Diagnosis, faults: Iterable[Fault]) -> list[Proposal]:
        found = proposals(self, faults)
        drawable.append({proposal.edit for proposal in found} <= set(self.valid()))
        answers = self.tables.second_answers
        silent.extend(p for p in found if answers.get(p.edit.key, 0) == UNKNOWN)
        return found

    monkeypatch.setattr(Diagnosis, "proposals", watched)
    list(life_of("acumula3", arm, start=start, each=6).rows())
    assert drawable
    assert all(drawable)
    assert silent, "a place that contradicts itself and is silent is among them"


def test_what_a_shape_refused_clears_no_fault_of_an_id_of_the_same_number(start: Memory) -> None:
    life = life_of("acumula3", "recursiva", start=start)
    shape = Shape(0, 20, 0, 9, 9, 1)
    life.faults = [Fault(1, True, 60 * 8, shape, UNKNOWN, Belief(NONE, SECOND, 24))]
    life.cleared = {(FIRST, 24)}
    assert life._candidates(1)
    life.cleared = {(SECOND, 24)}
    assert life._candidates(1) == []


def test_given_pieces_are_on_from_the_start_and_only_memory_is_edited(start: Memory) -> None:
    life = life_of("acumula3", "piezas_dadas", start=start)
    assert life.configuration.pieces == 31
    life.signals.update({"idle": 9, "pickdrop": 9})
    assert life.pieces_menu(life.signals) == []


def test_validation_learns_nothing_and_the_probe_only_on_a_copy(start: Memory) -> None:
    bench = Bench()
    life = life_of("acumula3", "recursiva", bench, start)
    witnessed, before = len(life.memory), Experience(life.memory)
    life._validate(1, life.configuration)
    list(life._probe(0))
    assert len(life.memory) == witnessed
    assert (life.experience.first, life.experience.cases) == (before.first, before.cases)
    assert {stage for _, _, stage in bench.worlds} == {"dev_validation", "dev_probe"}


def test_the_bank_is_played_by_the_base_and_by_the_final_configuration(start: Memory) -> None:
    life = life_of("acumula3", "recursiva", start=start)
    played = []
    sit = life.sit
    life.configuration = life.configuration.with_(LIT)

    def watched(configuration, tables, *, learning):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        played.append((configuration.pieces, learning))
        return sit(configuration, tables, learning=learning)

    life.sit = watched  # type: ignore[method-assign]
    assert len(list(life._bank())) == 12
    assert played == [(0, False), (3, False)]
