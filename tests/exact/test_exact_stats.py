from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from echoctl.cli.stats import app
from echoctl.errors import UsageError
from echoctl.exact import wilcoxon

DATA = Path(__file__).parents[1] / "data"


def answers(command: str, path: Path, *options: str) -> list[dict[str, Any]]:
    ran = CliRunner().invoke(app, [command, str(path), "--json", *options])
    assert (ran.exit_code, ran.exception) == (0, None)
    found: list[dict[str, Any]] = json.loads(ran.stdout)
    return found


def refusal(command: str, path: Path) -> str:
    ran = CliRunner().invoke(app, [command, str(path), "--json"])
    assert isinstance(ran.exception, UsageError)
    assert ran.stdout == ""
    return str(ran.exception)


def answer(tmp_path: Path, case: dict[str, Any] | str, command: str = "wilcoxon") -> dict[str, Any]:
    """Answer one case that stands between a good one before and a good one after."""
    good = {"name": "good", "x": [2], "y": [1], "alternative": "greater"}
    if command == "holm":
        good = {"name": "good", "p": ["1/2"], "alpha": "1/100"}
    middle = case if isinstance(case, str) else json.dumps({"name": "it", **case})
    path = tmp_path / "cases.json"
    path.write_text(f"[{json.dumps(good)}, {middle}, {json.dumps(good)}]")
    before, it, after = answers(command, path)
    assert before == after
    assert "error" not in before
    return it


def test_every_wilcoxon_reference_case_is_answered_with_its_fraction() -> None:
    cases = json.loads((DATA / "wilcoxon.json").read_text())
    wanted = [{key: case[key] for key in ("name", "p_num", "p_den")} for case in cases]
    assert answers("wilcoxon", DATA / "wilcoxon.json") == wanted


def test_every_holm_reference_case_is_answered_or_refused() -> None:
    cases = json.loads((DATA / "holm.json").read_text())
    found = answers("holm", DATA / "holm.json")
    assert len(found) == len(cases)
    for case, it in zip(cases, found, strict=True):
        if case["status"] == "invalid":
            assert set(it) == {"name", "error"}
            assert it["name"] == case["name"]
        else:
            assert it == {key: case[key] for key in ("name", "adjusted", "reject")}


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ({"x": [1, 2, 3], "y": [1, 2]}, "3 and 2 units"),
        ({"x": [], "y": []}, "there is no unit"),
        ({"x": [1]}, "y is not a list"),
        ({"x": 1, "y": [1]}, "x is not a list"),
        ({"x": [1, None], "y": [1, 2]}, "x[1]: null is not a number"),
        ({"x": [1, True], "y": [1, 2]}, "x[1]: true is not a number"),
        ({"x": [[1]], "y": [1]}, 'x[0]: ["1"] is not a number'),
        ({"x": ["nan"], "y": [1]}, "x[0]: nan is not a finite number"),
        ({"x": ["one"], "y": [1]}, "x[0]: 'one' is not a number"),
        ({"x": ["0.5"], "y": [1], "number_semantics": "int"}, "x[0]: 0.5 is not whole"),
        ({"x": ["1e400"], "y": [1], "number_semantics": "binary64"}, "beyond binary64"),
        ({"x": ["1e99999999"], "y": [1]}, "more than 4000 digits"),
        ({"x": [1], "y": [0], "number_semantics": "float16"}, "'float16' is unknown"),
        ({"x": [1], "y": [0], "zero_method": "zsplit"}, "'zsplit' is unknown"),
        ({"x": [1], "y": [0], "alternative": "up"}, "'up' is unknown"),
    ],
)
def test_a_bad_case_says_what_is_wrong_and_the_others_are_answered(
    tmp_path: Path, case: dict[str, Any], words: str
) -> None:
    it = answer(tmp_path, case)
    assert set(it) == {"name", "error"}
    assert words in it["error"]


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_a_literal_that_json_does_not_have_spoils_only_its_case(tmp_path: Path, value: str) -> None:
    it = answer(tmp_path, f'{{"name": "it", "x": [1, {value}], "y": [1, 2]}}')
    assert "not a finite number" in it["error"]


def test_a_key_given_twice_spoils_only_its_case(tmp_path: Path) -> None:
    it = answer(tmp_path, '{"name": "it", "x": [1], "x": [2], "y": [1]}')
    assert it == {"name": "it", "error": "given more than once: x"}


def test_an_entry_that_is_no_object_is_named_by_its_place(tmp_path: Path) -> None:
    assert answer(tmp_path, "[1, 2]")["name"] == "case 2"


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ({"p": ["1/2", "nan"], "alpha": "1/100"}, "p[1]: nan"),
        ({"p": ["1/2", None], "alpha": "1/100"}, "p[1]: null"),
        ({"p": ["1/2", "3/2"], "alpha": "1/100"}, "outside [0, 1]"),
        ({"p": ["1/2", "-1/2"], "alpha": "1/100"}, "outside [0, 1]"),
        ({"p": ["1/0"], "alpha": "1/100"}, "divides by zero"),
        ({"p": ["1/2"]}, "alpha is missing"),
        ({"p": ["1/2"], "alpha": "0"}, "alpha"),
        ({"p": ["1/2"], "alpha": "1/100", "m": 2}, "2 tests were registered"),
        ({"alpha": "1/100"}, "p is not a list"),
    ],
)
def test_a_bad_family_says_what_is_wrong_and_the_others_are_answered(
    tmp_path: Path, case: dict[str, Any], words: str
) -> None:
    assert words in answer(tmp_path, case, "holm")["error"]


def test_a_family_may_be_written_as_fractions_decimals_or_pairs(tmp_path: Path) -> None:
    it = answer(tmp_path, {"p": ["1/1024", "0.5", 0.25, [1, 1024]], "alpha": 0.01}, "holm")
    assert it["adjusted"] == [[1, 256], [1, 2], [1, 2], [1, 256]]


def test_numbers_arrive_whole_at_any_size_and_as_text(tmp_path: Path) -> None:
    case = {"x": [2**53 + 1, str(10**40 + 2), 5], "y": [2**53, 10**40, "3"]}
    it = answer(tmp_path, {**case, "alternative": "greater", "number_semantics": "int"})
    assert (it["p_num"], it["p_den"]) == (1, 8)


def test_a_decimal_is_what_it_says_and_binary64_is_what_the_machine_keeps(tmp_path: Path) -> None:
    case = {"x": [0.1, 0.4], "y": [0.3, 0.2], "alternative": "greater"}
    ranks_tied = answer(tmp_path, {**case, "number_semantics": "decimal"})
    ranks_apart = answer(tmp_path, {**case, "number_semantics": "binary64"})
    assert (ranks_tied["p_num"], ranks_tied["p_den"]) == (3, 4)
    assert (ranks_apart["p_num"], ranks_apart["p_den"]) == (1, 2)


def test_what_a_case_does_not_say_is_taken_from_the_options(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text('{"name": "one", "x": [0, -1, -2, 4, 5, 6], "y": [0, 0, 0, 0, 0, 0]}')
    d = [0, -1, -2, 4, 5, 6]
    for options, p in {
        (): wilcoxon(d, "two-sided").p,
        ("--alternative", "greater"): wilcoxon(d, "greater").p,
        ("--zero-method", "pratt"): wilcoxon(d, "two-sided", "pratt").p,
    }.items():
        (it,) = answers("wilcoxon", path, *options)
        assert Fraction(it["p_num"], it["p_den"]) == p


@pytest.mark.parametrize(
    "text",
    ["x,y\n5,1\n7,9\n4,0.5\n", "5;1\n7;9\n\n4;0,5\n", "\ufeffx\ty\r\n5\t1\r\n7\t9\r\n4\t0.5\r\n"],
)
def test_two_columns_of_csv_are_one_case_named_after_the_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(text, encoding="utf-8", newline="")
    (it,) = answers("wilcoxon", path, "--alternative", "greater")
    assert it == {"name": "pairs", "p_num": 1, "p_den": 4}


def test_nan_in_a_csv_is_an_error_of_the_case_and_never_a_heading(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("nan,nan\n1,2\n")
    (it,) = answers("wilcoxon", path)
    assert "x[0]: nan is not a finite number" in it["error"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.json", b'[{"name": "x",\n  "x": [1 2]}]', "line 2, column 11"),
        ("a.json", b"[" * 100_000, "nested too deeply"),
        ("a.json", b"  \n", "empty"),
        ("a.json", b"[\xff]", "byte 1 is not UTF-8"),
        ("a.csv", b"x,y\n1,2\n1,2,3\n", "line 3: 3 columns"),
        ("a.csv", b'x,y\n1,"2\n', "line 2"),
        ("a.txt", b"hello", "line 1: 1 columns"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_place(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    said = refusal("wilcoxon", path)
    assert name in said
    assert words in said


def test_a_missing_file_and_a_folder_are_refused_by_name(tmp_path: Path) -> None:
    assert "nowhere.json: No such file" in refusal("holm", tmp_path / "nowhere.json")
    assert "Is a directory" in refusal("holm", tmp_path)


def test_an_integer_too_long_to_read_spoils_only_its_case(tmp_path: Path) -> None:
    it = answer(tmp_path, f'{{"name": "it", "x": [{"9" * 5000}], "y": [1]}}')
    assert "more than 4000 digits" in it["error"]


def test_a_p_with_thousands_of_digits_is_written_whole(tmp_path: Path) -> None:
    it = answer(tmp_path, {"x": [1] * 20_000, "y": [0] * 20_000, "alternative": "greater"})
    assert it["p_num"] == 1
    assert it["p_den"] == 2**20_000


def test_people_see_the_estimates_beside_the_p(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join(f"{i},{10 - i}" for i in range(12)))
    ran = CliRunner().invoke(app, ["wilcoxon", str(path)])
    assert ran.exit_code == 0
    for words in ("6 above, 1 zero, 5 below", "zeros dropped, two-sided", "Pratt", "sign test",
                  "sign flip of the mean", "mean difference", "Hodges-Lehmann", "rank-biserial",
                  "probability of improvement", "/2^11"):  # fmt: skip
        assert words in ran.stdout


def test_people_see_each_step_of_holm_and_each_error() -> None:
    ran = CliRunner().invoke(app, ["holm", str(DATA / "holm.json")])
    assert ran.exit_code == 0
    for words in ("1/500", "1/1024 = 0.0009766", "an empty family", "nan_all: error: p[0]"):
        assert words in ran.stdout
