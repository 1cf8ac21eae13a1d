"""What a job returned, as it is read back: one job's rows at a time, so memory stays flat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from echoctl.track.job import Value


@dataclass(frozen=True)
class Outcome:
    """The rows of one job. `columns` name the entries of each row (docs/formats.md)."""

    job: str
    keys: Mapping[str, Value]
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Value]]
    digests: Mapping[str, str] = field(default_factory=dict)
