from __future__ import annotations

from pathlib import Path

import pytest
from broken_contracts import Broken, broken_contracts
from contract_toys import EXAMPLES, REAL, load

from echoctl.contract import ContractError, load_contract
from echoctl.errors import UsageError

TABLE = broken_contracts()


def test_there_are_at_least_thirty_broken_contracts_and_each_says_what_is_wrong() -> None:
    assert len(TABLE) >= 30
    assert all(broken.expected for broken in TABLE)


@pytest.mark.parametrize("broken", TABLE, ids=lambda broken: broken.path.stem)
def test_every_problem_is_reported_with_its_line_column_and_a_sentence(broken: Broken) -> None:
    with pytest.raises(ContractError) as caught:
        load_contract(broken.path.read_bytes(), broken.path.name)
    problems = caught.value.problems
    assert [(p.line, p.column) for p in problems] == [(e.line, e.column) for e in broken.expected]
    for problem, expected in zip(problems, broken.expected, strict=True):
        assert expected.fragment in problem.text
        assert f"{broken.path.name}:{problem.line}:{problem.column}: " in caught.value.why


def test_the_error_of_a_broken_contract_is_a_usage_error_that_machines_can_read() -> None:
    with pytest.raises(ContractError) as caught:
        load_contract(TABLE[0].path.read_bytes(), "some.yaml")
    assert isinstance(caught.value, UsageError)
    assert caught.value.exit_code == 2
    said = caught.value.as_json()
    assert said["file"] == "some.yaml"
    assert said["problems"] == [
        {"line": p.line, "column": p.column, "text": p.text} for p in caught.value.problems
    ]


@pytest.mark.parametrize("path", [*REAL, *EXAMPLES], ids=lambda path: path.stem)
def test_the_contracts_of_the_sources_are_not_broken(path: Path) -> None:
    assert load(path).id == path.stem


def test_several_problems_in_one_file_are_all_reported_in_its_order() -> None:
    data = (EXAMPLES[0].parent / "smallest.yaml").read_bytes()
    data = data.replace(b"count: 4", b"count: four").replace(b"harm: {}", b"harm: {beter: lower}")
    data = data.replace(b"at_least: 1}", b"at_least: [1]}") + b"id: again\n"
    with pytest.raises(ContractError) as caught:
        load_contract(data, "many.yaml")
    lines = [p.line for p in caught.value.problems]
    assert len(lines) == 4
    assert lines == sorted(lines)
