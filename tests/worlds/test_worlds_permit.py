"""The permit at the door."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echoctl.errors import Refused, UsageError
from echoctl.worlds import CONFORMANCE_SEEDS, FAMILIES, Permit, build

SEEDS = ((5_000_000, 5_000_100), (7_000_000, 7_000_010))
DEVELOPMENT = Permit.development(["LavaGapS7", "DoorKey-6x6"], SEEDS)


def test_a_development_permit_builds_what_it_covers() -> None:
    for seed in (5_000_000, 5_000_099, 7_000_009):
        world = build("LavaGapS7", seed, ids=("a",), permit=DEVELOPMENT)
        assert (world.family, world.seed, world.permit) == ("LavaGapS7", seed, "development")


@pytest.mark.parametrize("family", ["DistShift2", "UnlockPickup", "ShiftTest"])
def test_a_development_permit_cannot_build_an_exam_family(family: str) -> None:
    with pytest.raises(Refused) as refusal:
        build(family, 5_000_000, ids=("a",), permit=DEVELOPMENT)
    assert family in refusal.value.why
    assert "5000000" in refusal.value.why
    assert "development permit" in refusal.value.why


@pytest.mark.parametrize("seed", [4_999_999, 5_000_100, 7_000_010, 0, 900_000])
def test_a_development_permit_cannot_build_a_seed_outside_its_ranges(seed: int) -> None:
    with pytest.raises(Refused) as refusal:
        build("LavaGapS7", seed, ids=("a",), permit=DEVELOPMENT)
    assert str(seed) in refusal.value.why
    assert "LavaGapS7" in refusal.value.why
    assert refusal.value.exit_code == 3


def test_a_refused_world_is_not_even_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    import echoctl.worlds

    def drawn(*_: object) -> None:
        raise AssertionError("a start was drawn")

    monkeypatch.setattr(echoctl.worlds, "start_of", drawn)
    with pytest.raises(Refused):
        build("DistShift2", 5_000_000, ids=("a",), permit=DEVELOPMENT)
    with pytest.raises(AssertionError, match="a start was drawn"):
        build("LavaGapS7", 5_000_000, ids=("a",), permit=DEVELOPMENT)


@pytest.mark.parametrize("seed", [-1, 1.0, "1", True, None])
def test_a_seed_that_is_no_whole_number_is_a_usage_error(seed: Any) -> None:
    with pytest.raises(UsageError, match="non-negative integer"):
        build("LavaGapS7", seed, ids=("a",), permit=DEVELOPMENT)


def test_an_unknown_family_is_a_usage_error_that_lists_the_known_ones() -> None:
    with pytest.raises(UsageError) as refusal:
        build("LavaGapS8", 5_000_000, ids=("a",), permit=DEVELOPMENT)
    assert "LavaGapS7" in refusal.value.todo


@pytest.mark.parametrize(
    "parts",
    [
        ("exam", frozenset(["LavaGapS7"]), ((0, 1),), None),
        ("exam", frozenset(["LavaGapS7"]), ((0, 1),), ""),
        ("development", frozenset(["LavaGapS7"]), ((0, 1),), "3f9a"),
        ("holiday", frozenset(["LavaGapS7"]), ((0, 1),), None),
        ("development", frozenset(["LavaGapS7"]), ((1, 1),), None),
        ("development", frozenset(["LavaGapS7"]), ((-1, 1),), None),
        ("conformance", frozenset(["LavaGapS7"]), ((0, 1),), None),
        ("conformance", frozenset(["LavaGapS7"]), ((900_000, 1_000_001),), None),
    ],
)
def test_a_permit_that_makes_no_sense_cannot_be_written(parts: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=r"permit|range|seeds"):
        Permit(*parts)


def test_an_exam_permit_names_its_claim() -> None:
    permit = Permit.exam(["ShiftTest"], [(2_000_000, 2_000_050)], "3f9a")
    assert permit.claim == "3f9a"
    assert not permit.covers("ShiftTest", 2_000_050)
    assert permit.covers("ShiftTest", 2_000_049)


def test_a_conformance_permit_reaches_reserved_seeds_only() -> None:
    permit = Permit.conformance(FAMILIES)
    first, past = CONFORMANCE_SEEDS
    assert permit.covers("DistShift2", first)
    assert permit.covers("DistShift2", past - 1)
    assert not permit.covers("DistShift2", past)
    assert not permit.covers("DistShift2", first - 1)


RANGES = st.tuples(st.integers(0, 10**7), st.integers(1, 10**4)).map(lambda r: (r[0], r[0] + r[1]))


@given(st.sets(st.sampled_from(sorted(FAMILIES))), st.lists(RANGES, max_size=4))
def test_a_permit_survives_json(families: set[str], ranges: list[tuple[int, int]]) -> None:
    for permit in (
        Permit.development(families, ranges),
        Permit.rehearsal(families, ranges),
        Permit.exam(families, ranges, "c0ffee"),
    ):
        assert Permit.from_json(permit.as_json()) == permit


def test_json_that_is_no_permit_is_refused() -> None:
    value = DEVELOPMENT.as_json()
    with pytest.raises(ValueError, match="not a permit"):
        Permit.from_json({**value, "extra": 1})


@given(st.sampled_from(sorted(FAMILIES)), st.integers(0, 10**7), st.lists(RANGES, max_size=4))
def test_check_refuses_exactly_what_covers_denies(
    family: str, seed: int, ranges: list[tuple[int, int]]
) -> None:
    permit = Permit.development(["LavaGapS7", "ShiftTest", "DistShift1"], ranges)
    if permit.covers(family, seed):
        permit.check(family, seed)
    else:
        with pytest.raises(Refused):
            permit.check(family, seed)
