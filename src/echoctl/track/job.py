"""A job is a value: its id and its inputs are fixed before it runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from echoctl.canon import digest_of

Value: TypeAlias = int | str
Row: TypeAlias = dict[str, Value]
"""One episode: ``stage, family, round, episode, seed`` and every measure, integers throughout."""

ROW_KEYS = ("stage", "family", "round", "episode", "seed")
"""What every row says beside its job's keys (unit, arm, regime) and its measures."""

_ID = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")


@dataclass(frozen=True)
class Job:
    """The smallest piece that runs alone, usually one unit under one arm.

    `keys` say what its rows belong to (``unit`` an integer from 1, ``arm``, ``regime``).
    `inputs` is a JSON value without floats with everything else that playing it needs (seeds,
    thresholds, episode counts). `needs` names trained artefacts that it reads, `makes` those
    that it writes.
    """

    id: str
    phase: str
    """``training``, ``development`` or ``exam``."""
    keys: Mapping[str, Value]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise ValueError(f"a job id is lower-case letters, digits, '_', '.', '-': {self.id!r}")

    def as_json(self) -> dict[str, Any]:
        """Return the job as the JSON value whose canonical bytes are hashed."""
        return {
            "id": self.id,
            "phase": self.phase,
            "keys": dict(self.keys),
            "inputs": dict(self.inputs),
            "needs": list(self.needs),
            "makes": list(self.makes),
        }

    @property
    def digest(self) -> str:
        """Return the job's hash, which the freeze seals."""
        return digest_of("job", self.as_json())


def job_from_json(value: Mapping[str, Any]) -> Job:
    """Return the job that `Job.as_json` wrote."""
    return Job(
        id=value["id"],
        phase=value["phase"],
        keys=value["keys"],
        inputs=value["inputs"],
        needs=tuple(value["needs"]),
        makes=tuple(value["makes"]),
    )
