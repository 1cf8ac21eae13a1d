"""Exact numbers: reading them from text, bringing them to one scale, writing them for people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias

from echoctl.errors import UsageError

Number: TypeAlias = int | Fraction
"""What this room computes with. Floats are refused; read a decimal with `exact_number`."""

_NUMBER = re.compile(
    r"(?P<whole>[+-]?[0-9]+)(?:/(?P<under>[0-9]+))?|[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
    r"(?:[eE](?P<power>[+-]?[0-9]+))?"
)
MAX_DIGITS = 4_000
"""Longest number and largest power of ten that are read: beyond it a typo eats the memory."""


def exact_number(text: str) -> Fraction:
    """Read ``12``, ``-0.30``, ``1.5e-3`` or ``3/1024`` without rounding.

    Raises UsageError for anything else, with a separate message for NaN and infinity.
    """
    text = text.strip()
    found = _NUMBER.fullmatch(text)
    if not found:
        if text.lstrip("+-").lower() in {"nan", "inf", "infinity"}:
            raise UsageError(f"{text} is not a finite number", "no test is defined on it")
        raise UsageError(f"{text[:40]!r} is not a number", "write 12, 0.30, 1.5e-3 or 3/1024")
    power = found["power"]
    if len(text) > MAX_DIGITS or (power and abs(int(power)) > MAX_DIGITS):
        raise UsageError(
            f"{text[:20]}... has more than {MAX_DIGITS} digits", "scale all the numbers alike"
        )
    if found["under"] is not None and int(found["under"]) == 0:
        raise UsageError(f"{text[:40]!r} divides by zero", "give a denominator above zero")
    return Fraction(text)


def whole(values: Iterable[Number]) -> tuple[list[int], int]:
    """Return integers and the scale by which the values were multiplied to become whole.

    Raises UsageError for a value that is no int or Fraction (a float or a boolean, say).
    """
    exact: list[Number] = list(values)
    for place, value in enumerate(exact, start=1):
        if isinstance(value, bool) or not isinstance(value, int | Fraction):
            raise UsageError(
                f"value {place} is {value!r}, neither an integer nor a Fraction",
                "read it exactly first, for instance with exact_number('0.30')",
            )
    scale = 1
    for below in {value.denominator for value in exact}:
        scale *= below // common_divisor((scale, below))
    return [value.numerator * (scale // value.denominator) for value in exact], scale


def common_divisor(values: Sequence[int]) -> int:
    """Return the greatest common divisor of non-negative integers; 0 if there is none above 0."""
    result = 0
    for value in values:
        while value:
            result, value = value, result % value
        if result == 1:
            break
    return result


def decimal_text(value: Number, digits: int = 4) -> str:
    """Write a rational with `digits` significant digits, rounded half to even.

    The text is for people and decides nothing. A value other than zero never reads as zero: small
    and large sizes are written in powers of ten, ``9.313e-10``. Exact values keep no padding zeros.
    Raises UsageError if `digits` is below one.
    """
    if digits < 1:
        raise UsageError(f"{digits} significant digits were asked for", "ask for one or more")
    if value == 0:
        return "0"
    sign, size = ("-", -Fraction(value)) if value < 0 else ("", Fraction(value))
    # 0.30103 decimal digits a bit: a first guess of the power of ten, corrected below
    power = (size.numerator.bit_length() - size.denominator.bit_length()) * 30103 // 100_000
    while size >= Fraction(10) ** (power + 1):
        power += 1
    while size < Fraction(10) ** power:
        power -= 1
    figures = round(size * Fraction(10) ** (digits - 1 - power))
    if figures == 10**digits:
        figures, power = 10 ** (digits - 1), power + 1
    text = str(figures)
    if power < -5 or power >= max(digits, 7):
        fraction = text[1:].rstrip("0")
        return f"{sign}{text[0]}{'.' if fraction else ''}{fraction}e{power}"
    if power < 0:
        text, point = "0" * -power + text, 1
    else:
        text, point = text.ljust(power + 1, "0"), power + 1
    fraction = text[point:].rstrip("0")
    return f"{sign}{text[:point]}{'.' if fraction else ''}{fraction}"
