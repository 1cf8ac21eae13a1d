"""What was witnessed, on disk, whole numbers only, never rewritten.

A memory is a list of `Trial`; on disk it is a hash chain with the role ``memory`` (JSONL, one
record a line). Nothing is ever changed or removed: `destroyed` counts what was witnessed and is
no longer there, by looking, so a zero is a finding and not an assumption. Each record also packs
into one 16-byte postal and back. Contract A section 2.3.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from echoctl.canon import canonical
from echoctl.chain import Chain, Head, origin, read
from echoctl.mind.roles import KINDS, ROLES, Shape, Trial
from echoctl.wsp import Postal

ROLE: Final = "memory"
"""The role of a memory's hashes (docs/formats.md)."""
DOMAIN: Final = 0x4D
"""The domain of a memory's postals, the letter M."""


class Memory:
    """An append-only list of trials, in a file or (without a path) only in this process."""

    __slots__ = ("_chain", "_trials", "_witnessed", "head", "name", "path")

    def __init__(self, name: str, path: Path | None = None, *, append: bool = False) -> None:
        """Read the chain in `path`, verifying it (Inconsistent if it does not hold).

        With `append` the file is created if need be and `witness` writes to it.
        """
        self.name = name
        self.path = path
        self._trials: list[Trial] = []
        self.head: Head = origin(ROLE, name)
        self._chain: Chain | None = None
        if path is not None:
            for link in read(path, ROLE, name):
                self._trials.append(trial_from_record(link.record))
                self.head = link.head
            if append:
                self._chain = Chain(path, ROLE, name)
        self._witnessed = list(self._trials)

    def __len__(self) -> int:
        return len(self._trials)

    def __iter__(self) -> Iterator[Trial]:
        return iter(self._trials)

    def witness(self, trial: Trial) -> None:
        """Add one trial at the end, on disk first."""
        if self._chain is not None:
            self.head = self._chain.append(record_of(trial))
        self._trials.append(trial)
        self._witnessed.append(trial)

    def close(self) -> None:
        """Close the file, if one is open for appending."""
        if self._chain is not None:
            self._chain.close()
            self._chain = None

    def destroyed(self) -> int:
        """Return how many witnessed trials are missing or different in this memory now."""
        if self._trials == self._witnessed:
            return 0
        return _lost(self._witnessed, self._trials)

    def destroyed_on_disk(self) -> int:
        """Return how many witnessed trials are missing or different in the file now.

        The file is read as it is, not through the chain's door: a broken chain is somebody
        else's error to raise; here each lost record counts.
        """
        if self.path is None:
            return 0
        found: list[Trial | None] = []
        if self.path.exists():
            for line in self.path.read_bytes().split(b"\n")[: len(self._witnessed)]:
                try:
                    found.append(trial_from_record(json.loads(line)))
                except (ValueError, KeyError, TypeError, IndexError):
                    found.append(None)
        return _lost(self._witnessed, found)

    def as_bytes(self) -> bytes:
        """Return the records as canonical lines without links (to compare two memories)."""
        return b"".join(canonical(record_of(trial)) + b"\n" for trial in self._trials)


def _lost(witnessed: list[Trial], found: list[Any]) -> int:
    kept = sum(1 for one, other in zip(witnessed, found, strict=False) if one == other)
    return len(witnessed) - kept


def record_of(trial: Trial) -> dict[str, Any]:
    """Return the JSON object that a memory's file holds for a trial."""
    return {
        "episode": trial.episode,
        "id": trial.id,
        "kind": trial.kind,
        "role": trial.role,
        "shape": list(trial.shape),
    }


def trial_from_record(record: Mapping[str, Any]) -> Trial:
    """Return the trial of a record; ValueError if a number is out of its range."""
    trial = Trial(
        record["episode"], record["id"], record["kind"], record["role"], Shape(*record["shape"])
    )
    numbers = (*trial[:4], *trial.shape)
    if any(type(number) is not int or number < 0 for number in numbers):
        raise ValueError(f"a trial is made of non-negative integers: {record}")
    if trial.id > 255 or trial.kind >= len(KINDS) or trial.role >= len(ROLES):
        raise ValueError(f"no such id, kind or role: {record}")
    return trial


def to_postal(trial: Trial) -> Postal:
    """Return a trial as a postal; what does not fit is refused when it is packed.

    ``src`` id; ``rel`` kind, plus 8 if it moves; ``dst`` role; ``time`` rank; ``e`` width and
    height of the board, border cells less 100, episode divided by 256; ``generator`` episode
    modulo 256; the referent is how many cells it had.
    """
    shape = trial.shape
    return Postal(
        src=trial.id,
        rel=trial.kind + 8 * shape.moves,
        dst=trial.role,
        time=shape.rank,
        e=(shape.width, shape.height, shape.border - 100, trial.episode // 256),
        domain=DOMAIN,
        generator=trial.episode % 256,
        slot=shape.cells // 256,
        seq=shape.cells % 256,
    )


def from_postal(postal: Postal) -> Trial:
    """Return the trial that `to_postal` wrote; ValueError for a postal of another domain."""
    if postal.domain != DOMAIN:
        raise ValueError(f"domain {postal.domain} is not a memory's ({DOMAIN})")
    width, height, border, episodes = postal.e
    shape = Shape(postal.rel // 8, postal.referent, border + 100, width, height, postal.time)
    return trial_from_record(
        {
            "episode": episodes * 256 + postal.generator,
            "id": postal.src,
            "kind": postal.rel % 8,
            "role": postal.dst,
            "shape": list(shape),
        }
    )
