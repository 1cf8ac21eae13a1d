"""Chance made of integers: a stream of draws that only its name decides.

``Draws("barajada", 3, "A1", 17)`` gives the same integers on every machine and in every year:
SHA-256 in counter mode over the canonical bytes of the name, with rejection so that ``below``
is exactly uniform. Minds, shuffles and opaque ids draw from here and nowhere else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

from echoctl.canon import canonical

T = TypeVar("T")


class Draws:
    """A deterministic stream of integers named by strings and integers."""

    __slots__ = ("_block", "_counter", "_left", "_seed")

    def __init__(self, *name: str | int) -> None:
        self._seed = hashlib.sha256(b"echoctl/draws/1\n" + canonical(list(name))).digest()
        self._counter = 0
        self._block = 0
        self._left = 0

    def bits(self, count: int) -> int:
        """Return `count` fresh bits (1 to 64) as a non-negative integer."""
        if self._left < count:
            self._block, self._left = self._fresh(), 256
        self._left -= count
        return (self._block >> self._left) & ((1 << count) - 1)

    def _fresh(self) -> int:
        """Return the next 256 bits of the stream."""
        raw = hashlib.sha256(self._seed + self._counter.to_bytes(8, "big")).digest()
        self._counter += 1
        return int.from_bytes(raw, "big")

    def below(self, bound: int) -> int:
        """Return an integer uniform in ``range(bound)``; ValueError unless 1 <= bound < 2**64."""
        if not 1 <= bound < 2**64:
            raise ValueError(f"a bound must be from 1 to 2**64 - 1, not {bound}")
        count = max(1, (bound - 1).bit_length())
        while True:
            value = self.bits(count)
            if value < bound:
                return value

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in a uniformly drawn order (Fisher-Yates); the input is untouched."""
        out = list(items)
        # `below` written out: opaque ids and shuffled memories are drawn every episode.
        block, left = self._block, self._left
        last = len(out) - 1
        for count in range(last.bit_length(), 0, -1):
            mask = (1 << count) - 1
            least = 1 << (count - 1)
            while last >= least:
                if left < count:
                    block, left = self._fresh(), 256
                left -= count
                other = (block >> left) & mask
                if other <= last:
                    out[last], out[other] = out[other], out[last]
                    last -= 1
        self._block, self._left = block, left
        return out

    def choice(self, items: Sequence[T]) -> T:
        """Return one of the items; ValueError if there are none."""
        return items[self.below(len(items))]
