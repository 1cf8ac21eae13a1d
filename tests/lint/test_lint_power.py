"""The chance of a green: exact where it says so, simulated with its error, drawn both ways."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from lint_design import acumula3, contract
from typer.testing import CliRunner

from echoctl.cli.power import power as command
from echoctl.contract.menu import Wilcoxon
from echoctl.errors import UsageError
from echoctl.exact import Alternative, holm, wilcoxon
from echoctl.lint.power import _family, power
from echoctl.lint.simulation import Effect, Effects
from echoctl.render.power import lines, percent, svg
from echoctl.render.text import Lang

ROOT = Path(__file__).parents[2]
W: dict[str, Any] = {"measure": "harm", "arm": "t", "below": ["c", "d"], "alpha": "0.05"}


def effects(win: str, tie: str = "0", **more: Any) -> Effects:
    return Effects(Effect(Fraction(win), Fraction(tie)), more.pop("rivals", {}), {}, **more)


def by_hand(check: Wilcoxon, units: int, assumed: Effects) -> Fraction:
    """Return the chance that all tests reject, by listing every exam that can happen."""
    rivals = check.below or check.differs_from
    alternative: Alternative = "two-sided" if check.differs_from else "less"
    cases: list[list[tuple[Fraction, Fraction]]] = []
    for rival in rivals:
        effect = assumed.of(rival)
        chances: dict[int, Fraction] = {
            -1: effect.win,
            0: effect.tie,
            1: 1 - effect.win - effect.tie,
        }
        found = []
        for signs in product(chances, repeat=units):
            sizes = list(range(1, units + 1))
            if assumed.small_losses:
                order = sorted(range(units), key=lambda i, s=signs: -s[i])  # type: ignore[misc]
                sizes = [order.index(i) + 1 for i in range(units)]
            likely = Fraction(1)
            for sign in signs:
                likely *= chances[sign]
            differences = [sign * size for sign, size in zip(signs, sizes, strict=True)]
            found.append((wilcoxon(differences, alternative).p, likely))
        cases.append(found)
    total = Fraction(0)
    for exam in product(*cases):
        likely = Fraction(1)
        for _, chance in exam:
            likely *= chance
        values = [p for p, _ in exam]
        passed = (
            all(holm(values, check.alpha).reject)
            if check.correction == "holm"
            else all(value <= check.alpha for value in values)
        )
        total += likely if passed else 0
    return total


@given(
    st.integers(1, 5),
    st.fractions(0, 1, max_denominator=10),
    st.fractions(0, 1, max_denominator=4),
    st.sampled_from(["0.05", "0.2", "0.5"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([("a",), ("a", "b")]),
)
@settings(max_examples=40, deadline=None)
def test_the_exact_chance_equals_listing_every_exam(
    units: int, win: Fraction, tie: Fraction, alpha: str, small: bool, both: bool, rivals: Any
) -> None:
    if len(rivals) == 2:
        units = min(units, 3)
    assumed = Effects(Effect(win * (1 - tie), tie), {}, {}, small)
    sides = {"differs_from": rivals} if both else {"below": rivals}
    check = Wilcoxon.model_validate(
        {"measure": "m", "arm": "t", "alpha": alpha, "correction": "holm", **sides}
    )
    found = _family("P", check, units, assumed)
    assert found.chance is not None
    assert found.low is not None
    assert found.high is not None
    assert found.chance == by_hand(check, units, assumed)
    assert found.low <= found.chance <= found.high


def test_certain_wins_are_certain_and_certain_ties_hopeless() -> None:
    design = contract({"wilcoxon": W})
    sure = power(design, effects("1"), runs=20, curve_runs=5)
    assert (sure.families[0].chance, sure.verdict.chance) == (Fraction(1), Fraction(1))
    tied = power(design, effects("0", "1"), runs=20, curve_runs=5)
    assert [tied.families[0].chance, tied.verdict.chance] == [Fraction(0)] * 2


def test_the_simulation_agrees_with_the_exact_chance_within_its_own_error() -> None:
    found = power(acumula3(), effects("0.95", "0.02"), runs=2000, curve_runs=5)
    (family,) = found.families
    assert family.chance is not None
    assert found.verdict.low < family.chance < found.verdict.high


def test_the_same_question_gets_the_same_answer() -> None:
    first, again = (power(contract({"wilcoxon": W}), effects("0.9"), runs=50) for _ in range(2))
    assert first == again


def test_small_losses_help_and_more_units_help() -> None:
    design = contract({"wilcoxon": W | {"correction": "holm"}})

    def chance(units: int | None = None, **more: Any) -> Fraction:
        found = power(design, effects("0.9", **more), units=units, runs=5, curve_runs=5)
        assert found.families[0].chance is not None
        return found.families[0].chance

    assert chance(5) < chance(10) < chance(20)
    assert chance() < chance(small_losses=True)


def test_the_number_of_units_needed_is_the_first_that_reaches_nine_of_ten() -> None:
    design = contract({"wilcoxon": W | {"correction": "holm"}})
    needed = power(design, effects("0.9"), runs=5, curve_runs=5).needed
    assert needed is not None

    def chance(units: int) -> Fraction:
        found = power(design, effects("0.9"), units=units, runs=5, curve_runs=5).families[0].chance
        assert found is not None
        return found

    assert chance(needed - 1) < Fraction(9, 10) <= chance(needed)
    assert power(design, effects("0.5"), runs=5, curve_runs=5).needed is None


def test_one_comparison_tested_twice_is_drawn_once() -> None:
    strict, loose = W | {"below": ["c"], "alpha": "0.005"}, W | {"below": ["c"], "alpha": "0.01"}
    either = {"any": [{"wilcoxon": strict}, {"wilcoxon": loose}]}
    both = {"all": [{"wilcoxon": strict}, {"wilcoxon": loose}]}
    lone = power(contract({"wilcoxon": loose}), effects("0.9"), runs=400, curve_runs=5)
    same = power(contract(either), effects("0.9"), runs=400, curve_runs=5)
    assert same.verdict.hits == lone.verdict.hits
    harder = power(contract({"wilcoxon": strict}), effects("0.9"), runs=400, curve_runs=5)
    assert power(contract(both), effects("0.9"), runs=400, curve_runs=5).verdict.hits == (
        harder.verdict.hits
    )


def test_gates_pass_with_the_chance_that_was_named() -> None:
    gate = {"not_lower": {"measure": "success", "arm": "t", "than": ["c"]}}
    usual = Effect(Fraction(1))
    found = power(
        contract(gate), Effects(usual, {}, {"P": Fraction(1, 2)}), runs=1000, curve_runs=5
    )
    assert found.verdict.low < Fraction(1, 2) < found.verdict.high
    assert found.gates == (("P", "not_lower", Fraction(1, 2)),)


def test_beyond_sixty_units_only_the_simulation_answers() -> None:
    found = power(contract({"wilcoxon": W}), effects("0.7"), units=80, runs=20, curve_runs=2)
    assert found.families[0].chance is None
    assert "too many units" in "\n".join(lines(found, "en"))
    assert svg(found, "en")


NONSENSE: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown rival": ({"rivals": {"nobody": Effect(Fraction(1))}}, "has the rival nobody"),
    "an unknown prediction": ({"gates": {"Q": Fraction(1)}}, "Q does not decide"),
    "a gate above one": ({"gates": {"P": Fraction(2)}}, "chance of P is 2"),
}


@pytest.mark.parametrize("case", NONSENSE)
def test_effects_of_what_does_not_exist_are_refused(case: str) -> None:
    change, message = NONSENSE[case]
    given = {"usual": Effect(Fraction(1)), "rivals": {}, "gates": {}, **change}
    with pytest.raises(UsageError, match=message):
        power(contract({"wilcoxon": W}), Effects(**given), runs=1)


@pytest.mark.parametrize(("win", "tie"), [("1.1", "0"), ("-0.1", "0"), ("0.6", "0.5")])
def test_chances_that_are_none_are_refused(win: str, tie: str) -> None:
    with pytest.raises(UsageError, match="no chances of one thing"):
        Effect(Fraction(win), Fraction(tie))


# --- drawn, and from the command line ------------------------------------------------------


def test_the_curve_is_drawn_in_both_languages_with_its_limits() -> None:
    found = power(contract({"wilcoxon": W}), effects("0.9"), runs=50, curve_runs=10)
    english, spanish = "\n".join(lines(found, "en")), "\n".join(lines(found, "es"))
    assert "toy: chance of a green with 10 macros" in english
    assert "of 50 simulated exams (95 % limits" in english
    assert english.count("█") > 40
    assert "probabilidad de verde" in spanish
    assert "{" not in english + spanish
    langs: tuple[Lang, Lang] = ("en", "es")
    for lang in langs:
        root = ET.fromstring(svg(found, lang))
        ns = "{http://www.w3.org/2000/svg}"
        curves = root.findall(f"{ns}polyline")
        assert len(curves) == 1 + len(found.families)
        assert all(len(c.attrib["points"].split()) == len(found.curve) for c in curves)
        assert len([line for line in root.iter(f"{ns}line") if line.get("class") == "limit"]) == 11


def test_a_chance_short_of_certain_never_reads_as_certain() -> None:
    assert percent(Fraction(1), "en") == "100.0 %"
    assert percent(1 - Fraction(1, 10**6), "en") == "> 99.9 %"
    assert percent(Fraction(1, 10**6), "es") == "< 0,1 %"
    assert percent(Fraction(0), "en") == "0.0 %"


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    (tmp_path / "contracts").mkdir()
    (tmp_path / "artifacts").mkdir()
    shutil.copy(ROOT / "contracts" / "memx.yaml", tmp_path / "contracts")
    monkeypatch.chdir(tmp_path)
    made = typer.Typer()
    made.callback()(lambda: None)
    made.command()(command)
    return made


def test_the_command_answers_in_words_in_json_and_as_a_file(
    app: typer.Typer, tmp_path: Path
) -> None:
    ask = ["power", "memx", "--win", "95 %", "--tie", "0,02", "--simulations", "20"]
    ran = CliRunner().invoke(app, [*ask, "--svg", "curve.svg", "--lang", "en"])
    assert ran.exit_code == 0, ran.output
    assert "won with chance 95.0 % and tied with 2.0 %" in ran.output
    assert (tmp_path / "curve.svg").read_text("utf-8").startswith("<svg ")
    value = json.loads(CliRunner().invoke(app, [*ask, "--json"]).output)
    assert value["verdict"]["runs"] == 20
    assert value["families"][0]["chance"]["decimal"].startswith("0.60")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--win", "often"], "is not a decimal"),
        (["--rival", "marginal"], "names no chance"),
        (["--rival", "nobody=0.5"], "has the rival nobody"),
        (["--win", "1.5"], "no chances of one thing"),
    ],
)
def test_the_command_refuses_nonsense_as_usage(
    app: typer.Typer, options: list[str], message: str
) -> None:
    ran = CliRunner().invoke(app, ["power", "memx", *options])
    assert isinstance(ran.exception, UsageError)
    assert message in ran.exception.why
