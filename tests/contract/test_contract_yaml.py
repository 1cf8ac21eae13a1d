from __future__ import annotations

from fractions import Fraction

import pytest
from contract_toys import REAL, SMALLEST, changed
from hypothesis import example, given, settings
from hypothesis import strategies as st

from echoctl.contract import Contract, ContractError, load_contract, parse
from echoctl.contract.strict import MAX_BYTES

WHOLE = [path.read_bytes() for path in REAL]


def value(text: str) -> object:
    plain = parse(f"x: {text}\n".encode(), "x.yaml").plain()
    assert isinstance(plain, dict)
    return plain["x"]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("true", True),
        ("False", False),
        ("12:30", "12:30"),
        ("1_000", "1_000"),
        ("2026-10-20", "2026-10-20"),
        ("0.30", "0.30"),
        ("3e-4", "3e-4"),
        ("0,30", "0,30"),
        ("7", 7),
        ("-7", -7),
        ("+7", 7),
        ("0", 0),
        ("~", None),
        ("", None),
        ('"010"', "010"),
        ("'true'", "true"),
        ("=", "="),
        ("[a, 1]", ("a", 1)),
    ],
)
def test_a_plain_scalar_means_what_yaml_1_2_says_and_a_decimal_stays_text(
    text: str, meant: object
) -> None:
    assert value(text) == meant
    assert type(value(text)) is type(meant)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("0.30", Fraction(3, 10)),
        ("0,30", Fraction(3, 10)),
        ('"0,30"', Fraction(3, 10)),
        ("3e-1", Fraction(3, 10)),
        ("30 %", Fraction(3, 10)),
        ("3/10", Fraction(3, 10)),
        ("1", Fraction(1)),
        ("0.100000000000000005", Fraction(100000000000000005, 10**18)),
    ],
)
def test_a_threshold_is_read_as_the_exact_rational_that_was_written(
    text: str, meant: Fraction
) -> None:
    share = load_contract(_threshold(text), "x.yaml").predictions["P"].all[0].share
    assert share is not None
    assert share.at_least == meant


@pytest.mark.parametrize("text", ["1e400", ".5", "0x1", "1/0", "nan", "Infinity", "one", "0.1 0.2"])
def test_a_threshold_that_is_no_exact_number_is_refused(text: str) -> None:
    with pytest.raises(ContractError):
        load_contract(_threshold(text), "x.yaml")


def _threshold(text: str) -> bytes:
    """Return the smallest contract with a threshold in block style, where a comma is a comma."""
    return changed(
        (
            "{measure: harm, arm: new, relation: below, than: old, at_least: 1}",
            "\n          measure: harm\n          arm: new\n          relation: below\n"
            f"          than: old\n          at_least: {text}",
        )
    )


def test_a_byte_order_mark_and_windows_line_ends_change_nothing() -> None:
    plain = load_contract(SMALLEST.encode(), "x.yaml")
    windows = b"\xef\xbb\xbf" + SMALLEST.replace("\n", "\r\n").encode()
    assert load_contract(windows, "x.yaml") == plain


def test_lines_are_counted_the_same_with_windows_line_ends() -> None:
    data = changed(("track: smallest", "trak: smallest"))
    with pytest.raises(ContractError) as unix:
        load_contract(data, "x.yaml")
    with pytest.raises(ContractError) as windows:
        load_contract(data.replace(b"\n", b"\r\n"), "x.yaml")
    assert unix.value.problems == windows.value.problems


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the file is empty"),
        (b"# only a comment\n", "the file is empty"),
        (SMALLEST.encode("utf-16"), "UTF-16"),
        (b"a: " + b"x" * MAX_BYTES, "at most 1000000"),
        (b"x" * 50_000_000, "50000000 bytes"),
        (b"[" * 200_000, "nested deeper"),
        (b"{a: " * 200_000, "nested deeper"),
        (b"- " * 100_000, "nested deeper"),
        (b"a: &a [x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n", "anchor"),
        (b"x: " + b"9" * 5000 + b"\n", "5000 digits"),
    ],
    ids=["empty", "comment", "utf16", "long", "huge", "lists", "maps", "dashes", "bomb", "digits"],
)
def test_what_is_too_large_or_nothing_at_all_is_refused_in_words(data: bytes, said: str) -> None:
    with pytest.raises(ContractError, match=said):
        load_contract(data, "x.yaml")


def test_an_unknown_python_spelling_of_a_key_is_unknown() -> None:
    # `not_`, `schema_` and `passed` are names of this program's code, not of the language.
    with pytest.raises(ContractError, match="unknown key schema_"):
        load_contract(changed(("schema: ", "schema_: ")), "x.yaml")


def only_contract_errors(data: bytes) -> None:
    try:
        got: Contract | ContractError = load_contract(data, "fuzz.yaml")
    except ContractError as error:
        got = error
    if isinstance(got, ContractError):
        assert got.problems
        for problem in got.problems:
            assert problem.line >= 1
            assert problem.column >= 1
            assert problem.text


@settings(deadline=None)
@given(st.binary(max_size=300))
@example(b'"\\UFFFFFFFF"')
@example(b"%TAG ! tag:x,2000:\n--- a")
@example(b"%YAML 9.9\n---\na: b")
@example(b"? [a]\n: b")
@example(b"<<: {a: b}")
def test_any_bytes_are_a_contract_or_a_contract_error(data: bytes) -> None:
    only_contract_errors(data)


@settings(deadline=None)
@given(st.text(alphabet="ab:-?[]{},&*!|>'\"%#\\ \n\t0.~<", max_size=80))
def test_anything_that_looks_like_yaml_is_a_contract_or_a_contract_error(text: str) -> None:
    only_contract_errors(text.encode())


LINES = SMALLEST.splitlines(keepends=True)
SCRAPS = st.sampled_from(
    ["", "null", "true", "-1", "0.5", "1e400", ".nan", "[]", "{}", "[a, a]", "{a: b}", "'", '"',
     ":", "999999999999999999", "010", "\t", "- ", "*a", "&a ", "!!x ", "\u2028", "ñ", "P", "exam"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, len(SMALLEST)), st.integers(0, 12), SCRAPS), min_size=1, max_size=3
    )
)
def test_a_contract_with_holes_and_scraps_is_a_contract_or_a_contract_error(
    cuts: list[tuple[int, int, str]],
) -> None:
    text = SMALLEST
    for at, length, scrap in cuts:
        text = text[:at] + scrap + text[at + length :]
    only_contract_errors(text.encode())


def _scalars() -> list[tuple[int, int]]:
    """Return (start, end) of every value that stands alone after a colon."""
    out, at = [], 0
    for line in LINES:
        if ": " in line and not line.rstrip().endswith(("}", ":")):
            start = at + line.index(": ") + 2
            out.append((start, at + len(line.rstrip("\n"))))
        at += len(line)
    return out


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(_scalars()), SCRAPS)
def test_a_value_of_another_kind_is_a_contract_or_a_contract_error(
    span: tuple[int, int], scrap: str
) -> None:
    only_contract_errors((SMALLEST[: span[0]] + scrap + SMALLEST[span[1] :]).encode())


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(WHOLE), st.floats(0, 1), st.integers(0, 255))
def test_one_changed_byte_in_a_real_contract_is_a_contract_or_a_contract_error(
    data: bytes, where: float, byte: int
) -> None:
    at = int(where * (len(data) - 1))
    only_contract_errors(data[:at] + bytes([byte]) + data[at + 1 :])
