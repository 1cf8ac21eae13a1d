"""Every seed of every block: a function of the contract, published before anything is played.

Inside a block the seeds are consecutive from ``base`` in the order unit, round, family,
episode (docs/formats.md, ``seeds/ID.json``). So a stranger lays them out again from the
contract alone, and a seed that was changed by hand has nowhere to hide.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from echoctl.canon import canonical, digest_of
from echoctl.contract.model import Contract, Stage
from echoctl.errors import CheckFailed, Inconsistent

SCHEMA = "echoctl/seeds/1"

Rounds = tuple[tuple[int, ...], ...]
"""One tuple of seeds a round; empty where the family is not played in that round."""


@dataclass(frozen=True)
class Block:
    """The seeds of one stage, or a reserved range that holds none yet (`family` is empty)."""

    name: str
    base: int
    size: int
    """Length of the whole range; at least the number of seeds that it holds."""
    family: Mapping[str, Mapping[int, Rounds]]
    """family -> unit (from 1) -> rounds -> seeds."""
    first_round: int = 1
    same_each_round: bool = False
    """Every round plays the same worlds, so only one round is listed."""
    rounds: int = 1

    def seeds(self) -> Iterator[tuple[str, int, int, int, int]]:
        """Yield every ``(family, unit, round, episode, seed)``."""
        for family, units in self.family.items():
            for unit, rounds in units.items():
                for offset, seeds in enumerate(rounds):
                    for episode, seed in enumerate(seeds):
                        yield family, unit, self.first_round + offset, episode, seed

    def as_json(self) -> dict[str, Any]:
        """Return the block as ``seeds/ID.json`` holds it."""
        return {
            "base": self.base,
            "size": self.size,
            "family": {
                family: {
                    str(unit): [list(seeds) for seeds in rounds] for unit, rounds in units.items()
                }
                for family, units in self.family.items()
            },
        }


@dataclass(frozen=True)
class Seeds:
    """All seed blocks of one contract."""

    contract: str
    blocks: Mapping[str, Block]

    @classmethod
    def lay_out(cls, contract: Contract) -> Seeds:
        """Return the seeds that this contract fixes.

        Raises CheckFailed when two of its blocks overlap or a block is too small for its seeds.
        """
        blocks = {}
        for name, block in contract.seeds.items():
            stage = contract.worlds.get(name)
            blocks[name] = _lay_block(name, block.base, block.size, stage, contract.unit.count)
        seeds = cls(contract.id, blocks)
        if problems := seeds.overlaps():
            raise CheckFailed(
                "; ".join(problems), "move a block's `base`, or give it a smaller `size`"
            )
        return seeds

    def of(self, block: str, family: str, unit: int, round: int | None = None) -> tuple[int, ...]:
        """Return the seeds of one unit (from 1) in one family, in episode order.

        `round` is counted as the stage counts it (from its ``first_round``, which is what None
        means). Raises KeyError when the contract has no such block, family, unit or round.
        """
        laid = self.blocks[block]
        number = laid.first_round if round is None else round
        if not laid.first_round <= number < laid.first_round + laid.rounds:
            raise KeyError(f"block {block} has no round {number}")
        return laid.family[family][unit][0 if laid.same_each_round else number - laid.first_round]

    def ranges(self, block: str) -> range:
        """Return the whole range of a block, the unused end included."""
        laid = self.blocks[block]
        return range(laid.base, laid.base + laid.size)

    def overlaps(self, other: Seeds | None = None) -> list[str]:
        """Return one readable sentence for each pair of blocks that share a seed.

        Without `other`, the pairs inside this contract; with it, each block of this contract
        against each block of that one.
        """
        mine = list(self.blocks.values())
        if other is None:
            pairs = [(a, b) for i, a in enumerate(mine) for b in mine[i + 1 :]]
            owner = self.contract
        else:
            pairs = [(a, b) for a in mine for b in other.blocks.values()]
            owner = other.contract
        out = []
        for a, b in pairs:
            first, end = max(a.base, b.base), min(a.base + a.size, b.base + b.size)
            if first < end:
                out.append(
                    f"seeds {first} to {end - 1} belong to both {self.contract}.{a.name} "
                    f"({a.base} to {a.base + a.size - 1}) and {owner}.{b.name} "
                    f"({b.base} to {b.base + b.size - 1})"
                )
        return out

    @property
    def digest(self) -> str:
        """Return the published hash, ``H("seeds", canonical of all but "hash")``."""
        return digest_of("seeds", self._body())

    def as_json(self) -> dict[str, Any]:
        """Return the value of ``seeds/ID.json``."""
        return {**self._body(), "hash": self.digest}

    def as_bytes(self) -> bytes:
        """Return the bytes of ``seeds/ID.json``: canonical and a final newline."""
        return canonical(self.as_json()) + b"\n"

    @classmethod
    def read(cls, data: bytes, contract: Contract) -> Seeds:
        """Return the published seeds, after proving that they are the contract's own.

        Raises Inconsistent when the hash is wrong or anything differs from what the contract
        lays out; a changed seed is named with both numbers.
        """
        where = f"seeds/{contract.id}.json"
        laid = cls.lay_out(contract)
        if data == laid.as_bytes():
            return laid
        todo = "restore the published file; seeds are never edited, they follow from the contract"
        try:
            found = json.loads(data, parse_float=_no_number, parse_constant=_no_number)
        except (ValueError, RecursionError) as problem:
            raise Inconsistent(f"{where} is not readable JSON: {problem}", todo) from problem
        if difference := _difference(laid.as_json(), found, ""):
            raise Inconsistent(f"{where}: {difference}", todo)
        raise Inconsistent(f"{where} says the right seeds in other bytes than canonical ones", todo)

    def _body(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "contract": self.contract,
            "blocks": {name: block.as_json() for name, block in self.blocks.items()},
        }


def conflicts(every: Sequence[Seeds]) -> list[str]:
    """Return one readable sentence for each pair of blocks of different contracts that overlap."""
    return [
        sentence
        for i, one in enumerate(every)
        for other in every[i + 1 :]
        for sentence in one.overlaps(other)
    ]


def _lay_block(name: str, base: int, size: int | None, stage: Stage | None, units: int) -> Block:
    if stage is None:
        return Block(name, base, size or 0, {})
    count = stage.units or units
    listed = 1 if stage.same_each_round else stage.rounds
    family: dict[str, dict[int, list[tuple[int, ...]]]] = {
        one: {unit: [() for _ in range(listed)] for unit in range(1, count + 1)}
        for one in stage.families
    }
    following = base
    for unit in range(1, count + 1):
        for offset in range(listed):
            for one in stage.families_in(stage.first_round + offset):
                family[one][unit][offset] = tuple(range(following, following + stage.per_unit))
                following += stage.per_unit
    held = following - base
    if size is not None and size < held:
        raise CheckFailed(
            f"the seed block {name} holds {held} seeds and its size is {size}",
            f"give it a size of at least {held}, or none",
        )
    return Block(
        name,
        base,
        held if size is None else size,
        {one: {unit: tuple(r) for unit, r in by.items()} for one, by in family.items()},
        stage.first_round,
        stage.same_each_round,
        stage.rounds,
    )


def _difference(want: object, found: object, path: str) -> str:
    """Return the first place at which two JSON values differ, in words; empty if nowhere."""
    if isinstance(want, dict) and isinstance(found, dict):
        # The hash last: a changed seed explains itself better than the hash that it breaks.
        for key in sorted({*want, *found}, key=lambda k: (k == "hash", k)):
            if key not in found:
                return f"{path or 'the file'} lacks {key}"
            if key not in want:
                return f"{path or 'the file'} has {key}, which the contract does not lay out"
            if inner := _difference(want[key], found[key], f"{path}.{key}" if path else key):
                return inner
        return ""
    if isinstance(want, list) and isinstance(found, list):
        if len(want) != len(found):
            return f"{path} has {len(found)} entries instead of {len(want)}"
        for i, (one, other) in enumerate(zip(want, found, strict=True)):
            if inner := _difference(one, other, f"{path}[{i}]"):
                return inner
        return ""
    if want == found and type(want) is type(found):
        return ""
    return f"{path} is {found!r}; the contract lays out {want!r}"


def _no_number(text: str) -> object:
    raise ValueError(f"{text} is not an integer")
