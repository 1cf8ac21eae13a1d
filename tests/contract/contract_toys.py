"""A small valid contract, and ways to write it again with something changed."""

from __future__ import annotations

from pathlib import Path

from echoctl.contract import Contract, load_contract

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
REAL = tuple(sorted((ROOT / "contracts").glob("*.yaml")))
EXAMPLES = tuple(sorted((HERE / "examples").glob("*.yaml")))
SMALLEST = (HERE / "examples" / "smallest.yaml").read_text(encoding="utf-8")


def load(path: Path) -> Contract:
    """Return the contract in a file."""
    return load_contract(path.read_bytes(), path.name)


def real(name: str) -> Contract:
    """Return one of the repository's own contracts."""
    return load(ROOT / "contracts" / f"{name}.yaml")


def changed(*swaps: tuple[str, str]) -> bytes:
    """Return the smallest contract with each old text replaced; each must be there once."""
    text = SMALLEST
    for old, new in swaps:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text.encode()
