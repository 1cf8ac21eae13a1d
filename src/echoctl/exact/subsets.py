"""Counting the subsets of a list of positive integers whose sum stays at or below a bound.

Every test on signs is this count: give each unit a weight, let each sign be plus or minus with
equal chance, and the null distribution of the sum of the positive weights is the number of
subsets with that sum, out of 2^n.

Method. The weights are dealt into two halves; the distribution of each is found alone and the
two are met in the middle, so neither ever holds more than half of the bits. A half with few
possible totals (small weights) is found by dynamic programming over all totals at once: one
integer holds all counts side by side in equal fields, and adding a weight is one shift and one
addition. Counts are symmetric (a subset and its complement), so only the lower half is carried.
A half with few subsets (few or repeated weights, of any size) is listed instead.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from echoctl.errors import UsageError
from echoctl.exact.rational import common_divisor


class SubsetSums:
    """How many of the 2^n subsets of `weights` have a sum of at most t.

    `weights`: positive integers. `at_most`: the largest min(t, total - 1 - t) that will be asked;
    a small one saves work. `limit`: the most different sums that one half may have, or no limit;
    beyond it UsageError.
    """

    def __init__(
        self, weights: Sequence[int], at_most: int | None = None, limit: int | None = None
    ) -> None:
        if any(weight < 1 for weight in weights):
            raise UsageError("a weight is below one", "drop zeros, and give sizes without a sign")
        self.n = len(weights)
        self.total = sum(weights)
        self.bound = self.total // 2 if at_most is None else min(at_most, self.total // 2)
        first, second = _deal(weights)
        self._sums, self._counts = _half(first, self.bound, limit)
        self._other_sums, other_counts = _half(second, self.bound, limit)
        self._other_up_to = [0, *accumulate(other_counts)]

    def at_most(self, t: int) -> int:
        """Return the number of subsets with a sum of at most `t`."""
        if t < 0:
            return 0
        mirror = self.total - 1 - t
        if mirror < t:  # the complements of the subsets above t are those below total - t
            return (1 << self.n) - self.at_most(mirror)
        if t > self.bound:
            raise ValueError(f"asked for {t}, prepared up to {self.bound}")
        count = 0
        others, up_to = self._other_sums, self._other_up_to
        place = len(others)
        for total, ways in zip(self._sums, self._counts, strict=True):
            room = t - total
            if room < 0:
                break
            while place and others[place - 1] > room:
                place -= 1
            count += ways * up_to[place]
        return count


def _deal(weights: Sequence[int]) -> tuple[list[int], list[int]]:
    """Deal weights into two halves of about equal work."""
    ordered = sorted(weights)
    even = [weight for weight in ordered if weight % 2 == 0]
    odd = [weight for weight in ordered if weight % 2]
    # Over totals, work grows as (weights)^3 times totals, and even weights alone have half as
    # many. A short list is a matter of a moment, or is listed: then equal lengths are best.
    if len(ordered) >= 64 and 2 * (len(even) ** 3 + 2 * len(odd) ** 3) < len(ordered) ** 3:
        return even, odd
    return ordered[0::2], ordered[1::2]


def _half(weights: Sequence[int], bound: int, limit: int | None) -> tuple[Sequence[int], list[int]]:
    """Return the sums up to `bound`, ascending, and how many subsets have each."""
    step = common_divisor(weights) or 1
    totals = sum(weights) // step + 1
    groups = Counter(weights)
    subsets = 1
    for members in groups.values():
        subsets = min(subsets * (members + 1), totals * 4 + 1)
    if limit is not None and min(totals, subsets) > limit:
        raise UsageError(
            f"{len(weights)} weights have more than {limit} different sums in one half",
            "round the measure to a coarser scale, or use a test on ranks",
            limit=limit,
        )
    if subsets * 4 < totals:
        return _listed(groups, bound)
    counts = _dense([weight // step for weight in weights], bound // step)
    return range(0, len(counts) * step, step), counts


def _listed(groups: Counter[int], bound: int) -> tuple[list[int], list[int]]:
    # A sum and its count ride in one integer, the count in the low bits: sorting then merges
    # runs that are already in order. Equal sums may stay apart; the caller adds them up.
    bits = sum(groups.values()) + 1
    low = (1 << bits) - 1
    codes = [1]
    for weight, members in groups.items():
        grown, choose = list(codes), 1
        for taken in range(1, members + 1):
            choose = choose * (members - taken + 1) // taken
            more = taken * weight << bits
            grown += [code + more + (code & low) * (choose - 1) for code in codes]
        grown.sort()
        codes = grown[: bisect_left(grown, bound + 1 << bits)]
    return [code >> bits for code in codes], [code & low for code in codes]


def _dense(weights: Sequence[int], bound: int) -> list[int]:
    """Return the counts for sums 0, 1, ... up to the total or `bound`, whichever is less."""
    counts, total, done = [1], 0, 0
    ordered = sorted(weights)  # small first: the integer stays short for longer
    while done < len(ordered):
        # In blocks, so that the fields are no wider than the counts of the block need.
        block = ordered[done : done + 64 + done // 3]
        done += len(block)
        grown = total + sum(block)
        top = min(grown // 2, bound)
        counts += [counts[total - s] for s in range(len(counts), min(total, top) + 1)]
        width = (max(counts).bit_length() + len(block) + 7) // 8
        # The count of sum s is field top - s: what grows beyond top drops off in the shift.
        packed = int.from_bytes(b"".join([c.to_bytes(width, "big") for c in counts]), "big")
        packed <<= 8 * width * (top + 1 - len(counts))
        for weight in block:
            packed += packed >> (8 * width * weight)
        raw = packed.to_bytes((top + 1) * width, "big")
        read = int.from_bytes
        counts = [read(raw[at : at + width], "big") for at in range(0, len(raw), width)]
        total = grown
    return counts + [counts[total - s] for s in range(len(counts), min(total, bound) + 1)]
