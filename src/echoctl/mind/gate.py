"""The gate: OK, MODIFY or BLOCK to each proposed action, and why.

The policy proposes; the gate answers from what is believed about the thing in front. BLOCK: it is
believed to hurt, and nothing is done to it. MODIFY: it is believed to do nothing, so this action
is pruned and the policy proposes the next one in its place. OK: go ahead. Contract A section 2.4.

An *ask* is the first question of an episode about one (id, kind) that has not been lived in that
episode; it is a *hit* when a layer of the memory answers. Blocks and modifies count the asks that
the memory (or whatever stands in for it) turned down; what was lived a moment ago is pruned too,
but counted nowhere, because every arm does that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from echoctl.mind.reading import FIRST, LIVED, NOWHERE, SECOND, Belief
from echoctl.mind.roles import HURT, KEYS, KINDS, NOOP, ROLES, UNKNOWN, USE_WITH

if TYPE_CHECKING:
    from echoctl.mind.agent import Mind

OK: Final = 1
MODIFY: Final = 2
BLOCK: Final = 3
VERDICTS: Final = ("", "OK", "MODIFY", "BLOCK")

_LAYERS: Final = {LIVED: "this episode", FIRST: "layer 1", SECOND: "layer 2", NOWHERE: "nothing"}


class Answer(NamedTuple):
    """One logged answer of the gate."""

    step: int
    rule: str
    """The rule that proposed it."""
    key: int
    """``id * 8 + kind``."""
    verdict: int
    belief: Belief
    successes: int
    trials: int
    """The evidence of the row that spoke; 0 and 0 where none did."""

    @property
    def why(self) -> str:
        """The answer as a sentence."""
        said = f"{VERDICTS[self.verdict]}: {KINDS[self.key & 7]} id {self.key >> 3}"
        source = _LAYERS[self.belief.layer]
        if self.belief.role == UNKNOWN:
            return f"{said}, of which {source} is known"
        evidence = f" ({self.successes} of {self.trials})" if self.trials else ""
        return f"{said}, {source} says {ROLES[self.belief.role]}{evidence}"


class Failure(NamedTuple):
    """Something hurt or did nothing, and which key had answered just before."""

    step: int
    rule: str
    key: int
    role: int
    belief: Belief


class Decision(NamedTuple):
    """One plan: the rule, the key it goes for (-1 for none) and what is believed of it."""

    step: int
    rule: str
    key: int
    belief: Belief


class Gate:
    """Answers for one mind; `begin` forgets the episode before. Subclasses override `judge`."""

    __slots__ = ("_counted", "_log", "asks", "blocks", "hits", "mind", "modifies", "verdicts")

    mind: Mind

    def begin(self, mind: Mind) -> None:
        """Start an episode of this mind."""
        self.mind = mind
        self.verdicts = bytearray(KEYS)
        """The last answer for each key; 0 where nothing was asked since the belief changed."""
        self._counted = bytearray(KEYS)
        self.asks = self.hits = self.blocks = self.modifies = 0
        self._log: list[tuple[int, str, int, int, Belief]] = []

    def forget(self, key: int) -> None:
        """Ask again next time: the belief about a key changed."""
        self.verdicts[key] = 0

    def counted(self, key: int) -> bool:
        """Say whether an ask about this key was counted in this episode."""
        return bool(self._counted[key])

    def judge(self, key: int, belief: Belief) -> int:
        """Return the verdict on a proposed action, given what is believed of it."""
        if belief.role == HURT:
            return BLOCK
        return MODIFY if belief.role == NOOP else OK

    def ask(self, key: int, rule: str) -> int:
        """Answer a proposal of `rule` to do ``key & 7`` to the thing ``key >> 3``."""
        verdict = self.verdicts[key]
        if verdict:
            return verdict
        mind = self.mind
        belief = mind.believe(key)
        verdict = self.judge(key, belief)
        layer = belief.layer
        if layer != LIVED:
            self.verdicts[key] = verdict
            if not self._counted[key]:
                self._counted[key] = 1
                self.asks += 1
                self.hits += layer != NOWHERE
                self.blocks += verdict == BLOCK
                self.modifies += verdict == MODIFY
        elif key & 7 != USE_WITH:
            # What was lived with one thing in the hand says nothing of the next thing.
            self.verdicts[key] = verdict
        self._log.append((mind.steps, rule, key, verdict, belief))
        return verdict

    @property
    def log(self) -> list[Answer]:
        """Every answer of this episode, in order, with the evidence that the memory holds."""
        return [Answer(*fields, *self.mind.evidence(fields[-1])) for fields in self._log]
