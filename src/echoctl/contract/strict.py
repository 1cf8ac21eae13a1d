"""YAML read strictly: YAML 1.2 core scalars, no anchors, no tags, no doubles, and positions.

What a contract writes must mean one thing to every reader. So ``no`` and ``12:30`` are strings,
``010`` is refused (8 to YAML 1.1, 10 to YAML 1.2), a decimal stays the text that was written
and never becomes a float, and whatever two readers could take differently is an error that says
where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

import yaml

MAX_BYTES: Final = 1_000_000
MAX_DEPTH: Final = 40

Scalar: TypeAlias = "bool | int | str | None"
Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a file. `line` and `column` count from 1."""

    line: int
    column: int
    text: str


class Position(Protocol):
    """What PyYAML calls a mark; it counts from 0."""

    line: int
    column: int


class YamlError(Exception):
    """The text is not YAML that can be read on; `problems` says where and why."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(p.text for p in problems))
        self.problems = problems


@dataclass
class Node:
    """A value and where it stands. A list's values are nodes; a mapping's are (key, value)."""

    line: int
    column: int
    value: Scalar = None
    items: list[Node] | None = None
    pairs: dict[str, tuple[Node, Node]] | None = None
    key: Node | None = field(default=None, repr=False)
    """The pending key while the mapping is being read."""

    def plain(self) -> object:
        """Return the value without positions: tuples, dicts, strings, integers, booleans."""
        if self.pairs is not None:
            return {key: node.plain() for key, (_, node) in self.pairs.items()}
        if self.items is not None:
            return tuple(node.plain() for node in self.items)
        return self.value

    def walk(self, path: Path) -> Iterator[tuple[str | int, Node, Node | None]]:
        """Yield (step, value node, key node) as far along `path` as the file goes.

        Steps that the file does not have (validators' own names) are skipped.
        """
        node = self
        for step in path:
            if node.pairs is not None and isinstance(step, str) and step in node.pairs:
                key, node = node.pairs[step]
                yield step, node, key
            elif node.items is not None and isinstance(step, int) and step < len(node.items):
                node = node.items[step]
                yield step, node, None


_INT: Final = re.compile(r"[-+]?[0-9]+")
_ODD_INT: Final = re.compile(r"[-+]?0[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_NOT_FINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_NULL: Final = frozenset(("", "~", "null", "Null", "NULL"))
_BOOL: Final = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028\u2029\u202a-\u202e"
    "\u2060\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
"""Characters that a reader cannot see or that reorder what is seen."""


def read(data: bytes) -> tuple[Node, list[Problem]]:
    """Return the document's root and the problems that did not stop the reading.

    Raises YamlError where nothing sensible can follow (not UTF-8, a syntax error, two
    documents, nesting beyond `MAX_DEPTH`, more than `MAX_BYTES`).
    """
    text = _decode(data)
    loader = yaml.SafeLoader(text)
    try:
        return _build(loader)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        raise YamlError(_at(mark, _syntax(problem, text))) from problem
    except (ValueError, OverflowError):
        # PyYAML lets chr() fail on "\UFFFFFFFF"; its reader still knows where it is.
        raise YamlError(_at(loader.get_mark(), "an escape that is no Unicode character")) from None
    except yaml.YAMLError as problem:
        raise YamlError(_at(loader.get_mark(), f"not YAML: {problem}")) from None
    finally:
        loader.dispose()


def _decode(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise YamlError(
            Problem(1, 1, f"the file has {len(data)} bytes; a contract has at most {MAX_BYTES}")
        )
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise YamlError(Problem(1, 1, "the file is UTF-16; save it as UTF-8"))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        before = data[: problem.start].decode("utf-8", "replace")
        line, column = _position(before)
        byte = data[problem.start]
        raise YamlError(
            Problem(line, column, f"the byte 0x{byte:02x} is not UTF-8; save the file as UTF-8")
        ) from None
    text = text.removeprefix("\ufeff")
    if hidden := _HIDDEN.search(text):
        line, column = _position(text[: hidden.start()])
        raise YamlError(
            Problem(line, column, f"the invisible character U+{ord(hidden[0]):04X}; delete it")
        )
    return text


def _position(before: str) -> tuple[int, int]:
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return len(lines), len(lines[-1]) + 1


def _at(mark: Position | None, text: str) -> Problem:
    if mark is None:
        return Problem(1, 1, text)
    return Problem(mark.line + 1, mark.column + 1, text)


def _syntax(problem: yaml.MarkedYAMLError, text: str) -> str:
    mark = problem.problem_mark
    said = problem.problem or problem.context or "not YAML"
    if "'\\t'" in said:
        return "a tab where YAML wants spaces; indent with spaces"
    if "'%'" in said or "'@'" in said or "'`'" in said:
        return f"{said}; put the text in quotes"
    if "mapping values are not allowed here" in said:
        return (
            "': ' cannot stand here; put a text that contains ': ' in quotes, and leave a space "
            "between a key's ':' and its value"
        )
    if "got '?'" in said:
        return "inside { } and [ ] a text that contains '?' needs quotes"
    if "sequence entries are not allowed here" in said:
        return "a list of '- ' begins on a line of its own"
    if "escape character" in said:
        return f"{said}; write \\\\ for a backslash, or use single quotes"
    if "expected <block end>" in said:
        return (
            "this fits no block above it; check its indentation, and that every quote and bracket "
            "before it is closed"
        )
    if problem.context and "flow" in problem.context and problem.context_mark is not None:
        kind = "list [ ]" if "sequence" in problem.context else "mapping { }"
        line, column = problem.context_mark.line + 1, problem.context_mark.column + 1
        return f"the {kind} of line {line}, column {column} is not closed, or lacks a comma: {said}"
    if "could not find expected ':'" in said:
        start = problem.context_mark
        since = f" (the key began on line {start.line + 1})" if start else ""
        return f"a key without its ':'{since}"
    if mark is not None and mark.index >= len(text):
        return f"the file ends too early: {said}"
    return said


def _build(loader: yaml.SafeLoader) -> tuple[Node, list[Problem]]:
    problems: list[Problem] = []
    stack: list[Node] = []
    root: Node | None = None
    while (event := loader.get_event()) is not None:  # type: ignore[no-untyped-call]
        mark = event.start_mark
        if isinstance(event, yaml.DocumentStartEvent):
            if root is not None:
                raise YamlError(_at(mark, "a second document; a contract is one document"))
            if event.tags or event.version:
                problems.append(_at(mark, "a % directive; a contract is plain YAML 1.2"))
            continue
        if isinstance(event, yaml.AliasEvent):
            problems.append(_at(mark, f"the alias *{event.anchor}; write the value out"))
            _place(Node(mark.line + 1, mark.column + 1), stack, problems)
            continue
        if isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            stack.pop()
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        problems.extend(_ornaments(event))
        node = Node(mark.line + 1, mark.column + 1)
        if isinstance(event, yaml.ScalarEvent):
            node.value = _scalar(event, problems)
        elif isinstance(event, yaml.MappingStartEvent):
            node.pairs = {}
        else:
            node.items = []
        _place(node, stack, problems)
        if root is None:
            root = node
        if not isinstance(event, yaml.ScalarEvent):
            stack.append(node)
            if len(stack) > MAX_DEPTH:
                raise YamlError(_at(mark, f"nested deeper than {MAX_DEPTH} levels"))
    if root is None:
        raise YamlError(Problem(1, 1, "the file is empty"))
    return root, problems


def _ornaments(event: yaml.NodeEvent) -> Iterator[Problem]:
    if event.anchor is not None:
        yield _at(event.start_mark, f"the anchor &{event.anchor}; a contract uses no anchors")
    if (tag := getattr(event, "tag", None)) is not None:
        yield _at(event.start_mark, f"the tag {tag}; a contract uses no tags")


def _place(node: Node, stack: list[Node], problems: list[Problem]) -> None:
    """Put a node where it belongs: into a list, as a key, or as the value of a key."""
    if not stack:
        return
    parent = stack[-1]
    if parent.items is not None:
        parent.items.append(node)
        return
    pairs = parent.pairs
    assert pairs is not None
    if parent.key is None:
        parent.key = node
        return
    key, parent.key = parent.key, None
    if key.items is not None or key.pairs is not None:
        problems.append(Problem(key.line, key.column, "a list or mapping cannot be a key"))
        return
    name = key.value if isinstance(key.value, str) else _spelled(key.value)
    if name == "<<":
        problems.append(Problem(key.line, key.column, "a merge key <<; write the keys out"))
    elif name in pairs:
        first = pairs[name][0]
        problems.append(
            Problem(
                key.line,
                key.column,
                f"the key {name} is given twice; the first is on line {first.line}, "
                f"column {first.column}",
            )
        )
    else:
        pairs[name] = (key, node)


def _spelled(value: Scalar) -> str:
    """Return the text of a key that looks like another scalar (``1:``, ``true:``, ``~:``)."""
    return "null" if value is None else str(value).lower() if value in (True, False) else str(value)


def _scalar(event: yaml.ScalarEvent, problems: list[Problem]) -> Scalar:
    text: str = event.value
    if hidden := _HIDDEN.search(text):
        problems.append(
            _at(event.start_mark, f"the escaped character U+{ord(hidden[0]):04X}; leave it out")
        )
        return _HIDDEN.sub("?", text)
    if event.style is not None:
        return text
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _ODD_INT.fullmatch(text):
        problems.append(
            _at(
                event.start_mark,
                f"{text} is read as different numbers by different YAML readers; write it in "
                "decimal without leading zeros, or in quotes if it is a text",
            )
        )
        return 0
    if _INT.fullmatch(text):
        if len(text) > 19:
            problems.append(_at(event.start_mark, f"a number of {len(text)} digits is too long"))
            return 0
        return int(text)
    if _NOT_FINITE.fullmatch(text):
        problems.append(_at(event.start_mark, f"{text} is not a finite number"))
        return 0
    # A decimal such as 0.30 or 3e-4 stays the text that was written; the model reads it exactly.
    return text
