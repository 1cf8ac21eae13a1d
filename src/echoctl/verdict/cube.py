"""Outcomes in, integer sums out: the only thing a check ever reads.

One outcome is read at a time and folded into cells of (stage, family, regime, arm, round, unit),
so memory depends on the design, not on the number of rows. Folding is commutative: the order of
outcomes and rows changes nothing. Design page "statistics", rule 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from echoctl.contract import Contract
from echoctl.contract.model import Where
from echoctl.errors import Inconsistent
from echoctl.track.job import Value
from echoctl.track.outcome import Outcome

KEYS = ("stage", "family", "regime", "arm", "round", "unit")
_INTEGER_KEYS = {"round", "unit", "episode"}


class CellKey(NamedTuple):
    """What a cell's rows have in common."""

    stage: str
    family: str
    regime: str
    """Empty where the track has no regimes."""
    arm: str
    round: int
    unit: int

    def __str__(self) -> str:
        regime = f", regime {self.regime}" if self.regime else ""
        return (
            f"stage {self.stage}, family {self.family}{regime}, arm {self.arm}, "
            f"round {self.round}, unit {self.unit}"
        )


@dataclass(slots=True)
class Tally:
    """Sum, smallest and largest value of one measure over some rows."""

    total: int
    low: int
    high: int

    def merge(self, other: Tally) -> None:
        """Fold another tally into this one."""
        self.total += other.total
        self.low = min(self.low, other.low)
        self.high = max(self.high, other.high)

    def value(self, aggregate: str) -> int:
        """Return the aggregate that the contract names: ``sum``, ``max`` or ``min``."""
        return {"sum": self.total, "max": self.high, "min": self.low}[aggregate]


@dataclass(slots=True)
class Cell:
    """The folded rows of one key."""

    rows: int = 0
    episodes: list[tuple[int, int]] = field(default_factory=list)
    """Disjoint runs of consecutive episodes, to notice one that was counted twice."""
    tallies: dict[str, Tally] = field(default_factory=dict)


class Selection(NamedTuple):
    """Which cells count: None lets all pass."""

    arm: str | None
    regime: frozenset[str] | None
    family: frozenset[str] | None
    stage: frozenset[str] | None
    round: frozenset[int] | None

    def takes(self, key: CellKey) -> bool:
        """Say whether the cell counts."""
        return (
            (self.arm is None or key.arm == self.arm)
            and (self.regime is None or key.regime in self.regime)
            and (self.family is None or key.family in self.family)
            and (self.stage is None or key.stage in self.stage)
            and (self.round is None or key.round in self.round)
        )

    def __str__(self) -> str:
        parts = [] if self.arm is None else [f"arm {self.arm}"]
        for name in ("regime", "family", "stage", "round"):
            wanted = getattr(self, name)
            if wanted is not None:
                parts.append(f"{name} " + " or ".join(map(str, sorted(wanted))))
        return ", ".join(parts) or "everything"


@dataclass(frozen=True)
class Standins:
    """What plays in a sealed family's or stage's place, in a rehearsal or in development."""

    families: Mapping[str, str] = field(default_factory=dict)
    stages: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, contract: Contract, stages: Mapping[str, str] | None = None) -> Standins:
        """Return the stand-ins that a contract's sealed stages name for their families."""
        families: dict[str, str] = {}
        for stage in contract.worlds.values():
            if stage.sealed:
                families.update(stage.stand_in)
        return cls(families, stages or {})


class JobWatch(NamedTuple):
    """A measure to be aggregated inside each job, for bounds that hold in every job."""

    measure: str
    aggregate: str
    selection: Selection


@dataclass(slots=True)
class JobExtremes:
    """Smallest and largest value that any job reached, and which (the first by id on ties)."""

    jobs: int = 0
    low: tuple[int, str] | None = None
    high: tuple[int, str] | None = None

    def add(self, value: int, job: str) -> None:
        """Fold one job's value in."""
        self.jobs += 1
        if self.low is None or (value, job) < self.low:
            self.low = (value, job)
        if self.high is None or (-value, job) < (-self.high[0], self.high[1]):
            self.high = (value, job)


class DigestWatch(NamedTuple):
    """Two named digests that must be byte-equal in every job that records them."""

    first: str
    second: str
    arm: str | None


@dataclass(slots=True)
class DigestCount:
    """How many jobs recorded a pair of digests, and which of them differ or lack one."""

    jobs: int = 0
    differing: list[str] = field(default_factory=list)


def selection(where: Where, arm: str | None, standins: Standins) -> Selection:
    """Return which cells a check's filter takes, for one arm or (None) for all."""

    def names(
        value: str | tuple[str, ...] | None, swap: Mapping[str, str]
    ) -> frozenset[str] | None:
        if value is None:
            return None
        each = (value,) if isinstance(value, str) else value
        return frozenset(swap.get(name, name) for name in each)

    rounds = where.round
    return Selection(
        arm=arm,
        regime=names(where.regime, {}),
        family=names(where.family, standins.families),
        stage=names(where.stage, standins.stages),
        round=None
        if rounds is None
        else frozenset((rounds,) if isinstance(rounds, int) else rounds),
    )


class Cube:
    """Everything that a verdict needs of the outcomes, folded to integers."""

    def __init__(
        self,
        contract: Contract,
        job_watches: Iterable[JobWatch],
        digest_watches: Iterable[DigestWatch],
    ) -> None:
        self.cells: dict[CellKey, Cell] = {}
        self.jobs: dict[str, Mapping[str, Value]] = {}
        self.by_job = {watch: JobExtremes() for watch in job_watches}
        self.by_digest = {watch: DigestCount() for watch in digest_watches}
        self.rows = 0
        self.undeclared: set[str] = set()
        """Columns that the contract does not declare as measures; they are not read."""
        self._measures = tuple(contract.measures)
        self._arms = frozenset(arm.id for arm in contract.arms)
        self._regimes = frozenset(contract.regimes)

    def add(self, outcome: Outcome) -> None:
        """Fold one job's rows in. Raises Inconsistent for whatever is not tidy, and says which."""
        job = outcome.job
        if job in self.jobs:
            raise Inconsistent(
                f"job {job} has two outcomes",
                "an outcome is written once: find out who wrote the second",
            )
        self.jobs[job] = dict(outcome.keys)
        self._digests(outcome)
        local: dict[CellKey, dict[str, Tally]] = {}
        for key, rows, columns in self._groups(outcome):
            local[key] = self._fold(job, key, rows, columns)
        for watch, extremes in self.by_job.items():
            taken = [tallies for key, tallies in local.items() if watch.selection.takes(key)]
            if not taken:
                continue
            whole: Tally | None = None
            for tallies in taken:
                part = tallies.get(watch.measure)
                if part is None:
                    raise _no_measure(watch.measure, f"job {job}")
                if whole is None:
                    whole = Tally(part.total, part.low, part.high)
                else:
                    whole.merge(part)
            assert whole is not None
            extremes.add(whole.value(watch.aggregate), job)

    def _digests(self, outcome: Outcome) -> None:
        for watch, count in self.by_digest.items():
            if watch.arm is not None and outcome.keys.get("arm") != watch.arm:
                continue
            first, second = outcome.digests.get(watch.first), outcome.digests.get(watch.second)
            if first is None and second is None:
                continue
            count.jobs += 1
            if first != second:
                count.differing.append(outcome.job)

    def _groups(
        self, outcome: Outcome
    ) -> Iterable[tuple[CellKey, list[tuple[Value, ...]], dict[str, int]]]:
        """Split an outcome's rows by cell, after checking their shape and their keys."""
        job = outcome.job
        columns = {name: index for index, name in enumerate(outcome.columns)}
        if len(columns) != len(outcome.columns):
            raise Inconsistent(f"job {job} names a column twice: {', '.join(outcome.columns)}")
        fixed: dict[str, Value] = {"regime": ""}
        for name in KEYS:
            if name in outcome.keys:
                if name in columns:
                    raise Inconsistent(
                        f"job {job} says its {name} twice: in its keys and in its rows"
                    )
                fixed[name] = outcome.keys[name]
            elif name not in columns and name not in fixed:
                raise Inconsistent(
                    f"job {job} does not say its {name}", "a row needs " + ", ".join(KEYS)
                )
        if "episode" not in columns:
            raise Inconsistent(f"the rows of job {job} have no episode")
        self.undeclared.update(set(columns) - set(self._measures) - {*KEYS, "episode", "seed"})
        moving = [name for name in KEYS if name in columns]
        width = len(outcome.columns)
        places = tuple(columns[name] for name in moving)
        split: dict[tuple[Value, ...], list[tuple[Value, ...]]] = {}
        for row in outcome.rows:
            if len(row) != width:
                raise Inconsistent(f"a row of job {job} has {len(row)} entries for {width} columns")
            split.setdefault(tuple([row[place] for place in places]), []).append(tuple(row))
        for values, rows in split.items():
            yield self._key(job, fixed | dict(zip(moving, values, strict=True))), rows, columns

    def _key(self, job: str, values: Mapping[str, Value]) -> CellKey:
        for name in KEYS:
            wanted = int if name in _INTEGER_KEYS else str
            if type(values[name]) is not wanted:
                raise Inconsistent(
                    f"job {job}: {name} must be {wanted.__name__}, not {values[name]!r}"
                )
        key = CellKey(**{name: values[name] for name in KEYS})  # type: ignore[arg-type]
        if key.arm not in self._arms:
            raise Inconsistent(f"job {job}: the contract has no arm {key.arm!r}")
        if key.regime and key.regime not in self._regimes:
            raise Inconsistent(f"job {job}: the contract has no regime {key.regime!r}")
        return key

    def _fold(
        self, job: str, key: CellKey, rows: list[tuple[Value, ...]], columns: Mapping[str, int]
    ) -> dict[str, Tally]:
        """Fold one cell's rows of one job into the cube and return their tallies."""
        cell = self.cells.setdefault(key, Cell())
        known = cell.rows > 0
        cell.rows += len(rows)
        self.rows += len(rows)
        episodes = sorted(_integers(job, key, "episode", [row[columns["episode"]] for row in rows]))
        cell.episodes = _joined(job, key, cell.episodes, episodes)
        tallies: dict[str, Tally] = {}
        for measure in self._measures:
            if measure not in columns:
                continue
            place = columns[measure]
            values = _integers(job, key, measure, [row[place] for row in rows])
            tallies[measure] = Tally(sum(values), min(values), max(values))
        if known and set(cell.tallies) != set(tallies):
            odd = sorted(set(cell.tallies) ^ set(tallies))
            raise _no_measure(odd[0], f"some jobs of {key}")
        for measure, tally in tallies.items():
            if measure in cell.tallies:
                cell.tallies[measure].merge(tally)
            else:
                cell.tallies[measure] = Tally(tally.total, tally.low, tally.high)
        return tallies


def _integers(job: str, key: CellKey, name: str, values: list[Value]) -> list[int]:
    if set(map(type, values)) != {int}:
        wrong = next(value for value in values if type(value) is not int)
        raise Inconsistent(
            f"job {job}: {name} is {wrong!r}, not an integer ({key})",
            "outcomes hold integers only; a decimal is declared with a scale",
        )
    return values  # type: ignore[return-value]


def _joined(
    job: str, key: CellKey, runs: list[tuple[int, int]], episodes: list[int]
) -> list[tuple[int, int]]:
    """Return the runs of episodes with more episodes in; one that is already there is an error."""
    fresh: list[tuple[int, int]] = []
    for episode in episodes:
        if fresh and episode == fresh[-1][1]:
            raise _twice(job, key, episode)
        if fresh and episode == fresh[-1][1] + 1:
            fresh[-1] = (fresh[-1][0], episode)
        else:
            fresh.append((episode, episode))
    out: list[tuple[int, int]] = []
    for first, last in sorted(runs + fresh):
        if out and first <= out[-1][1]:
            raise _twice(job, key, first)
        if out and first == out[-1][1] + 1:
            out[-1] = (out[-1][0], last)
        else:
            out.append((first, last))
    return out


def _twice(job: str, key: CellKey, episode: int) -> Inconsistent:
    return Inconsistent(
        f"episode {episode} of unit {key.unit} was counted twice ({key}; job {job})",
        "each unit, arm and world is counted once",
    )


def _no_measure(measure: str, place: str) -> Inconsistent:
    return Inconsistent(
        f"measure {measure} is missing in {place}",
        "every row of a selection carries every measure it is asked for",
    )
