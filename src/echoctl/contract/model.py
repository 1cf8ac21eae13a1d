"""The contract as frozen models: everything that decides is data from a closed menu.

Every model is frozen, strict and refuses unknown keys. Thresholds are exact rationals read from
decimal strings. Rules: design page "statistics", "The rules" 1-10.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from echoctl.contract.exhibits import Exhibit, Gif
from echoctl.contract.menu import (
    CHECKS,
    Check,
    Count,
    Equal,
    Guard,
    Identical,
    Monotone,
    NotHigher,
    NotLower,
    Rate,
    Ratio,
    Share,
    Wilcoxon,
)
from echoctl.contract.values import (
    MAX_SEED,
    ContractId,
    Day,
    Exact,
    Family,
    Key,
    Model,
    Setting,
    Text,
    Where,
    exact,
)

__all__ = [
    "CHECKS", "Approval", "Arm", "Ceiling", "Check", "Contract", "Count", "Declaration", "Equal",
    "Exact", "Exhibit", "Gif", "Guard", "Identical", "Key", "LabelRule", "LabelWhen", "Measure",
    "Model", "Monotone", "NotHigher", "NotLower", "Prediction", "Rate", "Ratio", "Required",
    "SeedBlock", "Share", "Stage", "Unit", "VerdictRule", "Where", "Wilcoxon", "exact",
]  # fmt: skip


class Prediction(Model):
    """What was promised: a text and the checks that must all pass."""

    text: Text
    decides: bool = True
    all: tuple[Check, ...]


class LabelRule(Model):
    """A sentence that goes with the verdict when these pass and those fail."""

    when: LabelWhen
    text: Text


class LabelWhen(Model):
    """Ids of predictions."""

    passed: tuple[Key, ...] = Field(default=(), alias="pass")
    failed: tuple[Key, ...] = Field(default=(), alias="fail")


class VerdictRule(Model):
    """Green when all of these predictions and every invariant pass."""

    green: tuple[Key, ...]
    labels: tuple[LabelRule, ...] = ()


class Arm(Model):
    """A condition. `reference` and `reported` arms never decide."""

    id: Key
    kind: Literal["treatment", "control", "reference", "reported"]
    gloss: Text
    """English gloss of an id that the source fixed."""
    text: str = ""
    optional: bool = False
    """May be left out where what it needs is missing (an endpoint); it never decides."""


class Stage(Model):
    """Which worlds are played when; `sealed` stages open only in the exam."""

    families: tuple[Family, ...]
    per_unit: int = Field(ge=1, le=1_000_000)
    """Episodes of each family for one unit in one round."""
    units: int | None = Field(default=None, ge=1, le=1_000_000)
    """Units that this stage plays; None means the contract's own count."""
    rounds: int = Field(default=1, ge=1, le=100_000)
    first_round: int = Field(default=1, ge=0)
    same_each_round: bool = False
    """Every round plays the same worlds again (a probe), so seeds are laid out once."""
    families_by_round: tuple[tuple[Family, ...], ...] = ()
    """One tuple a round where rounds differ; empty means that every round plays `families`."""
    regimes: tuple[Key, ...] = ()
    arms: tuple[Key, ...] = ()
    sealed: bool = False
    stand_in: dict[Family, Family] = Field(default_factory=dict)
    """For `rehearse` and `dev`: the unsealed family that plays in a sealed family's place."""
    text: str = ""

    def families_in(self, number: int) -> tuple[str, ...]:
        """Return the families that round `number` plays (counted from `first_round`)."""
        if not self.families_by_round:
            return self.families
        return self.families_by_round[number - self.first_round]


class SeedBlock(Model):
    """Where a stage's seeds lie: contiguous from `base`, one range, never shared.

    A block that no stage of that name uses is a reserved range and says its `size`. The block
    `rehearsal` lends its seeds to the sealed stages when the contract is rehearsed.
    """

    base: int = Field(ge=0, le=MAX_SEED)
    size: int | None = Field(default=None, ge=1, le=MAX_SEED)
    """Length of the whole range where it is wider than the seeds it holds."""
    text: str = ""


class Measure(Model):
    """An integer measure of one row and how rows add up to a unit."""

    aggregate: Literal["sum", "max", "min"] = "sum"
    better: Literal["lower", "higher", "neither"] = "neither"
    scale: int = Field(default=1, ge=1)
    """What is stored is the value times `scale` (declared decimals)."""
    text: str = ""


class Required(Model):
    """A track that must have this verdict before preflight."""

    track: ContractId
    verdict: Literal["green", "red"] = "green"
    artefacts: bool = False
    """This contract starts from that one's sealed artefacts, checked by hash."""


class Approval(Model):
    """Who approved the contract, and when."""

    by: Text
    on: Day


class Unit(Model):
    """What the statistics count."""

    name: Key
    count: int = Field(ge=1, le=1_000_000)
    gloss: str = ""
    """English gloss of a name in another language."""


class Declaration(Model):
    """Something the reader must know: prior knowledge, a limit, a choice, a risk, an amendment."""

    text: Text
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
    id: ContractId
    title: Text
    lang: Literal["en", "es"] = "en"
    approved: Approval | None = None
    track: str
    follows: ContractId | None = None
    requires: tuple[Required, ...] = ()
    question: Text
    claim: str = ""
    """What a green would say, where the question alone leaves it open."""
    does_not_claim: tuple[Text, ...]
    unit: Unit
    arms: tuple[Arm, ...]
    regimes: tuple[Key, ...] = ()
    worlds: dict[Key, Stage]
    seeds: dict[Key, SeedBlock]
    measures: dict[Key, Measure]
    tunable: dict[Key, int] = Field(default_factory=dict)
    settings: dict[Key, Setting] = Field(default_factory=dict)
    """What the track needs and nobody may tune: integers, strings, lists and mappings of them."""
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
    sources: tuple[Text, ...] = ()
    """What this contract was carried over from."""
    tests: tuple[Text, ...] = ()
    reviews_required: int = Field(default=1, ge=0)

    @property
    def sealed_stages(self) -> tuple[str, ...]:
        """Return the names of the stages that open only in the exam."""
        return tuple(name for name, stage in self.worlds.items() if stage.sealed)

    @property
    def sealed_families(self) -> frozenset[str]:
        """Return the families that only sealed stages play: nothing may build them earlier."""
        opened = {f for stage in self.worlds.values() if not stage.sealed for f in stage.families}
        sealed = {f for stage in self.worlds.values() if stage.sealed for f in stage.families}
        return frozenset(sealed - opened)


LabelRule.model_rebuild()
