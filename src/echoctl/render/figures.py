"""Which figure belongs to which check, and the table of all cells as a heat map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from echoctl.contract import Contract
from echoctl.contract.model import Check
from echoctl.render.markup import Markup, tag
from echoctl.render.svg import Pairs, bars, curves, paired
from echoctl.render.tell import SIGNS, mark, p_text, scope
from echoctl.render.text import Text
from echoctl.verdict.results import (
    CheckResult,
    MonotoneResult,
    RatioResult,
    ShareResult,
    TableCell,
    TotalsResult,
    Verdict,
    WilcoxonResult,
)
from echoctl.verdict.shown import CurveResult


def figure(check: CheckResult, verdict: Verdict, t: Text) -> Markup | None:
    """Return the figure of one check, or None where numbers alone say it."""
    match check:
        case WilcoxonResult():
            panels = [
                Pairs(
                    f"{SIGNS[test.direction]} {test.rival}",
                    [str(unit) for unit, _, _ in test.by_unit],
                    [ours for _, ours, _ in test.by_unit],
                    [theirs for _, _, theirs in test.by_unit],
                    f"{mark(test.rejected)} p = {p_text(test.p, t)}",
                )
                for test in check.tests
                if test.by_unit
            ]
            title = scope(check.scope, check.arm, t)
            axis = t("figure.paired", measure=check.scope.measure, unit=verdict.unit)
            return paired(title, check.arm, axis, panels) if panels else None
        case RatioResult():
            bound = next((b for b in check.bounds if b.relation == "at_most"), None)
            bound = bound or check.bounds[0]
            limit = bound.limit * check.control_total
            rows = [
                (name, value, t.amount(value))
                for name, value in ((check.arm, check.arm_total), (check.to, check.control_total))
            ]
            words = f"{t.threshold(bound.limit)} × {check.to}"
            return bars(scope(check.scope, check.arm, t), f"{t('total')}, {check.scope.measure}",
                        rows, limit, words)  # fmt: skip
        case TotalsResult():
            rows = [(check.arm, check.arm_total, t.amount(check.arm_total))]
            rows += [(r.rival, r.total, t.amount(r.total)) for r in check.rivals]
            return bars(scope(check.scope, check.arm, t), f"{t('total')}, {check.scope.measure}",
                        rows, None, "")  # fmt: skip
        case ShareResult():
            limit = check.bounds[0].limit * check.units
            rows = [(check.arm, Fraction(check.hits), f"{check.hits} / {check.units}")]
            words = f"{SIGNS[check.bounds[0].relation]} {t.threshold(check.bounds[0].limit)}"
            return bars(scope(check.scope, check.arm, t), t("units"), rows, limit, words)
        case MonotoneResult():
            return None if _asked_for(check, verdict) else _rounds_of(check, verdict, t)
    return None


def lines(curve: CurveResult, title: str, ours: str, t: Text) -> Markup | None:
    """Return a curve that the contract asked for as a figure, or None where nothing was played."""
    series = {
        line.arm: line.totals for line in curve.lines if any(v is not None for v in line.totals)
    }
    axis = f"{t('total')}, {curve.measure} · {t('rounds')}"
    return curves(title, axis, curve.rounds, series, ours) if series else None


def _asked_for(check: MonotoneResult, verdict: Verdict) -> bool:
    """Return whether an exhibit draws the same curve, of the same arms and more."""
    wanted = {key: value for key, value in check.scope.where.items() if key != "round"}
    return any(
        isinstance(one, CurveResult)
        and (one.measure, one.where) == (check.scope.measure, wanted)
        and check.arm in {line.arm for line in one.lines}
        for one in verdict.exhibits
    )


def _rounds_of(check: MonotoneResult, verdict: Verdict, t: Text) -> Markup:
    """Draw the arm that the check names, and beside it every other arm over the same cells."""
    first = check.transitions[0].from_round if check.transitions else 0
    numbers = list(range(first, first + len(check.totals)))
    series: dict[str, Sequence[Fraction]] = {check.arm: check.totals}
    wanted = {k: v for k, v in check.scope.where.items() if k != "round"}
    for arm in dict.fromkeys(cell.arm for cell in verdict.table):
        if arm == check.arm:
            continue
        line = _per_round(verdict.table, arm, check.scope.measure, wanted, numbers)
        if line is not None:
            series[arm] = line
    axis = t("rounds.caption", measure=check.scope.measure, units=verdict.units)
    return curves(scope(check.scope, check.arm, t), axis, numbers, series, check.arm)


def _per_round(
    table: Sequence[TableCell],
    arm: str,
    measure: str,
    wanted: Mapping[str, object],
    rounds: Sequence[int],
) -> list[Fraction] | None:
    sums: dict[int, Fraction] = {}
    for cell in table:
        if cell.arm != arm or measure not in cell.totals:
            continue
        if all(takes(value, getattr(cell, key)) for key, value in wanted.items()):
            sums[cell.round] = sums.get(cell.round, Fraction(0)) + cell.totals[measure]
    return [sums[number] for number in rounds] if all(n in sums for n in rounds) else None


def takes(wanted: object, value: object) -> bool:
    """Return whether a filter's entry (one value or several) lets a value pass."""
    return value in wanted if isinstance(wanted, tuple | list) else value == wanted


def heat(verdict: Verdict, contract: Contract, measure: str, t: Text) -> Markup | None:
    """Return one measure of every cell: stage, regime, round and family down, arms across."""
    cells = [cell for cell in verdict.table if measure in cell.means]
    if not cells:
        return None
    played = {cell.arm for cell in cells}
    arms = [arm for arm in contract.arms if arm.id in played]
    several = len({cell.round for cell in cells}) > 1
    values = {(_place(cell), cell.arm): cell.means[measure] for cell in cells}
    places = 0 if all(v.denominator == 1 for v in values.values()) else 1
    # References (chance, the oracle) would wash out the arms that are compared.
    compared = {arm.id for arm in arms if arm.kind != "reference"}
    most = max((abs(v) for (_, arm), v in values.items() if arm in compared), default=Fraction(1))
    bodies = []
    groups: dict[tuple[str, str, int], list[str]] = {}
    for place in sorted({_place(cell) for cell in cells}):
        groups.setdefault(place[:3], []).append(place[3])
    for group, families in groups.items():
        title = tag("tr", tag("th", _group(group, several, t), scope="rowgroup",
                              colspan=len(arms) + 1, class_="group"))  # fmt: skip
        rows = [title]
        for family in families:
            line = []
            for arm in arms:
                value = values.get(((*group, family), arm.id))
                if value is None:
                    line.append(tag("td", "–"))
                else:
                    share = f"--share:{min(1.0, float(abs(value) / (most or 1))):.3f}"
                    line.append(tag("td", t.decimal(value, places), style=share))
            rows.append(tag("tr", tag("th", family, scope="row"), line))
        bodies.append(tag("tbody", rows))
    head = tag("tr", tag("th", t("family"), scope="col", class_="words"), [
        tag("th", arm.id, scope="col", class_="ours" if arm.kind == "treatment" else None)
        for arm in arms
    ])  # fmt: skip
    tone = "bad" if contract.measures[measure].better == "lower" else "good"
    caption = t("table.caption", unit=verdict.unit, measure=measure, units=verdict.units)
    table = tag("table", tag("caption", caption), tag("thead", head), bodies, class_=f"heat {tone}")
    return tag("div", table, class_="scroll", tabindex=0, role="region", aria_label=caption)


def main_measures(contract: Contract) -> list[str]:
    """Return the measures that a prediction that decides reads, in the contract's order."""
    named: set[str] = set()
    for prediction in contract.predictions.values():
        if prediction.decides:
            for check in prediction.all:
                named |= _measures(check)
    return [measure for measure in contract.measures if measure in named]


def _measures(check: Check) -> set[str]:
    parts = check.all or check.any or ((check.not_,) if check.not_ else ())
    if parts:
        return set().union(*(_measures(part) for part in parts))
    entry = getattr(check, check.kind)
    names = (getattr(entry, field, None) for field in ("measure", "hits", "of"))
    return {name for name in names if isinstance(name, str)}


def _place(cell: TableCell) -> tuple[str, str, int, str]:
    return (cell.stage, cell.regime, cell.round, cell.family)


def _group(group: tuple[str, str, int], several: bool, t: Text) -> str:
    parts = [group[0], group[1], f"{t('round')} {group[2]}" if several else ""]
    return " · ".join(part for part in parts if part)
