"""Paired tests with their estimates, and the Holm ladder that they meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from echoctl import exact
from echoctl.errors import UsageError
from echoctl.verdict.results import Estimates, PairedTest, PValue

ALTERNATIVES: dict[str, exact.Alternative] = {
    "below": "less",
    "above": "greater",
    "differs_from": "two-sided",
}


@dataclass(frozen=True)
class Pairs:
    """Unit numbers of two arms in the same unit order, as stored (value times `scale`)."""

    arm: tuple[int, ...]
    rival: tuple[int, ...]
    scale: int
    units: tuple[int, ...] = ()

    @property
    def by_unit(self) -> tuple[tuple[int, Fraction, Fraction], ...]:
        """Return (unit, arm, rival) for every pair, in the measure's own units."""
        units = self.units or range(1, len(self.arm) + 1)
        return tuple(
            (unit, Fraction(a, self.scale), Fraction(b, self.scale))
            for unit, a, b in zip(units, self.arm, self.rival, strict=True)
        )

    @property
    def differences(self) -> tuple[int, ...]:
        """Return arm minus rival, unit by unit."""
        return tuple(a - b for a, b in zip(self.arm, self.rival, strict=True))

    @property
    def totals(self) -> tuple[Fraction, Fraction]:
        """Return both totals in the measure's own units."""
        return Fraction(sum(self.arm), self.scale), Fraction(sum(self.rival), self.scale)


def wilcoxon_family(
    pairs: Sequence[tuple[str, str, Pairs]], alpha: Fraction, *, holm: bool
) -> list[PairedTest]:
    """Return one exact test a rival, in the contract's order; they are one Holm family."""
    found = [
        exact.wilcoxon(pair.differences, ALTERNATIVES[direction]) for _, direction, pair in pairs
    ]
    values = [test.p for test in found]
    m = len(values)
    order = sorted(range(m), key=lambda i: (values[i], i))
    step = {place: number for number, place in enumerate(order, start=1)}
    if holm:
        ladder = exact.holm(values, alpha, registered=m)
        adjusted, thresholds, rejected = ladder.adjusted, ladder.thresholds, ladder.reject
    else:
        adjusted, thresholds = tuple(values), (alpha,) * m
        rejected = tuple(value <= alpha for value in values)
    out = []
    for i, (rival, direction, pair) in enumerate(pairs):
        arm_total, rival_total = pair.totals
        wins, ties, losses = _outcomes(pair.differences, direction)
        out.append(
            PairedTest(
                rival=rival,
                direction=direction,
                arm_total=arm_total,
                rival_total=rival_total,
                wins=wins,
                ties=ties,
                losses=losses,
                p=_p(found[i]),
                step=step[i],
                threshold=thresholds[i],
                adjusted=adjusted[i],
                rejected=rejected[i],
                estimates=_estimates(pair, direction),
                by_unit=pair.by_unit,
            )
        )
    return out


def _outcomes(differences: Sequence[int], direction: str) -> tuple[int, int, int]:
    """Return wins, ties and losses of the arm; for a two-sided test a win is being above."""
    sign = -1 if direction == "below" else 1
    wins = sum(sign * d > 0 for d in differences)
    ties = sum(d == 0 for d in differences)
    return wins, ties, len(differences) - wins - ties


def _p(test: exact.ExactTest) -> PValue:
    return PValue(test.p, test.k, test.n)


def _estimates(pair: Pairs, direction: str) -> Estimates:
    differences, n = pair.differences, len(pair.arm)
    alternative = ALTERNATIVES[direction]
    sign = -1 if direction == "below" else 1
    turned = [sign * d for d in differences]
    located = exact.hodges_lehmann(differences)
    limits, scale = None, pair.scale
    if located.low is not None and located.high is not None:
        limits = (located.low / scale, located.high / scale)
    try:
        sign_flip = _p(exact.sign_flip(differences, alternative))
    except UsageError:
        sign_flip = None  # too many units of too many sizes; it is only shown
    return Estimates(
        mean_difference=Fraction(sum(differences), n * scale),
        hodges_lehmann=located.estimate / scale,
        limits=limits,
        confidence=located.confidence if limits else None,
        rank_biserial=exact.rank_biserial(turned),
        improvement=exact.improvement(turned),
        pratt=_p(exact.wilcoxon(differences, alternative, "pratt")),
        sign_flip=sign_flip,
    )
