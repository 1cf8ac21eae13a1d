"""A file beside the toy track: it must travel with it."""

from __future__ import annotations

from echoctl.draws import Draws


def throw(seed: int, sides: int) -> int:
    return Draws("toy", seed).below(sides)
