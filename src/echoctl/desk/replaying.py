"""Playing an episode again to look at it: never before the exam is complete, never another one.

The track plays as always; a workbench notes what each world showed. The row it ends in must be
the very row that was recorded, so a film cannot show anything but what was counted.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from echoctl.contract import Contract, Seeds
from echoctl.contract.model import Gif
from echoctl.desk.examining import check_results, exam_permit
from echoctl.desk.playing import (
    DEVELOPMENT,
    developed,
    needed,
    open_permit,
    outcome_path,
    plan,
)
from echoctl.desk.sealed import open_sealed
from echoctl.desk.workspace import Workspace
from echoctl.dossier import State
from echoctl.errors import Inconsistent, Refused, UsageError
from echoctl.percept import ACTION_NAMES, Percept
from echoctl.runner.run import Artefact
from echoctl.track.files import read_outcome
from echoctl.track.job import Job, Row, Value
from echoctl.track.loading import load_track
from echoctl.track.track import Track
from echoctl.worlds import Permit, Scene, World, build, scene

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


class _Recorded:
    """A world that remembers what it showed; everything else is the world's own."""

    def __init__(self, world: World) -> None:
        self.__dict__["world"] = world
        self.__dict__["moments"] = [Moment(scene(world), "", 0)]

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the world has
        return getattr(self.__dict__["world"], name)

    def reset(self) -> Percept:
        """Begin again, and forget what was shown."""
        percept: Percept = self.world.reset()
        self.__dict__["moments"] = [Moment(scene(self.world), "", 0)]
        return percept

    def step(self, action: int) -> Percept:
        """Take one action and remember what it led to."""
        percept: Percept = self.world.step(action)
        self.moments.append(Moment(scene(self.world), ACTION_NAMES[action], percept.reward))
        return percept


@dataclass
class _Camera:
    """A workbench whose worlds are recorded; nothing it makes is kept."""

    job: Job
    permit: Permit
    needs: Mapping[str, Artefact]
    scratch: Path
    root: Path
    takes: list[_Recorded] = field(default_factory=list)

    def world(self, family: str, seed: int, ids: tuple[str | int, ...], stage: str) -> Any:  # noqa: ANN401
        """Build a world at the permit's door and record it."""
        take = _Recorded(build(family, seed, ids=ids, permit=self.permit))
        self.takes.append(take)
        return take

    def artefact(self, name: str) -> Path:
        """Return a trained artefact's path."""
        return self.needs[name].path

    def make(self, name: str) -> Path:
        """Return a path that is thrown away."""
        return self.scratch / name

    def data(self, name: str) -> bytes:
        """Return a data file."""
        return (self.root / name).read_bytes()

    def digest(self, name: str, value: str) -> None:
        """Ignore it."""


Wanted = tuple[str, str, int, int]
"""Stage, family, round, episode."""


@dataclass
class _Stage:
    """Where recorded jobs come from: an exam's sealed ones, or the latest development run's."""

    ws: Workspace
    id: str
    contract: Contract
    jobs: Mapping[str, Job]
    outcomes: Path
    permit: Permit
    artefacts: Mapping[str, Artefact]
    place: Path

    def film(self, track: Track, job: Job, wanted: Iterable[Wanted]) -> dict[Wanted, Replay]:
        """Play a job until every wanted episode was seen; Inconsistent if a row differs."""
        open_ones, out = set(wanted), {}
        recorded = _rows(read_outcome(outcome_path(self.outcomes, job.id)))
        camera = _Camera(job, self.permit, needed(job, self.artefacts), self.place, self.ws.root)
        for number, row in enumerate(track.play(job, camera)):
            key = (str(row["stage"]), str(row["family"]), int(row["round"]), int(row["episode"]))
            if key in open_ones:
                if recorded[number] != row:
                    raise Inconsistent(
                        f"job {job.id} plays row {number} differently from what was recorded",
                        "the working tree is not what was sealed; check out what was frozen",
                    )
                out[key] = self._replay(job, row, camera.takes)
                open_ones.discard(key)
                if not open_ones:
                    break
            # Only this row's takes: a track may play one episode ahead of the row it yields.
            camera.takes[:] = [
                t for t in camera.takes if (t.family, t.seed) != (row["family"], row["seed"])
            ]
        return out

    def _replay(self, job: Job, row: Row, takes: Sequence[_Recorded]) -> Replay:
        fitting = [t for t in takes if (t.family, t.seed) == (row["family"], row["seed"])]
        if not fitting:
            raise UsageError(f"job {job.id} builds no world for that episode", "nothing to look at")
        last = fitting[-1]
        end = "success" if last.success else "harm" if last.harm else "timeout"
        return Replay(
            self.id, job.id, str(job.keys.get("arm", "")), str(job.keys.get("regime", "")),
            int(job.keys["unit"]), dict(row), tuple(last.moments), end,
        )  # fmt: skip


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
        rows = _rows(read_outcome(outcome_path(stage.outcomes, job)))
        if not 0 <= row < len(rows):
            raise UsageError(f"job {job} has rows 0 to {len(rows) - 1}", "choose one of these")
        chosen = rows[row]
        key = (
            str(chosen["stage"]), str(chosen["family"]), int(chosen["round"]),
            int(chosen["episode"]),
        )  # fmt: skip
        track = load_track(stage.contract.track, ws.root)
        return stage.film(track, known, [key])[key]


def exhibits(ws: Workspace, id: str) -> tuple[Shown, ...]:
    """Return the exhibits that the contract fixed, from the completed exam."""
    with tempfile.TemporaryDirectory(prefix="echoctl-") as place:
        stage = _stage(ws, id, Path(place), exam=True)
        track = load_track(stage.contract.track, ws.root)
        out: list[Shown] = []
        for exhibit in stage.contract.exhibits:
            out += _shown(stage, track, exhibit.gif, exhibit.text)
        return tuple(out)


def _shown(stage: _Stage, track: Track, gif: Gif, text: str) -> list[Shown]:
    name = gif.stage or stage.contract.sealed_stages[0]
    world = stage.contract.worlds[name]
    regimes = world.regimes or stage.contract.regimes or ("",)
    regime = gif.regime or regimes[0]
    families = world.families if gif.each == "family" else world.families[:1]
    films: dict[str, dict[str, Replay]] = {family: {} for family in dict.fromkeys(families)}
    for arm in gif.arms:
        for job in stage.jobs.values():
            keys = (job.keys.get("unit"), job.keys.get("arm"), job.keys.get("regime", ""))
            if keys != (gif.unit, arm, regime):
                continue
            wanted = [(name, family, world.first_round, gif.episode) for family in films]
            for key, film in stage.film(track, job, wanted).items():
                films[key[1]][arm] = film
    return [
        Shown(text, family, regime, name, gif.unit, gif.episode, tuple(by.values()))
        for family, by in films.items()
        if by
    ]


def _stage(ws: Workspace, id: str, place: Path, *, exam: bool) -> _Stage:
    ws.require(id)
    dossier = ws.dossier(id)
    if not exam:
        return _development(ws, id)
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
        ws, id, sealed.contract, {job.id: job for job in sealed.jobs}, ws.exam(id), permit,
        sealed.unpack(place / "needs"), place,
    )  # fmt: skip


def _development(ws: Workspace, id: str) -> _Stage:
    runs = sorted((ws.artifacts(id) / "dev").glob("[0-9]*Z*/jobs"))
    if not runs:
        raise UsageError(f"{id} has no development run to replay", f"run: echoctl dev {id}")
    folder = runs[-1].parent
    contract = developed(ws, ws.working_contract(id))
    seeds = Seeds.lay_out(contract)
    trained = [*(folder / "training" / "make").glob("*/*"), *(folder / "inherited").glob("*")]
    made = {path.name: Artefact(path, "") for path in sorted(trained)}
    jobs = {job.id: job for job in plan(ws, contract, seeds, DEVELOPMENT)}
    here = {job: value for job, value in jobs.items() if outcome_path(folder, job).exists()}
    return _Stage(ws, id, contract, here, folder, open_permit(contract, seeds), made, folder)
