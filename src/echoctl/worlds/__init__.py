"""Worlds behind one door: 26 MiniGrid families and two safety gridworlds.

`build` is the only way in, and it asks for a permit. What comes out is a `World` that shows a
mind opaque ids and nothing else (`echoctl.percept`). Importing this room loads neither MiniGrid
nor NumPy; the first MiniGrid start does.
"""

from __future__ import annotations

from echoctl.errors import UsageError
from echoctl.worlds.behind import ROLES, Scene, picture, scene, sign, truth
from echoctl.worlds.families import FAMILIES, Family
from echoctl.worlds.permit import CONFORMANCE_SEEDS, Permit
from echoctl.worlds.starts import distinct_starts, start_of
from echoctl.worlds.things import Thing, opaque_ids
from echoctl.worlds.world import Obstacles, Safety, World

__all__ = [
    "CONFORMANCE_SEEDS", "FAMILIES", "ROLES", "Family", "Permit", "Scene", "Thing", "World",
    "build", "distinct_starts", "picture", "scene", "sign", "truth",
]  # fmt: skip

_DYNAMICS = {"minigrid": World, "obstacles": Obstacles, "safety": Safety}


def build(family: str, seed: int, *, ids: tuple[str | int, ...], permit: Permit) -> World:
    """Build the world of a family and seed: the only door.

    `ids` names the bijection from classes to opaque ids (the same name, the same ids). Raises
    UsageError for an unknown family or a seed that is no non-negative integer, and Refused,
    naming family, seed and permit, when the permit does not cover them. In families of one
    layout (DistShift1, DistShift2, island_navigation, ShiftTest) the seed also turns the agent
    and, in ShiftTest, chooses the level: see `Family`.
    """
    known = FAMILIES.get(family)
    if known is None:
        raise UsageError(
            f"no family of worlds is called {family!r}", f"Known: {', '.join(FAMILIES)}."
        )
    if type(seed) is not int or seed < 0:
        raise UsageError(f"a seed is a non-negative integer, not {seed!r}")
    permit.check(family, seed)
    make = _DYNAMICS[known.dynamics]
    return make(known, seed, start_of(family, seed), opaque_ids(tuple(ids)), permit.kind)
