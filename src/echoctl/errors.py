"""The ways to fail, each with its exit code.

Exit codes are part of the interface: 0 done (a red verdict is a result), 1 a check failed,
2 usage, 3 refused by the life cycle, 4 interrupted and resumable, 5 evidence is inconsistent.
An error says what was asked, why not, and what to do next; a user never sees a traceback.
"""

from __future__ import annotations

from typing import ClassVar


class EchoError(Exception):
    """Anything a user can cause. `why` says what is wrong; `todo` says what to do instead."""

    exit_code: ClassVar[int] = 1
    word: ClassVar[str] = "failed"

    def __init__(self, why: str, todo: str = "", **facts: object) -> None:
        super().__init__(why)
        self.why = why
        self.todo = todo
        self.facts = facts
        """Machine-readable details for `--json` (strings, integers, lists of them)."""

    def as_json(self) -> dict[str, object]:
        """Return the error as the object that `--json` prints."""
        return {
            "error": self.word,
            "exit": self.exit_code,
            "why": self.why,
            "todo": self.todo,
            **self.facts,
        }


class CheckFailed(EchoError):
    """A check was made and its answer is no (exit 1)."""

    exit_code = 1
    word = "failed"


class UsageError(EchoError):
    """The request or its input is malformed (exit 2): a bad option, a broken contract."""

    exit_code = 2
    word = "usage"


class Refused(EchoError):
    """The life cycle forbids it (exit 3): a second exam, an amendment after the freeze."""

    exit_code = 3
    word = "refused"


class Interrupted(EchoError):
    """Stopped before the end; everything done is kept and the same command resumes (exit 4)."""

    exit_code = 4
    word = "interrupted"


class Inconsistent(EchoError):
    """The evidence contradicts itself (exit 5): a changed byte, a short ledger."""

    exit_code = 5
    word = "inconsistent"
