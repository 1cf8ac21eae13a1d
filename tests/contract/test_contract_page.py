"""The page about the language names every key of the language."""

from __future__ import annotations

from pathlib import Path

import pytest

from echoctl.contract import Contract, exhibits, model
from echoctl.contract.exhibits import EXHIBITS
from echoctl.contract.menu import CHECKS, Check

PAGE = (Path(__file__).parents[2] / "docs" / "contract.md").read_text("utf-8")


@pytest.mark.parametrize(
    "key", [field.alias or name for name, field in Contract.model_fields.items()]
)
def test_every_top_level_key_is_explained(key: str) -> None:
    assert f"`{key}`" in PAGE


@pytest.mark.parametrize("check", CHECKS)
def test_every_check_of_the_menu_is_explained_with_all_its_keys(check: str) -> None:
    line = next(row for row in PAGE.splitlines() if row.startswith("| `") and f"`{check}`" in row)
    kind = getattr(model, check.title().replace("_", ""), None)
    if kind is None:
        assert check in {"all", "any", "not"}
        assert check.rstrip("_") in {name.rstrip("_") for name in Check.model_fields}
    else:
        missing = [name for name in kind.model_fields if name not in line.replace("`", " ")]
        assert not missing


@pytest.mark.parametrize("part", ["Arm", "Stage", "SeedBlock", "Measure"])
def test_every_key_of_a_part_is_explained(part: str) -> None:
    missing = [name for name in getattr(model, part).model_fields if name not in PAGE]
    assert not missing


@pytest.mark.parametrize("kind", EXHIBITS)
def test_every_exhibit_is_explained_with_all_its_keys(kind: str) -> None:
    line = next(row for row in PAGE.splitlines() if row.startswith(f"| `{kind}` |"))
    missing = [name for name in getattr(exhibits, kind.title()).model_fields if name not in line]
    assert not missing
