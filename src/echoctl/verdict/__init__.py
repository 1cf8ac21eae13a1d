"""Contract and outcomes in, Verdict out: pure, in integers and fractions.

The rules are those of the design page "statistics". Nothing in this room reads a clock, a disk
or an environment, and nothing in it is a float: the same outcomes give the same bytes on every
machine, in whatever order they are read.
"""

from __future__ import annotations

from echoctl.verdict.cube import Standins
from echoctl.verdict.decide import decide
from echoctl.verdict.numbers import decimal, exact_text
from echoctl.verdict.results import CheckResult, PredictionResult, Verdict, Warn

__all__ = [
    "CheckResult",
    "PredictionResult",
    "Standins",
    "Verdict",
    "Warn",
    "decide",
    "decimal",
    "exact_text",
]
