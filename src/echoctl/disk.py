"""How bytes reach the disk: whole, synced and, where it matters, once.

Everything that a later reader trusts is written as temporary file, sync, rename (or link, which
fails where the name is taken), sync of the folder. Between these steps lie named fault points:
``ECHOCTL_FAULT=point:n`` kills the process with SIGKILL the n-th time it reaches one, so that a
crash suite can walk all of `FAULT_POINTS` (lifecycle.md, "Crashes").
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import gzip
import io
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from echoctl.errors import Inconsistent, Refused

FAULT_POINTS: Final = (
    # a file that is replaced whole: seeds, manifest, verdict, report, freeze artefacts
    "replace.before", "replace.half", "replace.written", "replace.synced", "replace.renamed",
    "replace.done",
    # a file that is written once: claim, outcomes, reviews
    "once.before", "once.half", "once.written", "once.synced", "once.linked", "once.done",
    # a ledger line
    "ledger.before", "ledger.half", "ledger.written", "ledger.done",
    # the folder of a freeze, renamed into place when it is complete
    "freeze.sealing", "freeze.sealed", "freeze.renamed",
    # between the steps of an exam
    "exam.locked", "exam.claimed", "exam.started", "exam.returned", "exam.published",
    "exam.received", "exam.aside", "exam.all-in", "exam.completed", "exam.decided",
    "exam.recorded",
    # inside a worker, while it writes an outcome
    "worker.begin", "worker.row", "worker.end", "worker.synced", "worker.reported",
)  # fmt: skip
"""Every fault point, in one place."""

REFUSALS: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""What an operating system says where the disk is to blame and not who writes to it."""

_WANTED: Final = os.environ.get("ECHOCTL_FAULT", "")
"""Read once: a point lies on the path of every row."""

_reached: Counter[str] = Counter()


def fault(point: str) -> None:
    """Die here with SIGKILL if ``ECHOCTL_FAULT`` names this point and this visit of it."""
    if not _WANTED:
        return
    if point not in FAULT_POINTS:
        raise ValueError(f"not a fault point: {point}")
    _reached[point] += 1
    name, _, visit = _WANTED.partition(":")
    if name == point and _reached[point] == int(visit or "1"):
        os.kill(os.getpid(), signal.SIGKILL)


def sync_folder(folder: Path) -> None:
    """Sync a folder's entries, so that a new name in it survives a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, synced; nothing happens when it is there."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees the old bytes or the new ones, never a mixture."""
    make_folder(path.parent)
    fault("replace.before")
    temporary = _temporary(path, data, "replace")
    temporary.replace(path)
    fault("replace.renamed")
    sync_folder(path.parent)
    fault("replace.done")


def write_once(path: Path, data: bytes) -> None:
    """Write a file whose name must be free; Refused where it is taken."""
    make_folder(path.parent)
    fault("once.before")
    temporary = _temporary(path, data, "once")
    publish(temporary, path)


def publish(part: Path, final: Path) -> None:
    """Give a finished, synced temporary file its final name, which must be free.

    Raises Refused where the name is taken; then the temporary file stays.
    """
    try:
        os.link(part, final)
    except FileExistsError:
        raise Refused(
            f"{final.name} is written already, and it is written once", "keep what is there"
        ) from None
    fault("once.linked")
    part.unlink()
    sync_folder(final.parent)
    fault("once.done")


def _temporary(path: Path, data: bytes, kind: str) -> Path:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            half = len(data) // 2
            out.write(data[:half])
            out.flush()
            fault(f"{kind}.half")
            out.write(data[half:])
            out.flush()
            fault(f"{kind}.written")
            os.fchmod(out.fileno(), 0o644)
            os.fsync(out.fileno())
        fault(f"{kind}.synced")
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def read_plain(path: Path) -> bytes:
    """Return the bytes of a regular file; Inconsistent for a symlink or anything else.

    Evidence behind a symlink could change without its folder changing.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        raise Inconsistent(f"{path.name} is missing", "restore it from the archive") from None
    except OSError as problem:
        raise Inconsistent(
            f"{path.name} cannot be read as a plain file: {problem.strerror}"
        ) from None
    with os.fdopen(handle, "rb") as source:
        return source.read()


@contextlib.contextmanager
def locked(folder: Path, what: str) -> Iterator[None]:
    """Hold a kernel lock on a folder while the block runs; Refused at once where it is held.

    The lock lies on the folder itself, so no file is left behind, and the kernel drops it when
    the process ends, however it ends. Worker processes do not inherit it.
    """
    make_folder(folder)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(
                f"another process is working on {what}", "wait until it ends, then try again"
            ) from None
        yield
    finally:
        os.close(handle)


def packed(data: bytes) -> bytes:
    """Return gzip bytes without a name and with a zero clock."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=buffer, mtime=0) as out:
        out.write(data)
    return buffer.getvalue()
