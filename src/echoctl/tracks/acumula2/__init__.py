"""ACUMULA-2 (contract B v2, reconstructed): the same agent and menu under another design.

Equal rounds, failures as the measure, the strict gate and two more controls are all data in
contracts/acumula2.yaml; nothing about the agent is new.
"""

from __future__ import annotations

from typing import ClassVar

from echoctl.tracks.acumula import Acumula


class Acumula2(Acumula):
    """Plans and plays ACUMULA-2."""

    id: ClassVar[str] = "acumula2"
