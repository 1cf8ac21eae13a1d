"""What a check found, in words and tables: shared by the terminal, Markdown and the page.

Nothing is computed that decides: passed or not, thresholds and totals are read from the
verdict. Means are totals divided by the number of units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from echoctl.contract import Contract
from echoctl.render.text import Text
from echoctl.verdict.results import (
    Bound,
    CheckResult,
    CombinedResult,
    CountResult,
    EqualResult,
    IdenticalResult,
    MonotoneResult,
    PairedTest,
    PredictionResult,
    PValue,
    RateResult,
    RatioResult,
    Scope,
    ShareResult,
    TotalsResult,
    Warn,
    WilcoxonResult,
)

SIGNS = {
    "below": "<", "above": ">", "not_below": "≥", "not_above": "≤", "equal": "=",
    "differs_from": "≠", "not_lower": "≥", "not_higher": "≤", "at_most": "≤", "at_least": "≥",
}  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One comparison: who, how it went, against which threshold."""

    left: str
    middle: str = ""
    right: str = ""
    passed: bool | None = None


@dataclass(frozen=True)
class Table:
    """A table of text; the first column names the row, the others are numbers."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Told:
    """One check in words."""

    passed: bool
    what: str
    how: str
    lines: tuple[Line, ...]
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    parts: tuple[Told, ...] = ()


def tell(check: CheckResult, t: Text) -> Told:
    """Return a check's result in the catalogue's language."""
    parts: tuple[Told, ...] = ()
    tables: tuple[Table, ...] = ()
    match check:
        case WilcoxonResult():
            what = scope(check.scope, check.arm, t)
            how = _wilcoxon_how(check, t)
            lines = tuple(_test_line(test, check, t) for test in check.tests)
            tables = (_tests(check, t), _estimates(check, t))
        case RatioResult():
            what = scope(check.scope, t("versus", arm=check.arm, rival=check.to), t)
            how = t("ratio")
            lines = _bound_lines(
                f"{_mean(check.arm_total, check.scope, t)} {t('against')} "
                f"{_mean(check.control_total, check.scope, t)}",
                t("ratio"), check.ratio, check.bounds, t,
            )  # fmt: skip
        case TotalsResult():
            what = scope(check.scope, check.arm, t)
            how = t(f"gate.{check.relation}")
            lines = tuple(
                Line(
                    f"{SIGNS[check.relation]} {r.rival}",
                    f"{_mean(check.arm_total, check.scope, t)} {t('against')} "
                    f"{_mean(r.total, check.scope, t)}",
                    f"{t('totals')} {t.amount(check.arm_total)}, {t.amount(r.total)}",
                    r.holds,
                )
                for r in check.rivals
            )
        case MonotoneResult():
            what = scope(check.scope, check.arm, t)
            how = t("monotone.what", needed=check.needed, longest=check.longest,
                    direction=t(f"direction.{check.direction}"))  # fmt: skip
            lines = _monotone(check, t)
        case ShareResult():
            what = scope(check.scope, check.arm, t)
            other = check.than if check.than is not None else t.amount(check.value or Fraction(0))
            if check.plus:
                other = f"{other} {t('plus', value=t.amount(check.plus))}"
            how = t("share.what", relation=t(f"relation.{check.relation}"), other=other)
            value = Fraction(check.hits, check.units)
            lines = _bound_lines(t("share.units", hits=check.hits, units=check.units), t("share"),
                                 value, check.bounds, t)  # fmt: skip
            if check.misses:
                missed = ", ".join(map(str, check.misses[:12]))
                missed += " …" if len(check.misses) > 12 else ""
                lines += (Line("", t("share.misses", units=missed)),)
        case RateResult():
            what = scope(check.scope, check.arm, t)
            how = t("rate.what", hits=check.scope.measure, of=check.of)
            lines = _bound_lines(f"{t.amount(check.hits)} / {t.amount(check.tried)}", t("rate"),
                                 check.rate, check.bounds, t)  # fmt: skip
        case CountResult():
            what = scope(check.scope, check.arm or t("all-arms"), t)
            how = t(f"count.{check.every}")
            lines = _count(check, t)
        case EqualResult():
            what = scope(check.scope, check.arm or t("all-arms"), t)
            how = t("equal.what", to=t.amount(check.to))
            far = t("equal.worst", worst=t.amount(check.worst), where=check.worst_at)
            lines = () if check.passed else (Line("", far, "", False),)
        case IdenticalResult():
            what = t("identical.what", a=check.digests[0], b=check.digests[1])
            how = check.arm or t("all-arms")
            found = t("identical.jobs", jobs=check.jobs, differing=check.differing)
            shown = ", ".join(check.first_differing)
            lines = (Line("", found, shown, check.passed),)
        case CombinedResult():
            what = t(f"combined.{check.how}")
            how, lines = "", ()
            parts = tuple(tell(part, t) for part in check.parts)
    notes = tuple(t.maybe(f"note.{note}", note) for note in check.notes)
    return Told(check.passed, what, how, lines, tables, notes, parts)


def scope(found: Scope, who: str, t: Text) -> str:
    """Return what was looked at: ``harm · A1 · aprendida``."""
    return " · ".join([found.measure, *where(found.where, t), who])


def where(filters: Mapping[str, Any], t: Text) -> list[str]:
    """Return a filter in words, one entry a key."""
    out = []
    for key, value in filters.items():
        if value is None:
            continue
        each: list[Any] = [value] if isinstance(value, str | int) else list(value)
        if key == "round" and len(each) > 2 and each == list(range(each[0], each[-1] + 1)):
            out.append(f"{t('rounds')} {each[0]}-{each[-1]}")
        elif key == "round":
            out.append(f"{t('round')} {', '.join(map(str, each))}")
        else:
            out.append(", ".join(map(str, each)))
    return out


def p_text(p: PValue | None, t: Text) -> str:
    """Return ``1/1024 = 0.00098``; for many units ``k/2^n``; a dash where there is none."""
    if p is None:
        return "–"
    if p.n <= 20:
        fraction = f"{p.k}/{2**p.n}"
    elif len(str(p.k)) <= 12:
        fraction = f"{p.k}/2^{p.n}"
    else:
        return f"≈ {t.small(p.value)} (k/2^{p.n})"
    if p.value == 1:
        return "1"
    return f"{fraction} = {t.small(p.value)}"


def mark(passed: bool | None) -> str:
    """Return ✓, ✗ or a dash where nothing was decided."""
    return "–" if passed is None else "✓" if passed else "✗"


def outcome(test: PairedTest, t: Text) -> str:
    """Say how one test of a family went: a p under its threshold can still be stopped by Holm."""
    if test.rejected:
        return t("rejected")
    return t("stopped") if test.p.value <= test.threshold else t("kept")


def summary(predictions: Sequence[PredictionResult], *, decides: bool) -> list[PredictionResult]:
    """Return the predictions that decide, or those that are only reported."""
    return [p for p in predictions if p.decides is decides]


def warned(warning: Warn, contract: Contract, t: Text) -> str:
    """Return a warning's text; what a missing arm needs is said in the contract's own words."""
    if warning.code != "skipped_arm":
        return warning.text
    name = warning.facts["arm"]
    texts = [arm.text.strip() or arm.gloss for arm in contract.arms if arm.id == name]
    return t("warn.skipped_arm", arm=name, text=" ".join(texts))


def _mean(total: Fraction, found: Scope, t: Text) -> str:
    mean = total / found.units if found.units else total
    return t.decimal(mean, 1) if abs(mean) >= 1 or mean == 0 else t.decimal(mean, 2)


def _wilcoxon_how(check: WilcoxonResult, t: Text) -> str:
    if check.family == 1:
        tests = t("tests.one")
    else:
        tests = t("tests.holm" if check.correction == "holm" else "tests.plain", m=check.family)
    return t("wilcoxon.what", tests=tests, alpha=t.threshold(check.alpha))


def _test_line(test: PairedTest, check: WilcoxonResult, t: Text) -> Line:
    counts = " ".join(
        t(key, count=count)
        for key, count in (("won", test.wins), ("tied", test.ties), ("lost", test.losses))
    )
    sign = "≤" if test.p.value <= test.threshold else ">"
    right = f"p = {p_text(test.p, t)} {sign} {t.threshold(test.threshold)}"
    if not test.rejected and sign == "≤":
        right += f" ({t('stopped')})"
    return Line(f"{SIGNS[test.direction]} {test.rival}", counts, right, test.rejected)


def _tests(check: WilcoxonResult, t: Text) -> Table:
    head = (
        t("rival"), check.arm, t("rival.mean"), t("won-head"), t("tied-head"), t("lost-head"), "p",
        t("threshold"), t("adjusted"), t("outcome"),
    )  # fmt: skip
    rows = tuple(
        (
            f"{SIGNS[test.direction]} {test.rival}",
            _mean(test.arm_total, check.scope, t),
            _mean(test.rival_total, check.scope, t),
            str(test.wins), str(test.ties), str(test.losses),
            p_text(test.p, t),
            t.threshold(test.threshold),
            t.small(test.adjusted),
            f"{mark(test.rejected)} {outcome(test, t)}",
        )
        for test in check.tests
    )  # fmt: skip
    return Table(t("tests.caption"), head, rows)


def _estimates(check: WilcoxonResult, t: Text) -> Table:
    head = (
        t("rival"), t("mean-difference"), t("hodges-lehmann"), t("limits"), t("rank-biserial"),
        t("improvement"), t("pratt"), t("sign-flip"),
    )  # fmt: skip
    rows = []
    for test in check.tests:
        e = test.estimates
        limits = "–"
        if e.limits is not None and e.confidence is not None:
            percent = t("at-confidence", percent=t.decimal(e.confidence * 100, 1))
            limits = f"{t.amount(e.limits[0])} … {t.amount(e.limits[1])} ({percent})"
        rows.append((
            f"{SIGNS[test.direction]} {test.rival}", t.amount(e.mean_difference),
            t.amount(e.hodges_lehmann), limits, t.decimal(e.rank_biserial, 2),
            t.decimal(e.improvement, 2), p_text(e.pratt, t), p_text(e.sign_flip, t),
        ))  # fmt: skip
    return Table(t("estimates.caption"), head, tuple(rows))


def _bound_lines(
    left: str, name: str, value: Fraction | None, bounds: Sequence[Bound], t: Text
) -> tuple[Line, ...]:
    if value is None:
        return tuple(Line(left, "", f"{name} –", bound.holds) for bound in bounds)
    return tuple(
        Line(left, "", f"{name} {_beside(value, b, t)} {t.threshold(b.limit)}", b.holds)
        for b in bounds
    )


def _beside(value: Fraction, bound: Bound, t: Text) -> str:
    """Write a value with as many decimals as it takes to see on which side of the limit it is."""
    places = 3
    while value != bound.limit and places < 12:
        shown = Fraction(round(value * 10**places), 10**places)
        if (shown < bound.limit) == (value < bound.limit) and shown != bound.limit:
            break
        places += 1
    written = t.decimal(value, places)
    sign = SIGNS[bound.relation]
    return f"{written} {sign if bound.holds else {'≤': '>', '≥': '<'}[sign]}"


def _monotone(check: MonotoneResult, t: Text) -> tuple[Line, ...]:
    first = check.transitions[0].from_round if check.transitions else 0
    out = [Line(t("totals"), " → ".join(t.amount(v) for v in check.totals), "", check.passed)]
    if check.guard is not None:
        name = t("guard", measure=check.guard)
        out.append(Line(name, " → ".join(t.amount(v) for v in check.guard_totals)))
    steps = " ".join(
        f"{s.from_round}→{s.to_round} {mark(s.moves and s.guarded)}" for s in check.transitions
    )
    return (*out, Line(t("rounds"), steps or str(first)))


def _count(check: CountResult, t: Text) -> tuple[Line, ...]:
    found = (
        t.amount(check.low)
        if check.low == check.high
        else t("count.range", low=t.amount(check.low), high=t.amount(check.high))
    )
    lines = []
    for bound in check.bounds:
        sign = SIGNS[bound.relation]
        spot = check.high_at if bound.relation == "at_most" else check.low_at
        right = f"{sign} {t.amount(bound.limit)}"
        lines.append(Line(found, "" if bound.holds else spot, right, bound.holds))
    return tuple(lines)
