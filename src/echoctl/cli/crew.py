"""Who plays the jobs: how many workers, on this machine or on a Ray cluster."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict

from echoctl.errors import UsageError

if TYPE_CHECKING:
    from echoctl.runner.run import Engine


class Hired(TypedDict):
    """What every act that plays jobs takes."""

    workers: int
    engine: Engine | None


@dataclass(frozen=True)
class Crew:
    """What ``--workers``, ``--runner`` and ``--address`` asked for."""

    workers: int | None = None
    runner: Literal["local", "ray"] = "local"
    address: str | None = None

    def hire(self) -> Hired:
        """Return the engine and the number of workers, by default one per core.

        UsageError for an address without Ray, or Ray without its package; CheckFailed where the
        address does not answer.
        """
        if self.runner == "local":
            if self.address is not None:
                raise UsageError("--address names a Ray cluster", "add --runner ray")
            return {"workers": self.workers or os.cpu_count() or 1, "engine": None}
        from echoctl.runner.ray import Ray

        engine = Ray(self.address)
        return {"workers": self.workers or engine.cpus(), "engine": engine}
