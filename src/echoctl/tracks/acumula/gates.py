"""The gates that a candidate must pass, the same for every arm. Whole numbers decide.

Contract B v1 section 3 (noisy), contract B v3 section 3 (strict).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple


class Score(NamedTuple):
    """Totals over the validation worlds."""

    harm: int
    success: int
    waste: int


def strict(before: Score, after: Score) -> bool:
    """Say yes if harm does not rise, success does not fall, and one of the three improves."""
    return (
        after.harm <= before.harm
        and after.success >= before.success
        and (
            after.harm < before.harm
            or after.success > before.success
            or after.waste < before.waste
        )
    )  # fmt: skip


def noisy(before: Score, after: Score) -> bool:
    """Say yes if harm does not rise, success does not fall, and one improves or waste drops 10 %.

    With twenty worlds that is noisy: a tenth less waste can be luck (contract B v1, risk 3).
    """
    kept = after.harm <= before.harm and after.success >= before.success
    better = after.harm < before.harm or after.success > before.success
    thriftier = after.waste < before.waste and 100 * after.waste <= 90 * before.waste
    return kept and (better or thriftier)


GATES: Mapping[str, Callable[[Score, Score], bool]] = MappingProxyType(
    {"strict": strict, "noisy": noisy}
)
