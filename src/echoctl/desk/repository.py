"""What git says about a workspace: whether everything that will be sealed is committed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from echoctl.errors import Refused


def git(folder: Path, *words: str) -> str | None:
    """Return what git prints, or None where it fails or there is no git or repository."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-c", "core.fsmonitor=false", "-c", "core.quotepath=off", *words], cwd=folder,
            capture_output=True, text=True, encoding="utf-8", errors="replace", check=False,
            env={**env, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"},
        )  # fmt: skip
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def head(folder: Path) -> str | None:
    """Return the commit that is checked out, or None where there is none."""
    found = git(folder, "rev-parse", "HEAD")
    return found.strip() if found else None


def dirt(folder: Path) -> list[str]:
    """Return what is changed or untracked in a folder, relative to it; empty without git."""
    said = git(folder, "status", "--porcelain", "--untracked-files=all", "-z", "--", ".")
    if not said:
        return []
    prefix = (git(folder, "rev-parse", "--show-prefix") or "").strip()
    out = []
    entries = iter(said.split("\0"))
    for entry in entries:
        if not entry:
            continue
        if entry[0] in "RC":
            next(entries, None)  # the name before a rename
        name = entry[3:].removeprefix(prefix)
        if not _free(name):
            out.append(name)
    return sorted(out)


def _free(name: str) -> bool:
    """Return whether a file is no dirt: development runs, and what a crash left of a freeze."""
    parts = name.split("/")
    return (
        len(parts) > 2
        and parts[0] == "artifacts"
        and (parts[2] == "dev" or parts[2].startswith(".frozen-"))
    )


def refuse_dirty(folder: Path, id: str) -> None:
    """Raise Refused, naming what is not committed, unless the folder is clean or not in git."""
    found = dirt(folder)
    if found:
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        raise Refused(
            f"the tree is dirty: {', '.join(found[:3])}{more}",
            f"commit first, so that what {id} seals can be found again",
            dirty=found[:50],
        )
