"""The language model's arm against a real local HTTP server, which also misbehaves."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from life_bench import Bench, life_of

from echoctl.contract import load_contract
from echoctl.contract.seeds import Seeds
from echoctl.errors import UsageError
from echoctl.mind.edits import RANK, REFINE, SILENCE, Edit
from echoctl.track import Job, Row
from echoctl.tracks.acumula import Acumula, llm
from echoctl.tracks.acumula.diagnosis import Proposal
from echoctl.tracks.acumula.life import Life

MENU = [("refine(24, rank)", 18), ("silence(24)", 14), ("order", 2)]
ROOT = Path(__file__).parents[2]


def completion(content: object) -> bytes:
    return json.dumps(
        {"choices": [{"message": {"role": "assistant", "content": content}}]}
    ).encode()


class Server:
    """Answers every request with what `reply` says; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.reply: Callable[[], tuple[int, bytes]] = lambda: (200, completion("[1, 3]"))
        self.delay = 0.0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                outer.asked.append(json.loads(self.rfile.read(length)))
                outer.keys.append(self.headers["Authorization"])
                assert self.path == "/v1/chat/completions"
                time.sleep(outer.delay)
                status, body = outer.reply()
                if status == 0:
                    self.connection.close()
                    return
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    pass  # whoever asked has hung up

            def log_message(self, *args: object) -> None:
                """Say nothing."""

            def handle_error(self, *args: object) -> None:
                """Say nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.handle_error = lambda *args: None  # type: ignore[method-assign]
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.http.shutdown()
    made.http.server_close()
    thread.join()


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "answers"


def endpoint(server: Server, cache: Path, seconds: int = 5) -> llm.Endpoint:
    return llm.Endpoint(server.url, "some-model", cache, "secret", seconds=seconds)


def test_it_chooses_from_the_menu_at_temperature_zero(server: Server, cache: Path) -> None:
    assert endpoint(server, cache).choose(MENU, 2) == llm.Choice((1, 3), said="[1, 3]")
    (asked,) = server.asked
    assert (asked["model"], asked["temperature"]) == ("some-model", 0)
    assert server.keys == ["Bearer secret"]
    text = asked["messages"][1]["content"]
    assert "1. refine(24, rank) explains 18" in text
    assert not [word for word in ("lava", "door", "key ", "wall", "goal") if word in text.lower()]


def test_a_repeat_makes_no_call(server: Server, cache: Path) -> None:
    first = endpoint(server, cache).choose(MENU, 2)
    server.reply = lambda: (500, b"")
    assert endpoint(server, cache).choose(MENU, 2) == first
    assert len(server.asked) == 1
    endpoint(server, cache).choose(MENU, 1)
    assert len(server.asked) == 2, "another message is another question"


@pytest.mark.parametrize("kept", [b"", b"7", b"[" * 100_000, b"\xff"])
def test_a_kept_answer_that_is_none_is_asked_for_again(
    server: Server, cache: Path, kept: bytes
) -> None:
    first = endpoint(server, cache).choose(MENU, 2)
    (path,) = cache.iterdir()
    path.write_bytes(kept)
    assert endpoint(server, cache).choose(MENU, 2) == first
    assert len(server.asked) == 2


def test_an_answer_that_cannot_be_kept_chooses_nothing(server: Server, cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    choice = endpoint(server, cache).choose(MENU, 2)
    assert (choice.numbers, choice.trouble) == ((), llm.UNKEPT)


def test_the_key_is_in_no_file_and_no_repr(server: Server, cache: Path) -> None:
    endpoint(server, cache).choose(MENU, 2)
    assert not any("secret" in path.read_text() for path in cache.iterdir())
    assert "secret" not in repr(endpoint(server, cache))


@pytest.mark.parametrize(
    ("status", "body", "trouble"),
    [
        (429, b"slow down", llm.REFUSED),
        (500, b"", llm.REFUSED),
        (401, b"{}", llm.REFUSED),
        (200, b"garbage", llm.GARBLED),
        (200, b"[" * 5000, llm.GARBLED),
        (200, b"{}", llm.GARBLED),
        (200, b'{"choices": []}', llm.GARBLED),
        (200, completion(None), llm.GARBLED),
        (200, completion("I would refine the first."), llm.GARBLED),
        (200, completion('["1"]'), llm.GARBLED),
        (200, completion("[1.5]"), llm.GARBLED),
        (200, completion("[true]"), llm.GARBLED),
        (200, completion("[4]"), llm.OFF_MENU),
        (200, completion("[0]"), llm.OFF_MENU),
        (200, completion("[1, 1]"), llm.OFF_MENU),
        (200, completion("[1, 2, 3]"), llm.OFF_MENU),
        (0, b"", llm.UNREACHABLE),
    ],
)
def test_whatever_goes_wrong_has_a_name_and_chooses_nothing(
    server: Server, cache: Path, status: int, body: bytes, trouble: int
) -> None:
    server.reply = lambda: (status, body)
    choice = endpoint(server, cache).choose(MENU, 2)
    assert (choice.numbers, choice.trouble) == ((), trouble)


def test_a_failure_is_not_kept_but_asked_again(server: Server, cache: Path) -> None:
    server.reply = lambda: (429, b"")
    assert endpoint(server, cache).choose(MENU, 2).trouble == llm.REFUSED
    server.reply = lambda: (200, completion("[2]"))
    assert endpoint(server, cache).choose(MENU, 2).numbers == (2,)


def test_an_answer_that_takes_too_long_is_given_up(server: Server, cache: Path) -> None:
    server.delay = 1.5
    assert endpoint(server, cache, seconds=1).choose(MENU, 2).trouble == llm.UNREACHABLE


@pytest.mark.parametrize("key", ["", "two\nlines", "ñandú ☃"])
def test_nobody_at_that_address_is_a_name_too(cache: Path, key: str) -> None:
    nobody = llm.Endpoint("http://127.0.0.1:9/v1", "m", cache, key)
    assert nobody.choose(MENU, 2).trouble == llm.UNREACHABLE


def test_an_empty_choice_is_an_answer(server: Server, cache: Path) -> None:
    server.reply = lambda: (200, completion("Nothing helps: []"))
    assert endpoint(server, cache).choose(MENU, 2) == llm.Choice((), said="Nothing helps: []")


ASKED = {"model": "contract-model", "temperature": 0}
THERE = {llm.BASE_URL: "https://me:secret@example.org:8443/v1/", llm.CACHE: "answers"}


def test_the_endpoint_comes_from_the_environment_and_the_model_from_the_contract() -> None:
    named = llm.Endpoint.from_environment(ASKED, {**THERE, llm.KEY: "k"})
    assert (named.base_url, named.model) == (THERE[llm.BASE_URL][:-1], "contract-model")
    assert (named.cache, named.seconds, named.temperature) == (Path("answers"), 60, 0)
    assert named.host == "example.org:8443", "and nobody's password"


def test_saying_the_contracts_model_or_the_sealed_host_again_changes_nothing() -> None:
    again = llm.Endpoint.from_environment(
        {**ASKED, "host": "example.org:8443"}, {**THERE, llm.MODEL: "contract-model"}
    )
    assert again == llm.Endpoint.from_environment(ASKED, THERE)


@pytest.mark.parametrize(
    ("settings", "environ", "named"),
    [
        ({}, {llm.BASE_URL: ""}, llm.BASE_URL),
        ({}, {llm.BASE_URL: "file:///etc/passwd"}, llm.BASE_URL),
        ({}, {llm.BASE_URL: "http://"}, llm.BASE_URL),
        ({}, {llm.BASE_URL: "http://x:port/v1"}, llm.BASE_URL),
        ({}, {llm.TIMEOUT: "soon"}, llm.TIMEOUT),
        ({}, {llm.CACHE: ""}, llm.CACHE),
        ({}, {llm.MODEL: "another-model"}, llm.MODEL),
        ({"host": "example.org"}, {}, llm.BASE_URL),
    ],
)
def test_an_environment_that_cannot_serve_is_refused_with_the_way_out(
    settings: dict[str, str], environ: dict[str, str], named: str
) -> None:
    with pytest.raises(UsageError) as refused:
        llm.Endpoint.from_environment({**ASKED, **settings}, {**THERE, **environ})
    assert named in refused.value.why
    assert named in refused.value.todo or refused.value.todo.startswith("say whole seconds")


# --- inside a life -----------------------------------------------------------------------------

RANKED = [Proposal(Edit(REFINE, 24, RANK), 3), Proposal(Edit(SILENCE, 24), 3)]


@pytest.fixture
def there(server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server as what the environment names."""
    monkeypatch.setenv(llm.BASE_URL, server.url)
    monkeypatch.setenv(llm.CACHE, str(cache))
    for name in (llm.MODEL, llm.KEY, llm.TIMEOUT):
        monkeypatch.delenv(name, raising=False)
    return server


def corrected(monkeypatch: pytest.MonkeyPatch) -> tuple[Life, list[Row]]:
    """Return a life that has corrected itself once, and the rows of that round."""
    life = life_of("acumula", "llm")
    rows: list[Row] = [dict.fromkeys(life.measures, 0) for _ in range(4)]
    monkeypatch.setattr(
        "echoctl.tracks.acumula.life.Diagnosis.proposals", lambda self, faults: RANKED
    )
    life._correct(1, rows)
    return life, rows


def test_the_arm_proposes_what_the_model_chose(there: Server) -> None:
    there.reply = lambda: (200, completion("[2]"))
    life = life_of("acumula", "llm")
    assert life._asked(RANKED) == [RANKED[1]]
    assert life.trouble == 0


def test_a_round_without_an_answer_proposes_nothing_and_says_so(
    there: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    there.reply = lambda: (200, completion("[99]"))
    _, rows = corrected(monkeypatch)
    assert rows[0]["unanswered"] == 1
    assert not any(row["tried"] for row in rows)


@pytest.mark.parametrize(
    ("name", "value"),
    [(llm.BASE_URL, None), (llm.CACHE, None), (llm.MODEL, "another"), (llm.TIMEOUT, "soon")],
)
def test_a_job_that_was_planned_never_dies_of_an_environment_that_changed(
    there: Server, monkeypatch: pytest.MonkeyPatch, name: str, value: str | None
) -> None:
    if value is None:
        monkeypatch.delenv(name)
    else:
        monkeypatch.setenv(name, value)
    life, rows = corrected(monkeypatch)
    assert rows[0]["unanswered"] == 1
    assert not any(row["tried"] for row in rows)
    assert [choice.trouble for choice in life.heard] == [llm.UNSET]
    assert not there.asked


def test_a_job_that_asked_records_that_its_answers_came_from_outside(
    there: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "echoctl.tracks.acumula.life.Diagnosis.proposals", lambda self, faults: RANKED
    )
    told: list[dict[str, str]] = []
    for reply, arm in [("[]", "llm"), ("[]", "llm"), ("none: []", "llm"), ("[]", "recursiva")]:
        there.reply = lambda reply=reply: (200, completion(reply))  # type: ignore[misc]
        kept: dict[str, str] = {}
        bench = Bench()
        monkeypatch.setattr(bench, "digest", kept.__setitem__)
        if reply != "[]":
            monkeypatch.setenv(llm.CACHE, os.environ[llm.CACHE] + "2")
        list(life_of("acumula", arm, bench, rounds=1, each=1).rows())
        told.append(kept)
    assert list(told[0]) == [llm.HEARD]
    assert told[0] == told[1] != told[2], "what was heard, not what was done with it"
    assert told[3] == {}


def planned() -> list[Job]:
    data = (ROOT / "contracts" / "acumula.yaml").read_bytes()
    contract = load_contract(data, "contracts/acumula.yaml")
    return list(Acumula().plan(contract, Seeds.lay_out(contract), "exam"))


def test_the_arm_is_planned_where_an_endpoint_is_and_seals_its_model_and_host(
    there: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = {job.id: job for job in planned()}
    asking = [job for job in jobs.values() if job.keys["arm"] == "llm"]
    assert len(asking) == 10
    host = there.url.removeprefix("http://").removesuffix("/v1")
    sealed = {"model": "openai/gpt-oss-120b", "temperature": 0, "host": host}
    assert all(job.inputs["settings"]["llm"] == sealed for job in asking)
    monkeypatch.delenv(llm.BASE_URL)
    without = {job.id: job for job in planned()}
    assert set(jobs) - set(without) == {job.id for job in asking}
    assert all(jobs[name].digest == job.digest for name, job in without.items())


@pytest.mark.parametrize(("name", "value"), [(llm.MODEL, "another-model"), (llm.CACHE, "")])
def test_planning_refuses_an_endpoint_that_is_not_the_contracts(
    there: Server, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=name):
        planned()
