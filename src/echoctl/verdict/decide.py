"""Contract and outcomes in, Verdict out. Pure: no clock, no disk, no chance, no float."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

from echoctl.contract import Contract
from echoctl.contract.model import Check, Prediction
from echoctl.errors import CheckFailed, Inconsistent
from echoctl.track.job import Job
from echoctl.track.outcome import Outcome
from echoctl.verdict.checks import Bench, leaves, watches
from echoctl.verdict.cube import Cell, CellKey, Cube, Standins
from echoctl.verdict.exhibits import exhibit_results, log_folds
from echoctl.verdict.reader import Reader
from echoctl.verdict.results import PredictionResult, TableCell, Verdict, Warn

AGGREGATES: Mapping[str, Callable[[Iterable[int]], int]] = {"sum": sum, "max": max, "min": min}


def decide(
    contract: Contract,
    outcomes: Iterable[Outcome],
    *,
    jobs: Sequence[Job] | None = None,
    mark: str = "",
    standins: Standins | None = None,
    trained: Mapping[str, Mapping[int, str]] | None = None,
    notes: Sequence[str] = (),
) -> Verdict:
    """Return what the contract's rule says about the outcomes, whatever their order.

    Outcomes are read one at a time and folded, so memory does not grow with rows. With `jobs`
    (the sealed list) exactly those must be there. `mark` (``DEVELOPMENT``, ``REHEARSAL``) says
    that nothing is decided, and lets fewer units than the contract's play. `standins` renames
    the families and stages of the contract's filters. `trained` maps the name of a trained
    artefact to the hash that each unit used: equal hashes are one training, and the reader is
    told. `notes` are carried into the verdict unchanged.

    Raises Inconsistent when anything is missing, counted twice or not an integer, CheckFailed
    when a check cannot be computed at all. Then there is no verdict.
    """
    standins = standins or Standins()
    _check_rule(contract)
    cube = Cube(contract, *watches(contract, standins))
    folds = log_folds(contract, standins)
    for outcome in outcomes:
        cube.add(outcome)
        for fold in folds:
            fold.add(outcome)
    if jobs is not None:
        _check_jobs(cube, jobs)
    if not cube.cells:
        raise Inconsistent("there are no rows, so there is no verdict")
    units = _check_units(contract, cube, lenient=bool(mark))
    read = Reader(contract, cube, units, standins)
    bench = Bench(read)
    predictions = tuple(
        _predict(contract, cube, bench, name, prediction)
        for name, prediction in contract.predictions.items()
    )
    invariants = tuple(
        bench.evaluate(check, f"invariant {i}")
        for i, check in enumerate(contract.invariants, start=1)
    )
    passed = {prediction.id: prediction.passed for prediction in predictions}
    green = all(passed[name] for name in contract.verdict.green) and all(
        check.passed for check in invariants
    )
    labels = tuple(
        rule.text
        for rule in contract.verdict.labels
        if all(passed[name] is True for name in rule.when.passed)
        and all(passed[name] is False for name in rule.when.failed)
    )
    found = {unit for inner in units.values() for unit in inner}
    return Verdict(
        id=contract.id,
        title=contract.title,
        colour="green" if green else "red",
        mark=mark,
        green_needs=contract.verdict.green,
        predictions=predictions,
        invariants=invariants,
        labels=labels,
        table=_table(contract, cube),
        warnings=_warnings(contract, cube, read, found, trained or {}),
        unit=contract.unit.name,
        units=len(found),
        jobs=len(cube.jobs),
        rows=cube.rows,
        notes=tuple(notes),
        exhibits=exhibit_results(contract, cube, standins, folds),
    )


def _check_rule(contract: Contract) -> None:
    """Refuse a rule that would be green without deciding anything."""
    if not contract.verdict.green:
        raise CheckFailed("the verdict rule names no prediction", "say what green needs")
    named = [*contract.verdict.green]
    for rule in contract.verdict.labels:
        named += [*rule.when.passed, *rule.when.failed]
    for name in named:
        if name not in contract.predictions:
            raise CheckFailed(f"the verdict rule names {name!r}, which is no prediction")
    for name in contract.verdict.green:
        if not contract.predictions[name].decides:
            raise CheckFailed(f"{name} is only reported, so green cannot need it")


def _check_jobs(cube: Cube, jobs: Sequence[Job]) -> None:
    """Refuse a missing or an extra job, or one whose rows claim other keys."""
    planned = {job.id: job for job in jobs}
    if missing := sorted(planned.keys() - cube.jobs.keys()):
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise Inconsistent(
            f"job {missing[0]}{more} has no outcome", "resume the exam; there are no exclusions"
        )
    if extra := sorted(cube.jobs.keys() - planned.keys()):
        raise Inconsistent(
            f"job {extra[0]} was never planned", "outcomes belong to sealed jobs only"
        )
    for name, job in sorted(planned.items()):
        if dict(job.keys) != dict(cube.jobs[name]):
            raise Inconsistent(
                f"job {name} was planned as {dict(job.keys)} and says {dict(cube.jobs[name])}"
            )


def _check_units(contract: Contract, cube: Cube, *, lenient: bool) -> dict[str, tuple[int, ...]]:
    """Return stage -> its units, after proving that every arm and family has each of them."""
    groups: dict[tuple[str, str, str, str, int], set[int]] = {}
    for key in cube.cells:
        group = (key.stage, key.family, key.regime, key.arm, key.round)
        groups.setdefault(group, set()).add(key.unit)
    wanted: dict[str, tuple[int, ...]] = {}
    for stage in sorted({group[0] for group in groups}):
        world = contract.worlds.get(stage)
        count = (world.units if world else None) or contract.unit.count
        seen = {unit for group, units in groups.items() if group[0] == stage for unit in units}
        wanted[stage] = tuple(sorted(seen)) if lenient else tuple(range(1, count + 1))
    for group, found in sorted(groups.items()):
        stage, family, regime, arm, number = group
        named = f"arm {arm}, stage {stage}, family {family}, round {number}"
        named += f", regime {regime}" if regime else ""
        if missing := sorted(set(wanted[stage]) - found):
            raise Inconsistent(f"{contract.unit.name} {missing[0]} is missing in {named}")
        if extra := sorted(found - set(wanted[stage])):
            raise Inconsistent(
                f"{contract.unit.name} {extra[0]} in {named} is not in the contract, "
                f"which has 1 to {wanted[stage][-1]}"
            )
    return wanted


def _predict(
    contract: Contract, cube: Cube, bench: Bench, name: str, prediction: Prediction
) -> PredictionResult:
    if not prediction.all:
        raise CheckFailed(f"{name} holds no check, so it cannot fail")
    if not prediction.decides and (absent := _not_played(contract, cube, prediction.all)):
        notes = tuple(f"not_played:{arm}" for arm in absent)
        return PredictionResult(name, prediction.text, False, None, (), notes)
    checks = tuple(
        bench.evaluate(check, f"{name}, check {i}")
        for i, check in enumerate(prediction.all, start=1)
    )
    passed = all(check.passed for check in checks)
    return PredictionResult(name, prediction.text, prediction.decides, passed, checks)


def _not_played(contract: Contract, cube: Cube, checks: Sequence[Check]) -> list[str]:
    """Return the optional arms that these checks name and that nobody played.

    Only an arm declared ``optional`` may be absent (an LLM without an endpoint), and only a
    prediction that decides nothing may do without it.
    """
    optional = {arm.id for arm in contract.arms if arm.optional}
    played = {key.arm for key in cube.cells}
    named: set[str] = set()
    for leaf in (leaf for check in checks for leaf in leaves(check)):
        for field in ("arm", "to", "than", "below", "above", "differs_from"):
            value = getattr(leaf, field, None)
            named.update((value,) if isinstance(value, str) else value or ())
    return sorted((named & optional) - played)


def _table(contract: Contract, cube: Cube) -> tuple[TableCell, ...]:
    order = {arm.id: place for place, arm in enumerate(contract.arms)}
    lines: dict[tuple[str, str, str, str, int], list[tuple[CellKey, Cell]]] = {}
    for key, cell in cube.cells.items():
        line = (key.stage, key.family, key.regime, key.arm, key.round)
        lines.setdefault(line, []).append((key, cell))
    out = []
    for line in sorted(lines, key=lambda k: (k[0], k[1], k[2], order[k[3]], k[4])):
        cells = sorted(lines[line])
        totals, means = {}, {}
        for name, measure in contract.measures.items():
            tallies = [cell.tallies[name] for _, cell in cells if name in cell.tallies]
            if len(tallies) < len(cells):
                continue
            values = [tally.value(measure.aggregate) for tally in tallies]
            whole = AGGREGATES[measure.aggregate](values)
            totals[name] = Fraction(whole, measure.scale)
            means[name] = Fraction(sum(values), measure.scale * len(values))
        rows = sum(cell.rows for _, cell in cells)
        out.append(TableCell(*line, units=len(cells), rows=rows, totals=totals, means=means))
    return tuple(out)


def _warnings(
    contract: Contract,
    cube: Cube,
    read: Reader,
    units: set[int],
    trained: Mapping[str, Mapping[int, str]],
) -> tuple[Warn, ...]:
    out = []
    for name, hashes in sorted(trained.items()):
        distinct = len(set(hashes.values()))
        if len(hashes) > 1 and distinct < len(hashes):
            out.append(
                Warn(
                    "shared_artefact",
                    f"{len(hashes)} units used {distinct} different {name}: the claim is about "
                    "worlds, not about independent trainings",
                    {"artefact": name, "units": len(hashes), "distinct": distinct},
                )
            )
    if len(units) < contract.unit.count:
        out.append(
            Warn(
                "fewer_units",
                f"{len(units)} units played of the contract's {contract.unit.count}",
                {"played": len(units), "contract": contract.unit.count},
            )
        )
    for pair in sorted(read.uneven):
        out.append(
            Warn(
                "uneven_rows",
                f"the paired arms {pair} did not play the same number of rows in every unit",
                {"arms": pair},
            )
        )
    if cube.undeclared:
        names = sorted(cube.undeclared)
        out.append(
            Warn(
                "undeclared_columns",
                f"columns that the contract does not declare were not read: {', '.join(names)}",
                {"columns": names},
            )
        )
    there = {key.arm for key in cube.cells}
    for arm in contract.arms:
        if arm.optional and arm.id not in there:
            out.append(
                Warn("skipped_arm", f"the optional arm {arm.id} was not played", {"arm": arm.id})
            )
    played = {name for cell in cube.cells.values() for name in cell.tallies}
    if never := sorted(set(contract.measures) - played):
        out.append(
            Warn("absent_measures", f"no row carries {', '.join(never)}", {"measures": never})
        )
    return tuple(out)
