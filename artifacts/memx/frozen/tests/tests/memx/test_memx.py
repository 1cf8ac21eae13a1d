from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memx_bench import FAMILIES, PERMIT, Bench, contract, find, jobs_of, play_all, shortened

from echoctl.arena import play
from echoctl.chain import verify
from echoctl.draws import Draws
from echoctl.mind import Belief, Memory, Mind, Reading, Tables, Trial
from echoctl.mind.gate import BLOCK, MODIFY, OK
from echoctl.mind.reading import NOWHERE
from echoctl.mind.roles import AUTO, ENTER, HURT, NOOP, UNKNOWN, WATCH, Shape
from echoctl.track import Row, job_from_json
from echoctl.tracks.memx import IDS_A1, Memx, artefact, chain_name, ids_of
from echoctl.tracks.memx.arms import (
    ARMS,
    MEMORY_OF,
    BlindGate,
    deranged,
    seat,
    shuffled,
    told,
    turned_down,
    without_movers,
)
from echoctl.worlds import build

MEASURES = (
    "success", "harm", "collision", "waste", "steps", "asks", "hits", "blocks", "modifies",
    "destroyed",
)  # fmt: skip
EPISODES = 2


# --- planning -------------------------------------------------------------------------------


def test_training_is_one_job_a_macro_and_memory_in_the_contracts_family_order() -> None:
    jobs = jobs_of("training")
    assert len(jobs) == 20
    learned = find(jobs, "aprendida", "A1", 3)
    assert [family for family, _ in learned.inputs["worlds"]] == list(FAMILIES[:4])
    assert {len(seeds) for _, seeds in learned.inputs["worlds"]} == {20}
    orthogonal = find(jobs, "ortogonal", "A1", 3)
    assert [(f, len(seeds)) for f, seeds in orthogonal.inputs["worlds"]] == [("DoorKey-6x6", 80)]
    assert orthogonal.inputs["stage"] == "orthogonal"


@pytest.mark.parametrize("phase", ["development", "exam"])
def test_a_phase_is_ten_macros_in_two_regimes_under_nine_arms(phase: str) -> None:
    jobs = jobs_of(phase)
    assert len(jobs) == len({job.id for job in jobs}) == 180
    assert {str(job.keys["arm"]) for job in jobs} == set(ARMS)
    per_family = 50 if phase == "exam" else 20
    assert {len(seeds) for job in jobs for _, seeds in job.inputs["worlds"]} == {per_family}


def test_all_arms_and_regimes_play_the_same_worlds() -> None:
    for unit in (1, 7):
        worlds = {
            json.dumps(job.inputs["worlds"]) for job in jobs_of("exam") if job.keys["unit"] == unit
        }
        assert len(worlds) == 1


def test_a_job_needs_the_memory_that_its_arm_starts_from_and_nothing_else() -> None:
    made = {name for job in jobs_of("training") for name in job.makes}
    for job in jobs_of("exam"):
        arm, unit = str(job.keys["arm"]), job.keys["unit"]
        wanted = (f"{MEMORY_OF[arm]}-m{unit:02d}.jsonl",) if arm in MEMORY_OF else ()
        assert job.needs == wanted
        assert set(job.needs) <= made


def test_only_sin_cota_is_read_without_a_bound() -> None:
    for job in jobs_of("exam"):
        loose = job.keys["arm"] == "sin_cota"
        assert job.inputs["reading"] == (
            {"n_min": 1, "umbral": 1} if loose else {"n_min": 3, "umbral": 85}
        )


def test_planning_is_pure_and_jobs_survive_json() -> None:
    for phase in ("training", "development", "exam"):
        jobs = jobs_of(phase)
        assert jobs == jobs_of(phase)
        assert [job_from_json(json.loads(json.dumps(job.as_json()))) for job in jobs] == jobs


# --- playing --------------------------------------------------------------------------------


def test_training_writes_a_chained_memory_and_loses_nothing(trained: Path) -> None:
    for memory in ("aprendida", "ortogonal"):
        path = trained / f"{memory}-m01.jsonl"
        head = verify(path, "memory", chain_name(memory, 1))
        assert head.size == len(path.read_bytes().splitlines()) > 100


def test_training_gives_one_trial_an_episode_id_and_kind(trained: Path) -> None:
    memory = Memory(chain_name("aprendida", 1), trained / "aprendida-m01.jsonl")
    keys = Counter((trial.episode, trial.id, trial.kind) for trial in memory)
    assert set(keys.values()) == {1}
    assert {trial.episode for trial in memory} == set(range(80))


def test_training_learns_that_what_moves_hurts_and_orthogonal_training_does_not(
    trained: Path,
) -> None:
    moving = Shape(1, 8, 0, 16, 16, 2)
    for name, role in (("aprendida", HURT), ("ortogonal", UNKNOWN)):
        tables = Tables(Reading(), Memory(chain_name(name, 1), trained / f"{name}-m01.jsonl"))
        place = tables.reading.place(tables.reading.sign(moving), ENTER)
        assert tables.second_answers.get(place, UNKNOWN) == role


@pytest.mark.parametrize("regime", ["A1", "A2"])
@pytest.mark.parametrize("arm", ARMS)
def test_every_arm_yields_one_whole_row_an_episode(arm: str, regime: str, trained: Path) -> None:
    job = shortened(find(jobs_of("development"), arm, regime), EPISODES)
    rows = play_all(job, trained)
    assert [(row["family"], row["episode"]) for row in rows] == [
        (family, episode) for family in FAMILIES for episode in range(EPISODES)
    ]
    for row in rows:
        assert set(row) == {"stage", "family", "round", "episode", "seed", *MEASURES}
        assert all(type(row[measure]) is int for measure in MEASURES)
        assert row["stage"] == "development"
        assert row["destroyed"] == 0
        assert int(row["success"]) + int(row["harm"]) <= 1
        assert int(row["blocks"]) + int(row["modifies"]) <= int(row["asks"])
        assert int(row["hits"]) <= int(row["asks"])


def test_a1_has_one_bijection_and_a2_a_new_one_for_every_episode_and_all_arms(
    trained: Path,
) -> None:
    built: dict[str, set[tuple[str, int, tuple[str | int, ...]]]] = {}
    for regime, arm in (("A1", "vacia"), ("A2", "vacia"), ("A2", "marginal"), ("A2", "oraculo")):
        bench = Bench(trained)
        list(Memx().play(shortened(find(jobs_of("development"), arm, regime), 2), bench))
        built[regime + arm] = {(family, seed, ids) for family, seed, ids, _ in bench.built}
    assert {ids for _, _, ids in built["A1vacia"]} == {IDS_A1}
    assert len({ids for _, _, ids in built["A2vacia"]}) == 2 * len(FAMILIES)
    assert built["A2vacia"] == built["A2marginal"] == built["A2oraculo"]


def test_the_order_of_jobs_and_what_ran_before_change_no_row(trained: Path) -> None:
    jobs = [
        shortened(find(jobs_of("development"), arm, regime), EPISODES)
        for arm in ("marginal", "barajada", "aleatorio", "aprendida")
        for regime in ("A1", "A2")
    ]
    forth = {job.id: play_all(job, trained) for job in jobs}
    back = {job.id: play_all(job, trained) for job in reversed(jobs)}
    assert forth == back


@pytest.mark.parametrize("seed", ["0", "1"])
def test_another_process_with_another_hash_seed_gives_the_same_rows(
    seed: str, trained: Path
) -> None:
    program = (
        "import json, sys; from pathlib import Path; from memx_bench import *\n"
        "out = []\n"
        "for arm in ('barajada', 'marginal', 'sin_auto'):\n"
        "    job = shortened(find(jobs_of('development'), arm, 'A2'), 2)\n"
        "    out.append(play_all(job, Path(sys.argv[1])))\n"
        "print(json.dumps(out))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, str(trained)],
        capture_output=True, text=True, timeout=300, check=True, cwd=Path(__file__).parent,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )  # fmt: skip
    here = [
        play_all(shortened(find(jobs_of("development"), arm, "A2"), 2), trained)
        for arm in ("barajada", "marginal", "sin_auto")
    ]
    assert json.loads(done.stdout) == here


def test_training_again_gives_the_same_bytes(trained: Path, tmp_path: Path) -> None:
    play_all(find(jobs_of("training"), "aprendida", "A1"), tmp_path)
    name = "aprendida-m01.jsonl"
    assert (tmp_path / name).read_bytes() == (trained / name).read_bytes()


def test_destroyed_counts_a_memory_file_that_lost_a_record_during_the_job(
    trained: Path, tmp_path: Path
) -> None:
    path = tmp_path / "aprendida-m01.jsonl"
    path.write_bytes((trained / path.name).read_bytes())
    job = shortened(find(jobs_of("development"), "aprendida", "A1"), 1)
    rows: list[Row] = []
    for row in Memx().play(job, Bench(tmp_path)):
        if not rows:
            lines = path.read_bytes().splitlines(keepends=True)
            path.write_bytes(b"".join(lines[:-3]))
        rows.append(row)
    assert [row["destroyed"] for row in rows] == [0] * (len(rows) - 1) + [3]


# --- the arms -------------------------------------------------------------------------------


def test_the_contracts_arms_are_the_ones_that_can_be_played() -> None:
    assert tuple(arm.id for arm in contract().arms) == ARMS


@given(st.integers(2, 9), st.integers(0, 10**6))
def test_a_derangement_keeps_every_item_and_leaves_none_in_place(size: int, name: int) -> None:
    items = list(range(size))
    order = deranged(items, Draws("test", name))
    assert sorted(order) == items
    assert all(one != other for one, other in zip(items, order, strict=True))


def test_every_derangement_of_four_comes_up() -> None:
    seen = {tuple(deranged(range(4), Draws("test", name))) for name in range(300)}
    assert len(seen) == 9


@given(st.integers(0, 10**6))
def test_shuffled_has_the_same_rows_under_other_keys(trained_tables: Tables, name: int) -> None:
    other = shuffled(trained_tables, Draws("test", name))
    for mine, theirs in (
        (trained_tables.first, other.first), (trained_tables.second, other.second)
    ):  # fmt: skip
        assert sorted(mine.values()) == sorted(theirs.values())
        assert Counter(key & 7 for key in mine) == Counter(key & 7 for key in theirs)
    for place, row in trained_tables.second.items():
        assert other.second.get(place) is not row, "no signature keeps its own counts"
    for key, row in other.first.items():
        assert other.first_answers[key] == Reading().answer(1, row)
    assert sum(one != UNKNOWN for one in other.first_answers) == sum(
        one != UNKNOWN for one in trained_tables.first_answers
    )


@pytest.fixture(scope="module")
def trained_tables(trained: Path) -> Tables:
    return Tables(Reading(), Memory(chain_name("aprendida", 1), trained / "aprendida-m01.jsonl"))


def test_sin_auto_loses_mover_shapes_and_every_row_of_ids_seen_moving() -> None:
    still, moving = Shape(0, 3, 0, 6, 6, 1), Shape(1, 3, 0, 6, 6, 1)
    kept = [Trial(0, 1, ENTER, NOOP, still), Trial(0, 1, WATCH, 0, still)]
    lost = [
        Trial(0, 2, ENTER, HURT, moving),
        Trial(0, 2, WATCH, AUTO, moving),
        Trial(1, 2, ENTER, HURT, still),
    ]
    assert without_movers([*kept, *lost]) == kept


def test_the_oracle_is_told_every_role() -> None:
    truth = {
        1: frozenset({"HURT"}), 2: frozenset({"GOAL"}), 3: frozenset({"NOOP", "PICK", "GOAL"}),
        4: frozenset({"NOOP", "OPEN"}), 5: frozenset({"FREE"}), 6: frozenset({"HURT", "AUTO"}),
        7: frozenset({"NOOP", "PICK"}),
    }  # fmt: skip
    answers = told(truth, Reading()).first_answers
    assert [answers[id_ * 8 + ENTER] for id_ in range(1, 8)] == [1, 2, 3, 3, 0, 1, 3]
    assert [answers[id_ * 8 + 1] for id_ in (3, 4, 7)] == [2, 3, 6]
    assert [answers[id_ * 8 + 3] for id_ in (4, 7)] == [5, 3]
    assert answers[6 * 8 + WATCH] == AUTO


NOTHING_BELIEVED = Belief(UNKNOWN, NOWHERE, -1)


def test_marginal_vetoes_and_prunes_at_the_given_rates() -> None:
    gate = BlindGate(asks=200, blocks=30, modifies=90)
    verdicts = Counter(
        gate.named("test", episode).judge(key, NOTHING_BELIEVED)
        for episode in range(100)
        for key in range(100)
    )
    assert abs(verdicts[BLOCK] - 1500) < 150
    assert abs(verdicts[MODIFY] - 4500) < 250
    assert verdicts[OK] > 3500


def test_marginal_draws_once_an_episode_id_and_kind_and_looks_at_no_key() -> None:
    gate = BlindGate(asks=2, blocks=1, modifies=0).named("test", 1)
    first = [gate.judge(key, NOTHING_BELIEVED) for key in range(200)]
    assert first == [gate.judge(key, NOTHING_BELIEVED) for key in range(200)]
    assert first != [gate.named("test", 2).judge(key, NOTHING_BELIEVED) for key in range(200)]
    assert {OK, BLOCK} == set(first)


def test_marginal_judges_what_was_lived_like_every_gate() -> None:
    gate = BlindGate(asks=1, blocks=0, modifies=0).named("test")
    assert gate.judge(8, Belief(HURT, 0, 8)) == BLOCK
    assert gate.judge(8, Belief(NOOP, 0, 8)) == MODIFY


def test_marginal_with_no_asks_to_learn_from_lets_all_pass() -> None:
    gate = BlindGate(0, 0, 0).named("test")
    assert {gate.judge(key, NOTHING_BELIEVED) for key in range(50)} == {OK}


def test_going_round_lava_and_walls_counts_as_turning_them_down(trained: Path) -> None:
    job = shortened(find(jobs_of("development"), "aprendida", "A1"), 5)
    memory = Memory(chain_name("aprendida", 1), trained / artefact("aprendida", 1))
    sit = seat("aprendida", "A1", Reading(), memory)
    for seed in dict(job.inputs["worlds"])["LavaCrossingS9N1"]:
        world = build("LavaCrossingS9N1", seed, ids=ids_of("A1", 1, "", 0), permit=PERMIT)
        start, mind = world.reset(), sit(world)
        assert isinstance(mind, Mind)
        play(mind, world)
        assert mind.counts()[2:] == (0, 0), "the gate alone is asked about the goal only"
        ground = start.cells[start.pos]
        assert turned_down(mind, ground) == (3, 1, 1), "of goal, wall and lava"


def test_marginal_is_not_the_empty_arm_where_nothing_moves_and_the_goal_is_known(
    trained: Path,
) -> None:
    jobs, harm = jobs_of("development"), {}
    for arm in ("vacia", "marginal", "aprendida"):
        rows = play_all(shortened(find(jobs, arm, "A1"), 12), trained)
        harm[arm] = sum(int(r["harm"]) for r in rows if r["family"] == "LavaCrossingS9N1")
    assert harm["aprendida"] < harm["marginal"] < harm["vacia"]


def test_learned_memory_does_better_than_none_and_movers_are_what_sin_auto_lacks(
    trained: Path,
) -> None:
    jobs = jobs_of("development")

    def total(arm: str, regime: str, family: str, measure: str) -> int:
        rows = play_all(shortened(find(jobs, arm, regime), 6), trained)
        return sum(int(row[measure]) for row in rows if row["family"] == family)

    assert total("vacia", "A1", "LavaCrossingS9N1", "harm") > 3
    assert total("aprendida", "A1", "LavaCrossingS9N1", "harm") == 0
    obstacles = "Dynamic-Obstacles-6x6"
    assert total("aprendida", "A2", obstacles, "harm") < total("sin_auto", "A2", obstacles, "harm")
    assert total("aprendida", "A1", "DoorKey-6x6", "waste") < total(
        "vacia", "A1", "DoorKey-6x6", "waste"
    )
