"""Nothing that a visitor says stands in the log, and nothing that he does fills it."""

import contextlib
import http.client
import inspect
import itertools
import json
import logging
import socket
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from explainers.ui import untrusted_text
from explainers.ui.controls.controls import CONFIG, CONTROLS_BY_KEY
from explainers.ui.untrusted_text import LINES_OF_PLACE, CleanLog
from tests.deploy.replicas import ask, serve
from tests.support.forged import Forger
from tests.support.opening import PAGES

SECRET = "canary"
FORGED = f"{SECRET}\n2026-01-01 00:00:00.000 ERROR the disk is full"
PASTED = {
    "model_type": "llama",
    "architectures": [FORGED],
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "layer_types": [FORGED, FORGED],
    "rope_scaling": {"rope_type": FORGED, "factor": FORGED},
    "dtype": FORGED,
    FORGED: FORGED,
}
ROUTES = ("follow/{}", "lead/{}", "lead/{}/ask", "vote/{}/{}", "ahead/memory?model={}", "{}")
OWN_CONFIG = f"model={CONFIG}"
LINES = 120
"""Of all that is said in these tests: each place of the code says so many and no more."""


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with serve(tmp_path_factory.mktemp("private") / "log") as server:
        yield server


@pytest.fixture
def served(running):
    """A server whose log is private whatever a test has said to it, and short."""
    yield running
    told = running.log.read_text()
    assert len(told.splitlines()) < LINES
    assert SECRET not in told
    assert "disk is full" not in told


@pytest.mark.rotating(4)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_of_links(served, page):
    query = urlencode({key: FORGED for key in CONTROLS_BY_KEY if key not in ("lecture", "tour")})
    place, forger = page.stem.partition("_")[2], Forger(served.address)
    for link in (query, f"text={FORGED}&lecture=true"):
        forger.run("" if place == "start" else place, link)
    forger.close()
    Forger(served.address).run(SECRET)


def test_of_widgets(served):
    """A config.json is read by transformers, which says what it found there."""
    forger, of_text = Forger(served.address), ("text_area", "text_input")
    drawn = forger.run("cache_memory", OWN_CONFIG)
    fields = [one for one, kind in drawn.widgets.items() if kind in of_text]
    assert any("pasted config" in name for name in fields)
    for text in (json.dumps(PASTED), f"{SECRET}/{SECRET}", FORGED, f"https://hub.co/{SECRET}"):
        forger.run("cache_memory", OWN_CONFIG, {one: {"string_value": text} for one in fields})
    drawn = forger.run("inspector")
    fields = [one for one, kind in drawn.widgets.items() if kind in of_text]
    assert fields
    forger.run("inspector", values={one: {"string_value": FORGED} for one in fields})
    odd = {"json_value": FORGED, "string_value": FORGED, "bytes_value": FORGED.encode()}
    for field, value in odd.items():
        forger.run("inspector", values={one: {field: value} for one in (SECRET, *drawn.widgets)})


def test_of_messages_that_are_none(served):
    odd, files = BackMsg(), BackMsg()
    odd.rerun_script.fragment_id = odd.rerun_script.page_script_hash = FORGED
    files.file_urls_request.request_id = files.file_urls_request.session_id = FORGED
    files.backend_operation_request.session_id = FORGED
    for _again in range(30):
        for frame in (b"\xff" + FORGED.encode(), FORGED):
            with pytest.raises(ConnectionClosed):
                Forger(served.address).send(frame)
        forger = Forger(served.address)
        for message in (odd, files):
            forger.socket.send(message.SerializeToString())
        forger.run("masks")
        forger.close()


def test_of_requests(served):
    body = json.dumps({SECRET: FORGED}).encode()
    headers = {"Cookie": f"replica={SECRET}", "User-Agent": SECRET, "X-Forwarded-For": SECRET}
    methods, routes = ("GET", "POST", "PUT", "DELETE"), [*ROUTES, "_stcore/upload_file/{}/{}"]
    for route, method in itertools.product(routes, methods):
        path = "/" + route.format(*[quote(FORGED)] * 2)
        with contextlib.suppress(http.client.HTTPException, ConnectionError):
            ask(served.port, path, method, body, headers)
    for name in ("Host", "Origin", "Accept-Language", "Content-Type"):
        ask(served.port, f"/?text={SECRET}", headers={name: SECRET})
        with contextlib.suppress(InvalidHandshake, ConnectionError):
            Forger(served.address, additional_headers={name: f"http://{SECRET}"}).close()
    with socket.create_connection(("localhost", served.port)) as raw:
        raw.sendall(f"{SECRET} / {SECRET}\r\n\r\n".encode())
        raw.recv(1000)


def test_after_a_burst_others_go_on_and_the_newest_of_it_counts(served):
    bursting, messages = Forger(served.address), 400
    seed = next(name for name in bursting.run("scores").widgets if name.endswith("-seed"))
    message = BackMsg()
    message.rerun_script.page_name = "scores"
    state = message.rerun_script.widget_states.widgets.add(id=seed)
    for count in range(messages):
        state.double_value = count
        bursting.socket.send(message.SerializeToString())
    expected = Forger(served.address).run("scores", f"seed={messages - 1}").pictures
    drawn = list[str]()
    while drawn[-len(expected) :] != expected:
        drawn += bursting.read().pictures  # of runs that were broken off as well


def test_a_line_keeps_what_stands_in_the_code(caplog, monkeypatch):
    # Another test may have imported the app, whose log is clean already.
    monkeypatch.setattr(logging.Logger, "handle", inspect.unwrap(logging.Logger.handle))
    log, logger, values = CleanLog(), logging.getLogger("library"), (SECRET, 7)
    caplog.set_level(logging.INFO, "library")
    monkeypatch.setattr(caplog.handler, "filters", [log.clean])
    logger.warning("no room for %s after %d", *values)
    logger.warning(f"no {SECRET}")
    logger.info("two\nlines of %(kind)s", {"kind": SECRET})
    try:
        raise ValueError(FORGED)
    except ValueError:
        logger.exception("failed")
    for count in range(20):
        if count == 19:
            monkeypatch.setattr(untrusted_text, "WHILE", -1.0)
        logger.info("again")
    place, told = Path(__file__).name, caplog.messages
    assert told[0] == "WARNING library: no room for … after 7"
    assert told[1].startswith(f"WARNING library: see {place}:")
    assert told[2] == "two lines of %(kind)s"
    assert told[3].startswith(f"ERROR library: failed [ValueError < {place}:")
    more = f"again ({19 - LINES_OF_PLACE} more like it)"
    assert told[4:] == [*["again"] * LINES_OF_PLACE, more]
