"""The routes of a lecture: what a lecturer may say, and what forged messages do: nothing."""

import base64
import contextlib
import http.client
import json
import logging
import random
import secrets
import select
import signal
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
import uvicorn
from starlette.applications import Starlette
from streamlit import config

from explainers.ui.follow.board import Limits, Memory
from explainers.ui.follow.checked_request import LONGEST_SECRET, MOST_BYTES, name_room
from explainers.ui.follow.redis_board import Redis
from explainers.ui.follow.routes import LONGEST_QUERY, MOST_DRAWN, Following
from tests.deploy.replicas import free_port, serve
from tests.follow import boards
from tests.support.waiting import PATIENCE, wait

redis_server = boards.redis_server
ROOT = Path(__file__).parents[2]
SECRET = secrets.token_urlsafe(32)
ROOM = name_room(SECRET)[0]
OWN = {"Authorization": f"Bearer {SECRET}"}
JSON = {"Content-Type": "application/json"}
GOOD = {
    "number": 1,
    "page": "scores",
    "query": "d_k=8&text=a+cat",
    "screen": 2,
    "step": 0,
    "round": 0,
}


@contextlib.contextmanager
def served(board):
    """The routes alone, in a thread; yields the port."""
    following = Following(board)
    app = Starlette(routes=following.list_routes(), lifespan=following.lifespan)
    port = free_port()
    settings = uvicorn.Config(app, port=port, timeout_graceful_shutdown=1)
    server = uvicorn.Server(settings)
    logging.getLogger("uvicorn.access").disabled = True  # pytest would keep every line
    thread = threading.Thread(target=server.run)
    thread.start()
    wait(lambda: server.started)
    try:
        yield port
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def port():
    with served(Memory(Limits(messages=100_000))) as running:
        yield running


def ask(port, path, said=None, headers=None, method="POST", connection=None):
    """(status, answer) of a message."""
    connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    body = said if isinstance(said, bytes | None) else json.dumps(said).encode()
    connection.request(method, path, body, {**JSON, **(headers or {})})
    answer = connection.getresponse()
    text = answer.read()
    return answer.status, json.loads(text) if text[:1] == b"{" else text


class Ear:
    """An open stream of events."""

    def __init__(self, port, path, headers=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self.connection.request("GET", path, headers=headers or {})
        self.answer = self.connection.getresponse()

    def next(self, kind):
        """The text of the next event of a kind."""
        found, end = "", time.monotonic() + PATIENCE
        while True:
            assert time.monotonic() < end, f"nothing of {kind}, but {found}"
            line = self.answer.readline().decode()
            assert line, f"the stream ended without {kind}"
            name, _, text = line.strip().partition(": ")
            if name == "event":
                found = text
            elif name == "data" and found == kind:
                return text


OPENING = {"address": "http://localhost/"}


@pytest.fixture
def room(port):
    """A room of its own: its name, and the headers of who leads it."""
    secret = secrets.token_urlsafe(32)
    own = {"Authorization": f"Bearer {secret}"}
    assert ask(port, "/lead", OPENING, own)[1]["room"] == name_room(secret)[0]
    return name_room(secret)[0], own


def test_a_lecture_from_its_beginning_to_its_end(port, room):
    name, own = room
    ear = Ear(port, f"/follow/{name[:6]}")
    assert ear.answer.headers["Content-Type"].startswith("text/event-stream")
    assert "no-transform" in ear.answer.headers["Cache-Control"]
    assert ear.next("room") == name
    ballot = ear.next("ballot")
    assert ask(port, f"/lead/{name}", {**GOOD, "more": "x" * 100}, own) == (200, {})
    assert json.loads(ear.next("at")) == GOOD
    watch = Ear(port, f"/follow/{name}?lecturer")
    assert json.loads(watch.next("count")) == {"followers": 1, "votes": {}}
    for path, vote, status in [
        ("scores-which.1", {"ballot": ballot, "option": 1}, 400),
        ("scores-which-1", {"ballot": "0" * 32, "option": 1}, 403),
        ("scores-which-1", {"ballot": ballot, "option": 1}, 200),
    ]:
        assert ask(port, f"/vote/{name}/{path}", vote)[0] == status
    assert json.loads(watch.next("count"))["votes"] == {"scores-which-1": [0, 1, 0, 0, 0, 0]}

    query = "d_k=8&go=abcdef&EMBED=true&embed_options=dark_theme&follow=b&screen=3&pages_done=1"
    query += "&tour=2&text=a+%26go%3Dx+%C3%A9&d_k=9&empty="
    assert ask(port, f"/lead/{name}", {**GOOD, "number": 2, "query": query}, own)[0] == 200
    said = json.loads(ear.next("at"))["query"]
    assert said == "d_k=8&text=a+%26go%3Dx+%C3%A9&d_k=9&empty=", "choices, and nothing else"
    assert ask(port, f"/lead/{name}", None, own, method="DELETE") == (200, {})
    ear.next("over")
    assert ear.answer.read().strip() == b""
    assert Ear(port, f"/follow/{name}").next("refused") == '"unknown"'


def test_a_monitor_sees_that_nobody_hears_a_lecturer(port, redis_server):
    assert ask(port, "/health/follow", method="GET") == (200, {"following": True})
    redis_server.empty()
    with served(Redis(redis_server.url)) as other:
        wait(lambda: ask(other, "/health/follow", method="GET")[0] == 200)
        redis_server.stop()
        wait(lambda: ask(other, "/health/follow", method="GET") == (503, {"following": False}))
        redis_server.start()
        wait(lambda: ask(other, "/health/follow", method="GET")[0] == 200)


STREAMS = 3


def test_an_address_has_as_many_votes_as_streams(port, room):
    """Also if they are closed and opened again, with what was told before and without it."""
    name, _ = room
    vote, watch, ballots = f"/vote/{name}/q", Ear(port, f"/follow/{name}?lecturer"), []
    streams = [Ear(port, f"/follow/{name}") for _ in range(STREAMS)]
    for stream in streams:
        ballots.append(stream.next("ballot"))
        assert ask(port, vote, {"ballot": ballots[-1], "option": 0})[0] == 200
    for number in range(2 * STREAMS):
        streams.pop(0).connection.close()
        while json.loads(watch.next("count"))["followers"] != STREAMS - 1:
            pass
        kept = f"?ballot={ballots[number]}" if number % 2 else ""
        streams.append(Ear(port, f"/follow/{name}{kept}"))
        ballots.append(streams[-1].next("ballot"))
        assert ask(port, vote, {"ballot": ballots[-1], "option": 1})[0] == 200
    votes = [STREAMS, 0]
    while votes[1] < STREAMS:
        votes = json.loads(watch.next("count"))["votes"]["q"]
        assert sum(votes) <= STREAMS


def test_a_browser_that_connects_again_by_itself_has_its_seat_again(port, room):
    name, _ = room
    first = Ear(port, f"/follow/{name}")
    ballot = first.next("ballot")
    again = Ear(port, f"/follow/{name}", {"Last-Event-ID": ballot})
    assert again.next("ballot") == ballot
    for forged in ("0" * 32, "a\u00e9", "x" * 2000, ballot[:-1]):
        other = Ear(port, f"/follow/{name}", {"Last-Event-ID": forged.encode()})
        assert other.next("ballot") not in (ballot, forged)


def test_another_method_is_refused(port):
    room = "a" * 16
    for path, method in (
        ("/follow/x", "POST"),
        ("/follow/x", "HEAD"),
        ("/health/follow", "POST"),
        ("/lead", "GET"),
        (f"/lead/{room}", "PUT"),
        (f"/lead/{room}/ask", "GET"),
        (f"/vote/{room}/q", "DELETE"),
    ):
        assert ask(port, path, None, method=method)[0] == 405, (path, method)


def test_a_flood_of_codes_to_draw_is_refused(port):
    with ThreadPoolExecutor(4 * MOST_DRAWN) as pool:

        def come(number):
            return ask(port, "/lead", {"address": f"http://localhost/{number}{'x' * 250}"}, OWN)[0]

        answers = list(pool.map(come, range(6 * MOST_DRAWN)))
    assert set(answers) == {200, 429}
    assert ask(port, "/lead", OPENING, OWN)[0] == 200


def said(**more):
    return {**GOOD, "number": 99, **more}


LIES = {
    "no secret": (said(), {}, 403),
    "another secret": (said(), {"Authorization": f"Bearer {'x' * 43}"}, 403),
    "the room's name": (said(), {"Authorization": f"Bearer {ROOM * 3}"}, 403),
    "a short secret": (said(), {"Authorization": "Bearer x"}, 403),
    "a long secret": (said(), {"Authorization": f"Bearer {'x' * (LONGEST_SECRET + 1)}"}, 403),
    "a secret of other letters": (said(), {"Authorization": b"Bearer " + b"\xe9" * 40}, 403),
    "another site": (said(), {**OWN, "Origin": "https://elsewhere.example"}, 403),
    "no site": (said(), {**OWN, "Origin": "null"}, 403),
    "a form of another site": (said(), {**OWN, "Sec-Fetch-Site": "cross-site"}, 403),
    "plain text": (said(), {**OWN, "Content-Type": "text/plain"}, 415),
    "too much": (said(query="x" * MOST_BYTES), OWN, 413),
    "a long query": (said(query="x" * (LONGEST_QUERY + 1)), OWN, 400),
    "lines in a query": (said(query="a\n\nevent: at\ndata: {}"), OWN, 400),
    "no text in a query": (said(query=["a"]), OWN, 400),
    "a surrogate": (json.dumps(said(query="\ud800")).encode(), OWN, 400),
    "a folder": (said(page="../admin"), OWN, 400),
    "a host": (said(page="//elsewhere.example"), OWN, 400),
    "a script": (said(page="javascript:alert(1)"), OWN, 400),
    "a file": (said(page="04_scores"), OWN, 400),
    "no page": (said(page=None), OWN, 400),
    "truth for a number": (said(number=True), OWN, 400),
    "a fraction": (said(screen=1.5), OWN, 400),
    "less than none": (said(screen=-1), OWN, 400),
    "a large screen": (said(screen=1000), OWN, 400),
    "a large number": (said(number=2**53), OWN, 400),
    "a huge number": (b'{"number": ' + b"9" * 3000 + b"}", OWN, 400),
    "infinity": (b'{"number": 1e400, "page": "scores", "query": "", "screen": 1}', OWN, 400),
    "nothing": (b"", OWN, 400),
    "a list": (b"[]", OWN, 400),
    "a deep list": (b"[" * 4000, OWN, 400),
    "bytes": (random.Random(0).randbytes(200), OWN, 400),
    "an old number": (said(number=0), OWN, 409),
}


def test_lies_are_refused_and_the_room_of_another_secret_is_not_led(port):
    ask(port, "/lead", OPENING, OWN)
    for lie, (message, headers, status) in LIES.items():
        assert ask(port, f"/lead/{ROOM}", message, headers)[0] == status, lie
    other = secrets.token_urlsafe(32)
    headers = {"Authorization": f"Bearer {other}"}
    assert ask(port, f"/lead/{ROOM}", said(), headers)[0] == 403
    assert ask(port, f"/lead/{ROOM}", None, headers, method="DELETE")[0] == 403
    assert ask(port, f"/lead/{name_room(other)[0]}", said(), headers)[0] == 404


def test_a_room_is_handed_over_by_the_code_of_the_other_device(port, room):
    name, own = room
    tablet = {"Authorization": f"Bearer {secrets.token_urlsafe(32)}"}
    ear = Ear(port, f"/follow/{name}")
    ballot = {"ballot": ear.next("ballot")}
    for nothing, status in (({}, 400), ({"ballot": "é"}, 400), ({"ballot": "0" * 32}, 403)):
        assert ask(port, f"/lead/{name}/ask", nothing, tablet)[0] == status
    code = ask(port, f"/lead/{name}/ask", ballot, tablet)[1]
    for message, headers, status in [
        (code, tablet, 403),
        (code, {}, 403),
        (code, {**own, "Origin": "https://elsewhere.example"}, 403),
        ({"code": "aaaaaa"}, own, 404),
        ({"code": "<b>"}, own, 400),
        ({"code": ["a"]}, own, 400),
        ({}, own, 400),
        (code, own, 200),
        (code, own, 403),
    ]:
        assert ask(port, f"/lead/{name}/heir", message, headers)[0] == status
    assert ask(port, f"/lead/{name}", GOOD, own)[0] == 403
    assert ask(port, "/lead", {**OPENING, "room": name}, tablet)[1]["room"] == name
    assert ask(port, f"/lead/{name}", GOOD, tablet) == (200, {})
    assert ask(port, f"/lead/{name}", None, tablet, method="DELETE") == (200, {})
    assert ask(port, "/lead", {**OPENING, "room": name}, tablet)[0] == 404, "not its own name"


FORGED = 1000


def test_forged_messages_are_not_obeyed_and_cost_nothing(port, room):
    name, own = room
    ear, choose = Ear(port, f"/follow/{name}"), random.Random(1)
    lies = [lie for lie in LIES if lie not in ("too much", "an old number")]  # one is hung up on
    process, sizes = psutil.Process(), []
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    for count in range(FORGED):
        message, headers, _ = LIES[choose.choice(lies)]
        stranger = base64.b32encode(choose.randbytes(10)).decode().lower()
        places = [name, stranger, f"{name}/heir", f"{stranger}/ask"]
        path = choose.choice([*(f"/lead/{one}" for one in places), f"/vote/{stranger}/q{count}"])
        assert 400 <= ask(port, path, message, headers, connection=connection)[0] < 500
        if count % (FORGED // 10) == 0:
            sizes.append(process.memory_info().rss / 2**20)
    assert sizes[-1] - sizes[1] < 8, f"memory in MiB: {sizes}"
    assert ask(port, f"/lead/{name}", GOOD, own)[0] == 200
    assert json.loads(ear.next("at")) == GOOD, "the first that is heard is the first honest one"


def test_what_has_no_end_is_not_read_to_its_end(port):
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as talk:
        head = f"POST /lead/{ROOM} HTTP/1.1\r\nHost: localhost\r\n"
        head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        talk.sendall(head.encode())
        sent = 0
        while not select.select([talk], [], [], 0)[0]:
            talk.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
            sent += 65536
            assert sent < 50e6
        assert b" 413 " in talk.recv(100)
    assert ask(port, "/lead", OPENING, OWN)[0] == 200


def test_a_base_path_stands_before_the_routes(port):
    config.set_option("server.baseUrlPath", "/course/attention/")
    try:
        assert ask(port, "/course/attention/lead", OPENING, OWN)[0] == 200
        assert ask(port, "/lead", OPENING, OWN)[0] == 404
        assert ask(port, "/course/lead", OPENING, OWN)[0] == 404
        assert ask(port, f"/other/follow/{ROOM}", method="GET")[0] == 404
    finally:
        config.set_option("server.baseUrlPath", "")


@pytest.mark.parametrize("start", ["streamlit run app.py", "explainers.ui.server"])
def test_the_app_ends_while_streams_are_open(start, tmp_path):
    command = [sys.executable, "-m", *start.split()]
    with serve(tmp_path / "log", command, STREAMLIT_SERVER_HEADLESS="true") as server:
        assert ask(server.port, "/lead", OPENING, OWN)[0] == 200
        ears = [Ear(server.port, f"/follow/{ROOM}") for _ in range(5)]
        for ear in ears:
            ear.next("room")
        server.process.send_signal(signal.SIGTERM)
        for ear in ears:
            ear.next("bye")
        server.process.wait(PATIENCE)  # though nobody has hung up
