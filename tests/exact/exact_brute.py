"""The definition, spelled out: every sign pattern, one by one. Shares nothing with the room."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product


def brute_signs(weights: Sequence[int], signs: Sequence[int], alternative: str) -> Fraction:
    seen = sum(w for w, s in zip(weights, signs, strict=True) if s > 0)
    high = low = patterns = 0
    for pattern in product((0, 1), repeat=len(weights)):
        won = sum(w for w, s in zip(weights, pattern, strict=True) if s)
        patterns += 1
        high += won >= seen
        low += won <= seen
    both = min(patterns, 2 * min(high, low))
    return Fraction({"greater": high, "less": low, "two-sided": both}[alternative], patterns)


def brute_wilcoxon(d: Sequence[int], alternative: str, zero_method: str = "wilcox") -> Fraction:
    ranked = [v for v in d if v or zero_method == "pratt"]
    ranks = [  # doubled, so whole
        2 * sum(abs(w) < abs(v) for w in ranked) + 1 + sum(abs(w) == abs(v) for w in ranked)
        for v in ranked
    ]
    kept = [(rank, 1 if v > 0 else -1) for rank, v in zip(ranks, ranked, strict=True) if v]
    return brute_signs([rank for rank, _ in kept], [sign for _, sign in kept], alternative)


def brute_flip(d: Sequence[int], alternative: str) -> Fraction:
    kept = [v for v in d if v]
    return brute_signs([abs(v) for v in kept], [1 if v > 0 else -1 for v in kept], alternative)
