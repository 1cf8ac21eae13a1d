"""From the bytes of a contract file to a frozen `Contract`, or to every reason why not."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from echoctl.contract.consistency import inconsistencies
from echoctl.contract.explain import explain, locate
from echoctl.contract.model import Contract
from echoctl.contract.strict import Node, Problem, YamlError, read
from echoctl.errors import UsageError


class ContractError(UsageError):
    """A contract file is broken. `problems` lists everything found, in the file's order."""

    def __init__(self, file: str, problems: Sequence[Problem]) -> None:
        self.file = file
        self.problems = tuple(sorted(problems, key=lambda p: (p.line, p.column)))
        lines = [f"{file}:{p.line}:{p.column}: {p.text}" for p in self.problems]
        super().__init__(
            "\n".join(lines),
            "correct the contract and run the command again",
            file=file,
            problems=[{"line": p.line, "column": p.column, "text": p.text} for p in self.problems],
        )


def parse(data: bytes, file: str) -> Node:
    """Return the YAML document of a contract with the position of every value.

    Raises ContractError when it is not one document of strict YAML.
    """
    try:
        root, problems = read(data)
    except YamlError as problem:
        raise ContractError(file, problem.problems) from problem
    if problems:
        raise ContractError(file, problems)
    return root


def load_contract(data: bytes, file: str) -> Contract:
    """Return the contract in `data`; `file` is the name that messages show.

    Raises ContractError, and nothing else, whatever the bytes are.
    """
    try:
        root, problems = read(data)
    except YamlError as problem:
        raise ContractError(file, problem.problems) from problem
    if root.pairs is None:
        raise ContractError(
            file,
            [Problem(root.line, root.column, "a contract is a mapping: key, colon, value a line")],
        )
    try:
        contract = Contract.model_validate(root.plain(), by_alias=True, by_name=False)
    except ValidationError as error:
        raise ContractError(file, _joined(problems, explain(error, root))) from None
    later = [Problem(*locate(root, path), text) for path, text in inconsistencies(contract)]
    if problems or later:
        raise ContractError(file, _joined(problems, later))
    return contract


def _joined(first: list[Problem], later: list[Problem]) -> list[Problem]:
    """Return both, without what only follows from a value that YAML reading already refused."""
    refused = {(problem.line, problem.column) for problem in first}
    return first + [p for p in later if (p.line, p.column) not in refused]
