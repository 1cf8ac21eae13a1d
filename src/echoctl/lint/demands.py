"""Checks as linear inequalities over a synthetic result: what makes one pass, what makes it fail.

Only sufficient demands: a result that meets them passes (or fails) the check, but not every
such result meets them. Whatever is found is put before `echoctl.verdict.decide`, which alone
says what it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from echoctl.contract import Contract
from echoctl.contract.menu import (
    Check,
    Count,
    Equal,
    Identical,
    Monotone,
    NotHigher,
    NotLower,
    Rate,
    Ratio,
    Share,
    Wilcoxon,
)
from echoctl.contract.values import Where
from echoctl.lint.layout import Layout, Synthetic, blocks_of, checks_of
from echoctl.lint.simplex import AtMost, smallest
from echoctl.lint.sums import SHIFT, Line, Sums, bound, times
from echoctl.verdict.checks import entry, leaves

MAX_SOLVED = 300


@dataclass(frozen=True)
class Option:
    """One way to get what is wanted."""

    rules: tuple[AtMost, ...] = ()
    equal_digests: Mapping[tuple[str, str], bool] = field(default_factory=dict)

    def joined(self, other: Option) -> Option | None:
        """Return both together, or None if they contradict each other about digests."""
        for pair, equal in other.equal_digests.items():
            if self.equal_digests.get(pair, equal) != equal:
                return None
        return Option(self.rules + other.rules, {**self.equal_digests, **other.equal_digests})


class Demands:
    """Turns the checks of one contract into options, and options into synthetic results."""

    def __init__(self, contract: Contract, spots: Layout) -> None:
        self.contract = contract
        self.spots = spots
        self.count = contract.unit.count
        cuts = []
        for leaf in (x for check in checks_of(contract, deciding=True) for x in leaves(check)):
            if isinstance(leaf, Share) and leaf.at_least is not None and leaf.at_most is not None:
                cuts.append(_least(leaf, self.count))
            elif isinstance(leaf, Count) and leaf.every == "total":
                cuts.append(1)  # a total need not be a multiple of the number of units
        self.blocks = blocks_of(contract, cuts)
        self.sums = Sums(contract, spots, self.blocks)

    def solve(self, wanted: Sequence[tuple[Check, bool]]) -> Synthetic | None:
        """Return a result in which each check comes out as wanted, if one of this kind is found."""
        budget = [MAX_SOLVED]

        def extend(done: Option, left: Sequence[tuple[Check, bool]]) -> Option | None:
            if not left:
                return done
            (check, want), *rest = left
            for option in self.options(check, want):
                both = done.joined(option)
                if both is None or budget[0] <= 0:
                    continue
                budget[0] -= 1
                if smallest(self.sums.weights, both.rules) is None:
                    continue
                if (whole := extend(both, rest)) is not None:
                    return whole
            return None

        option = extend(Option(), wanted)
        if option is None:
            return None
        found = smallest(self.sums.weights, option.rules)
        assert found is not None
        shift = {var: SHIFT for key, var in self.sums.vars.items() if key[0] in self.sums.signed}
        values = {key: found[var] - shift.get(var, 0) for key, var in self.sums.vars.items()}
        digests: dict[str, str] = {}
        for (first, second), equal in option.equal_digests.items():
            digests[first] = "0" * 64
            digests[second] = ("0" if equal else "1") * 64
        return Synthetic({k: v for k, v in values.items() if v}, self.blocks, digests)

    def options(self, check: Check, want: bool) -> Iterator[Option]:
        """Yield ways in which a check comes out as wanted."""
        one = entry(check)
        if check.kind == "not":
            yield from self.options(one, not want)
        elif check.kind in ("all", "any"):
            if (check.kind == "all") == want:
                for parts in product(*(list(self.options(part, want)) for part in one)):
                    whole: Option | None = Option()
                    for part in parts:
                        whole = whole and whole.joined(part)
                    if whole is not None:
                        yield whole
            else:
                for part in one:
                    yield from self.options(part, want)
        elif isinstance(one, Identical):
            yield Option((), {one.digests: want})
        else:
            for rules in self._leaf(one, want):
                yield Option(tuple(rules))

    # --- the menu ---

    def _leaf(self, one: object, want: bool) -> Iterator[list[AtMost]]:
        if isinstance(one, Wilcoxon):
            yield from self._wilcoxon(one, want)
        elif isinstance(one, Ratio):
            yield from self._ratio(one, want)
        elif isinstance(one, NotLower):
            yield from self._totals(one, want)
        elif isinstance(one, Monotone):
            yield from self._monotone(one, want)
        elif isinstance(one, Share):
            yield from self._share(one, want)
        elif isinstance(one, Rate):
            yield from self._rate(one, want)
        elif isinstance(one, Count):
            yield from self._count(one, want)
        elif isinstance(one, Equal):
            rows = [
                line
                for arm in self._arms(one.arm)
                for line in self.sums.rows(one.measure, arm, one.where)
            ]
            if want:
                yield [r for line in rows for r in bound(line, one.to, one.to)]
            elif rows:
                yield [*bound(rows[0], one.to + 1, None)]

    def _arms(self, arm: str | None) -> list[str]:
        return [arm] if arm is not None else list(self.spots.arms)

    def _against(self, measure: str, arm: str, rival: str, where: Where, low: bool) -> list[AtMost]:
        """Return rules by which the arm is strictly below (or above) the rival in every unit."""
        out = []
        pairs = zip(
            self.sums.units(measure, arm, where),
            self.sums.units(measure, rival, where),
            strict=True,
        )
        for mine, theirs in pairs:
            for a, b in zip(mine, theirs, strict=False):
                out.append(a.at_most(b, gap=1) if low else b.at_most(a, gap=1))
        return out

    def _wilcoxon(self, one: Wilcoxon, want: bool) -> Iterator[list[AtMost]]:
        m, arm, where = one.measure, one.arm, one.where
        if want:
            ways = [[self._against(m, arm, rival, where, True)] for rival in one.below]
            ways += [[self._against(m, arm, rival, where, False)] for rival in one.above]
            ways += [
                [self._against(m, arm, rival, where, low) for low in (True, False)]
                for rival in one.differs_from
            ]
            for chosen in product(*ways):
                yield [rule for rules in chosen for rule in rules]
            return
        for rival in (*one.below, *one.above, *one.differs_from):
            rules = []
            for mine, theirs in zip(
                self.sums.units(m, arm, where), self.sums.units(m, rival, where), strict=True
            ):
                for a, b in zip(mine, theirs, strict=False):
                    if rival not in one.above:
                        rules.append(b.at_most(a))
                    if rival not in one.below:
                        rules.append(a.at_most(b))
            yield rules

    def _ratio(self, one: Ratio, want: bool) -> Iterator[list[AtMost]]:
        arm = self.sums.total(one.measure, one.arm, one.where)
        control = self.sums.total(one.measure, one.to, one.where)
        some = [rule for line in control for rule in bound(line, 1, None)]
        none = [rule for line in control for rule in bound(line, None, 0)]
        bounds = [(one.at_most, True), (one.at_least, False)]
        if want:
            yield some + [
                rule
                for limit, upper in bounds
                if limit is not None
                for rule in times(arm, control, limit, upper, 0)
            ]
            if one.if_control_zero == "pass_if_zero":
                yield none + [rule for line in arm for rule in bound(line, None, 0)]
            return
        for limit, upper in bounds:
            if limit is not None:
                yield some + times(arm, control, limit, not upper, 1)
        if one.if_control_zero == "fail":
            yield none

    def _totals(self, one: NotLower, want: bool) -> Iterator[list[AtMost]]:
        arm = self.sums.total(one.measure, one.arm, one.where)
        higher = isinstance(one, NotHigher)
        rivals = [self.sums.total(one.measure, r, one.against or one.where) for r in one.than]
        if want:
            yield [
                a.at_most(b) if higher else b.at_most(a)
                for rival in rivals
                for a, b in zip(arm, rival, strict=False)
            ]
            return
        for rival in rivals:
            yield [
                b.at_most(a, gap=1) if higher else a.at_most(b, gap=1)
                for a, b in zip(arm, rival, strict=False)
            ]

    def _monotone(self, one: Monotone, want: bool) -> Iterator[list[AtMost]]:
        numbers = range(one.first_round, one.last_round + 1)
        wheres = [one.where.model_copy(update={"round": number}) for number in numbers]
        totals = [self.sums.total(one.measure, one.arm, where) for where in wheres]
        down = one.direction == "decreasing"

        def moves(i: int) -> list[AtMost]:
            pairs = zip(totals[i], totals[i + 1], strict=False)
            return [b.at_most(a, gap=1) if down else a.at_most(b, gap=1) for a, b in pairs]

        def stays(i: int) -> list[AtMost]:
            pairs = zip(totals[i], totals[i + 1], strict=False)
            return [a.at_most(b) if down else b.at_most(a) for a, b in pairs]

        def guarded(i: int) -> list[AtMost]:
            if one.guard is None:
                return []
            before = self.sums.total(one.guard.measure, one.arm, wheres[i])
            after = self.sums.total(one.guard.measure, one.arm, wheres[i + 1])
            pairs = zip(before, after, strict=False)
            rise = one.guard.may_not == "rise"
            return [b.at_most(a) if rise else a.at_most(b) for a, b in pairs]

        transitions = len(numbers) - 1
        if want:
            for first in range(transitions - one.in_a_row + 1):
                run = range(first, first + one.in_a_row)
                yield [rule for i in run for rule in (*moves(i), *guarded(i))]
        else:
            # A plateau at every `in_a_row`-th transition is enough, and moves the rest freely.
            yield [
                rule
                for i in range(one.in_a_row - 1, transitions, one.in_a_row)
                for rule in stays(i)
            ]

    def _share(self, one: Share, want: bool) -> Iterator[list[AtMost]]:
        least = _least(one, self.count)
        if want:
            hits = [self.count if one.at_most is None else least if one.at_least else 0]
        else:
            hits = [0] if one.at_least else []
            hits += [self.count] if one.at_most is not None else []
        for wanted in hits:
            ways = [list(self._related(one, first, last <= wanted)) for first, last in self.blocks]
            for chosen in product(*ways):
                yield [rule for rules in chosen for rule in rules]

    def _related(self, one: Share, block: int, holds: bool) -> Iterator[list[AtMost]]:
        mine = self.sums.pieces(one.measure, one.arm, one.where, {block: 1})
        if one.than is None:
            theirs = [Line({}, (one.value or 0) + one.plus)] * len(mine)
        else:
            theirs = [
                Line(line.terms, line.constant + one.plus)
                for line in self.sums.pieces(one.measure, one.than, one.where, {block: 1})
            ]
        pairs = list(zip(mine, theirs, strict=False))
        less = [a.at_most(b, gap=1) for a, b in pairs]
        more = [b.at_most(a, gap=1) for a, b in pairs]
        no_more, no_less = [a.at_most(b) for a, b in pairs], [b.at_most(a) for a, b in pairs]
        if one.relation == "equal":
            yield from [no_more + no_less] if holds else [more, less]
            return
        yields = {"below": less, "above": more, "not_below": no_less, "not_above": no_more}
        opposite = {"below": no_less, "above": no_more, "not_below": less, "not_above": more}
        yield (yields if holds else opposite)[one.relation]

    def _rate(self, one: Rate, want: bool) -> Iterator[list[AtMost]]:
        hits = self.sums.total(one.hits, one.arm, one.where)
        tried = self.sums.total(one.of, one.arm, one.where)
        some = [rule for line in tried for rule in bound(line, 1, None)]
        scales = self.contract.measures[one.hits].scale, self.contract.measures[one.of].scale
        turn = Fraction(scales[0], scales[1])
        if one.at_most is None or one.at_most < 1:
            some += times(hits, tried, turn, True, 0)  # hits are some of what was tried
        bounds = [(one.at_most, True), (one.at_least, False)]
        if want:
            yield some + [
                rule
                for limit, upper in bounds
                if limit is not None
                for rule in times(hits, tried, limit * turn, upper, 0)
            ]
            return
        for limit, upper in bounds:
            if limit is not None:
                yield some + times(hits, tried, limit * turn, not upper, 1)

    def _count(self, one: Count, want: bool) -> Iterator[list[AtMost]]:
        arms = self._arms(one.arm)
        if one.every == "total":
            each = [self.sums.total(one.measure, arm, one.where) for arm in arms]
            if self.contract.measures[one.measure].aggregate == "sum":
                terms = {
                    var: c for lines in each for line in lines for var, c in line.terms.items()
                }
                lines = [Line(terms, sum(line.constant for ls in each for line in ls))]
            else:
                lines = [line for ls in each for line in ls]
        elif one.every == "row":
            lines = [line for arm in arms for line in self.sums.rows(one.measure, arm, one.where)]
        else:
            wheres = [one.where]
            if one.every == "job":  # a synthetic job is one unit, arm and regime
                regimes = {s.regime for spots in self.spots.arms.values() for s in spots} - {""}
                allowed = one.where.values("regime")
                chosen = sorted(r for r in regimes if not allowed or r in allowed)
                wheres = [one.where.model_copy(update={"regime": r}) for r in chosen] or wheres
            lines = [
                line
                for arm in arms
                for where in wheres
                for pieces in self.sums.units(one.measure, arm, where)
                for line in pieces
            ]
        if want:
            yield [rule for line in lines for rule in bound(line, one.at_least, one.at_most)]
            return
        if lines and one.at_most is not None:
            yield bound(lines[0], one.at_most + 1, None)
        if lines and one.at_least is not None:
            yield bound(lines[0], None, one.at_least - 1)


def _least(share: Share, units: int) -> int:
    """Return the fewest units that reach a share's lower bound."""
    wanted = (share.at_least or Fraction(0)) * units
    return -(-wanted.numerator // wanted.denominator)
