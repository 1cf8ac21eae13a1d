"""House ban 3: minds are made of whole numbers. The checker below is itself shown to catch."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import echoctl

SOURCE = Path(echoctl.__file__).parent
MINDS = sorted(
    [
        *(SOURCE / "mind").rglob("*.py"),
        *(SOURCE / "tracks").rglob("policy*.py"),
        *(SOURCE / "tracks").rglob("policy/*.py"),
    ]
)
FORBIDDEN = {"echoctl.worlds", "numpy", "minigrid", "gymnasium", "scipy", "random", "time", "math"}


def breaches(code: str) -> list[str]:
    """Return what in a module is no whole-number arithmetic or imports what a mind may not."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            found.append("float literal")
        elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div):
            found.append("true division")
        elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Pow):
            exponent = node.right if isinstance(node, ast.BinOp) else node.value
            if not (isinstance(exponent, ast.Constant) and isinstance(exponent.value, int)):
                found.append("a power that may be negative")
        elif isinstance(node, ast.Name) and node.id in ("float", "complex", "round", "divmod_"):
            found.append(node.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "pow":
                found.append("a power that may be negative")
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            module = getattr(node, "module", None)
            names = [f"{module}.{name}" for name in names] + [module] if module else names
            found += [
                f"import of {name}"
                for name in names
                if any(name == bad or name.startswith(bad + ".") for bad in FORBIDDEN)
            ]
    return found


@pytest.mark.parametrize("path", MINDS, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_mind_is_made_of_whole_numbers_only(path: Path) -> None:
    assert breaches(path.read_text(encoding="utf-8")) == []


def test_the_minds_are_all_looked_at() -> None:
    names = {str(path.relative_to(SOURCE)) for path in MINDS}
    assert {"mind/agent.py", "mind/reading.py", "tracks/memx/policy.py"} <= names


@pytest.mark.parametrize(
    "code",
    [
        "x = 0.5", "x = 1 / 2", "x /= 2", "x = float(1)", "x = 2 ** -1", "x = 2 ** y",
        "x **= -1", "x = pow(2, y)", "x = 1j", "import math", "from math import sqrt",
        "import numpy as np", "from echoctl import worlds", "from echoctl.worlds import build",
        "import echoctl.worlds.things", "import random", "from time import sleep",
    ],
)  # fmt: skip
def test_a_breach_is_caught(code: str) -> None:
    assert breaches(code)


@pytest.mark.parametrize(
    "code", ["x = 7 // 2", "x = 2**10", "x = '0.5'", "import timeit_", "from echoctl import mind"]
)
def test_what_is_no_breach_is_let_through(code: str) -> None:
    assert breaches(code) == []


LOCKED_OUT = textwrap.dedent(
    """
    import sys

    class Door:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in {"minigrid", "gymnasium", "numpy", "scipy", "pygame"}:
                raise ImportError(f"{name} is out of bounds here")
            if name == "echoctl.worlds" or name.startswith("echoctl.worlds."):
                raise ImportError(f"{name} is out of bounds here")

    sys.meta_path.insert(0, Door())
    for name in ("minigrid", "gymnasium", "numpy", "echoctl.worlds"):
        try:
            __import__(name)
        except ImportError:
            continue
        raise SystemExit(f"{name} could be imported")

    from mind_toy import Toy, known, live, mind_of
    from echoctl.tracks_memx_policy import RULES

    mind = mind_of(known(), RULES)
    toy = Toy("######", "#k#..#", "#>D.G#", "######")
    live(mind, toy)
    print("won" if toy.grid[toy.pos] == "G" else "lost")
    """
)


def test_a_mind_plays_where_no_world_can_be_imported() -> None:
    # The policy is loaded by its file: the track around it does import worlds.
    load = textwrap.dedent(
        f"""
        import importlib.util
        spec = importlib.util.spec_from_file_location(
            "echoctl.tracks_memx_policy", {str(SOURCE / "tracks" / "memx" / "policy.py")!r}
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        """
    )
    program = LOCKED_OUT.replace("from mind_toy", load + "\nfrom mind_toy")
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PYTHONPATH": f"{SOURCE.parent}:{Path(__file__).parent}", "PATH": ""},
    )
    assert done.stdout.strip() == "won", done.stderr
