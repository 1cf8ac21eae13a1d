"""The nine arms of MEMORIA-X: what each starts an exam episode with.

All arms share the base policy and learn within the episode; only the starting memory differs
(contract A section 4). The controls are made from the learned memory here, never from the world:
the oracle alone is told true roles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from echoctl.arena import Player
from echoctl.draws import Draws
from echoctl.mind.agent import Mind
from echoctl.mind.gate import BLOCK, MODIFY, OK, Gate
from echoctl.mind.reading import Belief, Reading, Tables
from echoctl.mind.roles import (
    AUTO,
    ENTER,
    GOAL,
    HURT,
    NONE,
    NOOP,
    OPEN,
    PICK,
    TAKE,
    UNKNOWN,
    USE,
    USE_WITH,
    WATCH,
    Trial,
)
from echoctl.percept import ACTIONS, Percept
from echoctl.tracks.memx.policy import RULES
from echoctl.worlds import World, truth

ARMS: Final = (
    "vacia", "aprendida", "barajada", "marginal", "ortogonal", "sin_cota", "sin_auto", "oraculo",
    "aleatorio",
)  # fmt: skip

MEMORY_OF: Final[Mapping[str, str]] = {
    "aprendida": "aprendida", "barajada": "aprendida", "marginal": "aprendida",
    "sin_cota": "aprendida", "sin_auto": "aprendida", "ortogonal": "ortogonal",
}  # fmt: skip
"""arm -> the trained memory that it starts from; the others need none."""


Seat: TypeAlias = Callable[["World"], Player]
"""Who plays in a world: asked before every episode."""


def seat(
    arm: str, regime: str, reading: Reading, memory: Iterable[Trial] = (),
    rates: tuple[int, int, int] = (0, 0, 0),
) -> Seat:  # fmt: skip
    """Return who plays for an arm, starting every episode from the arm's own memory.

    `memory` holds the trials of the memory that the arm starts from (`MEMORY_OF`); `rates` are
    how much the learned arm turned down (`turned_down`), which only ``marginal`` needs. Chance is
    named after arm, regime, family and seed, so that order and workers change nothing.
    """
    if arm == "aleatorio":
        dice = Dice()
        return lambda world: dice.named(*_name(arm, regime, world))
    if arm == "marginal":
        gate = BlindGate(*rates)
        blind = Mind(Tables(reading), RULES, gate=gate, lasting="goal")

        def sit_blind(world: World) -> Mind:
            gate.named(*_name(arm, regime, world))
            return blind

        return sit_blind
    tables = Tables(reading, without_movers(memory) if arm == "sin_auto" else memory)
    mind = Mind(tables, RULES, lasting="goal")

    def sit(world: World) -> Mind:
        if arm == "barajada":
            mind.tables = shuffled(tables, Draws(*_name(arm, regime, world)))
        elif arm == "oraculo":
            mind.tables = told(truth(world), reading)
        return mind

    return sit


def _name(arm: str, regime: str, world: World) -> tuple[str | int, ...]:
    return ("memx", arm, regime, world.family, world.seed)


def shuffled(tables: Tables, draws: Draws) -> Tables:
    """Return the same entries under other keys: the arm ``barajada``, once an episode.

    Layer 1: the ids permuted, uniformly over all 256. Layer 2: the signatures that have entries
    deranged, so that none keeps its own counts.
    """
    other = Tables(tables.reading)
    names = draws.shuffled(range(256))
    for key, row in tables.first.items():
        moved = names[key >> 3] * 8 + (key & 7)
        other.first[moved] = row
        other.first_answers[moved] = tables.first_answers[key]
    signs = sorted({place >> 3 for place in tables.second})
    swapped = dict(zip(signs, deranged(signs, draws), strict=True))
    for place, row in tables.second.items():
        moved = swapped[place >> 3] * 8 + (place & 7)
        other.second[moved] = row
        other.second_answers[moved] = tables.second_answers[place]
    return other


def deranged(items: Sequence[int], draws: Draws) -> list[int]:
    """Return the items in an order in which none keeps its place, uniformly.

    One item alone cannot move and stays.
    """
    if len(items) < 2:
        return list(items)
    while True:
        order = draws.shuffled(items)
        if all(one != other for one, other in zip(items, order, strict=True)):
            return order


def without_movers(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials without what was learned of things that move: the arm ``sin_auto``.

    Drops whatever looked like a mover when it was tried, and every row of an id that was ever
    seen moving.
    """
    held = list(trials)
    movers = {trial.id for trial in held if trial.kind == WATCH and trial.role == AUTO}
    return [trial for trial in held if not trial.shape.moves and trial.id not in movers]


def told(truth: Mapping[int, frozenset[str]], reading: Reading) -> Tables:
    """Return tables that answer with true roles: the arm ``oraculo``.

    `truth` maps an opaque id to its roles. What opens does so with or without something in the
    hand, as far as the oracle is told; which key fits a lock it has to find out.
    """
    tables = Tables(reading)
    for id_, roles in truth.items():
        answers = {
            ENTER: HURT if "HURT" in roles else NONE if "FREE" in roles else NOOP,
            TAKE: GOAL
            if "GOAL" in roles and "PICK" in roles
            else PICK
            if "PICK" in roles
            else NOOP,
            USE: OPEN if "OPEN" in roles else NOOP,
            USE_WITH: OPEN if "OPEN" in roles else NOOP,
            WATCH: AUTO if "AUTO" in roles else NONE,
        }
        if "GOAL" in roles and "PICK" not in roles:
            answers[ENTER] = GOAL
        for kind, role in answers.items():
            tables.first_answers[id_ * 8 + kind] = role
    return tables


def turned_down(mind: Mind, ground: int) -> tuple[int, int, int]:
    """Return asks, vetoes and prunes of the episode that a mind just played, search included.

    What the gate was asked counts, and so does entering each class that was seen: the search for
    a path goes round what is believed to hurt or to be shut, and asks nobody. `ground` is the id
    under the start, which is known without any memory.
    """
    gate = mind.gate
    asks, blocks, modifies = gate.asks, gate.blocks, gate.modifies
    for id_ in mind.board.present:
        key = id_ * 8 + ENTER
        if id_ == ground or gate.counted(key):
            continue
        role = mind.remembers(key)
        asks += 1
        blocks += role == HURT
        modifies += role == NOOP
    return asks, blocks, modifies


class BlindGate(Gate):
    """Vetoes and prunes at given rates without looking at the key: the arm ``marginal``.

    The rates are `blocks` and `modifies` of `asks`, as the learned arm turned things down in the
    same family, regime and macro (`turned_down`). One draw an (episode, id, kind); what was lived
    in the episode is judged as every gate judges it, and an ask that is let through is answered
    by nothing.
    """

    __slots__ = ("_name", "_rates")

    def __init__(self, asks: int, blocks: int, modifies: int) -> None:
        self._rates = (max(1, asks), blocks, modifies)
        self._name: tuple[str | int, ...] = ()

    def named(self, *name: str | int) -> BlindGate:
        """Name the draws of the next episode."""
        self._name = name
        return self

    def judge(self, key: int, belief: Belief) -> int:
        """Return the drawn verdict where nothing is believed, else the usual one."""
        if belief.role != UNKNOWN:
            return super().judge(key, belief)
        asks, blocks, modifies = self._rates
        drawn = Draws(*self._name, key).below(asks)
        if drawn < blocks:
            return BLOCK
        return MODIFY if drawn < blocks + modifies else OK


class Dice:
    """The arm ``aleatorio``: every action drawn uniformly, nothing believed, nothing learned."""

    rest_kind = 0

    def __init__(self) -> None:
        self._draws = Draws("unnamed")

    def named(self, *name: str | int) -> Dice:
        """Name the draws of the next episode."""
        self._draws = Draws(*name)
        return self

    def begin(self, percept: Percept, episode: int = 0) -> None:
        """Start an episode; nothing to do."""

    def act(self) -> int:
        """Return a drawn action."""
        return ACTIONS[self._draws.below(len(ACTIONS))]

    def feel(self, after: Percept) -> None:
        """Take in what followed; nothing to do."""

    def rest(self, steps: int) -> None:
        """Count steps at rest; dice never rest."""

    def counts(self) -> tuple[int, int, int, int]:
        """Return zeros: dice have no gate."""
        return 0, 0, 0, 0
