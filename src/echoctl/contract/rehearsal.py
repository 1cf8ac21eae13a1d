"""The whole design played with development worlds in the exam's place.

A rehearsal must show everything that the exam will show without touching it: no sealed family
and no sealed seed may appear in it. Everything else, the rule that decides included, stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from echoctl.contract.consistency import seeds_held
from echoctl.contract.exhibits import Exhibit, Gif, outside_exams
from echoctl.contract.menu import Check
from echoctl.contract.model import Contract, SeedBlock, Stage
from echoctl.contract.values import Where
from echoctl.errors import CheckFailed, UsageError


def rehearsal_of(contract: Contract, units: int) -> Contract:
    """Return the contract that a rehearsal of `units` units plays.

    Sealed stages play their stand-ins on seeds of the block `rehearsal`; filters and exhibits
    name the stand-ins; no track is required, no review and no approval is asked for. Raises
    UsageError when there are not so many units, CheckFailed when no `rehearsal` block is
    declared or a sealed family has no stand-in.
    """
    if not 1 <= units <= contract.unit.count:
        raise UsageError(
            f"{contract.id} has {contract.unit.count} units, so {units} cannot be rehearsed",
            f"choose from 1 to {contract.unit.count}",
        )
    block = contract.seeds.get("rehearsal")
    if block is None or block.size is None:
        raise CheckFailed(
            f"{contract.id} declares no seeds for a rehearsal",
            "add to its seeds: rehearsal: {base: ..., size: ...}",
        )
    instead = _stand_ins(contract)
    unit = contract.unit.model_copy(update={"count": units})
    small = contract.model_copy(update={"unit": unit})
    worlds: dict[str, Stage] = {}
    seeds = {name: b for name, b in contract.seeds.items() if name != "rehearsal"}
    following = block.base
    for name, stage in contract.worlds.items():
        worlds[name] = _stage(stage, instead, units)
        if stage.sealed:
            held = seeds_held(small, stage)
            seeds[name] = SeedBlock(base=following, size=held)
            following += held
    left = block.base + block.size - following
    if left < 0:
        raise CheckFailed(
            f"the rehearsal needs {following - block.base} seeds and its block has {block.size}",
            "give the block `rehearsal` a larger size",
        )
    if left:
        seeds["rehearsal"] = SeedBlock(base=following, size=left)
    return contract.model_copy(
        update={
            "approved": None,
            "requires": (),
            "reviews_required": 0,
            "unit": unit,
            "worlds": worlds,
            "seeds": seeds,
            "predictions": {
                name: one.model_copy(update={"all": tuple(_check(c, instead) for c in one.all)})
                for name, one in contract.predictions.items()
            },
            "invariants": tuple(_check(c, instead) for c in contract.invariants),
            "exhibits": tuple(
                _exhibit(one, instead, units) for one in outside_exams(contract.exhibits)
            ),
            "settings": _renamed(contract.settings, instead),
        }
    )


def _stand_ins(contract: Contract) -> Mapping[str, str]:
    """Return what plays in each sealed family's place (itself where an open stage plays it)."""
    instead: dict[str, str] = {}
    for name in contract.sealed_stages:
        stage = contract.worlds[name]
        for family in stage.families:
            other = stage.stand_in.get(family, family)
            if other in contract.sealed_families:
                raise CheckFailed(
                    f"{family} of the sealed stage {name} has no stand-in from an open stage",
                    f"add to worlds.{name}: stand_in: {{{family}: ...}}",
                )
            instead[family] = other
    return instead


def _stage(stage: Stage, instead: Mapping[str, str], units: int) -> Stage:
    count = None if stage.units is None else min(stage.units, units)
    if not stage.sealed:
        return stage.model_copy(update={"units": count})
    return stage.model_copy(
        update={
            "units": count,
            "families": tuple(instead[family] for family in stage.families),
            "families_by_round": tuple(
                tuple(instead[family] for family in families)
                for families in stage.families_by_round
            ),
            "stand_in": {},
        }
    )


def _check(check: Check, instead: Mapping[str, str]) -> Check:
    kind = check.kind
    field = "not_" if kind == "not" else kind
    one: Any = getattr(check, field)
    if isinstance(one, Check):
        return check.model_copy(update={field: _check(one, instead)})
    if isinstance(one, tuple):
        return check.model_copy(update={field: tuple(_check(part, instead) for part in one)})
    changed = {
        name: _where(value, instead)
        for name, value in dict(one).items()
        if isinstance(value, Where)
    }
    return check.model_copy(update={field: one.model_copy(update=changed)})


def _where(where: Where, instead: Mapping[str, str]) -> Where:
    if where.family is None:
        return where
    if isinstance(where.family, tuple):
        family: str | tuple[str, ...] = tuple(instead.get(one, one) for one in where.family)
    else:
        family = instead.get(where.family, where.family)
    return where.model_copy(update={"family": family})


def _exhibit(exhibit: Exhibit, instead: Mapping[str, str], units: int) -> Exhibit:
    one: Any = getattr(exhibit, exhibit.kind)
    changed: dict[str, object] = {
        name: _where(value, instead)
        for name, value in dict(one).items()
        if isinstance(value, Where)
    }
    if isinstance(one, Gif):
        changed["unit"] = min(one.unit, units)
    return exhibit.model_copy(update={exhibit.kind: one.model_copy(update=changed)})


def _renamed(value: object, instead: Mapping[str, str]) -> object:
    """Return a setting with each sealed family's name replaced, in keys and in values."""
    if isinstance(value, str):
        return instead.get(value, value)
    if isinstance(value, tuple):
        return tuple(_renamed(one, instead) for one in value)
    if isinstance(value, Mapping):
        return {instead.get(key, key): _renamed(one, instead) for key, one in value.items()}
    return value
