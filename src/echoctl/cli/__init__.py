"""Verbs only: parse, call the desk, hand to render, exit.

`main` is the whole process: it turns every way to fail into one or two lines and an exit code.
0 done (a red verdict is a result), 1 a check failed, 2 usage, 3 refused by the life cycle,
4 interrupted and resumable, 5 evidence is inconsistent; 70 is a bug in echoctl itself.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. `argv` is without the program's name."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")

    # Nothing that loading modules leaves behind is garbage; a command collects its own.
    gc.disable()
    from echoctl.cli.guard import guarded

    return guarded(words)
