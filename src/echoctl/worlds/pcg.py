"""NumPy's PCG64 on Python integers: the same draws, bit for bit, without a call into NumPy.

MiniGrid moves its obstacles with ``np_random.integers(low, high)``. For a scalar that is Lemire's
bounded method on 32-bit halves of 64-bit outputs, the unused half kept for the next draw.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

MULTIPLIER: Final = 0x2360ED051FC65DA44385DF649FCCF645
MASK32: Final = (1 << 32) - 1
MASK64: Final = (1 << 64) - 1
MASK128: Final = (1 << 128) - 1
TWICE64: Final = (1 << 64) + 1
"""A 64-bit word times this, shifted right, is the word rotated right (in the low 64 bits)."""


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
        word = (((state >> 64 ^ state) & MASK64) * TWICE64 >> (state >> 122)) & MASK64
        self.has_half = 1
        self.half = word >> 32
        return word & MASK32

    def below(self, bound: int) -> int:
        """Return what ``Generator.integers(0, bound)`` returns, for 2 <= bound < 2**32."""
        product = self.next32() * bound
        if product & MASK32 < bound:
            threshold = (MASK32 + 1 - bound) % bound
            while product & MASK32 < threshold:
                product = self.next32() * bound
        return product >> 32

    def pair(self, bound: int) -> tuple[int, int]:
        """Return two draws of `below` at once: one 64-bit output holds both halves."""
        state = (self.state * MULTIPLIER + self.increment) & MASK128
        word = (((state >> 64 ^ state) & MASK64) * TWICE64 >> (state >> 122)) & MASK64
        high = word >> 32
        if self.has_half:
            first, second = self.half * bound, (word & MASK32) * bound
        else:
            first, second = (word & MASK32) * bound, high * bound
        if first & MASK32 < bound or second & MASK32 < bound:
            # A draw may have to be rejected: nothing is spent yet, so take them one by one.
            return self.below(bound), self.below(bound)
        self.state = state
        self.half = high
        return first >> 32, second >> 32
