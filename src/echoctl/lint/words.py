"""The linter's sentences in English and Spanish, filled with what was computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from echoctl.contract.describe import Lang, describe_number
from echoctl.lint.ladder import Ladder, Step
from echoctl.verdict.numbers import decimal

NUMBERS: dict[Lang, tuple[str, ...]] = {
    "en": (
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ),
    "es": (
        "cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez",
        "once", "doce",
    ),
}  # fmt: skip

WORDS: dict[str, tuple[str, str]] = {
    # statements
    "family": (
        "{measure} of {arm} against {rivals}: exact Wilcoxon x {tests} on {units}, {correction} at "
        "alpha {alpha}; thresholds {thresholds}; the smallest attainable p is {smallest}",
        "{measure} de {arm} frente a {rivals}: Wilcoxon exacto x {tests} sobre {units}, "
        "{correction} con alfa {alpha}; umbrales {thresholds}; el p mínimo alcanzable es "
        "{smallest}",
    ),
    "descriptive": (
        "{what} compares totals: it describes this exam, and cannot show that an arm is not worse "
        "in general",
        "{what} compara totales: describe este examen y no puede mostrar que un brazo no sea peor "
        "en general",
    ),
    "green_shown": (
        "a synthetic result turns {where} green ({cells} numbers other than zero)",
        "un resultado sintético pone {where} en verde ({cells} números distintos de cero)",
    ),
    "red_shown": (
        "a synthetic result turns {where} red, and the verdict with it{rest}",
        "un resultado sintético pone {where} en rojo, y con él el veredicto{rest}",
    ),
    # refusals
    "too_few_units": (
        "cannot pass: with {units} the smallest p is {smallest}, above the first threshold "
        "{threshold} of {tests}; {needed} are needed",
        "no puede pasar: con {units} el p mínimo es {smallest}, mayor que el primer umbral "
        "{threshold} de {tests}; hacen falta {needed}",
    ),
    "no_alpha": (
        "cannot pass: no p is at most {threshold}",
        "no puede pasar: ningún p llega a {threshold}",
    ),
    "whole_alpha": (
        "cannot fail: every p is at most {alpha}",
        "no puede fallar: todo p es como mucho {alpha}",
    ),
    "no_rival": ("cannot fail: {arm} has no rival", "no puede fallar: {arm} no tiene rival"),
    "itself": (
        "{arm} is compared with itself: the answer is known beforehand",
        "{arm} se compara consigo mismo: la respuesta se sabe de antemano",
    ),
    "never_below": (
        "cannot fail: {what} counts things, so it is always at least {bound}",
        "no puede fallar: {what} cuenta cosas, así que siempre es al menos {bound}",
    ),
    "never_below_zero": (
        "cannot pass: {what} counts things, so it is never at most {bound}",
        "no puede pasar: {what} cuenta cosas, así que nunca es como mucho {bound}",
    ),
    "too_few_rounds": (
        "cannot pass: {wanted} moves in a row are wanted and there are {moves} transitions",
        "no puede pasar: pide {wanted} cambios seguidos y hay {moves} transiciones",
    ),
    "whole_rate": (
        "cannot fail: {hits} are some of {of}, so at most 100 % of them",
        "no puede fallar: {hits} son parte de {of}, así que como mucho el 100 %",
    ),
    "whole_share": (
        "cannot fail: every share of units lies between 0 and 100 %",
        "no puede fallar: toda proporción de unidades está entre 0 y 100 %",
    ),
    "no_share": (
        "cannot pass: no number of {units} units lies between {low} and {high} of them",
        "no puede pasar: ningún número de {units} unidades está entre {low} y {high} de ellas",
    ),
    "fixed_share": (
        "is known beforehand: {measure} counts things, so its relation to {value} never changes",
        "se sabe de antemano: {measure} cuenta cosas, así que su relación con {value} no cambia",
    ),
    "crossed": (
        "cannot pass: it wants at least {low} and at most {high}",
        "no puede pasar: pide al menos {low} y como mucho {high}",
    ),
    "broken": ("cannot be decided: {why}", "no se puede decidir: {why}"),
    "overlap": ("{why}", "{why}"),
    # warnings
    "zero_control": (
        "if {to} has no {measure} at all, the ratio does not exist and the gate fails, whatever "
        "{arm} does",
        "si {to} no tiene nada de {measure}, la razón no existe y la puerta falla, haga lo que "
        "haga {arm}",
    ),
    "coin_flip": (
        "a ratio gate at {bound} is a coin flip when the true ratio is {bound}: with {events} "
        "events in both arms together it passes with chance {chance}; to pass nine times of ten "
        "the true ratio must be {needed} or {better}",
        "una puerta de razón en {bound} es cara o cruz si la razón verdadera es {bound}: con "
        "{events} sucesos entre los dos brazos pasa con probabilidad {chance}; para pasar nueve "
        "de cada diez veces la razón verdadera debe ser {needed} o {better}",
    ),
    "by_chance": (
        "{wanted} strict moves in a row out of {moves} happen by chance in {chance} of "
        "exchangeable rounds{guard}",
        "{wanted} cambios estrictos seguidos de {moves} salen por azar en {chance} de las rondas "
        "intercambiables{guard}",
    ),
    "one_training": (
        "the {units} share {distinct} of {artefact}: what is claimed is about worlds, not about "
        "trainings",
        "{units} comparten {distinct} de {artefact}: lo que se afirma es sobre mundos, no sobre "
        "entrenamientos",
    ),
    "not_shown": (
        "no synthetic result was found that turns {where} {colour}; only results alike in nearly "
        "all units were tried, so this proves nothing, but show by hand that one exists",
        "no se encontró un resultado sintético que ponga {where} en {colour}; solo se probaron "
        "resultados iguales en casi todas las unidades, así que no prueba nada, pero muestra a "
        "mano que existe uno",
    ),
}

PARTS: dict[str, tuple[str, str]] = {
    "control": ("controls", "controles"),
    "rival": ("rivals", "rivales"),
    "a_control": ("one control", "un control"),
    "a_rival": ("one rival", "un rival"),
    "every": ("all {m} {kind} must {lose}", "{m} {kind} tienen que {lose}"),
    "one": ("{rival} must {lose}", "{rival} tiene que {lose}"),
    "at_least": ("at least {n} {kind} must {lose}", "al menos {n} {kind} tienen que {lose}"),
    "at_least_one": ("at least {kind} must {lose}", "al menos {kind} tiene que {lose}"),
    "lose": ("lose in all {n} {units}", "perder en {n} de {n} {units}"),
    "differ": (
        "differ, one way, in all {n} {units}",
        "diferir, en un sentido, en {n} de {n} {units}",
    ),
    "options": (" (or {options})", " (o {options})"),
    "ties": ("in {k} with {z} {tie}", "en {k} con {z} {tie}"),
    "tie": ("tie", "empate"),
    "ties_": ("ties", "empates"),
    "win": (
        "in {k} if the one win is the smallest difference",
        "en {k} si la única victoria es la diferencia menor",
    ),
    "win_rank": (
        "in {k} if the one win is among the {r} smallest differences",
        "en {k} si la única victoria está entre las {r} diferencias menores",
    ),
    "wins": (
        "in {k} if the {z} wins are the smallest differences",
        "en {k} si las {z} victorias son las diferencias menores",
    ),
    "nothing": (" (no tie and no win is affordable)", " (no cabe ni un empate ni una victoria)"),
    "then": ("; ", "; "),
    "or": (", or ", ", o "),
    "holm": ("Holm", "Holm"),
    "none": ("no correction", "sin corrección"),
    "union": (
        "all {m} tests must reject, so alpha {alpha} in each already bounds a false green "
        "(intersection-union); Holm here only costs power: without it each of the {kind} could "
        "{plain}; with it {strict}",
        "{m} contrastes tienen que rechazar a la vez, así que alfa {alpha} en cada uno ya acota un "
        "verde falso (intersección-unión); Holm aquí solo cuesta potencia: sin él a cada uno de "
        "los {kind} le bastaría {plain}; con él {strict}",
    ),
    "guard": (
        ", or in {chance} with its guard, if that moves independently",
        ", o en {chance} con su guarda, si esta se mueve por su cuenta",
    ),
    "alone": (
        ", while all else that decides stays green",
        ", mientras lo demás que decide sigue verde",
    ),
    "verdict": ("the verdict", "el veredicto"),
    "green": ("green", "verde"),
    "red": ("red", "rojo"),
    "lower": ("lower", "menor"),
    "higher": ("higher", "mayor"),
    "not_lower": ("not_lower", "not_lower"),
    "not_higher": ("not_higher", "not_higher"),
    "ratio": ("a ratio of counts", "una razón de cuentas"),
    "rate": ("a rate", "una tasa"),
}

AS_COMPARED = {"smallest", "threshold"}
"""Facts that are shown as the fraction that is compared; others as a decimal."""


def say(code: str, lang: Lang, facts: Mapping[str, Any]) -> str:
    """Return a sentence of the catalogue with the facts in it."""
    if code in COMPOSED:
        return COMPOSED[code](lang, facts)
    words = WORDS[code][lang == "es"]
    return words.format(**{name: _shown(name, value, lang) for name, value in facts.items()})


def part(code: str, lang: Lang, **facts: object) -> str:
    """Return a part of a sentence."""
    return PARTS[code][lang == "es"].format(**facts)


def counted(n: int, lang: Lang) -> str:
    """Return a small number as a word."""
    return NUMBERS[lang][n] if 0 <= n < len(NUMBERS[lang]) else str(n)


def as_compared(value: Fraction) -> str:
    """Return the fraction itself."""
    return f"{value.numerator}/{value.denominator}" if value.denominator > 1 else str(value)


def chance(value: Fraction, lang: Lang) -> str:
    """Return a chance: the fraction while it is short, and a percentage."""
    percent = f"{decimal(value * 100, 3)} %"
    percent = percent.replace(".", ",") if lang == "es" else percent
    return f"{as_compared(value)} ({percent})" if value.denominator < 100_000 else percent


def _shown(name: str, value: object, lang: Lang) -> str:
    if isinstance(value, Fraction):
        if name in AS_COMPARED:
            return as_compared(value)
        return chance(value, lang) if name == "chance" else describe_number(value, lang)
    if isinstance(value, list | tuple):
        return ", ".join(_shown(name, inner, lang) for inner in value)
    if isinstance(value, str) and name in ("where", "colour", "better", "what", "correction"):
        return part(value, lang) if value in PARTS else value
    return str(value)


def plural(unit: str) -> str:
    """Return the unit's name for several of them."""
    return unit if unit.endswith("s") else unit + "s"


def _demand(step: Step, ladder: Ladder, unit: str, lang: Lang) -> str:
    """Return what a test must look like at a step: ``lose in all ten macros (or ...)``."""
    n = ladder.units
    lose = part(
        "differ" if ladder.two_sided else "lose", lang, n=counted(n, lang), units=plural(unit)
    )
    options = []
    if step.zeros > 0:
        tie = part("tie" if step.zeros == 1 else "ties_", lang)
        z = "un" if lang == "es" and step.zeros == 1 else counted(step.zeros, lang)
        options.append(part("ties", lang, k=counted(n - step.zeros, lang), z=z, tie=tie))
    if step.loss_rank == 1:
        options.append(part("win", lang, k=counted(n - 1, lang)))
    elif step.loss_rank > 1:
        r = counted(step.loss_rank, lang)
        options.append(part("win_rank", lang, k=counted(n - 1, lang), r=r))
    if step.losses > 1:
        z = counted(step.losses, lang)
        options.append(part("wins", lang, k=counted(n - step.losses, lang), z=z))
    if not options:
        return lose + part("nothing", lang)
    return lose + part("options", lang, options=part("or", lang).join(options))


def _dominance(lang: Lang, facts: Mapping[str, Any]) -> str:
    """Say how many rivals must lose how clearly; the ladder's steps, from the strictest."""
    ladder: Ladder = facts["ladder"]
    rivals: tuple[str, ...] = facts["rivals"]
    kind = part(facts["kind"], lang)
    lines = []
    for step in ladder.demands:
        lose = _demand(step, ladder, facts["unit"], lang)
        if len(rivals) == 1:
            lines.append(part("one", lang, rival=rivals[0], lose=lose))
        elif step.step == ladder.tests:
            lines.append(part("every", lang, m=counted(step.step, lang), kind=kind, lose=lose))
        elif step.step == 1:
            lines.append(
                part("at_least_one", lang, kind=part(f"a_{facts['kind']}", lang), lose=lose)
            )
        else:
            lines.append(part("at_least", lang, n=counted(step.step, lang), kind=kind, lose=lose))
    return part("then", lang).join(lines)


def _union(lang: Lang, facts: Mapping[str, Any]) -> str:
    ladder: Ladder = facts["ladder"]
    last = _demand(ladder.steps[-1], ladder, facts["unit"], lang)
    return part(
        "union", lang, m=counted(ladder.tests, lang), alpha=describe_number(ladder.alpha, lang),
        kind=part(facts["kind"], lang), plain=last,
        strict=_dominance(lang, {**facts, "ladder": _strictest(ladder)}),
    )  # fmt: skip


def _strictest(ladder: Ladder) -> Ladder:
    """Return the ladder cut to its strictest demand."""
    first = ladder.demands[0].step
    return Ladder(
        ladder.units, ladder.tests, ladder.alpha, ladder.correction, ladder.two_sided,
        ladder.smallest, ladder.steps[:first],
    )  # fmt: skip


def _by_chance(lang: Lang, facts: Mapping[str, Any]) -> str:
    guard = ""
    if facts["guarded"] is not None:
        guard = part("guard", lang, chance=chance(facts["guarded"], lang))
    words = WORDS["by_chance"][lang == "es"]
    shown = {name: counted(facts[name], lang) for name in ("wanted", "moves")}
    return words.format(**shown, chance=chance(facts["chance"], lang), guard=guard)


def _red_shown(lang: Lang, facts: Mapping[str, Any]) -> str:
    rest = part("alone", lang) if facts["alone"] else ""
    return WORDS["red_shown"][lang == "es"].format(where=facts["where"], rest=rest)


COMPOSED: Mapping[str, Callable[[Lang, Mapping[str, Any]], str]] = {
    "dominance": _dominance,
    "intersection_union": _union,
    "by_chance": _by_chance,
    "red_shown": _red_shown,
}
