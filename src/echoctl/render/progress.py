"""How far a run is: jobs, rate, time left. Never a measure.

On a terminal one line that is redrawn; elsewhere a line every few seconds and one at the end;
nothing at all with ``--quiet`` or ``--json``.
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

from echoctl.render.numbers import seconds
from echoctl.render.screen import Screen
from echoctl.render.text import Text

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text as Rich

    from echoctl.desk import Progress

BAR = 24
SELDOM = 10
"""Seconds between lines where nothing can be redrawn."""


class Watch:
    """An observer of runs that draws on a `Screen`; use it in a ``with`` statement."""

    def __init__(self, screen: Screen, t: Text) -> None:
        self.screen = screen
        self.t = t
        self._live: Live | None = None
        self._line: Rich | None = None
        self._what = ""
        self._drawn = 0.0

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def progress(self, at: Progress) -> None:
        """Show how far it is; called a few times a second."""
        if self.screen.quiet or self.screen.as_json:
            return
        if at.what != self._what:
            self._end()
            self._what, self._drawn = at.what, 0.0
            if at.what == "exam":
                self.note(self.t("progress.quiet"))
        if self.screen.err.is_terminal:
            self._draw(at)
        else:
            self._tell(at)

    def note(self, text: str) -> None:
        """Show a line that must not be lost: a receipt, an incident."""
        if self.screen.quiet or self.screen.as_json:
            return
        self.screen.err.print(f"       {text}", soft_wrap=True)

    def _draw(self, at: Progress) -> None:
        from rich.live import Live

        last = at.jobs >= at.total
        now = time.monotonic()
        self._line = self._words(at)
        if self._live is None:
            self._live = Live(self._line, console=self.screen.err, auto_refresh=False,
                              transient=False)  # fmt: skip
            self._live.start()
        elif now - self._drawn < 0.1 and not last:
            return
        self._drawn = now
        self._live.update(self._line, refresh=True)

    def _tell(self, at: Progress) -> None:
        now = time.monotonic()
        if at.jobs >= at.total or now - self._drawn >= SELDOM:
            self._drawn = now
            self.screen.err.print(self._words(at), soft_wrap=True)

    def _words(self, at: Progress) -> Rich:
        from rich.text import Text as Rich

        done = BAR * at.jobs // max(1, at.total)
        line = Rich(f"{self.t.maybe('what.' + at.what, at.what):<17} ", style="bold")
        line.append(f"{at.jobs}/{at.total}  ", style="default")
        line.append("━" * done, style="green")
        line.append("━" * (BAR - done), style="bright_black")
        parts = [f"{at.workers} {self.t('workers')}",
                 self.t("progress.rate", rate=at.rows_per_second)]  # fmt: skip
        if at.seconds_left is not None and at.jobs < at.total:
            parts.append(self.t("progress.left", left=seconds(at.seconds_left)))
        line.append("  " + " · ".join(parts), style="dim")
        line.no_wrap = True
        line.overflow = "ellipsis"
        return line

    def _end(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
