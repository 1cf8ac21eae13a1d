"""Minds: memory, roles, the reading of a memory, beliefs, the gate, and the loop that plans.

Whole numbers only (house ban 3): no float, no true division, no clock, no chance, no world.
Policies, which are ordered lists of named rules, live in the tracks (house ban 5).
"""

from __future__ import annotations

from echoctl.mind.agent import Choice, Filter, Listener, Mind, Rule, Veto
from echoctl.mind.gate import BLOCK, MODIFY, OK, Answer, Decision, Failure, Gate
from echoctl.mind.memory import Memory, from_postal, to_postal
from echoctl.mind.reading import Belief, Reading, Tables
from echoctl.mind.roles import Shape, Trial

__all__ = [
    "BLOCK", "MODIFY", "OK", "Answer", "Belief", "Choice", "Decision", "Failure", "Filter", "Gate",
    "Listener", "Memory", "Mind", "Reading", "Rule", "Shape", "Tables", "Trial", "Veto",
    "from_postal", "to_postal",
]  # fmt: skip
