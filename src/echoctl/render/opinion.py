"""The second opinion in a terminal: each check that ran, each that did not, and the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text as Rich

from echoctl.render.terminal import banner
from echoctl.render.text import Text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from echoctl.desk import Verified

SIGNS = {
    "ok": ("✓", "green"), "failed": ("✗", "bold red"), "not checked": ("–", "dim"),
    "pending": ("…", "yellow"),
}  # fmt: skip


def verified(found: Verified, t: Text) -> Iterator[RenderableType]:
    """Yield what the second opinion found; "pending" and "not checked" are never a pass."""
    if found.rehearsal:
        yield banner("REHEARSAL", t)
    head = Rich(f"{found.id}  ", style="bold")
    if found.failures:
        head.append(t("verify.failed", count=found.failures), style="bold red")
    elif found.exit:
        head.append(t("verify.unfinished"), style="bold yellow")
    else:
        head.append(t("verify.ok"), style="bold green")
    if found.colour:
        head.append(f" · {t(found.colour)}", style=f"bold {found.colour}")
    if found.grade:
        head.append(f" · {t('grade.' + found.grade)}", style="dim")
    yield head
    grid = Table.grid(padding=(0, 1, 0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", style="dim")
    for check in found.checks:
        sign, style = SIGNS.get(str(check["state"]), ("?", "yellow"))
        words = [str(check.get("reason") or ""), *map(str, check.get("said") or ())]
        state = "" if check["state"] in ("ok", "failed") else f"{check['state']}: "
        grid.add_row(Rich(sign, style=style), str(check["name"]),
                     state + "; ".join(w for w in words if w))  # fmt: skip
    yield grid
    yield Rich()
    # The canonical text, whole: it names each check that ran and each that did not.
    yield Rich(found.text.rstrip("\n"), style="dim", no_wrap=True, overflow="ignore")
    yield Rich(f"sha256 {found.summary}", style="dim", no_wrap=True, overflow="ignore")
