"""The whole loop with the mind: our worlds against the same mind on the stock wrapper.

    python benchmarks/mind_loop.py [--rounds 5] [--episodes 6] [--write]

Both sides seat the same minds of MEMORIA-X in the same development worlds (same family, seed and
opaque ids), one on `echoctl.worlds`, one on ``gym.make`` + ``FullyObsWrapper`` behind the adapter
below, through the same arena. They must return the same episodes, or the run stops. A round times
one side and then the other; ratios are medians over rounds. Families are those that MEMORIA-X
trains and develops on; island_navigation has no stock environment and is left out. No exam family
is played.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from echoctl.arena import Episode, play
from echoctl.contract import Seeds, load_contract
from echoctl.mind import Memory, Reading
from echoctl.percept import Percept
from echoctl.tracks.memx import Memx, artefact, chain_name, ids_of
from echoctl.tracks.memx.arms import MEMORY_OF, Seat, seat
from echoctl.worlds import FAMILIES, Permit, World, build
from echoctl.worlds.starts import stock
from echoctl.worlds.things import opaque_ids

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"
BEGIN = "<!-- mind_loop: begin -->"
END = "<!-- mind_loop: end -->"
MACRO = 1
MINDS = (
    "vacia", "aprendida", "barajada", "marginal", "ortogonal", "sin_cota", "sin_auto",
)  # fmt: skip
"""Every arm of MEMORIA-X with a mind, but the oracle, which has to look behind the world."""
RATES = (200, 30, 90)
"""Asks, blocks and modifies for `marginal`: any will do, as both sides get the same."""
DEVELOPMENT = (
    "LavaGapS7", "DoorKey-6x6", "Dynamic-Obstacles-6x6", "LavaCrossingS9N1", "KeyCorridorS3R1",
)  # fmt: skip
PERMIT = Permit.development((*DEVELOPMENT, "island_navigation"), [(1_000_000, 1_300_000)])


class StockWorld:
    """A stock environment behind the same face as `World`, at the usual price of one.

    It reads the fully observed image, puts back the cell under the agent and adds the hand, as
    any adapter for this mind has to.
    """

    permit = "development"

    def __init__(self, env: Any, family: str, seed: int, ids: bytes) -> None:  # noqa: ANN401
        self.env, self.family, self.seed = env, family, seed
        self.limit = FAMILIES[family].limit
        self._ids = ids
        self._numpy = import_module("numpy")
        self._index = import_module("minigrid.core.constants").OBJECT_TO_IDX

    def reset(self) -> Percept:
        """Begin again."""
        observed, _ = self.env.reset(seed=self.seed)
        self.steps, self.over, self.success, self.harm, self.collision = 0, False, False, False, 0
        return self._percept(observed, 0, False)

    def step(self, action: int) -> Percept:
        """Take one action."""
        turn = FAMILIES[self.family].dynamics == "obstacles" and action > 2
        observed, reward, terminated, truncated, _ = self.env.step(0 if turn else action)
        self.steps += 1
        self.over = bool(terminated or truncated)
        self.success = bool(terminated and reward > 0)
        self.harm = bool(terminated and not self.success)
        self.collision = int(self.harm and reward < 0)
        paid = (1000 * self.limit - 900 * self.steps) // self.limit if reward > 0 else int(reward)
        return self._percept(observed, paid, bool(terminated))

    def _percept(self, observed: Any, reward: int, terminal: bool) -> Percept:  # noqa: ANN401
        inner = self.env.unwrapped
        image = observed["image"].astype(self._numpy.int64)
        classes = (image[:, :, 0] * 18 + image[:, :, 1] * 3 + image[:, :, 2]).T.copy()
        x, y = int(inner.agent_pos[0]), int(inner.agent_pos[1])
        classes[y, x] = self._class(inner.grid.get(x, y), "empty")
        cells = classes.astype(self._numpy.uint8).tobytes().translate(self._ids)
        hand = self._ids[self._class(inner.carrying, "nothing")]
        width, height = int(inner.width), int(inner.height)
        return Percept(
            width, height, cells, y * width + x, int(inner.agent_dir), hand, reward, terminal
        )

    def _class(self, thing: Any, nothing: str) -> int:  # noqa: ANN401
        if thing is None:
            return 18 if nothing == "empty" else 0
        kind, colour, state = thing.encode()
        return int(kind) * 18 + int(colour) * 3 + int(state)


class Folder:
    """A workbench that trains into one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def world(self, family: str, seed: int, ids: tuple[str | int, ...], stage: str) -> World:
        """Build a development world."""
        return build(family, seed, ids=ids, permit=PERMIT)

    def artefact(self, name: str) -> Path:
        """Return where a memory lies."""
        return self.folder / name

    make = artefact

    def data(self, name: str) -> bytes:
        """Nothing is read."""
        raise FileNotFoundError(name)

    def digest(self, name: str, value: str) -> None:
        """Nothing is recorded."""


class Line(NamedTuple):
    """Medians of one family; rates in steps played a second, whole loop."""

    family: str
    stock: float
    ours: float
    ratio: float
    lowest: float


def seats_of(memories: dict[str, Memory]) -> list[tuple[Seat, str]]:
    """Return who plays, with the regime; a job seats each once, for all its families."""
    out = []
    for arm in MINDS:
        reading = Reading((1, 1), (1, 1)) if arm == "sin_cota" else Reading()
        memory = memories[MEMORY_OF[arm]] if arm in MEMORY_OF else ()
        out += [(seat(arm, regime, reading, memory, RATES), regime) for regime in ("A1", "A2")]
    return out


def episodes(
    side: str,
    family: str,
    seeds: Sequence[int],
    seats: Sequence[tuple[Seat, str]],
    env: Any,  # noqa: ANN401
) -> tuple[list[Episode], int, float]:
    """Play all arms on one side; return the episodes, the steps played and the seconds."""
    out: list[Episode] = []
    steps = 0
    began = time.perf_counter()
    for sit, regime in seats:
        for seed in seeds:
            ids = ids_of(regime, MACRO, family, seed)
            world: Any
            if side == "ours":
                world = build(family, seed, ids=ids, permit=PERMIT)
            else:
                world = StockWorld(env, family, seed, opaque_ids(ids))
            out.append(play(sit(world), world))
            steps += world.steps
    return out, steps, time.perf_counter() - began


def prepared(count: int) -> tuple[list[tuple[Seat, str]], dict[str, tuple[int, ...]]]:
    """Train the memories; return who plays, and `count` development seeds for each family."""
    contract = load_contract((ROOT / "contracts" / "memx.yaml").read_bytes(), "memx.yaml")
    seeds = Seeds.lay_out(contract)
    with tempfile.TemporaryDirectory() as folder:
        bench = Folder(Path(folder))
        memories = {}
        for job in Memx().plan(contract, seeds, "training"):
            name = str(job.keys["arm"])
            if job.keys["unit"] == MACRO:
                for _ in Memx().play(job, bench):
                    pass
                made = artefact(name, MACRO)
                memories[name] = Memory(chain_name(name, MACRO), bench.artefact(made))
    chosen = {name: seeds.of("development", name, MACRO)[:count] for name in DEVELOPMENT}
    return seats_of(memories), chosen


def measure(rounds: int, count: int) -> tuple[list[Line], list[float]]:
    """Return a line a family and the ratios of the whole mix, one a round."""
    seats, seeds = prepared(count)
    wrap = import_module("minigrid.wrappers")
    envs = {family: stock(family) for family in DEVELOPMENT}
    envs = {family: wrap.FullyObsWrapper(env) for family, env in envs.items()}
    rows: dict[str, list[tuple[float, float]]] = {family: [] for family in DEVELOPMENT}
    mix = []
    for _ in range(rounds):
        spent = [0.0, 0.0]
        for family in DEVELOPMENT:
            theirs = episodes("stock", family, seeds[family], seats, envs[family])
            ours = episodes("ours", family, seeds[family], seats, None)
            if theirs[:2] != ours[:2]:
                raise SystemExit(f"{family}: the two sides played different episodes")
            spent[0] += theirs[2]
            spent[1] += ours[2]
            rows[family].append((theirs[1] / theirs[2], ours[1] / ours[2]))
        mix.append(spent[0] / spent[1])
    lines = []
    for family, pairs in rows.items():
        ratios = [ours / theirs for theirs, ours in pairs]
        theirs, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
        lines.append(Line(family, theirs, ours, statistics.median(ratios), min(ratios)))
    return lines, mix


def table(lines: Sequence[Line], mix: Sequence[float], rounds: int, count: int) -> str:
    """Return the Markdown table and how it was made."""
    out = [
        f"`python benchmarks/mind_loop.py --rounds {rounds} --episodes {count} --write`: CPython "
        f"{platform.python_version()}, medians of {rounds} rounds, steps played a second, "
        f"building, resets, mind and counting included; arms {', '.join(MINDS)}, A1 and A2, "
        "the same number of episodes each.",
        "",
        "| family | same mind on stock | ours | ratio | lowest round |",
        "|---|--:|--:|--:|--:|",
    ]
    out += [
        f"| {line.family} | {line.stock:,.0f} | {line.ours:,.0f} | x{line.ratio:.1f} "
        f"| x{line.lowest:.1f} |"
        for line in lines
    ]
    out += [
        "",
        f"The whole mix, time against time: x{statistics.median(mix):.1f} "
        f"(lowest round x{min(mix):.1f}).",
    ]
    return "\n".join(out) + "\n"


def write(text: str) -> None:
    """Replace what stands between this script's markers in docs/performance.md."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{text}{END}{after}", encoding="utf-8")


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--episodes", type=int, default=6)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    lines, mix = measure(asked.rounds, asked.episodes)
    text = table(lines, mix, asked.rounds, asked.episodes)
    print(text)
    if asked.write:
        write(text)


if __name__ == "__main__":
    main()
