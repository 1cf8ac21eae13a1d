"""What people write into a track's life before the freeze: amendments, reviews, a closure."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from echoctl.canon import canonical
from echoctl.contract.strict import YamlError, read
from echoctl.desk.checking import amended_path
from echoctl.desk.workspace import Workspace, sha256
from echoctl.disk import read_plain, write_whole
from echoctl.dossier import Dossier
from echoctl.errors import Refused, UsageError


@dataclass(frozen=True)
class Amended:
    """An amendment: hashes of the contract before and after, the reason, where the diff lies."""

    id: str
    number: int
    before: str
    after: str
    why: str
    diff: str
    """The unified diff."""
    file: str

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints."""
        return asdict(self)


@dataclass(frozen=True)
class Reviewed:
    """A recorded review; each finding has an id to be answered by."""

    id: str
    reviewer: str
    findings: tuple[Mapping[str, Any], ...]
    """``{id, blocking, text}`` each."""
    file: str

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints."""
        return {
            "id": self.id, "reviewer": self.reviewer, "file": self.file,
            "findings": [dict(one) for one in self.findings],
        }  # fmt: skip


@dataclass(frozen=True)
class Answered:
    """The action on one finding, and how many findings still wait for theirs."""

    id: str
    finding: str
    action: str
    open: int
    blocking: int

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints."""
        return asdict(self)


@dataclass(frozen=True)
class Closed:
    """A track that was closed before its exam was opened."""

    id: str
    why: str

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints."""
        return asdict(self)


def amend(ws: Workspace, id: str, *, why: str) -> Amended:
    """Record that the working contract changed since the ledger accepted it, and why.

    Refused before the first preflight (there is nothing to amend) and after the freeze.
    """
    reason = _said(why, "--why says why the contract changes")
    with ws.writing(id) as ledger:
        dossier = ledger.dossier
        dossier.refuse("amend")
        raw = ws.contract_bytes(id)
        before, after = str(dossier.contract), sha256(raw)
        if before == after:
            raise UsageError(
                f"contracts/{id}.yaml is what the ledger accepted last: nothing to amend",
                "change the contract first",
            )
        ws.working_contract(id)
        number = len(dossier.amendments) + 1
        old = read_plain(amended_path(ws, id, number - 1))
        if sha256(old) != before:
            raise Refused(
                f"artifacts/{id}/amendments/{number - 1}.yaml is not the contract it was",
                "restore the file",
            )
        diff = _diff(old, raw, number)
        file = f"amendments/{number}.diff"
        write_whole(amended_path(ws, id, number), raw)
        write_whole(ws.artifacts(id) / file, diff.encode())
        ledger.append("amendment", {
            "from": before, "to": after, "why": reason, "file": file, "diff": sha256(diff.encode()),
        })  # fmt: skip
    return Amended(id, number, before, after, reason, diff, file)


def _diff(old: bytes, new: bytes, number: int) -> str:
    before, after = (data.decode("utf-8").splitlines(keepends=True) for data in (old, new))
    made = difflib.unified_diff(before, after, f"contract {number - 1}", f"contract {number}")
    return "".join(line if line.endswith("\n") else line + "\n" for line in made)


def review(
    ws: Workspace,
    id: str,
    *,
    reviewer: str = "",
    findings: Sequence[Mapping[str, Any]] = (),
    file: Path | None = None,
) -> Reviewed:
    """Record a review of the contract and its code.

    Findings come as ``{text, blocking, id}`` (`id` may be left out) or from a YAML or JSON
    file with ``reviewer`` and ``findings``. A review without findings says so by itself.
    """
    if file is not None:
        reviewer, findings = _read_review(file, reviewer)
    who = _said(reviewer, "a review says who made it")
    with ws.writing(id) as ledger:
        dossier = ledger.dossier
        dossier.refuse("review")
        number = len(dossier.reviews) + 1
        given = tuple(_finding(one, dossier, f"{number}.{i}") for i, one in enumerate(findings, 1))
        ids = [one["id"] for one in given]
        if len(set(ids)) < len(ids):
            raise UsageError("two findings have the same id", "give each its own")
        body = {
            "schema": "echoctl/review/1", "id": id, "reviewer": who, "contract": dossier.contract,
            "findings": [dict(one) for one in given],
        }  # fmt: skip
        data = canonical(body) + b"\n"
        name = f"reviews/{number}.json"
        write_whole(ws.artifacts(id) / name, data)
        ledger.append("review", {
            "reviewer": who, "file": name, "hash": sha256(data), "findings": body["findings"],
            "contract": dossier.contract,
        })  # fmt: skip
    return Reviewed(id, who, given, name)


def _finding(one: Mapping[str, Any], dossier: Dossier, number: str) -> dict[str, Any]:
    unknown = sorted(set(one) - {"id", "blocking", "text"})
    if unknown:
        raise UsageError(f"a finding has no {unknown[0]!r}", "it has id, blocking and text")
    blocking = one.get("blocking", True)
    id = one.get("id", number)
    if type(blocking) is not bool or not isinstance(id, str) or not id.strip():
        raise UsageError("a finding's blocking is true or false, its id a word", "mend the finding")
    if id in dossier.findings:
        raise UsageError(f"there is a finding {id} already", "give it another id")
    return {"id": id, "blocking": blocking, "text": _said(one.get("text"), "a finding has a text")}


def _read_review(file: Path, reviewer: str) -> tuple[str, list[Mapping[str, Any]]]:
    try:
        data = file.read_bytes()
    except OSError as problem:
        raise UsageError(f"{file}: {problem.strerror}", "name a file that can be read") from None
    try:
        root, problems = read(data)
    except YamlError as broken:
        problems = list(broken.problems)
    if problems:
        first = problems[0]
        raise UsageError(
            f"{file.name}:{first.line}:{first.column}: {first.text}",
            "a review is YAML or JSON: reviewer, and findings as a list of {text, blocking}",
        )
    value = root.plain()
    if not isinstance(value, dict) or not set(value) <= {"reviewer", "findings"}:
        raise UsageError(f"{file.name} is no review", "it has reviewer and findings")
    findings = value.get("findings") or ()
    if not isinstance(findings, list | tuple) or not all(isinstance(f, dict) for f in findings):
        raise UsageError(f"{file.name}: findings is a list of {{text, blocking}}", "mend the file")
    return str(value.get("reviewer", reviewer)), list(findings)


def answer(ws: Workspace, id: str, *, finding: str, action: str) -> Answered:
    """Record what was done about a finding. An empty action is refused."""
    done = _said(action, f"finding {finding} is answered with an action")
    with ws.writing(id) as ledger:
        dossier = ledger.dossier
        dossier.refuse("answer")
        known = dossier.findings.get(finding)
        if known is None:
            raise UsageError(
                f"{id} has no finding {finding!r}",
                f"known: {', '.join(dossier.findings) or 'none'}",
            )
        if known.action is not None:
            raise Refused(f"finding {finding} was answered: {known.action}", "record a new review")
        ledger.append("finding", {"review": known.review, "id": finding, "action": done})
        return Answered(id, finding, done, len(dossier.unanswered), len(dossier.blocking))


def close(ws: Workspace, id: str, *, why: str) -> Closed:
    """Close a track red in development; its exam is never opened. Refused after opening."""
    reason = _said(why, "--why says why the track closes")
    with ws.writing(id) as ledger:
        ledger.dossier.refuse("close")
        ledger.append("closure", {"why": reason})
    return Closed(id, reason)


def _said(text: object, what: str) -> str:
    if not isinstance(text, str) or not text.strip():
        raise UsageError(f"nothing was said: {what}", "say it in a sentence")
    return text.strip()
