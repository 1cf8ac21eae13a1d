"""ACUMULA-3 (contract B v3 with amendment 1): edits of memory and pieces of policy, chained.

It inherits ACUMULA's life and MEMORIA-X's policy and edits neither: the agent gets the hand fix,
and the pieces that are switched on, from its own `policy`; the menu gets the pieces that the
signals of failed episodes ask for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from echoctl.mind.edits import PIECES, Configuration, Edit, EditedTables
from echoctl.tracks.acumula import Acumula
from echoctl.tracks.acumula.diagnosis import Proposal
from echoctl.tracks.acumula.life import Life
from echoctl.tracks.acumula.policy import Agent
from echoctl.tracks.acumula3.policy import Handy, signals


class LifeWithPieces(Life):
    """A life whose menu also holds pieces of policy."""

    @property
    def names(self) -> list[str]:
        """The pieces, in the order of their bits in an edit's mask."""
        return list(self.settings["pieces"])

    def sit(self, configuration: Configuration, tables: EditedTables, *, learning: bool) -> Agent:
        """Return a handy agent with the configuration's pieces switched on."""
        on = configuration.pieces
        pieces = frozenset(name for at, name in enumerate(self.names) if on >> at & 1)
        steps = int(self.settings["thresholds"]["clear_steps"])
        return Handy(tables, pieces, learning=learning, clear_steps=steps)

    def signalled(self, agent: Agent) -> Iterable[str]:
        """Return the signals of a failed episode."""
        assert isinstance(agent, Handy)
        limits: Mapping[str, Any] = self.settings["thresholds"]
        return signals(agent, limits["pickdrop"], limits["retoggle"], limits["idle"])

    def pieces_menu(self, frequencies: Mapping[str, int] | None) -> list[Proposal]:
        """Return the pieces and pairs that could be switched on, those signalled most first.

        A piece is offered alone only when what it goes `only_with` is on already.
        """
        on = self.configuration.pieces
        bit = {name: 1 << at for at, name in enumerate(self.names)}
        found: dict[int, int] = {}
        for group in (*([name] for name in self.names), *self.settings["pairs"]):
            mask = sum(bit[name] for name in group)
            partners = sum(
                bit[self.settings["only_with"][name]]
                for name in group
                if name in self.settings["only_with"]
            )
            lit = mask & ~on
            if not lit or partners & ~(mask | on):
                continue
            times = 0
            if frequencies is not None:
                # The signal of what would be new: a pair of which one is on is the other alone.
                asked = [n for n in group if bit[n] & lit]
                times = min(frequencies.get(self.settings["signals"][n], 0) for n in asked)
                if not times:
                    continue
            found.setdefault(lit, times)
        order = sorted(found, key=lambda lit: -found[lit])
        return [Proposal(Edit(PIECES, lit), found[lit]) for lit in order]


class Acumula3(Acumula):
    """Plans and plays ACUMULA-3."""

    id: ClassVar[str] = "acumula3"
    life: ClassVar[type[Life]] = LifeWithPieces
