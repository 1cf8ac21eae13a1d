"""Exact numbers as text and as JSON: integers, fractions, never a binary float."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

from echoctl.canon import MAX_INT


def decimal(value: Fraction | int, digits: int = 6) -> str:
    """Return a decimal of at most `digits` significant digits, rounded half to even.

    Exact values are printed exactly when they fit. What is not zero never prints as zero, and
    an integer part is never rounded away. This is for reading: nothing is compared with it.
    """
    value = Fraction(value)
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    size = abs(value)
    whole = size.numerator // size.denominator
    places = max(digits - len(str(whole)), 1) if whole else digits + _leading_zeros(size)
    scaled = round(size * 10**places)  # Fraction.__round__ is exact, half to even
    text = str(scaled).rjust(places + 1, "0")
    return sign + (text[:-places] + "." + text[-places:]).rstrip("0").rstrip(".")


def _leading_zeros(size: Fraction) -> int:
    """Return how many zeros follow the point of a value between 0 and 1."""
    count = max(len(str(size.denominator)) - len(str(size.numerator)) - 1, 0)
    while size * 10 ** (count + 1) < 1:
        count += 1
    return count


def exact_text(value: Fraction | int) -> str:
    """Return ``7``, ``0.25`` where the decimal ends within twelve places, else ``1/3``."""
    value = Fraction(value)
    if value.denominator == 1:
        return str(value.numerator)
    rest, places = value.denominator, 0
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest //= prime
            power += 1
        places = max(places, power)
    if rest != 1 or places > 12:
        return f"{value.numerator}/{value.denominator}"
    scaled = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return ("-" if value < 0 else "") + scaled[:-places] + "." + scaled[-places:]


def number(value: Fraction | int) -> dict[str, str]:
    """Return an exact rational as JSON: the fraction that decided and a decimal to read."""
    value = Fraction(value)
    return {"exact": f"{value.numerator}/{value.denominator}", "decimal": decimal(value)}


def plain(value: object) -> Any:  # noqa: ANN401 - any JSON value
    """Return a result as JSON without floats: fractions as `number`, big integers as strings.

    Dataclasses become objects of their fields, with ``kind`` where they have one.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if -MAX_INT <= value <= MAX_INT else str(value)
    if isinstance(value, Fraction):
        return number(value)
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if is_dataclass(value) and not isinstance(value, type):
        out = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        kind = getattr(type(value), "kind", None)
        return {"kind": kind, **out} if kind else out
    raise TypeError(f"no exact JSON for {type(value).__name__}")
