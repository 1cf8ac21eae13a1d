"""A track's ledger on disk: the one door through which its events are read and written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from echoctl import chain
from echoctl.canon import canonical, digest
from echoctl.disk import fault, locked, make_folder
from echoctl.dossier import Dossier
from echoctl.errors import EchoError, Inconsistent, Refused

ROLE = "ledger"
_TORN = "the last line was torn: "

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
                raise _explained(path, problem) from None
            return dossier, True
        dossier.add(link.record, (link.head.size, link.head.hash))


def _explained(path: Path, problem: Inconsistent) -> Inconsistent:
    """Name a line-ending difference as such; nothing else about the ledger is excused."""
    if b"\r\n" not in path.read_bytes():
        return problem
    return Inconsistent(
        f"{path.name} has CRLF line endings: a checkout changed them, perhaps nothing else",
        "check it out as it was committed: artifacts/** -text in .gitattributes",
    )


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
        if torn:
            chain.quarantine(path)
        self._torn = self._untold()
        self._chain = chain.Chain(path, ROLE, id, sync=True)

    def now(self) -> str:
        """Return the time for the next line, which is never earlier than the last one's.

        EchoError where the clock runs backwards, unless that was acknowledged: then an incident
        says so. Ask before reading the head that a line is to name.
        """
        self._tell_torn()
        time, last = self._clock(), self.dossier.time
        if time >= last:
            return time
        if not self._acknowledge:
            raise EchoError(
                f"the clock runs backwards: the ledger's last line is of {last}, now is {time}",
                "set the clock right, or add --acknowledge-clock to record it as an incident",
            )
        text = f"the clock went back from {last} to {time}, acknowledged"
        self.append("incident", {"job": None, "kind": "clock", "text": text}, time=time)
        return time

    def append(self, event: str, data: Mapping[str, Any], *, time: str = "") -> None:
        """Write one event, at `time` or now. Refused where it is not legal."""
        if not self.dossier.allows(event):
            raise Refused(f"{event} cannot follow in state {self.dossier.state}")
        at = time or self.now()
        size, previous = self.dossier.head
        record = {"data": dict(data), "event": event, "time": at}
        whole = {**record, "n": size, "prev": previous}
        # The dossier first: a line that does not follow is never written.
        self.dossier.add(whole, (size + 1, digest(ROLE, canonical(whole))))
        fault("ledger.before")
        self._tear(canonical(whole))
        self._chain.append(record)
        fault("ledger.written")
        self._tell_torn()
        fault("ledger.done")

    def incident(self, job: str | None, kind: str, text: str) -> None:
        """Record an incident."""
        self.append("incident", {"job": job, "kind": kind, "text": text})

    def close(self) -> None:
        """Close the file."""
        self._chain.close()

    def _tell_torn(self) -> None:
        """Record a torn line that was moved aside: first of all, or right after a cut claim."""
        names, self._torn = self._torn, []
        for name in names:
            self.incident(None, "torn-line", f"{_TORN}{name}")

    def _untold(self) -> list[str]:
        """Return the torn lines moved aside of which no incident tells: a crash came between."""
        told = {one["text"] for one in self.dossier.incidents if one["kind"] == "torn-line"}
        found = sorted(path.name for path in self._path.parent.glob(f"{self._path.name}.torn-*"))
        return [name for name in found if f"{_TORN}{name}" not in told]

    def _tear(self, line: bytes) -> None:
        """Leave half a line behind if the crash suite asks to die inside a write."""
        if os.environ.get("ECHOCTL_FAULT", "").startswith("ledger.half"):
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
