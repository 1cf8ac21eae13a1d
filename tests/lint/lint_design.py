"""Contracts for the tests of the linter: a small one, and the deciding part of ACUMULA-3."""

from __future__ import annotations

from typing import Any

from echoctl.contract import Contract


def tupled(value: Any) -> Any:
    """Return the value with every list as a tuple, as the strict models want them."""
    if isinstance(value, dict):
        return {key: tupled(inner) for key, inner in value.items()}
    return tuple(tupled(inner) for inner in value) if isinstance(value, list | tuple) else value


def contract(*checks: dict[str, Any], units: int = 10, **more: Any) -> Contract:
    """Return a contract whose one deciding prediction P holds these checks."""
    arms = [("t", "treatment"), ("c", "control"), ("d", "control")]
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
        "worlds": {
            "exam": {
                "families": ["F", "G"], "per_unit": 5, "rounds": 6, "first_round": 0,
                "sealed": True,
            },
        },
        "seeds": {"exam": {"base": 1000}},
        "measures": {"harm": {}, "success": {}, "steps": {}},
        "predictions": {"P": {"text": "p", "all": list(checks)}},
        "verdict": {"green": ["P"]},
    }  # fmt: skip
    return Contract.model_validate(tupled({**base, **more}))


CONTROLS = ["azar", "sin_acumular", "fija", "lote_final", "vacia_online"]
PROBE = ["LavaCrossingS11N5", "DistShift2", "ObstructedMaze-2Dlh", "Dynamic-Obstacles-Random-5x5"]
BANK = ["DistShift2", "UnlockPickup", "Dynamic-Obstacles-16x16", "ShiftTest"]


def acumula3(lang: str = "en") -> Contract:
    """Return Q1 to Q3 of ACUMULA-3 (source: acumula3-contract, section 5)."""
    arms = [("recursiva", "treatment"), *((name, "control") for name in CONTROLS)]
    bank = {"measure": "failed", "arm": "recursiva", "than": ["fija"], "where": {"stage": "bank"}}
    return Contract.model_validate(
        tupled(
            {
                "schema": "echoctl/1",
                "id": "acumula3",
                "title": "ACUMULA-3",
                "lang": lang,
                "track": "acumula3",
                "question": "?",
                "does_not_claim": ["that ECHO invents behaviour"],
                "unit": {"name": "macro", "count": 10},
                "arms": [{"id": name, "kind": kind, "gloss": name} for name, kind in arms],
                "regimes": ["A2"],
                "worlds": {
                    "probe": {
                        "families": PROBE, "per_unit": 30, "rounds": 6, "first_round": 0,
                        "same_each_round": True, "sealed": True,
                    },
                    "bank": {"families": BANK, "per_unit": 50, "sealed": True},
                },
                "seeds": {"probe": {"base": 8_000_000}, "bank": {"base": 8_100_000}},
                "measures": {"failed": {}, "harm": {}, "success": {}, "destroyed": {}},
                "predictions": {
                    "Q1": {
                        "text": "three strict drops in a row, harm does not rise in them",
                        "all": [
                            {"monotone": {
                                "measure": "failed", "arm": "recursiva", "in_a_row": 3,
                                "first_round": 0, "last_round": 5, "where": {"stage": "probe"},
                                "guard": {"measure": "harm", "may_not": "rise"},
                            }},
                        ],
                    },
                    "Q2": {
                        "text": "fewer failures than each control at round 5",
                        "all": [
                            {"wilcoxon": {
                                "measure": "failed", "arm": "recursiva", "below": CONTROLS,
                                "where": {"stage": "probe", "round": 5}, "alpha": "0,01",
                                "correction": "holm",
                            }},
                        ],
                    },
                    "Q3": {
                        "text": "no regression in the bank",
                        "all": [
                            {"not_higher": {**bank, "measure": "harm"}},
                            {"not_lower": {**bank, "measure": "success"}},
                        ],
                    },
                },
                "invariants": [{"equal": {"measure": "destroyed", "to": 0}}],
                "verdict": {"green": ["Q1", "Q2", "Q3"]},
            }
        )
    )  # fmt: skip
