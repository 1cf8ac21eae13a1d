"""A workbench in memory for MEMORIA-X's tests, and its contract made small."""

from __future__ import annotations

from pathlib import Path

from echoctl.contract import Contract, Seeds, load_contract
from echoctl.track import Job, Row
from echoctl.tracks.memx import Memx
from echoctl.worlds import Permit, World, build

ROOT = Path(__file__).parent.parent.parent
FAMILIES = (
    "LavaGapS7", "DoorKey-6x6", "Dynamic-Obstacles-6x6", "island_navigation", "LavaCrossingS9N1",
    "KeyCorridorS3R1",
)  # fmt: skip
"""Training and development families: the only ones that a test may let a mind play."""
PERMIT = Permit.development(FAMILIES, [(1_000_000, 1_300_000)])


class Bench:
    """What a job may reach; artefacts lie in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.built: list[tuple[str, int, tuple[str | int, ...], str]] = []

    def world(self, family: str, seed: int, ids: tuple[str | int, ...], stage: str) -> World:
        self.built.append((family, seed, ids, stage))
        return build(family, seed, ids=ids, permit=PERMIT)

    def artefact(self, name: str) -> Path:
        return self.folder / name

    def make(self, name: str) -> Path:
        return self.folder / name

    def data(self, name: str) -> bytes:
        raise AssertionError("MEMORIA-X reads no data files")

    def digest(self, name: str, value: str) -> None:
        raise AssertionError("MEMORIA-X records no digests")


def contract() -> Contract:
    path = ROOT / "contracts" / "memx.yaml"
    return load_contract(path.read_bytes(), path.name)


def jobs_of(phase: str) -> list[Job]:
    whole = contract()
    return list(Memx().plan(whole, Seeds.lay_out(whole), phase))


def shortened(job: Job, episodes: int) -> Job:
    """Return the job with only the first episodes of each family."""
    worlds = [[family, seeds[:episodes]] for family, seeds in job.inputs["worlds"]]
    return Job(job.id, job.phase, job.keys, {**job.inputs, "worlds": worlds}, job.needs, job.makes)


def play_all(job: Job, folder: Path) -> list[Row]:
    return list(Memx().play(job, Bench(folder)))


def find(jobs: list[Job], arm: str, regime: str, unit: int = 1) -> Job:
    wanted = {"arm": arm, "regime": regime, "unit": unit}
    return next(job for job in jobs if dict(job.keys) == wanted)
