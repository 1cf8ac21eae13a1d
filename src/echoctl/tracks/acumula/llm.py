"""A language model that chooses from the menu: any OpenAI-compatible endpoint, over plain HTTP.

Contract B v1 section 8.2. The contract names the model; base URL and key come from the environment;
without a base URL there is no endpoint and the arm is not played. The model sees candidates as
opaque numbers and answers with numbers; an answer is kept by the hash of model, parameters and full
message, so that a repeat makes no call. Whatever goes wrong has a name, and that round proposes
nothing: planning refuses an environment that cannot serve, a job that is played never dies of one.

    ECHOCTL_LLM_BASE_URL   such as http://localhost:11434/v1; its host is sealed in the job
    ECHOCTL_LLM_CACHE      folder of kept answers, which has to be named
    ECHOCTL_LLM_MODEL      has to be the contract's if it is set at all
    ECHOCTL_LLM_KEY        sent as a bearer token, never written anywhere
    ECHOCTL_LLM_TIMEOUT    seconds for one call, 60 if not said
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from echoctl.canon import canonical, digest
from echoctl.errors import UsageError

BASE_URL: Final = "ECHOCTL_LLM_BASE_URL"
MODEL: Final = "ECHOCTL_LLM_MODEL"
KEY: Final = "ECHOCTL_LLM_KEY"
CACHE: Final = "ECHOCTL_LLM_CACHE"
TIMEOUT: Final = "ECHOCTL_LLM_TIMEOUT"

ANSWERED: Final = 0
UNREACHABLE: Final = 1
"""No connection, a time-out, or a connection that broke."""
REFUSED: Final = 2
"""An HTTP status that is no success (429 for one)."""
GARBLED: Final = 3
"""Not JSON, not a completion, or no list of numbers in it."""
OFF_MENU: Final = 4
"""A number that is not on the menu, twice the same, or more than were asked for."""

UNSET: Final = 5
"""The environment names no endpoint, or not the one that was sealed."""
UNKEPT: Final = 6
"""The answer could not be kept, so a repeat could not give it again."""

LONGEST_ANSWER: Final = 1 << 20

HEARD: Final = "answers_from_outside"
"""The digest of a job that heard a model: of all it heard, in order. Nothing but the answers, which
nobody can seal beforehand, lets such a job be played again with the same rows."""

SYSTEM: Final = (
    "You improve how an agent reads its memory. You get a numbered menu of edits and how many "
    "failed episodes each explains. Reply with a JSON list of menu numbers, best first, and "
    "nothing else."
)


def configured(environ: Mapping[str, str] = os.environ) -> bool:
    """Say whether there is an endpoint at all."""
    return bool(environ.get(BASE_URL))


@dataclass(frozen=True)
class Choice:
    """What came back: menu numbers, best first, or the name of the trouble and no numbers."""

    numbers: tuple[int, ...]
    trouble: int = ANSWERED
    detail: str = ""
    said: str = ""
    """The text of the answer, where one came."""


@dataclass(frozen=True)
class Endpoint:
    """Where to ask. The seconds of a time-out are not part of an answer."""

    base_url: str
    model: str
    cache: Path
    key: str = field(default="", repr=False)
    temperature: int = 0
    seconds: int = 60

    @classmethod
    def from_environment(
        cls, settings: Mapping[str, Any], environ: Mapping[str, str] = os.environ
    ) -> Endpoint:
        """Return the endpoint that the environment names for what a contract or a job settles.

        `settings` hold `model` and `temperature` and, in a planned job, the `host` that was
        sealed. UsageError where there is no such endpoint.
        """
        base = environ.get(BASE_URL, "").rstrip("/")
        host = _host(base)
        if not host:
            raise UsageError(
                f"no language model can be asked: {BASE_URL} is {base or 'not set'!r}",
                f"set {BASE_URL} to an OpenAI-compatible address that begins with http",
            )
        if (sealed := settings.get("host", host)) != host:
            raise UsageError(
                f"{BASE_URL} names the host {host!r} and the job was planned for {sealed!r}",
                f"set {BASE_URL} to an address of that host",
            )
        model = settings["model"]
        if (other := environ.get(MODEL) or model) != model:
            raise UsageError(
                f"{MODEL} is {other!r} and the contract asks {model!r}",
                f"unset {MODEL}, or name another model in the contract's settings",
            )
        if not (cache := environ.get(CACHE)):
            raise UsageError(
                f"a language model can be asked and {CACHE} is not set",
                f"set {CACHE} to a folder for its answers, or unset {BASE_URL} to leave it out",
            )
        seconds = environ.get(TIMEOUT, "60")
        if not seconds.isdigit() or not 1 <= int(seconds) <= 3600:
            raise UsageError(f"{TIMEOUT} is {seconds!r}", "say whole seconds from 1 to 3600")
        key, temperature = environ.get(KEY, ""), int(settings["temperature"])
        return cls(base, model, Path(cache), key, temperature, int(seconds))

    @property
    def host(self) -> str:
        """The host of the base URL and its port if it says one; no user, no password, no path."""
        return _host(self.base_url)

    def choose(self, menu: Sequence[tuple[str, int]], count: int) -> Choice:
        """Ask for at most `count` numbers of a menu of (edit in numbers, episodes explained)."""
        lines = [f"{n}. {text} explains {explained}" for n, (text, explained) in enumerate(menu, 1)]
        asked = f"Choose at most {count} of these {len(menu)} edits.\n" + "\n".join(lines)
        request = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": SYSTEM},
                {"role": "user", "content": asked},
            ],
            "temperature": self.temperature,
        }
        name = digest("llm", canonical(request))
        content = self._kept(name)
        if content is None:
            content, trouble, detail = self._ask(request)
            if trouble:
                return Choice((), trouble, detail)
            try:
                self._keep(name, content)
            except OSError as problem:
                return Choice((), UNKEPT, type(problem).__name__)
        return replace(parsed(content, len(menu), count), said=content)

    def _ask(self, request: Mapping[str, Any]) -> tuple[str, int, str]:
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            call = urllib.request.Request(  # noqa: S310 - the scheme was checked
                f"{self.base_url}/chat/completions", json.dumps(request).encode(), headers
            )
            with urllib.request.urlopen(call, timeout=self.seconds) as answer:  # noqa: S310
                raw = answer.read(LONGEST_ANSWER + 1)
        except urllib.error.HTTPError as problem:
            with problem:
                return "", REFUSED, f"HTTP {problem.code}"
        except (OSError, ValueError, http.client.HTTPException) as problem:
            return "", UNREACHABLE, type(problem).__name__
        try:
            content = json.loads(raw)["choices"][0]["message"]["content"]
        except (ValueError, KeyError, IndexError, TypeError, RecursionError):
            return "", GARBLED, "no completion"
        if len(raw) > LONGEST_ANSWER or not isinstance(content, str):
            return "", GARBLED, "no text"
        return content, ANSWERED, ""

    def _kept(self, name: str) -> str | None:
        try:
            content = json.loads((self.cache / f"{name}.json").read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        return content if isinstance(content, str) else None

    def _keep(self, name: str, content: str) -> None:
        self.cache.mkdir(parents=True, exist_ok=True)
        part = self.cache / f".{name}.{os.getpid()}.part"
        part.write_text(json.dumps(content), encoding="utf-8")
        part.replace(self.cache / f"{name}.json")


def ask(settings: Mapping[str, Any], menu: Sequence[tuple[str, int]], count: int) -> Choice:
    """Choose at the endpoint of the environment; UNSET where there is none as it was planned."""
    try:
        endpoint = Endpoint.from_environment(settings)
    except UsageError as problem:
        return Choice((), UNSET, str(problem))
    return endpoint.choose(menu, count)


def heard(choices: Sequence[Choice]) -> str:
    """Return the digest of all that a job heard, in order."""
    return digest("llm", json.dumps([[c.trouble, c.said] for c in choices]).encode())


def _host(base: str) -> str:
    """Return the host of an address, with its port if it says one; "" if it is no http address."""
    try:
        said = urllib.parse.urlsplit(base)
        port = f":{said.port}" if said.port is not None else ""
    except ValueError:
        return ""
    return (
        f"{said.hostname or ''}{port}" if said.scheme in ("http", "https") and said.hostname else ""
    )


def parsed(content: str, menu: int, count: int) -> Choice:
    """Return the numbers that an answer names; the first JSON list in it counts."""
    numbers: object = None
    for found in re.finditer(r"\[[^\[\]]*\]", content):
        with contextlib.suppress(ValueError, RecursionError):
            numbers = json.loads(found.group())
            break
    if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
        return Choice((), GARBLED, "no list of whole numbers")
    if len(set(numbers)) < len(numbers) or len(numbers) > count:
        return Choice((), OFF_MENU, "repeated or too many")
    if not all(1 <= number <= menu for number in numbers):
        return Choice((), OFF_MENU, "not on the menu")
    return Choice(tuple(numbers))
