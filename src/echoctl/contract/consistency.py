"""What no single model can see: names that name nothing, bounds that bound nothing.

Every rule here yields a path into the contract and a sentence; the loader adds line and column.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import TypeAlias

from echoctl.contract.exhibit_rules import exhibit_problems
from echoctl.contract.explain import KEY, nearest
from echoctl.contract.menu_rules import check_problems
from echoctl.contract.model import Contract, LabelRule, Stage
from echoctl.contract.strict import Path

Found: TypeAlias = Iterator[tuple[Path, str]]

MAX_SEEDS_A_BLOCK = 5_000_000
ROW_NAMES = ("stage", "family", "round", "episode", "seed", "unit", "arm", "regime", "job")


def inconsistencies(contract: Contract) -> Found:
    """Yield ``(path, sentence)`` for everything that does not fit together."""
    return chain(
        _identity(contract),
        _arms(contract),
        _stages(contract),
        _stand_ins(contract),
        _blocks(contract),
        _overlaps(contract),
        _predictions(contract),
        _rule(contract),
        _ceiling(contract),
        _exhibits(contract),
        _declarations(contract),
    )


def _identity(contract: Contract) -> Found:
    for i, required in enumerate(contract.requires):
        if required.track == contract.id:
            yield ("requires", i, "track"), "a contract cannot require itself"
    if contract.follows == contract.id:
        yield ("follows",), "a later attempt has an id of its own"
    if not re.fullmatch(r"[a-z][a-z0-9_]*|[^/\\][^\\:]*\.py:[A-Za-z_]\w*", contract.track) or (
        ".." in contract.track
    ):
        yield (
            ("track",),
            f"track {contract.track} is neither an installed track's name nor path.py:Class "
            "inside the workspace",
        )
    for i, test in enumerate(contract.tests):
        if test.startswith("/") or "\\" in test or ".." in test.split("/"):
            yield ("tests", i), f"tests names {test}; it must be a path inside the workspace"
    for key in contract.tunable:
        if key in contract.settings:
            yield ("settings", key, KEY), f"{key} is tunable and a setting; it can only be one"
    if not contract.does_not_claim:
        yield ("does_not_claim",), "does_not_claim is empty; say what a green would not show"
    for key in contract.measures:
        if key in ROW_NAMES:
            yield (
                ("measures", key, KEY),
                f"a measure cannot be called {key}: every row has that key",
            )
    if not contract.measures:
        yield ("measures",), "there is no measure"


def _arms(contract: Contract) -> Found:
    ids = [arm.id for arm in contract.arms]
    for i in _repeated(ids):
        yield ("arms", i, "id"), f"the arm {ids[i]} is given twice"
    if not any(arm.kind == "treatment" for arm in contract.arms):
        yield ("arms",), "no arm is a treatment"
    for i, arm in enumerate(contract.arms):
        if arm.optional and arm.kind != "reported":
            yield ("arms", i, "optional"), "only a reported arm may be optional"
    yield from _twice(("regimes",), contract.regimes)


def _stages(contract: Contract) -> Found:
    arms = {arm.id for arm in contract.arms}
    if not contract.sealed_stages:
        yield ("worlds",), "no stage is sealed, so there is nothing to examine"
    for name, stage in contract.worlds.items():
        here: Path = ("worlds", name)
        if not stage.families:
            yield (*here, "families"), f"the stage {name} has no families"
        yield from _twice((*here, "families"), stage.families)
        yield from _unknown((*here, "arms"), stage.arms, arms, "arm")
        yield from _unknown((*here, "regimes"), stage.regimes, contract.regimes, "regime")
        if stage.families_by_round:
            yield from _by_round((*here, "families_by_round"), name, stage)


def _by_round(here: Path, name: str, stage: Stage) -> Found:
    if len(stage.families_by_round) != stage.rounds:
        yield (
            here,
            f"families_by_round has {len(stage.families_by_round)} rounds; the stage {name} "
            f"has {stage.rounds}",
        )
    if stage.same_each_round:
        yield here, "same_each_round and families_by_round contradict each other"
    for i, families in enumerate(stage.families_by_round):
        if not families:
            yield (*here, i), "a round without families"
        yield from _twice((*here, i), families)
        yield from _unknown((*here, i), families, stage.families, "family of this stage")
    played = {one for families in stage.families_by_round for one in families}
    for one in stage.families:
        if one not in played:
            yield here, f"no round plays {one}"


def _stand_ins(contract: Contract) -> Found:
    opened = {f for stage in contract.worlds.values() if not stage.sealed for f in stage.families}
    agreed: dict[str, tuple[str, str]] = {}
    for name, stage in contract.worlds.items():
        here: Path = ("worlds", name, "stand_in")
        if stage.stand_in and not stage.sealed:
            yield here, f"the stage {name} is not sealed, so nothing stands in for it"
            continue
        yield from _unknown(here, stage.stand_in, stage.families, "family of this stage")
        if not stage.sealed:
            continue
        for family in stage.families:
            other = stage.stand_in.get(family, family)
            if other not in opened:
                said = f"{other} plays in no open stage" if other != family else "it has none"
                yield (
                    (*here, family) if family in stage.stand_in else ("worlds", name, KEY),
                    f"{family} needs a family from an open stage as its stand_in; {said}",
                )
            if family in agreed and agreed[family][0] != other:
                yield (
                    (*here, family),
                    f"{family} has the stand_in {agreed[family][0]} in the stage "
                    f"{agreed[family][1]} and {other} here",
                )
            agreed.setdefault(family, (other, name))
        played = [stage.stand_in.get(family, family) for family in stage.families]
        for i in _repeated(played):
            yield here, f"two families of {name} have the same stand_in {played[i]}"


def _blocks(contract: Contract) -> Found:
    for name in contract.worlds:
        if name not in contract.seeds:
            yield ("seeds",), f"the stage {name} has no block of seeds"
    if "rehearsal" in contract.worlds:
        yield ("worlds", "rehearsal", KEY), "rehearsal is the name of a reserved block of seeds"
    if "rehearsal" not in contract.seeds:
        yield ("seeds",), "there is no block `rehearsal`, so the contract cannot be rehearsed"
    needed = sum(seeds_held(contract, contract.worlds[name]) for name in contract.sealed_stages)
    rehearsal = contract.seeds.get("rehearsal")
    if rehearsal is not None and (rehearsal.size or 0) < needed:
        yield (
            ("seeds", "rehearsal", "size"),
            f"the rehearsal lends {needed} seeds to the sealed stages: its size is that or more",
        )
    for name, block in contract.seeds.items():
        here: Path = ("seeds", name)
        stage = contract.worlds.get(name)
        if stage is None:
            if block.size is None:
                known = nearest(name, contract.worlds)
                yield (*here, KEY), f"{name} is no stage{known}; a reserved range says its size"
        elif (held := seeds_held(contract, stage)) > MAX_SEEDS_A_BLOCK:
            yield (
                (*here, KEY),
                f"the block {name} holds {held} seeds; the most is {MAX_SEEDS_A_BLOCK}",
            )
        elif block.size is not None and block.size < held:
            yield (*here, "size"), f"the block {name} holds {held} seeds; its size is {block.size}"


def seeds_held(contract: Contract, stage: Stage) -> int:
    """Return how many seeds a stage of the contract has, without laying them out."""
    if stage.families_by_round:
        families = sum(len(one) for one in stage.families_by_round)
    else:
        families = len(stage.families) * (1 if stage.same_each_round else stage.rounds)
    return (stage.units or contract.unit.count) * families * stage.per_unit


def _overlaps(contract: Contract) -> Found:
    ranges = []
    for name, block in contract.seeds.items():
        stage = contract.worlds.get(name)
        held = seeds_held(contract, stage) if stage else 0
        ranges.append((block.base, block.base + max(block.size or 0, held), name))
    ranges.sort()
    for (first, end, name), (other, other_end, follower) in pairwise(ranges):
        if other < end:
            yield (
                ("seeds", follower, KEY),
                f"the blocks {name} ({first} to {end - 1}) and {follower} ({other} to "
                f"{other_end - 1}) share seeds",
            )


def _predictions(contract: Contract) -> Found:
    if not contract.predictions:
        yield ("predictions",), "there is no prediction"
    for name, prediction in contract.predictions.items():
        here: Path = ("predictions", name, "all")
        if not prediction.all:
            yield here, f"{name} demands nothing; list at least one check"
        for i, check in enumerate(prediction.all):
            yield from check_problems(contract, check, (*here, i), decides=prediction.decides)
    for i, check in enumerate(contract.invariants):
        yield from check_problems(contract, check, ("invariants", i), decides=True)


def _rule(contract: Contract) -> Found:
    rule = contract.verdict
    if not rule.green:
        yield ("verdict", "green"), "green names no prediction, so nothing decides"
    yield from _twice(("verdict", "green"), rule.green)
    yield from _unknown(("verdict", "green"), rule.green, contract.predictions, "prediction")
    for i, name in enumerate(rule.green):
        if name in contract.predictions and not contract.predictions[name].decides:
            yield ("verdict", "green", i), f"{name} is only reported (decides: false)"
    for name, prediction in contract.predictions.items():
        if prediction.decides and name not in rule.green:
            yield (
                ("predictions", name, KEY),
                f"{name} decides, but verdict.green does not name it; say decides: false",
            )
    for i, label in enumerate(rule.labels):
        yield from _label(contract, ("verdict", "labels", i, "when"), label)


def _label(contract: Contract, here: Path, label: LabelRule) -> Found:
    passed, failed = label.when.passed, label.when.failed
    if not passed and not failed:
        yield here, "a label needs at least one prediction that passes or fails"
    for key, names in (("pass", passed), ("fail", failed)):
        yield from _unknown((*here, key), names, contract.predictions, "prediction")
    for name in set(passed) & set(failed):
        yield here, f"{name} cannot pass and fail at once"


def _ceiling(contract: Contract) -> Found:
    ceiling = contract.ceiling
    if ceiling is None:
        return
    arms = {arm.id for arm in contract.arms}
    here: Path = ("ceiling",)
    yield from _unknown((*here, "measure"), [ceiling.measure], contract.measures, "measure")
    for key, arm in (("arm", ceiling.arm), ("above", ceiling.above)):
        yield from _unknown((*here, key), [arm], arms, "arm")
    if ceiling.arm == ceiling.above:
        yield (*here, "above"), f"{ceiling.arm} cannot be above itself"
    stages = ceiling.where.values("stage")
    yield from _unknown((*here, "where", "stage"), map(str, stages), contract.worlds, "stage")
    for stage in stages:
        if stage in contract.sealed_stages:
            yield (
                (*here, "where", "stage"),
                f"the ceiling is shown before the exam; {stage} is sealed",
            )


def _exhibits(contract: Contract) -> Found:
    for i, exhibit in enumerate(contract.exhibits):
        yield from exhibit_problems(contract, exhibit, ("exhibits", i))


def _declarations(contract: Contract) -> Found:
    for key in ("prior_knowledge", "choices", "declarations", "amendments", "risks"):
        said = getattr(contract, key)
        for i in _repeated([one.id for one in said]):
            if said[i].id is not None:
                yield (key, i, "id"), f"{key} has {said[i].id} twice"
        if key == "amendments":
            for i, one in enumerate(said):
                if one.on is None:
                    yield (key, i), "an amendment says its date: on: 2026-10-20"


def _repeated(values: Sequence[object]) -> Iterator[int]:
    """Yield the index of each value that stood before."""
    seen: Counter[object] = Counter()
    for i, value in enumerate(values):
        if seen[value]:
            yield i
        seen[value] += 1


def _twice(here: Path, values: Sequence[str]) -> Found:
    for i in _repeated(values):
        yield (*here, i), f"{values[i]} is listed twice"


def _unknown(here: Path, names: Iterable[str], known: Iterable[str], what: str) -> Found:
    allowed = set(known)
    for i, name in enumerate(names):
        if name not in allowed:
            # A mapping is addressed by its key, a list by its index, a lone value by neither.
            steps: Path = (name, KEY) if here[-1] == "stand_in" else (i,)
            yield (*here, *steps), f"{name} is no {what}{nearest(name, allowed)}"
