"""A mind: percepts in, actions out, whole numbers throughout.

The machinery that every policy shares: what is believed and why, one trial a key and episode,
plans that last until something they rest on changes, and the gate that each proposal must pass.
What to want is not decided here: a policy is an ordered list of named rules (`Rule`), and the
first one that makes a plan is followed. Contract A section 2.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from echoctl.mind.beliefs import NO_BELIEF, Beliefs
from echoctl.mind.board import Ways, around, facing
from echoctl.mind.gate import MODIFY, OK, Decision, Failure, Gate
from echoctl.mind.reading import Belief, Tables
from echoctl.mind.roles import (
    ACTION_OF,
    AUTO,
    DROP,
    ENTER,
    HURT,
    NONE,
    NOOP,
    UNKNOWN,
    WATCH,
    Trial,
    consequence,
    kind_of,
)
from echoctl.percept import DROP as PUT
from echoctl.percept import FORWARD, WAIT, Percept

Choice: TypeAlias = Callable[["Mind", int], int]
"""What to do to an id: a kind of action, or -1 for nothing."""
Filter: TypeAlias = Callable[["Mind", int], bool]
"""Whether what was chosen for an id is wanted now."""
Rule: TypeAlias = tuple[str, Callable[["Mind"], bool]]
"""A name and a function that makes a plan (True) or leaves it to the next rule (False)."""
Veto: TypeAlias = Callable[["Mind", int, int, int], bool]
"""Whether a policy piece forbids (mind, id, kind, cell) at this moment."""
Listener: TypeAlias = Callable[["Mind", Percept, int, Percept], None]
"""Told of every step: (mind, before, action, after), after the mind has learned from it."""


def _walkable(mind: Mind, id_: int) -> int:
    return ENTER if mind.role(id_ * 8 + ENTER) == NONE else -1


class Mind(Beliefs):
    """One agent. `begin` an episode, then `act` and `feel` in turn, then `finish`.

    `tables` is what it starts from and never changes. With `learning` it keeps the trials of the
    episode for `finish` to hand over; without, it only lives them.
    """

    def __init__(
        self, tables: Tables, rules: Sequence[Rule], *, gate: Gate | None = None,
        learning: bool = False, lasting: str = "", vetoes: Sequence[Veto] = (),
        listeners: Sequence[Listener] = (),
    ) -> None:  # fmt: skip
        self.tables = tables
        self.rules = tuple(rules)
        self.gate = gate or Gate()
        self.learning = learning
        self.lasting = lasting
        """The rule whose plans outlive the movement of others (the gate watches every step)."""
        self.vetoes = tuple(vetoes)
        self.listeners = tuple(listeners)

    # --- one episode --------------------------------------------------------------------------

    def begin(self, percept: Percept, episode: int = 0) -> None:
        """Start an episode: nothing lived, an empty hand, everything to be looked up."""
        self.episode = episode
        self._begin_beliefs(percept)
        self.geometry = self.board.geometry
        self.steps = 0
        self.action = WAIT
        self.rule = ""
        self._path: list[int] = []
        self._goal_key = -1
        self._classes = len(self.board.present)
        self._unseen = False
        """Whether the last change showed a class for the first time."""
        self.resting = False
        self.settled = False
        """At rest for reasons that no movement of known things can change."""
        self.intention: tuple[int, int] | None = None
        """What it is about to do once the hand is free: (id, kind)."""
        self.free = 0
        self.trials: dict[int, Trial] = {}
        self._decisions: list[tuple[int, str, int, Belief]] = []
        self.failures: list[Failure] = []
        self.idle = 0
        """Steps at rest in a row."""
        self.stamp = 0
        """Grows whenever something on the board or in the hand changed by its own doing."""
        self.picks: dict[int, int] = {}
        """id -> times it was picked up."""
        self.changes: dict[int, int] = {}
        """cell -> times that acting upon it changed it."""
        self.gate.begin(self)

    def act(self) -> int:
        """Return the next action."""
        if self.resting:
            self.idle += 1
            action = WAIT
        elif len(self._path) > 1 and self._path[-1] != FORWARD:
            action = self._path.pop()
        else:
            action = self._advance()
        self.action = action
        return action

    def feel(self, after: Percept) -> None:
        """Learn from what followed the last action."""
        before, action = self.now, self.action
        if after.cells is before.cells and after.hand == before.hand and self._is_routine(after):
            self.now = after
            self.steps += 1
            for listener in self.listeners:
                listener(self, before, action, after)
            return
        carrying = self.carrying
        kind = kind_of(action, carrying)
        front = -1
        judged = False
        if kind >= 0:
            front = before.pos + self.geometry.steps[before.heading]
            key = before.cells[front] * 8 + kind
            judged = (
                kind != ENTER or after.pos == before.pos or after.terminal
                or self.lived[key] != NONE or after.reward > 0
                or (self.learning and key not in self.trials)
            )  # fmt: skip
            if judged:
                belief = self.believe(key)
                shape = self.board.shape(key >> 3) if self.learning else None
        self.now = after
        self.carrying = after.hand != self.empty
        self.steps += 1
        changed, elsewhere = self.board.update(after.cells, front)
        if changed:
            present = self.board.present
            self._unseen = len(present) > self._classes
            if self._unseen:
                self._touched += present[self._classes :]
                self._classes = len(present)
            if self._look_again(changed):
                self._path.clear()
                if not self.settled:
                    self.resting = False
        if after.hand != before.hand:
            if not carrying:
                self.picks[after.hand] = self.picks.get(after.hand, 0) + 1
            self._forget_hand()
            self._renew()
        if judged:
            shut = kind >= DROP and self._shuts(after.cells[front])
            role = consequence(kind, before, after, front, carrying, shut)
            if role != UNKNOWN:
                if shape is not None and key not in self.trials:
                    self.trials[key] = Trial(self.episode, key >> 3, kind, role, shape)
                if role in (HURT, NOOP):
                    self.failures.append(Failure(self.steps, self.rule, key, role, belief))
                if self._live(key, role, before.hand):
                    self._path.clear()
                    self.resting = False
            if kind == ENTER and after.pos == before.pos:
                self._path.clear()
            if changed and front >= 0 and after.cells[front] != before.cells[front]:
                self.changes[front] = self.changes.get(front, 0) + 1
                self._renew()
        if elsewhere:
            if self.rule != self.lasting:
                self._path.clear()
            if self._unseen or not self.settled:
                self.resting = False
        for listener in self.listeners:
            listener(self, before, action, after)

    def finish(self) -> list[Trial]:
        """End the episode and return its trials, one a (id, kind), in the order lived.

        What was watched comes last: every id still on the board either moved by itself or did not.
        """
        if self.learning and self.steps:
            for id_ in self.board.present:
                if not self.board.masks[id_]:
                    continue  # what is gone by now shows no shape any more
                role = AUTO if self.board.movers[id_] else NONE
                key = id_ * 8 + WATCH
                shape = self.board.shape(id_)
                self.trials[key] = Trial(self.episode, id_, WATCH, role, shape)
        return list(self.trials.values())

    def rest(self, steps: int) -> None:
        """Count steps that were left out because a mind at rest would have waited through them."""
        self.steps += steps
        self.idle += steps

    def counts(self) -> tuple[int, int, int, int]:
        """Return asks, hits, blocks and modifies of the gate in this episode."""
        gate = self.gate
        return gate.asks, gate.hits, gate.blocks, gate.modifies

    @property
    def decisions(self) -> list[Decision]:
        """Every plan of this episode, in order."""
        return [Decision(*fields) for fields in self._decisions]

    @property
    def rest_kind(self) -> int:
        """0 awake; 1 at rest until a cell changes; 2 at rest until an unseen class appears.

        A learning mind never says 2: what it would still have watched is part of its memory.
        """
        if not self.resting:
            return 0
        return 2 if self.settled and not self.learning else 1

    # --- plans --------------------------------------------------------------------------------

    def pursue(
        self, choose: Choice, *, when: Filter | None = None, drop_first: bool = False,
        insist: bool = False,
    ) -> bool:  # fmt: skip
        """Plan to do the chosen thing to the nearest cell of a class that has one; say if it can.

        The gate is asked about the nearest; where it says no, `choose` is asked again for that
        class and may offer the next kind of action in its place. `choose` looks at the hand and
        at one class alone (what is believed of it, its verdicts), so its answer is kept until one
        of these changes; what looks at more goes into `when`, which is asked every time.

        With `drop_first` the plan is to put down what is held beside that cell and to act on it
        next: walking there first keeps it from dropping, going, coming back and picking up again.
        With `insist` what the gate would only prune (MODIFY) is done all the same; what it blocks
        never is.
        """
        chosen = self._choose(choose)
        if not chosen:
            return False
        masks, verdicts = self.board.masks, self.gate.verdicts
        most = MODIFY if insist else OK
        wanted: dict[int, int] = {}
        targets = 0
        for id_, kind in chosen.items():
            mask = masks[id_]
            if mask and verdicts[id_ * 8 + kind] <= most and (when is None or when(self, id_)):
                wanted[id_] = kind
                targets |= mask
        while wanted:
            found = self._seek(targets)
            if found is None:
                break
            path, cell = found
            id_ = self.now.cells[cell]
            targets ^= masks[id_]
            kind = self._admit(choose, cell, wanted.pop(id_), most)
            if kind < 0:
                continue
            if not drop_first:
                self._plan([ACTION_OF[kind], *path], id_ * 8 + kind)
                return True
            way = self._drop_beside(cell)
            if way is not None:
                self.intention = (id_, kind)
                self._plan(way, -1)
                return True
            self.hindered = True
        self.hindered |= bool(wanted)
        return False

    def ground(self) -> int:
        """Return the cells of the commonest free class, unless things cannot be put on it."""
        masks = self.board.masks
        best, most = 0, 0
        for id_ in self.board.present:
            if self.role(id_ * 8) == NONE and self.role(id_ * 8 + DROP) != NOOP:
                count = masks[id_].bit_count()
                if count > most:
                    best, most = masks[id_], count
        return best

    def wait(self) -> bool:
        """Plan one step of waiting."""
        self._plan([WAIT], -1)
        return True

    def rest_here(self) -> bool:
        """Plan to wait until something changes.

        Settled if no rule had anything to go for, wherever it might stand. Otherwise something
        was out of reach, and a change on the board may bring it within reach.
        """
        self.resting = True
        self.settled = not self.hindered
        return self.wait()

    # --- inside -------------------------------------------------------------------------------

    def _is_routine(self, after: Percept) -> bool:
        """Say whether a step that changed nothing taught nothing: turns, waits, known ground."""
        action, before = self.action, self.now
        if action < FORWARD or action == WAIT:
            return True
        if action != FORWARD or self.learning or after.terminal or after.reward > 0:
            return False
        key = before.cells[before.pos + self.geometry.steps[before.heading]] * 8 + ENTER
        return after.pos != before.pos and self.lived[key] == NONE

    def _advance(self) -> int:
        """Take the next step of a plan while it still holds, else decide anew."""
        path = self._path
        if path:
            key = self.now.cells[self.now.pos + self.geometry.steps[self.now.heading]] * 8
            if len(path) == 1:
                as_planned = self._goal_key < 0 or key >> 3 == self._goal_key >> 3
            else:
                as_planned = self.lived[key] == NONE or (
                    self.role(key) == NONE and self.gate.ask(key, self.rule) == OK
                )
            if as_planned:
                return path.pop()
            if self.role(key) == HURT:
                self.gate.ask(key, self.rule)  # it moved into the way: the gate says why not
            path.clear()
        return self._decide()

    def _decide(self) -> int:
        """Ask the rules in order; the first that makes a plan is followed."""
        free = 0
        masks = self.board.masks
        for id_ in self._choose(_walkable):
            free |= masks[id_]
        self.free = free
        here = self.geometry.bits[self.now.pos]
        self.ways = Ways(self.geometry.stride, free, here, self.now.heading)
        self.hindered = False
        self.resting = self.settled = False
        for name, rule in self.rules:
            self.rule = name
            if rule(self):
                break
        else:
            raise RuntimeError("a policy ends with a rule that always makes a plan")
        if self.resting:
            self.idle += 1
        else:
            self.idle = 0
        action = self._path.pop()
        if action == FORWARD and self._path:
            # The first step of a new plan passes the gate like every other.
            key = self.now.cells[self.now.pos + self.geometry.steps[self.now.heading]] * 8
            if self.lived[key] != NONE and self.gate.ask(key, self.rule) != OK:
                self._path.clear()
                action = WAIT
        belief = self.believe(self._goal_key) if self._goal_key >= 0 else NO_BELIEF
        self._decisions.append((self.steps, self.rule, self._goal_key, belief))
        return action

    def _admit(self, choose: Choice, cell: int, kind: int, most: int) -> int:
        """Return the first kind proposed for a cell that nobody turns down, or -1.

        Where the gate prunes one, `choose` may propose the next in its place.
        """
        id_ = self.now.cells[cell]
        while True:
            for veto in self.vetoes:
                if veto(self, id_, kind, cell):
                    self.hindered = True
                    return -1
            if self.gate.ask(id_ * 8 + kind, self.rule) <= most:
                return kind
            self._touched.append(id_)
            instead = choose(self, id_)
            if instead < 0 or instead == kind:
                return -1
            kind = instead

    def _choose(self, choose: Choice) -> dict[int, int]:
        """Return id -> kind for every class that `choose` chooses something for."""
        touched = self._touched
        kept = self._chosen.get(choose)
        if kept is None:
            chosen = {}
            for id_ in self.board.present:
                if (kind := choose(self, id_)) >= 0:
                    chosen[id_] = kind
        else:
            chosen, seen = kept
            if seen == len(touched):
                return chosen
            for id_ in set(touched[seen:]):
                if (kind := choose(self, id_)) >= 0:
                    chosen[id_] = kind
                else:
                    chosen.pop(id_, None)
        self._chosen[choose] = chosen, len(touched)
        return chosen

    def _plan(self, path: list[int], key: int) -> None:
        self._path = path
        self._goal_key = key

    def _seek(self, targets: int) -> tuple[list[int], int] | None:
        """Return the way to face the nearest of some cells (as bits), and that cell."""
        geo = self.geometry
        found = self.ways.nearest(facing(geo.stride, targets))
        if found is None:
            return None
        path, bit, heading = found
        at = bit.bit_length() - 1
        return path, at - at // geo.stride + geo.steps[heading]

    def _drop_beside(self, cell: int) -> list[int] | None:
        """Return the way to put down what is held on free ground next to a cell."""
        geo = self.geometry
        target = geo.bits[cell]
        here = geo.bits[self.now.pos]
        beside = around(geo.stride, target) & (self.free | here)
        spots = self.ground() & ~target
        east, south, west, north = facing(geo.stride, spots)
        want = (east & beside, south & beside, west & beside, north & beside)
        way = self.ways.nearest(want)
        return None if way is None else [PUT, *way[0]]

    def _renew(self) -> None:
        """Something changed by its own doing: plans and rest end."""
        self.stamp += 1
        self._path.clear()
        self.resting = False
