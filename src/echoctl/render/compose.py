"""From the desk's results to a report's files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from echoctl import __version__
from echoctl.render.exhibits import Word
from echoctl.render.film import Film, Frame, gif
from echoctl.render.html import page
from echoctl.render.markdown import markdown
from echoctl.render.report import Event, Evidence, Exhibit, Report
from echoctl.render.text import Text

if TYPE_CHECKING:
    from echoctl.desk import LedgerLine, Replay, Results, Shown

_AFTER = frozenset({"report", "verification"})
"""Lines that follow a report; one that told of them would never be the same twice."""


def files(
    found: Results, shown: Sequence[Shown], unseen: str, word: Word, t: Text
) -> dict[str, bytes]:
    """Return a report's files by their names under ``docs/results/``."""
    report = compose(found, shown, unseen, word, t)
    films = {f"{found.id}/{e.name}.gif": gif(e.films) for e in report.exhibits}
    return {
        f"{found.id}.md": markdown(report, t).encode(),
        f"{found.id}.html": page(report, t).encode(),
        **films,
    }


def compose(found: Results, shown: Sequence[Shown], unseen: str, word: Word, t: Text) -> Report:
    """Return the report of a decided track. `unseen` says why exhibits are missing, if they are.

    `word` says what its track calls a value of a measure.
    """
    return Report(
        contract=found.contract,
        verdict=found.verdict,
        evidence=_evidence(found, t),
        exhibits=[
            exhibit(one, number, found.contract.unit.name, t)
            for number, one in enumerate(shown, start=1)
        ],
        version=__version__,
        unseen=unseen,
        word=word,
    )


def exhibit(one: Shown, number: int, unit: str, t: Text) -> Exhibit:
    """Return an exhibit as the page shows it."""
    seed = one.replays[0].seed
    where = t("episode.where", unit=unit, number=one.unit, episode=one.episode, seed=seed)
    films = [film(replay) for replay in one.replays]
    name = "-".join(part for part in (f"{number:02d}", one.family, one.regime) if part)
    return Exhibit(one.text.strip(), one.family, one.regime, where, films, name)


def film(replay: Replay) -> Film:
    """Return a recorded episode as a film."""
    frames = [Frame(m.scene, m.action, m.reward) for m in replay.moments]
    return Film(replay.arm, replay.family, replay.seed, frames, replay.end)


def _evidence(found: Results, t: Text) -> Evidence:
    events = [
        Event(line.time, line.event, said(line, t))
        for line in found.history
        if line.event not in _AFTER
    ]
    seals = {
        line.event.replace("complete", "results"): str(line.data[key])
        for line in found.history
        for event, key in (("complete", "results"), ("verdict", "verdict"))
        if line.event == event
    }
    return Evidence(
        grade=found.evidence.grade,
        witnesses=found.evidence.spoken(t.lang),
        receipts=found.evidence.receipts,
        events=events,
        seals=seals,
        incidents=found.incidents,
        environment=_flat(found.environment),
    )


def said(line: LedgerLine, t: Text) -> str:
    """Return what a ledger line says, in a few words."""
    data = line.data
    match line.event:
        case "preflight":
            return f"{t('seeds')} {data['seeds'][:12]}…"
        case "amendment":
            return f"{data['from'][:8]}… → {data['to'][:8]}… {data['why']}"
        case "review":
            count = t("review.findings", count=len(data["findings"]))
            return f"{data['reviewer']} · {count}"
        case "finding":
            return f"{data['id']} → {data['action']}"
        case "freeze":
            return f"{data['manifest'][:12]}… · {data['jobs']} {t('jobs')}"
        case "claim":
            return f"{data['claim'][:12]}…"
        case "incident":
            job = f"{data['job']}: " if data.get("job") else ""
            return f"{job}{data['kind']} · {data['text']}"
        case "complete":
            return f"{data['jobs']} {t('jobs')}"
        case "verdict":
            return t(data["colour"])
        case "closure":
            return str(data["why"])
    return ""


def _flat(environment: Mapping[str, Any]) -> dict[str, str]:
    """Return the environment as one list: interpreter and platform first, then distributions."""
    out = {key: str(value) for key, value in environment.items() if not isinstance(value, Mapping)}
    for inner in environment.values():
        if isinstance(inner, Mapping):
            out.update({str(key): str(value) for key, value in sorted(inner.items())})
    return out
