"""The only episode loop: one mind, one world.

`play` counts what a contract measures, from the outside: what the world says of the end, and
what each step changed. It stops early only where the rest of the episode is known exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from echoctl.errors import Refused
from echoctl.percept import DROP, FORWARD, TAKE, USE, WAIT, Percept
from echoctl.worlds import FAMILIES, World


class Player(Protocol):
    """What the arena needs of a mind: `echoctl.mind.Mind`, or a throw of dice."""

    def begin(self, percept: Percept, episode: int = 0) -> None:
        """Start an episode."""

    def act(self) -> int:
        """Return the next action."""
        ...

    def feel(self, after: Percept) -> None:
        """Take in what followed."""

    def rest(self, steps: int) -> None:
        """Count steps left out at rest."""

    def counts(self) -> tuple[int, int, int, int]:
        """Return asks, hits, blocks and modifies of the gate in this episode."""
        ...

    @property
    def rest_kind(self) -> int:
        """0 awake; 1 at rest until a cell changes; 2 at rest until an unseen class appears."""
        ...


AWAKE, RESTING, SETTLED = 0, 1, 2

Trace = Callable[[World, int], None]
"""Called with the world and the action just taken, and once before the first with -1."""


class Episode(NamedTuple):
    """What one episode measured; every field a whole number (flags are 0 or 1)."""

    success: int
    harm: int
    collision: int
    waste: int
    """Blocked steps, and takes, drops and uses that changed neither the hand nor what is in
    front. Turns and waits do not count, nor does what ended the episode."""
    steps: int
    asks: int
    hits: int
    blocks: int
    modifies: int


def play(
    mind: Player, world: World, *, episode: int = 0, trace: Trace | None = None, full: bool = False
) -> Episode:
    """Play one episode from the world's start and return what it measured.

    A mind at rest waits, and waiting changes nothing for good: then the remaining steps are
    counted without being played, exactly as they would have come (`full` plays them, to prove
    it). Raises Refused for a world built under a conformance permit: such worlds are compared
    with their reference, and no mind plays there.
    """
    if world.permit == "conformance":
        raise Refused(
            f"no mind plays {world.family} (seed {world.seed}) under a conformance permit: it is "
            "for comparing worlds with their reference",
            "Build the world with a development, rehearsal or exam permit.",
            family=world.family, seed=world.seed,
        )  # fmt: skip
    still = 99 if full else _still(world)
    percept = world.reset()
    mind.begin(percept, episode)
    if trace is not None:
        trace(world, -1)
    waste = 0
    ahead = (1, percept.width, -1, -percept.width)
    act, feel, step = mind.act, mind.feel, world.step
    while not world.over:
        action = act()
        after = step(action)
        if action == FORWARD:
            waste += after.pos == percept.pos and not after.terminal
        elif action in (TAKE, DROP, USE) and not after.terminal and after.hand == percept.hand:
            front = percept.pos + ahead[percept.heading]
            waste += after.cells[front] == percept.cells[front]
        percept = after
        feel(percept)
        if trace is not None:
            trace(world, action)
        if action == WAIT and mind.rest_kind >= still and not world.over:
            mind.rest(world.limit - world.steps)
            return Episode(0, 0, 0, waste, world.limit, *mind.counts())
    return Episode(
        int(world.success), int(world.harm), int(world.collision), waste, world.steps,
        *mind.counts(),
    )  # fmt: skip


def _still(world: World) -> int:
    """Return how deep a rest must be for waiting to be all that is left.

    Where nothing moves by itself, waiting returns the same percept for ever. Where balls roam,
    known classes only change places, which a settled mind ignores by its own rule, and a ball
    never walks into the agent: it can neither harm nor help one that waits. Of any other world
    nothing is known, so it is played to the end.
    """
    family = FAMILIES.get(world.family)
    if family is None:
        return 99
    return SETTLED if family.dynamics == "obstacles" else RESTING
