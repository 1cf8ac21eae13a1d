"""One contract, one byte string: what `contract.json` holds and what hashes are made of.

Every default is filled in, so that a reader needs no knowledge of this program's defaults. A
check or an exhibit holds only the entry of its menu that it is. Exact rationals are
``"num/den"``, days ``"2026-10-20"``, keys what the YAML calls them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import Any

from pydantic import BaseModel, ValidationError

from echoctl.canon import canonical
from echoctl.contract.exhibits import Exhibit
from echoctl.contract.menu import Check
from echoctl.contract.model import Contract
from echoctl.errors import Inconsistent


def canonical_json(contract: Contract) -> dict[str, Any]:
    """Return the contract as a JSON value of mappings, lists, texts, integers and booleans."""
    value = _plain(contract)
    assert isinstance(value, dict)
    return value


def canonical_bytes(contract: Contract) -> bytes:
    """Return the RFC 8785 bytes of `canonical_json`."""
    return canonical(canonical_json(contract))


def from_canonical(data: bytes) -> Contract:
    """Return the contract of which `data` is the canonical form.

    Raises Inconsistent when it is no contract, or when the bytes are not its canonical ones.
    """
    todo = "restore the sealed file"
    try:
        contract = Contract.model_validate(_tuples(json.loads(data)), by_alias=True, by_name=False)
    except (ValueError, ValidationError, RecursionError) as problem:
        raise Inconsistent(f"contract.json is not a contract: {problem}", todo) from None
    if canonical_bytes(contract) != data:
        raise Inconsistent("contract.json is not in canonical form", todo)
    return contract


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        return {
            field.alias or name: _plain(getattr(value, name))
            for name, field in fields.items()
            if not (isinstance(value, Check | Exhibit) and getattr(value, name) is None)
        }
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def _tuples(value: object) -> object:
    if isinstance(value, list):
        return tuple(_tuples(inner) for inner in value)
    if isinstance(value, dict):
        return {key: _tuples(inner) for key, inner in value.items()}
    return value
