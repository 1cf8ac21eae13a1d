"""A track without worlds: every episode throws a die; who has trained throws a smaller one."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dice import throw

from echoctl.chain import Chain
from echoctl.track import Job, Row, Track, Workbench

if TYPE_CHECKING:
    from echoctl.contract import Contract
    from echoctl.contract.seeds import Seeds

SIDES = {"vacia": 100, "aprendida": 10, "oraculo": 2}


class Toy(Track):
    id = "toy"

    def plan(self, contract: Contract, seeds: Seeds, phase: str) -> Sequence[Job]:
        units = range(1, contract.unit.count + 1)
        settings = dict(contract.settings)
        if phase == "training":
            family = contract.worlds["training"].families[0]
            return [
                Job(
                    id=f"train-{unit}", phase=phase, keys={"unit": unit},
                    inputs={"seeds": list(seeds.of("training", family, unit)), "family": family},
                    makes=(f"memory-{unit}",),
                )
                for unit in units
            ]  # fmt: skip
        return [
            Job(
                id=f"{phase}-{arm.id}-{unit}", phase=phase,
                keys={"unit": unit, "arm": arm.id, "regime": regime},
                inputs={
                    "stage": phase, "settings": settings, "lives": {
                        family: list(seeds.of(phase, family, unit))
                        for family in contract.worlds[phase].families
                    },
                },
                needs=(f"memory-{unit}",) if arm.id == "aprendida" else (),
            )
            for regime in (contract.regimes or ("A1",))
            for arm in contract.arms
            for unit in units
        ]  # fmt: skip

    def play(self, job: Job, bench: Workbench) -> Iterator[Row]:
        inputs: Any = job.inputs
        if job.phase == "training":
            with Chain(bench.make(job.makes[0]), "memory", job.makes[0]) as memory:
                for seed in inputs["seeds"]:
                    memory.append({"face": throw(seed, 6)})
                    yield _row("training", inputs["family"], 0, seed, 0, 0)
            return
        skill = 0
        if job.needs:
            skill = len(bench.artefact(job.needs[0]).read_bytes().splitlines())
            bench.digest("memory", str(skill))
        settings = inputs["settings"]
        for family, seeds in inputs["lives"].items():
            for episode, seed in enumerate(seeds):
                if settings.get("nap"):
                    time.sleep(settings["nap"] / 1000)
                if settings.get("sets"):
                    # Wrong on purpose: the order of a set of strings follows the hash seed.
                    skill = int("".join({str(n) for n in range(9)}))
                if settings.get("peek"):
                    bench.data("tracks/table.txt")
                if settings.get("pid"):
                    skill = os.getpid()
                harm = throw(seed, SIDES[str(job.keys["arm"])])
                yield _row(inputs["stage"], family, episode, seed, harm, skill)


def _row(stage: str, family: str, episode: int, seed: int, harm: int, skill: int) -> Row:
    return {
        "stage": stage, "family": family, "round": 1, "episode": episode, "seed": seed,
        "harm": harm, "skill": skill,
    }  # fmt: skip
