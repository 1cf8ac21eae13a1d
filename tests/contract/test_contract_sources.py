"""What the repository's own contracts promise, number by number, against their sources."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from contract_toys import REAL, load, real

from echoctl.worlds.families import FAMILIES

HUNDREDTH = Fraction(1, 100)


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_every_family_of_a_contract_can_be_built(path: Path) -> None:
    contract = load(path)
    played = {family for stage in contract.worlds.values() for family in stage.families}
    assert played <= set(FAMILIES)


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_every_arm_has_an_english_gloss_and_every_contract_declares_what_was_known(
    path: Path,
) -> None:
    contract = load(path)
    assert all(arm.gloss for arm in contract.arms)
    assert contract.prior_knowledge
    assert contract.choices
    assert contract.risks


def test_memx_has_the_worlds_and_counts_of_section_3() -> None:
    memx = real("memx")
    assert memx.unit.count == 10
    training, exam = memx.worlds["training"], memx.worlds["exam"]
    assert (training.per_unit, exam.per_unit) == (20, 50)
    assert memx.worlds["orthogonal"].per_unit == 80
    assert training.families[0] == "LavaGapS7"
    assert memx.sealed_families == {
        "DistShift2", "UnlockPickup", "Dynamic-Obstacles-16x16", "ShiftTest",
    }  # fmt: skip
    assert set(memx.worlds["development"].families) - set(training.families) == {
        "LavaCrossingS9N1", "KeyCorridorS3R1",
    }  # fmt: skip
    assert len(exam.families) * len(memx.regimes) * len(memx.arms) == 72
    assert memx.tunable == {"N_MIN": 3, "UMBRAL": 85}


def test_memx_p1_and_p2_are_the_rules_of_section_5() -> None:
    p1, p2 = real("memx").predictions["P1"], real("memx").predictions["P2"]
    ratio, test = p1.all[0].ratio, p1.all[1].wilcoxon
    assert ratio is not None
    assert test is not None
    assert (ratio.arm, ratio.to, ratio.at_most) == ("aprendida", "vacia", Fraction(3, 10))
    assert (test.below, test.alpha) == (("marginal", "barajada", "ortogonal"), HUNDREDTH)
    assert test.correction == "holm"
    assert ratio.where.regime == test.where.regime == "A1"
    gates = [check.not_lower for check in p2.all]
    assert [gate.where.regime for gate in gates if gate] == ["A1", "A2"]
    assert all(gate is not None and gate.than == ("vacia", "marginal") for gate in gates)


def holm_rejects_both(p: Fraction, q: Fraction) -> bool:
    low, high = sorted((p, q))
    return low <= HUNDREDTH / 2 and high <= HUNDREDTH


def test_memx_p3_asks_exactly_what_holm_over_two_tests_asks() -> None:
    p3 = real("memx").predictions["P3"]
    ratios = [check.ratio for check in p3.all if check.ratio]
    assert [(r.measure, r.where.family, r.at_most) for r in ratios] == [
        ("collision", "Dynamic-Obstacles-16x16", Fraction(1, 2)),
        ("waste", "UnlockPickup", Fraction(65, 100)),
    ]
    each = [check.wilcoxon for check in p3.all if check.wilcoxon]
    either = [part.wilcoxon for check in p3.all for part in check.any or () if part.wilcoxon]
    assert [t.measure for t in each] == [t.measure for t in either] == ["collision", "waste"]
    ladder = [Fraction(k, 1024) for k in range(1, 15)]
    for p in ladder:
        for q in ladder:
            passes = all(x <= t.alpha for x, t in zip((p, q), each, strict=True)) and any(
                x <= t.alpha for x, t in zip((p, q), either, strict=True)
            )
            assert passes == holm_rejects_both(p, q)


def test_memx_is_green_by_p1_p2_p3_and_labels_identity_without_role() -> None:
    memx = real("memx")
    assert memx.verdict.green == ("P1", "P2", "P3")
    assert [name for name, p in memx.predictions.items() if not p.decides] == ["P4", "P5"]
    (label,) = memx.verdict.labels
    assert (label.when.passed, label.when.failed) == (("P1", "P2"), ("P3",))
    assert "identidad, no de rol" in label.text
    assert memx.ceiling is not None
    assert (memx.ceiling.arm, memx.ceiling.above) == ("oraculo", "vacia")
    gifs = [exhibit.gif for exhibit in memx.exhibits if exhibit.gif is not None]
    assert {(g.unit, g.episode, g.arms) for g in gifs} == {(1, 0, ("vacia", "aprendida"))}
    assert [g.regime for g in gifs] == ["A1", "A2"]
    published = {
        (f.measure, f.arm, f.where.regime, f.where.family): f.mean
        for exhibit in memx.exhibits if exhibit.published is not None
        for f in exhibit.published.figures
    }  # fmt: skip
    assert published["harm", "aprendida", "A1", None] == 24
    assert published["harm", "sin_auto", "A2", "Dynamic-Obstacles-16x16"] == Fraction("49.6")


def test_acumula3_is_the_contract_with_its_amendment() -> None:
    acumula3 = real("acumula3")
    q1, q2 = (acumula3.predictions[q].all[0] for q in ("Q1", "Q2"))
    assert q1.monotone is not None
    assert q1.monotone.guard is not None
    assert (q1.monotone.in_a_row, q1.monotone.last_round) == (3, 5)
    assert (q1.monotone.guard.measure, q1.monotone.guard.may_not) == ("harm", "rise")
    assert q2.wilcoxon is not None
    assert len(q2.wilcoxon.below) == 5
    assert acumula3.follows == "acumula2"
    assert acumula3.requires[0].track == "memx"
    assert acumula3.requires[0].artefacts
    assert [one.id for one in acumula3.amendments] == ["A1.1", "A1.2", "A1.3", "A1.4"]
    sealed = [acumula3.seeds[name].base for name in acumula3.sealed_stages]
    assert all(8_000_000 <= base < 9_000_000 for base in sealed)


def test_the_language_model_of_acumula_may_be_left_out_and_decides_nothing() -> None:
    llm = next(arm for arm in real("acumula").arms if arm.id == "llm")
    assert llm.optional
    assert llm.kind == "reported"
