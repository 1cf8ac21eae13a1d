"""A track's ledger on disk: the one door through which its events are read and written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from echoctl import chain
from echoctl.canon import canonical
from echoctl.disk import fault, locked, make_folder
from echoctl.dossier import Dossier
from echoctl.errors import EchoError, Inconsistent, Refused

ROLE = "ledger"

Clock = Callable[[], str]
"""Returns the time as ``YYYY-MM-DDTHH:MM:SSZ``."""


def utc_now() -> str:
    """Return the time in UTC. ``ECHOCTL_FAULT=clock:-3600`` sets it back, for the crash suite."""
    now = datetime.now(UTC)
    kind, _, shift = os.environ.get("ECHOCTL_FAULT", "").partition(":")
    if kind == "clock":
        now += timedelta(seconds=int(shift))
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def read_dossier(path: Path, id: str) -> tuple[Dossier, bool]:
    """Return what a ledger proves, and whether its last line is torn.

    A torn line is no event; whoever writes next moves it aside and records it. Raises
    Inconsistent for anything else that does not hold.
    """
    dossier = empty(id)
    torn = False
    lines = chain.read(path, ROLE, id)
    while True:
        try:
            link = next(lines)
        except StopIteration:
            return dossier, torn
        except Inconsistent as problem:
            if problem.facts.get("torn") is not True:
                raise
            return dossier, True
        dossier.add(link.record, (link.head.size, link.head.hash))


def empty(id: str) -> Dossier:
    """Return the dossier of a track without events."""
    origin = chain.origin(ROLE, id)
    return Dossier(id, head=(origin.size, origin.hash))


class Ledger:
    """A ledger open for writing, with the dossier of everything in it.

    Every append is checked against the dossier first, written as one line, and synced.
    """

    def __init__(self, path: Path, id: str, clock: Clock, *, acknowledge_clock: bool) -> None:
        make_folder(path.parent)
        self.dossier, torn = read_dossier(path, id)
        self._clock = clock
        self._acknowledge = acknowledge_clock
        self._path = path
        aside = chain.quarantine(path) if torn else None
        self._chain = chain.Chain(path, ROLE, id, sync=True)
        if aside is not None:
            self.append("incident", {
                "job": None, "kind": "torn-line", "text": f"the last line was torn: {aside.name}",
            })  # fmt: skip

    def append(self, event: str, data: Mapping[str, Any]) -> None:
        """Write one event. Refused where it is not legal, EchoError where the clock runs back."""
        if not self.dossier.allows(event):
            raise Refused(f"{event} cannot follow in state {self.dossier.state}")
        time = self._time(event, data)
        record = {"data": dict(data), "event": event, "time": time}
        fault("ledger.before")
        self._tear(record)
        head = self._chain.append(record)
        fault("ledger.written")
        self.dossier.add(
            {**record, "n": head.size - 1, "prev": self.dossier.head[1]}, (head.size, head.hash)
        )
        fault("ledger.done")

    def incident(self, job: str | None, kind: str, text: str) -> None:
        """Record an incident."""
        self.append("incident", {"job": job, "kind": kind, "text": text})

    def close(self) -> None:
        """Close the file."""
        self._chain.close()

    def _time(self, event: str, data: Mapping[str, Any]) -> str:
        time, last = self._clock(), self.dossier.time
        if time >= last or data.get("kind") == "clock":
            return time
        if not self._acknowledge:
            raise EchoError(
                f"the clock runs backwards: the ledger's last line is of {last}, now is {time}",
                "set the clock right, or add --acknowledge-clock to record it as an incident",
            )
        self.incident(None, "clock", f"the clock went back from {last} to {time}, acknowledged")
        return self._time(event, data)

    def _tear(self, record: Mapping[str, Any]) -> None:
        """Leave half a line behind if the crash suite asks to die inside a write."""
        if os.environ.get("ECHOCTL_FAULT", "").startswith("ledger.half"):
            size, previous = self.dossier.head
            line = canonical({**record, "n": size, "prev": previous})
            before = self._path.stat().st_size
            with self._path.open("ab") as out:
                out.write(line[: len(line) // 2])
                out.flush()
                fault("ledger.half")
                out.truncate(before)


@contextlib.contextmanager
def writing(
    path: Path, id: str, clock: Clock, *, acknowledge_clock: bool = False
) -> Iterator[Ledger]:
    """Open a ledger for writing under the track's lock; Refused at once where it is held."""
    with locked(path.parent, id):
        ledger = Ledger(path, id, clock, acknowledge_clock=acknowledge_clock)
        try:
            yield ledger
        finally:
            ledger.close()
