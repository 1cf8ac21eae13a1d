"""The verifier's own reader of contracts: the same values as YAML's, or a refusal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import exam_builder as builder
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from echoctl import verify
from echoctl.contract import Contract, load_contract
from echoctl.contract.canonical import canonical_json
from echoctl.contract.strict import read

ROOT = Path(__file__).parents[2]
CONTRACTS = sorted([*ROOT.glob("contracts/*.yaml"), *ROOT.glob("tests/data/*/contracts/*.yaml")])


def flat(value: Any) -> Any:
    """Return the value with every run of YAML's white space as one blank."""
    if isinstance(value, str):
        return " ".join(word for word in re.split(r"[ \t\r\n]+", value) if word)
    if isinstance(value, list | tuple):
        return [flat(inner) for inner in value]
    return {k: flat(v) for k, v in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize("path", CONTRACTS, ids=lambda path: path.stem)
def test_every_contract_reads_the_same_and_says_what_its_canonical_form_says(path: Path) -> None:
    raw = path.read_bytes()
    mine = verify.Yaml(raw.decode("utf-8")).read()
    assert mine == flat(read(raw)[0].plain())
    sealed = json.loads(json.dumps(canonical_json(load_contract(raw, path.name))))
    assert list(verify.said_otherwise(mine, sealed, "")) == []


TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=12
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.from_regex(r"[a-zA-Z][a-zA-Z0-9_-]{0,8}", fullmatch=True), inner, max_size=4
        )
    ),
    max_leaves=15,
)


@example({"a": "\xa0"}, None)
@given(
    st.dictionaries(st.sampled_from("abcdef"), VALUES, min_size=1),
    st.sampled_from([None, True, False]),
)
def test_what_it_reads_is_what_was_written_or_it_refuses(value: Any, flow: bool | None) -> None:
    text = yaml.safe_dump(value, allow_unicode=True, default_flow_style=flow, width=40)
    try:
        found = verify.Yaml(text).read()
    except (ValueError, IndexError):
        return
    assert found == flat(value)


@pytest.mark.parametrize(
    "text",
    ["a: &x 1\n", "a: *x\n", "a: !!int 1\n", "%YAML 1.1\n---\na: 1\n", "a: 1\na: 2\n", "a: [1\n",
     "a: {b: 1, b: 2}\n", "a: 'x\n", "\ta: 1\n", "a: b: c\n", " a: 1\nb: 2\n", "a: [1 2: 3]\n"],
)  # fmt: skip
def test_what_no_contract_has_is_refused_and_never_guessed(text: str) -> None:
    with pytest.raises((ValueError, IndexError)):
        verify.Yaml(text).read()


def test_comments_lists_without_indentation_and_folded_texts_are_read() -> None:
    text = """# a contract
a: 1  # one
list:
- x
- {b: 2, c: "two # words"}
- k: v
  w: >-
    folded
    # not a comment
  z: 'it''s'
plain: goes
  on
empty:
quoted: "to
  the end"
"""
    assert verify.Yaml(text).read() == {
        "a": 1, "plain": "goes on", "empty": None, "quoted": "to the end",
        "list": ["x", {"b": 2, "c": "two # words"},
                 {"k": "v", "w": "folded # not a comment", "z": "it's"}],
    }  # fmt: skip


def test_a_canonical_contract_that_says_something_else_than_the_yaml_is_told_where() -> None:
    sealed = canonical_json(builder.contract())
    written = json.loads(json.dumps(sealed))
    assert list(verify.said_otherwise(written, sealed, "")) == []
    test = written["predictions"]["P1"]["all"][1]["wilcoxon"]
    for key, said in (("alpha", "0.06"), ("below", ["empty"]), ("arm", "empty")):
        kept, test[key] = test[key], said
        ((where, _, _), *_) = verify.said_otherwise(written, sealed, "")
        assert where == f"predictions.P1.all.wilcoxon.{key}"
        test[key] = kept
    for same in ("5 %", "0,05", "1/20", "0.050", "5e-2"):
        test["alpha"] = same
        assert list(verify.said_otherwise(written, sealed, "")) == []


def test_what_the_yaml_leaves_out_must_be_its_default() -> None:
    sealed = canonical_json(builder.contract())
    written = json.loads(json.dumps(sealed))
    share = written["predictions"]["P3"]["all"][0]["share"]
    del share["plus"], share["value"], written["invariants"][0]["equal"]["where"]
    assert list(verify.said_otherwise(written, sealed, "")) == []
    del written["predictions"]["P1"]["all"][1]["wilcoxon"]["correction"]
    ((where, said, found),) = verify.said_otherwise(written, sealed, "")
    assert (where, said, found) == ("predictions.P1.all.wilcoxon.correction", "-", '"holm"')


def test_every_default_of_the_contract_language_is_known() -> None:
    """A contract with nothing but what is required must agree with its own canonical form."""
    bare = {
        "schema": "echoctl/1", "id": "bare", "title": "t", "track": "t", "question": "?",
        "does_not_claim": ["x"], "unit": {"name": "u", "count": 7},
        "arms": [{"id": "a", "kind": "treatment", "gloss": "a"},
                 {"id": "b", "kind": "control", "gloss": "b"}],
        "worlds": {"exam": {"families": ["F"], "per_unit": 1, "rounds": 3, "sealed": True,
                            "stand_in": {"F": "G"}},
                   "open": {"families": ["G"], "per_unit": 1}},
        "seeds": {"exam": {"base": 1}, "open": {"base": 100},
                  "rehearsal": {"base": 200, "size": 90}},
        "measures": {"m": {}, "k": {}},
        "predictions": {"P": {"text": "p", "all": [
            {"wilcoxon": {"measure": "m", "arm": "a", "below": ["b"], "alpha": "0.05"}},
            {"ratio": {"measure": "m", "arm": "a", "to": "b", "at_most": "0.5"}},
            {"not_lower": {"measure": "m", "arm": "a", "than": ["b"]}},
            {"share": {"measure": "m", "arm": "a", "relation": "below", "than": "b",
                       "at_least": "0.5"}},
            {"rate": {"hits": "m", "of": "k", "arm": "a", "at_most": "0.5"}},
            {"count": {"measure": "m", "at_most": 3}}, {"equal": {"measure": "m", "to": 0}},
            {"monotone": {"measure": "m", "arm": "a", "in_a_row": 1, "first_round": 1,
                          "last_round": 3}},
            {"identical": {"digests": ["x", "y"]}},
        ]}},
        "verdict": {"green": ["P"]}, "exhibits": [{"gif": {"arms": ["a"]}}],
    }  # fmt: skip
    terms = Contract.model_validate(builder.tupled(bare))
    sealed = json.loads(json.dumps(canonical_json(terms)))
    assert list(verify.said_otherwise(json.loads(json.dumps(bare)), sealed, "")) == []
