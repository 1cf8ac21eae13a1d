"""Beginning: a contract and a track that already rehearse, or an attempt that follows another."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from echoctl.contract import Contract, Seeds, load_contract
from echoctl.contract.load import ContractError
from echoctl.desk.repository import git
from echoctl.desk.workspace import Workspace
from echoctl.disk import write_once
from echoctl.errors import CheckFailed, EchoError, Refused, UsageError

FIRST_SEED = 10_000_000
"""New contracts lay their seeds from here on, or after the last one in use."""

ROOM = 100_000
"""Seed ranges of new contracts begin at multiples of this."""

_ID = re.compile(r"[a-z][a-z0-9_]{1,39}")


@dataclass(frozen=True)
class Begun:
    """What was written, relative to the workspace, and what to do with it first."""

    id: str
    files: tuple[str, ...]
    follows: str | None
    next: str

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints."""
        return asdict(self)


def begin(ws: Workspace, id: str, *, follows: str | None = None) -> Begun:
    """Write a new contract: a toy with its own track, or a copy of the one that it follows.

    Nothing that exists is overwritten. Refused for an id that is or ever was in use, be it in
    git's history only.
    """
    _refuse_used(ws, id)
    base = _free_base(ws)
    if follows is not None:
        return _follow(ws, id, follows, base)
    name = id.title().replace("_", "")
    written = {
        f"contracts/{id}.yaml": _filled("contract.yaml", id, name, base),
        f"tracks/{id}.py": _filled("track.py.txt", id, name, base),
    }
    return _write(ws, id, written, None, f"echoctl rehearse {id} --units 8")


def _write(
    ws: Workspace, id: str, written: dict[str, str], follows: str | None, following: str
) -> Begun:
    for place in written:
        if (ws.root / place).exists():
            raise Refused(f"{place} exists; it stays as it is", "choose another id")
    for place, text in written.items():
        write_once(ws.root / place, text.encode())
    return Begun(id, tuple(written), follows, following)


def _filled(template: str, id: str, name: str, base: int) -> str:
    text = files("echoctl.desk.templates").joinpath(template).read_text(encoding="utf-8")
    for mark, value in (("TOY_ID", id), ("TOY_CLASS", name)):
        text = text.replace(mark, value)
    return re.sub(r"SEED\+(\d+)", lambda found: str(base + int(found[1])), text)


def _refuse_used(ws: Workspace, id: str) -> None:
    if not _ID.fullmatch(id):
        raise UsageError(
            f"{id!r} is no contract id",
            "use 2 to 40 lower-case letters, digits and _, beginning with a letter",
        )
    traces = [
        place
        for place in (f"contracts/{id}.yaml", f"artifacts/{id}", f"seeds/{id}.json")
        if (ws.root / place).exists()
    ]
    if not traces and git(ws.root, "log", "--all", "-1", "--", f"contracts/{id}.yaml"):
        traces = [f"contracts/{id}.yaml in git's history"]
    if traces:
        raise Refused(
            f"{id} was used already ({traces[0]}); a contract id is used once",
            f"choose another id, perhaps with --follows {id}",
        )


def _free_base(ws: Workspace) -> int:
    """Return the first seed of a range that no contract of the workspace has laid out."""
    last = FIRST_SEED
    for other in ws.ids():
        try:
            seeds = Seeds.lay_out(ws.working_contract(other))
        except EchoError:
            continue
        last = max([last, *(block.base + block.size for block in seeds.blocks.values())])
    return -(-last // ROOM) * ROOM


# --- following -----------------------------------------------------------------------------


def _follow(ws: Workspace, id: str, parent: str, base: int) -> Begun:
    """Copy the parent's contract under the new id, with seeds that nobody has used."""
    before = ws.working_contract(parent)
    text = ws.contract_bytes(parent).decode("utf-8")
    place = f"contracts/{id}.yaml"
    text = _line(text, "id", id)
    text = _line(_without(text, "follows"), "track", f"{before.track}\nfollows: {parent}")
    text = _without(_without(text, "approved"), "amendments")
    text = _moved(text, before, base)
    _check_copy(text, place, id, parent, before)
    return _write(ws, id, {place: text}, parent, f"echoctl lint {id}")


def _line(text: str, key: str, value: str) -> str:
    return re.sub(rf"^{key}:[^\n]*$", lambda _: f"{key}: {value}", text, count=1, flags=re.M)


def _without(text: str, key: str) -> str:
    """Drop a top-level key with everything indented or listed under it."""
    return re.sub(rf"^{key}:[^\n]*\n(?:[ \t-][^\n]*\n|\n(?=[ \t-]))*", "", text, flags=re.M)


def _moved(text: str, before: Contract, base: int) -> str:
    """Shift every seed block so that the lowest one begins at `base`."""
    shift = base - min(block.base for block in before.seeds.values())
    head, mark, tail = text.partition("\nseeds:")
    block, rest = re.match(r"([^\n]*\n(?:[ \t#][^\n]*\n|\n)*)(.*)", tail, re.S).groups()  # type: ignore[union-attr]
    moved = re.sub(
        r"(\bbase:\s*)(\d[\d_]*)",
        lambda found: found[1] + str(int(found[2].replace("_", "")) + shift),
        block,
    )
    return head + mark + moved + rest


def _check_copy(text: str, place: str, id: str, parent: str, before: Contract) -> None:
    """Make sure that the copy says what was meant; a contract is not edited by luck."""
    try:
        after = load_contract(text.encode(), place)
    except ContractError as problem:
        raise CheckFailed(
            f"contracts/{parent}.yaml cannot be copied line by line: {problem.why}",
            f"write {place} by hand, with follows: {parent}",
        ) from None
    kept = {"id", "follows", "approved", "amendments", "seeds"}
    same = after.model_dump(exclude=kept) == before.model_dump(exclude=kept)
    if not same or (after.id, after.follows, after.approved) != (id, parent, None):
        raise CheckFailed(
            f"a copy of contracts/{parent}.yaml would not say the same",
            f"write {place} by hand, with follows: {parent}",
        )


def new_workspace(path: Path) -> Workspace:
    """Return the workspace at `path`, made if there is none."""
    (path / "contracts").mkdir(parents=True, exist_ok=True)
    return Workspace.find(path)
