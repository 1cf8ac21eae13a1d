"""The interface between the core and a track."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

from echoctl.track.job import Job, Row

if TYPE_CHECKING:
    # Only for the reader and mypy: the sealed code of a job does not carry the contract language.
    from echoctl.contract import Contract
    from echoctl.contract.seeds import Seeds
    from echoctl.worlds import World


class Workbench(Protocol):
    """What a playing job may reach, and nothing beside it."""

    def world(self, family: str, seed: int, ids: tuple[str | int, ...], stage: str) -> World:
        """Build a world at the permit's door.

        `ids` names the bijection of opaque ids: the same name gives the same ids. Refused when
        the permit does not cover the family, the stage or the seed.
        """
        ...

    def artefact(self, name: str) -> Path:
        """Return the path of a trained artefact that the job `needs`, after checking its hash."""
        ...

    def make(self, name: str) -> Path:
        """Return the path at which to write an artefact that the job `makes`."""
        ...

    def data(self, name: str) -> bytes:
        """Return a data file by its path relative to the workspace.

        What development opens this way is sealed in the code zip, and the exam reads it there.
        """
        ...

    def digest(self, name: str, value: str) -> None:
        """Record a named hex digest in the outcome (``identical`` checks compare them)."""
        ...


class Track(ABC):
    """Plans the jobs of a contract and plays one of them."""

    id: ClassVar[str]

    @abstractmethod
    def plan(self, contract: Contract, seeds: Seeds, phase: str) -> Sequence[Job]:
        """Return the jobs of a phase (``training``, ``development``, ``exam``), in a fixed order.

        Pure: the same contract and seeds give the same jobs. A phase without jobs gives none.
        """

    @abstractmethod
    def play(self, job: Job, bench: Workbench) -> Iterator[Row]:
        """Play one job and yield its rows in a fixed order. Worker count never shows in them."""

    def word(self, contract: Contract, measure: str, value: int) -> str:
        """Return what a report calls a value of a measure (``refine(37, rank)`` for an edit).

        A `log` among the contract's exhibits asks for it. Words decide nothing and are not
        sealed; the value stands in the verdict.
        """
        return str(value)
