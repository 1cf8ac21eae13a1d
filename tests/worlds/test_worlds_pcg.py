"""NumPy's generator, reproduced on Python integers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from echoctl.worlds.pcg import Pcg64

SEEDS = st.integers(0, 2**63)
BOUNDS = st.one_of(st.integers(2, 20), st.integers(2, 2**32 - 1), st.just(2**31 + 1))


def pair_of_generators(seed: int) -> tuple[np.random.Generator, Pcg64]:
    numpy = np.random.Generator(np.random.PCG64(seed))
    return numpy, Pcg64.read(numpy.bit_generator.state)


def state_of(numpy: np.random.Generator) -> tuple[int, int, int, int]:
    return Pcg64.read(numpy.bit_generator.state).as_tuple()


def two_draws(numpy: np.random.Generator, bound: int) -> tuple[int, int]:
    first = int(numpy.integers(0, bound))
    return first, int(numpy.integers(0, bound))


@given(SEEDS, st.lists(BOUNDS, min_size=1, max_size=40))
def test_bounded_draws_and_the_state_after_each_equal_numpys(seed: int, bounds: list[int]) -> None:
    numpy, ours = pair_of_generators(seed)
    for bound in bounds:
        assert ours.below(bound) == numpy.integers(0, bound)
        assert ours.as_tuple() == state_of(numpy)


@given(SEEDS, st.booleans(), st.lists(BOUNDS, min_size=1, max_size=20))
def test_a_pair_is_two_draws_whichever_half_comes_first(
    seed: int, odd: bool, bounds: list[int]
) -> None:
    numpy, ours = pair_of_generators(seed)
    if odd:
        assert ours.below(3) == numpy.integers(0, 3)
    for bound in bounds:
        assert ours.pair(bound) == two_draws(numpy, bound)
        assert ours.as_tuple() == state_of(numpy)


@given(st.booleans())
def test_the_one_rejection_that_obstacles_can_meet_is_a_zero_half(second: bool) -> None:
    numpy, ours = pair_of_generators(11)
    numpy.integers(0, 3)  # one half is used, the other is kept: put a zero in its place
    state = dict(numpy.bit_generator.state)
    state["uinteger"] = 0
    numpy.bit_generator.state = state
    ours = Pcg64.read(state)
    if second:
        assert ours.below(3) == numpy.integers(0, 3)
    else:
        assert ours.pair(3) == two_draws(numpy, 3)
    assert ours.as_tuple() == state_of(numpy)
