"""The desk: every act of a track's life, and the doors to what is trusted.

A command parses its options, calls one of these, hands the answer to render, and ends. Each act
returns a frozen dataclass with ``as_json()``, or raises an `echoctl.errors.EchoError` whose
``exit_code`` is the command's. ``ws`` is a `Workspace`; ``id`` names a contract; ``observer``
(an `Observer`) sees progress and notes, never a measure; ``workers`` is the number of worker
processes.

| act | returns |
|---|---|
| ``Workspace.find(path=None)`` | the workspace at `path`, or the nearest one above the cwd |
| ``list_tracks(ws)`` | `Listing` (``tracks``: one `Status` each) |
| ``status(ws, id)`` | `Status` (state, colour, next step, evidence grade, facts) |
| ``load(ws, id)`` | the `Contract`: the sealed one once it is frozen, else the working one |
| ``lint(ws, id)`` | `Linted` |
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
| ``verify(ws, id, *, rerun, ...)`` | `Verified` (runs `echoctl.verify` on the artefacts) |
| ``bundle(ws, id, *, to)`` | `Bundled` (one archive) |
| ``replay(ws, id, job, episode)`` | `Replay`: the frames of one recorded episode |
"""

from __future__ import annotations
