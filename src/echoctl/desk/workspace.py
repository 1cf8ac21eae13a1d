"""A workspace: a folder with contracts, seeds, artefacts and results, and the doors to each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from echoctl import chain
from echoctl.desk.ledger import Clock, Ledger, empty, read_dossier, utc_now, writing
from echoctl.disk import read_plain
from echoctl.dossier import Dossier
from echoctl.errors import Inconsistent, UsageError

if TYPE_CHECKING:
    # Reading contracts takes longer to load than everything else here, and `list` goes without.
    from echoctl.contract import Contract, Seeds


def sha256(data: bytes) -> str:
    """Return the plain SHA-256 as hex."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class Workspace:
    """A folder with ``contracts/``, ``seeds/``, ``artifacts/`` and ``docs/``."""

    root: Path
    clock: Clock = utc_now
    acknowledge_clock: bool = False
    """Whether a clock that ran backwards may be recorded and passed over."""

    @classmethod
    def find(cls, path: Path | None = None, *, acknowledge_clock: bool = False) -> Workspace:
        """Return the workspace at `path`, or the nearest one at or above the current folder.

        UsageError where there is none.
        """
        if path is not None:
            if not _is_workspace(path):
                raise UsageError(
                    f"{path} is no workspace: it has no contracts/",
                    "name a folder that has one, or begin one with echoctl new ID",
                )
            return cls(path.resolve(), acknowledge_clock=acknowledge_clock)
        here = Path.cwd().resolve()
        for folder in (here, *here.parents):
            if _is_workspace(folder):
                return cls(folder, acknowledge_clock=acknowledge_clock)
        raise UsageError(
            "there is no workspace here or above: no folder with contracts/",
            "go to one, or name it with --workspace DIR",
        )

    def contract_path(self, id: str) -> Path:
        """Return where the working contract lies."""
        return self.root / "contracts" / f"{id}.yaml"

    def seeds_path(self, id: str) -> Path:
        """Return where the published seeds lie."""
        return self.root / "seeds" / f"{id}.json"

    def artifacts(self, id: str) -> Path:
        """Return the folder of everything that happened to a track."""
        return self.root / "artifacts" / id

    def frozen(self, id: str) -> Path:
        """Return the sealed folder."""
        return self.artifacts(id) / "frozen"

    def exam(self, id: str) -> Path:
        """Return the exam's folder."""
        return self.artifacts(id) / "exam"

    def ledger_path(self, id: str) -> Path:
        """Return the ledger's file."""
        return self.artifacts(id) / "ledger.jsonl"

    def results_path(self, id: str) -> Path:
        """Return the folder in which a track's report lies."""
        return self.root / "docs" / "results"

    def ids(self) -> list[str]:
        """Return every track that has a contract or a ledger, sorted."""
        contracts = {path.stem for path in (self.root / "contracts").glob("*.yaml")}
        ledgers = {path.parent.name for path in (self.root / "artifacts").glob("*/ledger.jsonl")}
        return sorted(contracts | ledgers)

    def require(self, id: str) -> None:
        """Raise UsageError, naming those there are, unless the track exists."""
        known = self.ids()
        if id not in known:
            raise UsageError(
                f"there is no track {id!r} in this workspace",
                f"known: {', '.join(known) or 'none'}",
            )

    def contract_bytes(self, id: str) -> bytes:
        """Return the working contract's bytes."""
        path = self.contract_path(id)
        if not path.exists():
            raise UsageError(f"contracts/{id}.yaml is missing", "restore the contract")
        return read_plain(path)

    def working_contract(self, id: str) -> Contract:
        """Return the contract as it is being worked on (before a freeze)."""
        from echoctl.contract import load_contract

        self.require(id)
        contract = load_contract(self.contract_bytes(id), f"contracts/{id}.yaml")
        if contract.id != id:
            raise UsageError(
                f"contracts/{id}.yaml is the contract {contract.id}",
                "give the file the name of its id",
            )
        return contract

    def sealed_contract(self, id: str) -> Contract:
        """Return the contract that was frozen, from its canonical form."""
        from echoctl.contract.canonical import from_canonical

        contract = from_canonical(read_plain(self.frozen(id) / "contract.json"))
        if contract.id != id:
            raise Inconsistent(f"the sealed contract of {id} is {contract.id}'s")
        return contract

    def seeds_of(self, contract: Contract) -> Seeds:
        """Return the published seeds, proved to be the contract's own."""
        from echoctl.contract import Seeds

        path = self.seeds_path(contract.id)
        if not path.exists():
            raise UsageError(
                f"seeds/{contract.id}.json is not published yet",
                f"run: echoctl preflight {contract.id}",
            )
        return Seeds.read(read_plain(path), contract)

    def dossier(self, id: str) -> Dossier:
        """Return what the track's ledger proves; a draft where there is no ledger."""
        path = self.ledger_path(id)
        return read_dossier(path, id)[0] if path.exists() else empty(id)

    @contextmanager
    def writing(self, id: str) -> Iterator[Ledger]:
        """Open the track's ledger for writing, under its lock."""
        self.require(id)
        with writing(
            self.ledger_path(id), id, self.clock, acknowledge_clock=self.acknowledge_clock
        ) as ledger:
            self._sweep(id)
            yield ledger

    def settle(self, id: str) -> None:
        """Move a torn last ledger line aside and record it, before the ledger is to be whole."""
        if chain.torn(self.ledger_path(id)):
            with self.writing(id) as ledger:
                ledger.now()  # tells of it

    def _sweep(self, id: str) -> None:
        """Take away temporary files that a crash left, now that nobody else can be writing.

        Half-written outcomes stay: they are compared with what is played again.
        """
        here = self.artifacts(id)
        rooms = (here, here / "witness", here / "reviews", here / "amendments", self.exam(id))
        stale = [path for room in rooms for path in room.glob(".*.part")]
        stale += (self.root / "seeds").glob(f".{id}.json.*.part")
        stale += self.results_path(id).glob(f".{id}.*.part")
        for path in stale:
            path.unlink()


def _is_workspace(folder: Path) -> bool:
    return (folder / "contracts").is_dir()
