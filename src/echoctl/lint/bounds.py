"""What can be said of one check without a result: that it can never pass, or never fail.

Counts are taken to be zero or more, unless the contract itself bounds a measure below zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from echoctl.contract import Contract
from echoctl.contract.menu import (
    Check,
    Count,
    Equal,
    Identical,
    Monotone,
    NotLower,
    Rate,
    Ratio,
    Share,
    Wilcoxon,
)
from echoctl.lint.ladder import ladder
from echoctl.verdict.checks import entry


class Flaw(NamedTuple):
    """Why a check can never pass or never fail. `code` is an entry of the catalogue of words."""

    passes: bool
    """True: it passes whatever happens. False: it fails whatever happens."""
    code: str
    facts: dict[str, object]


def flaws(contract: Contract, check: Check) -> list[Flaw]:
    """Return the flaws of a check; a combination has one only if no part can rescue it."""
    one = entry(check)
    if check.kind == "not":
        return [flaw._replace(passes=not flaw.passes) for flaw in flaws(contract, one)]
    if check.kind in ("all", "any"):
        each = [flaws(contract, part) for part in one]
        # One hopeless part sinks `all`; one part that always passes carries `any`.
        decisive = check.kind == "any"
        strong = [flaw for found in each for flaw in found if flaw.passes == decisive]
        weak = [found for found in each if any(flaw.passes != decisive for flaw in found)]
        if strong:
            return strong
        return [flaw for found in weak for flaw in found] if each and len(weak) == len(each) else []
    return list(_leaf(contract, one))


def _leaf(contract: Contract, one: object) -> Iterator[Flaw]:
    if isinstance(one, Wilcoxon):
        yield from _wilcoxon(contract, one)
    elif isinstance(one, Ratio):
        if one.arm == one.to:
            yield Flaw(True, "itself", {"arm": one.arm})
        if one.at_most is None and one.at_least is not None and one.at_least <= 0:
            yield Flaw(True, "never_below", {"what": "ratio", "bound": one.at_least})
        if one.at_most is not None and one.at_most < 0:
            yield Flaw(False, "never_below_zero", {"what": "ratio", "bound": one.at_most})
        yield from _crossed(one.at_least, one.at_most)
    elif isinstance(one, NotLower):
        if one.arm in one.than and (one.against is None or one.against == one.where):
            yield Flaw(True, "itself", {"arm": one.arm})
    elif isinstance(one, Monotone):
        moves = one.last_round - one.first_round
        if one.in_a_row > moves:
            yield Flaw(False, "too_few_rounds", {"moves": moves, "wanted": one.in_a_row})
    elif isinstance(one, Share):
        yield from _share(contract, one)
    elif isinstance(one, Rate):
        if one.at_most == 1 and one.at_least is None:
            yield Flaw(True, "whole_rate", {"hits": one.hits, "of": one.of})
        if one.at_most is None and one.at_least is not None and one.at_least <= 0:
            yield Flaw(True, "never_below", {"what": "rate", "bound": one.at_least})
        if one.at_most is not None and one.at_most < 0:
            yield Flaw(False, "never_below_zero", {"what": "rate", "bound": one.at_most})
        yield from _crossed(one.at_least, one.at_most)
    elif isinstance(one, Count):
        if one.at_most is None and one.at_least == 0:
            yield Flaw(True, "never_below", {"what": one.measure, "bound": one.at_least})
        yield from _crossed(one.at_least, one.at_most)
    elif isinstance(one, Identical) and one.digests[0] == one.digests[1]:
        yield Flaw(True, "itself", {"arm": one.digests[0]})
    elif isinstance(one, Equal):
        return


def _wilcoxon(contract: Contract, one: Wilcoxon) -> Iterator[Flaw]:
    if one.arm in (*one.below, *one.above, *one.differs_from):
        yield Flaw(False, "itself", {"arm": one.arm})
    steps = ladder(one, contract.unit.count)
    if not steps.tests:
        yield Flaw(True, "no_rival", {"arm": one.arm})
        return
    if not steps.reachable:
        first = steps.steps[0].threshold
        needed = 1
        while first > 0 and Fraction(2 if steps.two_sided else 1, 2**needed) > first:
            needed += 1
        facts: dict[str, object] = {
            "units": contract.unit.count,
            "unit": contract.unit.name,
            "smallest": steps.smallest,
            "threshold": first,
            "tests": steps.tests,
            "needed": needed,
        }
        yield Flaw(False, "too_few_units" if one.alpha > 0 else "no_alpha", facts)
    if all(step.threshold >= 1 for step in steps.steps):
        yield Flaw(True, "whole_alpha", {"alpha": one.alpha})


def _share(contract: Contract, one: Share) -> Iterator[Flaw]:
    low = one.at_least if one.at_least is not None else Fraction(0)
    high = one.at_most if one.at_most is not None else Fraction(1)
    units = contract.unit.count
    if low <= 0 and high >= 1:
        yield Flaw(True, "whole_share", {"low": low, "high": high})
    fewest = -(-low.numerator * units // low.denominator)
    most = high.numerator * units // high.denominator
    if max(fewest, 0) > min(most, units):
        facts: dict[str, object] = {"low": low, "high": high, "units": units}
        yield Flaw(False, "no_share", facts)
    if one.than is None and one.value is not None and one.value + one.plus <= 0:
        edge = one.value + one.plus
        always = {"not_below": edge <= 0, "above": edge < 0}.get(one.relation, False)
        never = {"below": edge <= 0, "not_above": edge < 0, "equal": edge < 0}.get(
            one.relation, False
        )
        if edge == 0 and (always or never):
            hits = Fraction(1 if always else 0)
            passes = low <= hits <= high
            yield Flaw(passes, "fixed_share", {"measure": one.measure, "value": edge})


def _crossed(low: Fraction | int | None, high: Fraction | int | None) -> Iterator[Flaw]:
    if low is not None and high is not None and low > high:
        yield Flaw(False, "crossed", {"low": Fraction(low), "high": Fraction(high)})
