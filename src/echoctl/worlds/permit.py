"""The permit at the door: which worlds may be built, and on whose word.

A world is built from a family and a seed, and only if a permit covers both. The desk makes
permits from contracts and claims: a development permit simply does not list what is sealed, so
an exam family or an exam seed cannot be built with it. Design page "lifecycle", command `dev`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from echoctl.errors import Refused

Kind: TypeAlias = Literal["development", "rehearsal", "exam", "conformance"]
KINDS: tuple[str, ...] = get_args(Kind)

CONFORMANCE_SEEDS = (900_000, 1_000_000)
"""Half-open range of seeds that belong to conformance tests; no contract lays a block there."""


@dataclass(frozen=True)
class Permit:
    """What may be built: every family of `families` with every seed of `ranges`.

    `ranges` are half-open, ``(first, past)``. An exam permit names the `claim` that opened the
    exam; no other permit has one. A conformance permit covers reserved seeds only. Raises
    ValueError if malformed.
    """

    kind: Kind
    families: frozenset[str]
    ranges: tuple[tuple[int, int], ...]
    claim: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"a permit is one of {', '.join(KINDS)}, not {self.kind!r}")
        if (self.kind == "exam") != bool(self.claim):
            raise ValueError("an exam permit names its claim, and no other permit has one")
        for first, past in self.ranges:
            if type(first) is not int or type(past) is not int or not 0 <= first < past:
                raise ValueError(f"a seed range is 0 <= first < past, not ({first!r}, {past!r})")
            low, high = CONFORMANCE_SEEDS
            if self.kind == "conformance" and not low <= first < past <= high:
                raise ValueError(f"conformance seeds lie in [{low}, {high}), not [{first}, {past})")

    @classmethod
    def development(cls, families: Iterable[str], ranges: Iterable[tuple[int, int]]) -> Permit:
        """Return a permit for training and development."""
        return cls("development", frozenset(families), tuple(ranges))

    @classmethod
    def rehearsal(cls, families: Iterable[str], ranges: Iterable[tuple[int, int]]) -> Permit:
        """Return a permit for a rehearsal, where development worlds stand in for the exam."""
        return cls("rehearsal", frozenset(families), tuple(ranges))

    @classmethod
    def exam(cls, families: Iterable[str], ranges: Iterable[tuple[int, int]], claim: str) -> Permit:
        """Return a permit for the one exam that `claim` opened."""
        return cls("exam", frozenset(families), tuple(ranges), claim)

    @classmethod
    def conformance(cls, families: Iterable[str]) -> Permit:
        """Return a permit for tests that compare worlds with their reference."""
        return cls("conformance", frozenset(families), (CONFORMANCE_SEEDS,))

    def covers(self, family: str, seed: int) -> bool:
        """Say whether a world of this family and seed may be built."""
        if family in self.families:
            for first, past in self.ranges:
                if first <= seed < past:
                    return True
        return False

    def check(self, family: str, seed: int) -> None:
        """Raise Refused, saying which of family and seed is not covered, or return."""
        if self.covers(family, seed):
            return
        facts: dict[str, Any] = {"family": family, "seed": seed, "permit": self.kind}
        if family not in self.families:
            listed = ", ".join(sorted(self.families)) or "none"
            raise Refused(
                f"no world of {family} (seed {seed}) with this {self.kind} permit: "
                f"it does not cover the family",
                f"It covers {listed}. Sealed families open only in the exam.",
                **facts,
            )
        listed = ", ".join(f"[{first}, {past})" for first, past in self.ranges) or "none"
        raise Refused(
            f"no world of {family} with seed {seed} with this {self.kind} permit: "
            f"it does not cover the seed",
            f"It covers seeds {listed}. Sealed seeds open only in the exam.",
            **facts,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the permit as a JSON value that `from_json` reads back."""
        return {
            "kind": self.kind,
            "families": sorted(self.families),
            "ranges": [[first, past] for first, past in self.ranges],
            "claim": self.claim,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Permit:
        """Return the permit that `as_json` wrote; ValueError if it is not one."""
        if set(value) != {"kind", "families", "ranges", "claim"}:
            raise ValueError(f"not a permit: {sorted(value)}")
        return cls(
            value["kind"],
            frozenset(value["families"]),
            tuple((first, past) for first, past in value["ranges"]),
            value["claim"],
        )
