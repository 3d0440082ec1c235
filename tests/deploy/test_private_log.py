"""Nothing that a visitor says stands in the log, and nothing that he does fills it."""

import contextlib
import http.client
import inspect
import json
import logging
import socket
import sys
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from explainers.ui import untrusted_text
from explainers.ui.controls.controls import CONFIG, CONTROLS_BY_KEY
from explainers.ui.untrusted_text import LINES_OF_PLACE, CleanLog
from tests.deploy.replicas import SERVER, serve
from tests.support.forged import Forger
from tests.support.opening import PAGES
from tests.ui.test_odd_values import pictures

SECRET = "canary"
FORGED = f"{SECRET}\n2026-01-01 00:00:00.000 ERROR the disk is full"
COMMANDS = {
    "container": SERVER,
    "laptop": [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"],
}
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


LAPTOP = pytest.param("laptop", marks=pytest.mark.nightly("the same log, begun another way"))


@pytest.fixture(scope="module", params=["container", LAPTOP])
def served(request, tmp_path_factory):
    log = tmp_path_factory.mktemp("private") / "log"
    with serve(log, COMMANDS[request.param]) as server:
        yield server.address, log


def is_private(log: Path) -> bool:
    told = log.read_text()
    assert len(told.splitlines()) < LINES
    return SECRET not in told and "disk is full" not in told


def ask(address, method, path, body=b"", **headers):
    where = urlsplit(address)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=60)
    with contextlib.suppress(http.client.HTTPException, ConnectionError):
        connection.request(method, path, body, headers)
        connection.getresponse().read()
    connection.close()


@pytest.mark.rotating(4)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_of_links(served, page):
    address, log = served
    query = urlencode({key: FORGED for key in CONTROLS_BY_KEY if key not in ("lecture", "tour")})
    place = page.stem.partition("_")[2]
    forger = Forger(address)
    forger.run("" if place == "start" else place, query)
    forger.run("" if place == "start" else place, f"text={FORGED}&lecture=true")
    forger.close()
    Forger(address).run(SECRET)
    assert is_private(log)


def test_of_widgets(served):
    """A config.json is read by transformers, which says what it found there."""
    address, log = served
    forger = Forger(address)
    drawn = forger.run("cache_memory", OWN_CONFIG)
    fields = [one.id for kind in ("text_area", "text_input") for one in drawn.of_kind(kind)]
    assert any("pasted config" in name for name in fields)
    for text in (json.dumps(PASTED), f"{SECRET}/{SECRET}", FORGED, f"https://hub.co/{SECRET}"):
        forger.run("cache_memory", OWN_CONFIG, {name: {"string_value": text} for name in fields})
    drawn = forger.run("inspector", "")
    fields = [one.id for kind in ("text_area", "text_input") for one in drawn.of_kind(kind)]
    assert fields
    forger.run("inspector", "", {name: {"string_value": FORGED} for name in fields})
    values = {"json_value": FORGED, "string_value": FORGED, "bytes_value": FORGED.encode()}
    for field in values:
        forger.run(
            "inspector", "", {name: {field: values[field]} for name in (SECRET, *drawn.widgets)}
        )
    assert is_private(log)


def test_of_messages_that_are_none(served):
    address, log = served
    odd = BackMsg()
    odd.rerun_script.fragment_id = odd.rerun_script.page_script_hash = FORGED
    files = BackMsg()
    files.file_urls_request.request_id = files.file_urls_request.session_id = FORGED
    files.backend_operation_request.session_id = FORGED
    for _again in range(30):
        for frame in (b"\xff" + FORGED.encode(), FORGED):
            forger = Forger(address)
            with pytest.raises(ConnectionClosed):
                forger.send(frame)
        forger = Forger(address)
        for message in (odd, files):
            forger.socket.send(message.SerializeToString())
        forger.run("masks")
        forger.close()
    assert is_private(log)


def test_of_requests(served):
    address, log = served
    headers = {"Cookie": f"replica={SECRET}", "User-Agent": SECRET, "X-Forwarded-For": SECRET}
    for route in ROUTES:
        path = "/" + route.format(*[quote(FORGED)] * 2)
        for method in ("GET", "POST", "PUT", "DELETE"):
            ask(address, method, path, json.dumps({SECRET: FORGED}).encode(), **headers)
    ask(address, "PUT", f"/_stcore/upload_file/{SECRET}/{SECRET}", FORGED.encode(), **headers)
    for name in ("Host", "Origin", "Accept-Language", "Content-Type"):
        ask(address, "GET", f"/?text={SECRET}", **{name: SECRET})
        with contextlib.suppress(InvalidHandshake, ConnectionError):
            Forger(address, additional_headers={name: f"http://{SECRET}"}).close()
    where = urlsplit(address)
    with socket.create_connection((where.hostname, where.port)) as raw:
        raw.sendall(f"{SECRET} / {SECRET}\r\n\r\n".encode())
        raw.recv(1000)
    assert is_private(log)


def test_after_a_burst_others_go_on_and_the_newest_of_it_counts(served):
    address, log = served
    bursting, messages = Forger(address), 400
    seed = next(name for name in bursting.run("scores").widgets if name.endswith("-seed"))
    message = BackMsg()
    message.rerun_script.page_name = "scores"
    state = message.rerun_script.widget_states.widgets.add(id=seed)
    for count in range(messages):
        state.double_value = count
        bursting.socket.send(message.SerializeToString())
    expected = pictures(Forger(address).run("scores", f"seed={messages - 1}"))
    drawn = list[str]()
    while drawn[-len(expected) :] != expected:
        drawn += pictures(bursting.read())  # of runs that were broken off as well
    assert is_private(log)


def test_a_line_keeps_what_stands_in_the_code(caplog, monkeypatch):
    # Another test may have imported the app, whose log is clean already.
    monkeypatch.setattr(logging.Logger, "handle", inspect.unwrap(logging.Logger.handle))
    log, logger, values = CleanLog(), logging.getLogger("library"), (SECRET, 7)
    told = []

    class Cleaned(logging.Handler):
        def emit(self, record):
            if log.clean(record):
                told.append(record.getMessage())

    logger.addHandler(Cleaned())
    caplog.set_level(logging.INFO, "library")
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
    place, *_rest = Path(__file__).parts[::-1]
    assert told[0] == "WARNING library: no room for … after 7"
    assert told[1].startswith(f"WARNING library: see {place}:")
    assert told[2] == "two lines of %(kind)s"
    assert told[3].startswith(f"ERROR library: failed [ValueError < {place}:")
    more = 19 - LINES_OF_PLACE
    assert told[4:] == [*["again"] * LINES_OF_PLACE, f"again ({more} more like it)"]
