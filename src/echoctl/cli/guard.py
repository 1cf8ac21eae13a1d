"""From any ending of a command to its exit code, without a traceback."""

from __future__ import annotations

import errno
import os
import shlex
import sys

import typer

from echoctl.errors import CheckFailed, EchoError, Interrupted, UsageError

# typer carries its own copy of click or uses the installed one, by version; this is its class.
_Usage: type[Exception] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "UsageError")
_Click: type[Exception] = next(
    c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException"
)

BUG = 70
"""Exit code of an unexpected exception (EX_SOFTWARE): no answer of the interface, a defect."""


CTRL_C = 130
"""What newer versions of typer return for Ctrl-C instead of raising."""


class DefectError(EchoError):
    """An exception that nobody foresaw."""

    exit_code = BUG
    word = "bug"


def guarded(words: list[str]) -> int:
    """Run the application on command-line words; every failure becomes words and a code."""
    from echoctl.cli.app import app

    debug = os.environ.get("ECHOCTL_DEBUG") == "1"
    try:
        code = _code(app(words, prog_name="echoctl", standalone_mode=False))
        return code if code != CTRL_C else _interrupted(words)
    except SystemExit as end:
        return _code(end.code)
    except EchoError as problem:
        if debug:
            raise
        return _refuse(problem, words)
    except _Click as problem:
        if type(problem).__name__ == "NoArgsIsHelpError":
            sys.stdout.write(str(problem).rstrip() + "\n")
            return UsageError.exit_code
        return _refuse(_usage(problem), words)
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted(words)
    except BrokenPipeError:
        from echoctl.render.screen import hush

        hush(sys.stdout)
        return 0
    except OSError as problem:
        if debug:
            raise
        return _refuse(_disk(problem), words)
    except Exception:
        if debug:
            raise
        return _bug(words)


def _interrupted(words: list[str]) -> int:
    again = shlex.join(["echoctl", *words])
    why = "stopped; everything that was finished is kept"
    return _refuse(Interrupted(why, f"resume with: {again}"), words)


def _code(value: object) -> int:
    if value is None:
        return 0
    return value if isinstance(value, int) else 1


def _refuse(problem: EchoError, words: list[str]) -> int:
    from echoctl.render.screen import Screen

    Screen(as_json="--json" in words).error(problem)
    return problem.exit_code


def _usage(problem: Exception) -> UsageError:
    """Say a parser's complaint as ours, with the help of the command it was about."""
    message = getattr(problem, "format_message", lambda: str(problem))()
    context = getattr(problem, "ctx", None)
    path = context.command_path if context is not None else "echoctl"
    first, *rest = [line.strip() for line in message.strip().splitlines() if line.strip()] or ["?"]
    why = first[:1].lower() + first[1:] + (": " + " ".join(rest) if rest else "")
    return UsageError(why.rstrip("."), f"see: {path} --help")


def _disk(problem: OSError) -> EchoError:
    """Say an operating system's refusal: which file, why, what to do."""
    reason = problem.strerror or str(problem)
    name = os.fsdecode(problem.filename) if isinstance(problem.filename, str | bytes) else ""
    why = f"{name}: {reason}" if name else reason
    todo = {
        errno.ENOSPC: "free some space and run the same command again; what was finished is kept",
        errno.EACCES: "check the owner and permissions of the file",
        errno.EROFS: "use --workspace with a folder that can be written",
    }.get(problem.errno or 0, "run the same command again when that is put right")
    kind = Interrupted if problem.errno == errno.ENOSPC else CheckFailed
    return kind(why, todo)


def _bug(words: list[str]) -> int:
    """Keep the traceback in a file and say so in two lines."""
    import platform
    import tempfile
    import traceback

    from echoctl import __version__

    told = traceback.format_exc()
    command = shlex.join(["echoctl", *words])
    header = f"echoctl {__version__} · Python {platform.python_version()} · {platform.platform()}"
    try:
        handle, name = tempfile.mkstemp(prefix="echoctl-crash-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as out:
            out.write(f"{header}\n$ {command}\n\n{told}")
        kept = f"details are in {name}"
    except OSError:
        kept = "the details could not be written"
    last = told.strip().splitlines()[-1]
    why = f"this is a defect of echoctl, not of what you asked: {last}"
    todo = f"{kept}; ECHOCTL_DEBUG=1 shows them. Nothing that was sealed has changed."
    _refuse(DefectError(why, todo), words)
    return BUG
