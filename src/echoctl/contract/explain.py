"""What a model refused, said so that the author of a contract can mend it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from echoctl.contract.model import Contract
from echoctl.contract.strict import Node, Path, Problem

_WANTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list such as [a, b]",
    "dict_type": "a mapping of key: value",
    "model_type": "a mapping of key: value",
    "date_type": "a date such as 2026-10-20",
}


_PATTERNS = {
    "^[a-z]": "a contract's id (a lower-case letter, then lower-case letters, digits and _)",
    "^[0-9A": "the name of a family (letters, digits, '.', '_' and '-')",
    "^[A-Za": "an id (a letter, then letters, digits and _)",
}


def explain(error: ValidationError, root: Node) -> list[Problem]:
    """Return one problem for each place that pydantic refused, with its position."""
    grouped: dict[tuple[Path, bool], list[Mapping[str, Any]]] = {}
    for one in error.errors(include_url=False):
        path = _in_file(one["loc"], root)
        on_key = one["type"] in ("extra_forbidden", "missing") or "[key]" in one["loc"]
        grouped.setdefault((path, on_key), []).append(one)
    out: list[Problem] = []
    for (path, on_key), errors in grouped.items():
        # A union complains once for each member: keep only the complaint that goes deepest.
        if len(errors) == 1 or not any(
            len(other) > len(path) and other[: len(path)] == path for other, _ in grouped
        ):
            out.extend(_problems(path, on_key, errors, root))
    return out


KEY = "<key>"
"""As the last step of a path: the key itself is wrong, not its value."""


def locate(root: Node, path: Path) -> tuple[int, int]:
    """Return line and column of what stands at `path`, or of the nearest thing above it.

    A value that begins on a line of its own is shown by its key, which says more.
    """
    line, column = root.line, root.column
    on_key = path[-1:] == (KEY,)
    for _, node, key in root.walk(path):
        at = key if key is not None and (on_key or node.line != key.line) else node
        line, column = at.line, at.column
    return line, column


def nearest(word: str, known: Iterable[str]) -> str:
    """Return "; did you mean X?", or the list of what is known."""
    names = sorted(set(known))
    folded = {name.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(word.lower(), folded, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {folded[close[0]]}?"
    return f"; known here: {', '.join(names)}" if names else ""


def dotted(path: Path) -> str:
    """Return ``predictions.P1.all[0]`` for a path."""
    out = ""
    for step in path:
        out += f"[{step}]" if isinstance(step, int) else f".{step}" if out else step
    return out


def _in_file(loc: Path, root: Node) -> Path:
    return tuple(step for step, _, _ in root.walk(loc))


def _problems(
    path: Path, on_key: bool, errors: list[Mapping[str, Any]], root: Node
) -> Iterable[Problem]:
    line, column = locate(root, (*path, KEY) if on_key else path)
    where = dotted(path) or "the contract"
    wants = [_WANTED[e["type"]] for e in errors if e["type"] in _WANTED]
    if wants:
        found = errors[0]["input"]
        hint = "; put it in quotes" if wants == ["a text"] and isinstance(found, int) else ""
        said = f"{where} wants {' or '.join(wants)}, not {_shown(found)}{hint}"
        yield Problem(line, column, said)
        return
    for one in errors:
        yield Problem(line, column, _sentence(one, where, path))


def _sentence(one: Mapping[str, Any], where: str, path: Path) -> str:
    kind, context, found = one["type"], one.get("ctx", {}), _shown(one["input"])
    if kind == "missing":
        return f"{where} lacks {one['loc'][-1]}"
    if kind == "extra_forbidden":
        if str(path[-1]).isdigit() and one["input"] is None:
            return (
                f"unknown key {path[-1]}: inside {{ }} a comma ends the entry, so write a "
                'decimal with a point, or in quotes ("0,30")'
            )
        known = _keys_at(path[:-1])
        inside = dotted(path[:-1])
        said = f" in {inside}" if inside else ""
        return f"unknown key {path[-1]}{said}{nearest(str(path[-1]), known)}"
    if kind == "literal_error":
        allowed = [
            part.strip("'") for part in context["expected"].replace(" or ", ", ").split(", ")
        ]
        return f"{where} is {found}{nearest(str(one['input']), allowed)}"
    if kind == "string_pattern_mismatch":
        return f"{where}: {found} is not {_PATTERNS[context['pattern'][:6]]}"
    if kind == "string_too_long":
        return f"{where} has more than {context['max_length']} characters"
    if kind == "greater_than_equal":
        return f"{where} is {found}; the least is {context['ge']}"
    if kind == "less_than_equal":
        return f"{where} is {found}; the most is {context['le']}"
    if kind == "value_error":
        return f"{where}: {context['error']}"
    return f"{where}: {one['msg']}"


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _keys_at(path: Path) -> set[str]:
    """Return the keys that the model at a path of the file knows."""
    here: object = Contract
    for step in path:
        if isinstance(here, type) and issubclass(here, BaseModel):
            fields = {f.alias or name: f.annotation for name, f in here.model_fields.items()}
            here = _without_none(fields.get(str(step)))
        else:
            arguments = get_args(here)
            here = arguments[0 if isinstance(step, int) else -1] if arguments else None
    if isinstance(here, type) and issubclass(here, BaseModel):
        return {f.alias or name for name, f in here.model_fields.items()}
    return set()


def _without_none(kind: object) -> object:
    members = get_args(kind)
    if type(None) in members:
        return next(m for m in members if m is not type(None))
    return kind
