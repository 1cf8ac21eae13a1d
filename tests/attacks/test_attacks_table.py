"""The table of docs/security.md and the tests of this folder say the same."""

from __future__ import annotations

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "security.md"


def rows() -> dict[int, str]:
    """Return the table's rows by number."""
    lines = PAGE.read_text("utf-8").splitlines()
    return {int(m[1]): line for line in lines if (m := re.match(r"\| (\d+) \|", line))}


def written_in(name: str) -> set[str]:
    """Return the attack tests of one file."""
    tree = ast.parse((HERE / name).read_text("utf-8"))
    found = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    return {name for name in found if name.startswith("test_row")}


def test_every_test_stands_in_its_row_and_every_row_has_tests_that_exist() -> None:
    table, written = rows(), written_in("test_attacks_cli.py") | written_in("test_attacks_alone.py")
    assert sorted(table) == list(range(1, 17))
    named = {number: set(re.findall(r"`(test_row\w+)`", line)) for number, line in table.items()}
    for number, names in named.items():
        assert names, f"row {number} names no test"
        assert names == {name for name in written if name.startswith(f"test_row{number:02d}_")}


def test_every_row_has_a_test_through_the_command_line_and_one_with_the_artefacts_alone() -> None:
    line, alone = written_in("test_attacks_cli.py"), written_in("test_attacks_alone.py")
    for number, text in rows().items():
        prefix = f"test_row{number:02d}_"
        assert any(name.startswith(prefix) for name in line), f"row {number}: command line"
        if "nothing sealed yet" not in text:
            source = (HERE / "test_attacks_cli.py").read_text("utf-8")
            by_line = re.findall(rf"def {prefix}\w+.*?(?=\n\n\n)", source, re.DOTALL)
            checked = any("alone(" in body or "all_refuse(" in body for body in by_line)
            assert checked or any(name.startswith(prefix) for name in alone), f"row {number}: alone"
