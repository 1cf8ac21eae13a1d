"""Synthetic results that turn a verdict green and red, each put before `decide` itself."""

from __future__ import annotations

from collections.abc import Sequence

from echoctl.contract import Contract
from echoctl.contract.menu import Check
from echoctl.errors import EchoError
from echoctl.lint.demands import Demands
from echoctl.lint.layout import Layout, Synthetic, layout
from echoctl.lint.report import Cell, Witness
from echoctl.verdict import Verdict, decide


class Witnesses:
    """Looks for the synthetic results of one contract."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self._demands: dict[bool, Demands] = {}
        self.invariants = {
            f"invariant {i}": (check,) for i, check in enumerate(contract.invariants, start=1)
        }
        green = [name for name in contract.verdict.green if name in contract.predictions]
        self.deciding: dict[str, tuple[Check, ...]] = {
            **{name: contract.predictions[name].all for name in green},
            **self.invariants,
        }

    def problem(self) -> EchoError | None:
        """Return why no verdict could be computed from any complete result, or None.

        All zeros is a complete result; if `decide` refuses it, it refuses for the design.
        """
        demands = self._at(fine=False)
        try:
            self._decide(Synthetic({}, demands.blocks, {}), demands)
        except EchoError as problem:
            return problem
        return None

    def green(self) -> Witness | None:
        """Return a result whose verdict is green, or None if none of this kind was found."""
        wanted = [(check, True) for checks in self.deciding.values() for check in checks]
        return self._put(wanted, "verdict", "green")

    def red(self, name: str) -> Witness | None:
        """Return a result that `name` turns red, the rest left green where that is possible."""
        rest = [
            (check, True)
            for other, checks in self.deciding.items()
            if other != name
            for check in checks
        ]
        for others in (rest, []):
            for check in self.deciding[name]:
                if (found := self._put([(check, False), *others], name, "red")) is not None:
                    return found
        return None

    def _put(self, wanted: Sequence[tuple[Check, bool]], name: str, colour: str) -> Witness | None:
        for fine in (False, True):  # coarse has fewer unknowns and is mostly enough
            demands = self._at(fine)
            made = demands.solve(wanted)
            if made is not None:
                return self._judged(made, demands, name, colour)
        return None

    def _judged(self, made: Synthetic, demands: Demands, name: str, colour: str) -> Witness | None:
        verdict = self._decide(made, demands)
        passed = {prediction.id: prediction.passed for prediction in verdict.predictions}
        passed |= {
            invariant: check.passed
            for invariant, check in zip(self.invariants, verdict.invariants, strict=True)
        }
        if verdict.colour != colour or (name != "verdict" and passed[name]):
            return None  # the demands are only sufficient by construction; decide has the word
        return Witness(
            colour=verdict.colour,
            turns=name,
            passed=passed,
            alone=colour == "red" and all(passed[n] for n in self.deciding if n != name),
            cells=_cells(made, demands.spots),
            digests=made.digests,
        )

    def _at(self, fine: bool) -> Demands:
        if fine not in self._demands:
            spots = layout(self.contract, fine=fine)
            self._demands[fine] = Demands(self.contract, spots)
        return self._demands[fine]

    def _decide(self, made: Synthetic, demands: Demands) -> Verdict:
        return decide(self.contract, made.outcomes(self.contract, demands.spots))


def _cells(made: Synthetic, spots: Layout) -> tuple[Cell, ...]:
    ends = dict(made.blocks)
    return tuple(
        Cell((first, ends[first]), arm, *spot, measure, value)
        for (measure, arm, group, first), value in sorted(made.values.items())
        for spot in spots.arms[arm]
        if spots.group[spot] == group
    )
