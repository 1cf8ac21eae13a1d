from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echoctl.canon import MAX_INT, canonical
from echoctl.errors import CheckFailed, Inconsistent
from echoctl.track import Job
from echoctl.track.files import (
    OutcomeWriter,
    begins_with,
    outcome_hash,
    plain_line,
    read_outcome,
    salvaged,
)

JOB = Job(id="exam-1", phase="exam", keys={"unit": 1, "arm": "vacia"})
GOOD: dict[str, Any] = {
    "stage": "exam", "family": "F", "round": 1, "episode": 0, "seed": 7, "harm": 3, "aid": -1,
}  # fmt: skip


def write(path: Path, *rows: dict[str, Any], **digests: str) -> str:
    with OutcomeWriter(path, JOB, ["harm", "aid"]) as writer:
        for row in rows:
            writer.row(row)
        return writer.finish(artefacts={}, digests=digests)


def test_an_outcome_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    hashed = write(tmp_path / "o", GOOD, {**GOOD, "episode": 1}, memory="ab")
    outcome = read_outcome(tmp_path / "o")
    assert outcome.job == "exam-1"
    assert outcome.keys == {"unit": 1, "arm": "vacia"}
    assert outcome.columns == ("stage", "family", "round", "episode", "seed", "aid", "harm")
    assert list(outcome.rows) == [("exam", "F", 1, 0, 7, -1, 3), ("exam", "F", 1, 1, 7, -1, 3)]
    assert outcome.digests == {"memory": "ab"}
    assert outcome_hash(tmp_path / "o") == hashed


def test_the_same_rows_give_the_same_file_whatever_its_name_and_the_hour(tmp_path: Path) -> None:
    write(tmp_path / "one", GOOD)
    write(tmp_path / "other name", GOOD)
    data = (tmp_path / "one").read_bytes()
    assert data == (tmp_path / "other name").read_bytes()
    assert data[4:8] == b"\0\0\0\0"


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("harm", 0.5, "harm must be an integer, not float"),
        ("harm", float("nan"), "harm must be an integer, not float nan"),
        ("harm", float("inf"), "harm must be an integer, not float inf"),
        ("harm", True, "harm must be an integer, not bool True"),
        ("harm", "3", "harm must be an integer, not str '3'"),
        ("harm", None, "harm must be an integer, not NoneType"),
        ("harm", MAX_INT + 1, "harm is beyond 2^53 - 1"),
        ("seed", 1e400, "seed must be an integer"),
        ("family", 3, "family must be a short string, not 3"),
        ("stage", None, "stage must be a short string"),
    ],
)
def test_a_wrong_value_is_refused_with_job_row_and_field(
    tmp_path: Path, field: str, value: object, says: str
) -> None:
    with pytest.raises(CheckFailed) as caught:
        write(tmp_path / "o", GOOD, {**GOOD, field: value})
    assert caught.value.why.startswith("job exam-1, row 1: ")
    assert says in caught.value.why


def test_a_missing_and_an_unknown_measure_are_named(tmp_path: Path) -> None:
    row = {key: value for key, value in GOOD.items() if key != "aid"} | {"joy": 1}
    with pytest.raises(CheckFailed, match="row 0: lacks aid; has also joy"):
        write(tmp_path / "o", row)


def test_an_outcome_that_was_cut_does_not_pass_for_a_finished_one(tmp_path: Path) -> None:
    write(tmp_path / "o", *[GOOD] * 100)
    data = (tmp_path / "o").read_bytes()
    (tmp_path / "cut").write_bytes(data[:-20])
    with pytest.raises(Inconsistent, match="cannot be unpacked"):
        read_outcome(tmp_path / "cut")
    plain = gzip.decompress(data)
    (tmp_path / "short").write_bytes(gzip.compress(plain[: plain.index(b'{"artefacts"')]))
    with pytest.raises(Inconsistent, match="it has no end"):
        read_outcome(tmp_path / "short")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (b',-1,3]', b',-1, 3]', "not in canonical form"),
        (b',-1,3]', b',-1,3.5]', "something that is no integer"),
        (b',-1,3]', b',-1,true]', "something that is no integer"),
        (b',-1,3]', b',-1]', "has 6 entries, not 7"),
        (b'"rows":1}', b'"rows":2}', "1 rows where the end says 2"),
        (b'outcome/1"', b'outcome/2"', "first line is not an outcome's"),
    ],
)  # fmt: skip
def test_an_outcome_that_was_edited_is_refused(
    tmp_path: Path, old: bytes, new: bytes, says: str
) -> None:
    write(tmp_path / "o", GOOD)
    plain = gzip.decompress((tmp_path / "o").read_bytes())
    assert old in plain
    (tmp_path / "o").write_bytes(gzip.compress(plain.replace(old, new)))
    with pytest.raises(Inconsistent, match=says):
        read_outcome(tmp_path / "o")


def test_what_was_salvaged_of_a_torn_file_is_a_beginning_of_the_whole(tmp_path: Path) -> None:
    rows = [{**GOOD, "seed": n * 7919 % 10007, "harm": n} for n in range(5000)]
    write(tmp_path / "whole", *rows)
    data = (tmp_path / "whole").read_bytes()
    for cut in (0, 5, len(data) // 2, len(data) - 9, len(data)):
        (tmp_path / "torn").write_bytes(data[:cut])
        assert begins_with(tmp_path / "whole", salvaged(tmp_path / "torn"))
    rows[2000]["harm"] += 1
    write(tmp_path / "other", *rows)
    assert not begins_with(tmp_path / "whole", salvaged(tmp_path / "other"))


@given(st.lists(st.integers(-MAX_INT, MAX_INT) | st.text(st.characters(exclude_categories=["Cs"]))))
def test_the_fast_line_is_the_canonical_line(values: list[int | str]) -> None:
    assert plain_line(values) == canonical(values) + b"\n"
