"""ACUMULA (contract B v1): correcting how one's memory is read, round after round.

One job is one macro-seed under one arm, with its whole life of rounds, validations, probes and
bank. The starting memory is MEMORIA-X's sealed one where the contract inherits it; a rehearsal,
and development before that exam, let MEMORIA-X's own training job make one on other seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from echoctl.mind import Memory
from echoctl.mind.edits import edit_of
from echoctl.track import Job, Row, Track, Workbench
from echoctl.tracks import memx
from echoctl.tracks.acumula import llm
from echoctl.tracks.acumula.life import ARMS, Life

if TYPE_CHECKING:
    from echoctl.contract import Contract
    from echoctl.contract.seeds import Seeds

TRAINING = "training"
"""The phase and the stage in which a starting memory is trained where none is inherited."""

LEARNED = "aprendida"
"""MEMORIA-X's trained memory from which every arm starts."""

STAGES = ("rounds", "validation", "probe", "bank")


class Acumula(Track):
    """Plans and plays ACUMULA; its successors change `life` and their contracts."""

    id: ClassVar[str] = "acumula"
    life: ClassVar[type[Life]] = Life

    def plan(self, contract: Contract, seeds: Seeds, phase: str) -> Sequence[Job]:
        """Return one job a macro and arm; in training, one a macro unless memories are inherited.

        The arm of the language model is planned only where an endpoint is configured; then its
        host is part of the job, and UsageError says what that endpoint lacks.
        """
        if phase == TRAINING:
            return [] if _heir(contract) else _trainings(contract, seeds)
        lead = "" if phase == "exam" else "dev_"
        stages = {name: lead + name for name in STAGES}
        macros = contract.worlds[stages["probe"]].units or contract.unit.count
        return [
            self._job(contract, seeds, phase, stages, macro, arm.id)
            for macro in range(1, macros + 1)
            for arm in contract.arms
            if llm.configured() or not ARMS[arm.id].by_model
        ]

    def _job(
        self, contract: Contract, seeds: Seeds, phase: str, stages: dict[str, str], macro: int,
        arm: str,
    ) -> Job:  # fmt: skip
        settings, rules = contract.settings, ARMS[arm]
        bounds = settings["bounds"]
        return Job(
            id=f"{phase}-m{macro:02d}-{arm}",
            phase=phase,
            keys={"unit": macro, "arm": arm, "regime": contract.regimes[0]},
            inputs={
                "track": self.id,
                "measures": list(contract.measures),
                "K": contract.tunable["K"] if "K" in contract.tunable else settings["K"],
                "gate": settings["gate"],
                "menu": [
                    list(settings["memory_edits"]),
                    list(settings["bound_n_min"]),
                    list(settings["bound_umbral"]),
                ],
                "bounds": [bounds["N_MIN"], bounds["UMBRAL"]],
                "settings": _settings(contract, asks=rules.by_model),
                "stages": {
                    name: _stage(contract, seeds, stage, macro)
                    for name, stage in stages.items()
                    if _played(contract, stage, arm)
                },
            },
            needs=(_artefact(contract, macro),) if rules.lives else (),
        )  # fmt: skip

    def play(self, job: Job, bench: Workbench) -> Iterator[Row]:
        """Train a starting memory, or live one macro under one arm."""
        if job.phase == TRAINING:
            return _train(job, bench)
        start = None
        for name in job.needs:
            kept = memx.chain_name(LEARNED, int(job.keys["unit"]))
            start = Memory(kept, bench.artefact(name))
        return self.life(job, bench, start).rows()

    def word(self, contract: Contract, measure: str, value: int) -> str:
        """Return an edit in words: ``refine(37, rank)``, ``commit+no_repick``."""
        if measure != "edit":
            return super().word(contract, measure, value)
        return edit_of(value).text(contract.settings.get("pieces", ()))


def _heir(contract: Contract) -> bool:
    return any(required.artefacts for required in contract.requires)


def _artefact(contract: Contract, macro: int) -> str:
    """Return the name of a macro's starting memory: ``TRACK.NAME`` where it is inherited."""
    name = memx.artefact(LEARNED, macro)
    return f"memx.{name}" if _heir(contract) else name


def _trainings(contract: Contract, seeds: Seeds) -> list[Job]:
    """Return jobs that are MEMORIA-X's own training jobs, on seeds of this contract."""
    stage, bounds = contract.worlds[TRAINING], contract.settings["bounds"]
    return [
        Job(
            id=f"train-m{macro:02d}",
            phase=TRAINING,
            keys={"unit": macro, "arm": LEARNED, "regime": "A1"},
            inputs={
                "stage": TRAINING,
                "worlds": [[f, list(seeds.of(TRAINING, f, macro))] for f in stage.families],
                "reading": {"n_min": bounds["N_MIN"], "umbral": bounds["UMBRAL"]},
                "measures": list(contract.measures),
            },
            makes=(memx.artefact(LEARNED, macro),),
        )
        for macro in range(1, (stage.units or contract.unit.count) + 1)
    ]


def _train(job: Job, bench: Workbench) -> Iterator[Row]:
    keys = ("stage", "family", "round", "episode", "seed")
    for row in memx.Memx().play(job, bench):
        failed = {"failed": 1 - int(row["success"])}
        kept = {**dict.fromkeys(job.inputs["measures"], 0), **failed}
        yield {name: row[name] if name in row else kept[name] for name in (*keys, *kept)}


def _played(contract: Contract, stage: str, arm: str) -> bool:
    return not contract.worlds[stage].arms or arm in contract.worlds[stage].arms


def _settings(contract: Contract, *, asks: bool) -> dict[str, Any]:
    """Return the settings that a life reads; with the sealed host where a model is asked."""
    settings = contract.settings
    names = ("pieces", "pairs", "only_with", "signals", "thresholds")
    said = {name: _plain(settings[name]) for name in names if name in settings}
    if asks:
        host = llm.Endpoint.from_environment(settings["llm"]).host
        said["llm"] = {**settings["llm"], "host": host}
    return said


def _stage(contract: Contract, seeds: Seeds, name: str, macro: int) -> dict[str, Any]:
    """Return a stage's name and worlds; a list over rounds unless every round plays the same."""
    stage = contract.worlds[name]

    def worlds(number: int) -> list[list[Any]]:
        families = stage.families_in(number)
        return [[family, list(seeds.of(name, family, macro, number))] for family in families]

    if stage.same_each_round:
        worlds_of_all = worlds(stage.first_round)
        return {"name": name, "worlds": worlds_of_all, "rounds": stage.rounds}
    rounds = range(stage.first_round, stage.first_round + stage.rounds)
    return {"name": name, "worlds": [worlds(number) for number in rounds]}


def _plain(value: object) -> object:
    """Return a setting as JSON has it: lists for tuples, plain mappings."""
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return value
