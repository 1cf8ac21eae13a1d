"""Every byte of every artefact flipped, one at a time; ledgers mangled in every way.

What a flip may do without being noticed is listed here, and nowhere else.
"""

from __future__ import annotations

import gzip
import zlib
from copy import deepcopy

import exam_builder as builder
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from echoctl import verify

OUTSIDE = {
    "artifacts/toy/exam/timings.jsonl": "timings are volatile and compared with nothing",
}
"""Whole files whose bytes decide nothing."""


@pytest.fixture(scope="module")
def exam() -> builder.Exam:
    return builder.build(builder.contract(units=5, episodes=1, reviews_required=1))


def flipped(data: bytes, at: int) -> bytes:
    """Return the bytes with one bit of byte `at` turned, another bit from byte to byte."""
    return data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :]


def excused(exam: builder.Exam, name: str, data: bytes, at: int) -> str:
    """Return why a flip need not be noticed, or nothing."""
    if name in OUTSIDE:
        return OUTSIDE[name]
    if name.endswith(".gz"):
        try:
            same = gzip.decompress(data) == gzip.decompress(exam.files[name])
        except (OSError, EOFError, zlib.error):
            same = False
        return "padding bits of the compressed stream: the content is the same" if same else ""
    if name == "artifacts/toy/ledger.jsonl":
        start = exam.files[name].rindex(b'"time":"')
        last = len(exam.files[name]) - 4
        return "the time of the last line, on which nothing follows" if start < at <= last else ""
    return ""


def unnoticed(exam: builder.Exam, step: int) -> tuple[int, int, list[tuple[str, int]]]:
    """Flip every `step`-th byte; return how many, how many were excused, and what got past."""
    tried, outside, past = 0, 0, []
    for name, original in sorted(exam.files.items()):
        for at in range(len(name) % step, len(original), step):
            tried += 1
            files = {**exam.files, name: flipped(original, at)}
            report = verify.verify(builder.InMemory(files), exam.ident)
            if report.failed:
                assert not report.decided
            elif excused(exam, name, files[name], at):
                outside += 1
            else:
                past.append((name, at))
    return tried, outside, past


def test_a_flipped_byte_is_noticed_wherever_it_lies(exam: builder.Exam) -> None:
    assert not exam.verified().failed
    tried, outside, past = unnoticed(exam, 211)
    assert tried > 200
    assert outside < 5
    assert past == []


@pytest.mark.nightly
def test_every_flipped_byte_is_noticed(exam: builder.Exam) -> None:
    tried, outside, past = unnoticed(exam, 1)
    print(f"flipped {tried}, noticed {tried - outside - len(past)}, listed as outside {outside}")
    assert tried == sum(map(len, exam.files.values()))
    assert outside < 100
    assert past == []


def test_a_missing_file_is_noticed_whichever_it_is(exam: builder.Exam) -> None:
    for name in exam.files:
        if name in OUTSIDE:
            continue
        files = {other: data for other, data in exam.files.items() if other != name}
        assert verify.verify(builder.InMemory(files), exam.ident).failed, name


def test_a_longer_or_shorter_file_is_noticed_whichever_it_is(exam: builder.Exam) -> None:
    for name, data in exam.files.items():
        if name in OUTSIDE:
            continue
        for other in (data[:-1], data + b"\n", data + data, b""):
            files = {**exam.files, name: other}
            assert verify.verify(builder.InMemory(files), exam.ident).failed, name


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_mangled_ledger_never_verifies(data: st.DataObject) -> None:
    """Lines dropped, doubled, swapped or moved, with the links as they were or made again."""
    exam = deepcopy(_MANGLED)
    last = len(exam.ledger) - 1
    one, other = data.draw(st.integers(0, last)), data.draw(st.integers(0, last))
    how = data.draw(st.sampled_from(["drop", "double", "swap", "move"]))
    if how == "drop":
        del exam.ledger[one]
    elif how == "double":
        exam.ledger.insert(other, deepcopy(exam.ledger[one]))
    elif how == "swap":
        exam.ledger[one], exam.ledger[other] = exam.ledger[other], exam.ledger[one]
    else:
        exam.ledger.insert(other, exam.ledger.pop(one))
    if data.draw(st.booleans()):
        exam.relink()
    else:
        exam.save()
    if exam.files == _MANGLED.files:
        return
    assert exam.verified().failed


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["ledger.jsonl", "frozen/manifest.json",
       "frozen/contract.json", "exam/claim.json", "verdict.json", "frozen/code.zip",
       "exam/jobs/01-a1-learned.jsonl.gz", "frozen/artefacts/memory-01.gz"]))  # fmt: skip
def test_noise_in_a_file_is_a_finding_and_never_an_exception(noise: bytes, name: str) -> None:
    files = {**_MANGLED.files, f"artifacts/toy/{name}": noise}
    report = verify.verify(builder.InMemory(files), "toy")
    assert report.failed
    assert verify.told(report, "en")


_MANGLED = builder.build(builder.contract(units=5, episodes=1))
