"""Small jobs of the tracks on development worlds, in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from echoctl.mind import Memory
from echoctl.track import Job
from echoctl.tracks.acumula import Acumula
from echoctl.tracks.acumula.life import Life
from echoctl.tracks.acumula2 import Acumula2
from echoctl.tracks.acumula3 import Acumula3
from echoctl.worlds import Permit, World, build

TRACKS = {track.id: track for track in (Acumula, Acumula2, Acumula3)}
FAMILIES = ("LavaCrossingS9N1", "DoorKey-6x6", "DistShift1")
PERMIT = Permit.development(FAMILIES, [(4_900_000, 4_910_000)])
FIRST_SEED = 4_900_000
PIECES = ["commit", "no_repick", "no_retoggle", "clear", "wander"]


class Bench:
    """A workbench without a worker."""

    def __init__(self, made: Path = Path()) -> None:
        self.made = made
        self.worlds: list[tuple[str, int, str]] = []

    def world(self, family: str, seed: int, ids: tuple[str | int, ...], stage: str) -> World:
        self.worlds.append((family, seed, stage))
        return build(family, seed, ids=ids, permit=PERMIT)

    def artefact(self, name: str) -> Path:
        return self.made / name

    def make(self, name: str) -> Path:
        return self.made / name

    def data(self, name: str) -> bytes:
        raise AssertionError(name)

    def digest(self, name: str, value: str) -> None:
        raise AssertionError(name)


def job_of(track: str, arm: str, *, rounds: int = 2, each: int = 3, **more: Any) -> Job:
    """Return a job with `each` worlds a family and stage; no two stages share a seed."""
    following = FIRST_SEED

    def worlds(count: int) -> list[list[Any]]:
        nonlocal following
        out: list[list[Any]] = []
        for family in FAMILIES[:2]:
            out.append([family, list(range(following, following + count))])
            following += count
        return out

    stages = {
        "rounds": {"name": "dev_rounds", "worlds": [worlds(each + 8) for _ in range(rounds)]},
        "validation": {"name": "dev_validation", "worlds": [worlds(each) for _ in range(rounds)]},
        "probe": {"name": "dev_probe", "worlds": worlds(each), "rounds": rounds + 1},
    }
    if arm == "recursiva":
        stages["bank"] = {"name": "dev_bank", "worlds": worlds(each)}
    measures = ["success", "harm", "failed", "waste", "steps", "tried", "edit", "accepted",
                "pieces", "explained", "redeemed", "destroyed", "unanswered"]  # fmt: skip
    inputs = {
        "track": track, "measures": measures, "K": 4, "gate": "strict",
        "menu": [["silence", "verify", "refine", "merge", "bound", "order"], [2, 3, 5],
                 [70, 85, 95]],
        "bounds": [3, 85],
        "settings": {
            "pieces": PIECES, "pairs": [["commit", "no_repick"]],
            "only_with": {"no_repick": "commit"},
            "signals": {"commit": "pickdrop", "no_repick": "pickdrop", "no_retoggle": "retoggle",
                        "clear": "blockdrop", "wander": "idle"},
            "thresholds": {"pickdrop": 3, "retoggle": 3, "idle": 20, "clear_steps": 8},
            "llm": {"model": "some-model", "temperature": 0},
        },
        "stages": stages, **more,
    }  # fmt: skip
    return Job(f"development-m01-{arm}", "development", {"unit": 1, "arm": arm}, inputs)


def life_of(
    track: str, arm: str, bench: Bench | None = None, start: Memory | None = None, **more: Any
) -> Life:
    """Return a life that is about to begin."""
    return TRACKS[track].life(job_of(track, arm, **more), bench or Bench(), start)
