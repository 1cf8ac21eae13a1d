"""What a ledger proves about one track: its state, and which moves are legal. Nothing else.

No clock, no disk, no network: events go in one by one, as a ledger's lines say them, and each
either follows from those before it or raises Inconsistent. The rules (lifecycle.md):

1. States only go forward: draft, preflighted, reviewed, frozen, opened, complete, green or red;
   closed is reached before an exam is opened, and nothing follows it.
2. There is one freeze, one claim of exactly that freeze, one completion, one verdict.
3. A job ends once, after it was started, in its latest attempt, on the head it names.
4. Completion needs as many ended jobs as were frozen, and their very results.
5. An amendment begins where the last accepted contract ended.
6. A finding is answered once, with an action.
7. A line earlier than the line before it is an incident of kind ``clock``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from echoctl.canon import digest_of
from echoctl.errors import Inconsistent, Refused


class State(StrEnum):
    """Where a track is in its life."""

    DRAFT = "draft"
    PREFLIGHTED = "preflighted"
    REVIEWED = "reviewed"
    FROZEN = "frozen"
    OPENED = "opened"
    COMPLETE = "complete"
    GREEN = "green"
    RED = "red"
    CLOSED = "closed"


ORDER: Final = {
    State.DRAFT: 0, State.PREFLIGHTED: 1, State.REVIEWED: 2, State.FROZEN: 3, State.OPENED: 4,
    State.COMPLETE: 5, State.GREEN: 6, State.RED: 6, State.CLOSED: 7,
}  # fmt: skip
"""No event leads to a state of a lower number."""

_UNDER_WORK: Final = frozenset({State.PREFLIGHTED, State.REVIEWED})
_DECIDED: Final = frozenset({State.GREEN, State.RED})

MOVES: Final[Mapping[str, Mapping[State, State]]] = {
    "preflight": {
        State.DRAFT: State.PREFLIGHTED, **{state: state for state in _UNDER_WORK},
    },
    "amendment": {state: state for state in _UNDER_WORK},
    "review": dict.fromkeys(_UNDER_WORK, State.REVIEWED),
    "finding": {State.REVIEWED: State.REVIEWED},
    "training": {state: state for state in _UNDER_WORK},
    "freeze": dict.fromkeys(_UNDER_WORK, State.FROZEN),
    "claim": {State.FROZEN: State.OPENED},
    "start": {State.OPENED: State.OPENED},
    "done": {State.OPENED: State.OPENED},
    "complete": {State.OPENED: State.COMPLETE},
    "verdict": {State.COMPLETE: State.GREEN},
    "report": {state: state for state in _DECIDED},
    "verification": {state: state for state in _DECIDED},
    "closure": dict.fromkeys((State.DRAFT, *_UNDER_WORK, State.FROZEN), State.CLOSED),
    "incident": {state: state for state in State if state is not State.CLOSED},
}  # fmt: skip
"""event -> state before -> state after. A verdict leads to red where its colour says so."""


@dataclass(frozen=True)
class Finding:
    """One finding of a review and, once there is one, the action on it."""

    review: int
    """The review's ledger line."""
    id: str
    blocking: bool
    text: str
    action: str | None = None


@dataclass
class Dossier:
    """One track's life so far. Feed it with `add`; read the rest."""

    id: str
    state: State = State.DRAFT
    lines: int = 0
    head: tuple[int, str] = (0, "")
    time: str = ""
    """The time of the last line."""
    contract: str | None = None
    """SHA-256 of the YAML that the last preflight or amendment accepted."""
    preflight: Mapping[str, Any] | None = None
    amendments: list[Mapping[str, Any]] = field(default_factory=list)
    reviews: list[Mapping[str, Any]] = field(default_factory=list)
    findings: dict[str, Finding] = field(default_factory=dict)
    answers: list[Mapping[str, Any]] = field(default_factory=list)
    training: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    freeze: Mapping[str, Any] | None = None
    claim: Mapping[str, Any] | None = None
    started: dict[str, int] = field(default_factory=dict)
    """job -> its latest attempt."""
    done: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    incidents: list[Mapping[str, Any]] = field(default_factory=list)
    complete: Mapping[str, Any] | None = None
    verdict: Mapping[str, Any] | None = None
    reports: list[Mapping[str, Any]] = field(default_factory=list)
    verifications: list[Mapping[str, Any]] = field(default_factory=list)
    closure: str | None = None
    times: dict[str, str] = field(default_factory=dict)
    """event -> time of its latest line."""
    rehearsal: bool = False

    @property
    def blocking(self) -> list[Finding]:
        """Return the blocking findings that nobody has acted on."""
        return [f for f in self.findings.values() if f.blocking and f.action is None]

    @property
    def unanswered(self) -> list[Finding]:
        """Return every finding without an action."""
        return [f for f in self.findings.values() if f.action is None]

    def reviews_as_sealed(self) -> list[dict[str, Any]]:
        """Return the reviews with their answers, as the manifest holds them."""
        return [
            {
                **{key: value for key, value in review.items() if key != "n"},
                "answers": [
                    {"id": answer["id"], "action": answer["action"]}
                    for answer in self.answers
                    if answer["review"] == review["n"]
                ],
            }
            for review in self.reviews
        ]

    def results(self) -> str:
        """Return the hash over every ended job's result, sorted by job."""
        return digest_of("results", [[job, self.done[job]["outcome"]] for job in sorted(self.done)])

    def allows(self, event: str) -> bool:
        """Return whether an event of this kind is legal now."""
        return self.state in MOVES[event]

    def add(self, record: Mapping[str, Any], head: tuple[int, str]) -> None:
        """Take the next ledger line; `head` is the chain's head after it.

        Raises Inconsistent when the line does not follow from those before it.
        """
        event, data, time = _shape(record, self.lines)
        if event not in MOVES:
            raise self._wrong(f"nobody knows the event {event!r}")
        if not self.allows(event):
            raise self._wrong(f"{event} cannot follow in state {self.state}")
        if time < self.time and data.get("kind") != "clock":
            raise self._wrong(f"the clock runs backwards, from {self.time} to {time}")
        try:
            _TAKE[event](self, data)
        except (KeyError, TypeError, AttributeError) as problem:
            raise self._wrong(f"{event} is malformed: {problem!r}") from None
        self.state = MOVES[event][self.state]
        if event == "verdict" and data["colour"] == "red":
            self.state = State.RED
        self.lines += 1
        self.head = head
        self.time = max(self.time, time) if data.get("kind") != "clock" else time
        self.times[event] = time

    def _wrong(self, what: str) -> Inconsistent:
        return Inconsistent(
            f"ledger of {self.id}, line {self.lines + 1}: {what}",
            "restore the ledger from a copy that verifies",
            line=self.lines + 1,
        )

    # --- one method an event: what it must agree with, and what it adds ----------------------

    def _preflight(self, data: Mapping[str, Any]) -> None:
        if self.contract not in (None, data["contract"]):
            raise self._wrong("the contract changed without an amendment")
        self.contract = data["contract"]
        self.preflight = data

    def _amendment(self, data: Mapping[str, Any]) -> None:
        if data["from"] != self.contract:
            raise self._wrong("the amendment begins at another contract")
        self.contract = data["to"]
        self.amendments.append(data)

    def _review(self, data: Mapping[str, Any]) -> None:
        for finding in data["findings"]:
            if finding["id"] in self.findings:
                raise self._wrong(f"finding {finding['id']} is there already")
            self.findings[finding["id"]] = Finding(
                self.lines, finding["id"], finding["blocking"], finding["text"]
            )
        self.reviews.append({**data, "n": self.lines})

    def _finding(self, data: Mapping[str, Any]) -> None:
        known = self.findings.get(data["id"])
        if known is None or known.review != data["review"]:
            raise self._wrong(f"no review has the finding {data['id']}")
        if known.action is not None or not data["action"].strip():
            raise self._wrong(f"finding {data['id']} is answered once, with an action")
        self.answers.append(data)
        self.findings[known.id] = Finding(
            known.review, known.id, known.blocking, known.text, data["action"]
        )

    def _training(self, data: Mapping[str, Any]) -> None:
        self.training[data["job"]] = data

    def _freeze(self, data: Mapping[str, Any]) -> None:
        if self.blocking:
            raise self._wrong(f"finding {self.blocking[0].id} blocks the freeze")
        if type(data["jobs"]) is not int or data["jobs"] < 1:
            raise self._wrong("a freeze has jobs")
        self.freeze = data

    def _claim(self, data: Mapping[str, Any]) -> None:
        if self.freeze is None or data["freeze"] != self.freeze["manifest"]:
            raise self._wrong("the claim is of another freeze")
        self.claim = data

    def _start(self, data: Mapping[str, Any]) -> None:
        job = data["job"]
        if job in self.done:
            raise self._wrong(f"job {job} has a result already")
        if data["attempt"] != self.started.get(job, 0) + 1:
            raise self._wrong(f"job {job}: attempt {data['attempt']} is out of count")
        self.started[job] = data["attempt"]

    def _done(self, data: Mapping[str, Any]) -> None:
        job = data["job"]
        if job in self.done:
            raise self._wrong(f"job {job} has a result already")
        if self.started.get(job) != data["attempt"]:
            raise self._wrong(f"job {job} did not start attempt {data['attempt']}")
        if tuple(data["head"]) != self.head:
            raise self._wrong(f"the receipt of job {job} names another head")
        self.done[job] = data

    def _complete(self, data: Mapping[str, Any]) -> None:
        expected = self.freeze["jobs"] if self.freeze else 0
        if not len(self.done) == data["jobs"] == expected:
            raise self._wrong(
                f"{len(self.done)} jobs ended, {data['jobs']} are said, {expected} were frozen"
            )
        if data["results"] != self.results():
            raise self._wrong("the results are not those that the jobs returned")
        self.complete = data

    def _verdict(self, data: Mapping[str, Any]) -> None:
        if data["colour"] not in ("green", "red"):
            raise self._wrong(f"a verdict is green or red, not {data['colour']!r}")
        self.verdict = data

    def _closure(self, data: Mapping[str, Any]) -> None:
        self.closure = str(data["why"])

    def _incident(self, data: Mapping[str, Any]) -> None:
        if data["kind"] == "rehearsal" and self.lines == 0:
            self.rehearsal = True
        self.incidents.append({**data, "n": self.lines})

    # --- what a person may ask for ------------------------------------------------------------

    def refuse(self, act: str) -> None:
        """Raise Refused, saying why not and what to do, unless `act` is legal in this state.

        Acts are the commands: preflight, dev, amend, review, answer, close, freeze, exam,
        resume, report, verify.
        """
        if self.state in ACTS[act]:
            return
        raise Refused(*_why_not(self, act), state=str(self.state), id=self.id)


def _shape(record: Mapping[str, Any], lines: int) -> tuple[str, Mapping[str, Any], str]:
    if set(record) != {"data", "event", "n", "prev", "time"} or not (
        isinstance(record["data"], Mapping)
        and isinstance(record["event"], str)
        and isinstance(record["time"], str)
    ):
        raise Inconsistent(f"ledger line {lines + 1} is no event", line=lines + 1)
    return record["event"], record["data"], record["time"]


_TAKE: Final[Mapping[str, Callable[[Dossier, Mapping[str, Any]], None]]] = {
    "preflight": Dossier._preflight,
    "amendment": Dossier._amendment,
    "review": Dossier._review,
    "finding": Dossier._finding,
    "training": Dossier._training,
    "freeze": Dossier._freeze,
    "claim": Dossier._claim,
    "start": Dossier._start,
    "done": Dossier._done,
    "complete": Dossier._complete,
    "verdict": Dossier._verdict,
    "report": lambda self, data: self.reports.append(data),
    "verification": lambda self, data: self.verifications.append(data),
    "closure": Dossier._closure,
    "incident": Dossier._incident,
}

ACTS: Final[Mapping[str, frozenset[State]]] = {
    "preflight": frozenset({State.DRAFT, *_UNDER_WORK}),
    "dev": frozenset(State),
    "amend": _UNDER_WORK,
    "review": _UNDER_WORK,
    "answer": frozenset({State.REVIEWED}),
    "close": frozenset({State.DRAFT, *_UNDER_WORK, State.FROZEN}),
    "freeze": _UNDER_WORK,
    "exam": frozenset({State.FROZEN}),
    "resume": frozenset({State.FROZEN, State.OPENED, State.COMPLETE}),
    "report": _DECIDED,
    "verify": frozenset(State) - {State.DRAFT},
}
"""act -> states in which it is legal."""


def _why_not(dossier: Dossier, act: str) -> tuple[str, str]:
    """Return why an act is refused in this state, and what to do instead."""
    name, state = dossier.id, dossier.state
    again = f"echoctl new {name}2 --follows {name}"
    if state is State.CLOSED:
        return (
            f"{name} was closed on {dossier.times['closure']}: {dossier.closure}",
            f"To try again write a new contract that names this one: {again}",
        )
    if dossier.claim is not None and act in ("exam", "resume"):
        opened = dossier.times["claim"]
        if state in _DECIDED and act == "resume":
            return (
                f"{name} is decided; nothing of its exam is left to resume",
                f"its report, if that was cut short: echoctl report {name}",
            )
        if state in _DECIDED:
            return (
                f"{name} was opened on {opened}. An exam runs once, whatever came out.",
                f"To try again write a new contract that names this one: {again}",
            )
        return (
            f"{name} was opened on {opened} and is not decided yet. An exam runs once.",
            f"To go on under the same claim: echoctl exam {name} --resume",
        )
    if dossier.freeze is not None and act in ("preflight", "amend", "review", "freeze"):
        return (
            f"{name} was frozen on {dossier.times['freeze']}; what was promised stays as it is",
            f"next: {next_command(dossier)}",
        )
    if dossier.claim is not None and act == "close":
        return (f"{name} was opened; only its verdict can end it", f"next: {next_command(dossier)}")
    if act == "answer":
        return (f"{name} has no review yet", f"record one: echoctl review {name}")
    if act == "report":
        return (f"{name} has no verdict yet ({state})", f"next: {next_command(dossier)}")
    return (f"{name} is {state}, too early for that", f"next: {next_command(dossier)}")


def next_command(dossier: Dossier) -> str:
    """Return the command that comes next in a track's life."""
    name = dossier.id
    if dossier.state in _UNDER_WORK:
        if dossier.preflight is None or dossier.preflight["contract"] != dossier.contract:
            return f"echoctl preflight {name}"
        if dossier.blocking:
            return f"echoctl review {name} --answer {dossier.blocking[0].id} --action TEXT"
    if dossier.state in _DECIDED and not dossier.reports:
        return f"echoctl report {name}"
    return {
        State.DRAFT: f"echoctl preflight {name}",
        State.PREFLIGHTED: f"echoctl review {name}",
        State.REVIEWED: f"echoctl freeze {name}",
        State.FROZEN: f"echoctl exam {name}",
        State.OPENED: f"echoctl exam {name} --resume",
        State.COMPLETE: f"echoctl exam {name} --resume",
        State.GREEN: f"echoctl verify {name} --rerun 4",
        State.RED: f"echoctl verify {name} --rerun 4",
        State.CLOSED: f"echoctl new {name}2 --follows {name}",
    }[dossier.state]
