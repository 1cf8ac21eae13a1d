r"""One value, one byte string.

Canonical bytes are RFC 8785 (JCS) without floating-point numbers: a float has no single
spelling that survives every language, so it is refused where bytes are made. Hashes carry
their role, ``sha256("echoctl/" + role + "/1\n" + data)``, so that a job can never pass for a
ledger line.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import rfc8785

Json: TypeAlias = "bool | int | str | Sequence[Json] | Mapping[str, Json] | None"

MAX_INT = 2**53 - 1
"""The largest integer that every JSON reader keeps exactly; larger ones travel as strings."""

_ATOMS = (str, int, type(None))
_LONG_NUMBER = re.compile("[0-9]{16}")
_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def canonical(value: object) -> bytes:
    """Return the RFC 8785 bytes of a JSON value made of integers, strings, booleans and null.

    Raises ValueError for a float, an integer beyond 2**53 - 1, a lone surrogate or any type
    that JSON does not have.
    """
    _refuse_floats(value)
    line = plain(value)
    if line is not None:
        return line
    try:
        return rfc8785.dumps(value)  # type: ignore[arg-type]
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as problem:
        raise ValueError(f"no canonical bytes: {problem}") from problem


def plain(value: object) -> bytes | None:
    """Return the canonical bytes of a value without floats if they are easily had, else None.

    Where the text is ASCII and no number is long, the standard encoder writes what RFC 8785 asks
    for, several times faster.
    """
    try:
        text = _encode(value)
    except (TypeError, ValueError):
        return None
    return None if not text.isascii() or _LONG_NUMBER.search(text) else text.encode("ascii")


def digest(role: str, data: bytes) -> str:
    """Return the hex SHA-256 of `data` in its role (``job``, ``outcome``, ``ledger``, ...)."""
    return hashlib.sha256(b"echoctl/" + role.encode("ascii") + b"/1\n" + data).hexdigest()


def digest_of(role: str, value: object) -> str:
    """Return `digest` of a value's canonical bytes."""
    return digest(role, canonical(value))


def _refuse_floats(value: object) -> None:
    if isinstance(value, _ATOMS):
        return
    if isinstance(value, float):
        raise ValueError(f"a float has no canonical bytes: {value!r}")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise ValueError(f"a key must be a string: {key!r}")
            _refuse_floats(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _refuse_floats(inner)
