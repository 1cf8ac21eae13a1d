"""One job: one macro-seed lived under one arm, round after round.

Contracts B v1 to B v3: play the round's worlds learning online; at its end look for what misled,
propose edits, try each in the round's validation worlds without learning, keep what the gate lets
through; then play the probe on copies of the memory that are thrown away. Tracks that add to the
menu (B v3's pieces) override `sit`, `signalled` and `pieces_menu`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from echoctl.arena import Episode, play
from echoctl.draws import Draws
from echoctl.mind import Memory, Reading
from echoctl.mind.edits import PIECES, Configuration, Edit, EditedTables, Experience
from echoctl.mind.roles import UNKNOWN
from echoctl.track import Job, Row, Workbench
from echoctl.tracks.acumula import llm
from echoctl.tracks.acumula.diagnosis import Diagnosis, Menu, Proposal
from echoctl.tracks.acumula.gates import GATES, Score
from echoctl.tracks.acumula.policy import Agent, Fault

FULL_MENU: Final = 40
"""How many candidates a language model is shown at most."""


class Rules(NamedTuple):
    """How an arm accumulates."""

    proposes: bool = True
    resets: bool = False
    """Every round starts again from the base configuration."""
    at_the_end: bool = False
    """Proposes only after the last round, with the whole budget, from every failure seen."""
    by_chance: bool = False
    by_model: bool = False
    given: bool = False
    """Every piece of policy is on from the start."""
    lives: bool = True
    """Plays rounds; without, it starts from an empty memory and plays the probe alone."""


ARMS: Final[Mapping[str, Rules]] = {
    "recursiva": Rules(),
    "azar": Rules(by_chance=True),
    "sin_acumular": Rules(resets=True),
    "fija": Rules(proposes=False),
    "lote_final": Rules(at_the_end=True),
    "vacia_online": Rules(proposes=False, lives=False),
    "piezas_dadas": Rules(given=True),
    "llm": Rules(by_model=True),
}


class Life:
    """Plays one job and yields its rows."""

    def __init__(self, job: Job, bench: Workbench, start: Memory | None) -> None:
        given = job.inputs
        self.bench = bench
        self.arm = str(job.keys["arm"])
        self.macro = int(job.keys["unit"])
        self.rules = ARMS[self.arm]
        self.track = str(given["track"])
        self.stages: Mapping[str, Mapping[str, Any]] = given["stages"]
        self.settings: Mapping[str, Any] = given["settings"]
        self.k = int(given["K"])
        self.gate = GATES[given["gate"]]
        self.menu = Menu.of(*given["menu"])
        n_min, umbral = given["bounds"]
        self.base = Reading(n_min=(n_min, n_min), umbral=(umbral, umbral))
        self.measures: frozenset[str] = frozenset(given["measures"])
        self.start = start
        self.memory = Memory(f"{self.track}/{self.arm}/{self.macro}")
        for trial in start or ():
            self.memory.witness(trial)
        self.experience = Experience(self.memory)
        self.origin = Configuration()
        if self.rules.given:
            self.origin = self.origin.with_(Edit(PIECES, (1 << len(self.settings["pieces"])) - 1))
        self.configuration = self.origin
        self.faults: list[Fault] = []
        self.cleared: set[tuple[int, int]] = set()
        """(layer, key) that turned something down, untested, where the goal was reached."""
        self.signals: Counter[str] = Counter()
        self.rejected: set[Edit] = set()
        """Edits that were validated and turned down in an earlier round."""
        self.number = 0 if start is None else 1 + max((t.episode for t in start), default=0)
        self.heard: list[llm.Choice] = []
        """What a language model answered in each round that asked it."""
        self.trouble = 0

    # --- what a track may add -----------------------------------------------------------------

    def sit(self, configuration: Configuration, tables: EditedTables, *, learning: bool) -> Agent:
        """Return the agent that plays under a configuration."""
        return Agent(tables, learning=learning)

    def signalled(self, agent: Agent) -> Iterable[str]:
        """Return the signals of a failed episode that just ended."""
        return ()

    def pieces_menu(self, frequencies: Mapping[str, int] | None) -> list[Proposal]:
        """Return pieces of policy that could be switched on now, those signalled most first.

        With None in place of frequencies: every piece that could be, for chance to draw from.
        """
        return []

    # --- the whole life -----------------------------------------------------------------------

    def rows(self) -> Iterator[Row]:
        """Live it all. The last row also counts what the starting memory lost on disk.

        A life that asked a language model records what it heard, as the digest `llm.HEARD`.
        """
        pending: Row | None = None
        for row in self._rows():
            if pending is not None:
                yield pending
            pending = row
        if pending is not None:
            if self.start is not None:
                pending["destroyed"] = int(pending["destroyed"]) + self.start.destroyed_on_disk()
            yield pending
        if self.rules.by_model:
            self.bench.digest(llm.HEARD, llm.heard(self.heard))

    def _rows(self) -> Iterator[Row]:
        if not self.rules.lives:
            yield from self._idle_probe()
            return
        yield from self._probe(0)
        for number, _ in enumerate(self.stages["rounds"]["worlds"], start=1):
            rows = self._learn(number)
            score_rows = self._correct(number, rows)
            yield from rows
            yield from score_rows
            yield from self._probe(number)
            if self.rules.resets:
                self.configuration = self.origin
        if "bank" in self.stages:
            yield from self._bank()

    def _learn(self, number: int) -> list[Row]:
        """Play the worlds of a round, learning online; note what went wrong."""
        if not self.rules.at_the_end:
            self.faults.clear()
            self.signals.clear()
            self.cleared.clear()
        tables = self.experience.read(self.configuration.reading(self.base))
        agent = self.sit(self.configuration, tables, learning=True)
        stage = self.stages["rounds"]
        rows = []
        for family, seeds in stage["worlds"][number - 1]:
            for episode, seed in enumerate(seeds):
                played = self._play(agent, stage["name"], family, seed)
                for trial in (trials := agent.finish()):
                    self.memory.witness(trial)
                tables.add(trials)
                self.experience.add(trials)
                failed = not played.success
                self.faults += agent.blamed(failed=failed, harmed=bool(played.harm))
                if failed:
                    self.signals.update(self.signalled(agent))
                else:
                    self.cleared.update(belief[1:] for _, belief in agent.refusals())
                rows.append(self._row(stage["name"], family, number, episode, seed, played))
        return rows

    def _correct(self, number: int, rows: list[Row]) -> list[Row]:
        """Propose, validate in order and keep what passes; note each on a row of the round.

        Returns the rows of the validation worlds under the configuration that leaves the round.
        """
        kept, kept_rows = self._validate(number, self.configuration)
        candidates = self._candidates(number)
        if len(candidates) > len(rows):
            raise ValueError(f"{len(candidates)} candidates for {len(rows)} rows of a round")
        turned_down = set()
        for row, (edit, explained) in zip(rows, candidates, strict=False):
            tried = self.configuration.with_(edit)
            score, score_rows = self._validate(number, tried)
            said = {"tried": 1, "edit": edit.code, "explained": explained}
            if self.gate(kept, score):
                lit = edit.key & ~self.configuration.pieces if edit.kind == PIECES else 0
                said["pieces"] = lit.bit_count()
                said["accepted"] = int(edit.kind != PIECES)
                said["redeemed"] = int(number >= 2 and self._redeems(edit))
                self.configuration, kept, kept_rows = tried, score, score_rows
            else:
                said["explained"] = 0
                turned_down.add(edit)
            row.update({name: value for name, value in said.items() if name in self.measures})
        self.rejected |= turned_down
        if "unanswered" in self.measures:
            rows[0]["unanswered"] = self.trouble
        return kept_rows

    def _redeems(self, edit: Edit) -> bool:
        """Say whether an edit that is about to enter was turned down in an earlier round.

        Pieces are compared by what they would light now: a pair of which one is on is the other.
        """
        on = self.configuration.pieces

        def new(one: Edit) -> Edit:
            return one._replace(key=one.key & ~on) if one.kind == PIECES else one

        return new(edit) in map(new, self.rejected)

    def _candidates(self, number: int) -> list[Proposal]:
        """Return what this arm proposes at the end of a round."""
        self.trouble = 0
        last = len(self.stages["rounds"]["worlds"])
        if not self.rules.proposes or (self.rules.at_the_end and number < last):
            return []
        budget = self.k * last if self.rules.at_the_end else self.k
        diagnosis = Diagnosis(self.configuration, self.base, self.experience, self.menu)
        # What turned the same down where the goal was reached is not what kept from reaching it.
        ranked = diagnosis.proposals(
            fault
            for fault in self.faults
            if fault.did != UNKNOWN or fault.belief[1:] not in self.cleared
        )
        pieces = self.pieces_menu(self.signals)
        if self.rules.by_model:
            return self._asked(ranked[:FULL_MENU]) + pieces
        if not self.rules.by_chance:
            return ranked[:budget] + pieces
        draws = Draws(self.track, "azar", self.macro, number)
        edits = draws.shuffled(diagnosis.valid())[: len(ranked[:budget])]
        others = draws.shuffled(self.pieces_menu(None))[: len(pieces)]
        explains = dict(ranked)
        return [Proposal(edit, explains.get(edit, 0)) for edit in edits] + others

    def _asked(self, ranked: Sequence[Proposal]) -> list[Proposal]:
        """Let a language model choose from the ranked candidates; keys are opaque numbers."""
        if not ranked:
            return []
        menu = [(p.edit.text(), p.explained) for p in ranked]
        choice = llm.ask(self.settings["llm"], menu, self.k)
        self.heard.append(choice)
        self.trouble = int(choice.trouble != llm.ANSWERED)
        return [ranked[number - 1] for number in choice.numbers]

    # --- worlds that are only measured in -----------------------------------------------------

    def _validate(self, number: int, configuration: Configuration) -> tuple[Score, list[Row]]:
        """Play the round's validation worlds without learning."""
        stage = self.stages["validation"]
        tables = self.experience.read(configuration.reading(self.base))
        agent = self.sit(configuration, tables, learning=False)
        rows = [
            self._row(stage["name"], family, number, episode, seed, played)
            for family, seeds in stage["worlds"][number - 1]
            for episode, seed in enumerate(seeds)
            if (played := self._play(agent, stage["name"], family, seed))
        ]
        totals = [sum(int(row[name]) for row in rows) for name in ("harm", "success", "waste")]
        return Score(*totals), rows

    def _probe(self, number: int) -> Iterator[Row]:
        """Play each family of the probe on a copy of the memory that learns and is thrown away."""
        stage = self.stages["probe"]
        whole = self.experience.read(self.configuration.reading(self.base))
        for family, seeds in stage["worlds"]:
            tables = whole.copy()
            agent = self.sit(self.configuration, tables, learning=True)
            for episode, seed in enumerate(seeds):
                played = self._play(agent, stage["name"], family, seed)
                tables.add(agent.finish())
                yield self._row(stage["name"], family, number, episode, seed, played)

    def _idle_probe(self) -> Iterator[Row]:
        """Say what a probe without rounds measures in every round: each time the same."""
        rows = list(self._probe(0))
        for number in range(int(self.stages["probe"]["rounds"])):
            yield from ({**row, "round": number} for row in rows)

    def _bank(self) -> Iterator[Row]:
        """Play A's bank on the final memory: round 0 the base configuration, round 1 the final.

        As in A, every episode starts from that memory and nothing is kept of it.
        """
        stage = self.stages["bank"]
        for number, configuration in enumerate((self.origin, self.configuration)):
            tables = self.experience.read(configuration.reading(self.base))
            agent = self.sit(configuration, tables, learning=False)
            for family, seeds in stage["worlds"]:
                for episode, seed in enumerate(seeds):
                    played = self._play(agent, stage["name"], family, seed)
                    yield self._row(stage["name"], family, number, episode, seed, played)

    def _play(self, agent: Agent, stage: str, family: str, seed: int) -> Episode:
        """Play one episode; every arm meets the same world under the same opaque ids."""
        world = self.bench.world(family, seed, (self.track, "A2", family, seed), stage)
        self.number += 1
        return play(agent, world, episode=self.number)

    def _row(
        self, stage: str, family: str, number: int, episode: int, seed: int, played: Episode
    ) -> Row:
        row: Row = {
            "stage": stage, "family": family, "round": number, "episode": episode, "seed": seed,
        }  # fmt: skip
        row.update(dict.fromkeys(self.measures, 0))
        measured = {
            "success": played.success, "harm": played.harm, "failed": int(not played.success),
            "waste": played.waste, "steps": played.steps, "destroyed": self.memory.destroyed(),
        }  # fmt: skip
        row.update({name: value for name, value in measured.items() if name in self.measures})
        return row
