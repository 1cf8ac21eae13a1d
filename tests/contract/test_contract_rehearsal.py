from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from contract_toys import EXAMPLES, REAL, SMALLEST, load, real

from echoctl.contract import (
    Contract,
    Seeds,
    canonical_bytes,
    canonical_json,
    from_canonical,
    load_contract,
    rehearsal_of,
)
from echoctl.contract.exhibits import Exhibit, Table
from echoctl.contract.values import Where
from echoctl.errors import CheckFailed, UsageError

EVERY = [*REAL, *EXAMPLES]
PROSE = ("prior_knowledge", "choices", "declarations", "amendments", "risks", "does_not_claim",
         "question", "claim", "sources")  # fmt: skip


def words(value: Any) -> set[str]:
    """Return every key and text of a JSON value."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, list):
        return {word for inner in value for word in words(inner)}
    if isinstance(value, dict):
        return set(value) | {word for inner in value.values() for word in words(inner)}
    return set()


def sealed_seeds(contract: Contract) -> set[int]:
    seeds = Seeds.lay_out(contract)
    return {row[-1] for name in contract.sealed_stages for row in seeds.blocks[name].seeds()}


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
@pytest.mark.parametrize("units", [1, 3])
def test_a_rehearsal_holds_no_exam_family_and_no_exam_seed(path: Path, units: int) -> None:
    contract = load(path)
    rehearsed = rehearsal_of(contract, units)
    design = {key: v for key, v in canonical_json(rehearsed).items() if key not in PROSE}
    assert not words(design) & contract.sealed_families
    assert not rehearsed.sealed_families
    assert not sealed_seeds(rehearsed) & sealed_seeds(contract)
    rehearsal = Seeds.lay_out(contract).ranges("rehearsal")
    assert sealed_seeds(rehearsed) <= set(rehearsal)


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_a_rehearsal_keeps_the_rule_that_decides_and_the_seeds_of_open_stages(path: Path) -> None:
    contract = load(path)
    rehearsed = rehearsal_of(contract, 2)
    assert rehearsed.id == contract.id
    assert rehearsed.verdict == contract.verdict
    assert rehearsed.arms == contract.arms
    assert rehearsed.sealed_stages == contract.sealed_stages
    whole, part = Seeds.lay_out(contract), Seeds.lay_out(rehearsed)
    for name, stage in rehearsed.worlds.items():
        for family in stage.families if not stage.sealed else ():
            assert part.of(name, family, 1) == whole.of(name, family, 1)


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_a_rehearsal_is_itself_a_contract_in_canonical_form(path: Path) -> None:
    rehearsed = rehearsal_of(load(path), 1)
    assert from_canonical(canonical_bytes(rehearsed)) == rehearsed


def test_filters_name_the_stand_ins_wherever_they_stand() -> None:
    rehearsed = rehearsal_of(real("memx"), 3)
    third = rehearsed.predictions["P3"].all
    assert third[0].ratio is not None
    assert third[0].ratio.where.family == "Dynamic-Obstacles-6x6"
    inside = third[4].any
    assert inside is not None
    assert inside[1].wilcoxon is not None
    assert inside[1].wilcoxon.where.family == "KeyCorridorS3R1"
    fourth = rehearsal_of(real("acumula"), 3).predictions["Q4"].all[0].not_
    assert fourth is not None
    assert fourth.not_lower is not None
    assert fourth.not_lower.against is not None
    assert fourth.not_lower.against.family == "LavaCrossingS9N1"


def test_settings_name_the_stand_ins_too() -> None:
    contract = real("memx")
    named = contract.model_copy(update={"settings": {"order": ("ShiftTest", {"DistShift2": 1})}})
    assert rehearsal_of(named, 1).settings["order"] == (
        "island_navigation",
        {"LavaCrossingS9N1": 1},
    )


def test_exhibits_show_a_unit_that_is_rehearsed() -> None:
    data = SMALLEST + "exhibits:\n  - gif: {unit: 4, arms: [new]}\n"
    gif = rehearsal_of(load_contract(data.encode(), "x"), 2).exhibits[0].gif
    assert gif is not None
    assert gif.unit == 2


def test_exhibits_look_at_the_stand_ins() -> None:
    there, here = Where(family="DistShift2", round=0), Where(family=("DistShift2",), round=1)
    table = Table(measures=("harm",), by="round", where=here, against=there)
    asked = real("acumula").model_copy(update={"exhibits": (Exhibit(table=table),)})
    shown = rehearsal_of(asked, 1).exhibits[0].table
    assert shown is not None
    assert shown.against is not None
    assert shown.against.family == "LavaCrossingS9N1"
    assert shown.where.family == ("LavaCrossingS9N1",)


def test_published_figures_are_not_set_beside_worlds_that_only_stand_in() -> None:
    memx = real("memx")
    assert [one.kind for one in memx.exhibits] == ["gif", "gif", "published"]
    assert [one.kind for one in rehearsal_of(memx, 1).exhibits] == ["gif", "gif"]


def test_nothing_is_required_before_a_rehearsal() -> None:
    rehearsed = rehearsal_of(real("acumula3"), 2)
    assert rehearsed.requires == ()
    assert rehearsed.reviews_required == 0


@pytest.mark.parametrize("units", [0, -1, 5])
def test_more_units_than_the_contract_has_cannot_be_rehearsed(units: int) -> None:
    with pytest.raises(UsageError, match="4 units"):
        rehearsal_of(load_contract(SMALLEST.encode(), "x"), units)


def test_without_a_stand_in_an_exam_family_is_not_rehearsed_in_its_own_name() -> None:
    contract = real("memx")
    exam = contract.worlds["exam"].model_copy(update={"stand_in": {}})
    bare = contract.model_copy(update={"worlds": {**contract.worlds, "exam": exam}})
    with pytest.raises(CheckFailed, match="DistShift2 of the sealed stage exam has no stand-in"):
        rehearsal_of(bare, 1)


def test_without_seeds_of_its_own_a_contract_is_not_rehearsed_on_exam_seeds() -> None:
    contract = load_contract(SMALLEST.encode(), "x")
    few = {key: block for key, block in contract.seeds.items() if key != "rehearsal"}
    with pytest.raises(CheckFailed, match="no seeds for a rehearsal"):
        rehearsal_of(contract.model_copy(update={"seeds": few}), 1)
    small = contract.seeds["rehearsal"].model_copy(update={"size": 1})
    with pytest.raises(CheckFailed, match="needs 2 seeds"):
        rehearsal_of(contract.model_copy(update={"seeds": {**few, "rehearsal": small}}), 2)


def test_a_rehearsal_changes_nothing_in_the_contract_that_it_rehearses() -> None:
    contract = real("memx")
    before = json.dumps(canonical_json(contract))
    rehearsal_of(contract, 3)
    assert json.dumps(canonical_json(contract)) == before
