"""How a memory is read: thresholds, the signature of layer 2, and the order of the layers.

What was witnessed never changes; a `Reading` travels beside it and says how it answers. Tracks
that edit their own reading (B's ``silence``, ``refine``, ``merge``, ``bound``, ``order``) override
the three methods or replace the fields; nothing here looks at anything but whole numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from echoctl.mind.roles import KEYS, ROLES, UNKNOWN, Shape, Trial

FIRST: Final = 1
"""Layer 1: what this id did."""
SECOND: Final = 2
"""Layer 2: what things of this shape did."""
LIVED: Final = 0
"""What happened in this very episode."""
NOWHERE: Final = -1
"""No layer answered."""

STALE: Final = 254
"""In place of a role: it has to be looked up."""

_STALE: Final = bytes([STALE]) * KEYS
_UNLESS_SECOND: Final = bytes(STALE if role == UNKNOWN else role for role in range(256))
_STRENGTH: Final = (1, 2, 3, 5, 6, 4, 0)
"""Ties between equally frequent roles: HURT before GOAL, NOOP, OPEN, PICK, AUTO, NONE."""


class Belief(NamedTuple):
    """An answer and where it came from, so that a failure can be traced to the key that spoke."""

    role: int
    layer: int
    """LIVED, FIRST, SECOND or NOWHERE."""
    key: int
    """The key of that layer: ``id * 8 + kind``, or what `Reading.place` returned."""


@dataclass(frozen=True)
class Reading:
    """How a memory answers. Contract A section 2.3: activation by N_MIN and UMBRAL."""

    n_min: tuple[int, int] = (3, 3)
    """Least successes for a rule of layer 1 and of layer 2 to speak."""
    umbral: tuple[int, int] = (85, 85)
    """Least percentage of successes among trials, for each layer."""
    second_first: bool = False
    """Ask layer 2 before layer 1."""
    uses_rank: bool = False
    """Whether `sign` looks at the rank (which costs a count over the board)."""

    def sign(self, shape: Shape) -> int:
        """Return the signature of a shape: moves, one cell or more, how much of it on the border.

        The border is read in three steps: none, less than half, half or more of its cells.
        """
        moves, cells, border = shape[0], shape[1], shape[2]
        edge = 0 if border == 0 else 1 if 2 * border < cells else 2
        return moves * 6 + (3 if cells > 1 else 0) + edge

    def place(self, sign: int, kind: int) -> int:
        """Return the key of layer 2 under which a signature and a kind of action fall."""
        return sign * 8 + kind

    def speaks(self, layer: int, successes: int, trials: int) -> bool:
        """Say whether that much evidence is enough for a rule of this layer."""
        at = layer - 1
        return successes >= self.n_min[at] and successes * 100 >= self.umbral[at] * trials

    def answer(self, layer: int, row: list[int]) -> int:
        """Return the role that a row of counts speaks for, or UNKNOWN.

        `row` holds successes by role and the trials last. If several roles pass, the most
        frequent speaks; ties go by severity (HURT first).
        """
        best, role = (0, 0), UNKNOWN
        for candidate, successes in enumerate(row[:-1]):
            if successes and self.speaks(layer, successes, row[-1]):
                weight = (successes, 7 - _STRENGTH.index(candidate))
                if weight > best:
                    best, role = weight, candidate
        return role


class Tables:
    """The two layers as a reading counts them, and what they answer.

    `first` and `second` map a key to a row of counts (successes by role, then trials);
    `first_answers` is indexed by ``id * 8 + kind`` and `second_answers` maps a key of layer 2 to
    a role; UNKNOWN (or absence) is silence.
    """

    __slots__ = ("first", "first_answers", "reading", "second", "second_answers")

    def __init__(self, reading: Reading, trials: Iterable[Trial] = ()) -> None:
        self.reading = reading
        self.first: dict[int, list[int]] = {}
        self.second: dict[int, list[int]] = {}
        self.first_answers = bytearray([UNKNOWN]) * KEYS
        self.second_answers: dict[int, int] = {}
        self.add(trials)

    def add(self, trials: Iterable[Trial]) -> None:
        """Count more trials and refresh the answers of the rows that they touch."""
        reading = self.reading
        firsts, seconds = set(), set()
        # Many trials are alike but for their episode: each kind of case is read once.
        for (id_, kind, role, shape), times in Counter(trial[1:] for trial in trials).items():
            key = id_ * 8 + kind
            place = reading.place(reading.sign(shape), kind)
            for table, at in ((self.first, key), (self.second, place)):
                row = table.get(at)
                if row is None:
                    row = table[at] = [0] * (len(ROLES) + 1)
                row[role] += times
                row[-1] += times
            firsts.add(key)
            seconds.add(place)
        for key in firsts:
            self.first_answers[key] = reading.answer(FIRST, self.first[key])
        for place in seconds:
            self.second_answers[place] = reading.answer(SECOND, self.second[place])

    def roles_at_start(self) -> bytearray:
        """Return the role of each key before anything is lived; STALE where layer 2 has a say."""
        if not self.second_answers:
            return bytearray(self.first_answers)
        if self.reading.second_first:
            return bytearray(_STALE)
        return self.first_answers.translate(_UNLESS_SECOND)
