"""What a check of the menu must be to mean something in its contract."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

from echoctl.contract.describe import describe_number
from echoctl.contract.explain import nearest
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
from echoctl.contract.model import Contract, Stage
from echoctl.contract.strict import Path
from echoctl.contract.values import Where

Found: TypeAlias = Iterator[tuple[Path, str]]


def check_problems(contract: Contract, check: Check, path: Path, *, decides: bool) -> Found:
    """Yield ``(path, sentence)`` for every problem of a check and of the checks inside it."""
    kind = check.kind
    here: Path = (*path, kind)
    if check.not_ is not None:
        yield from check_problems(contract, check.not_, here, decides=decides)
        return
    parts = check.all if check.all is not None else check.any
    if parts is not None:
        if not parts:
            yield here, f"`{kind}` of nothing; list at least one check"
        for i, part in enumerate(parts):
            yield from check_problems(contract, part, (*here, i), decides=decides)
        return
    one = getattr(check, kind)
    yield from _Rules(contract, here, decides).of(one)


def where_problems(contract: Contract, where: Where, here: Path, key: str = "where") -> Found:
    """Yield the problems of a filter that decides nothing; `here` is the path of its owner."""
    yield from _Rules(contract, here, False)._where(where, key)


def stages_read(contract: Contract, where: Where) -> list[Stage]:
    """Return the stages whose rows a filter reads: the named ones, or all sealed ones."""
    named = [str(name) for name in where.values("stage") if name in contract.worlds]
    return [contract.worlds[name] for name in named or contract.sealed_stages]


class _Rules:
    """The rules of one check; `here` is its path."""

    def __init__(self, contract: Contract, here: Path, decides: bool) -> None:
        self.contract = contract
        self.here = here
        self.decides = decides
        self.arms = {arm.id: arm for arm in reversed(contract.arms)}

    def of(self, one: object) -> Found:
        """Yield the problems of a check by what it is."""
        if isinstance(one, Wilcoxon):
            yield from self._wilcoxon(one)
        elif isinstance(one, Ratio):
            yield from self._ratio(one)
        elif isinstance(one, NotLower):
            yield from self._totals(one)
        elif isinstance(one, Monotone):
            yield from self._monotone(one)
        elif isinstance(one, Share):
            yield from self._share(one)
        elif isinstance(one, Rate):
            yield from self._rate(one)
        elif isinstance(one, Count | Equal):
            yield from self._count(one)
        elif isinstance(one, Identical):
            yield from self._identical(one)

    # --- entries of the menu ---

    def _wilcoxon(self, one: Wilcoxon) -> Found:
        yield from self._measure(one.measure)
        yield from self._arm(one.arm)
        given = [key for key in ("below", "above", "differs_from") if getattr(one, key)]
        if len(given) != 1:
            said = "it has none" if not given else "it has " + " and ".join(given)
            yield (
                self.here,
                f"a wilcoxon names its rivals under one of below, above, differs_from; {said}",
            )
        for key in given:
            yield from self._rivals(key, one.arm, getattr(one, key))
        if not 0 < one.alpha < 1:
            yield (
                (*self.here, "alpha"),
                f"alpha lies between 0 and 1, not {describe_number(one.alpha)}",
            )
        yield from self._where(one.where)

    def _ratio(self, one: Ratio) -> Found:
        yield from self._measure(one.measure)
        yield from self._arm(one.arm)
        yield from self._rivals("to", one.arm, [one.to])
        yield from self._bounds(one.at_least, one.at_most, low=Fraction(0))
        yield from self._where(one.where)

    def _totals(self, one: NotLower) -> Found:
        yield from self._measure(one.measure)
        yield from self._arm(one.arm)
        if not one.than:
            yield (*self.here, "than"), "it is compared with nobody; name at least one arm"
        yield from self._rivals("than", one.arm, one.than, itself=one.against is not None)
        yield from self._where(one.where)
        if one.against is not None:
            yield from self._where(one.against, "against")
            if one.against == one.where and one.arm in one.than:
                yield (*self.here, "against"), "it compares the same rows with themselves"

    def _monotone(self, one: Monotone) -> Found:
        yield from self._measure(one.measure)
        yield from self._arm(one.arm)
        moves = one.last_round - one.first_round
        if moves < 1:
            yield (
                (*self.here, "last_round"),
                f"the last round ({one.last_round}) comes after the first ({one.first_round})",
            )
        elif one.in_a_row > moves:
            yield (
                (*self.here, "in_a_row"),
                f"rounds {one.first_round} to {one.last_round} have {moves} transitions; "
                f"{one.in_a_row} in a row cannot happen",
            )
        else:
            for number in (one.first_round, one.last_round):
                key = "first_round" if number == one.first_round else "last_round"
                yield from self._round(number, one.where, (*self.here, key))
        if one.where.round is not None:
            yield (*self.here, "where", "round"), "a monotone names its rounds itself"
        if one.guard is not None:
            yield from self._measure(one.guard.measure, ("guard", "measure"))
            if one.guard.measure == one.measure:
                yield (*self.here, "guard", "measure"), "a guard is a second measure"
        yield from self._where(one.where)

    def _share(self, one: Share) -> Found:
        yield from self._measure(one.measure)
        yield from self._arm(one.arm)
        if (one.than is None) == (one.value is None):
            yield self.here, "a share compares with an arm (than) or with a value: exactly one"
        if one.than is not None:
            yield from self._rivals("than", one.arm, [one.than])
        yield from self._bounds(one.at_least, one.at_most, low=Fraction(0), high=Fraction(1))
        yield from self._where(one.where)

    def _rate(self, one: Rate) -> Found:
        yield from self._measure(one.hits, ("hits",))
        yield from self._measure(one.of, ("of",))
        yield from self._arm(one.arm)
        if one.hits == one.of:
            yield (*self.here, "of"), "a rate is a ratio of two different counts"
        for key, name in (("hits", one.hits), ("of", one.of)):
            if name in self.contract.measures and self.contract.measures[name].aggregate != "sum":
                yield (*self.here, key), f"a rate adds counts up; {name} is aggregated otherwise"
        yield from self._bounds(one.at_least, one.at_most, low=Fraction(0))
        yield from self._where(one.where)

    def _count(self, one: Count | Equal) -> Found:
        yield from self._measure(one.measure)
        if one.arm is not None:
            yield from self._arm(one.arm)
        if isinstance(one, Count):
            yield from self._bounds(one.at_least, one.at_most)
        yield from self._where(one.where)

    def _identical(self, one: Identical) -> Found:
        if one.digests[0] == one.digests[1]:
            yield (*self.here, "digests"), f"{one.digests[0]} is always identical to itself"
        if one.arm is not None:
            yield from self._arm(one.arm)

    # --- what they share ---

    def _measure(self, name: str, keys: Sequence[str] = ("measure",)) -> Found:
        if name not in self.contract.measures:
            yield (
                (*self.here, *keys),
                f"{name} is no measure{nearest(name, self.contract.measures)}",
            )

    def _arm(self, name: str, keys: Path = ("arm",)) -> Found:
        arm = self.arms.get(name)
        if arm is None:
            yield (*self.here, *keys), f"{name} is no arm{nearest(name, self.arms)}"
        elif self.decides and arm.kind in ("reference", "reported"):
            yield (*self.here, *keys), f"the arm {name} is a {arm.kind} arm: it never decides"
        elif arm.optional:
            yield (*self.here, *keys), f"the arm {name} is optional: no check may need it"

    def _rivals(self, key: str, arm: str, rivals: Sequence[str], itself: bool = False) -> Found:
        for i, rival in enumerate(rivals):
            keys: Path = (key, i)
            yield from self._arm(rival, keys)
            if rival == arm and not itself:
                yield (*self.here, *keys), f"{arm} is compared with itself"
            if rival in rivals[:i]:
                yield (*self.here, *keys), f"{rival} is listed twice"

    def _bounds(
        self,
        at_least: Fraction | int | None,
        at_most: Fraction | int | None,
        low: Fraction | None = None,
        high: Fraction | None = None,
    ) -> Found:
        if at_least is None and at_most is None:
            yield self.here, f"the {self.here[-1]} has no bound; give at_most or at_least"
        for key, bound in (("at_least", at_least), ("at_most", at_most)):
            if bound is None:
                continue
            if low is not None and bound < low:
                yield (*self.here, key), f"{key} is {describe_number(bound)}; the least is {low}"
            if high is not None and bound > high:
                yield (
                    (*self.here, key),
                    f"{key} is {describe_number(bound)}; the most is {high} (75 % is 0.75 or 75 %)",
                )
        if at_least is not None and at_most is not None and at_least > at_most:
            yield (
                (*self.here, "at_least"),
                "nothing is at least "
                f"{describe_number(at_least)} and at most {describe_number(at_most)}",
            )

    def _where(self, where: Where, key: str = "where") -> Found:
        here: Path = (*self.here, key)
        worlds = self.contract.worlds
        yield from self._listed(here, "regime", where, self.contract.regimes)
        yield from self._listed(here, "stage", where, worlds)
        if self.decides:
            for i, name in enumerate(where.values("stage")):
                if name in worlds and not worlds[str(name)].sealed:
                    yield (
                        _step(here, "stage", where, i),
                        f"the stage {name} is open; what decides is read in a sealed stage",
                    )
        stages = [worlds[name] for name in self._stages(where)]
        if self.here[-1] in ("wilcoxon", "share"):
            counts = {stage.units or self.contract.unit.count for stage in stages}
            if len(counts) > 1:
                said = " and ".join(map(str, sorted(counts)))
                yield here, f"its stages play different numbers of units ({said}); name one stage"
        families = {family for stage in stages for family in stage.families}
        yield from self._listed(here, "family", where, families)
        for i, number in enumerate(where.values("round")):
            yield from self._round(int(number), where, _step(here, "round", where, i))

    def _listed(self, here: Path, key: str, where: Where, known: object) -> Found:
        allowed = set(known)  # type: ignore[call-overload]
        values = where.values(key)
        if getattr(where, key) == ():
            yield (*here, key), f"{key} lists nothing, so no row counts; leave it out for all"
        for i, value in enumerate(values):
            if value not in allowed:
                yield (
                    _step(here, key, where, i),
                    f"{value} is no {key} here{nearest(str(value), allowed)}",
                )
            if value in values[:i]:
                yield _step(here, key, where, i), f"{value} is listed twice"

    def _stages(self, where: Where) -> list[str]:
        """Return the stages whose rows a filter reads: the named ones, or all sealed ones."""
        named = [str(name) for name in where.values("stage") if name in self.contract.worlds]
        return named or list(self.contract.sealed_stages)

    def _round(self, number: int, where: Where, path: Path) -> Found:
        for name in self._stages(where):
            stage = self.contract.worlds[name]
            if stage.first_round <= number < stage.first_round + stage.rounds:
                return
        names = self._stages(where)
        if not names:
            return
        yield path, f"there is no round {number} in {' or '.join(names)}"


def _step(here: Path, key: str, where: Where, i: int) -> Path:
    return (*here, key, i) if isinstance(getattr(where, key), tuple) else (*here, key)
