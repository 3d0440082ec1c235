"""The routes of a lecture: what a lecturer may say, and what forged messages do: nothing."""

import base64
import contextlib
import http.client
import json
import random
import secrets
import select
import signal
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
from starlette.applications import Starlette

from explainers.ui.follow.board import Limits, Memory
from explainers.ui.follow.checked_request import LONGEST_SECRET, MOST_BYTES, name_room
from explainers.ui.follow.redis_board import Redis
from explainers.ui.follow.routes import LONGEST_QUERY, MOST_DRAWN, Following
from tests.deploy import replicas
from tests.deploy.replicas import serve, serve_in_thread
from tests.support.waiting import PATIENCE, wait


def bear(secret):
    return {"Authorization": f"Bearer {secret}"}


SECRET = secrets.token_urlsafe(32)
ROOM, OWN = name_room(SECRET)[0], bear(SECRET)
OPENING = {"address": "http://localhost/"}
GOOD = {"number": 1, "page": "scores", "query": "d_k=8&text=a+cat"}
GOOD |= {"screen": 2, "step": 0, "round": 0}


@contextlib.contextmanager
def served(board):
    following = Following(board)
    app = Starlette(routes=following.list_routes(), lifespan=following.lifespan)
    with serve_in_thread(app) as server:
        yield server.config.port


@pytest.fixture(scope="module")
def port():
    with served(Memory(Limits(messages=100_000))) as running:
        yield running


def ask(port, path, said=None, headers=None, method="POST"):
    """(status, answer) of a message."""
    body = said if isinstance(said, bytes | None) else json.dumps(said).encode()
    headers = {"Content-Type": "application/json", **(headers or {})}
    status, _, text = replicas.ask(port, path, method, body, headers)
    return status, json.loads(text) if text[:1] == b"{" else text


class Ear:
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


@pytest.fixture
def room(port):
    """A room of its own: its name, and the headers of who leads it."""
    secret = secrets.token_urlsafe(32)
    (name, _), own = name_room(secret), bear(secret)
    assert ask(port, "/lead", OPENING, own)[1]["room"] == name
    return name, own


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
    votes = ("which.1", ballot, 400), ("which-1", "0" * 32, 403), ("which-1", ballot, 200)
    for question, by, status in votes:
        assert ask(port, f"/vote/{name}/{question}", {"ballot": by, "option": 1})[0] == status
    assert json.loads(watch.next("count"))["votes"] == {"which-1": [0, 1, 0, 0, 0, 0]}

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
    def look(server):
        return ask(server, "/health/follow", method="GET")

    assert look(port) == (200, {"following": True})
    with served(Redis(redis_server.url)) as other:
        wait(lambda: look(other)[0] == 200)
        redis_server.stop()
        wait(lambda: look(other) == (503, {"following": False}))
        redis_server.start()
        wait(lambda: look(other)[0] == 200)


def test_who_was_here_has_the_seat_again_and_an_address_no_more_votes_than_streams(port, room):
    """A browser that connects again by itself has told it in a header, else in the query."""
    name, _ = room
    watch, streams = Ear(port, f"/follow/{name}?lecturer"), [Ear(port, f"/follow/{name}")]
    ballot = streams[0].next("ballot")
    assert ask(port, f"/vote/{name}/q", {"ballot": ballot, "option": 0})[0] == 200
    for query, headers in (("", {"Last-Event-ID": ballot}), (f"?ballot={ballot}", {})):
        streams.append(Ear(port, f"/follow/{name}{query}", headers))
        assert streams[-1].next("ballot") == ballot
    for stream in streams:
        stream.connection.close()
    while json.loads(watch.next("count"))["followers"]:
        pass
    forgetful = Ear(port, f"/follow/{name}")
    assert (other := forgetful.next("ballot")) != ballot
    assert ask(port, f"/vote/{name}/q", {"ballot": other, "option": 1})[0] == 200
    while (votes := json.loads(watch.next("count"))["votes"]["q"])[1] == 0:
        pass
    assert votes[0] == 0, "who has forgotten its seat votes in the place of it"
    for forged in ("0" * 32, "a\u00e9", "x" * 2000, ballot[:-1]):
        other = Ear(port, f"/follow/{name}", {"Last-Event-ID": forged.encode()})
        assert other.next("ballot") not in (ballot, forged)


def test_another_method_is_refused(port):
    room = "a" * 16
    asked = ["POST /follow/x", "HEAD /follow/x", "POST /health/follow", "GET /lead"]
    asked += [f"PUT /lead/{room}", f"GET /lead/{room}/ask", f"DELETE /vote/{room}/q"]
    for one in asked:
        method, path = one.split()
        assert ask(port, path, method=method)[0] == 405, one


def test_a_flood_of_codes_to_draw_is_refused(port):
    def come(number):
        return ask(port, "/lead", {"address": f"http://localhost/{number}{'x' * 250}"}, OWN)[0]

    with ThreadPoolExecutor(4 * MOST_DRAWN) as pool:
        assert {*pool.map(come, range(6 * MOST_DRAWN))} == {200, 429}
    assert ask(port, "/lead", OPENING, OWN)[0] == 200


def said(**more):
    return {**GOOD, "number": 99, **more}


LIES = {
    "no secret": (said(), {}, 403),
    "another secret": (said(), bear("x" * 43), 403),
    "the room's name": (said(), bear(ROOM * 3), 403),
    "a short secret": (said(), bear("x"), 403),
    "a long secret": (said(), bear("x" * (LONGEST_SECRET + 1)), 403),
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
    assert ask(port, f"/lead/{ROOM}", said(), bear(other))[0] == 403
    assert ask(port, f"/lead/{ROOM}", None, bear(other), method="DELETE")[0] == 403
    assert ask(port, f"/lead/{name_room(other)[0]}", said(), bear(other))[0] == 404


def test_a_room_is_handed_over_by_the_code_of_the_other_device(port, room):
    name, own = room
    tablet = bear(secrets.token_urlsafe(32))
    ear = Ear(port, f"/follow/{name}")
    ballot = {"ballot": ear.next("ballot")}
    for nothing, status in (({}, 400), ({"ballot": "é"}, 400), ({"ballot": "0" * 32}, 403)):
        assert ask(port, f"/lead/{name}/ask", nothing, tablet)[0] == status
    code = ask(port, f"/lead/{name}/ask", ballot, tablet)[1]
    elsewhere = {**own, "Origin": "https://elsewhere.example"}
    for message, headers, status in [
        *[(code, tablet, 403), (code, {}, 403), (code, elsewhere, 403)],
        *[({"code": "aaaaaa"}, own, 404), ({"code": "<b>"}, own, 400), ({"code": ["a"]}, own, 400)],
        *[({}, own, 400), (code, own, 200), (code, own, 403)],
    ]:
        assert ask(port, f"/lead/{name}/heir", message, headers)[0] == status
    assert ask(port, f"/lead/{name}", GOOD, own)[0] == 403
    assert ask(port, "/lead", {**OPENING, "room": name}, tablet)[1]["room"] == name
    assert ask(port, f"/lead/{name}", GOOD, tablet) == (200, {})
    assert ask(port, f"/lead/{name}", None, tablet, method="DELETE") == (200, {})
    assert ask(port, "/lead", {**OPENING, "room": name}, tablet)[0] == 404, "not its own name"


def test_forged_messages_are_not_obeyed_and_cost_nothing(port, room):
    name, own = room
    ear, choose = Ear(port, f"/follow/{name}"), random.Random(1)
    lies = [lie for lie in LIES if lie not in ("too much", "an old number")]  # one is hung up on
    process, sizes = psutil.Process(), []
    for count in range(1000):
        message, headers, _ = LIES[choose.choice(lies)]
        stranger = base64.b32encode(choose.randbytes(10)).decode().lower()
        places = [name, stranger, f"{name}/heir", f"{stranger}/ask"]
        path = choose.choice([*(f"/lead/{one}" for one in places), f"/vote/{stranger}/q{count}"])
        assert 400 <= ask(port, path, message, headers)[0] < 500
        if count % 100 == 0:
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
