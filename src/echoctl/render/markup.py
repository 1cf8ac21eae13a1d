"""The few lines that make HTML and SVG: everything is escaped unless it is already `Markup`."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TypeAlias


class Markup(str):
    """Text that is already markup."""

    __slots__ = ()


Child: TypeAlias = "str | int | Iterable[Child] | None"

VOID = frozenset(
    {
        "meta",
        "img",
        "br",
        "hr",
        "source",
        "input",
        "link",
        "circle",
        "line",
        "path",
        "rect",
        "polyline",
        "col",
    }
)


def tag(name: str, /, *children: Child, **attributes: str | int | float | bool | None) -> Markup:
    """Return one element. ``class_`` and ``for_`` lose their underscore, others become dashes.

    An attribute that is None or False is left out; True writes the bare name.
    """
    out = [f"<{name}"]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_") if key.endswith("_") else key.replace("_", "-")
        if value is True:
            out.append(f" {key}")
            continue
        text = f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
        out.append(f' {key}="{html.escape(text, quote=True)}"')
    if name in VOID:
        return Markup("".join([*out, "/>" if name not in {"meta", "img", "br", "hr"} else ">"]))
    return Markup("".join([*out, ">", join(children), f"</{name}>"]))


def join(children: Child) -> Markup:
    """Return children one after the other, escaping what is not markup."""
    if children is None:
        return Markup("")
    if isinstance(children, Markup):
        return children
    if isinstance(children, str | int):
        return Markup(html.escape(str(children), quote=False))
    return Markup("".join(join(child) for child in children))
