from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echoctl.canon import canonical, digest
from echoctl.chain import Chain, Head, origin, quarantine, read, torn, verify
from echoctl.errors import Inconsistent

TEXT = st.text('aé\n"€😀', max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
RECORDS = st.lists(st.dictionaries(st.sampled_from("abcde"), VALUES, max_size=3), max_size=6)


def build(path: Path, records: list[dict[str, Any]], role: str = "ledger") -> Head:
    path.unlink(missing_ok=True)
    with Chain(path, role, "toy") as chain:
        for record in records:
            chain.append(record)
        return chain.head


@given(records=RECORDS)
def test_what_was_appended_is_read_back_in_order_and_linked(
    records: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("chain") / "ledger.jsonl"
    head = build(path, records)
    links = list(read(path, "ledger", "toy"))
    assert [{k: v for k, v in link.record.items() if k not in {"n", "prev"}} for link in links] == (
        records
    )
    assert (links[-1].head if links else origin("ledger", "toy")) == head
    assert verify(path, "ledger", "toy") == head


def test_the_links_are_those_of_the_formats_page(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    head = build(path, [{"event": "freeze"}, {"event": "claim"}])
    first, second = path.read_bytes().splitlines()
    assert json.loads(first)["prev"] == digest("ledger", b"toy")
    assert json.loads(second)["prev"] == digest("ledger", first)
    assert head == Head(2, digest("ledger", second))


def test_a_file_that_does_not_exist_is_an_empty_chain(tmp_path: Path) -> None:
    assert verify(tmp_path / "none", "ledger", "toy") == origin("ledger", "toy")
    assert torn(tmp_path / "none") == b""
    assert quarantine(tmp_path / "none") is None


def test_a_chain_goes_on_where_it_was_left(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    build(path, [{"a": 1}], role="memory")
    with Chain(path, "memory", "toy", sync=True) as chain:
        chain.append({"a": 2})
        head = chain.head
    assert head.size == 2
    assert verify(path, "memory", "toy") == head


@pytest.mark.parametrize(
    "damage",
    [
        lambda lines: lines[:1] + lines[2:],
        lambda lines: [lines[1], lines[0], lines[2]],
        lambda lines: [lines[0], lines[1].replace(b'"a":1', b'"a":7'), lines[2]],
        lambda lines: [lines[0], lines[1], lines[1], lines[2]],
        lambda lines: [lines[0].replace(b",", b", "), *lines[1:]],
        lambda lines: [b"[]", *lines],
        lambda lines: [*lines, b"not json"],
        lambda lines: [*lines, b""],
        lambda lines: [lines[0], lines[1].replace(b'"a":1', b'"a":1.0'), lines[2]],
        lambda lines: [lines[0].replace(b'"a":0', b'"a":9,"a":0'), *lines[1:]],
    ],
    ids=[
        "removed",
        "swapped",
        "edited",
        "doubled",
        "spaced",
        "not an object",
        "not JSON",
        "empty line",
        "float",
        "duplicate key",
    ],
)
def test_a_damaged_line_is_found(damage: Any, tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    build(path, [{"a": 0}, {"a": 1}, {"a": 2}])
    path.write_bytes(b"".join(line + b"\n" for line in damage(path.read_bytes().splitlines())))
    with pytest.raises(Inconsistent) as caught:
        verify(path, "ledger", "toy")
    assert "line" in caught.value.why
    with pytest.raises(Inconsistent):
        Chain(path, "ledger", "toy")


def test_a_line_changed_together_with_its_own_link_breaks_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    build(path, [{"a": 0}, {"a": 1}])
    first, second = path.read_bytes().splitlines()
    forged = canonical({**json.loads(first), "a": 5})
    path.write_bytes(forged + b"\n" + second + b"\n")
    with pytest.raises(Inconsistent, match="line 2"):
        verify(path, "ledger", "toy")


def test_a_memory_cannot_pass_for_a_ledger_nor_for_another_name(tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    build(path, [{"a": 0}], role="memory")
    with pytest.raises(Inconsistent, match="does not follow"):
        verify(path, "ledger", "toy")
    with pytest.raises(Inconsistent, match="does not follow"):
        verify(path, "memory", "other")


@given(cut=st.integers(1, 200))
def test_a_write_cut_anywhere_is_quarantined_and_the_rest_still_verifies(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("chain") / "ledger.jsonl"
    build(path, [{"a": 0}])
    kept = path.read_bytes()
    whole = verify(path, "ledger", "toy")
    with Chain(path, "ledger", "toy") as chain:
        chain.append({"text": "x" * 150})
    full = path.read_bytes()
    cut = min(cut, len(full) - len(kept) - 1)
    path.write_bytes(full[: len(kept) + cut])
    with pytest.raises(Inconsistent, match="torn"):
        verify(path, "ledger", "toy")
    aside = quarantine(path)
    assert aside is not None
    assert aside.read_bytes() == full[len(kept) : len(kept) + cut]
    assert path.read_bytes() == kept
    assert verify(path, "ledger", "toy") == whole
    assert quarantine(path) is None


def test_each_torn_line_gets_a_file_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    names = []
    for piece in (b'{"a"', b"x" * 200_000):
        with path.open("ab") as file:
            file.write(piece)
        aside = quarantine(path)
        assert aside is not None
        assert aside.read_bytes() == piece
        names.append(aside.name)
    assert names == ["ledger.jsonl.torn-0", "ledger.jsonl.torn-1"]


def test_a_record_may_not_bring_the_chains_own_fields_nor_floats(tmp_path: Path) -> None:
    with Chain(tmp_path / "c", "ledger", "toy") as chain:
        for bad in ({"n": 3}, {"prev": ""}, {"x": 0.5}):
            with pytest.raises(ValueError, match=r"float|written by the chain"):
                chain.append(bad)
        assert chain.head.size == 0
    assert (tmp_path / "c").read_bytes() == b""


def test_an_append_refuses_a_file_that_somebody_else_has_lengthened(tmp_path: Path) -> None:
    path = tmp_path / "c"
    with Chain(path, "ledger", "toy") as one, Chain(path, "ledger", "toy") as two:
        one.append({"a": 1})
        with pytest.raises(Inconsistent, match="another process"):
            two.append({"a": 1})
    assert verify(path, "ledger", "toy").size == 1


@pytest.mark.parametrize(
    "inside",
    [
        b'"a":9007199254740993', b'"a":1e3', b'"a":-0', b'"a":NaN', b'"a":"\\u00e9"', b'"a":"\\/"',
        b'"a":"\\ud800"', b'"a":"\\u000A"', b'"a": 1', b'"a":01',
    ],
)  # fmt: skip
def test_only_the_one_spelling_of_a_value_is_accepted(inside: bytes, tmp_path: Path) -> None:
    path = tmp_path / "c"
    prev = origin("ledger", "toy").hash.encode()
    path.write_bytes(b"{" + inside + b',"n":0,"prev":"' + prev + b'"}\n')
    with pytest.raises(Inconsistent, match="canonical"):
        verify(path, "ledger", "toy")


def test_appending_never_reads_the_file_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c"
    with Chain(path, "ledger", "toy") as chain:
        chain.append({"a": 1})

        def refuse(*_: object, **__: object) -> object:
            raise AssertionError("read while appending")

        monkeypatch.setattr(Path, "open", refuse)
        chain.append({"a": 2})
        assert chain.head.size == 2
