"""What people wrote into a track's life, and what was sealed, in a few lines each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text as Rich

from echoctl.render.numbers import size
from echoctl.render.text import Text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from echoctl.desk import (
        Amended,
        Answered,
        Begun,
        Bundled,
        Closed,
        Decided,
        Frozen,
        Reviewed,
        Vouched,
    )


def begun(done: Begun, place: str, t: Text) -> Iterator[RenderableType]:
    """Yield what was written, and the command to try first."""
    for file in done.files:
        yield _whole(f"✓ {place}/{file}")
    if done.follows:
        yield Rich(f"  {t('follows', id=done.follows)}", style="dim")
    yield Rich(f"  {t('next')}  {done.next}", style="bold")


def amended(done: Amended, t: Text) -> Iterator[RenderableType]:
    """Yield an amendment: its number, both hashes, and the difference in colour."""
    yield _head(done.id, f"{t('event.amendment')} {done.number}")
    yield Rich(f"  {done.before[:12]}… → {done.after[:12]}…  {done.file}", style="dim")
    yield Rich(f"  {done.why}")
    for line in done.diff.splitlines():
        tone = "green" if line.startswith("+") else "red" if line.startswith("-") else "dim"
        yield Rich(f"  {line}", style=tone)


def reviewed(done: Reviewed, t: Text) -> Iterator[RenderableType]:
    """Yield a review with the ids by which its findings are answered."""
    yield _head(done.id, f"{t('event.review')} · {done.reviewer}")
    grid = Table.grid(padding=(0, 2, 0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for finding in done.findings:
        style = "bold red" if finding["blocking"] else "bold"
        grid.add_row(Rich(str(finding["id"]), style=style), str(finding["text"]))
    if done.findings:
        yield grid
        example = f"echoctl review {done.id} --answer {done.findings[0]['id']} --action …"
        yield Rich(f"  {t('next')}  {example}", style="dim")
    else:
        yield Rich(f"  {t('review.none')}")


def answered(done: Answered, t: Text) -> Iterator[RenderableType]:
    """Yield the action on a finding, and how many still wait."""
    yield _head(done.id, f"{t('event.finding')} · {done.finding}")
    yield Rich(f"  {done.action}")
    yield Rich(f"  {t('review.open', count=done.open, blocking=done.blocking)}", style="dim")


def closed(done: Closed, t: Text) -> Iterator[RenderableType]:
    """Yield a closure."""
    yield Rich.assemble((f"{done.id}  ", "bold"), (t("state.closed"), "bold red"))
    yield Rich(f"  {done.why}")


def frozen(done: Frozen, t: Text) -> Iterator[RenderableType]:
    """Yield a freeze and the receipt to keep outside."""
    yield _head(done.id, t("state.frozen"))
    sealed = t("freeze.sealed", jobs=done.jobs, files=done.code, artefacts=done.artefacts)
    yield Rich(f"  {sealed}")
    yield receipt(done.receipt, t)
    yield Rich(f"  {t('next')}  echoctl exam {done.id}", style="bold")


def decided(done: Decided, files: Sequence[str], t: Text) -> Iterator[RenderableType]:
    """Yield what follows a verdict: incidents, where the report lies, what comes next."""
    for incident in done.incidents:
        yield Rich(f"  {t('event.incident')}: {incident}", style="yellow")
    for file in files:
        yield _whole(f"{t('report')}  {file}")
    if not done.rehearsal:
        yield receipt(done.receipt, t)
        yield Rich(f"  {t('next')}  echoctl verify {done.id} --rerun 4", style="bold")


def vouched(done: Vouched, t: Text) -> Iterator[RenderableType]:
    """Yield which receipts were signed or stamped now, and which had it already."""
    for name in done.made:
        yield _whole(f"✓ artifacts/{done.id}/witness/{name}")
    for name in done.kept:
        yield _whole(f"· artifacts/{done.id}/witness/{name}  ({t('vouch.kept')})")


def thrown_away(keep: str, t: Text) -> Rich:
    """Return the hint of how a rehearsal is kept."""
    return Rich(f"  {t('rehearsal.gone')} {keep}", style="dim")


def bundled(done: Bundled, t: Text) -> Iterator[RenderableType]:
    """Yield an archive's path, its hash, and how a stranger uses it."""
    yield _whole(str(done.path))
    kept = size(done.path.stat().st_size)
    yield Rich(f"  {kept} · {t('bundle.files', count=done.files)} · SHA-256 {done.sha256}")
    yield Rich(f"  {t('check-again.alone')} unzip, python verify.py .", style="dim")


def receipt(line: str, t: Text) -> Rich:
    """Return a receipt on a line of its own, never wrapped, with why it is shown."""
    shown = Rich(f"  {t('keep-outside')}:\n", style="dim")
    shown.append(line, style="bold not dim")
    shown.no_wrap = True
    shown.overflow = "ignore"
    return shown


def _whole(text: str) -> Rich:
    """Return a line that is never wrapped, so that a path can be copied."""
    return Rich(text, no_wrap=True, overflow="ignore")


def _head(id: str, what: str) -> Rich:
    return Rich.assemble((f"{id}  ", "bold"), what)
