"""MEMORIA-X (contract A): what was learned in some worlds, put to use in others.

Training writes one memory a macro-seed (and one for the orthogonal arm); each exam or
development job plays one macro, regime and arm. A job carries everything it needs, so that what
is sealed needs no contract to run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from echoctl.arena import Episode, play
from echoctl.mind import Memory, Mind, Reading, Tables
from echoctl.track import Job, Row, Track, Workbench
from echoctl.tracks.memx.arms import MEMORY_OF, Seat, seat, turned_down
from echoctl.tracks.memx.policy import CURIOUS_RULES, RULES

if TYPE_CHECKING:
    from echoctl.contract import Contract
    from echoctl.contract.seeds import Seeds
    from echoctl.worlds import World

IDS_A1 = ("memx", "A1")
"""A1: one bijection for every world of the track, training included."""


class Memx(Track):
    """Plans and plays MEMORIA-X."""

    id: ClassVar[str] = "memx"

    def plan(self, contract: Contract, seeds: Seeds, phase: str) -> Sequence[Job]:
        """Return training jobs (one a macro and memory) or playing jobs (macro x regime x arm)."""
        macros = range(1, contract.unit.count + 1)
        bounds = {"n_min": contract.tunable["N_MIN"], "umbral": contract.tunable["UMBRAL"]}
        if phase == "training":
            stages: Mapping[str, str] = contract.settings["train"]
            return [
                Job(
                    id=f"train-{memory}-m{macro:02d}",
                    phase=phase,
                    keys={"unit": macro, "arm": memory, "regime": "A1"},
                    inputs={
                        "stage": stage,
                        "worlds": _worlds(contract, seeds, stage, macro),
                        "reading": bounds,
                    },
                    makes=(artefact(memory, macro),),
                )
                for memory, stage in stages.items()
                for macro in macros
            ]
        stage = contract.worlds[phase]
        loose = contract.settings["sin_cota"]
        return [
            Job(
                id=f"{phase}-m{macro:02d}-{regime.lower()}-{arm.id}",
                phase=phase,
                keys={"unit": macro, "arm": arm.id, "regime": regime},
                inputs={
                    "stage": phase,
                    "worlds": _worlds(contract, seeds, phase, macro),
                    "reading": (
                        {"n_min": loose["N_MIN"], "umbral": loose["UMBRAL"]}
                        if arm.id == "sin_cota"
                        else bounds
                    ),
                },
                needs=(artefact(MEMORY_OF[arm.id], macro),) if arm.id in MEMORY_OF else (),
            )
            for macro in macros
            for regime in stage.regimes or contract.regimes
            for arm in contract.arms
            if not stage.arms or arm.id in stage.arms
        ]

    def play(self, job: Job, bench: Workbench) -> Iterator[Row]:
        """Train a memory or play the episodes of one macro, regime and arm."""
        return _train(job, bench) if job.phase == "training" else _examine(job, bench)


def ids_of(regime: str, macro: int, family: str, seed: int) -> tuple[str | int, ...]:
    """Return the name of a world's bijection: A2 draws a new one for every episode.

    It is the same for every arm, so that all arms play the same worlds.
    """
    return IDS_A1 if regime == "A1" else ("memx", "A2", macro, family, seed)


def artefact(memory: str, macro: int) -> str:
    """Return the name of a trained memory's file."""
    return f"{memory}-m{macro:02d}.jsonl"


def chain_name(memory: str, macro: int) -> str:
    """Return the name in a trained memory's chain: its artefact's, or its head is not sealed.

    The freeze knows a chain by that name (docs/formats.md, "A memory").
    """
    return artefact(memory, macro)


def _worlds(contract: Contract, seeds: Seeds, stage: str, macro: int) -> list[list[Any]]:
    """Return ``[family, seeds]`` in the contract's order."""
    families = contract.worlds[stage].families
    return [[family, list(seeds.of(stage, family, macro))] for family in families]


def _reading(job: Job) -> Reading:
    bounds = job.inputs["reading"]
    return Reading(
        n_min=(bounds["n_min"], bounds["n_min"]), umbral=(bounds["umbral"], bounds["umbral"])
    )


def _train(job: Job, bench: Workbench) -> Iterator[Row]:
    """Play the training worlds in order, writing each episode's trials to the memory's file.

    Even episodes are curious: they probe what is unknown before walking to a known goal.
    """
    name, macro = str(job.keys["arm"]), int(job.keys["unit"])
    memory = Memory(chain_name(name, macro), bench.make(artefact(name, macro)), append=True)
    try:
        tables = Tables(_reading(job))
        plain = Mind(tables, RULES, learning=True, lasting="goal")
        curious = Mind(tables, CURIOUS_RULES, learning=True, lasting="goal")
        number = 0
        pending: Row | None = None
        for family, family_seeds in job.inputs["worlds"]:
            for episode, seed in enumerate(family_seeds):
                if pending is not None:
                    yield pending
                world = bench.world(family, seed, IDS_A1, job.inputs["stage"])
                mind = plain if episode % 2 else curious
                played = play(mind, world, episode=number)
                trials = mind.finish()
                for trial in trials:
                    memory.witness(trial)
                tables.add(trials)
                number += 1
                pending = _row(job, family, episode, seed, played, memory.destroyed())
        if pending is not None:
            pending["destroyed"] = int(pending["destroyed"]) + memory.destroyed_on_disk()
            yield pending
    finally:
        memory.close()


def _examine(job: Job, bench: Workbench) -> Iterator[Row]:
    """Play every world of the job; each episode starts from the arm's own starting memory."""
    arm, macro = str(job.keys["arm"]), int(job.keys["unit"])
    memory = None
    if arm in MEMORY_OF:
        kept = MEMORY_OF[arm]
        memory = Memory(chain_name(kept, macro), bench.artefact(artefact(kept, macro)))

    def seat_of(who: str, rates: tuple[int, int, int] = (0, 0, 0)) -> Seat:
        return seat(who, str(job.keys["regime"]), _reading(job), memory or (), rates)

    sit = learned = seat_of("aprendida" if arm == "marginal" else arm)
    pending: Row | None = None
    for family, family_seeds in job.inputs["worlds"]:
        if arm == "marginal":
            # The rates are those of the learned arm on the very same worlds (ADR 3).
            sit = seat_of(arm, _rates(job, bench, family, family_seeds, learned))
        rows = _episodes(job, bench, family, family_seeds, sit)
        for episode, (seed, played) in enumerate(zip(family_seeds, rows, strict=True)):
            if pending is not None:
                yield pending
            lost = memory.destroyed() if memory is not None else 0
            pending = _row(job, family, episode, seed, played, lost)
    if pending is not None:
        if memory is not None:
            pending["destroyed"] = int(pending["destroyed"]) + memory.destroyed_on_disk()
        yield pending


def _rates(
    job: Job, bench: Workbench, family: str, family_seeds: Sequence[int], learned: Seat
) -> tuple[int, int, int]:
    """Return how much the learned arm turns down in these worlds: asks, vetoes, prunes."""
    asks = blocks = modifies = 0
    for episode, world in enumerate(_built(job, bench, family, family_seeds)):
        start = world.reset()
        mind = learned(world)
        assert isinstance(mind, Mind)
        play(mind, world, episode=episode)
        found = turned_down(mind, start.cells[start.pos])
        asks, blocks, modifies = asks + found[0], blocks + found[1], modifies + found[2]
    return asks, blocks, modifies


def _episodes(
    job: Job, bench: Workbench, family: str, family_seeds: Sequence[int], sit: Seat
) -> Iterator[Episode]:
    for episode, world in enumerate(_built(job, bench, family, family_seeds)):
        yield play(sit(world), world, episode=episode)


def _built(job: Job, bench: Workbench, family: str, family_seeds: Sequence[int]) -> Iterator[World]:
    macro, regime = int(job.keys["unit"]), str(job.keys["regime"])
    for seed in family_seeds:
        ids = ids_of(regime, macro, family, seed)
        yield bench.world(family, seed, ids, job.inputs["stage"])


def _row(job: Job, family: str, episode: int, seed: int, played: Episode, destroyed: int) -> Row:
    return {
        "stage": job.inputs["stage"],
        "family": family,
        "round": 1,
        "episode": episode,
        "seed": seed,
        **played._asdict(),
        "destroyed": destroyed,
    }
