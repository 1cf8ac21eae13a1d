"""What will be looked at, fixed before the result is known: films, curves, tables and more.

Nothing here decides; every number but those of films goes into the verdict all the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from pydantic import Field, model_validator

from echoctl.contract.values import Exact, Key, Model, Where

By: TypeAlias = Literal["family", "round", "unit", "regime", "stage"]
"""What each line of a table or a log stands for."""


class Gif(Model):
    """Recorded episodes fixed before the exam: unit, episode and arms; `each` makes one a value."""

    unit: int = Field(default=1, ge=1)
    episode: int = Field(default=0, ge=0)
    arms: tuple[Key, ...]
    each: Literal["family", "none"] = "family"
    regime: Key | None = None
    stage: Key | None = None


class Curve(Model):
    """A measure's total over all units, round after round: one line an arm."""

    measure: Key
    arms: tuple[Key, ...] = ()
    """None named: every arm that has such rows."""
    where: Where = Where()


class Table(Model):
    """Totals of measures over all units, one line a family, round, unit, regime or stage.

    With ``against`` each line is compared with the same one of the rows that it chooses, and
    told better or worse as the measure's `better` says; sums over different numbers of rows are
    compared row for row.
    """

    measures: tuple[Key, ...]
    by: By
    arms: tuple[Key, ...] = ()
    where: Where = Where()
    against: Where | None = None


class Log(Model):
    """Which values a measure took: rows where it is not 0, counted for each value.

    A track may have words for the values (`echoctl.track.Track.word`). ``only`` keeps the rows
    in which at least one of these measures is not 0 either; ``beside`` is added up.
    """

    measure: Key
    by: By
    only: tuple[Key, ...] = ()
    beside: tuple[Key, ...] = ()
    arms: tuple[Key, ...] = ()
    where: Where = Where()


class Figure(Model):
    """A figure that somebody published: the mean a unit of a measure over one arm's rows."""

    measure: Key
    arm: Key
    mean: Exact
    where: Where = Where()


class Published(Model):
    """Figures of an earlier study, each beside the same one of this exam: a replication's table."""

    figures: tuple[Figure, ...]


class Exhibit(Model):
    """Exactly one thing to look at."""

    gif: Gif | None = None
    curve: Curve | None = None
    table: Table | None = None
    log: Log | None = None
    published: Published | None = None
    text: str = ""

    @model_validator(mode="after")
    def _exactly_one(self) -> Exhibit:
        given = [name for name in EXHIBITS if getattr(self, name) is not None]
        if len(given) != 1:
            said = f"these are {', '.join(given)}" if given else "this is none of them"
            raise ValueError(f"an exhibit is exactly one of {', '.join(EXHIBITS)}; {said}")
        return self

    @property
    def kind(self) -> str:
        """Return which of them this is."""
        return next(name for name in EXHIBITS if getattr(self, name) is not None)


def outside_exams(exhibits: Iterable[Exhibit]) -> tuple[Exhibit, ...]:
    """Return what rehearsals and development show: published figures are an exam's alone."""
    return tuple(one for one in exhibits if one.published is None)


EXHIBITS = tuple(name for name in Exhibit.model_fields if name != "text")
