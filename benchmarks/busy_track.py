"""A track for the runner's benchmark: no worlds, a chosen amount of work a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from echoctl.track import Job, Row, Track, Workbench

if TYPE_CHECKING:
    from echoctl.contract import Contract
    from echoctl.contract.seeds import Seeds


class Busy(Track):
    """Plans jobs of at most ``chunk`` rows; each row turns a counter ``spin`` times."""

    id = "busy"

    def plan(self, contract: Contract, seeds: Seeds, phase: str) -> Sequence[Job]:
        """Return one job for each unit, arm and chunk of seeds; nothing is trained."""
        if phase == "training":
            return []
        settings: Any = contract.settings
        chunk = int(settings["chunk"])
        family = contract.worlds[phase].families[0]
        jobs = []
        for unit in range(1, contract.unit.count + 1):
            lives = list(seeds.of(phase, family, unit))
            for arm in contract.arms:
                for first in range(0, len(lives), chunk):
                    jobs.append(Job(
                        id=f"{phase}-{arm.id}-{unit}-{first}", phase=phase,
                        keys={"unit": unit, "arm": arm.id},
                        inputs={
                            "family": family, "first": first, "spin": int(settings["spin"]),
                            "seeds": lives[first : first + chunk],
                        },
                    ))  # fmt: skip
        return jobs

    def play(self, job: Job, bench: Workbench) -> Iterator[Row]:
        """Yield a row for each seed."""
        inputs: Any = job.inputs
        worse = job.keys["arm"] == "plain"
        for number, seed in enumerate(inputs["seeds"], inputs["first"]):
            state = seed
            for _ in range(inputs["spin"]):
                state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            yield {
                "stage": job.phase, "family": inputs["family"], "round": 1, "episode": number,
                "seed": seed, "harm": 2 + state % 3 if worse else state % 2, "steps": state % 97,
            }  # fmt: skip
