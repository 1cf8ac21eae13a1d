"""A track's words for the values of a log: ornaments that never keep a report back."""

from __future__ import annotations

from desk_kit import edit

from echoctl import desk
from echoctl.desk import Workspace
from echoctl.verdict.shown import LogResult

LOG = "verdict:\n  green: [P1]\nexhibits:\n  - log: {measure: harm, by: unit}\n"
WORD = "    def word(self, contract, measure, value):\n        return {}\n\n    def plan("


def test_a_log_is_told_in_the_words_of_its_track(toy: Workspace) -> None:
    edit(toy.contract_path("toy"), "verdict:\n  green: [P1]\n", LOG)
    word = desk.words(toy, desk.load(toy, "toy"))
    assert word("harm", 3) == "3"
    edit(toy.root / "tracks" / "toy.py", "    def plan(", WORD.format("f'{measure} of {value}'"))
    word = desk.words(toy, desk.load(toy, "toy"))
    assert word("harm", 3) == "harm of 3"


def test_a_track_that_fails_at_a_word_or_does_not_load_leaves_the_number(toy: Workspace) -> None:
    edit(toy.contract_path("toy"), "verdict:\n  green: [P1]\n", LOG)
    contract = desk.load(toy, "toy")
    edit(toy.root / "tracks" / "toy.py", "    def plan(", WORD.format("{}[value]"))
    assert desk.words(toy, contract)("harm", 3) == "3"
    (toy.root / "tracks" / "toy.py").write_text("no Python at all")
    assert desk.words(toy, contract)("harm", 3) == "3"


def test_development_shows_what_the_contract_asked_to_see(toy: Workspace) -> None:
    edit(toy.contract_path("toy"), "verdict:\n  green: [P1]\n", LOG)
    played = desk.dev(toy, "toy", units=2)
    assert played.verdict is not None
    (log,) = played.verdict.exhibits
    assert isinstance(log, LogResult)
    assert {line.name for line in log.lines} == {1, 2}
    assert played.as_json()["verdict"]["exhibits"][0]["measure"] == "harm"
