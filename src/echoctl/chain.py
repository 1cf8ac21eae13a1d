"""Append-only hash chain: the ledger and an agent's memory are the same thing.

A chain is a file of canonical JSON objects, one a line, each with two fields of the chain's own:
``n`` counts lines from 0 and ``prev`` is the hash of the line before it (docs/formats.md)::

    prev = H(role, previous line without its newline), and H(role, name) for the first line

A *head* is (number of lines, hash of the last line). Whoever keeps a head can tell later that a
longer chain still begins with the same lines; nobody can tell from the file alone that its tail
was cut, which is why heads are kept elsewhere (receipts, manifests).

Appending costs the same whatever the length: the file is read once, when it is opened, and only
written afterwards. A line without its newline is a *torn* line, left by a crash in the middle of
a write; it is never read and never repaired in silence: `quarantine` moves it aside.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from echoctl.canon import canonical, digest, plain
from echoctl.disk import sync_folder, write_once
from echoctl.errors import Inconsistent

OWN_FIELDS = frozenset({"n", "prev"})
"""The fields that the chain writes; a record that brings its own is refused."""


class Head(NamedTuple):
    """Where a chain ends: how many lines, and the hash of the last one (hex SHA-256)."""

    size: int
    hash: str


class Link(NamedTuple):
    """One verified line: the whole object (``n`` and ``prev`` included) and the head after it."""

    record: dict[str, Any]
    head: Head


def origin(role: str, name: str) -> Head:
    """Return the head of an empty chain: ``(0, H(role, name))``."""
    return Head(0, digest(role, name.encode("utf-8")))


def read(path: Path, role: str, name: str) -> Iterator[Link]:
    """Yield every line of a chain in order, verified, holding one line in memory at a time.

    A file that does not exist is an empty chain. Raises Inconsistent at the first line that is
    not canonical, out of count, not linked to the one before, or torn.
    """
    if not path.exists():
        return
    head = origin(role, name)
    with path.open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                raise Inconsistent(
                    f"{path.name}: line {head.size + 1} is torn (no newline)",
                    "a crash leaves such a line; move it aside with quarantine and record it",
                    line=head.size + 1,
                    torn=True,
                )
            record, head = _follow(path, role, head, line[:-1])
            yield Link(record, head)


def verify(path: Path, role: str, name: str) -> Head:
    """Return the head of the chain in `path` after checking every line (errors as in `read`)."""
    head = origin(role, name)
    for link in read(path, role, name):
        head = link.head
    return head


def torn(path: Path) -> bytes:
    """Return the bytes after the last newline: empty unless a write was cut."""
    if not path.exists():
        return b""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        tail = b""
        while end > 0:
            start = max(0, end - 65536)
            file.seek(start)
            block = file.read(end - start)
            cut = block.rfind(b"\n")
            if cut >= 0:
                return block[cut + 1 :] + tail
            tail = block + tail
            end = start
        return tail


def quarantine(path: Path) -> Path | None:
    """Move a torn last line into its own file beside the chain; return that file, or None.

    The torn bytes are written and synced before the chain is shortened, so that a crash in
    between loses nothing. The caller records what happened.
    """
    tail = torn(path)
    if not tail:
        return None
    number = 0
    while (aside := path.with_name(f"{path.name}.torn-{number}")).exists():
        number += 1
    write_once(aside, tail)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - len(tail))
        file.flush()
        os.fsync(file.fileno())
    return aside


class Chain:
    """A chain open for appending. Use it as a context manager, or `close` it.

    Opening verifies the whole file once (Inconsistent when it does not hold, as in `read`).
    Appending refuses a file that somebody else has changed in length meanwhile.
    """

    __slots__ = ("_bytes", "_descriptor", "_head", "_role", "_sync", "path")

    def __init__(self, path: Path, role: str, name: str, *, sync: bool = False) -> None:
        """Open or create the chain; with `sync` every append reaches the disk before returning."""
        self.path = path
        self._role = role
        self._sync = sync
        self._head = verify(path, role, name)
        self._descriptor = os.open(
            path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644
        )
        self._bytes = os.fstat(self._descriptor).st_size
        if sync:
            sync_folder(path.parent)

    @property
    def head(self) -> Head:
        """The head after the last append."""
        return self._head

    def append(self, record: Mapping[str, Any]) -> Head:
        """Write one record with its ``n`` and ``prev``; return the new head.

        Raises ValueError for a record that has no canonical bytes or that brings a field of the
        chain's own, Inconsistent when the file is not the one that was left.
        """
        if not OWN_FIELDS.isdisjoint(record):
            raise ValueError("'n' and 'prev' are written by the chain")
        line = canonical({**record, "n": self._head.size, "prev": self._head.hash})
        if os.fstat(self._descriptor).st_size != self._bytes:
            raise Inconsistent(
                f"{self.path.name} changed while it was open: another process wrote to it",
                "let one process at a time append, then verify the chain",
            )
        data = line + b"\n"
        written = os.write(self._descriptor, data)
        while written < len(data):
            written += os.write(self._descriptor, data[written:])
        if self._sync:
            os.fsync(self._descriptor)
        self._bytes += len(data)
        self._head = Head(self._head.size + 1, digest(self._role, line))
        return self._head

    def close(self) -> None:
        """Close the file; closing twice is harmless."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _follow(path: Path, role: str, head: Head, line: bytes) -> tuple[dict[str, Any], Head]:
    """Check one line against the head before it; return its object and the head after it."""
    at = f"{path.name}: line {head.size + 1}"
    try:
        record = _decode(line.decode("utf-8"))
        same = isinstance(record, dict) and (plain(record) == line or canonical(record) == line)
    except (ValueError, RecursionError):
        same = False
    if not same:
        raise Inconsistent(
            f"{at} is not a canonical JSON object",
            "restore the file from a copy that verifies",
            line=head.size + 1,
        )
    if record.get("n") != head.size or record.get("prev") != head.hash:
        raise Inconsistent(
            f"{at} does not follow the line before it: it says n={record.get('n')!r}, "
            f"prev={str(record.get('prev'))[:12]}…; the chain says n={head.size}, "
            f"prev={head.hash[:12]}…",
            "a line was changed, removed or inserted; restore the file from a copy that verifies",
            line=head.size + 1,
        )
    return record, Head(head.size + 1, digest(role, line))


def _no_number(text: str) -> object:
    raise ValueError(f"{text} is not an integer")


_decode = json.JSONDecoder(parse_float=_no_number, parse_constant=_no_number).decode
