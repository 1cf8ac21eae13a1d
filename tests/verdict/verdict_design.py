"""A small contract and hand-made outcomes, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from echoctl.contract import Contract
from echoctl.track import Outcome
from echoctl.verdict import Verdict, decide

MEASURES = ("harm", "success", "steps")
COLUMNS = ("stage", "family", "round", "episode", "seed", *MEASURES)


def tupled(value: Any) -> Any:
    """Return the value with every list as a tuple, as the strict models want them."""
    if isinstance(value, dict):
        return {key: tupled(inner) for key, inner in value.items()}
    return tuple(tupled(inner) for inner in value) if isinstance(value, list | tuple) else value


def contract(*checks: dict[str, Any], units: int = 10, **more: Any) -> Contract:
    """Return a contract whose one deciding prediction P holds these checks."""
    arms = [("t", "treatment"), ("c", "control"), ("d", "control"), ("o", "reference")]
    base: dict[str, Any] = {
        "schema": "echoctl/1",
        "id": "toy",
        "title": "Toy",
        "track": "toy",
        "question": "?",
        "does_not_claim": ["anything"],
        "unit": {"name": "macro", "count": units},
        "arms": [{"id": name, "kind": kind, "gloss": name} for name, kind in arms],
        "regimes": ["A1", "A2"],
        "worlds": {"exam": {"families": ["F", "G"], "per_unit": 1, "sealed": True}},
        "seeds": {"exam": {"base": 1000}},
        "measures": {name: {} for name in MEASURES},
        "predictions": {"P": {"text": "p", "all": list(checks)}},
        "verdict": {"green": ["P"]},
    }
    return Contract.model_validate(tupled({**base, **more}))


Value = Callable[[str, int, str, str, int], int]
"""arm, unit, regime, family, round -> a measure's value in the only row of that cell."""


def outcomes(
    units: int = 10,
    arms: Sequence[str] = ("t", "c", "d"),
    regimes: Sequence[str] = ("A1", "A2"),
    families: Sequence[str] = ("F", "G"),
    rounds: Sequence[int] = (1,),
    digests: Mapping[str, str] | None = None,
    **measures: Value,
) -> list[Outcome]:
    """Return one outcome a (unit, arm, regime), with one row a family and round."""
    out = []
    for unit in range(1, units + 1):
        for arm in arms:
            for regime in regimes:
                rows: list[tuple[int | str, ...]] = []
                for family in families:
                    for number in rounds:
                        values = [
                            measures[m](arm, unit, regime, family, number) if m in measures else 0
                            for m in MEASURES
                        ]
                        rows.append(("exam", family, number, 0, 1000 + unit, *values))
                out.append(
                    Outcome(
                        job=f"{unit}-{arm}-{regime.lower()}",
                        keys={"unit": unit, "arm": arm, "regime": regime},
                        columns=COLUMNS,
                        rows=tuple(rows),
                        digests=digests or {},
                    )
                )
    return out


def harm(t: int, c: int, d: int | None = None) -> Value:
    """Return a constant value per arm in family F of regime A1; other cells hold zero."""
    levels = {"t": t, "c": c, "d": c if d is None else d, "o": 0}

    def value(arm: str, unit: int, regime: str, family: str, number: int) -> int:
        return levels.get(arm, 0) if (regime, family) == ("A1", "F") else 0

    return value


def by_round(levels: Mapping[int, int]) -> Value:
    """Return a value per round, the same for every arm, in family F of regime A1."""

    def value(arm: str, unit: int, regime: str, family: str, number: int) -> int:
        return levels[number] if (regime, family) == ("A1", "F") else 0

    return value


def verdict(check: dict[str, Any], played: list[Outcome], **more: Any) -> Verdict:
    """Return the verdict of a contract with this one check."""
    return decide(contract(check, **more), played)
