from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from contract_toys import EXAMPLES, REAL, SMALLEST, load, real

from echoctl.canon import canonical
from echoctl.contract import canonical_bytes, canonical_json, from_canonical, load_contract
from echoctl.errors import Inconsistent

EVERY = [*REAL, *EXAMPLES]


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_a_contract_comes_back_from_its_canonical_form(path: Path) -> None:
    contract = load(path)
    data = canonical_bytes(contract)
    assert from_canonical(data) == contract
    assert canonical_bytes(from_canonical(data)) == data
    assert canonical(json.loads(data)) == data


def test_order_of_keys_comments_and_spelling_of_numbers_do_not_show_in_the_canonical_form() -> None:
    lines = SMALLEST.splitlines(keepends=True)
    moved = "".join([*lines[1:4], lines[0], *lines[4:]]).replace(
        "at_least: 1}", 'at_least: "100 %"}'
    )
    assert canonical_bytes(load_contract(moved.encode(), "x")) == canonical_bytes(
        load_contract(SMALLEST.encode(), "x")
    )


def test_every_default_is_filled_in_and_a_check_is_only_what_it_is() -> None:
    value = canonical_json(load_contract(SMALLEST.encode(), "x"))
    assert value["schema"] == "echoctl/1"
    assert value["reviews_required"] == 1
    assert value["requires"] == []
    assert value["approved"] is None
    assert value["worlds"]["exam"]["rounds"] == 1
    assert value["predictions"]["P"]["decides"] is True
    (check,) = value["predictions"]["P"]["all"]
    assert list(check) == ["share"]
    assert check["share"]["at_least"] == "1/1"


def test_an_exhibit_is_only_what_it_is() -> None:
    assert [sorted(one) for one in canonical_json(real("memx"))["exhibits"]] == [
        ["gif", "text"], ["gif", "text"], ["published", "text"],
    ]  # fmt: skip
    data = SMALLEST + "exhibits:\n  - table: {measures: [harm], by: unit}\n"
    (shown,) = canonical_json(load_contract(data.encode(), "x"))["exhibits"]
    assert sorted(shown) == ["table", "text"]
    assert shown["table"]["against"] is None


def test_keys_are_called_as_in_the_yaml_and_days_and_thresholds_are_texts() -> None:
    value = canonical_json(real("memx"))
    assert value["approved"]["on"] == "2026-10-20"
    assert value["predictions"]["P1"]["all"][0]["ratio"]["at_most"] == "3/10"
    assert "not" in value["predictions"]["P5"]["all"][0]
    assert set(value["verdict"]["labels"][0]["when"]) == {"pass", "fail"}


def _changed(edit: str) -> bytes:
    value: dict[str, Any] = json.loads(canonical_bytes(load_contract(SMALLEST.encode(), "x")))
    exec(edit, {"v": value})
    return canonical(value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{",
        b"[" * 100_000,
        canonical_bytes(load_contract(SMALLEST.encode(), "x")) + b"\n",
        _changed("v['extra'] = 1"),
        _changed("del v['question']"),
        _changed("del v['reviews_required']"),
        _changed("v['predictions']['P']['all'][0]['share']['at_least'] = '2/2'"),
        _changed("v['unit']['count'] = '4'"),
    ],
)
def test_what_is_not_a_contract_in_canonical_form_is_inconsistent(data: bytes) -> None:
    with pytest.raises(Inconsistent):
        from_canonical(data)
