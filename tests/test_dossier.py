from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from echoctl.dossier import ACTS, MOVES, ORDER, Dossier, State, next_command
from echoctl.errors import Inconsistent, Refused

HEAD = (0, "origin")


class Story:
    """Feeds events to a dossier and counts lines for it."""

    def __init__(self) -> None:
        self.dossier = Dossier("toy", head=HEAD)
        self.clock = 0

    def tell(self, event: str, time: str = "", **data: Any) -> Story:
        self.clock += 1
        n = self.dossier.lines
        at = time or f"2026-01-01T00:{self.clock // 60:02}:{self.clock % 60:02}Z"
        record = {"data": data, "event": event, "n": n, "prev": "", "time": at}
        self.dossier.add(record, (n + 1, f"hash {n}"))
        return self

    def preflight(self) -> Story:
        return self.tell("preflight", contract="c0", seeds="s", lint={}, environment={})

    def review(self, *findings: dict[str, Any]) -> Story:
        return self.tell("review", reviewer="r", file="f", hash="h", findings=list(findings))

    def freeze(self, jobs: int = 2) -> Story:
        return self.tell("freeze", manifest="m", jobs=jobs)

    def claim(self) -> Story:
        return self.tell("claim", claim="k", freeze="m")

    def start(self, job: str, attempt: int = 1) -> Story:
        return self.tell("start", job=job, attempt=attempt)

    def done(self, job: str, attempt: int = 1) -> Story:
        head = list(self.dossier.head)
        return self.tell("done", job=job, outcome=f"o{job}", rows=1, attempt=attempt, head=head)

    def complete(self) -> Story:
        return self.tell(
            "complete", jobs=len(self.dossier.done), results=self.dossier.results()
        )  # fmt: skip

    def opened(self) -> Story:
        return self.preflight().review().freeze().claim()


def decided(colour: str = "green") -> Story:
    story = Story().opened()
    for job in ("a", "b"):
        story.start(job).done(job)
    return story.complete().tell("verdict", verdict="v", colour=colour)


@pytest.mark.parametrize("colour", ["green", "red"])
def test_a_whole_life_ends_in_the_colour_of_its_verdict(colour: str) -> None:
    story = decided(colour)
    assert story.dossier.state == colour
    assert next_command(story.dossier) == "echoctl report toy"
    story.tell("report", files={})
    assert next_command(story.dossier) == "echoctl verify toy --rerun 4"


def test_no_move_of_the_table_leads_backwards() -> None:
    for event, moves in MOVES.items():
        for before, after in moves.items():
            assert ORDER[after] >= ORDER[before], event


def test_nothing_follows_a_closure_and_nothing_closes_after_the_claim() -> None:
    assert not [event for event, moves in MOVES.items() if State.CLOSED in moves]
    assert State.OPENED not in MOVES["closure"]
    with pytest.raises(Inconsistent, match="closure cannot follow in state opened"):
        Story().opened().tell("closure", why="no")


def test_every_act_is_refused_with_a_way_out_in_every_other_state() -> None:
    for act, states in ACTS.items():
        for state in State:
            story = decided() if ORDER[state] >= ORDER[State.OPENED] else Story()
            story.dossier.state = state
            story.dossier.times.setdefault("closure", "")
            if ORDER[State.FROZEN] <= ORDER[state]:
                story.dossier.freeze = {"manifest": "m", "jobs": 2}
                story.dossier.times.setdefault("freeze", "")
            if state in states:
                story.dossier.refuse(act)
                continue
            with pytest.raises(Refused) as caught:
                story.dossier.refuse(act)
            assert "toy" in caught.value.why
            assert "echoctl" in caught.value.todo


@pytest.mark.parametrize(
    ("tell", "says"),
    [
        (lambda s: s.opened().freeze(), "freeze cannot follow in state opened"),
        (lambda s: s.opened().claim(), "claim cannot follow in state opened"),
        (lambda s: s.freeze(), "freeze cannot follow in state draft"),
        (lambda s: s.preflight().tell("preflight", contract="c1"), "without an amendment"),
        (lambda s: s.preflight().tell("amendment", **{"from": "x", "to": "y"}),
         "begins at another contract"),
        (lambda s: s.preflight().review().freeze().tell("claim", claim="k", freeze="other"),
         "claim is of another freeze"),
        (lambda s: s.opened().start("a").start("a"), "attempt 1 is out of count"),
        (lambda s: s.opened().start("a").done("a").start("a", 2), "has a result already"),
        (lambda s: s.opened().start("a").done("a").done("a"), "has a result already"),
        (lambda s: s.opened().done("a"), "did not start attempt 1"),
        (lambda s: s.opened().start("a").start("a", 2).done("a", 1), "did not start attempt 1"),
        (lambda s: s.opened().start("a").tell(
            "done", job="a", outcome="o", rows=1, attempt=1, head=[9, "cut"]),
         "names another head"),
        (lambda s: s.opened().start("a").done("a").complete(), "1 jobs ended, 1 are said, 2 were"),
        (lambda s: s.opened().start("a").done("a").start("b").done("b").tell(
            "complete", jobs=2, results="better"), "not those that the jobs returned"),
        (lambda s: s.opened().tell("verdict", verdict="v", colour="green"),
         "verdict cannot follow in state opened"),
        (lambda s: s.preflight().review({"id": "1", "blocking": True, "text": "t"}).freeze(),
         "finding 1 blocks the freeze"),
        (lambda s: s.preflight().review().tell("finding", review=0, id="7", action="x"),
         "no review has the finding 7"),
        (lambda s: s.preflight().tell("rumour", text="x"), "nobody knows the event 'rumour'"),
        (lambda s: s.preflight().tell("review", reviewer="r"), "review is malformed"),
    ],
)  # fmt: skip
def test_a_line_that_does_not_follow_is_inconsistent(tell: Any, says: str) -> None:
    with pytest.raises(Inconsistent, match=says):
        tell(Story())


def test_a_finding_is_answered_once_and_with_an_action() -> None:
    story = Story().preflight().review({"id": "1", "blocking": True, "text": "t"})
    with pytest.raises(Inconsistent, match="answered once, with an action"):
        story.tell("finding", review=1, id="1", action=" ")
    story.tell("finding", review=1, id="1", action="done")
    assert story.dossier.blocking == []
    assert story.dossier.reviews_as_sealed()[0]["answers"] == [{"id": "1", "action": "done"}]
    with pytest.raises(Inconsistent, match="answered once"):
        story.tell("finding", review=1, id="1", action="again")


def test_a_clock_runs_backwards_only_as_an_incident_that_says_so() -> None:
    story = Story().preflight()
    with pytest.raises(Inconsistent, match="the clock runs backwards"):
        story.tell("review", time="2025-01-01T00:00:00Z", reviewer="r", findings=[])
    story.tell("incident", time="2025-01-01T00:00:00Z", job=None, kind="clock", text="t")
    story.tell("review", time="2025-01-01T00:00:01Z", reviewer="r", findings=[])
    assert story.dossier.state is State.REVIEWED


def test_a_line_that_was_refused_changes_nothing() -> None:
    story = Story().opened().start("a")
    before = repr(story.dossier)
    refused: tuple[tuple[str, dict[str, Any]], ...] = (
        ("done", {"job": "a", "outcome": "o", "rows": 1, "attempt": 1, "head": [0, ""]}),
        ("start", {"job": "a", "attempt": 3}),
        ("complete", {"jobs": 2, "results": ""}),
    )
    for event, data in refused:
        with pytest.raises(Inconsistent):
            story.tell(event, **data)
        assert repr(story.dossier) == before


EVENTS = st.sampled_from([
    ("preflight", {"contract": "c0"}), ("amendment", {"from": "c0", "to": "c0", "why": "w"}),
    ("review", {"findings": []}), ("finding", {"review": 1, "id": "1", "action": "a"}),
    ("training", {"job": "t"}), ("freeze", {"manifest": "m", "jobs": 1}),
    ("claim", {"claim": "k", "freeze": "m"}), ("start", {"job": "a", "attempt": 1}),
    ("done", {"job": "a", "outcome": "o", "rows": 1, "attempt": 1, "head": None}),
    ("complete", {"jobs": 1, "results": None}), ("verdict", {"verdict": "v", "colour": "red"}),
    ("report", {"files": {}}), ("verification", {}), ("closure", {"why": "w"}),
    ("incident", {"job": None, "kind": "k", "text": "t"}),
])  # fmt: skip


@given(st.lists(EVENTS, max_size=60))
def test_whatever_is_told_the_state_goes_forward_and_the_facts_agree(
    events: list[tuple[str, dict[str, Any]]],
) -> None:
    story = Story()
    for event, data in events:
        before, dossier = story.dossier.state, story.dossier
        filled = dict(data)
        if "head" in filled:
            filled["head"] = list(dossier.head)
        if "results" in filled:
            filled["results"] = dossier.results()
        try:
            story.tell(event, **filled)
        except Inconsistent:
            assert dossier.state is before
        assert ORDER[dossier.state] >= ORDER[before]
        assert (dossier.freeze is None) == (
            dossier.state in (State.DRAFT, State.PREFLIGHTED, State.REVIEWED)
            or (dossier.state is State.CLOSED and "freeze" not in dossier.times)
        )
        assert (dossier.claim is not None) == ("claim" in dossier.times)
        assert (dossier.verdict is not None) == (dossier.state in (State.GREEN, State.RED))
        assert not dossier.done or dossier.claim is not None
        assert dossier.complete is None or len(dossier.done) == 1
