"""The linter: what a design can and cannot show, before anything is measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from echoctl.contract import Contract, Seeds, conflicts
from echoctl.contract.menu import Check, Monotone, NotHigher, NotLower, Ratio, Wilcoxon
from echoctl.errors import EchoError
from echoctl.lint.bounds import flaws
from echoctl.lint.chance import monotone_by_chance, ratio_at_truth, ratio_for_power
from echoctl.lint.ladder import ladder
from echoctl.lint.report import Finding, LintReport, Reach, Witness
from echoctl.lint.witness import Witnesses
from echoctl.lint.words import plural
from echoctl.verdict.checks import leaves

EVENTS = 100
"""How many events a ratio gate is judged at; an example, said to be one."""


def lint(
    contract: Contract,
    others: Iterable[Contract] = (),
    *,
    trained: Mapping[str, Mapping[int, str]] | None = None,
) -> LintReport:
    """Return what can be said of a contract without playing it.

    `others` are the contracts whose seed blocks must not overlap with this one's. `trained`
    maps a trained artefact's name to the hash that each unit uses, where that is known.
    Nothing is raised for a bad design: it is refused in the report.
    """
    findings = [*_flaws(contract)]
    reach = tuple(_reach(contract))
    findings += _families(contract, reach)
    findings += _gates(contract)
    findings += _training(contract, trained or {})
    findings += _seeds(contract, others)
    witnesses = Witnesses(contract)
    broken = _decidable(witnesses)
    findings += broken
    green: Witness | None = None
    red: dict[str, Witness | None] = {}
    if not broken:
        green = witnesses.green()
        red = {name: witnesses.red(name) for name in witnesses.deciding}
        findings += _shown(
            contract, green, red, {f.where for f in findings if f.level == "refusal"}
        )
    order = {"refusal": 0, "warning": 1, "statement": 2}
    return LintReport(
        id=contract.id,
        lang=contract.lang,
        findings=tuple(sorted(_once(findings), key=lambda finding: order[finding.level])),
        reach=reach,
        green=green,
        red=red,
    )


def _once(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings without repetitions: two gates of one kind are said once."""
    out: list[Finding] = []
    for finding in findings:
        if finding not in out:
            out.append(finding)
    return out


def _named(contract: Contract) -> Iterator[tuple[str, bool, Check]]:
    for name, prediction in contract.predictions.items():
        for check in prediction.all:
            yield name, prediction.decides, check
    for i, check in enumerate(contract.invariants, start=1):
        yield f"invariant {i}", True, check


def _flaws(contract: Contract) -> Iterator[Finding]:
    for name, decides, check in _named(contract):
        for flaw in flaws(contract, check):
            yield Finding("refusal" if decides else "warning", flaw.code, name, flaw.facts)


def _reach(contract: Contract) -> Iterator[Reach]:
    for name, decides, check in _named(contract):
        for leaf in leaves(check):
            if isinstance(leaf, Wilcoxon):
                rivals = (*leaf.below, *leaf.above, *leaf.differs_from)
                if rivals:
                    yield Reach(
                        name, decides, leaf.measure, leaf.arm, rivals,
                        leaf.where.model_dump(exclude_none=True),
                        ladder(leaf, contract.unit.count),
                    )  # fmt: skip


def _families(contract: Contract, reach: Iterable[Reach]) -> Iterator[Finding]:
    kinds = {arm.id: arm.kind for arm in contract.arms}
    for one in reach:
        steps = one.ladder
        yield Finding(
            "statement",
            "family",
            one.prediction,
            {
                "measure": one.measure,
                "arm": one.arm,
                "rivals": one.rivals,
                "tests": steps.tests,
                "units": f"{steps.units} {plural(contract.unit.name)}",
                "correction": steps.correction,
                "alpha": steps.alpha,
                "thresholds": " · ".join(str(step.threshold) for step in steps.steps),
                "smallest": steps.smallest,
            },
        )
        if not steps.reachable:
            continue
        kind = "control" if all(kinds.get(r) == "control" for r in one.rivals) else "rival"
        facts = {
            "ladder": steps, "unit": contract.unit.name, "rivals": one.rivals, "kind": kind,
        }  # fmt: skip
        yield Finding("statement", "dominance", one.prediction, facts)
        if steps.correction == "holm" and steps.tests > 1:
            yield Finding("warning", "intersection_union", one.prediction, facts)


def _gates(contract: Contract) -> Iterator[Finding]:
    for name, decides, check in _named(contract):
        for leaf in leaves(check) if decides else ():
            if isinstance(leaf, Ratio):
                yield from _ratio(name, leaf)
            elif isinstance(leaf, Monotone) and leaf.in_a_row <= leaf.last_round - leaf.first_round:
                moves = leaf.last_round - leaf.first_round
                facts = {
                    "wanted": leaf.in_a_row,
                    "moves": moves,
                    "chance": monotone_by_chance(moves + 1, leaf.in_a_row, guarded=False),
                    "guarded": monotone_by_chance(moves + 1, leaf.in_a_row, guarded=True)
                    if leaf.guard and moves <= MOST_GUARDED
                    else None,
                }
                yield Finding("warning", "by_chance", name, facts)
            elif isinstance(leaf, NotLower):
                what = "not_higher" if isinstance(leaf, NotHigher) else "not_lower"
                yield Finding("statement", "descriptive", name, {"what": what})


MOST_GUARDED = 20
"""Counting a guarded gate takes the fourth power of the rounds; beyond this it is left out."""


def _ratio(name: str, leaf: Ratio) -> Iterator[Finding]:
    if leaf.if_control_zero == "fail":
        facts: dict[str, object] = {"to": leaf.to, "arm": leaf.arm, "measure": leaf.measure}
        yield Finding("warning", "zero_control", name, facts)
    if leaf.at_most is not None and leaf.at_most > 0:
        yield Finding(
            "warning",
            "coin_flip",
            name,
            {
                "bound": leaf.at_most,
                "events": EVENTS,
                "chance": ratio_at_truth(leaf.at_most, EVENTS),
                "needed": ratio_for_power(leaf.at_most, EVENTS, Fraction(9, 10)),
                "better": "lower",
            },
        )


def _training(contract: Contract, trained: Mapping[str, Mapping[int, str]]) -> Iterator[Finding]:
    units = f"{contract.unit.count} {plural(contract.unit.name)}"
    for name, hashes in sorted(trained.items()):
        distinct = len(set(hashes.values()))
        if len(hashes) > 1 and distinct < len(hashes):
            facts = {"units": units, "distinct": distinct, "artefact": name}
            yield Finding("warning", "one_training", "", facts)
    for name, stage in contract.worlds.items():
        # Whoever trains in fewer units than it examines hands one training to several of them.
        fewer = stage.units is not None and stage.units < contract.unit.count
        if name.startswith("train") and fewer:
            facts = {"units": units, "distinct": stage.units, "artefact": name}
            yield Finding("warning", "one_training", "", facts)


def _seeds(contract: Contract, others: Iterable[Contract]) -> Iterator[Finding]:
    try:
        mine = Seeds.lay_out(contract)
    except EchoError as problem:
        yield Finding("refusal", "overlap", "seeds", {"why": problem.why})
        return
    for other in others:
        if other.id == contract.id:
            continue
        try:
            theirs = Seeds.lay_out(other)
        except EchoError:
            continue  # that contract's own lint says so
        for sentence in conflicts([mine, theirs]):
            yield Finding("refusal", "overlap", "seeds", {"why": sentence, "other": other.id})


def _decidable(witnesses: Witnesses) -> list[Finding]:
    """Return what keeps a verdict from being computed at all, whatever was measured."""
    problem = witnesses.problem()
    return [] if problem is None else [Finding("refusal", "broken", "", {"why": problem.why})]


def _shown(
    contract: Contract,
    green: Witness | None,
    red: Mapping[str, Witness | None],
    refused: set[str],
) -> Iterator[Finding]:
    if green is not None:
        facts: dict[str, object] = {"where": "verdict", "cells": len(green.cells)}
        yield Finding("statement", "green_shown", "", facts)
    elif not refused:
        yield Finding("warning", "not_shown", "", {"where": "verdict", "colour": "green"})
    for name, witness in red.items():
        if witness is not None:
            facts = {"where": name, "alone": witness.alone}
            yield Finding("statement", "red_shown", name, facts)
        elif name not in refused:
            yield Finding("warning", "not_shown", name, {"where": name, "colour": "red"})
