from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echoctl.chain import verify
from echoctl.errors import Inconsistent
from echoctl.mind import Memory, Shape, Trial, from_postal, to_postal
from echoctl.mind.memory import record_of, trial_from_record
from echoctl.mind.roles import KINDS, ROLES
from echoctl.wsp import pack, unpack

TRIALS = st.builds(
    Trial,
    st.integers(0, 256 * 101 - 1),
    st.integers(0, 255),
    st.integers(0, len(KINDS) - 1),
    st.integers(0, len(ROLES) - 1),
    st.builds(
        Shape, st.integers(0, 1), st.integers(0, 65535), st.integers(0, 200),
        st.integers(0, 100), st.integers(0, 100), st.integers(0, 255),
    ),
)  # fmt: skip
SOME = [Trial(at, 5 + at, 0, at % 7, Shape(0, at, 0, 6, 6, 1)) for at in range(8)]


def remember(path: Path, trials: list[Trial]) -> Memory:
    memory = Memory("toy", path, append=True)
    for trial in trials:
        memory.witness(trial)
    memory.close()
    return memory


@given(TRIALS)
def test_every_record_packs_to_a_16_byte_postal_and_back(trial: Trial) -> None:
    data = pack(to_postal(trial))
    assert len(data) == 16
    assert from_postal(unpack(data)) == trial


@given(TRIALS)
def test_a_record_comes_back_from_its_json(trial: Trial) -> None:
    assert trial_from_record(json.loads(json.dumps(record_of(trial)))) == trial


@pytest.mark.parametrize(
    "shape",
    [
        Shape(0, 65536, 0, 6, 6, 0),
        Shape(0, 1, 201, 6, 6, 0),
        Shape(0, 1, 0, 101, 6, 0),
        Shape(0, 1, 0, 6, 101, 0),
        Shape(0, 1, 0, 6, 6, 256),
    ],
)
def test_a_record_that_does_not_fit_a_postal_is_refused_not_clipped(shape: Shape) -> None:
    with pytest.raises(ValueError, match="from"):
        pack(to_postal(Trial(0, 1, 0, 0, shape)))


def test_a_postal_of_another_vocabulary_is_no_memory() -> None:
    with pytest.raises(ValueError, match="domain"):
        from_postal(to_postal(SOME[0])._replace(domain=0x4C))


def test_a_memory_on_disk_is_a_hash_chain_that_only_grows(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    first = remember(path, SOME[:3])
    begun = path.read_bytes()
    assert verify(path, "memory", "toy") == first.head
    again = Memory("toy", path, append=True)
    assert list(again) == SOME[:3]
    again.witness(SOME[3])
    again.close()
    assert path.read_bytes().startswith(begun)
    assert again.head == verify(path, "memory", "toy")
    assert again.head.size == 4
    assert again.destroyed() == again.destroyed_on_disk() == 0


def test_a_memory_with_a_changed_record_does_not_open(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    remember(path, SOME)
    path.write_bytes(path.read_bytes().replace(b'"id":6', b'"id":7'))
    with pytest.raises(Inconsistent):
        Memory("toy", path)


def test_destroyed_counts_what_is_gone_or_different_in_the_process() -> None:
    memory = Memory("toy")
    for trial in SOME:
        memory.witness(trial)
    assert memory.destroyed() == 0
    memory._trials[2] = memory._trials[2]._replace(role=0, id=99)
    assert memory.destroyed() == 1
    del memory._trials[5:]
    assert memory.destroyed() == 4


@pytest.mark.parametrize(
    ("damage", "lost"),
    [
        (lambda lines: lines[:-2], 2),
        (lambda lines: [], 8),
        (lambda lines: [lines[0].replace(b'"id":5', b'"id":6'), *lines[1:]], 1),
        (lambda lines: [b"not json", *lines[1:]], 1),
        (lambda lines: [b'{"episode":0}', *lines[1:]], 1),
        (lambda lines: [*lines, lines[0]], 0),
    ],
    ids=["cut", "emptied", "edited", "spoiled", "emptied record", "only longer"],
)
def test_destroyed_on_disk_looks_at_the_file(damage, lost: int, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    path = tmp_path / "memory.jsonl"
    memory = remember(path, SOME)
    assert memory.destroyed_on_disk() == 0
    path.write_bytes(b"".join(line + b"\n" for line in damage(path.read_bytes().splitlines())))
    assert memory.destroyed_on_disk() == lost
    path.unlink()
    assert memory.destroyed_on_disk() == len(SOME)


@pytest.mark.parametrize(
    "record",
    [
        {"episode": -1, "id": 1, "kind": 0, "role": 0, "shape": [0, 1, 0, 6, 6, 0]},
        {"episode": 0, "id": 256, "kind": 0, "role": 0, "shape": [0, 1, 0, 6, 6, 0]},
        {"episode": 0, "id": 1, "kind": 6, "role": 0, "shape": [0, 1, 0, 6, 6, 0]},
        {"episode": 0, "id": 1, "kind": 0, "role": 7, "shape": [0, 1, 0, 6, 6, 0]},
        {"episode": 0, "id": True, "kind": 0, "role": 0, "shape": [0, 1, 0, 6, 6, 0]},
        {"episode": 0, "id": 1, "kind": 0, "role": 0, "shape": [0, 1, 0, 6, 6, 0.5]},
    ],
)
def test_a_record_out_of_range_is_no_trial(record: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"trial|no such"):
        trial_from_record(record)
