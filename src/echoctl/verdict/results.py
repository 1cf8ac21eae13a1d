"""The verdict as data: every number that decided, and those that are only shown.

Amounts of a measure are exact and in the contract's own units (what was stored, divided by the
measure's ``scale``). Nothing here is a float, nothing is rounded before it was compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from echoctl.canon import canonical
from echoctl.verdict.numbers import exact_text, plain
from echoctl.verdict.shown import ExhibitResult

SCHEMA = "echoctl/verdict/1"


@dataclass(frozen=True)
class PValue:
    """An exact p: `value` in lowest terms, and as ``k / 2**n`` where it is one."""

    value: Fraction
    k: int
    n: int

    def __str__(self) -> str:
        return f"{self.value.numerator}/{self.value.denominator}"


@dataclass(frozen=True)
class Scope:
    """What a check looked at: a measure, the contract's filter, and how much that was."""

    measure: str
    where: Mapping[str, Any]
    rows: int
    units: int


@dataclass(frozen=True)
class Estimates:
    """Shown beside a p, never decides. Differences are arm minus rival, in the measure's units."""

    mean_difference: Fraction
    hodges_lehmann: Fraction
    limits: tuple[Fraction, Fraction] | None
    """Exact limits of the Hodges-Lehmann estimate; None where n is too small for any."""
    confidence: Fraction | None
    """Exact confidence that those limits reach."""
    rank_biserial: Fraction
    """From -1 to 1; positive in the direction that the test names."""
    improvement: Fraction
    """Share of units in which the arm is better in the named direction, ties counted half."""
    pratt: PValue
    """The same test with zeros ranked (Pratt)."""
    sign_flip: PValue | None
    """Exact test of the mean: tells whether ranks hide one huge loss; None beyond its reach."""


@dataclass(frozen=True)
class PairedTest:
    """One exact Wilcoxon test against one rival, with the Holm step that it met."""

    rival: str
    direction: str
    """``below``, ``above`` or ``differs_from``."""
    arm_total: Fraction
    rival_total: Fraction
    wins: int
    ties: int
    losses: int
    p: PValue
    step: int
    """Place in the family, counted from 1 by increasing p."""
    threshold: Fraction
    """What p had to be at most: alpha, or alpha / (m - step + 1) under Holm."""
    adjusted: Fraction
    rejected: bool
    """The null fell. Under Holm also every earlier step must have fallen."""
    estimates: Estimates
    by_unit: tuple[tuple[int, Fraction, Fraction], ...]
    """(unit, arm, rival) for every pair, so that the report can draw them."""


@dataclass(frozen=True)
class WilcoxonResult:
    """Passes when every test of the family rejects."""

    kind: ClassVar[str] = "wilcoxon"
    passed: bool
    arm: str
    scope: Scope
    alpha: Fraction
    correction: str
    family: int
    """m: how many tests the contract registered together."""
    tests: tuple[PairedTest, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bound:
    """One bound and whether it holds: ``at_most`` or ``at_least``."""

    relation: str
    limit: Fraction
    holds: bool


@dataclass(frozen=True)
class RatioResult:
    """Total of one arm against a control's; `ratio` is None when the control is zero."""

    kind: ClassVar[str] = "ratio"
    passed: bool
    arm: str
    to: str
    scope: Scope
    arm_total: Fraction
    control_total: Fraction
    ratio: Fraction | None
    bounds: tuple[Bound, ...]
    notes: tuple[str, ...] = ()
    """``control_zero``, ``control_negative``."""


@dataclass(frozen=True)
class RivalTotal:
    """A rival's total and whether the relation holds against it."""

    rival: str
    total: Fraction
    holds: bool


@dataclass(frozen=True)
class TotalsResult:
    """A descriptive gate on totals: ``not_lower`` or ``not_higher``."""

    kind: ClassVar[str] = "totals"
    passed: bool
    relation: str
    arm: str
    scope: Scope
    arm_total: Fraction
    rivals: tuple[RivalTotal, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Transition:
    """From one round to the next: whether the total moves strictly and the guard holds."""

    from_round: int
    to_round: int
    moves: bool
    guarded: bool


@dataclass(frozen=True)
class MonotoneResult:
    """Totals per round and the longest run of transitions that count."""

    kind: ClassVar[str] = "monotone"
    passed: bool
    arm: str
    scope: Scope
    direction: str
    totals: tuple[Fraction, ...]
    guard: str | None
    guard_totals: tuple[Fraction, ...]
    transitions: tuple[Transition, ...]
    longest: int
    needed: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShareResult:
    """In how many units a relation holds."""

    kind: ClassVar[str] = "share"
    passed: bool
    arm: str
    relation: str
    than: str | None
    """The other arm, or None where the relation is to a fixed value."""
    value: Fraction | None
    plus: Fraction
    scope: Scope
    hits: int
    units: int
    bounds: tuple[Bound, ...]
    misses: tuple[int, ...]
    """The units in which it does not hold."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class RateResult:
    """Hits of tried; `rate` is None when nothing was tried."""

    kind: ClassVar[str] = "rate"
    passed: bool
    arm: str
    scope: Scope
    of: str
    hits: Fraction
    tried: Fraction
    rate: Fraction | None
    bounds: tuple[Bound, ...]
    notes: tuple[str, ...] = ()
    """``of_zero``."""


@dataclass(frozen=True)
class CountResult:
    """Bounds on a total, or on every unit, job or row: the smallest and the largest found."""

    kind: ClassVar[str] = "count"
    passed: bool
    arm: str | None
    scope: Scope
    every: str
    low: Fraction
    high: Fraction
    low_at: str
    high_at: str
    bounds: tuple[Bound, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class EqualResult:
    """Equal to one value in every row; `worst` is the value farthest from it, and where."""

    kind: ClassVar[str] = "equal"
    passed: bool
    arm: str | None
    scope: Scope
    to: Fraction
    worst: Fraction
    worst_at: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class IdenticalResult:
    """Two digests, byte-equal in every job that records one of them."""

    kind: ClassVar[str] = "identical"
    passed: bool
    arm: str | None
    digests: tuple[str, str]
    jobs: int
    differing: int
    first_differing: tuple[str, ...]
    """At most ten job ids, sorted."""
    notes: tuple[str, ...] = ()
    """``none_recorded``."""


@dataclass(frozen=True)
class CombinedResult:
    """``all``, ``any`` or ``not`` of other checks; every part is evaluated and shown."""

    kind: ClassVar[str] = "combined"
    passed: bool
    how: str
    parts: tuple[CheckResult, ...]
    notes: tuple[str, ...] = ()


CheckResult: TypeAlias = (
    WilcoxonResult
    | RatioResult
    | TotalsResult
    | MonotoneResult
    | ShareResult
    | RateResult
    | CountResult
    | EqualResult
    | IdenticalResult
    | CombinedResult
)


@dataclass(frozen=True)
class PredictionResult:
    """One prediction. `passed` is None when it is only reported and its arm was not played."""

    id: str
    text: str
    decides: bool
    passed: bool | None
    checks: tuple[CheckResult, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableCell:
    """One line of the full table, over all units."""

    stage: str
    family: str
    regime: str
    arm: str
    round: int
    units: int
    rows: int
    totals: Mapping[str, Fraction]
    """Each measure aggregated over all rows (sum, max or min, as the contract says)."""
    means: Mapping[str, Fraction]
    """Each measure's mean over units of the unit's number."""

    def as_json(self) -> dict[str, Any]:
        """Return the line with exact text for every number."""
        return {
            "stage": self.stage,
            "family": self.family,
            "regime": self.regime,
            "arm": self.arm,
            "round": self.round,
            "units": self.units,
            "rows": self.rows,
            "totals": {name: exact_text(value) for name, value in sorted(self.totals.items())},
            "means": {name: exact_text(value) for name, value in sorted(self.means.items())},
        }


@dataclass(frozen=True)
class Warn:
    """Something that the reader must weigh. `code` is stable; `text` is for reading."""

    code: str
    text: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """What the contract's rule says about the outcomes."""

    id: str
    title: str
    colour: str
    """``green`` or ``red``."""
    mark: str
    """Empty for an exam; ``DEVELOPMENT`` or ``REHEARSAL`` decide nothing."""
    green_needs: tuple[str, ...]
    predictions: tuple[PredictionResult, ...]
    invariants: tuple[CheckResult, ...]
    labels: tuple[str, ...]
    table: tuple[TableCell, ...]
    warnings: tuple[Warn, ...]
    unit: str
    units: int
    jobs: int
    rows: int
    notes: tuple[str, ...] = ()
    exhibits: tuple[ExhibitResult, ...] = ()
    """The curves, tables and logs that the contract asks for, in its order."""

    @property
    def green(self) -> bool:
        """Say whether the verdict is green."""
        return self.colour == "green"

    def prediction(self, name: str) -> PredictionResult:
        """Return one prediction by id; KeyError if the contract has none of that name."""
        for prediction in self.predictions:
            if prediction.id == name:
                return prediction
        raise KeyError(name)

    def as_json(self) -> dict[str, Any]:
        """Return the whole verdict as JSON without floats; big integers are strings."""
        asked = {"exhibits": [plain(one) for one in self.exhibits]} if self.exhibits else {}
        return {
            "schema": SCHEMA,
            "id": self.id,
            "title": self.title,
            "colour": self.colour,
            "mark": self.mark,
            "green_needs": list(self.green_needs),
            "predictions": [plain(prediction) for prediction in self.predictions],
            "invariants": [plain(check) for check in self.invariants],
            "labels": list(self.labels),
            "table": [line.as_json() for line in self.table],
            "warnings": [plain(warning) for warning in self.warnings],
            "unit": self.unit,
            "units": self.units,
            "jobs": self.jobs,
            "rows": self.rows,
            "notes": list(self.notes),
            **asked,
        }

    def as_bytes(self) -> bytes:
        """Return the bytes of ``verdict.json``: canonical, with a final newline."""
        return canonical(self.as_json()) + b"\n"
