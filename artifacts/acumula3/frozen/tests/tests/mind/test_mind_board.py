from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echoctl.mind.board import Board, Ways, facing, geometry, nearest
from echoctl.percept import FORWARD, LEFT, RIGHT

SIZES = st.tuples(st.integers(1, 7), st.integers(1, 7))


@st.composite
def two_boards(draw: st.DrawFn) -> tuple[int, int, bytes, bytes]:
    width, height = draw(SIZES)
    cells = st.lists(
        st.integers(0, 3).map([0, 7, 200, 255].__getitem__),
        min_size=width * height,
        max_size=width * height,
    ).map(bytes)
    return width, height, draw(cells), draw(cells)


def cells_of(board: Board, id_: int) -> set[int]:
    place = board.geometry.place
    return {at for at in range(len(place)) if board.masks[id_] >> place[at] & 1}


@given(two_boards())
def test_an_updated_board_equals_one_built_anew(case: tuple[int, int, bytes, bytes]) -> None:
    width, height, before, after = case
    board = Board(width, height, before)
    changed, _ = board.update(after, -1)
    for id_ in range(256):
        assert cells_of(board, id_) == {at for at, one in enumerate(after) if one == id_}
    assert set(changed) == {
        one for old, new in zip(before, after, strict=True) if old != new for one in (old, new)
    }


@given(two_boards())
def test_a_shape_counts_cells_border_cells_and_commoner_classes(
    case: tuple[int, int, bytes, bytes],
) -> None:
    width, height, cells, _ = case
    board = Board(width, height, cells)
    for id_ in set(cells):
        places = [divmod(at, width) for at, one in enumerate(cells) if one == id_]
        shape = board.shape(id_)
        assert (shape.width, shape.height) == (width, height)
        assert shape.cells == len(places)
        assert shape.border == sum(y in (0, height - 1) or x in (0, width - 1) for y, x in places)
        assert shape.rank == sum(cells.count(other) > len(places) for other in set(cells))


@st.composite
def mazes(draw: st.DrawFn) -> tuple[int, int, set[int], int, int, set[int]]:
    width, height = draw(st.tuples(st.integers(2, 6), st.integers(2, 6)))
    every = range(width * height)
    free = draw(st.sets(st.sampled_from(every)))
    targets = draw(st.sets(st.sampled_from(every), max_size=3))
    start = draw(st.sampled_from(every))
    return width, height, free, start, draw(st.integers(0, 3)), targets


def fewest(
    width: int, height: int, free: set[int], start: int, heading: int, targets: set[int]
) -> int | None:
    """Breadth first over (cell, heading), written the long way round."""

    def front(at: int, way: int) -> int | None:
        y, x = divmod(at, width)
        x, y = x + (1, 0, -1, 0)[way], y + (0, 1, 0, -1)[way]
        return y * width + x if 0 <= x < width and 0 <= y < height else None

    queue = deque([(start, heading, 0)])
    seen = {(start, heading)}
    while queue:
        at, way, steps = queue.popleft()
        if front(at, way) in targets:
            return steps
        ahead = front(at, way)
        following = [(at, (way + 1) % 4), (at, (way - 1) % 4)]
        if ahead is not None and (ahead in free or ahead == start):
            following.append((ahead, way))
        for state in following:
            if state not in seen:
                seen.add(state)
                queue.append((*state, steps + 1))
    return None


@given(mazes())
def test_the_way_found_is_valid_and_as_short_as_any(
    maze: tuple[int, int, set[int], int, int, set[int]],
) -> None:
    width, height, free, start, heading, targets = maze
    geo = geometry(width, height)
    mask = sum(1 << geo.place[at] for at in free)
    want = facing(geo.stride, sum(1 << geo.place[at] for at in targets))
    found = nearest(geo.stride, mask, 1 << geo.place[start], heading, want)
    best = fewest(width, height, free, start, heading, targets)
    assert (found is None) == (best is None)
    if found is None:
        return
    path, bit, end_heading = found
    assert len(path) == best
    at, way = start, heading
    for action in reversed(path):
        if action == FORWARD:
            at += geo.steps[way]
            assert at in free or at == start
        else:
            assert action in (LEFT, RIGHT)
            way = (way + (1 if action == RIGHT else -1)) % 4
    assert (1 << geo.place[at], way) == (bit, end_heading)
    assert at + geo.steps[way] in targets


@given(mazes(), st.lists(st.sets(st.integers(0, 35), max_size=3), max_size=4))
def test_searches_that_share_their_layers_find_what_each_finds_alone(
    maze: tuple[int, int, set[int], int, int, set[int]], targets: list[set[int]]
) -> None:
    width, height, free, start, heading, _ = maze
    geo = geometry(width, height)
    mask = sum(1 << geo.place[at] for at in free)
    place = (geo.stride, mask, 1 << geo.place[start], heading)
    ways = Ways(*place)
    for some in targets:
        cells = sum(1 << geo.place[at] for at in some if at < width * height)
        want = facing(geo.stride, cells)
        assert ways.nearest(want) == nearest(*place, want)


def test_what_gains_and_loses_a_cell_in_one_tick_moves_by_itself() -> None:
    board = Board(5, 1, b"..o..")
    board.update(b"...o.", -1)
    assert board.movers[ord("o")]
    assert not board.movers[ord(".")], "the floor swaps too: the rarer id is the mover"


def test_a_mover_stays_one_for_the_episode() -> None:
    board = Board(5, 1, b"..o..")
    board.update(b"...o.", -1)
    board.update(b"...o.", -1)
    assert board.movers[ord("o")]


@pytest.mark.parametrize(
    ("before", "after", "acted"),
    [
        (b"..k..", b".....", 2),
        (b".....", b"..k..", 2),
        (b"..d..", b".._..", 2),
        (b"o.o.o", b"..o.o", -1),
        (b".o", b"o.", -1),
        (b"k....", b"...k.", 0),
    ],
    ids=["taken", "dropped", "opened", "only lost", "a tie tells nothing", "acted upon"],
)
def test_what_does_not_move_by_itself_is_no_mover(before: bytes, after: bytes, acted: int) -> None:
    board = Board(len(before), 1, before)
    board.update(after, acted)
    assert not any(board.movers)


def test_two_kinds_that_move_at_once_are_both_seen() -> None:
    board = Board(7, 1, b"a..b...")
    board.update(b".a..b..", -1)
    assert board.movers[ord("a")]
    assert board.movers[ord("b")]
    assert not board.movers[ord(".")]
