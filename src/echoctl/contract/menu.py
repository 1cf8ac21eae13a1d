"""The closed menu of checks: what a prediction or an invariant may demand, as data.

Rules: design page "statistics", "The rules" 1-10.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from echoctl.contract.values import Exact, Key, Model, Where


class Wilcoxon(Model):
    """One exact Wilcoxon test against each rival; passes when every test rejects.

    One-sided for ``below`` and ``above``, two-sided for ``differs_from``; Holm over the rivals
    when asked.
    """

    measure: Key
    arm: Key
    below: tuple[Key, ...] = ()
    above: tuple[Key, ...] = ()
    differs_from: tuple[Key, ...] = ()
    where: Where = Where()
    alpha: Exact
    correction: Literal["holm", "none"] = "none"


class Ratio(Model):
    """``arm`` total against ``to`` total, compared as integers."""

    measure: Key
    arm: Key
    to: Key
    where: Where = Where()
    at_most: Exact | None = None
    at_least: Exact | None = None
    if_control_zero: Literal["fail", "pass_if_zero"] = "fail"


class NotLower(Model):
    """Descriptive gate: the total of ``arm`` is not lower than each rival's.

    With ``against``, the rivals' rows are chosen by it instead of by ``where``: an arm may be
    compared with itself in another round (the final configuration with the first).
    """

    measure: Key
    arm: Key
    than: tuple[Key, ...]
    where: Where = Where()
    against: Where | None = None


class NotHigher(NotLower):
    """Descriptive gate: the total of ``arm`` is not higher than each rival's."""


class Guard(Model):
    """A second measure that may not ``rise`` (or ``fall``) in the transitions that count."""

    measure: Key
    may_not: Literal["rise", "fall"]


class Monotone(Model):
    """At least ``in_a_row`` consecutive strict moves of one arm's totals from round to round."""

    measure: Key
    arm: Key
    direction: Literal["decreasing", "increasing"] = "decreasing"
    in_a_row: int = Field(ge=1)
    first_round: int = Field(default=0, ge=0)
    last_round: int
    where: Where = Where()
    guard: Guard | None = None


class Share(Model):
    """Share of units in which a relation holds against another arm (``than``) or a ``value``.

    ``plus`` is added to the other side: ``not_above`` with ``plus: 1`` reads "at most one more".
    """

    measure: Key
    arm: Key
    relation: Literal["below", "above", "not_below", "not_above", "equal"]
    than: Key | None = None
    value: int | None = None
    plus: int = 0
    where: Where = Where()
    at_least: Exact | None = None
    at_most: Exact | None = None


class Rate(Model):
    """A ratio of two counts of one arm, such as packets lost of packets sent."""

    hits: Key
    of: Key
    arm: Key
    where: Where = Where()
    at_most: Exact | None = None
    at_least: Exact | None = None


class Count(Model):
    """A bound on a total: over all rows, or in every unit, job or row."""

    measure: Key
    arm: Key | None = None
    where: Where = Where()
    every: Literal["total", "unit", "job", "row"] = "total"
    at_most: int | None = None
    at_least: int | None = None


class Equal(Model):
    """Equal to one integer in every row (of one arm, or of all)."""

    measure: Key
    to: int
    arm: Key | None = None
    where: Where = Where()


class Identical(Model):
    """Two named digests are byte-equal in every job that records them; none recorded fails."""

    digests: tuple[Key, Key]
    arm: Key | None = None


class Check(Model):
    """Exactly one entry of the menu, or a combination of checks."""

    wilcoxon: Wilcoxon | None = None
    ratio: Ratio | None = None
    not_lower: NotLower | None = None
    not_higher: NotHigher | None = None
    monotone: Monotone | None = None
    share: Share | None = None
    rate: Rate | None = None
    count: Count | None = None
    equal: Equal | None = None
    identical: Identical | None = None
    all: tuple[Check, ...] | None = None
    any: tuple[Check, ...] | None = None
    not_: Check | None = Field(default=None, alias="not")

    @model_validator(mode="after")
    def _exactly_one(self) -> Check:
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            said = f"these are {len(given)}: {', '.join(given)}" if given else ", ".join(CHECKS)
            raise ValueError(f"a check is exactly one entry of the menu; {said}")
        return self

    @property
    def kind(self) -> str:
        """Return which entry of the menu this is (``wilcoxon``, ``all``, ...)."""
        return next(n.rstrip("_") for n in type(self).model_fields if getattr(self, n) is not None)


CHECKS = tuple(name.rstrip("_") for name in Check.model_fields)


Check.model_rebuild()
