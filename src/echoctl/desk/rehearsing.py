"""A rehearsal: the whole life in a throw-away workspace, on development worlds."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from echoctl.canon import canonical
from echoctl.contract import Contract
from echoctl.contract.canonical import canonical_json
from echoctl.contract.rehearsal import rehearsal_of
from echoctl.desk.checking import Preflight, preflight
from echoctl.desk.examining import Decided, exam
from echoctl.desk.overview import load
from echoctl.desk.sealing import Frozen, freeze
from echoctl.desk.workspace import Workspace
from echoctl.disk import make_folder, write_whole
from echoctl.errors import Refused
from echoctl.runner.run import Engine, Observer
from echoctl.track.loading import find_track

MARK = "REHEARSAL"
"""The file that says that a folder is a rehearsal and may be thrown away."""

UNITS = 3
"""How many units are rehearsed unless somebody says otherwise."""


@dataclass(frozen=True)
class Rehearsal:
    """A rehearsed life. Nothing in it decides; everything in it is marked REHEARSAL."""

    id: str
    workspace: Workspace
    kept: bool
    units: int
    preflight: Preflight
    frozen: Frozen
    decided: Decided

    def discard(self) -> None:
        """Throw the workspace away unless it was to be kept."""
        if not self.kept:
            shutil.rmtree(self.workspace.root, ignore_errors=True)

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints."""
        return {
            "id": self.id, "mark": "REHEARSAL", "units": self.units, "kept": self.kept,
            "workspace": str(self.workspace.root) if self.kept else None,
            "preflight": self.preflight.as_json(), "freeze": self.frozen.as_json(),
            "exam": self.decided.as_json(),
        }  # fmt: skip


def rehearse(
    ws: Workspace,
    id: str,
    *,
    units: int | None = None,
    keep: Path | None = None,
    workers: int = 2,
    observer: Observer | None = None,
    engine: Engine | None = None,
) -> Rehearsal:
    """Play preflight, freeze, exam and verdict with development worlds in the exam's place.

    The workspace is a temporary folder, or `keep`, which must be new, empty or an earlier
    rehearsal. Call `Rehearsal.discard` when its report is written.
    """
    contract = load(ws, id)
    count = min(UNITS, contract.unit.count) if units is None else units
    small = rehearsal_of(contract, count)
    root = _place(keep)
    there = replace(ws, root=root)
    try:
        _furnish(ws, there, small)
        with there.writing(id) as ledger:
            ledger.incident(None, "rehearsal", "development worlds stand in for the exam")
        checked = preflight(there, id, workers=workers, observer=observer)
        frozen = freeze(there, id, workers=workers, observer=observer, engine=engine)
        decided = exam(there, id, workers=workers, observer=observer, engine=engine)
    except BaseException:
        if keep is None:
            shutil.rmtree(root, ignore_errors=True)
        raise
    return Rehearsal(id, there, keep is not None, count, checked, frozen, decided)


def _place(keep: Path | None) -> Path:
    if keep is None:
        return Path(tempfile.mkdtemp(prefix="echoctl-rehearsal-")).resolve()
    if keep.exists() and any(keep.iterdir()):
        if not (keep / MARK).is_file():
            raise Refused(
                f"{keep} is not empty and no rehearsal: it stays as it is",
                "name a new folder after --keep",
            )
        shutil.rmtree(keep)
    make_folder(keep.resolve())
    return keep.resolve()


def _furnish(ws: Workspace, there: Workspace, contract: Contract) -> None:
    """Write the contract, and copy what a workspace track brings along."""
    write_whole(there.root / MARK, b"A rehearsal of echoctl: nothing in here decides anything.\n")
    data = canonical(canonical_json(contract)) + b"\n"  # JSON is YAML
    write_whole(there.contract_path(contract.id), data)
    for name in contract.tests:
        write_whole(there.root / name, (ws.root / name).read_bytes())
    source = find_track(contract.track, ws.root)
    if source.folder is not None:
        shutil.copytree(
            ws.root / source.folder, there.root / source.folder, dirs_exist_ok=True,
            ignore=_needless,
        )  # fmt: skip


def _needless(folder: str, names: list[str]) -> set[str]:
    """Return what a rehearsal does not need of a track's folder."""
    rooms = {"artifacts", "seeds", "docs", "contracts", "__pycache__"}
    return {name for name in names if name in rooms or name.startswith(".")}
