"""The contract as frozen models: everything that decides is data from a closed menu.

Every model is frozen, strict and refuses unknown keys. Thresholds are exact rationals read from
decimal strings. Rules: design page "statistics", "The rules" 1-10.
"""

from __future__ import annotations

import re
from datetime import date
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Key: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=60)]
"""An id of an arm, regime, stage, measure or prediction."""

_DECIMAL = re.compile(r"-?[0-9]{1,18}([.,][0-9]{1,18})?")
_RATIO = re.compile(r"(-?[0-9]{1,18})\s*/\s*([0-9]{1,18})")
_PERCENT = re.compile(r"(-?[0-9]{1,18}([.,][0-9]{1,18})?)\s*%")


def exact(value: object) -> object:
    """Read an exact rational from an integer, ``0.30``, ``0,30``, ``3/10`` or ``30 %``."""
    if isinstance(value, bool | float):
        raise ValueError('write it as a decimal in quotes, such as "0.30"')
    if isinstance(value, int | Fraction):
        return Fraction(value)
    if isinstance(value, str):
        text = value.strip()
        if _DECIMAL.fullmatch(text):
            return Fraction(text.replace(",", "."))
        if ratio := _RATIO.fullmatch(text):
            if int(ratio[2]) == 0:
                raise ValueError("a fraction's denominator is zero")
            return Fraction(int(ratio[1]), int(ratio[2]))
        if percent := _PERCENT.fullmatch(text):
            return Fraction(percent[1].replace(",", ".")) / 100
    raise ValueError(f"not a decimal such as 0.30, 3/10 or 30 %: {value!r}")


Exact: TypeAlias = Annotated[Fraction, BeforeValidator(exact)]


def iso_date(value: object) -> object:
    """Read a date from ``2026-10-20``."""
    if isinstance(value, str):
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            raise ValueError(f"a date is written as 2026-10-20, not {value!r}")
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise ValueError(f"there is no day {value}") from None
    return value


Day: TypeAlias = Annotated[date, BeforeValidator(iso_date)]


class Model(BaseModel):
    """Frozen, strict, closed."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        arbitrary_types_allowed=True,
        populate_by_name=True,
    )


class Where(Model):
    """Which rows count: each key one value or a list of them; an absent key lets all pass."""

    regime: str | tuple[str, ...] | None = None
    family: str | tuple[str, ...] | None = None
    stage: str | tuple[str, ...] | None = None
    round: int | tuple[int, ...] | None = None


# --- checks: the closed menu ---------------------------------------------------------------


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
    """Descriptive gate: the total of ``arm`` is not lower than each rival's."""

    measure: Key
    arm: Key
    than: tuple[Key, ...]
    where: Where = Where()


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
    first_round: int = 0
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
            raise ValueError("a check is exactly one of " + ", ".join(CHECKS))
        return self

    @property
    def kind(self) -> str:
        """Return which entry of the menu this is (``wilcoxon``, ``all``, ...)."""
        return next(n.rstrip("_") for n in type(self).model_fields if getattr(self, n) is not None)


CHECKS = tuple(name.rstrip("_") for name in Check.model_fields)


class Prediction(Model):
    """What was promised: a text and the checks that must all pass."""

    text: str
    decides: bool = True
    all: tuple[Check, ...]


class LabelRule(Model):
    """A sentence that goes with the verdict when these pass and those fail."""

    when: LabelWhen
    text: str


class LabelWhen(Model):
    """Ids of predictions."""

    passed: tuple[Key, ...] = Field(default=(), alias="pass")
    failed: tuple[Key, ...] = Field(default=(), alias="fail")


class VerdictRule(Model):
    """Green when all of these predictions and every invariant pass."""

    green: tuple[Key, ...]
    labels: tuple[LabelRule, ...] = ()


# --- the design ----------------------------------------------------------------------------


class Arm(Model):
    """A condition. `reference` and `reported` arms never decide."""

    id: Key
    kind: Literal["treatment", "control", "reference", "reported"]
    gloss: str
    """English gloss of an id that the source fixed."""
    text: str = ""


class Stage(Model):
    """Which worlds are played when; `sealed` stages open only in the exam."""

    families: tuple[str, ...]
    per_unit: int = Field(ge=1)
    units: int | None = Field(default=None, ge=1)
    """Units that this stage plays; None means the contract's own count."""
    rounds: int = Field(default=1, ge=1)
    first_round: int = 1
    same_each_round: bool = False
    """Every round plays the same worlds again (a probe), so seeds are laid out once."""
    families_by_round: tuple[tuple[str, ...], ...] = ()
    """One tuple a round where rounds differ; empty means that every round plays `families`."""
    regimes: tuple[Key, ...] = ()
    arms: tuple[Key, ...] = ()
    sealed: bool = False
    stand_in: dict[str, str] = Field(default_factory=dict)
    """For `rehearse` and `dev`: the unsealed family that plays in a sealed family's place."""
    text: str = ""

    def families_in(self, number: int) -> tuple[str, ...]:
        """Return the families that round `number` plays (counted from `first_round`)."""
        if not self.families_by_round:
            return self.families
        return self.families_by_round[number - self.first_round]


class SeedBlock(Model):
    """Where a stage's seeds lie: contiguous from `base`, one range, never shared."""

    base: int = Field(ge=0)
    size: int | None = None
    """Length of the whole range where it is wider than the seeds it holds."""


class Measure(Model):
    """An integer measure of one row and how rows add up to a unit."""

    aggregate: Literal["sum", "max", "min"] = "sum"
    better: Literal["lower", "higher", "neither"] = "neither"
    scale: int = Field(default=1, ge=1)
    """What is stored is the value times `scale` (declared decimals)."""
    text: str = ""


class Required(Model):
    """A track that must have this verdict before preflight."""

    track: Key
    verdict: Literal["green", "red"] = "green"


class Approval(Model):
    """Who approved the contract, and when."""

    by: str
    on: Day


class Unit(Model):
    """What the statistics count."""

    name: Key
    count: int = Field(ge=1)


class Gif(Model):
    """Recorded episodes fixed before the exam: unit, episode and arms; `each` makes one a value."""

    unit: int = 1
    episode: int = 0
    arms: tuple[Key, ...]
    each: Literal["family", "none"] = "family"
    regime: Key | None = None
    stage: Key | None = None


class Exhibit(Model):
    """Something to look at that was chosen before the result was known."""

    gif: Gif
    text: str = ""


class Declaration(Model):
    """Something the reader must know: prior knowledge, a limit, a choice, a risk, an amendment."""

    text: str
    on: Day | None = None
    id: str | None = None


class Ceiling(Model):
    """Development must show that the reference beats this arm, or the test has no ceiling."""

    measure: Key
    arm: Key
    above: Key
    where: Where = Where()


class Contract(Model):
    """Everything that was promised before anything was measured."""

    schema_: Literal["echoctl/1"] = Field(alias="schema")
    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{1,39}$")]
    title: str
    lang: Literal["en", "es"] = "en"
    approved: Approval | None = None
    track: str
    follows: str | None = None
    requires: tuple[Required, ...] = ()
    question: str
    does_not_claim: tuple[str, ...]
    unit: Unit
    arms: tuple[Arm, ...]
    regimes: tuple[Key, ...] = ()
    worlds: dict[Key, Stage]
    seeds: dict[Key, SeedBlock]
    measures: dict[Key, Measure]
    tunable: dict[Key, int] = Field(default_factory=dict)
    settings: dict[Key, Any] = Field(default_factory=dict)
    """What the track needs and nobody may tune: integers, strings, lists of them."""
    ceiling: Ceiling | None = None
    predictions: dict[Key, Prediction]
    invariants: tuple[Check, ...] = ()
    verdict: VerdictRule
    exhibits: tuple[Exhibit, ...] = ()
    prior_knowledge: tuple[Declaration, ...] = ()
    choices: tuple[Declaration, ...] = ()
    """Where the source was ambiguous: what was chosen, said to be a choice."""
    declarations: tuple[Declaration, ...] = ()
    amendments: tuple[Declaration, ...] = ()
    risks: tuple[Declaration, ...] = ()
    tests: tuple[str, ...] = ()
    reviews_required: int = Field(default=1, ge=0)


LabelRule.model_rebuild()
Check.model_rebuild()
