"""How numbers are written: exact in, readable out, and never a p that reads 0.

Nothing here decides anything. Rounding is half-up on exact fractions, so that a figure is the
same on every machine; binary floats are not used.
"""

from __future__ import annotations

from fractions import Fraction


def decimal(value: Fraction | int, places: int = 2, *, comma: bool = False) -> str:
    """Write `value` with `places` decimals, rounded half away from zero."""
    scaled = abs(Fraction(value)) * 10**places
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    digits = str(whole).rjust(places + 1, "0")
    text = digits if places == 0 else f"{digits[:-places]}.{digits[-places:]}"
    if value < 0 and whole:
        text = f"-{text}"
    return text.replace(".", ",") if comma else text


def significant(value: Fraction | int, figures: int = 2, *, comma: bool = False) -> str:
    """Write `value` with so many significant figures: 1/1024 is 0.00098, never 0.00.

    Below 10**-9 it turns to powers of ten (``3.1e-12``).
    """
    value = Fraction(value)
    if value == 0:
        return "0"
    power = _power(abs(value))
    if power < -9:
        mantissa = decimal(value / Fraction(10) ** power, figures - 1, comma=comma)
        return f"{mantissa}e{power}"
    places = max(0, figures - 1 - power)
    if _power(Fraction(decimal(abs(value), places))) > power:  # 0.000999 is written 0.0010
        places = max(0, places - 1)
    return decimal(value, places, comma=comma)


def amount(value: Fraction | int, *, comma: bool = False) -> str:
    """Write a total or a mean: whole numbers as they are, the rest with one decimal or two."""
    value = Fraction(value)
    if value.denominator == 1:
        return str(value.numerator)
    return decimal(value, 1 if abs(value) >= 10 else 2, comma=comma)


def threshold(value: Fraction, *, comma: bool = False) -> str:
    """Write a threshold as the contract would: 1/300 stays a fraction, 3/10 becomes 0.30."""
    for places in (2, 3, 4):
        if (value * 10**places).denominator == 1:
            return decimal(value, places, comma=comma)
    return f"{value.numerator}/{value.denominator}"


def seconds(value: float) -> str:
    """Write a duration as a person would say it: ``40 s``, ``3 min 20 s``, ``2 h 05 min``."""
    whole = max(0, round(value))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def size(count: int) -> str:
    """Write a number of bytes: ``812 B``, ``4.1 kB``, ``2.3 MB``."""
    if count < 1000:
        return f"{count} B"
    if count < 1_000_000:
        return f"{decimal(Fraction(count, 1000), 1)} kB"
    return f"{decimal(Fraction(count, 1_000_000), 1)} MB"


def _power(value: Fraction) -> int:
    """Return the exponent of the leading decimal digit of a positive fraction."""
    power = len(str(value.numerator)) - len(str(value.denominator))
    return power if value >= Fraction(10) ** power else power - 1
