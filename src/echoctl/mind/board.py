"""The board as whole numbers: one bit a cell, one number a class, updated where it changed.

Cells are numbered ``y * (width + 1) + x``: the extra column belongs to no class, so a step east
or west never wraps round, and shifting a number by 1 or by `stride` moves every cell at once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, TypeAlias

from echoctl.mind.roles import Shape
from echoctl.percept import EAST, LEFT, NORTH, RIGHT, SOUTH, WEST
from echoctl.percept import FORWARD as STEP


class Geometry(NamedTuple):
    """What only the size of a board decides."""

    width: int
    height: int
    stride: int
    inside: int
    """All cells."""
    border: int
    """The cells of the edge."""
    place: tuple[int, ...]
    """index into `Percept.cells` -> number of its bit."""
    bits: tuple[int, ...]
    """index into `Percept.cells` -> its bit."""
    steps: tuple[int, int, int, int]
    """heading -> difference between a cell's index and that of the cell in front."""


@lru_cache(maxsize=64)
def geometry(width: int, height: int) -> Geometry:
    """Return the geometry of a board of this size."""
    stride = width + 1
    place = tuple(y * stride + x for y in range(height) for x in range(width))
    bits = tuple(1 << number for number in place)
    inside = sum(bits)
    border = sum(
        1 << (y * stride + x)
        for y in range(height)
        for x in range(width)
        if y in (0, height - 1) or x in (0, width - 1)
    )
    return Geometry(width, height, stride, inside, border, place, bits, (1, width, -1, -width))


@lru_cache(maxsize=256)
def _only(id_: int) -> bytes:
    return bytes(49 if other == id_ else 48 for other in range(256))


@lru_cache(maxsize=4096)
def _masks(width: int, height: int, cells: bytes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ids of a board in reading order, and for each of the 256 ids its cells.

    Kept, because every arm of an exam starts from the same boards.
    """
    present = tuple(dict.fromkeys(cells))
    masks = [0] * 256
    backwards = b"\0".join(cells[at : at + width] for at in range(0, len(cells), width))[::-1]
    inside = geometry(width, height).inside
    for id_ in present:
        masks[id_] = int(backwards.translate(_only(id_)), 2) & inside
    return present, tuple(masks)


class Board:
    """Where each class is. `masks[id]` has a bit for every cell that shows the id."""

    __slots__ = ("cells", "geometry", "masks", "movers", "present")

    def __init__(self, width: int, height: int, cells: bytes) -> None:
        self.geometry = geometry(width, height)
        self.cells = cells
        present, masks = _masks(width, height, cells)
        self.masks = list(masks)
        self.movers = bytearray(256)
        """1 for ids that moved by themselves; sticky within the episode."""
        self.present = list(present)
        """Every id seen in this episode, in reading order of its first cell."""

    def update(self, cells: bytes, acted: int) -> tuple[list[int], bool]:
        """Take in new cells; return the ids whose cells changed, and whether others moved too.

        `acted` is the cell acted upon (an index into `cells`, or -1); a change anywhere else
        came about by itself.

        An id that both gains and loses a cell in one tick moves by itself. What it moves over
        gains and loses too, so of several the most common is left out (contract A section 2.2,
        role AUTO).
        """
        old_cells = self.cells
        if cells is old_cells or cells == old_cells:
            return [], False
        self.cells = cells
        masks, bits = self.masks, self.geometry.bits
        swaps: dict[tuple[int, int], None] = {}
        at = -1
        rest = int.from_bytes(cells, "little") ^ int.from_bytes(old_cells, "little")
        while rest:
            skip = ((rest & -rest).bit_length() + 7) >> 3
            rest >>= skip << 3
            at += skip
            old, new, bit = old_cells[at], cells[at], bits[at]
            masks[old] ^= bit
            masks[new] ^= bit
            if at != acted:
                swaps[old, new] = None  # a board changes in few ways, however many cells do
        changed: dict[int, None] = {}
        lost, gained = set(), set()
        for old, new in swaps:
            changed[old] = changed[new] = None
            lost.add(old)
            gained.add(new)
        if lost:
            self._note_movers(lost & gained)
        if acted >= 0 and cells[acted] != old_cells[acted]:
            changed[old_cells[acted]] = changed[cells[acted]] = None
        present = self.present
        for id_ in changed:
            if id_ not in present:
                present.append(id_)
        return list(changed), bool(lost)

    def _note_movers(self, both: set[int]) -> None:
        """Mark what moves by itself among the ids that gained and lost a cell in this tick."""
        if not both:
            return
        counts = {id_: self.masks[id_].bit_count() for id_ in both}
        most = max(counts.values())
        for id_, count in counts.items():
            if count < most or len(both) == 1:
                self.movers[id_] = 1

    def shape(self, id_: int, ranked: bool = True) -> Shape:
        """Return what a class looks like now; without `ranked` the rank is left at 0."""
        geo = self.geometry
        mask = self.masks[id_]
        cells = mask.bit_count()
        rank = 0
        if ranked:
            rank = sum(1 for other in self.present if self.masks[other].bit_count() > cells)
        return Shape(
            self.movers[id_], cells, (mask & geo.border).bit_count(), geo.width, geo.height, rank
        )


def facing(stride: int, targets: int) -> tuple[int, int, int, int]:
    """Return, for each heading, the cells from which one of the targets is in front."""
    return targets >> 1, targets >> stride, targets << 1, targets << stride


def around(stride: int, cells: int) -> int:
    """Return the cells beside any of these."""
    return cells >> 1 | cells << 1 | cells >> stride | cells << stride


Way: TypeAlias = tuple[list[int], int, int]
"""Actions in reverse order (the next one pops off the end), the bit and heading reached."""


class Ways:
    """The ways from one cell and heading, breadth first by turns and steps, found once.

    `free` are the cells that may be walked on, `start` the bit of the own cell (free or not).
    Layer n holds, for each heading, the cells that n actions reach and no fewer; layers are added
    as far as a search needs them and serve every later search from the same place.
    """

    __slots__ = ("_layers", "_new", "_stride")

    def __init__(self, stride: int, free: int, start: int, heading: int) -> None:
        self._stride = stride
        here = [0, 0, 0, 0]
        here[heading] = start
        east, south, west, north = here
        self._layers = [(east, south, west, north)]
        room = free | start
        self._new = (room ^ east, room ^ south, room ^ west, room ^ north)

    def nearest(self, want: tuple[int, int, int, int]) -> Way | None:
        """Return the way of fewest actions to one of the wanted cells for each heading.

        None if there is none. Ties go to the heading east, south, west, north, then to the first
        cell in reading order; going straight is preferred to turning.
        """
        want0, want1, want2, want3 = want
        layers = self._layers
        depth = 0
        while depth < len(layers) or self._deepen():
            front0, front1, front2, front3 = layers[depth]
            if hit := front0 & want0:
                return _trace(self._stride, layers, depth, hit & -hit, EAST)
            if hit := front1 & want1:
                return _trace(self._stride, layers, depth, hit & -hit, SOUTH)
            if hit := front2 & want2:
                return _trace(self._stride, layers, depth, hit & -hit, WEST)
            if hit := front3 & want3:
                return _trace(self._stride, layers, depth, hit & -hit, NORTH)
            depth += 1
        return None

    def _deepen(self) -> bool:
        """Add a layer; False when everything within reach is in one already."""
        stride = self._stride
        front0, front1, front2, front3 = self._layers[-1]
        new0, new1, new2, new3 = self._new
        turned_ns = front1 | front3
        turned_ew = front0 | front2
        front0 = (turned_ns | front0 << 1) & new0
        front2 = (turned_ns | front2 >> 1) & new2
        front1 = (turned_ew | front1 << stride) & new1
        front3 = (turned_ew | front3 >> stride) & new3
        if not (front0 or front1 or front2 or front3):
            return False
        self._layers.append((front0, front1, front2, front3))
        self._new = (new0 ^ front0, new1 ^ front1, new2 ^ front2, new3 ^ front3)
        return True


def nearest(
    stride: int, free: int, start: int, heading: int, want: tuple[int, int, int, int]
) -> Way | None:
    """Return the way of a single search (see `Ways`)."""
    return Ways(stride, free, start, heading).nearest(want)


def _trace(
    stride: int, layers: list[tuple[int, int, int, int]], depth: int, bit: int, heading: int
) -> Way:
    """Walk back through the layers; a straight step is preferred to a turn."""
    end, end_heading = bit, heading
    actions = []
    for at in range(depth - 1, -1, -1):
        layer = layers[at]
        if heading == EAST:
            behind = bit >> 1
        elif heading == SOUTH:
            behind = bit >> stride
        elif heading == WEST:
            behind = bit << 1
        else:
            behind = bit << stride
        if layer[heading] & behind:
            actions.append(STEP)
            bit = behind
        elif layer[(heading - 1) & 3] & bit:
            actions.append(RIGHT)
            heading = (heading - 1) & 3
        else:
            actions.append(LEFT)
            heading = (heading + 1) & 3
    return actions, end, end_heading
