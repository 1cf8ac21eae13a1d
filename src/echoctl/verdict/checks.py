"""The closed menu, evaluated on a cube of integer sums. Design page "statistics", rules 2-9."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from echoctl.contract import Contract
from echoctl.contract.model import (
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
from echoctl.errors import CheckFailed, EchoError, Inconsistent
from echoctl.verdict.cube import DigestWatch, JobWatch, Standins, selection
from echoctl.verdict.paired import wilcoxon_family
from echoctl.verdict.reader import Reader
from echoctl.verdict.results import (
    Bound,
    CheckResult,
    CombinedResult,
    CountResult,
    EqualResult,
    IdenticalResult,
    MonotoneResult,
    RateResult,
    RatioResult,
    RivalTotal,
    Scope,
    ShareResult,
    TotalsResult,
    Transition,
    WilcoxonResult,
)

Measured: TypeAlias = Wilcoxon | Ratio | NotLower | Share | Count | Equal


def leaves(check: Check) -> list[Any]:
    """Return the entries of the menu inside a check, combinations opened."""
    parts = check.all or check.any or ((check.not_,) if check.not_ else ())
    if parts:
        return [leaf for part in parts for leaf in leaves(part)]
    return [entry(check)]


def entry(check: Check) -> Any:  # noqa: ANN401 - one of ten models, told apart by `kind`
    """Return the one entry of the menu that a check holds."""
    return getattr(check, "not_" if check.kind == "not" else check.kind)


def watches(contract: Contract, standins: Standins) -> tuple[list[JobWatch], list[DigestWatch]]:
    """Return what has to be followed job by job while outcomes stream past."""
    jobs, digests = [], []
    checks = [*contract.invariants]
    for prediction in contract.predictions.values():
        checks.extend(prediction.all)
    for check in checks:
        for leaf in leaves(check):
            if (
                isinstance(leaf, Count)
                and leaf.every == "job"
                and leaf.measure in contract.measures
            ):
                jobs.append(_job_watch(contract, leaf, standins))
            elif isinstance(leaf, Identical):
                digests.append(DigestWatch(*leaf.digests, leaf.arm))
    return jobs, digests


def _job_watch(contract: Contract, check: Count, standins: Standins) -> JobWatch:
    chosen = selection(check.where, check.arm, standins)
    return JobWatch(check.measure, contract.measures[check.measure].aggregate, chosen)


class Bench:
    """Evaluates the checks of one contract on its folded outcomes."""

    def __init__(self, read: Reader) -> None:
        self.read = read
        self._menu: dict[str, Callable[[Any], CheckResult]] = {
            "wilcoxon": self._wilcoxon,
            "ratio": self._ratio,
            "not_lower": self._totals,
            "not_higher": self._totals,
            "monotone": self._monotone,
            "share": self._share,
            "rate": self._rate,
            "count": self._count,
            "equal": self._equal,
            "identical": self._identical,
        }

    def evaluate(self, check: Check, path: str) -> CheckResult:
        """Return the result of one check. Errors say at which `path` of the contract they arose."""
        kind, one = check.kind, entry(check)
        here = f"{path} ({kind})"
        try:
            if kind in ("all", "any", "not"):
                return self._combined(kind, (one,) if kind == "not" else one, here)
            return self._menu[kind](one)
        except EchoError as problem:
            if "path" in problem.facts:
                raise
            raise type(problem)(f"{here}: {problem.why}", problem.todo, path=here) from None

    def _scope(self, check: Measured, *arms: str | None) -> Scope:
        return self.read.scope(check.measure, *((arm, check.where) for arm in arms))

    def _wilcoxon(self, check: Wilcoxon) -> WilcoxonResult:
        rivals = [
            (rival, direction)
            for direction in ("below", "above", "differs_from")
            for rival in getattr(check, direction)
        ]
        if not rivals:
            raise CheckFailed("it names no rival, so nothing is tested", "name at least one rival")
        names = [rival for rival, _ in rivals]
        if len(set(names)) < len(names):
            raise CheckFailed("it names a rival twice, which counts one test as two")
        pairs = [
            (rival, direction, self.read.paired(check.measure, check.arm, rival, check.where))
            for rival, direction in rivals
        ]
        tests = wilcoxon_family(pairs, check.alpha, holm=check.correction == "holm")
        return WilcoxonResult(
            passed=all(test.rejected for test in tests),
            arm=check.arm,
            scope=self._scope(check, check.arm, *names),
            alpha=check.alpha,
            correction=check.correction,
            family=len(tests),
            tests=tuple(tests),
        )

    def _ratio(self, check: Ratio) -> RatioResult:
        pairs = self.read.paired(check.measure, check.arm, check.to, check.where)
        arm, control = pairs.totals
        notes: list[str] = []
        bounds = _bounds(check, lambda limit: limit * control, arm)
        passed = all(bound.holds for bound in bounds)
        if control == 0:
            notes.append("control_zero")
            passed = check.if_control_zero == "pass_if_zero" and arm == 0
            bounds = tuple(Bound(bound.relation, bound.limit, passed) for bound in bounds)
        elif control < 0:
            notes.append("control_negative")
        return RatioResult(
            passed=passed,
            arm=check.arm,
            to=check.to,
            scope=self._scope(check, check.arm, check.to),
            arm_total=arm,
            control_total=control,
            ratio=arm / control if control else None,
            bounds=bounds,
            notes=tuple(notes),
        )

    def _totals(self, check: NotLower) -> TotalsResult:
        if not check.than:
            raise CheckFailed(
                "it names no rival, so nothing is compared", "name at least one rival"
            )
        higher = isinstance(check, NotHigher)
        rivals, arm = [], Fraction(0)
        for rival in check.than:
            pairs = self.read.paired(check.measure, check.arm, rival, check.where, check.against)
            arm, theirs = pairs.totals
            rivals.append(RivalTotal(rival, theirs, arm <= theirs if higher else arm >= theirs))
        other = check.against or check.where
        looks = [(rival, other) for rival in check.than]
        return TotalsResult(
            passed=all(rival.holds for rival in rivals),
            relation="not_higher" if higher else "not_lower",
            arm=check.arm,
            scope=self.read.scope(check.measure, (check.arm, check.where), *looks),
            arm_total=arm,
            rivals=tuple(rivals),
        )

    def _monotone(self, check: Monotone) -> MonotoneResult:
        if check.where.round is not None:
            raise CheckFailed("a monotone check names its rounds itself; drop `round` from `where`")
        rounds = range(check.first_round, check.last_round + 1)
        totals = self._per_round(check.measure, check, rounds)
        guard = check.guard
        guards = self._per_round(guard.measure, check, rounds) if guard else ()
        down = check.direction == "decreasing"
        transitions, longest, running = [], 0, 0
        for i, number in enumerate(rounds[:-1]):
            moves = totals[i + 1] < totals[i] if down else totals[i + 1] > totals[i]
            holds = True
            if guard:
                rises, falls = guards[i + 1] > guards[i], guards[i + 1] < guards[i]
                holds = not (rises if guard.may_not == "rise" else falls)
            transitions.append(Transition(number, number + 1, moves, holds))
            running = running + 1 if moves and holds else 0
            longest = max(longest, running)
        where = check.where.model_copy(update={"round": tuple(rounds)})
        return MonotoneResult(
            passed=longest >= check.in_a_row,
            arm=check.arm,
            scope=self.read.scope(check.measure, (check.arm, where)),
            direction=check.direction,
            totals=totals,
            guard=guard.measure if guard else None,
            guard_totals=guards,
            transitions=tuple(transitions),
            longest=longest,
            needed=check.in_a_row,
        )

    def _per_round(
        self, measure: str, check: Monotone, rounds: Sequence[int]
    ) -> tuple[Fraction, ...]:
        scale = self.read.scale(measure)
        out = []
        families: set[tuple[str, str]] | None = None
        for number in rounds:
            where = check.where.model_copy(update={"round": number})
            out.append(Fraction(sum(self.read.by_unit(measure, check.arm, where).values()), scale))
            here = {(key.family, key.regime) for key in self.read.cells(check.arm, where)}
            if families is not None and here != families:
                raise Inconsistent(f"round {number} does not play the families of the round before")
            families = here
        return tuple(out)

    def _share(self, check: Share) -> ShareResult:
        if (check.than is None) == (check.value is None):
            raise CheckFailed("a share compares either with an arm (`than`) or with a `value`")
        scale = self.read.scale(check.measure)
        arms = (check.arm,) if check.than is None else (check.arm, check.than)
        if check.than is not None:
            self.read.paired(check.measure, check.arm, check.than, check.where)
            others = self.read.by_unit(check.measure, check.than, check.where)
        mine = self.read.by_unit(check.measure, check.arm, check.where)
        holds = {}
        for unit, value in mine.items():
            other = others[unit] if check.than is not None else check.value
            assert other is not None
            holds[unit] = _related(value, check.relation, other + check.plus)
        hits = sum(holds.values())
        bounds = _bounds(check, lambda limit: limit * len(holds), Fraction(hits))
        return ShareResult(
            passed=all(bound.holds for bound in bounds),
            arm=check.arm,
            relation=check.relation,
            than=check.than,
            value=None if check.value is None else Fraction(check.value, scale),
            plus=Fraction(check.plus, scale),
            scope=self._scope(check, *arms),
            hits=hits,
            units=len(holds),
            bounds=bounds,
            misses=tuple(unit for unit, held in sorted(holds.items()) if not held),
        )

    def _rate(self, check: Rate) -> RateResult:
        cells = self.read.cells(check.arm, check.where)
        for measure in (check.hits, check.of):
            self.read.scale(measure)
            if self.read.contract.measures[measure].aggregate != "sum":
                raise CheckFailed(f"a rate adds counts up; {measure} is aggregated otherwise")
        hits = Fraction(self.read.merged(check.hits, cells).total, self.read.scale(check.hits))
        tried = Fraction(self.read.merged(check.of, cells).total, self.read.scale(check.of))
        bounds = _bounds(check, lambda limit: limit * tried, hits)
        if not tried:
            bounds = tuple(Bound(bound.relation, bound.limit, False) for bound in bounds)
        return RateResult(
            passed=all(bound.holds for bound in bounds),
            arm=check.arm,
            scope=self.read.scope(check.hits, (check.arm, check.where)),
            of=check.of,
            hits=hits,
            tried=tried,
            rate=hits / tried if tried else None,
            bounds=bounds,
            notes=() if tried else ("of_zero",),
        )

    def _count(self, check: Count) -> CountResult:
        scale = self.read.scale(check.measure)
        aggregate = self.read.contract.measures[check.measure].aggregate
        cells = self.read.cells(check.arm, check.where)
        self.read.merged(
            check.measure, cells
        )  # every cell must carry the measure, whatever is asked
        if check.every == "job":
            extremes = self.read.cube.by_job[
                _job_watch(self.read.contract, check, self.read.standins)
            ]
            assert extremes.low is not None
            assert extremes.high is not None
            spots = [(v, f"job {job}") for v, job in (extremes.low, extremes.high)]
        elif check.every == "row":
            spots = [
                spot
                for key, cell in cells.items()
                for tally in [self.read.tally(check.measure, key, cell)]
                for spot in ((tally.low, str(key)), (tally.high, str(key)))
            ]
        elif check.every == "unit":
            spots = [
                (value, f"unit {unit} of arm {arm}")
                for arm in sorted({key.arm for key in cells})
                for unit, value in self.read.by_unit(check.measure, arm, check.where).items()
            ]
        else:
            spots = [(self.read.merged(check.measure, cells).value(aggregate), "all rows")]
        low, high = min(spots), min(spots, key=lambda spot: (-spot[0], spot[1]))
        bounds = tuple(
            Bound(
                name,
                Fraction(limit, scale),
                high[0] <= limit if name == "at_most" else low[0] >= limit,
            )
            for name, limit in (("at_most", check.at_most), ("at_least", check.at_least))
            if limit is not None
        )
        if not bounds:
            raise CheckFailed("it has no bound: give `at_most` or `at_least`")
        return CountResult(
            passed=all(bound.holds for bound in bounds),
            arm=check.arm,
            scope=self._scope(check, check.arm),
            every=check.every,
            low=Fraction(low[0], scale),
            high=Fraction(high[0], scale),
            low_at=low[1],
            high_at=high[1],
            bounds=bounds,
        )

    def _equal(self, check: Equal) -> EqualResult:
        scale = self.read.scale(check.measure)
        spots = []
        for key, cell in self.read.cells(check.arm, check.where).items():
            tally = self.read.tally(check.measure, key, cell)
            spots += [(tally.low, str(key)), (tally.high, str(key))]
        worst = min(spots, key=lambda spot: (-abs(spot[0] - check.to), spot))
        return EqualResult(
            passed=worst[0] == check.to,
            arm=check.arm,
            scope=self._scope(check, check.arm),
            to=Fraction(check.to, scale),
            worst=Fraction(worst[0], scale),
            worst_at="" if worst[0] == check.to else worst[1],
        )

    def _identical(self, check: Identical) -> IdenticalResult:
        if check.digests[0] == check.digests[1]:
            raise CheckFailed(f"digest {check.digests[0]} is compared with itself")
        if check.arm is not None and check.arm not in self.read.arms:
            raise CheckFailed(f"the contract has no arm {check.arm!r}")
        count = self.read.cube.by_digest[DigestWatch(*check.digests, check.arm)]
        return IdenticalResult(
            passed=count.jobs > 0 and not count.differing,
            arm=check.arm,
            digests=check.digests,
            jobs=count.jobs,
            differing=len(count.differing),
            first_differing=tuple(sorted(count.differing)[:10]),
            notes=() if count.jobs else ("none_recorded",),
        )

    def _combined(self, how: str, parts: Sequence[Check], path: str) -> CombinedResult:
        if not parts:
            raise CheckFailed(f"`{how}` of nothing", "a combination needs at least one check")
        results = tuple(self.evaluate(part, f"{path} {i}") for i, part in enumerate(parts, start=1))
        each = [result.passed for result in results]
        passed = {"all": all(each), "any": any(each), "not": not each[0]}[how]
        return CombinedResult(passed=passed, how=how, parts=results)


def _related(left: int, relation: str, right: int) -> bool:
    return {
        "below": left < right,
        "above": left > right,
        "not_below": left >= right,
        "not_above": left <= right,
        "equal": left == right,
    }[relation]


def _bounds(
    check: Ratio | Share | Rate, against: Callable[[Fraction], Fraction], value: Fraction
) -> tuple[Bound, ...]:
    """Return the check's bounds, each compared exactly without a division."""
    out = []
    if check.at_most is not None:
        out.append(Bound("at_most", check.at_most, value <= against(check.at_most)))
    if check.at_least is not None:
        out.append(Bound("at_least", check.at_least, value >= against(check.at_least)))
    if not out:
        raise CheckFailed("it has no bound: give `at_most` or `at_least`")
    return tuple(out)
