"""NumPy's PCG64 on Python integers: the same draws, bit for bit, without a call into NumPy.

MiniGrid moves its obstacles with ``np_random.integers(low, high)``. For a scalar that is Lemire's
bounded method on 32-bit halves of 64-bit outputs, the unused half kept for the next draw.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

MULTIPLIER: Final = 0x2360ED051FC65DA44385DF649FCCF645
MASK64: Final = (1 << 64) - 1
MASK128: Final = (1 << 128) - 1


class Pcg64:
    """A PCG64 generator whose state is four Python integers."""

    __slots__ = ("half", "has_half", "increment", "state")

    def __init__(self, state: int, increment: int, has_half: int, half: int) -> None:
        self.state = state
        self.increment = increment
        self.has_half = has_half
        self.half = half

    @classmethod
    def read(cls, state: Mapping[str, Any]) -> Pcg64:
        """Return the generator of NumPy's ``bit_generator.state``; ValueError if not PCG64."""
        if state["bit_generator"] != "PCG64":
            raise ValueError(f"not PCG64: {state['bit_generator']}")
        inner = state["state"]
        return cls(inner["state"], inner["inc"], state["has_uint32"], state["uinteger"])

    def as_tuple(self) -> tuple[int, int, int, int]:
        """Return state, increment, has_uint32 and uinteger, as NumPy names them."""
        return (self.state, self.increment, self.has_half, self.half)

    def next32(self) -> int:
        """Return the next 32 bits."""
        if self.has_half:
            self.has_half = 0
            return self.half
        state = self.state = (self.state * MULTIPLIER + self.increment) & MASK128
        word = (state >> 64) ^ (state & MASK64)
        turn = state >> 122
        word = ((word >> turn) | (word << (64 - turn))) & MASK64
        self.has_half = 1
        self.half = word >> 32
        return word & 0xFFFFFFFF

    def below(self, bound: int) -> int:
        """Return what ``Generator.integers(0, bound)`` returns, 2 <= bound < 2**32."""
        product = self.next32() * bound
        if product & 0xFFFFFFFF < bound:
            threshold = (0x100000000 - bound) % bound
            while product & 0xFFFFFFFF < threshold:
                product = self.next32() * bound
        return product >> 32
