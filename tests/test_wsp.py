from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echoctl.wsp import MAGIC, Postal, fnv32, pack, unpack

BYTE = st.integers(0, 255)
AXIS = st.integers(-100, 100)
POSTALS = st.builds(
    Postal, BYTE, BYTE, BYTE, BYTE, st.tuples(AXIS, AXIS, AXIS, AXIS), BYTE, BYTE, BYTE, BYTE
)
PLAIN = Postal(1, 2, 3, 4, (5, -6, 7, -8), 9, 10, 11, 12)


@given(POSTALS)
def test_every_postal_is_16_bytes_and_comes_back(postal: Postal) -> None:
    data = pack(postal)
    assert len(data) == 16
    assert unpack(data) == postal


@given(POSTALS, POSTALS)
def test_two_postals_never_share_their_bytes(one: Postal, two: Postal) -> None:
    assert (pack(one) == pack(two)) == (one == two)


@given(st.binary(min_size=16, max_size=16) | st.binary(min_size=12, max_size=12).map(MAGIC.__add__))
def test_bytes_are_a_postal_exactly_when_pack_can_write_them(data: bytes) -> None:
    try:
        postal = unpack(data)
    except ValueError:
        axes = [byte - 256 if byte > 127 else byte for byte in data[8:12]]
        assert data[:4] != MAGIC or any(abs(axis) > 100 for axis in axes)
    else:
        assert pack(postal) == data


def test_the_layout_is_the_documented_one() -> None:
    assert pack(PLAIN) == b"WSP1\x01\x02\x03\x04\x05\xfa\x07\xf8\x09\x0a\x0b\x0c"
    assert PLAIN.referent == 11 * 256 + 12


@pytest.mark.parametrize(
    "field", ["src", "rel", "dst", "time", "domain", "generator", "slot", "seq"]
)
@pytest.mark.parametrize("value", [-1, 256, 10**9, True, "1", None, 1.0])
def test_a_field_out_of_range_is_refused_by_name_and_never_clipped(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=field):
        pack(PLAIN._replace(**{field: value}))


@pytest.mark.parametrize("at", range(4))
@pytest.mark.parametrize("value", [-101, 101, 127, -128, 155])
def test_an_axis_beyond_100_is_refused_by_both_sides(at: int, value: int) -> None:
    axes: Any = (*PLAIN.e[:at], value, *PLAIN.e[at + 1 :])
    with pytest.raises(ValueError, match=rf"e\[{at}\]"):
        pack(PLAIN._replace(e=axes))
    data = bytearray(pack(PLAIN))
    data[8 + at] = 101
    with pytest.raises(ValueError, match=rf"e\[{at}\]"):
        unpack(bytes(data))


@pytest.mark.parametrize("axes", [(), (1, 2, 3), (1, 2, 3, 4, 5)])
def test_e_has_exactly_four_axes(axes: Any) -> None:
    with pytest.raises(ValueError, match="four axes"):
        pack(PLAIN._replace(e=axes))


@pytest.mark.parametrize("data", [b"", b"WSP1", pack(PLAIN) + b"\0", b"WSP2" + pack(PLAIN)[4:]])
def test_anything_but_16_bytes_with_the_magic_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="a postal"):
        unpack(data)


def test_fnv32_is_fnv_1a() -> None:
    assert (fnv32(b""), fnv32(b"a"), fnv32(b"foobar")) == (0x811C9DC5, 0xE40C292C, 0xBF9CF968)
