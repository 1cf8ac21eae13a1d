"""Holm's step-down correction over the tests that were registered (design page, rule 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from echoctl.errors import UsageError
from echoctl.exact.rational import Number


@dataclass(frozen=True)
class Holm:
    """The corrected family; every tuple is in the order in which the p were given."""

    adjusted: tuple[Fraction, ...]
    """p times the number of tests left, running maximum, at most 1."""
    thresholds: tuple[Fraction, ...]
    """What each p had to meet at its step: alpha / m for the smallest, alpha for the largest."""
    reject: tuple[bool, ...]
    """p <= threshold here and at every step before: exactly where adjusted <= alpha."""


def holm(p: Sequence[Number | None], alpha: Fraction, registered: int | None = None) -> Holm:
    """Correct the family `p` at level `alpha`.

    `registered`: how many tests the contract registered; the default takes `p` as complete. An
    empty family rejects nothing; whoever reads it must not take that for "all passed". Raises
    UsageError for a member that is absent (None), not exact or outside [0, 1], for a family that
    is short or long, and for an alpha outside (0, 1].
    """
    if isinstance(alpha, bool) or not isinstance(alpha, int | Fraction) or not 0 < alpha <= 1:
        raise UsageError(f"alpha {alpha!r} is not a Fraction in (0, 1]", "use Fraction(1, 100)")
    if registered is not None and registered != len(p):
        raise UsageError(
            f"{registered} tests were registered and {len(p)} have a p",
            "the family does not shrink or grow: give every registered test its p",
        )
    family: list[Fraction] = []
    for place, member in enumerate(p, start=1):
        if isinstance(member, bool) or not isinstance(member, int | Fraction):
            raise UsageError(
                f"test {place} of {len(p)} has no exact p ({member!r})",
                "a family with an absent p has no correction; find out why it is absent",
            )
        if not 0 <= member <= 1:
            raise UsageError(f"p of test {place} is {member}, outside [0, 1]", "correct the p")
        family.append(Fraction(member))
    m = len(family)
    adjusted, thresholds, reject = [Fraction(0)] * m, [Fraction(0)] * m, [False] * m
    worst, still = Fraction(0), True
    for step, place in enumerate(sorted(range(m), key=family.__getitem__)):
        worst = max(worst, min(Fraction(1), family[place] * (m - step)))
        adjusted[place] = worst
        thresholds[place] = Fraction(alpha) / (m - step)
        still = still and family[place] <= thresholds[place]
        reject[place] = still
    return Holm(tuple(adjusted), tuple(thresholds), tuple(reject))
