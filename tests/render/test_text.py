from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

import echoctl.render
from echoctl.render.text import CATALOGUES, Text

ROOMS = [Path(echoctl.render.__path__[0]), Path(echoctl.render.__path__[0]).parent / "cli"]
SOURCES = [
    p for room in ROOMS for p in sorted(room.glob("*.py")) if not p.name.startswith("words_")
]
NAMED = re.compile(r"""\bt(?:\.maybe)?\(\s*(f?)["']([^"']+)["']""")


def used() -> tuple[set[str], set[str]]:
    """Return keys that the code names whole, and beginnings of keys that it completes."""
    whole: set[str] = set()
    beginnings: set[str] = set()
    for source in SOURCES:
        text = source.read_text(encoding="utf-8")
        for form, key in NAMED.findall(text):
            (beginnings if form and "{" in key else whole).add(key.partition("{")[0])
        for key in re.findall(r"""["']([a-z_.-]+)["']""", text):
            if key in CATALOGUES["en"]:
                whole.add(key)
    return {key for key in whole if not key.endswith(".")}, beginnings


def test_both_languages_have_the_same_keys() -> None:
    assert CATALOGUES["en"].keys() == CATALOGUES["es"].keys()


def test_both_languages_take_the_same_values() -> None:
    def fields(text: str) -> set[str]:
        return {name for _, name, _, _ in Formatter().parse(text) if name}

    for key, english in CATALOGUES["en"].items():
        assert fields(english) == fields(CATALOGUES["es"][key]), key


def test_every_key_that_the_code_names_has_words() -> None:
    whole, beginnings = used()
    assert len(whole) > 50
    assert whole - CATALOGUES["en"].keys() == set()
    for beginning in beginnings - {""}:
        assert any(key.startswith(beginning) for key in CATALOGUES["en"]), beginning


def test_no_key_has_words_that_nobody_says() -> None:
    whole, beginnings = used()
    ends = ("what", "note", "mark", "action", "end", "grade", "event", "state", "relation")
    for key in CATALOGUES["en"]:
        spoken = key in whole or any(b and key.startswith(b) for b in beginnings)
        assert spoken or key.split(".")[0] in ends or key in {"green", "red"}, key


def test_an_unknown_key_is_an_error() -> None:
    with pytest.raises(KeyError):
        Text("en")("no such key")


@pytest.mark.parametrize("lang", ["en", "es"])
def test_no_words_are_empty(lang: str) -> None:
    assert all(words.strip() for words in CATALOGUES[lang].values())
