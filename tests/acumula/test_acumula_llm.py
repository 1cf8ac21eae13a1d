"""The language model's arm against a real local HTTP server, which also misbehaves."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from life_bench import life_of

from echoctl.contract import load_contract
from echoctl.contract.seeds import Seeds
from echoctl.errors import UsageError
from echoctl.mind.edits import RANK, REFINE, SILENCE, Edit
from echoctl.track import Row
from echoctl.tracks.acumula import Acumula, llm
from echoctl.tracks.acumula.diagnosis import Proposal

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
    llm._KEPT.clear()


def endpoint(server: Server, cache: Path | None = None, seconds: int = 5) -> llm.Endpoint:
    return llm.Endpoint(server.url, "some-model", "secret", cache, seconds)


def test_it_chooses_from_the_menu_at_temperature_zero(server: Server) -> None:
    assert endpoint(server).choose(MENU, 2) == llm.Choice((1, 3))
    (asked,) = server.asked
    assert (asked["model"], asked["temperature"]) == ("some-model", 0)
    assert server.keys == ["Bearer secret"]
    text = asked["messages"][1]["content"]
    assert "1. refine(24, rank) explains 18" in text
    assert not [word for word in ("lava", "door", "key ", "wall", "goal") if word in text.lower()]


@pytest.mark.parametrize("kept_on_disk", [True, False])
def test_a_repeat_makes_no_call(server: Server, tmp_path: Path, kept_on_disk: bool) -> None:
    cache = tmp_path / "answers" if kept_on_disk else None
    first = endpoint(server, cache).choose(MENU, 2)
    server.reply = lambda: (500, b"")
    assert endpoint(server, cache).choose(MENU, 2) == first
    assert len(server.asked) == 1
    endpoint(server, cache).choose(MENU, 1)
    assert len(server.asked) == 2, "another message is another question"


def test_the_key_is_in_no_file_and_no_repr(server: Server, tmp_path: Path) -> None:
    endpoint(server, tmp_path).choose(MENU, 2)
    assert not any("secret" in path.read_text() for path in tmp_path.iterdir())
    assert "secret" not in repr(endpoint(server))


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
    server: Server, status: int, body: bytes, trouble: int
) -> None:
    server.reply = lambda: (status, body)
    choice = endpoint(server).choose(MENU, 2)
    assert (choice.numbers, choice.trouble) == ((), trouble)


def test_a_failure_is_not_kept_but_asked_again(server: Server, tmp_path: Path) -> None:
    server.reply = lambda: (429, b"")
    assert endpoint(server, tmp_path).choose(MENU, 2).trouble == llm.REFUSED
    server.reply = lambda: (200, completion("[2]"))
    assert endpoint(server, tmp_path).choose(MENU, 2).numbers == (2,)


def test_an_answer_that_takes_too_long_is_given_up(server: Server) -> None:
    server.delay = 1.5
    assert endpoint(server, seconds=1).choose(MENU, 2).trouble == llm.UNREACHABLE


def test_nobody_at_that_address_is_a_name_too(server: Server) -> None:
    nobody = llm.Endpoint("http://127.0.0.1:9/v1", "m")
    assert nobody.choose(MENU, 2).trouble == llm.UNREACHABLE


def test_an_empty_choice_is_an_answer(server: Server) -> None:
    server.reply = lambda: (200, completion("Nothing helps: []"))
    assert endpoint(server).choose(MENU, 2) == llm.Choice(())


def test_the_endpoint_comes_from_the_environment(tmp_path: Path) -> None:
    named = llm.Endpoint.from_environment(
        "contract-model",
        {llm.BASE_URL: "https://example.org/v1/", llm.KEY: "k", llm.CACHE: str(tmp_path)},
    )
    assert (named.base_url, named.model) == ("https://example.org/v1", "contract-model")
    assert (named.cache, named.seconds) == (tmp_path, 60)


@pytest.mark.parametrize(
    "environ",
    [{}, {llm.BASE_URL: "file:///etc/passwd"}, {llm.BASE_URL: "http://x", llm.TIMEOUT: "soon"}],
)
def test_a_bad_environment_is_refused_with_the_way_out(environ: dict[str, str]) -> None:
    with pytest.raises(UsageError) as refused:
        llm.Endpoint.from_environment("m", environ)
    assert refused.value.todo


# --- inside a life -----------------------------------------------------------------------------

RANKED = [Proposal(Edit(REFINE, 24, RANK), 3), Proposal(Edit(SILENCE, 24), 3)]


def test_the_arm_proposes_what_the_model_chose(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(llm.BASE_URL, server.url)
    server.reply = lambda: (200, completion("[2]"))
    life = life_of("acumula", "llm")
    assert life._asked(RANKED) == [RANKED[1]]
    assert life.trouble == 0


def test_a_round_without_an_answer_proposes_nothing_and_says_so(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(llm.BASE_URL, server.url)
    server.reply = lambda: (200, completion("[99]"))
    life = life_of("acumula", "llm")
    rows: list[Row] = [dict.fromkeys(life.measures, 0) for _ in range(4)]
    monkeypatch.setattr(
        "echoctl.tracks.acumula.life.Diagnosis.proposals", lambda self, faults: RANKED
    )
    life._correct(1, rows)
    assert rows[0]["unanswered"] == 1
    assert not any(row["tried"] for row in rows)


@pytest.mark.parametrize("there", [True, False])
def test_without_an_endpoint_the_arm_is_not_played(
    there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(llm.BASE_URL, raising=False)
    if there:
        monkeypatch.setenv(llm.BASE_URL, "http://127.0.0.1:9/v1")
    data = (ROOT / "contracts" / "acumula.yaml").read_bytes()
    contract = load_contract(data, "contracts/acumula.yaml")
    jobs = Acumula().plan(contract, Seeds.lay_out(contract), "exam")
    assert (sum(job.keys["arm"] == "llm" for job in jobs) == 10) is there
    assert sum(job.keys["arm"] == "recursiva" for job in jobs) == 10
