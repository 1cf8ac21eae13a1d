"""What a design can and cannot show, said before anything is measured.

Every statement is computed from the contract: attainable p against the Holm ladder, what each
test can afford, how often a gate passes by chance, and synthetic results that `echoctl.verdict`
itself calls green and red. Design page "statistics", last section but one.
"""

from __future__ import annotations

from echoctl.contract.describe import describe_check
from echoctl.lint.ladder import Ladder, Step, ladder
from echoctl.lint.linter import lint
from echoctl.lint.report import Cell, Finding, LintReport, Reach, Witness

__all__ = [
    "Cell",
    "Finding",
    "Ladder",
    "LintReport",
    "Reach",
    "Step",
    "Witness",
    "describe_check",
    "ladder",
    "lint",
]
