"""What an exhibit must be to show something of its contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from echoctl.contract.exhibits import Curve, Exhibit, Gif, Log, Published, Table
from echoctl.contract.explain import nearest
from echoctl.contract.menu_rules import stages_read, where_problems
from echoctl.contract.model import Contract
from echoctl.contract.strict import Path
from echoctl.contract.values import Where

Found: TypeAlias = Iterator[tuple[Path, str]]


def exhibit_problems(contract: Contract, exhibit: Exhibit, path: Path) -> Found:
    """Yield ``(path, sentence)`` for every name that names nothing, and for what shows nothing."""
    here: Path = (*path, exhibit.kind)
    one = getattr(exhibit, exhibit.kind)
    if isinstance(one, Gif):
        yield from _gif(contract, one, here)
        return
    if isinstance(one, Published):
        yield from _published(contract, one, here)
        return
    yield from _arms(contract, one.arms, (one.where, getattr(one, "against", None)), here)
    yield from where_problems(contract, one.where, here)
    if isinstance(one, Curve):
        yield from _names([one.measure], contract.measures, "measure", (*here, "measure"))
        if all(stage.rounds < 2 for stage in stages_read(contract, one.where)):
            yield here, "a curve needs a stage of several rounds"
    elif isinstance(one, Table):
        if not one.measures:
            yield (*here, "measures"), "a table of no measure shows nothing"
        yield from _listed(one.measures, contract.measures, "measure", (*here, "measures"))
        if one.against is not None:
            yield from where_problems(contract, one.against, here, "against")
            if one.against == one.where:
                yield (*here, "against"), "the rows are compared with themselves"
    elif isinstance(one, Log):
        yield from _names([one.measure], contract.measures, "measure", (*here, "measure"))
        for key in ("only", "beside"):
            yield from _listed(getattr(one, key), contract.measures, "measure", (*here, key))


def _gif(contract: Contract, gif: Gif, here: Path) -> Found:
    if not gif.arms:
        yield (*here, "arms"), "an exhibit without arms shows nothing"
    yield from _names(gif.arms, [arm.id for arm in contract.arms], "arm", (*here, "arms"))
    if gif.unit > contract.unit.count:
        yield (*here, "unit"), f"there are {contract.unit.count} units, no unit {gif.unit}"
    if gif.regime is not None:
        yield from _names([gif.regime], contract.regimes, "regime", (*here, "regime"))
    if gif.stage is not None:
        yield from _names([gif.stage], contract.worlds, "stage", (*here, "stage"))
    names = [gif.stage] if gif.stage else contract.sealed_stages
    stages = [contract.worlds[name] for name in names if name in contract.worlds]
    if stages and gif.episode >= max(stage.per_unit for stage in stages):
        most = max(stage.per_unit for stage in stages) - 1
        yield (*here, "episode"), f"episodes count from 0 to {most}, there is no {gif.episode}"


def _published(contract: Contract, one: Published, here: Path) -> Found:
    if not one.figures:
        yield (*here, "figures"), "a comparison with no figure shows nothing"
    for i, figure in enumerate(one.figures):
        at: Path = (*here, "figures", i)
        yield from _names([figure.measure], contract.measures, "measure", (*at, "measure"))
        yield from _arms(contract, [figure.arm], [figure.where], at)
        yield from where_problems(contract, figure.where, at)


def _arms(
    contract: Contract, arms: Sequence[str], filters: Iterable[Where | None], here: Path
) -> Found:
    """Yield the arms that do not exist or that play in none of the stages that are read."""
    known = [arm.id for arm in contract.arms]
    yield from _listed(arms, known, "arm", (*here, "arms"))
    for where in filters:
        stages = stages_read(contract, where) if where is not None else []
        for i, arm in enumerate(arms):
            if stages and arm in known and all(s.arms and arm not in s.arms for s in stages):
                yield (*here, "arms", i), f"the arm {arm} plays in no stage that is looked at"


def _listed(names: Sequence[str], known: Iterable[str], what: str, here: Path) -> Found:
    yield from _names(names, known, what, here)
    for i, name in enumerate(names):
        if name in names[:i]:
            yield (*here, i), f"{name} is listed twice"


def _names(names: Iterable[str], known: Iterable[str], what: str, here: Path) -> Found:
    allowed = set(known)
    for i, name in enumerate(names):
        if name not in allowed:
            yield (*here, i), f"{name} is no {what}{nearest(name, allowed)}"
