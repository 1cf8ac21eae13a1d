"""The acts up to the freeze: call the desk, hand the answer to render, say how it ended."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from echoctl import desk
from echoctl.cli.crew import Crew
from echoctl.cli.session import Session
from echoctl.errors import CheckFailed, EchoError, UsageError

if TYPE_CHECKING:
    from echoctl.lint import LintReport
    from echoctl.render.progress import Watch
    from echoctl.render.text import Lang


def new(s: Session, id: str, follows: str | None) -> None:
    """Begin a contract, in a workspace that is made where there is none."""
    try:
        ws = s.desk
    except UsageError:
        ws = desk.new_workspace(s.workspace or Path.cwd())
    done = desk.begin(ws, id, follows=follows)
    if s.json:
        s.screen.json(done.as_json())
        return
    from echoctl.render import papers

    s.screen.show(*papers.begun(done, str(ws.root), s.text()))


def list_(s: Session) -> None:
    """List the workspace's tracks."""
    found = desk.list_tracks(s.desk)
    if s.json:
        s.screen.json(found.as_json())
        return
    from echoctl.render import tracks

    s.screen.show(*tracks.listing(found, str(s.desk.root / "contracts"), s.text()))


def status(s: Session, id: str | None) -> None:
    """Show one track, or every one after the other."""
    ids = [id] if id is not None else s.desk.ids()
    every = [desk.status(s.desk, one) for one in ids]
    if s.json:
        values = [one.as_json() for one in every]
        s.screen.json(values[0] if id is not None else values)
        return
    from echoctl.render import tracks

    for number, one in enumerate(every):
        t = s.text(language(s, one.id))
        s.screen.show(*([""] if number else []), *tracks.status(one, t))


def show(s: Session, id: str) -> None:
    """Show a contract as a page to read."""
    contract = desk.load(s.desk, id)
    if s.json:
        from echoctl.contract import canonical_json

        s.screen.json(canonical_json(contract))
        return
    from echoctl.render import terminal

    s.screen.show(*terminal.contract_page(contract, s.text(contract.lang)))


def lint(s: Session, target: str | None) -> int:
    """Lint one contract, by id or by file, or every one of the workspace.

    A contract that cannot be read ends with 2, a design that is refused with 1.
    """
    from echoctl.contract import ContractError

    names = [target] if target is not None else s.desk.ids()
    reports, problems = [], []
    for name in names:
        try:
            reports.append(_lint_one(s, name))
        except ContractError as problem:
            if target is not None:
                raise
            problems.append(problem)
    if s.json:
        values = [found.as_json(s.lang) for found in reports]
        failed = [broken.as_json() for broken in problems]
        s.screen.json(values[0] if target is not None else [*values, *failed])
    else:
        from echoctl.render import checks

        for found in reports:
            s.screen.show(*checks.lint(found, s.text(found.lang)))
        for broken in problems:
            s.screen.error(broken)
    if problems:
        return UsageError.exit_code
    return 0 if all(found.ok for found in reports) else CheckFailed.exit_code


def _lint_one(s: Session, name: str) -> LintReport:
    """Lint a contract beside every other of its workspace, whose seeds it must not share."""
    from echoctl.contract import load_contract
    from echoctl.lint import lint

    if name.endswith((".yaml", ".yml")) or "/" in name or "\\" in name:
        path = Path(name)
        if not path.is_file():
            raise UsageError(f"there is no file {name}", "name a contract's id or its YAML file")
        contract = load_contract(path.read_bytes(), name)
        try:
            ws = s.desk
        except UsageError:
            return lint(contract)  # a contract may be looked at before it has a workspace
    else:
        ws = s.desk
        contract = ws.working_contract(name)
    others = []
    for other in ws.ids():
        if other != contract.id:
            try:
                others.append(ws.working_contract(other))
            except EchoError:
                continue  # that contract's own lint says what is wrong with it
    return lint(contract, others)


def preflight(s: Session, id: str, workers: int | None) -> None:
    """Check everything that can be checked before the freeze, and publish the seeds."""
    with watching(s, id) as watch:
        count = Crew(workers).hire()["workers"]
        found = desk.preflight(s.desk, id, workers=count, observer=watch)
    if s.json:
        s.screen.json(found.as_json())
        return
    from echoctl.render import checks

    s.screen.show(*checks.preflight(found, s.text(language(s, id))))


def dev(s: Session, id: str, units: int | None, crew: Crew) -> None:
    """Play development worlds and show the contract's checks on them, loudly marked."""
    with watching(s, id) as watch:
        played = desk.dev(s.desk, id, units=units, observer=watch, **crew.hire())
    if s.json:
        s.screen.json(played.as_json())
        return
    from echoctl.render import terminal

    t = s.text(played.contract.lang)
    if played.verdict is None:
        s.screen.show(terminal.banner("DEVELOPMENT", t), played.problem)
    else:
        verdict, contract, width = played.verdict, played.contract, s.screen.out.width
        s.screen.show(
            *terminal.verdict(verdict, contract, t),
            *terminal.cells(verdict, contract, t, width),
            *terminal.arms(verdict, contract, t, width),
            *terminal.exhibits(verdict, contract, desk.words(s.desk, contract), t, width),
        )
        if (ceiling := terminal.ceiling(verdict, contract, t)) is not None:
            s.screen.show(ceiling)
    s.screen.show(terminal.cost(played, t))


def amend(s: Session, id: str, why: str) -> None:
    """Record that the contract changed."""
    done = desk.amend(s.desk, id, why=why)
    if s.json:
        s.screen.json(done.as_json())
        return
    from echoctl.render import papers

    s.screen.show(*papers.amended(done, s.text(language(s, id))))


def review(
    s: Session, id: str, reviewer: str, findings: list[dict[str, Any]], file: Path | None
) -> None:
    """Record a review."""
    done = desk.review(s.desk, id, reviewer=reviewer, findings=findings, file=file)
    if s.json:
        s.screen.json(done.as_json())
        return
    from echoctl.render import papers

    s.screen.show(*papers.reviewed(done, s.text(language(s, id))))


def answer(s: Session, id: str, finding: str, action: str) -> None:
    """Record what was done about a finding."""
    done = desk.answer(s.desk, id, finding=finding, action=action)
    if s.json:
        s.screen.json(done.as_json())
        return
    from echoctl.render import papers

    s.screen.show(*papers.answered(done, s.text(language(s, id))))


def close(s: Session, id: str, why: str) -> None:
    """Close a track red in development."""
    done = desk.close(s.desk, id, why=why)
    if s.json:
        s.screen.json(done.as_json())
        return
    from echoctl.render import papers

    s.screen.show(*papers.closed(done, s.text(language(s, id))))


def watching(s: Session, id: str) -> Watch:
    """Return who shows the progress of a run, in the contract's language."""
    from echoctl.render.progress import Watch

    return Watch(s.screen, s.text(language(s, id)))


def language(s: Session, id: str) -> Lang:
    """Return the language of a contract, English where it cannot be read."""
    try:
        return desk.load(s.desk, id).lang
    except EchoError:
        return "en"
