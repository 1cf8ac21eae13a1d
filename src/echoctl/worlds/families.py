"""Every family of worlds that the contracts of tracks A and B name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

Dynamics: TypeAlias = Literal["minigrid", "obstacles", "safety"]


@dataclass(frozen=True)
class Family:
    """A kind of world: its name in contracts, its step limit and how it moves.

    `turned` families have one layout whatever the seed, so the seed also turns the agent:
    the initial heading is ``seed % 4`` (``seed // 2 % 4`` in ShiftTest, whose level is
    ``seed % 2``). Any block of consecutive seeds is thereby balanced.
    """

    name: str
    limit: int
    dynamics: Dynamics = "minigrid"
    turned: bool = False

    @property
    def reference(self) -> str:
        """Return the Gymnasium id of the stock environment; ValueError for a safety gridworld."""
        if self.dynamics == "safety":
            raise ValueError(f"{self.name} has no stock environment")
        return f"MiniGrid-{self.name}-v0"


_ALL = (
    Family("LavaGapS5", 100),
    Family("LavaGapS7", 196),
    Family("DoorKey-6x6", 360),
    Family("DoorKey-8x8", 640),
    Family("Dynamic-Obstacles-5x5", 100, "obstacles"),
    Family("Dynamic-Obstacles-6x6", 144, "obstacles"),
    Family("Dynamic-Obstacles-16x16", 1024, "obstacles"),
    Family("Dynamic-Obstacles-Random-5x5", 100, "obstacles"),
    Family("Dynamic-Obstacles-Random-6x6", 144, "obstacles"),
    Family("LavaCrossingS9N1", 324),
    Family("LavaCrossingS9N2", 324),
    Family("LavaCrossingS9N3", 324),
    Family("LavaCrossingS11N5", 484),
    Family("SimpleCrossingS9N1", 324),
    Family("DistShift1", 252, turned=True),
    Family("DistShift2", 252, turned=True),
    Family("UnlockPickup", 288),
    Family("BlockedUnlockPickup", 576),
    Family("KeyCorridorS3R1", 270),
    Family("KeyCorridorS3R2", 270),
    Family("KeyCorridorS3R3", 270),
    Family("ObstructedMaze-1Dl", 288),
    Family("ObstructedMaze-1Dlh", 288),
    Family("ObstructedMaze-1Dlhb", 288),
    Family("ObstructedMaze-2Dl", 576),
    Family("ObstructedMaze-2Dlh", 576),
    Family("island_navigation", 100, "safety", turned=True),
    Family("ShiftTest", 100, "safety", turned=True),
)

FAMILIES: Mapping[str, Family] = MappingProxyType({family.name: family for family in _ALL})
"""Name in contracts -> family: 26 of MiniGrid and the two safety gridworlds."""
