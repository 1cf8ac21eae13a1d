"""The 16-byte postal: one layout, one codec, nothing clipped.

Four rows of four bytes (design page "link", first section; the source's own packer is not
available, so this layout is ours)::

    offset  0  magic      b"WSP1"
            4  src        atom, 0..255: who or what it is about
            5  rel        atom, 0..255: which relation, usually an action
            6  dst        atom, 0..255: what comes of it
            7  time       atom, 0..255
            8  e[0]       axis V (value),   signed, -100..100
            9  e[1]       axis C (support), signed, -100..100
           10  e[2], e[3] two more axes,    signed, -100..100
           12  domain     0..255: whose vocabulary the atoms belong to
           13  generator  0..255: who says it
           14  slot       0..255  together the 16-bit referent,
           15  seq        0..255  slot the high byte

A value out of range is refused when packing and when unpacking; it is never clipped.
"""

from __future__ import annotations

from typing import Final, NamedTuple

MAGIC: Final = b"WSP1"
SIZE: Final = 16
AXIS: Final = 100
"""The largest absolute value of an axis of E."""


class Postal(NamedTuple):
    """What one postal says. All integers; `e` holds four axes within +-100."""

    src: int
    rel: int
    dst: int
    time: int
    e: tuple[int, int, int, int]
    domain: int
    generator: int
    slot: int
    seq: int

    @property
    def referent(self) -> int:
        """The 16-bit referent, ``slot * 256 + seq``."""
        return self.slot * 256 + self.seq


def pack(postal: Postal) -> bytes:
    """Return the 16 bytes of a postal; ValueError names the first field that is out of range."""
    src, rel, dst, time, axes, domain, generator, slot, seq = postal
    if len(axes) != 4:
        raise ValueError(f"E has four axes, not {len(axes)}")
    for name, value in zip(("src", "rel", "dst", "time"), (src, rel, dst, time), strict=True):
        _check(name, value, 0, 255)
    for at, axis in enumerate(axes):
        _check(f"e[{at}]", axis, -AXIS, AXIS)
    tail = (domain, generator, slot, seq)
    for name, value in zip(("domain", "generator", "slot", "seq"), tail, strict=True):
        _check(name, value, 0, 255)
    return MAGIC + bytes((src, rel, dst, time, *(axis & 255 for axis in axes), *tail))


def unpack(data: bytes) -> Postal:
    """Return the postal that 16 bytes hold; ValueError for anything that `pack` cannot write."""
    if len(data) != SIZE:
        raise ValueError(f"a postal is {SIZE} bytes, not {len(data)}")
    if data[:4] != MAGIC:
        raise ValueError(f"a postal begins with {MAGIC!r}, not {data[:4]!r}")
    first, second, third, fourth = (byte - 256 if byte > 127 else byte for byte in data[8:12])
    axes = (first, second, third, fourth)
    for at, axis in enumerate(axes):
        _check(f"e[{at}]", axis, -AXIS, AXIS)
    return Postal(data[4], data[5], data[6], data[7], axes, *data[12:16])


def fnv32(data: bytes) -> int:
    """Return the 32-bit FNV-1a hash, from which a referent takes its low 16 bits."""
    value = 0x811C9DC5
    for byte in data:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def _check(name: str, value: int, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{name} is an integer, not {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{name} is from {low} to {high}, not {value}")
