"""Outcome files: how a job's rows are written, checked where they are returned, and read back.

Format: docs/formats.md, "exam/jobs". Compressed with a zero clock, hashed uncompressed.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from echoctl.canon import MAX_INT, canonical
from echoctl.disk import fault
from echoctl.errors import CheckFailed, Inconsistent
from echoctl.track.job import ROW_KEYS, Job
from echoctl.track.outcome import Outcome

SCHEMA: Final = "echoctl/outcome/1"
_WORDS: Final = frozenset({"stage", "family"})
_LEVEL: Final = 6


def plain_line(values: Sequence[object]) -> bytes:
    """Return the canonical line of a flat list of integers and strings.

    For these JSON's own compact form is RFC 8785, and many times faster.
    """
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def columns_of(measures: Sequence[str]) -> tuple[str, ...]:
    """Return a row's columns: `ROW_KEYS`, then the measures in the order of their names."""
    return (*ROW_KEYS, *sorted(measures))


class OutcomeWriter:
    """Streams one job's outcome to a file that nobody else writes; strict about every row.

    A row has exactly the columns; ``stage`` and ``family`` are strings, everything else is an
    integer (never a bool or a float) of at most 2**53 - 1. Anything else raises CheckFailed
    that names the job, the row and the field. Memory does not grow with the rows.
    """

    def __init__(self, path: Path, job: Job, measures: Sequence[str]) -> None:
        self.rows = 0
        self._job = job
        self._columns = columns_of(measures)
        self._keys = frozenset(self._columns)
        self._hash = hashlib.sha256(b"echoctl/outcome/1\n")
        self._file = path.open("xb")
        self._gzip = gzip.GzipFile(
            filename="", mode="wb", compresslevel=_LEVEL, fileobj=self._file, mtime=0
        )
        fault("worker.begin")
        self._line({
            "columns": list(self._columns), "job": job.id, "job_digest": job.digest,
            "keys": dict(job.keys), "schema": SCHEMA,
        })  # fmt: skip

    def __enter__(self) -> OutcomeWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        # Closing what was compressed first: left to the collector it would write to a closed file.
        # A disk that is full has already been told by the error on its way out.
        with contextlib.suppress(OSError):
            self._gzip.close()
        with contextlib.suppress(OSError):
            self._file.close()

    def row(self, row: Mapping[str, object]) -> None:
        """Check and write one row."""
        if row.keys() != self._keys:
            missing = ", ".join(sorted(self._keys - row.keys()))
            extra = ", ".join(sorted(map(str, row.keys() - self._keys)))
            raise self._wrong("; ".join(
                part for part in (missing and f"lacks {missing}", extra and f"has also {extra}")
                if part
            ))  # fmt: skip
        values = [row[name] for name in self._columns]
        for name, value in zip(self._columns, values, strict=True):
            if name in _WORDS:
                if type(value) is not str or len(value) > 200:
                    raise self._wrong(f"{name} must be a short string, not {value!r:.80}")
            elif type(value) is not int:
                raise self._wrong(
                    f"{name} must be an integer, not {type(value).__name__} {value!r:.80}"
                )
            elif not -MAX_INT <= value <= MAX_INT:
                raise self._wrong(f"{name} is beyond 2^53 - 1: {value!r:.80}")
        self._write(plain_line(values))
        self.rows += 1
        fault("worker.row")

    def finish(self, *, artefacts: Mapping[str, str], digests: Mapping[str, str]) -> str:
        """Write the end line, sync the file and return the outcome's hash (hex)."""
        self._line({
            "artefacts": dict(artefacts), "digests": dict(digests), "end": True, "rows": self.rows,
        })  # fmt: skip
        self._gzip.close()
        self._file.flush()
        fault("worker.end")
        os.fsync(self._file.fileno())
        fault("worker.synced")
        return self._hash.hexdigest()

    def _line(self, value: object) -> None:
        self._write(canonical(value) + b"\n")

    def _write(self, data: bytes) -> None:
        self._hash.update(data)
        self._gzip.write(data)

    def _wrong(self, what: str) -> CheckFailed:
        return CheckFailed(
            f"job {self._job.id}, row {self.rows}: {what}",
            "mend the track: a row is integers, with the contract's measures and nothing else",
            job=self._job.id, row=self.rows,
        )  # fmt: skip


def unpacked(path: Path) -> Iterator[bytes]:
    """Yield an outcome's uncompressed lines; Inconsistent where the file is damaged."""
    try:
        with gzip.open(path, "rb") as source:
            yield from source
    except (OSError, EOFError, zlib.error) as problem:
        raise Inconsistent(
            f"{path.name} cannot be unpacked: {problem}", "restore it from the archive"
        ) from None


def outcome_hash(path: Path) -> str:
    """Return an outcome file's hash, over its uncompressed bytes."""
    hashed = hashlib.sha256(b"echoctl/outcome/1\n")
    for line in unpacked(path):
        hashed.update(line)
    return hashed.hexdigest()


def salvaged(path: Path) -> bytes:
    """Return what can still be unpacked of a half-written outcome file."""
    unpack = zlib.decompressobj(wbits=31)
    out = bytearray()
    try:
        with path.open("rb") as source:
            while data := source.read(1 << 16):
                out += unpack.decompress(data)
    except zlib.error:
        pass
    return bytes(out)


def begins_with(path: Path, start: bytes) -> bool:
    """Return whether an outcome's uncompressed bytes begin with `start`."""
    at = 0
    for line in unpacked(path):
        piece = start[at : at + len(line)]
        if not line.startswith(piece):
            return False
        at += len(line)
        if at >= len(start):
            return True
    return at >= len(start)


def read_outcome(path: Path) -> Outcome:
    """Return one job's outcome; Inconsistent where the file is not exactly as it is written."""
    try:
        return _parse(path)
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise Inconsistent(
            f"{path.name} is no outcome: {problem}", "restore it from the archive"
        ) from None


def _parse(path: Path) -> Outcome:
    head: dict[str, Any] | None = None
    end: dict[str, Any] | None = None
    rows: list[tuple[int | str, ...]] = []
    width = 0
    for line in unpacked(path):
        if end is not None:
            raise ValueError("lines follow the end")
        value = json.loads(line)
        written = plain_line(value) if isinstance(value, list) else canonical(value) + b"\n"
        if written != line:
            raise ValueError("a line is not in canonical form")
        if head is None:
            head = value
            if value["schema"] != SCHEMA or tuple(value["columns"][: len(ROW_KEYS)]) != ROW_KEYS:
                raise ValueError("the first line is not an outcome's")
            width = len(value["columns"])
        elif isinstance(value, list):
            if len(value) != width:
                raise ValueError(f"row {len(rows)} has {len(value)} entries, not {width}")
            if any(type(entry) not in (int, str) for entry in value):
                raise ValueError(f"row {len(rows)} holds something that is no integer")
            rows.append(tuple(value))
        else:
            end = value
    if head is None or end is None or end["end"] is not True:
        raise ValueError("it has no end")
    if end["rows"] != len(rows):
        raise ValueError(f"{len(rows)} rows where the end says {end['rows']}")
    return Outcome(
        job=head["job"], keys=head["keys"], columns=tuple(head["columns"]), rows=rows,
        digests=end["digests"],
    )  # fmt: skip
