"""Every word that a reader sees, in English and in Spanish, by key.

``Text("es")("won", count=10)`` gives ``10 ganadas``. A test compares both catalogues with each
other and with every key that the code names. Ids of arms, measures and families are the
contract's own and are never translated; refusals and `--json` are English.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, TypeAlias

from echoctl.render import numbers
from echoctl.render.words_en import WORDS as EN
from echoctl.render.words_es import WORDS as ES

Lang: TypeAlias = Literal["en", "es"]

CATALOGUES: dict[str, dict[str, str]] = {"en": EN, "es": ES}


class Text:
    """The catalogue of one language and its way of writing numbers."""

    def __init__(self, lang: Lang) -> None:
        self.lang: Lang = lang
        self._words = CATALOGUES[lang]
        self._comma = lang == "es"

    def __call__(self, key: str, /, **values: object) -> str:
        """Return the words of a key with its values in place; KeyError for an unknown key."""
        return self._words[key].format(**values) if values else self._words[key]

    def maybe(self, key: str, otherwise: str) -> str:
        """Return the words of a key, or `otherwise` where the catalogue has none."""
        return self._words.get(key, otherwise)

    def amount(self, value: Fraction | int) -> str:
        """Write a total or a mean."""
        return numbers.amount(value, comma=self._comma)

    def decimal(self, value: Fraction | int, places: int) -> str:
        """Write a number with so many decimals."""
        return numbers.decimal(value, places, comma=self._comma)

    def small(self, value: Fraction | int) -> str:
        """Write a p or another small number with two significant figures, never 0."""
        return numbers.significant(value, 2, comma=self._comma)

    def threshold(self, value: Fraction) -> str:
        """Write a threshold as the contract would."""
        return numbers.threshold(value, comma=self._comma)

    def listed(self, names: list[str] | tuple[str, ...]) -> str:
        """Write ``a, b and c``."""
        if len(names) < 2:
            return "".join(names)
        return f"{', '.join(names[:-1])} {self('and')} {names[-1]}"
