"""The freeze: train what is trained before the exam, then seal everything that decides."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from echoctl.canon import canonical, digest
from echoctl.contract import Contract
from echoctl.contract.canonical import canonical_bytes
from echoctl.desk.checking import refuse_requirements, refuse_unamended
from echoctl.desk.ledger import Ledger
from echoctl.desk.playing import FolderSink, exam_range, inherited, open_permit, plan
from echoctl.desk.repository import head, refuse_dirty
from echoctl.desk.sealed import chain_head, manifest_bytes
from echoctl.desk.witnesses import freeze_receipt, write_witnesses
from echoctl.desk.workspace import Workspace, sha256
from echoctl.disk import fault, packed, read_plain, sync_folder, write_whole
from echoctl.dossier import Dossier
from echoctl.errors import EchoError, Inconsistent, Refused, UsageError
from echoctl.runner.local import Local
from echoctl.runner.run import Artefact, Code, Engine, Observer, Silent, run
from echoctl.track.closure import build_zip, code_closure
from echoctl.track.job import Job
from echoctl.track.loading import TrackSource, find_track

WORKER = ("echoctl.runner.worker",)
"""What the sealed code carries beside the track: the program that plays jobs."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True)
class Frozen:
    """A freeze: its id, the line to keep outside, and how much was sealed."""

    id: str
    freeze: str
    receipt: str
    jobs: int
    code: int
    """Files in the code zip."""
    artefacts: int

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints."""
        return asdict(self)


def ready(ws: Workspace) -> list[str]:
    """Return the tracks that a freeze without an id would seal."""
    out = []
    for id in ws.ids():
        try:
            dossier = ws.dossier(id)
            dossier.refuse("freeze")
            _refuse_unready(ws, dossier, ws.working_contract(id), ws.contract_bytes(id))
        except EchoError:
            continue
        out.append(id)
    return out


def freeze(
    ws: Workspace,
    id: str,
    *,
    workers: int = 2,
    observer: Observer | None = None,
    engine: Engine | None = None,
) -> Frozen:
    """Seal a track. Nothing that decides can change afterwards, and it happens once.

    Refused for a second freeze, a contract that changed since its preflight, missing reviews,
    an open blocking finding, a required track without its verdict, a dirty tree, a symlink.
    """
    with ws.writing(id) as ledger:
        dossier = ledger.dossier
        dossier.refuse("freeze")
        raw, contract = ws.contract_bytes(id), ws.working_contract(id)
        _refuse_unready(ws, dossier, contract, raw)
        source = find_track(contract.track, ws.root)
        if not dossier.rehearsal:
            refuse_dirty(ws.root, id)
        _refuse_symlinks(ws, id, contract)
        _clear(ws, id)
        place = Path(tempfile.mkdtemp(prefix=".frozen-", dir=ws.artifacts(id)))
        place.chmod(0o755)
        try:
            manifest, time = _seal(
                ws, ledger, contract, raw, source, place, workers, observer or Silent(),
                engine or Local(),
            )  # fmt: skip
            place.rename(ws.frozen(id))
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
        sync_folder(ws.artifacts(id))
        fault("freeze.renamed")
        freeze_id = digest("manifest", manifest_bytes(manifest))
        ledger.append(
            "freeze", {"manifest": freeze_id, "jobs": manifest["jobs"]["count"]}, time=time
        )
        write_witnesses(ws, dossier)
    return Frozen(
        id, freeze_id, freeze_receipt(id, freeze_id), manifest["jobs"]["count"],
        len(manifest["code"]["files"]), len(manifest["artefacts"]),
    )  # fmt: skip


def _refuse_unready(ws: Workspace, dossier: Dossier, contract: Contract, raw: bytes) -> None:
    id = dossier.id
    refuse_unamended(dossier, sha256(raw))
    if dossier.preflight is None or dossier.preflight["contract"] != sha256(raw):
        raise Refused(f"{id} was amended since its last preflight", f"run: echoctl preflight {id}")
    if sha256(ws.seeds_of(contract).as_bytes()) != dossier.preflight["seeds"]:
        raise Refused(
            f"seeds/{id}.json is not what the preflight published", f"run: echoctl preflight {id}"
        )
    refuse_requirements(ws, contract)
    missing = contract.reviews_required - len(dossier.reviews)
    if missing > 0:
        raise Refused(
            f"{id} asks for {contract.reviews_required} reviews and has {len(dossier.reviews)}",
            f"let somebody who did not write it review it: echoctl review {id}",
        )
    if dossier.blocking:
        first = dossier.blocking[0]
        raise Refused(
            f"finding {first.id} blocks the freeze: {first.text}",
            f"act on it, then: echoctl review {id} --answer {first.id} --action TEXT",
            findings=[finding.id for finding in dossier.blocking],
        )


def _refuse_symlinks(ws: Workspace, id: str, contract: Contract) -> None:
    paths = [ws.contract_path(id), ws.seeds_path(id), *(ws.root / name for name in contract.tests)]
    for path in [*paths, *sorted(ws.artifacts(id).rglob("*"))]:
        if path.is_symlink():
            raise Refused(
                f"{path.relative_to(ws.root)} is a symlink: what it points to cannot be sealed",
                "put the file itself there",
            )


def _clear(ws: Workspace, id: str) -> None:
    """Take away what a crash left of an earlier freeze that was never recorded."""
    for path in ws.artifacts(id).glob(".frozen-*"):
        shutil.rmtree(path)
    if not ws.frozen(id).exists():
        return
    if ws.exam(id).exists() or (ws.artifacts(id) / "witness").exists():
        raise Inconsistent(
            f"{id} has an exam or a receipt, and its ledger has no freeze: its tail was cut",
            "restore the ledger from a copy that verifies",
        )
    shutil.rmtree(ws.frozen(id))


def _seal(
    ws: Workspace, ledger: Ledger, contract: Contract, raw: bytes, source: TrackSource,
    place: Path, workers: int, observer: Observer, engine: Engine,
) -> tuple[dict[str, Any], str]:  # fmt: skip
    """Write everything that is sealed into `place`; return the manifest and the freeze's time."""
    dossier, id = ledger.dossier, contract.id
    assert dossier.preflight is not None
    seeds = ws.seeds_of(contract)
    files = code_closure(source, ws.root, WORKER)
    for name in dossier.preflight["data"]:
        files[name] = read_plain(ws.root / name)
    write_whole(place / "code.zip", build_zip(files))
    write_whole(place / "contract.yaml", raw)
    write_whole(place / "contract.json", canonical_bytes(contract))
    tests = _tests(ws, contract, place)
    permit = open_permit(contract, seeds)
    code = Code(source, place / "code.zip", True, tuple(contract.measures), permit.as_json())
    environment = _environment(code, dossier)
    fault("freeze.sealing")
    training = plan(ws, contract, seeds, "training")
    taught = _listed(place / "training.jsonl", training)
    artefacts = _trained(ws, ledger, contract, training, code, place, workers, observer, engine)
    jobs = plan(ws, contract, seeds, "exam")
    time = ledger.now()
    lines = _listed(place / "jobs.jsonl", jobs)
    manifest = {
        "schema": "echoctl/manifest/1",
        "id": id,
        "contract_yaml": sha256(raw),
        "contract_json": sha256(canonical_bytes(contract)),
        "seeds": sha256(seeds.as_bytes()),
        "code": {
            "zip": sha256((place / "code.zip").read_bytes()),
            "files": {name: sha256(data) for name, data in files.items()},
        },
        "jobs": {
            "file": sha256(lines), "count": len(jobs), "ids": {job.id: job.digest for job in jobs},
        },
        "training": sha256(taught),
        "artefacts": artefacts,
        "tests": tests,
        "reviews": dossier.reviews_as_sealed(),
        "amendments": [dict(one) for one in dossier.amendments],
        "environment": environment,
        "play": {
            "track": source.as_json(),
            "measures": sorted(contract.measures),
            "permit": exam_range(contract, seeds),
        },
        "git": head(ws.root),
        "head": list(dossier.head),
    }  # fmt: skip
    write_whole(place / "manifest.json", manifest_bytes(manifest))
    fault("freeze.sealed")
    return manifest, time


def _listed(path: Path, jobs: Sequence[Job]) -> bytes:
    """Write jobs, one canonical line each, and return the bytes."""
    lines = b"".join(canonical(job.as_json()) + b"\n" for job in jobs)
    write_whole(path, lines)
    return lines


def _tests(ws: Workspace, contract: Contract, place: Path) -> dict[str, str]:
    out = {}
    for name in contract.tests:
        path = ws.root / name
        if ".." in Path(name).parts or Path(name).is_absolute() or not path.is_file():
            raise UsageError(
                f"the contract names the test {name}, which is no file of the workspace",
                "mend the contract's tests",
            )
        data = read_plain(path)
        write_whole(place / "tests" / name, data)
        out[name] = sha256(data)
    return out


def _environment(code: Code, dossier: Dossier) -> dict[str, Any]:
    """Return what a worker of the sealed code sees; Refused where the preflight saw otherwise."""
    assert dossier.preflight is not None
    seen = dossier.preflight["environment"]
    found = environment_of(code, list(seen["distributions"]))
    differences = environment_differences(seen, found)
    if differences:
        raise Refused(
            f"this is not the environment of the preflight: {'; '.join(differences[:4])}",
            f"run: echoctl preflight {dossier.id}",
        )
    return found


def environment_of(code: Code, known: list[str]) -> dict[str, Any]:
    """Return the environment that a fresh worker sees (see `echoctl.runner.worker`)."""
    engine = Local()
    try:
        engine.start(code, 1)
        return engine.ask_environment(known)
    finally:
        engine.stop()


def environment_differences(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Return one sentence for each part of an environment that is not as it was."""
    out = [
        f"{key} is {found[key]}, was {wanted[key]}"
        for key in ("python", "implementation", "platform")
        if found[key] != wanted[key]
    ]
    was, now = wanted["distributions"], found["distributions"]
    out += [
        f"{name} is {now.get(name, 'absent')}, was {version}"
        for name, version in was.items()
        if now.get(name, "absent") != version
    ]
    out += [
        f"{name} {was[name]} has other code than it had"
        for name, code in wanted["code"].items()
        if now.get(name) == was[name] and found["code"].get(name) != code
    ]
    return out


def _trained(
    ws: Workspace, ledger: Ledger, contract: Contract, jobs: Sequence[Job], code: Code,
    place: Path, workers: int, observer: Observer, engine: Engine,
) -> dict[str, Any]:  # fmt: skip
    """Train from the sealed code, pack what was made, record each training in the ledger."""
    work = place / "work"
    sink = FolderSink(work, inherited(ws, contract, work / "inherited"))
    run(
        jobs, engine=engine, code=code, workers=workers, sink=sink, observer=observer,
        what="training",
    )  # fmt: skip
    made = {name for job in jobs for name in job.makes}
    sealed = {
        name: _packed(name, sink.artefacts[name], place, inherited=name not in made)
        for name in sorted(sink.artefacts)
    }
    shutil.rmtree(work, ignore_errors=True)
    results = {result.task.job.id: result for result in sink.results}
    for job in jobs:
        _record_training(ledger, job, results[job.id].outcome, sealed)
    return sealed


def _packed(name: str, artefact: Artefact, place: Path, *, inherited: bool) -> dict[str, Any]:
    """Pack one artefact. An inherited memory (TRACK.NAME) keeps the chain its maker gave it."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"an artefact cannot be called {name!r}", "use letters, digits, _ . -")
    data = artefact.path.read_bytes()
    write_whole(place / "artefacts" / f"{name}.gz", packed(data))
    born = name.partition(".")[2] if inherited else name
    return {"sha256": sha256(data), "head": chain_head(artefact.path, born)}


def _record_training(ledger: Ledger, job: Job, outcome: str, sealed: Mapping[str, Any]) -> None:
    made = {name: sealed[name] for name in job.makes}
    ledger.append("training", {"job": job.id, "outcome": outcome, "artefacts": made})
