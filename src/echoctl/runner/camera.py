"""Films recorded episodes: plays a job again and notes what each world showed.

It is sealed with the worker, so an exam is filmed by the very code that played it, whatever
became of the working tree since. What a film shows can only be what was counted: whoever asks
compares the row that it ended in with the recorded one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from echoctl.percept import ACTION_NAMES, Percept

if TYPE_CHECKING:
    from echoctl.track.job import Job, Row
    from echoctl.track.track import Track, Workbench
    from echoctl.worlds import Scene, World


_BLANK: Mapping[str, Any] = {"end": "", "width": 0, "height": 0, "things": [], "moments": []}


class Recorded:
    """A world that remembers what it showed; everything else is the world's own."""

    def __init__(self, world: World) -> None:
        self.__dict__["world"] = world
        self._begin()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the world has
        return getattr(self.__dict__["world"], name)

    def _begin(self) -> None:
        from echoctl.worlds import scene

        self.__dict__["moments"] = [(scene(self.world), "", 0)]

    def reset(self) -> Percept:
        """Begin again, and forget what was shown."""
        percept: Percept = self.world.reset()
        self._begin()
        return percept

    def step(self, action: int) -> Percept:
        """Take one action and remember what it led to."""
        from echoctl.worlds import scene

        percept: Percept = self.world.step(action)
        self.moments.append((scene(self.world), ACTION_NAMES[action], percept.reward))
        return percept


class _Camera:
    """A workbench whose worlds are recorded; the rest is the bench's own."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self.takes: list[Recorded] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the bench has
        return getattr(self._bench, name)

    def world(self, family: str, seed: int, ids: tuple[str | int, ...], stage: str) -> Any:  # noqa: ANN401
        """Build a world at the permit's door and record it."""
        take = Recorded(self._bench.world(family, seed, ids, stage))
        self.takes.append(take)
        return take


def film(track: Track, job: Job, bench: Workbench, rows: Sequence[int]) -> list[dict[str, Any]]:
    """Play a job until each of these rows (numbers from 0) was seen; return one film a row.

    A film is JSON: ``row`` and its ``number``, ``end`` (``success``, ``harm`` or ``timeout``, as
    the world says), ``walks`` (how many different walks its world saw since the row that showed
    it last: a track may try several and count one), ``width`` and ``height`` in cells, ``things``
    (type, colour, state) and ``moments``: cells as numbers of things, position, heading, thing in
    hand, action (empty for the first) and reward in thousandths. Unless there was one walk,
    ``end`` is empty and there are no moments.
    """
    open_ones, camera = set(rows), _Camera(bench)
    out: list[dict[str, Any]] = []
    if not open_ones:
        return out
    for number, row in enumerate(track.play(job, camera)):
        if number in open_ones:
            fitting = [take for take in camera.takes if _shows(take, row)]
            walks = len({tuple(moment[1:] for moment in take.moments) for take in fitting})
            shown = _developed(fitting[0]) if walks == 1 else _BLANK
            out.append({"number": number, "row": row, "walks": walks, **shown})
            open_ones.discard(number)
            if not open_ones:
                break
        # Only this row's takes: a track may play one episode ahead of the row it yields.
        camera.takes[:] = [take for take in camera.takes if not _shows(take, row)]
    return out


def _shows(take: Recorded, row: Row) -> bool:
    return (take.family, take.seed) == (row["family"], row["seed"])


def _developed(take: Recorded) -> Mapping[str, Any]:
    things: dict[tuple[str, str, str], int] = {}

    def number(held: Any) -> int:  # noqa: ANN401 - a Thing: the worker may not import its name
        return things.setdefault((held.type, held.colour, held.state), len(things))

    def frame(shown: Scene, action: str, reward: int) -> list[Any]:
        cells = [number(held) for held in shown.cells]
        return [cells, shown.pos, shown.heading, number(shown.hand), action, reward]

    first = take.moments[0][0]
    moments = [frame(*moment) for moment in take.moments]
    return {
        "end": "success" if take.success else "harm" if take.harm else "timeout",
        "width": first.width, "height": first.height,
        "things": [list(held) for held in things], "moments": moments,
    }  # fmt: skip
