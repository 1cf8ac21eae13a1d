"""The values that models are made of: ids, exact rationals, days, filters of rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Key: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=60)]
"""An id of an arm, regime, stage, measure or prediction."""

Family: TypeAlias = Annotated[str, Field(pattern=r"^[0-9A-Za-z][A-Za-z0-9_.-]*$", max_length=80)]
"""A kind of world, by the name that its makers gave it."""

ContractId: TypeAlias = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{1,39}$")]
"""Used once, ever."""

Text: TypeAlias = Annotated[str, Field(min_length=1)]

MAX_SEED = 2**53 - 1

_DECIMAL = re.compile(r"([+-]?[0-9]{1,18}(?:[.,][0-9]{1,18})?)(?:[eE]([+-]?[0-9]{1,2}))?")
_RATIO = re.compile(r"([+-]?[0-9]{1,18})\s*/\s*([0-9]{1,18})")
_PERCENT = re.compile(r"([+-]?[0-9]{1,18}(?:[.,][0-9]{1,18})?)\s*%")


def exact(value: object) -> object:
    """Read an exact rational from an integer, ``0.30``, ``0,30``, ``3e-1``, ``3/10``, ``30 %``."""
    if isinstance(value, bool | float):
        raise ValueError('write it as a decimal, such as 0.30 or "0,30"')
    if isinstance(value, int | Fraction):
        return Fraction(value)
    if isinstance(value, str):
        text = value.strip()
        if decimal := _DECIMAL.fullmatch(text):
            return Fraction(decimal[1].replace(",", ".")) * Fraction(10) ** int(decimal[2] or 0)
        if ratio := _RATIO.fullmatch(text):
            if int(ratio[2]) == 0:
                raise ValueError(f"the denominator of {text} is zero")
            return Fraction(int(ratio[1]), int(ratio[2]))
        if percent := _PERCENT.fullmatch(text):
            return Fraction(percent[1].replace(",", ".")) / 100
        raise ValueError(f"{value!r} is not a decimal such as 0.30, 3/10 or 30 %")
    raise ValueError("wants a decimal such as 0.30, 3/10 or 30 %")


Exact: TypeAlias = Annotated[Fraction, BeforeValidator(exact)]


def iso_date(value: object) -> object:
    """Read a date from ``2026-10-20``."""
    if isinstance(value, str):
        if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            raise ValueError(f"a date is written as 2026-10-20, not {value!r}")
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise ValueError(f"there is no day {value}") from None
    return value


Day: TypeAlias = Annotated[date, BeforeValidator(iso_date)]


class Model(BaseModel):
    """Frozen, strict, closed."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        arbitrary_types_allowed=True,
        populate_by_name=True,
    )


class Where(Model):
    """Which rows count: each key one value or a list of them; an absent key lets all pass."""

    regime: str | tuple[str, ...] | None = None
    family: str | tuple[str, ...] | None = None
    stage: str | tuple[str, ...] | None = None
    round: int | tuple[int, ...] | None = None

    def values(self, key: str) -> tuple[str | int, ...]:
        """Return what a key lets pass as a tuple; empty where it lets all pass."""
        value = getattr(self, key)
        return () if value is None else value if isinstance(value, tuple) else (value,)


def setting(value: object) -> object:
    """Refuse what has no canonical bytes; lists become tuples, so that nothing can change."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, list | tuple):
        return tuple(setting(one) for one in value)
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: setting(one) for key, one in value.items()}
    raise ValueError(f"{value!r} is neither an integer, a text, a list nor a mapping")


Setting: TypeAlias = Annotated[Any, BeforeValidator(setting)]
