"""The desk: every act of a track's life, and the doors to what is trusted.

A command parses its options, calls one of these, hands the answer to render, and ends. Each act
returns a frozen dataclass with ``as_json()``, or raises an `echoctl.errors.EchoError` whose
``exit_code`` is the command's. ``ws`` is a `Workspace`; ``id`` names a contract; ``observer``
(an `Observer`) sees progress and notes, never a measure; ``workers`` is the number of worker
processes.

| act | returns |
|---|---|
| ``Workspace.find(path=None)`` | the workspace at `path`, or the nearest one above the cwd |
| ``begin(ws, id, *, follows)`` | `Begun` (the files written; ``new_workspace(path)`` makes one) |
| ``list_tracks(ws)`` | `Listing` (``tracks``: one `Status` each) |
| ``status(ws, id)`` | `Status` (state, colour, next step, evidence grade, facts) |
| ``load(ws, id)`` | the `Contract`: the sealed one once it is frozen, else the working one |
| ``preflight(ws, id, *, workers, observer)`` | `Preflight` |
| ``dev(ws, id, *, units, workers, observer)`` | `Played` (verdict marked DEVELOPMENT) |
| ``rehearse(ws, id, *, units, keep, workers, observer)`` | `Rehearsal` (the workspace, `Decided`) |
| ``amend(ws, id, *, why)`` | `Amended` |
| ``review(ws, id, *, reviewer, findings, file)`` | `Reviewed` |
| ``answer(ws, id, *, finding, action)`` | `Answered` |
| ``close(ws, id, *, why)`` | `Closed` |
| ``freeze(ws, id, *, workers, observer)`` | `Frozen`: id, receipt; ``ready(ws)`` lists ids |
| ``exam(ws, id, *, resume, workers, observer)`` | `Decided` (claim, verdict, incidents) |
| ``results(ws, id)`` | `Results`: all that the report needs, from what was sealed |
| ``record_report(ws, id, files)`` | `Recorded`: writes a report's files and their ledger line |
| ``verifiable(ws)`` | the ids that say they are decided, whatever their ledger says now |
| ``verify(ws, id, *, rerun, signers, tsa_ca, receipts)`` | `Verified`, by `echoctl.verify` |
| ``sign(ws, id, *, key)``, ``stamp(ws, id, *, url)`` | `Vouched`: receipts signed, time-stamped |
| ``bundle(ws, id, *, to)`` | `Bundled` (one archive) |
| ``replay(ws, id, job, row)`` | `Replay`: one recorded episode, moment by moment |
| ``exhibits(ws, id)`` | `Shown` each: the exhibits that the contract fixed |
| ``words(ws, contract)`` | what its track calls a value of a measure |
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from echoctl.desk.beginning import Begun, begin, new_workspace
    from echoctl.desk.checking import Preflight, preflight
    from echoctl.desk.examining import Decided, exam
    from echoctl.desk.outside import Bundled, Verified, bundle, verifiable, verify
    from echoctl.desk.overview import Listing, Status, list_tracks, load, status
    from echoctl.desk.papers import (
        Amended,
        Answered,
        Closed,
        Reviewed,
        amend,
        answer,
        close,
        review,
    )
    from echoctl.desk.playing import Played, dev
    from echoctl.desk.rehearsing import Rehearsal, rehearse
    from echoctl.desk.replaying import Moment, Replay, Shown, exhibits, replay
    from echoctl.desk.reporting import LedgerLine, Recorded, Results, record_report, results, words
    from echoctl.desk.sealing import Frozen, freeze, ready
    from echoctl.desk.vouching import Vouched, sign, stamp
    from echoctl.desk.witnesses import Evidence, evidence
    from echoctl.desk.workspace import Workspace
    from echoctl.runner.run import Observer, Progress, Silent

__all__ = [
    "Amended",
    "Answered",
    "Begun",
    "Bundled",
    "Closed",
    "Decided",
    "Evidence",
    "Frozen",
    "LedgerLine",
    "Listing",
    "Moment",
    "Observer",
    "Played",
    "Preflight",
    "Progress",
    "Recorded",
    "Rehearsal",
    "Replay",
    "Results",
    "Reviewed",
    "Shown",
    "Silent",
    "Status",
    "Verified",
    "Vouched",
    "Workspace",
    "amend",
    "answer",
    "begin",
    "bundle",
    "close",
    "dev",
    "evidence",
    "exam",
    "exhibits",
    "freeze",
    "list_tracks",
    "load",
    "new_workspace",
    "preflight",
    "ready",
    "record_report",
    "rehearse",
    "replay",
    "results",
    "review",
    "sign",
    "stamp",
    "status",
    "verifiable",
    "verify",
    "words",
]

_HOMES = {
    "echoctl.desk.beginning": ("Begun", "begin", "new_workspace"),
    "echoctl.desk.checking": ("Preflight", "preflight"),
    "echoctl.desk.vouching": ("Vouched", "sign", "stamp"),
    "echoctl.desk.witnesses": ("Evidence", "evidence"),
    "echoctl.desk.examining": ("Decided", "exam"),
    "echoctl.desk.outside": ("Bundled", "Verified", "bundle", "verifiable", "verify"),
    "echoctl.desk.overview": ("Listing", "Status", "list_tracks", "load", "status"),
    "echoctl.desk.papers": (
        "Amended",
        "Answered",
        "Closed",
        "Reviewed",
        "amend",
        "answer",
        "close",
        "review",
    ),
    "echoctl.desk.playing": ("Played", "dev"),
    "echoctl.desk.rehearsing": ("Rehearsal", "rehearse"),
    "echoctl.desk.replaying": ("Moment", "Replay", "Shown", "exhibits", "replay"),
    "echoctl.desk.reporting": (
        "LedgerLine",
        "Recorded",
        "Results",
        "record_report",
        "results",
        "words",
    ),
    "echoctl.desk.sealing": ("Frozen", "freeze", "ready"),
    "echoctl.desk.workspace": ("Workspace",),
    "echoctl.runner.run": ("Observer", "Progress", "Silent"),
}
"""Where each name lives: loaded when it is first used, so that ``--help`` stays quick."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the type of a name is its own
    """Return a name of this room, loading the file it lives in."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
