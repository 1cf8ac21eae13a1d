"""Lint and preflight: what can be known before anything is played in earnest."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from echoctl.canon import canonical
from echoctl.contract import Block, Contract, Seeds
from echoctl.contract.canonical import canonical_bytes
from echoctl.desk.playing import (
    DEVELOPMENT,
    FolderSink,
    fewer,
    inherited,
    open_permit,
    outcome_path,
    plan,
    working_code,
)
from echoctl.desk.workspace import Workspace, sha256
from echoctl.disk import read_plain, write_whole
from echoctl.dossier import Dossier
from echoctl.errors import CheckFailed, EchoError, Inconsistent, Refused
from echoctl.lint import LintReport, lint
from echoctl.runner.local import Local
from echoctl.runner.run import Code, Observer, Silent, run
from echoctl.track.closure import code_roots
from echoctl.track.files import read_outcome
from echoctl.track.job import Job
from echoctl.track.loading import TrackSource
from echoctl.worlds import CONFORMANCE_SEEDS, FAMILIES, distinct_starts

CEILING_UNITS = 3
"""The ceiling is looked for in this many units of development."""


@dataclass(frozen=True)
class Preflight:
    """What the preflight found. `record` holds all of it, the linter's results included."""

    id: str
    contract: str
    """SHA-256 of the YAML."""
    seeds: str
    """SHA-256 of ``seeds/ID.json``."""
    seed_count: int
    exam_jobs: int
    published: bool
    """Whether this run published the seeds; False where they were published already."""
    record: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints."""
        return {
            "id": self.id, "contract": self.contract, "seeds": self.seeds,
            "seed_count": self.seed_count, "exam_jobs": self.exam_jobs,
            "published": self.published, "record": dict(self.record),
        }  # fmt: skip


def preflight(
    ws: Workspace,
    id: str,
    *,
    workers: int = 2,
    observer: Observer | None = None,
) -> Preflight:
    """Check everything that can be checked before the freeze, then publish the seeds.

    Raises Refused where a required track lacks its verdict or a seed block was used before,
    CheckFailed where a check says no, Inconsistent where published seeds were changed.
    """
    watch = observer or Silent()
    with ws.writing(id) as ledger:
        dossier = ledger.dossier
        dossier.refuse("preflight")
        raw, contract = ws.contract_bytes(id), ws.working_contract(id)
        refuse_unamended(dossier, sha256(raw))
        refuse_requirements(ws, contract)
        seeds = Seeds.lay_out(contract)
        _refuse_conflicts(ws, contract, seeds)
        published = _published(ws, contract, seeds, dossier)
        found = _linted(contract, rehearsal=dossier.rehearsal)
        record: dict[str, Any] = {"lint": found.as_json("en")}
        levels = ("refusal", "warning", "statement")
        counts = {level: sum(f.level == level for f in found.findings) for level in levels}
        exam = _planned(ws, contract, seeds)
        with tempfile.TemporaryDirectory(prefix="echoctl-") as place:
            record |= _trial(ws, contract, Path(place), workers, watch)
        record["starts"] = _starts(contract, seeds)
        if not published:
            write_whole(ws.seeds_path(id), seeds.as_bytes())
        _keep_first(ws, id, raw, dossier)
        data = {
            "contract": sha256(raw), "canonical": sha256(canonical_bytes(contract)),
            "seeds": sha256(seeds.as_bytes()), "lint": counts,
            "environment": record["environment"], "data": record["data"],
            "record": sha256(canonical(record)),
        }  # fmt: skip
        if dossier.preflight != data:
            write_whole(ws.artifacts(id) / "dev" / "preflight.json", canonical(record) + b"\n")
            ledger.append("preflight", data)
    count = sum(1 for block in seeds.blocks.values() for _ in block.seeds())
    return Preflight(id, data["contract"], data["seeds"], count, len(exam), not published, record)


def refuse_unamended(dossier: Dossier, contract: str) -> None:
    """Refuse a contract that changed since the ledger accepted it."""
    if dossier.contract not in (None, contract):
        raise Refused(
            f"contracts/{dossier.id}.yaml changed since the ledger accepted it",
            f"record the change: echoctl amend {dossier.id} --why TEXT",
        )


def refuse_requirements(ws: Workspace, contract: Contract) -> None:
    """Refuse unless every required track has the verdict that the contract asks for."""
    for required in contract.requires:
        state = ws.dossier(required.track).state if required.track in ws.ids() else "missing"
        if state != required.verdict:
            raise Refused(
                f"{contract.id} requires {required.track} to be {required.verdict}; it is {state}",
                f"see: echoctl status {required.track}",
            )


def _linted(contract: Contract, *, rehearsal: bool) -> LintReport:
    """Return the linter's report; CheckFailed for a design that cannot pass or cannot fail.

    A rehearsal has fewer units than the design needs, and decides nothing anyway.
    """
    found = lint(contract)
    if not found.ok and not rehearsal:
        first = found.refusals[0]
        more = f" (and {len(found.refusals) - 1} more)" if len(found.refusals) > 1 else ""
        raise CheckFailed(
            f"the linter refuses {first.where or contract.id}: {first.text('en')}{more}",
            f"see all of it: echoctl lint {contract.id}",
        )
    return found


def _refuse_conflicts(ws: Workspace, contract: Contract, seeds: Seeds) -> None:
    """Refuse seeds that another contract lays out, or that were published for one."""
    published = {path.stem for path in (ws.root / "seeds").glob("*.json")}
    found = []
    for other in sorted({*ws.ids(), *published} - {contract.id}):
        for one in _laid_elsewhere(ws, other):
            found += seeds.overlaps(one)
    if found:
        said = list(dict.fromkeys(found))
        raise Refused("; ".join(said[:3]), "move the block's base to seeds that nobody has used")


def _laid_elsewhere(ws: Workspace, other: str) -> list[Seeds]:
    """Return another contract's blocks: as it lays them out now, and as they were published."""
    out = []
    with contextlib.suppress(EchoError):  # that contract's own preflight says what is wrong
        out.append(Seeds.lay_out(ws.working_contract(other)))
    path = ws.seeds_path(other)
    if path.exists():
        try:
            blocks = json.loads(read_plain(path))["blocks"]
            laid = {name: Block(name, b["base"], b["size"], {}) for name, b in blocks.items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise Inconsistent(f"seeds/{other}.json cannot be read", "restore it") from None
        out.append(Seeds(other, laid))
    return out


def _published(ws: Workspace, contract: Contract, seeds: Seeds, dossier: Dossier) -> bool:
    """Return whether the right seeds are published already; Inconsistent for changed ones."""
    path = ws.seeds_path(contract.id)
    if not path.exists():
        return False
    data = read_plain(path)
    if data == seeds.as_bytes():
        return True
    if dossier.amendments and dossier.preflight and sha256(data) == dossier.preflight["seeds"]:
        return False  # an amendment moved the blocks: what is published is the older layout
    Seeds.read(data, contract)
    return True


def _planned(ws: Workspace, contract: Contract, seeds: Seeds) -> list[Job]:
    """Return the exam's jobs, after checking that what they need will be there."""
    jobs = plan(ws, contract, seeds, "exam")
    if not jobs:
        raise CheckFailed(f"{contract.id} has no exam jobs", "its track plans none")
    made = {name for job in plan(ws, contract, seeds, "training") for name in job.makes}
    for job in jobs:
        for name in job.needs:
            outside = name.partition(".")[0] in {r.track for r in contract.requires if r.artefacts}
            if name not in made and not outside:
                raise CheckFailed(f"exam job {job.id} needs {name}, which no training job makes")
    return jobs


def _trial(
    ws: Workspace, contract: Contract, place: Path, workers: int, watch: Observer
) -> dict[str, Any]:
    """Train and play a small development twice, differently, and compare every byte."""
    one = fewer(contract, 1)
    seeds = Seeds.lay_out(one)
    trained = plan(ws, one, seeds, "training")
    played = _sample(plan(ws, one, seeds, DEVELOPMENT))
    if not played:
        raise CheckFailed(f"{contract.id} has no development jobs", "its track plans none")
    hashes: list[dict[str, str]] = []
    opened: set[str] = set()
    environment: dict[str, Any] = {}
    for hash_seed, count in ((1, 1), (2, max(2, workers))):
        code = working_code(ws, one, open_permit(one, seeds), hash_seed=hash_seed)
        sink = FolderSink(place / str(hash_seed), {})
        sink.artefacts.update(inherited(ws, one, place / "inherited"))
        what = f"preflight {hash_seed}/2"
        _run_all((trained,), code, count, sink, watch, what)
        engine = Local()

        def ask(engine: Local = engine) -> None:
            environment.update(engine.ask_environment())

        run(
            played, engine=engine, code=code, workers=count, sink=sink, observer=watch, what=what,
            at_end=ask,
        )  # fmt: skip
        hashes.append({
            **{result.task.job.id: result.outcome for result in sink.results},
            **{f"artefact {n}": a.sha256 for n, a in sink.artefacts.items()},
        })  # fmt: skip
        opened |= {path for result in sink.results for path in result.opened}
    differing = sorted(name for name in hashes[0] if hashes[0][name] != hashes[1].get(name))
    if differing:
        raise CheckFailed(
            f"not deterministic: {differing[0]} differs between hash seed 1 with one worker and "
            f"hash seed 2 with two ({len(differing)} of {len(hashes[0])} differ)",
            "look for sets of strings, clocks, process ids and chance without a seed",
            differing=differing[:20],
        )
    return {
        "determinism": {"jobs": len(hashes[0]), "hash_seeds": [1, 2], "workers": [1, 2]},
        "data": sealed_names(opened, code.source, ws.root),
        "environment": environment,
        "ceiling": _ceiling(ws, contract, place / "ceiling", workers, watch),
    }


def _sample(jobs: Sequence[Job]) -> list[Job]:
    """Return one job of every arm, regimes in turn: enough to see what each arm's code does."""
    arms: dict[object, list[Job]] = {}
    for job in jobs:
        arms.setdefault(job.keys.get("arm"), []).append(job)
    return [of_arm[turn % len(of_arm)] for turn, of_arm in enumerate(arms.values())]


def sealed_names(opened: set[str], source: TrackSource, workspace: Path) -> list[str]:
    """Return the archive paths of data files that jobs opened; CheckFailed for one outside."""
    roots = [(folder, prefix) for folder, prefix, _ in code_roots(source, workspace)]
    out = set()
    for name in sorted(opened):
        path = Path(name)
        for folder, prefix in [*roots, (workspace.resolve(), "")]:
            if path.is_relative_to(folder):
                inside = path.relative_to(folder).as_posix()
                out.add(f"{prefix}/{inside}" if prefix else inside)
                break
        else:
            raise CheckFailed(
                f"a job opened {path.name}, which lies outside the workspace and cannot be sealed",
                "put the file into the workspace and read it through the workbench's data()",
            )
    return sorted(out)


def _ceiling(
    ws: Workspace, contract: Contract, place: Path, workers: int, watch: Observer
) -> dict[str, Any] | None:
    """Return both totals of the contract's ceiling check; CheckFailed where there is none."""
    ceiling = contract.ceiling
    if ceiling is None:
        return None
    small = fewer(contract, min(CEILING_UNITS, contract.unit.count))
    seeds = Seeds.lay_out(small)
    code = working_code(ws, small, open_permit(small, seeds))
    played = [
        job
        for job in plan(ws, small, seeds, DEVELOPMENT)
        if job.keys.get("arm") in (ceiling.arm, ceiling.above)
    ]
    needs = {name for job in played for name in job.needs}
    trained = [j for j in plan(ws, small, seeds, "training") if needs & set(j.makes)]
    sink = FolderSink(place, inherited(ws, small, place / "inherited"))
    _run_all((trained, played), code, workers, sink, watch, "preflight ceiling")
    totals = {ceiling.arm: 0, ceiling.above: 0}
    where = ceiling.where
    for job in played:
        outcome = read_outcome(outcome_path(place, job.id))
        at = {name: place for place, name in enumerate(outcome.columns)}
        if _outside(where.regime, job.keys.get("regime")):
            continue
        for row in outcome.rows:
            keys = ("family", "stage", "round")
            if not any(_outside(getattr(where, key), row[at[key]]) for key in keys):
                totals[str(job.keys["arm"])] += int(row[at[ceiling.measure]])
    top, low = totals[ceiling.arm], totals[ceiling.above]
    better = contract.measures[ceiling.measure].better
    if not (top < low if better == "lower" else top > low):
        raise CheckFailed(
            f"no ceiling: {ceiling.measure} of {ceiling.arm} is {top}, of {ceiling.above} {low}, "
            f"in {small.unit.count} units of development",
            "the reference must beat it, or the exam could show nothing; mend the policy first",
        )
    return {
        "measure": ceiling.measure, "units": small.unit.count,
        "arm": [ceiling.arm, top], "above": [ceiling.above, low],
    }  # fmt: skip


def _run_all(
    groups: Sequence[Sequence[Job]], code: Code, workers: int, sink: FolderSink, watch: Observer,
    what: str,
) -> None:  # fmt: skip
    for jobs in groups:
        run(jobs, engine=Local(), code=code, workers=workers, sink=sink, observer=watch, what=what)


def _outside(wanted: object, value: object) -> bool:
    """Return whether a filter's entry (None, one value, several) leaves a value out."""
    if wanted is None:
        return False
    return value not in wanted if isinstance(wanted, tuple) else value != wanted


def _starts(contract: Contract, seeds: Seeds) -> dict[str, Any]:
    """Return, for each family of worlds, how many different starts its seeds give.

    Open stages are counted on their own seeds. Sealed families are counted on as many seeds of
    the range reserved for conformance: nothing of the exam is looked at before it is opened.
    """
    out: dict[str, Any] = {}
    for name, stage in contract.worlds.items():
        for family in stage.families:
            if family not in FAMILIES:
                continue
            first = CONFORMANCE_SEEDS[0]
            chosen: Sequence[int] = range(first, first + stage.per_unit)
            if not stage.sealed and name in seeds.blocks:
                chosen = seeds.of(name, family, 1)
            out[f"{name}.{family}"] = [distinct_starts(family, chosen), len(chosen)]
    return out


def _keep_first(ws: Workspace, id: str, raw: bytes, dossier: Dossier) -> None:
    """Keep the contract as it was first accepted, so that amendments have a beginning."""
    path = amended_path(ws, id, len(dossier.amendments))
    if not path.exists():
        write_whole(path, raw)


def amended_path(ws: Workspace, id: str, number: int) -> Path:
    """Return where the contract after `number` amendments is kept."""
    return ws.artifacts(id) / "amendments" / f"{number}.yaml"
