"""The acts from the freeze on: seal, examine, report, and let others check."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from echoctl import desk
from echoctl.cli.acts import language, watching
from echoctl.cli.crew import Crew
from echoctl.cli.session import Session
from echoctl.errors import CheckFailed, EchoError, Refused

if TYPE_CHECKING:
    from echoctl.desk import Decided, Shown, Vouched, Workspace


def freeze(s: Session, id: str | None, crew: Crew) -> None:
    """Seal one track, or every one that is ready."""
    ids = [id] if id is not None else desk.ready(s.desk)
    if not ids:
        raise Refused("no track is ready to be frozen", "see what each one needs: echoctl list")
    every, hired = [], crew.hire()
    for one in ids:
        with watching(s, one) as watch:
            done = desk.freeze(s.desk, one, observer=watch, **hired)
        every.append(done.as_json())
        if not s.json:
            from echoctl.render import papers

            s.screen.show(*papers.frozen(done, s.text(language(s, one))))
    if s.json:
        s.screen.json(every[0] if id is not None else every)


def exam(s: Session, id: str, resume: bool, crew: Crew, expect: str | None) -> int:
    """Open the exam, or resume it; decide, and write the report."""
    with watching(s, id) as watch:
        done = desk.exam(s.desk, id, resume=resume, observer=watch, **crew.hire())
    files = _publish(s, s.desk, id)
    if s.json:
        s.screen.json({**done.as_json(), "report": files})
    else:
        _show_decided(s, s.desk, done, files)
    return _expected(done.colour, expect)


def rehearse(
    s: Session,
    id: str,
    units: int | None,
    keep: Path | None,
    crew: Crew,
    expect: str | None,
) -> int:
    """Live the whole life in a throw-away workspace and show its verdict, loudly marked."""
    with watching(s, id) as watch:
        done = desk.rehearse(s.desk, id, units=units, keep=keep, observer=watch, **crew.hire())
    try:
        files = _publish(s, done.workspace, id)
        if s.json:
            s.screen.json({**done.as_json(), "report": files if done.kept else []})
        else:
            _show_decided(s, done.workspace, done.decided, files if done.kept else [])
            if not done.kept:
                from echoctl.render import papers

                t = s.text(language(s, id))
                s.screen.note(papers.thrown_away(f"echoctl rehearse {id} --keep DIR", t))
    finally:
        done.discard()
    return _expected(done.decided.colour, expect)


def report(s: Session, id: str | None) -> None:
    """Write the report again, of one track or of every decided one."""
    ids = [id] if id is not None else _decided(s)
    written = {one: _publish(s, s.desk, one) for one in ids}
    if s.json:
        s.screen.json(written if id is None else {"id": id, "files": written[id]})
        return
    for files in written.values():
        s.screen.lines(files)


def verify(s: Session, id: str | None, asked: Asked, expect: str | None) -> int:
    """Let the second opinion check one track, or every decided one; 5 where one fails."""
    ids = [id] if id is not None else desk.verifiable(s.desk)
    if not ids:
        s.screen.note(s.text()("none-decided"))
    every = [
        desk.verify(
            s.desk, one, rerun=asked.rerun, signers=asked.signers, tsa_ca=asked.tsa_ca,
            receipts=asked.receipts,
        )
        for one in ids
    ]  # fmt: skip
    if s.json:
        values = [one.as_json() for one in every]
        s.screen.json(values[0] if id is not None else values)
    else:
        from echoctl.render import opinion

        for found in every:
            s.screen.show(*opinion.verified(found, s.text(language(s, found.id))))
    worst = max((found.exit for found in every), default=0)
    return worst or max((_expected(found.colour or "", expect) for found in every), default=0)


def bundle(s: Session, id: str, to: Path | None) -> None:
    """Pack a track's evidence into one archive."""
    done = desk.bundle(s.desk, id, to=to)
    if s.json:
        s.screen.json(done.as_json())
        return
    from echoctl.render import papers

    s.screen.show(*papers.bundled(done, s.text(language(s, id))))


def sign(s: Session, id: str, key: Path) -> None:
    """Sign every receipt that has no signature yet."""
    _vouched(s, desk.sign(s.desk, id, key=key))


def stamp(s: Session, id: str, url: str) -> None:
    """Have every receipt time-stamped that has no stamp yet."""
    _vouched(s, desk.stamp(s.desk, id, url=url))


def _vouched(s: Session, done: Vouched) -> None:
    if s.json:
        s.screen.json(done.as_json())
        return
    from echoctl.render import papers

    s.screen.show(*papers.vouched(done, s.text(language(s, done.id))))


def replay(s: Session, id: str, job: str, row: int, fps: float, gif: Path | None) -> None:
    """Play one recorded episode, or write it as a GIF."""
    found = desk.replay(s.desk, id, job, row)
    if s.json and gif is None:
        s.screen.json(found.as_json())
        return
    from echoctl.render import compose, film, theatre

    shown = compose.film(found)
    if gif is not None:
        gif.write_bytes(film.gif([shown], fps=max(1, round(fps))))
        if s.json:
            s.screen.json({"file": str(gif), "frames": len(shown.frames)})
        else:
            s.screen.lines([str(gif)])
        return
    theatre.play(shown, s.screen, s.text(language(s, id)), fps)


@dataclass(frozen=True)
class Asked:
    """What somebody asked the second opinion to do."""

    rerun: int
    signers: Path | None
    tsa_ca: Path | None
    receipts: tuple[str, ...]


def _publish(s: Session, ws: Workspace, id: str) -> list[str]:
    """Write a decided track's report and return its files' paths."""
    # By its module: `echoctl.desk.reporting` is this module as soon as anything has loaded it.
    from echoctl.desk.reporting import results
    from echoctl.render import compose

    found = results(ws, id)
    t = s.text(found.contract.lang)
    unseen = ""
    shown: tuple[Shown, ...] = ()
    try:
        shown = desk.exhibits(ws, id)
    except EchoError as problem:
        unseen = t("episodes.unseen", why=problem.why)
        s.screen.note(unseen)
    word = desk.words(ws, found.contract)
    desk.record_report(ws, id, compose.files(found, shown, unseen, word, t))
    return [str(ws.results_path(id) / name) for name in (f"{id}.md", f"{id}.html")]


def _show_decided(s: Session, ws: Workspace, done: Decided, files: list[str]) -> None:
    from echoctl.render import papers, terminal

    contract = desk.load(ws, done.id)
    t = s.text(contract.lang)
    s.screen.show(
        *terminal.cells(done.verdict, contract, t, s.screen.out.width),
        *terminal.exhibits(done.verdict, contract, desk.words(ws, contract), t, s.screen.out.width),
        *terminal.verdict(done.verdict, contract, t),
        *papers.decided(done, files, t),
    )


def _decided(s: Session) -> list[str]:
    found = [one.id for one in desk.list_tracks(s.desk).tracks if one.state in ("green", "red")]
    if not found:
        s.screen.note(s.text()("none-decided"))
    return found


def _expected(colour: str, expect: str | None) -> int:
    return CheckFailed.exit_code if expect not in (None, colour) else 0
