"""The agent of ACUMULA: MEMORIA-X's policy under an edited reading, noting what misled it.

It changes neither the policy nor the mind of contract A; its gate lets verified beliefs be
checked, and every fault keeps the shape that the memory was asked about, so that a diagnosis can
say which edit would have changed the answer. Contract B v1 sections 2 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from echoctl.mind.agent import Listener, Mind, Rule, Veto
from echoctl.mind.edits import EditedGate
from echoctl.mind.gate import OK
from echoctl.mind.reading import FIRST, NOWHERE, SECOND, Belief, Tables
from echoctl.mind.roles import UNKNOWN, Shape
from echoctl.percept import Percept
from echoctl.tracks.memx.policy import RULES

REMEMBERED: Final = (FIRST, SECOND)
"""The layers whose answers (or whose contradictions) a memory is to blame for."""


class Fault(NamedTuple):
    """A failed or wasteful moment and the remembered belief that had answered just before."""

    episode: int
    failed: bool
    """The episode did not end at the goal."""
    key: int
    """``id * 8 + kind`` that was asked about."""
    shape: Shape
    did: int
    """The role that it showed instead; UNKNOWN where time ran out without a test."""
    belief: Belief


class Agent(Mind):
    """A mind that notes faults. `blamed` returns those of the episode that just ended."""

    def __init__(
        self, tables: Tables, *, learning: bool = False, rules: Sequence[Rule] = RULES,
        vetoes: Sequence[Veto] = (), listeners: Sequence[Listener] = (),
    ) -> None:  # fmt: skip
        super().__init__(
            tables, rules, gate=EditedGate(), learning=learning, vetoes=vetoes,
            listeners=listeners,
        )  # fmt: skip

    def begin(self, percept: Percept, episode: int = 0) -> None:
        """Start an episode without faults."""
        super().begin(percept, episode)
        self._noted: list[tuple[int, Shape, int, Belief]] = []

    def feel(self, after: Percept) -> None:
        """Learn from what followed; note a failure that a remembered belief led to."""
        known = len(self.failures)
        super().feel(after)
        for failure in self.failures[known:]:
            belief = self._asked(failure.key, failure.belief)
            if belief.layer in REMEMBERED and belief.role != failure.role:
                shape = self.board.shape(failure.key >> 3)
                self._noted.append((failure.key, shape, failure.role, belief))

    def _asked(self, key: int, belief: Belief) -> Belief:
        """Return the belief, or the silence of the place that was asked and contradicts itself."""
        if belief.layer != NOWHERE:
            return belief
        reading = self.tables.reading
        place = reading.place(self.sign(key >> 3), key & 7)
        return Belief(UNKNOWN, SECOND, place) if place in self.tables.second else belief

    def blamed(self, *, failed: bool, harmed: bool) -> list[Fault]:
        """Return the faults of this episode.

        What hurt or did nothing is blamed on the belief that answered just before it, unless that
        is what it had said. Running out of time has no such moment: there every remembered answer
        is blamed that turned a proposal down and was never put to the test.
        """
        noted = list(self._noted)
        if failed and not harmed:
            for key, belief in self.refusals():
                noted.append((key, self.board.shape(key >> 3), UNKNOWN, belief))
        faults = [Fault(self.episode, failed, *one) for one in noted]
        return list(dict.fromkeys(faults))

    def refusals(self) -> list[tuple[int, Belief]]:
        """Return the remembered answers that turned something down and were never tested."""
        return [
            (answer.key, answer.belief)
            for answer in self.gate.log
            if answer.verdict != OK
            and answer.belief.layer in REMEMBERED
            and self.lived[answer.key] == UNKNOWN
        ]
