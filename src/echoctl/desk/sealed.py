"""The one door to what was frozen: nothing gets out that is not exactly what was sealed."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from echoctl import chain
from echoctl.canon import canonical, digest
from echoctl.contract import Contract, Seeds
from echoctl.contract.canonical import from_canonical
from echoctl.desk.workspace import Workspace, sha256
from echoctl.disk import read_plain
from echoctl.dossier import Dossier
from echoctl.errors import Inconsistent
from echoctl.runner.run import Artefact
from echoctl.track.job import Job, job_from_json

_TODO = "restore artifacts and seeds from a copy that verifies"


@dataclass(frozen=True)
class Sealed:
    """A freeze whose bytes were all compared with its manifest, and that with the ledger."""

    folder: Path
    freeze: str
    manifest: Mapping[str, Any]
    contract: Contract
    seeds: Seeds
    jobs: tuple[Job, ...]
    notes: tuple[str, ...] = ()
    """Differences that change nothing, such as a file's line endings."""

    @property
    def zip(self) -> Path:
        """Return the sealed code."""
        return self.folder / "code.zip"

    def unpack(self, place: Path) -> dict[str, Artefact]:
        """Write every trained artefact uncompressed into a folder; return them by name."""
        place.mkdir(parents=True, exist_ok=True)
        out = {}
        for name, known in self.manifest["artefacts"].items():
            path = place / name
            path.write_bytes(_unpacked(self.folder / "artefacts" / f"{name}.gz"))
            out[name] = Artefact(path, known["sha256"])
        return out


@dataclass
class _Reader:
    """Reads sealed files and compares their hashes."""

    notes: list[str] = field(default_factory=list)

    def read(self, path: Path, sha: str, role: str | None = None) -> bytes:
        """Return a file's bytes; Inconsistent, with both hashes, unless they are the sealed ones.

        Line endings that a checkout turned into CRLF are put back and named.
        """
        data = read_plain(path)
        found = _hash(data, role)
        if found == sha:
            return data
        plain = data.replace(b"\r\n", b"\n")
        if plain != data and _hash(plain, role) == sha:
            self.notes.append(f"{path.name} differs in its line endings only (CRLF)")
            return plain
        raise Inconsistent(
            f"{path.name} is not what was sealed: its hash is {found[:12]}…, sealed {sha[:12]}…",
            _TODO, file=path.name, found=found, sealed=sha,
        )  # fmt: skip


def _hash(data: bytes, role: str | None) -> str:
    return sha256(data) if role is None else digest(role, data)


def open_sealed(ws: Workspace, dossier: Dossier) -> Sealed:
    """Return what was frozen after comparing all of it; Inconsistent for the first difference."""
    if dossier.freeze is None:
        raise Inconsistent(f"{dossier.id} was never frozen")
    folder, reader = ws.frozen(dossier.id), _Reader()
    freeze = str(dossier.freeze["manifest"])
    data = reader.read(folder / "manifest.json", freeze, "manifest")
    try:
        return _opened(ws, dossier.id, folder, reader, json.loads(data), freeze)
    except (KeyError, TypeError, ValueError) as problem:
        raise Inconsistent(f"the manifest of {dossier.id} is malformed: {problem}", _TODO) from None


def _opened(
    ws: Workspace, id: str, folder: Path, reader: _Reader, manifest: dict[str, Any], freeze: str
) -> Sealed:
    _refuse_strangers(folder, manifest)
    reader.read(folder / "contract.yaml", manifest["contract_yaml"])
    contract = from_canonical(reader.read(folder / "contract.json", manifest["contract_json"]))
    seeds = Seeds.read(reader.read(ws.seeds_path(id), manifest["seeds"]), contract)
    _check_zip(reader.read(folder / "code.zip", manifest["code"]["zip"]), manifest["code"]["files"])
    for name, sha in manifest["tests"].items():
        reader.read(folder / "tests" / name, sha)
    for name, known in manifest["artefacts"].items():
        found = sha256(_unpacked(folder / "artefacts" / f"{name}.gz"))
        if found != known["sha256"]:
            raise Inconsistent(
                f"artefact {name} is not what was sealed: its hash is {found[:12]}…, sealed "
                f"{known['sha256'][:12]}…", _TODO,
            )  # fmt: skip
    reader.read(folder / "training.jsonl", manifest["training"])
    jobs = _jobs(reader.read(folder / "jobs.jsonl", manifest["jobs"]["file"]), manifest["jobs"])
    _check_working_copy(ws, id, reader, manifest)
    return Sealed(folder, freeze, manifest, contract, seeds, jobs, tuple(reader.notes))


def _refuse_strangers(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Raise Inconsistent for a symlink or a file that nobody sealed."""
    known = {"manifest.json", "contract.yaml", "contract.json", "code.zip", "jobs.jsonl"}
    known |= {"training.jsonl"}
    known |= {f"tests/{name}" for name in manifest["tests"]}
    known |= {f"artefacts/{name}.gz" for name in manifest["artefacts"]}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            raise Inconsistent(f"frozen/{name} is a symlink, and nothing sealed is one", _TODO)
        if path.is_file() and name not in known and "__pycache__" not in path.parts:
            raise Inconsistent(f"frozen/{name!r} was never sealed", "take it away")


def _check_zip(data: bytes, files: Mapping[str, str]) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if archive.namelist() != sorted(files):
            raise Inconsistent("code.zip holds other files than were sealed", _TODO)
        for name in archive.namelist():
            if sha256(archive.read(name)) != files[name]:
                raise Inconsistent(f"{name} in code.zip is not what was sealed", _TODO)


def _jobs(data: bytes, listed: Mapping[str, Any]) -> tuple[Job, ...]:
    jobs = tuple(job_from_json(json.loads(line)) for line in data.splitlines())
    if {job.id: job.digest for job in jobs} != listed["ids"] or len(jobs) != listed["count"]:
        raise Inconsistent("jobs.jsonl is not the sealed list of jobs", _TODO)
    return jobs


def _check_working_copy(
    ws: Workspace, id: str, reader: _Reader, manifest: Mapping[str, Any]
) -> None:
    """Raise Inconsistent where contracts/ID.yaml is not what was sealed any more."""
    path = ws.contract_path(id)
    if path.exists():
        try:
            reader.read(path, manifest["contract_yaml"])
        except Inconsistent as problem:
            raise Inconsistent(
                f"contracts/{id}.yaml was changed after the freeze: {problem.why}",
                f"restore it; the sealed one is artifacts/{id}/frozen/contract.yaml",
            ) from None


def _unpacked(path: Path) -> bytes:
    try:
        return gzip.decompress(read_plain(path))
    except (OSError, EOFError, zlib.error) as problem:
        raise Inconsistent(f"{path.name} cannot be unpacked: {problem}", _TODO) from None


def chain_head(path: Path, name: str) -> list[Any] | None:
    """Return ``[size, hash]`` of a memory, or None for an artefact that is no chain of its name."""
    try:
        head = chain.verify(path, "memory", name)
    except Inconsistent:
        return None
    return [head.size, head.hash] if head.size else None


def tree_differences(sealed: Sealed, closure: Mapping[str, bytes]) -> list[str]:
    """Return how the working tree's code differs from the sealed one, one sentence a file."""
    files, out = sealed.manifest["code"]["files"], []
    for name in sorted({*files, *closure}):
        data = closure.get(name)
        if data is None or name not in files:
            # Data files are found by playing, so only modules can be compared here.
            if name.endswith(".py"):
                out.append(f"{name} is {'missing' if data is None else 'new'} in the working tree")
        elif sha256(data) != files[name]:
            same = sha256(data.replace(b"\r\n", b"\n")) == files[name]
            out.append(f"{name} differs" + (" in its line endings only (CRLF)" if same else ""))
    return out


def manifest_bytes(manifest: Mapping[str, Any]) -> bytes:
    """Return the bytes of a manifest."""
    return canonical(manifest) + b"\n"
