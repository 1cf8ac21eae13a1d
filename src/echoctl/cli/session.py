"""What every command takes and gets: workspace, language, a screen, the desk."""

from __future__ import annotations

import functools
import gc
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, Literal, ParamSpec

import typer

from echoctl.render.screen import Screen

if TYPE_CHECKING:
    from echoctl.desk import Workspace
    from echoctl.render.text import Lang, Text

P = ParamSpec("P")

COMMON = {
    "workspace": Annotated[
        Path | None,
        typer.Option(
            "--workspace",
            "-w",
            metavar="DIR",
            envvar="ECHOCTL_WORKSPACE",
            show_envvar=False,
            help="Folder with contracts/ and artifacts/; by default this one or the nearest above.",
        ),
    ],
    "lang": Annotated[
        Literal["en", "es"] | None,
        typer.Option(
            "--lang", metavar="en|es", help="Language of the output; by default the contract's."
        ),
    ],
    "json": Annotated[bool, typer.Option("--json", help="Print one JSON value, for programs.")],
    "quiet": Annotated[bool, typer.Option("--quiet", "-q", help="Print the result, no progress.")],
}
CLOCK = Annotated[
    bool,
    typer.Option(
        "--acknowledge-clock", help="Record that the clock ran backwards as an incident, and go on."
    ),
]
DEFAULTS: dict[str, Any] = {
    "workspace": None, "lang": None, "json": False, "quiet": False, "acknowledge_clock": False,
}  # fmt: skip


@dataclass
class Session:
    """One command's surroundings."""

    workspace: Path | None
    lang: Literal["en", "es"] | None
    screen: Screen
    acknowledge_clock: bool = False

    @cached_property
    def desk(self) -> Workspace:
        """Return the workspace that was named, or the nearest one above."""
        from echoctl.desk import Workspace

        return Workspace.find(self.workspace, acknowledge_clock=self.acknowledge_clock)

    def text(self, own: Lang = "en") -> Text:
        """Return the catalogue of the language asked for, or else of a contract's own."""
        from echoctl.render.text import Text

        return Text(self.lang or own)

    @property
    def json(self) -> bool:
        """Return whether the answer is to be one JSON value."""
        return self.screen.as_json


def verb(act: Callable[Concatenate[Session, P], int | None]) -> Callable[..., None]:
    """Make an act a command that also takes --workspace, --lang, --json and --quiet.

    The act gets a `Session` first and returns its exit code, or None for 0.
    """
    return _command(act, COMMON)


def deed(act: Callable[Concatenate[Session, P], int | None]) -> Callable[..., None]:
    """Make a command of an act that writes to a ledger: a `verb` with --acknowledge-clock."""
    return _command(act, {**COMMON, "acknowledge_clock": CLOCK})


def _command(
    act: Callable[Concatenate[Session, P], int | None], options: dict[str, Any]
) -> Callable[..., None]:
    own = inspect.signature(act, eval_str=True)
    kinds = inspect.Parameter.KEYWORD_ONLY
    common = [
        inspect.Parameter(name, kinds, default=DEFAULTS[name], annotation=kind)
        for name, kind in options.items()
    ]

    @functools.wraps(act)
    def command(**given: Any) -> None:  # noqa: ANN401 - each act has its own options
        gc.enable()
        workspace, lang = given.pop("workspace"), given.pop("lang")
        screen = Screen(as_json=given.pop("json"), quiet=given.pop("quiet"))
        clock = given.pop("acknowledge_clock", False)
        code = act(Session(workspace, lang, screen, clock), **given)  # type: ignore[call-arg]
        if code:
            raise typer.Exit(code)

    parameters = [*list(own.parameters.values())[1:], *common]
    command.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=parameters, return_annotation=None
    )
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command
