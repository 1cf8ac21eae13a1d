"""The table of broken contracts: each file says on its first lines what must be reported.

``# expect: LINE:COLUMN fragment``, one line a problem, in the order of the report. The command
line's tests read the same table.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "broken"

_EXPECT = re.compile(rb"# expect: ([0-9]+):([0-9]+) (.*)")


class Expected(NamedTuple):
    """One problem: where it stands and what its sentence must contain."""

    line: int
    column: int
    fragment: str


class Broken(NamedTuple):
    """One broken contract."""

    path: Path
    expected: tuple[Expected, ...]


def broken_contracts() -> list[Broken]:
    """Return every broken contract in the order of its name."""
    out = []
    for path in sorted(FOLDER.glob("*.yaml")):
        expected = []
        for line in path.read_bytes().split(b"\n"):
            if (match := _EXPECT.fullmatch(line.rstrip(b"\r"))) is None:
                break
            expected.append(Expected(int(match[1]), int(match[2]), match[3].decode("utf-8")))
        out.append(Broken(path, tuple(expected)))
    return out
