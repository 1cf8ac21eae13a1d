"""The contract language: YAML bytes in, frozen models out."""

from __future__ import annotations

from echoctl.contract.model import Contract

__all__ = ["Contract"]
