"""The contract language: YAML bytes in, frozen models out."""

from __future__ import annotations

from echoctl.contract.load import ContractError, load_contract, parse
from echoctl.contract.model import Contract
from echoctl.contract.seeds import Block, Seeds, conflicts

__all__ = ["Block", "Contract", "ContractError", "Seeds", "conflicts", "load_contract", "parse"]
