from __future__ import annotations

from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from echoctl.canon import MAX_INT, canonical

TEXTS = st.text() | st.text('a"\\\x00\x1f\x7f\n\t/é😀\ue000')
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INT, MAX_INT) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_every_value_has_the_bytes_of_rfc_8785(value: Any) -> None:
    try:
        expected = rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError):
        with pytest.raises(ValueError, match="canonical"):
            canonical(value)
    else:
        assert canonical(value) == expected


@pytest.mark.parametrize(
    "value",
    [1.0, [1, [2.0]], {"a": (float("nan"),)}, {1: "a"}, {"a": {None: 1}}, MAX_INT + 1,
     [-(10**30)], "\ud800", {"a": b"bytes"}, {1, 2}],
    ids=repr,
)  # fmt: skip
def test_what_json_or_another_language_cannot_keep_has_no_canonical_bytes(value: object) -> None:
    with pytest.raises(ValueError, match=r"canonical|string"):
        canonical(value)
