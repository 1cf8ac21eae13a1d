from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from contract_toys import EXAMPLES, REAL, changed, load, real
from hypothesis import given, settings
from hypothesis import strategies as st

from echoctl.canon import canonical, digest
from echoctl.contract import Contract, Seeds, conflicts, load_contract
from echoctl.errors import CheckFailed, Inconsistent

EVERY = [*REAL, *EXAMPLES]


def toy(*swaps: tuple[str, str]) -> Contract:
    return load_contract(changed(*swaps), "toy.yaml")


def laid_out_by_hand(contract: Contract, name: str) -> list[tuple[str, int, int, int, int]]:
    """Lay a block out once more, as plainly as docs/formats.md says it."""
    stage, following, out = contract.worlds[name], contract.seeds[name].base, []
    rounds = 1 if stage.same_each_round else stage.rounds
    for unit in range(1, (stage.units or contract.unit.count) + 1):
        for number in range(stage.first_round, stage.first_round + rounds):
            for family in stage.families_in(number):
                for episode in range(stage.per_unit):
                    out.append((family, unit, number, episode, following))
                    following += 1
    return out


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_seeds_are_consecutive_in_the_order_unit_round_family_episode(path: Any) -> None:
    contract = load(path)
    seeds = Seeds.lay_out(contract)
    for name in contract.worlds:
        by_seed = sorted(seeds.blocks[name].seeds(), key=lambda row: row[-1])
        assert by_seed == laid_out_by_hand(contract, name)


def test_memx_begins_where_its_contract_says() -> None:
    seeds = Seeds.lay_out(real("memx"))
    assert seeds.of("exam", "DistShift2", 1)[:2] == (2000000, 2000001)
    assert seeds.of("exam", "UnlockPickup", 1)[0] == 2000050
    assert seeds.of("exam", "DistShift2", 2)[0] == 2000200
    assert len(seeds.of("orthogonal", "DoorKey-6x6", 10)) == 80
    assert seeds.ranges("exam") == range(2000000, 2100000)


def test_a_probe_plays_the_same_worlds_in_every_round_and_rounds_play_new_ones() -> None:
    seeds = Seeds.lay_out(real("acumula3"))
    probe = [seeds.of("probe", "DistShift2", 1, round=number) for number in range(6)]
    assert len(set(probe)) == 1
    rounds = [seeds.of("rounds", "DistShift1", 1, round=number) for number in range(1, 6)]
    assert len({seed for one in rounds for seed in one}) == 50


def test_a_family_has_no_seeds_in_a_round_that_does_not_play_it() -> None:
    seeds = Seeds.lay_out(real("acumula"))
    assert seeds.of("rounds", "DistShift2", 1, round=3) != ()
    assert seeds.of("rounds", "DistShift2", 1, round=2) == ()


@pytest.mark.parametrize(
    "asked",
    [("nowhere", "plain", 1, 1), ("exam", "other", 1, 1), ("exam", "plain", 5, 1),
     ("exam", "plain", 1, 2), ("exam", "plain", 1, 0)],
)  # fmt: skip
def test_asking_for_seeds_that_the_contract_does_not_have_fails(
    asked: tuple[str, str, int, int],
) -> None:
    block, family, unit, number = asked
    with pytest.raises(KeyError):
        Seeds.lay_out(toy()).of(block, family, unit, round=number)


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_published_seeds_read_back_and_their_hash_is_the_documented_one(path: Any) -> None:
    contract = load(path)
    seeds = Seeds.lay_out(contract)
    data = seeds.as_bytes()
    assert Seeds.read(data, contract) == seeds
    assert data.endswith(b"}\n")
    found = json.loads(data)
    body = {key: value for key, value in found.items() if key != "hash"}
    assert found["hash"] == digest("seeds", canonical(body)) == seeds.digest


@settings(deadline=None)
@given(st.data())
def test_a_seed_changed_by_hand_is_named_with_both_numbers(data: st.DataObject) -> None:
    contract = toy(
        ("exam: {families: [plain], per_unit: 1", "exam: {families: [plain], per_unit: 3"),
        ("base: 20, size: 4", "base: 40, size: 12"),
    )
    value = Seeds.lay_out(contract).as_json()
    unit = data.draw(st.integers(1, 4))
    episode = data.draw(st.integers(0, 2))
    seeds = value["blocks"]["exam"]["family"]["plain"][str(unit)][0]
    before = seeds[episode]
    seeds[episode] = data.draw(st.integers(0, 10**6).filter(lambda seed: seed != before))
    if data.draw(st.booleans()):  # a forger who also mends the hash is caught all the same
        body = {key: inner for key, inner in value.items() if key != "hash"}
        value["hash"] = digest("seeds", canonical(body))
    with pytest.raises(Inconsistent) as caught:
        Seeds.read(canonical(value) + b"\n", contract)
    assert f"blocks.exam.family.plain.{unit}[0][{episode}] is {seeds[episode]}" in caught.value.why
    assert str(before) in caught.value.why
    assert caught.value.exit_code == 5


def _drop_unit(value: dict[str, Any]) -> None:
    del value["blocks"]["exam"]["family"]["plain"]["2"]


def _extra_block(value: dict[str, Any]) -> None:
    value["blocks"]["more"] = {"base": 5, "size": 1, "family": {}}


def _truth_for_one(value: dict[str, Any]) -> None:
    value["blocks"]["open"]["family"]["plain"]["2"][0][0] = True


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (_drop_unit, "blocks.exam.family.plain lacks 2"),
        (_extra_block, "blocks has more"),
        (_truth_for_one, "is True; the contract lays out 1"),
        (lambda value: value.update(hash="0" * 64), "hash is '0000"),
        (lambda value: value.update(contract="other"), "contract is 'other'"),
    ],
)
def test_any_other_change_of_the_published_seeds_is_noticed(
    edit: Callable[[dict[str, Any]], None], said: str
) -> None:
    contract = toy()
    value = Seeds.lay_out(contract).as_json()
    edit(value)
    with pytest.raises(Inconsistent) as caught:
        Seeds.read(canonical(value), contract)
    assert said in caught.value.why


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[1.5]", b'{"a": NaN}', b"[" * 100_000])
def test_what_is_no_seed_file_is_inconsistent_and_not_a_traceback(data: bytes) -> None:
    with pytest.raises(Inconsistent):
        Seeds.read(data, toy())


def test_the_right_seeds_in_other_bytes_are_noticed() -> None:
    contract = toy()
    pretty = json.dumps(Seeds.lay_out(contract).as_json(), indent=1).encode()
    with pytest.raises(Inconsistent, match="other bytes"):
        Seeds.read(pretty, contract)


def test_blocks_of_two_contracts_that_share_a_seed_are_named() -> None:
    one = Seeds.lay_out(toy())
    second = toy(
        ("id: smallest", "id: second"),
        ("exam: {base: 10}", "exam: {base: 12}"),
        ("open: {base: 0}", "open: {base: 50}"),
        ("base: 20", "base: 60"),
    )
    other = Seeds.lay_out(second)
    (sentence,) = conflicts([one, other])
    assert (
        "seeds 12 to 13 belong to both smallest.exam (10 to 13) and second.exam (12 to 15)"
        in sentence
    )


def test_the_contracts_of_this_repository_share_no_seed() -> None:
    assert conflicts([Seeds.lay_out(load(path)) for path in REAL]) == []


def test_blocks_that_overlap_inside_a_contract_cannot_be_laid_out() -> None:
    contract = toy()
    seeds = {**contract.seeds, "exam": contract.seeds["exam"].model_copy(update={"base": 2})}
    with pytest.raises(CheckFailed, match="seeds 2 to 3 belong to both"):
        Seeds.lay_out(contract.model_copy(update={"seeds": seeds}))


def test_a_block_that_is_too_small_for_its_seeds_cannot_be_laid_out() -> None:
    contract = toy()
    seeds = {**contract.seeds, "exam": contract.seeds["exam"].model_copy(update={"size": 3})}
    with pytest.raises(CheckFailed, match="holds 4 seeds and its size is 3"):
        Seeds.lay_out(contract.model_copy(update={"seeds": seeds}))
