"""Playing an episode again to look at it: never before the exam is complete, never another one.

The code that played it plays it again, in a worker whose bench notes what each world showed
(`echoctl.runner.camera`): the sealed zip for an exam, the working tree for development. The row
it ends in must be the very row that was recorded, so a film cannot show anything but what was
counted.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from echoctl.contract import Contract, Seeds
from echoctl.contract.model import Gif
from echoctl.desk.examining import check_results, exam_permit, sealed_code
from echoctl.desk.playing import (
    DEVELOPMENT,
    developed,
    needed,
    open_permit,
    outcome_path,
    plan,
    working_code,
)
from echoctl.desk.sealed import open_sealed
from echoctl.desk.workspace import Workspace, sha256
from echoctl.dossier import State
from echoctl.errors import Inconsistent, Refused, UsageError
from echoctl.runner.local import Local
from echoctl.runner.run import Artefact, Code
from echoctl.track.files import read_outcome
from echoctl.track.job import Job, Row, Value
from echoctl.worlds import Scene, Thing

if TYPE_CHECKING:
    from echoctl.track.outcome import Outcome


@dataclass(frozen=True)
class Moment:
    """What there was to see after an action (empty for the first); reward in thousandths."""

    scene: Scene
    action: str
    reward: int


@dataclass(frozen=True)
class Replay:
    """One recorded episode, moment by moment."""

    id: str
    job: str
    arm: str
    regime: str
    unit: int
    row: Mapping[str, Value]
    """The recorded row that this episode ended in."""
    moments: tuple[Moment, ...]
    end: str
    """``success``, ``harm`` or ``timeout``, as the world says."""

    @property
    def family(self) -> str:
        """Return the family of the world."""
        return str(self.row["family"])

    @property
    def seed(self) -> int:
        """Return the seed of the world."""
        return int(self.row["seed"])

    def as_json(self) -> dict[str, Any]:
        """Return the value that ``--json`` prints: actions and positions, no pictures."""
        return {
            "id": self.id, "job": self.job, "arm": self.arm, "regime": self.regime,
            "unit": self.unit, "row": dict(self.row), "end": self.end,
            "moments": [
                {"action": m.action, "reward": m.reward, "pos": m.scene.pos,
                 "heading": m.scene.heading}
                for m in self.moments
            ],
        }  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """One exhibit that the contract fixed before the exam: the arms side by side in one world."""

    text: str
    family: str
    regime: str
    stage: str
    unit: int
    episode: int
    replays: tuple[Replay, ...]


@dataclass
class _Stage:
    """Where recorded jobs come from: an exam's sealed ones, or the latest development run's."""

    ws: Workspace
    id: str
    contract: Contract
    jobs: Mapping[str, Job]
    outcomes: Path
    code: Code
    """What played them: the sealed zip, or the working tree."""
    artefacts: Mapping[str, Artefact]
    scratch: Path

    def rows(self, job: str) -> list[Row]:
        """Return the recorded rows of a job."""
        return _rows(read_outcome(outcome_path(self.outcomes, job)))

    def film(self, engine: Local, job: Job, numbers: Sequence[int]) -> list[Replay]:
        """Play a job until these rows were seen; Inconsistent if a row differs."""
        recorded = self.rows(job.id)
        films = self._films(engine, job, numbers)
        for at, film in enumerate(films):
            earlier = _said_before(recorded, film["number"])
            if film["walks"] == 0 and film["row"] == recorded[film["number"]] and earlier >= 0:
                # The track said an earlier row again without playing it again: one film is both's.
                (twin,) = self._films(engine, job, [earlier])
                films[at] = {**twin, "number": film["number"], "row": film["row"]}
        return [self._replay(job, film, recorded) for film in films]

    def _films(self, engine: Local, job: Job, numbers: Sequence[int]) -> list[dict[str, Any]]:
        needs = needed(job, self.artefacts)
        said = engine.ask({
            "op": "film", "job": job.as_json(), "rows": list(numbers),
            "needs": {n: {"path": str(a.path), "sha256": a.sha256} for n, a in needs.items()},
            "makes": {name: str(self.scratch / name) for name in job.makes},
        })  # fmt: skip
        films: list[dict[str, Any]] = said["films"]
        return films

    def _replay(self, job: Job, film: Mapping[str, Any], recorded: Sequence[Row]) -> Replay:
        if recorded[film["number"]] != film["row"]:
            raise Inconsistent(
                f"job {job.id} plays row {film['number']} differently from what was recorded",
                "use the interpreter and packages of the freeze, or run: echoctl dev "
                f"{self.id}, if it is a development run of other code",
            )
        if not film["walks"]:
            raise UsageError(f"job {job.id} builds no world for that episode", "nothing to look at")
        if film["walks"] > 1:
            raise UsageError(
                f"job {job.id} walked the world of row {film['number']} in {film['walks']} ways "
                "before it counted one of them, and which one is not recorded",
                "look at a row of a stage in which each world is played once",
            )
        things = [Thing(*held) for held in film["things"]]
        moments = tuple(
            Moment(
                Scene(
                    film["width"], film["height"], tuple(things[cell] for cell in cells), pos,
                    heading, things[hand],
                ),
                action, reward,
            )
            for cells, pos, heading, hand, action, reward in film["moments"]
        )  # fmt: skip
        return Replay(
            self.id, job.id, str(job.keys.get("arm", "")), str(job.keys.get("regime", "")),
            int(job.keys["unit"]), film["row"], moments, film["end"],
        )  # fmt: skip


def _said_before(rows: Sequence[Row], number: int) -> int:
    """Return the first row that says the same of an earlier round, or -1."""
    wanted = {**rows[number], "round": 0}
    same = (n for n in range(number) if {**rows[n], "round": 0} == wanted)
    return next(same, -1)


def _rows(outcome: Outcome) -> list[Row]:
    return [dict(zip(outcome.columns, row, strict=True)) for row in outcome.rows]


def replay(ws: Workspace, id: str, job: str, row: int = 0) -> Replay:
    """Return one recorded episode: row `row` (from 0) of a job, with everything to be seen.

    Exam jobs are refused before the exam is complete. Jobs of development come from the latest
    development run.
    """
    with tempfile.TemporaryDirectory(prefix="echoctl-") as place:
        stage = _stage(ws, id, Path(place), exam=not job.startswith(DEVELOPMENT))
        known = stage.jobs.get(job)
        if known is None:
            few = ", ".join(sorted(stage.jobs)[:3])
            raise UsageError(f"{id} has no recorded job {job!r}", f"jobs are called {few}, ...")
        rows = len(stage.rows(job))
        if not 0 <= row < rows:
            raise UsageError(f"job {job} has rows 0 to {rows - 1}", "choose one of these")
        with _projector(stage) as engine:
            return stage.film(engine, known, [row])[0]


def exhibits(ws: Workspace, id: str) -> tuple[Shown, ...]:
    """Return the exhibits that the contract fixed, from the completed exam."""
    with tempfile.TemporaryDirectory(prefix="echoctl-") as place:
        stage = _stage(ws, id, Path(place), exam=True)
        out: list[Shown] = []
        if stage.contract.exhibits:
            with _projector(stage) as engine:
                for exhibit in stage.contract.exhibits:
                    if exhibit.gif is not None:
                        out += _shown(stage, engine, exhibit.gif, exhibit.text)
        return tuple(out)


@contextmanager
def _projector(stage: _Stage) -> Iterator[Local]:
    """Start one worker on the code that played."""
    engine = Local()
    try:
        engine.start(stage.code, 1)
        yield engine
    finally:
        engine.stop()


def _shown(stage: _Stage, engine: Local, gif: Gif, text: str) -> list[Shown]:
    name = gif.stage or stage.contract.sealed_stages[0]
    world = stage.contract.worlds[name]
    regimes = world.regimes or stage.contract.regimes or ("",)
    regime = gif.regime or regimes[0]
    families = world.families if gif.each == "family" else world.families[:1]
    films: dict[str, dict[str, Replay]] = {family: {} for family in dict.fromkeys(families)}
    wanted = {(name, family, world.first_round, gif.episode) for family in films}
    for arm in gif.arms:
        for job in stage.jobs.values():
            keys = (job.keys.get("unit"), job.keys.get("arm"), job.keys.get("regime", ""))
            if keys != (gif.unit, arm, regime):
                continue
            numbers = [n for n, row in enumerate(stage.rows(job.id)) if _key(row) in wanted]
            for film in stage.film(engine, job, numbers):
                films[film.family].setdefault(arm, film)
    return [
        Shown(text, family, regime, name, gif.unit, gif.episode, tuple(by.values()))
        for family, by in films.items()
        if by
    ]


def _key(row: Row) -> tuple[str, str, int, int]:
    return str(row["stage"]), str(row["family"]), int(row["round"]), int(row["episode"])


def _stage(ws: Workspace, id: str, place: Path, *, exam: bool) -> _Stage:
    ws.require(id)
    dossier = ws.dossier(id)
    if not exam:
        return _development(ws, id, place)
    if dossier.state not in (State.COMPLETE, State.GREEN, State.RED):
        raise Refused(
            f"{id} is {dossier.state}: exam worlds are looked at when the exam is complete",
            f"see: echoctl status {id}",
        )
    sealed = open_sealed(ws, dossier)
    check_results(ws, dossier)
    assert dossier.claim is not None
    permit = exam_permit(sealed, str(dossier.claim["claim"]), rehearsal=dossier.rehearsal)
    return _Stage(
        ws, id, sealed.contract, {job.id: job for job in sealed.jobs}, ws.exam(id),
        sealed_code(sealed, permit), sealed.unpack(place / "needs"), place,
    )  # fmt: skip


def _development(ws: Workspace, id: str, place: Path) -> _Stage:
    runs = sorted((ws.artifacts(id) / "dev").glob("[0-9]*Z*/jobs"))
    if not runs:
        raise UsageError(f"{id} has no development run to replay", f"run: echoctl dev {id}")
    folder = runs[-1].parent
    contract = developed(ws, ws.working_contract(id))
    seeds = Seeds.lay_out(contract)
    trained = [*(folder / "training" / "make").glob("*/*"), *(folder / "inherited").glob("*")]
    made = {path.name: Artefact(path, sha256(path.read_bytes())) for path in sorted(trained)}
    jobs = {job.id: job for job in plan(ws, contract, seeds, DEVELOPMENT)}
    here = {job: value for job, value in jobs.items() if outcome_path(folder, job).exists()}
    code = working_code(ws, contract, open_permit(contract, seeds))
    return _Stage(ws, id, contract, here, folder, code, made, place)
