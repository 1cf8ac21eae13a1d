"""The contract language: YAML bytes in, frozen models out.

``load_contract(data, file)`` reads a file strictly and names every problem with line and column.
``Seeds.lay_out(contract)`` fixes every seed; ``canonical_bytes`` is the contract's one byte
string; ``rehearsal_of`` the same design with development worlds in the exam's place;
``describe_check`` a check as a sentence.
"""

from __future__ import annotations

from echoctl.contract.canonical import canonical_bytes, canonical_json, from_canonical
from echoctl.contract.describe import describe_check, describe_number
from echoctl.contract.load import ContractError, load_contract, parse
from echoctl.contract.model import Contract
from echoctl.contract.rehearsal import rehearsal_of
from echoctl.contract.seeds import Block, Seeds, conflicts

__all__ = [
    "Block",
    "Contract",
    "ContractError",
    "Seeds",
    "canonical_bytes",
    "canonical_json",
    "conflicts",
    "describe_check",
    "describe_number",
    "from_canonical",
    "load_contract",
    "parse",
    "rehearsal_of",
]
