"""A check as a sentence: what it demands, in the contract's language."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from echoctl.contract.menu import (
    Check,
    Count,
    Equal,
    Identical,
    Monotone,
    NotHigher,
    NotLower,
    Rate,
    Ratio,
    Share,
    Wilcoxon,
)
from echoctl.contract.values import Where

Lang = Literal["en", "es"]

_WORDS: dict[str, tuple[str, str]] = {
    "and": ("and", "y"),
    "or": ("or", "o"),
    "all": ("all of these hold: {parts}", "se cumple todo esto: {parts}"),
    "any": ("at least one of these holds: {parts}", "se cumple al menos una de estas: {parts}"),
    "not": ("this does not hold: {part}", "no se cumple esto: {part}"),
    "below": (
        "{measure} of {arm} is lower than that of {rivals}",
        "{measure} de {arm} es menor que {measure} de {rivals}",
    ),
    "above": (
        "{measure} of {arm} is higher than that of {rivals}",
        "{measure} de {arm} es mayor que {measure} de {rivals}",
    ),
    "differs_from": (
        "{measure} of {arm} differs from that of {rivals}",
        "{measure} de {arm} difiere de {measure} de {rivals}",
    ),
    "test_one": (
        "exact one-sided Wilcoxon over the units, p at most {alpha}",
        "Wilcoxon exacto de una cola sobre las unidades, p como mucho {alpha}",
    ),
    "test_two": (
        "exact two-sided Wilcoxon over the units, p at most {alpha}",
        "Wilcoxon exacto de dos colas sobre las unidades, p como mucho {alpha}",
    ),
    "holm": (", Holm over {tests} tests", ", Holm sobre {tests} contrastes"),
    "each": (" in each of the {tests} tests", " en cada uno de los {tests} contrastes"),
    "at_most": ("at most {n}", "como mucho {n}"),
    "at_least": ("at least {n}", "al menos {n}"),
    "ratio": (
        "the total of {measure} of {arm} is {bound} times that of {to}",
        "el total de {measure} de {arm} es {bound} veces el de {to}",
    ),
    "zero_fail": ("; if {to} has 0, it fails", "; si {to} tiene 0, no pasa"),
    "zero_pass": (
        "; if {to} has 0, it passes when {arm} has 0 too",
        "; si {to} tiene 0, pasa cuando {arm} también tiene 0",
    ),
    "not_lower": (
        "the total of {measure} of {arm} is not lower than that of {rivals}",
        "el total de {measure} de {arm} no es menor que el de {rivals}",
    ),
    "not_higher": (
        "the total of {measure} of {arm} is not higher than that of {rivals}",
        "el total de {measure} de {arm} no es mayor que el de {rivals}",
    ),
    "against": (" there ({where})", " allí ({where})"),
    "decreasing": (
        "the total of {measure} of {arm} falls strictly in at least {n} transitions in a row "
        "between rounds {first} and {last}",
        "el total de {measure} de {arm} baja estrictamente en al menos {n} transiciones seguidas "
        "entre las rondas {first} y {last}",
    ),
    "increasing": (
        "the total of {measure} of {arm} rises strictly in at least {n} transitions in a row "
        "between rounds {first} and {last}",
        "el total de {measure} de {arm} sube estrictamente en al menos {n} transiciones seguidas "
        "entre las rondas {first} y {last}",
    ),
    "guard_rise": (
        ", and {measure} does not rise in them",
        ", y {measure} no sube en ellas",
    ),
    "guard_fall": (", and {measure} does not fall in them", ", y {measure} no baja en ellas"),
    "share": (
        "in {bound} of the units, {measure} of {arm} {relation} {other}",
        "en {bound} de las unidades, {measure} de {arm} {relation} {other}",
    ),
    "is_below": ("is below", "queda por debajo de"),
    "is_above": ("is above", "queda por encima de"),
    "is_not_below": ("is not below", "no queda por debajo de"),
    "is_not_above": ("is not above", "no queda por encima de"),
    "is_equal": ("equals", "es igual a"),
    "that_of": ("that of {arm}", "la de {arm}"),
    "rate": (
        "{hits} of {arm} are {bound} of its {of}",
        "{hits} de {arm} son {bound} de sus {of}",
    ),
    "count_total": (
        "the total of {measure}{arm} is {bound}",
        "el total de {measure}{arm} es {bound}",
    ),
    "count_unit": (
        "{measure}{arm} is {bound} in every unit",
        "{measure}{arm} es {bound} en cada unidad",
    ),
    "count_job": (
        "{measure}{arm} is {bound} in every job",
        "{measure}{arm} es {bound} en cada trabajo",
    ),
    "count_row": (
        "{measure}{arm} is {bound} in every episode",
        "{measure}{arm} es {bound} en cada episodio",
    ),
    "equal": ("{measure}{arm} is {n} in every episode", "{measure}{arm} es {n} en cada episodio"),
    "identical": (
        "the digests {first} and {second}{arm} are identical in every job that records them",
        "las huellas {first} y {second}{arm} son idénticas en cada trabajo que las anota",
    ),
    "of_arm": (" of {arm}", " de {arm}"),
    "regime": ("regime", "régimen"),
    "family": ("family", "familia"),
    "stage": ("stage", "etapa"),
    "round": ("round", "ronda"),
}


def describe_check(check: Check, lang: Lang = "en") -> str:
    """Return what a check demands as one sentence without a final stop."""
    say = _Say(lang)
    kind = check.kind
    if check.not_ is not None:
        return say("not", part=describe_check(check.not_, lang))
    parts = check.all if check.all is not None else check.any
    if parts is not None:
        return say(kind, parts="; ".join(f"({describe_check(part, lang)})" for part in parts))
    return say.one(getattr(check, kind))


def describe_number(value: Fraction | int, lang: Lang = "en") -> str:
    """Return ``0.3`` (``0,3`` in Spanish) where the decimal ends, else ``1/3``."""
    exact = Fraction(value)
    rest, twos, fives = exact.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest != 1 or places > 12:
        return f"{exact.numerator}/{exact.denominator}"
    digits = str(abs(exact.numerator) * 10**places // exact.denominator).rjust(places + 1, "0")
    sign = "-" if exact < 0 else ""
    if not places:
        return sign + digits
    return f"{sign}{digits[:-places]}{'.' if lang == 'en' else ','}{digits[-places:]}"


class _Say:
    """The entries of the menu, said in one language."""

    def __init__(self, lang: Lang) -> None:
        self.lang: Lang = lang
        self.column = ("en", "es").index(lang)

    def __call__(self, key: str, **values: object) -> str:
        return _WORDS[key][self.column].format(**values)

    def one(self, one: object) -> str:
        """Return the sentence of one entry of the menu."""
        if isinstance(one, Wilcoxon):
            return self._wilcoxon(one)
        if isinstance(one, Ratio):
            key = "zero_fail" if one.if_control_zero == "fail" else "zero_pass"
            said = self(
                "ratio", measure=one.measure, arm=one.arm, to=one.to, bound=self._bound(one)
            )
            return said + self._where(one.where) + self(key, arm=one.arm, to=one.to)
        if isinstance(one, NotLower):
            return self._totals(one)
        if isinstance(one, Monotone):
            return self._monotone(one)
        if isinstance(one, Share):
            return self._share(one)
        if isinstance(one, Rate):
            bound = self._bound(one, percent=True)
            said = self("rate", hits=one.hits, of=one.of, arm=one.arm, bound=bound)
            return said + self._where(one.where)
        if isinstance(one, Count):
            said = self(
                f"count_{one.every}",
                measure=one.measure,
                arm=self._of(one.arm),
                bound=self._bound(one),
            )
            return said + self._where(one.where)
        if isinstance(one, Equal):
            said = self("equal", measure=one.measure, arm=self._of(one.arm), n=one.to)
            return said + self._where(one.where)
        assert isinstance(one, Identical)
        first, second = one.digests
        return self("identical", first=first, second=second, arm=self._of(one.arm))

    def _wilcoxon(self, one: Wilcoxon) -> str:
        parts = []
        for key in ("below", "above", "differs_from"):
            rivals: Sequence[str] = getattr(one, key)
            if not rivals:
                continue
            said = self(key, measure=one.measure, arm=one.arm, rivals=self._list(rivals, "and"))
            test = "test_two" if key == "differs_from" else "test_one"
            how = self(test, alpha=describe_number(one.alpha, self.lang))
            if len(rivals) > 1:
                how += self("holm" if one.correction == "holm" else "each", tests=len(rivals))
            parts.append(f"{said}{self._where(one.where)}: {how}")
        return "; ".join(parts)

    def _totals(self, one: NotLower) -> str:
        key = "not_higher" if isinstance(one, NotHigher) else "not_lower"
        rivals = self._list(one.than, "or")
        if one.against is not None:
            rivals += self("against", where=self._filter(one.against))
        said = self(key, measure=one.measure, arm=one.arm + self._where(one.where), rivals=rivals)
        return said

    def _monotone(self, one: Monotone) -> str:
        said = self(
            one.direction,
            measure=one.measure,
            arm=one.arm + self._where(one.where),
            n=one.in_a_row,
            first=one.first_round,
            last=one.last_round,
        )
        if one.guard is not None:
            said += self(f"guard_{one.guard.may_not}", measure=one.guard.measure)
        return said

    def _share(self, one: Share) -> str:
        if one.than is not None:
            other = self("that_of", arm=one.than)
            if one.plus:
                other += f" {'+' if one.plus > 0 else '-'} {abs(one.plus)}"
        else:
            other = str((one.value or 0) + one.plus)
        said = self(
            "share",
            bound=self._bound(one, percent=True),
            measure=one.measure,
            arm=one.arm,
            relation=self(f"is_{one.relation}"),
            other=other,
        )
        return said + self._where(one.where)

    def _bound(self, one: Ratio | Share | Rate | Count, percent: bool = False) -> str:
        parts = []
        for key in ("at_least", "at_most"):
            bound: Fraction | int | None = getattr(one, key)
            if bound is not None:
                shown = describe_number(bound * 100 if percent else bound, self.lang)
                parts.append(self(key, n=f"{shown} %" if percent else shown))
        return self._list(parts, "and")

    def _of(self, arm: str | None) -> str:
        return "" if arm is None else self("of_arm", arm=arm)

    def _where(self, where: Where) -> str:
        said = self._filter(where)
        return f" ({said})" if said else ""

    def _filter(self, where: Where) -> str:
        return ", ".join(
            f"{self(key)} {self._list([str(v) for v in where.values(key)], 'or')}"
            for key in ("stage", "regime", "family", "round")
            if where.values(key)
        )

    def _list(self, words: Sequence[str], joint: str) -> str:
        if len(words) < 2:
            return "".join(words)
        link = self(joint)
        if self.lang == "es" and link == "y" and words[-1][:1].lower() == "i":
            link = "e"
        return f"{', '.join(words[:-1])} {link} {words[-1]}"
