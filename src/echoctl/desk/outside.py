"""For a stranger: the second opinion run as its own program, and the archive it needs."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from echoctl import verify as second
from echoctl.desk.workspace import Workspace, sha256
from echoctl.disk import read_plain, write_whole
from echoctl.errors import EchoError, Inconsistent, Refused, UsageError


@dataclass(frozen=True)
class Verified:
    """What the second opinion found about one track (`checks`: name, state, reason, said)."""

    id: str
    exit: int
    """0, 1 (no verdict, or a re-run that could not be made) or 5."""
    failures: int
    colour: str | None
    grade: str | None
    rehearsal: bool
    checks: tuple[Mapping[str, Any], ...]
    text: str
    """The canonical text that names each check that ran and each that did not."""
    summary: str
    """SHA-256 of `text`."""
    recorded: bool
    """Whether this run wrote a ledger line; the same result twice writes one."""

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints."""
        return {**asdict(self), "checks": [dict(check) for check in self.checks]}


@dataclass(frozen=True)
class Bundled:
    """An archive with all that a stranger needs, the verifier included."""

    id: str
    path: Path
    sha256: str
    files: int

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints."""
        return {**asdict(self), "path": str(self.path)}


def verify(
    ws: Workspace,
    id: str,
    *,
    rerun: int = 0,
    signers: Path | None = None,
    tsa_ca: Path | None = None,
    receipts: Sequence[str] = (),
    record: bool = True,
) -> Verified:
    """Let `echoctl.verify` check a track again, in a process of its own, and record the result.

    A result that fails is returned, not raised: its `exit` is 5 then.
    """
    ws.require(id)
    if record:
        # What a kill left of its line; where it cannot be recorded, the second opinion names it.
        with contextlib.suppress(EchoError, OSError):
            ws.settle(id)
    words = [str(ws.root), id, "--json", "--rerun", str(rerun)]
    for option, path in (("--signers", signers), ("--tsa-ca", tsa_ca)):
        if path is not None:
            words += [option, str(path.resolve())]
    for receipt in receipts:
        words += ["--receipt", receipt]
    done = subprocess.run(
        [sys.executable, "-I", str(Path(second.__file__).resolve()), *words],
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    try:
        (said,) = json.loads(done.stdout)["contracts"]
    except ValueError:
        raise UsageError(
            done.stderr.strip() or f"the verifier said nothing (exit {done.returncode})",
            f"there is nothing to verify before a freeze: echoctl status {id}",
        ) from None
    recorded = record and not said["failures"] and _record(ws, id, said)
    return Verified(
        id, said["exit"], said["failures"], said["colour"], said["grade"], said["rehearsal"],
        tuple(said["checks"]), said["text"], said["summary"], recorded,
    )  # fmt: skip


def verifiable(ws: Workspace) -> list[str]:
    """Return every track that says it is decided: by its ledger, a verdict file or a report.

    A ledger that lost its tail must not take its track out of sight.
    """
    return second.idents(second.Folder(ws.root), decided=True)


def _record(ws: Workspace, id: str, said: Mapping[str, Any]) -> bool:
    """Write a verification to the ledger of a decided track, unless the last one said the same."""
    try:
        with ws.writing(id) as ledger:
            before = ledger.dossier.verifications
            if not ledger.dossier.allows("verification"):
                return False
            if before and before[-1]["summary"] == said["summary"]:
                return False
            ledger.append("verification", {
                "colour": said["colour"], "grade": said["grade"], "failures": said["failures"],
                "summary": said["summary"],
            })  # fmt: skip
    except (Refused, Inconsistent, OSError):
        return False  # a verification reads; where it cannot be noted, it still holds
    return True


def bundle(ws: Workspace, id: str, *, to: Path | None = None) -> Bundled:
    """Write one zip with a frozen track's evidence and the verifier.

    ``python verify.py ARCHIVE`` needs Python alone. Development runs stay outside.
    """
    ws.require(id)
    if ws.dossier(id).freeze is None:
        raise Refused(f"{id} is not frozen: nothing to bundle yet", f"see: echoctl status {id}")
    files = _evidence(ws, id)
    files["verify.py"] = Path(second.__file__).read_bytes()
    files["README.txt"] = _README.format(id=id).encode()
    data = _zip({f"{id}-evidence/{name}": content for name, content in files.items()})
    path = (to or Path.cwd() / f"{id}-evidence.zip").resolve()
    if path.is_dir():
        path /= f"{id}-evidence.zip"
    try:
        write_whole(path, data)
    except OSError as problem:
        raise EchoError(f"{path}: {problem.strerror}", "name another place after --to") from None
    return Bundled(id, path, sha256(data), len(files))


def _evidence(ws: Workspace, id: str) -> dict[str, bytes]:
    """Return every file of a track's evidence by its path, and all published seeds."""
    paths = [path for path in ws.artifacts(id).rglob("*") if not path.is_dir()]
    paths += (ws.root / "seeds").glob("*.json")
    paths += ws.results_path(id).glob(f"{id}.*")
    paths += [path for path in (ws.results_path(id) / id).rglob("*") if not path.is_dir()]
    out = {}
    for path in sorted(paths):
        name = path.relative_to(ws.root).as_posix()
        inside = name.removeprefix(f"artifacts/{id}/")
        if inside.startswith("dev/") or path.name.endswith(".part") or "__pycache__" in name:
            continue
        out[name] = read_plain(path)
    return out


def _zip(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return buffer.getvalue()


_README = """\
The evidence of {id}, sealed by echoctl.

    python verify.py .              checks everything again; needs Python 3.11, nothing else
    python verify.py . --rerun 4    also plays four jobs again; needs the packages that
                                    artifacts/{id}/frozen/manifest.json names

This verifier came with the evidence. Whoever made the one could have made the other: take
verify.py from a place that you trust, and compare receipts that were kept outside (--receipt).
"""
