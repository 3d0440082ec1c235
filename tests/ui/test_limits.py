"""What one visitor may take: refused in words, counted by address, and forgotten afterwards."""

import contextlib
import subprocess
import sys
from types import SimpleNamespace
from unittest.mock import AsyncMock

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from explainers.folders import ROOT
from explainers.ui import limits
from explainers.ui.headers import HEADERS, SafeHeaders, answer_error
from explainers.ui.limits import LONGEST_LINK, Limits, Most, find_address
from tests.deploy.replicas import ask, serve_in_thread
from tests.support.waiting import wait

PROXY = {"forwarded_allow_ips": "127.0.0.1"}
HERE = {"X-Forwarded-For": "1.2.3.4"}
PAGE = {"Accept": "text/html,*/*", **HERE}


async def hold(websocket):
    await websocket.accept()
    with contextlib.suppress(Exception):
        await websocket.receive_text()


async def refuse(websocket):
    await websocket.close(1008)


def tell(request):
    return PlainTextResponse(find_address(request))


def fail(request):
    raise OSError


class Served:
    def __init__(self, server):
        self.server, self.port = server, server.config.port

    def ask(self, path, headers=None, method="GET"):
        """(status, headers, words)."""
        status, told, text = ask(self.port, path, method, headers=headers)
        return status, told, text.decode()

    def open(self, of="1.2.3.4", path="/stream"):
        told = {"X-Forwarded-For": of}
        return connect(f"ws://127.0.0.1:{self.port}{path}", additional_headers=told)


@contextlib.contextmanager
def served(most=None, **options):
    app = Starlette(
        routes=[
            *(WebSocketRoute("/refused", refuse), WebSocketRoute("/{path:path}", hold)),
            *(Route("/fail", fail), Route("/{path:path}", tell, methods=["GET", "PUT"])),
        ],
        middleware=[Middleware(SafeHeaders), Middleware(Limits, most or Most())],
        exception_handlers={Exception: answer_error},
    )
    with serve_in_thread(app, **options) as server:
        yield Served(server)


def refused(one, **options):
    """(status, words) with which a window is refused."""
    with pytest.raises(InvalidStatus) as found:
        one.open(**options)
    response = found.value.response
    assert all(response.headers[n.decode()] == v.decode() for n, v in HEADERS)
    return response.status_code, response.body.decode()


def test_windows_are_counted_by_address():
    with served(Most(sessions=3, sessions_of_address=2), **PROXY) as one:
        first, second = one.open(), one.open()
        assert refused(one) == (429, limits.MANY_HERE)
        status, headers, words = one.ask("/scores", PAGE)
        assert (status, words) == (429, limits.MANY_HERE)  # and no page that waits
        assert headers["Refresh"] == limits.AGAIN
        assert one.ask("/style.css", HERE)[0] == 200
        other = one.open(of="5.6.7.8")
        assert refused(one, of="9.9.9.9") == (503, limits.MANY)
        first.close()
        wait(lambda: one.ask("/", PAGE)[0] == 200)
        one.open().close()
        second.close()
        other.close()


def test_nothing_is_kept_of_who_has_gone():
    kept = Limits(Starlette(), Most())
    counted = kept.open["websocket"]

    async def serve():
        assert counted == {"a": 1}

    with contextlib.suppress(StopIteration):
        kept._count(counted, "a", serve).send(None)
    assert counted == {}


@pytest.mark.parametrize(
    ("trusted", "said", "address"),
    [
        ("10.0.0.1", "1.2.3.4", "127.0.0.1"),
        ("127.0.0.1", "6.6.6.6, 1.2.3.4", "1.2.3.4"),  # the first was said by the visitor
        ("127.0.0.1,10.0.0.0/8", "1.2.3.4, 10.0.0.7", "1.2.3.4"),
        ("127.0.0.1", "2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        ("127.0.0.1", "::ffff:1.2.3.4", "1.2.3.4"),
    ],
)
def test_a_proxy_is_believed_where_a_setting_names_it(monkeypatch, trusted, said, address):
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", trusted)
    with served() as one:
        assert one.ask("/", {"X-Forwarded-For": said})[2] == address


@pytest.mark.parametrize(("language", "is_english"), [("en", True), ("vi-VN,en", False)])
def test_a_link_may_have_so_many_letters(language, is_english):
    with served() as one:
        most = "?" + "x" * (LONGEST_LINK - 1)  # the path is one more
        assert one.ask(f"/{most}")[0] == 200
        status, _, words = one.ask(f"/x{most}", {"Accept-Language": language})
        assert status == 414
        assert (words == limits.TOO_LONG) == is_english


def test_files_are_counted(monkeypatch):
    kept = {"full": {"a": 1, "b": 1}, "new": {"a": 1}}
    manager = SimpleNamespace(uploaded_file_mgr=SimpleNamespace(file_storage=kept))
    monkeypatch.setattr(limits.runtime, "get_instance", lambda: manager)

    def put(one, session):
        return one.ask(f"/_stcore/upload_file/{session}/new", method="PUT")[0]

    with served(Most(files=4, files_of_session=2)) as one:
        assert [put(one, session) for session in kept] == [429, 200]
        kept["new"]["b"] = 1
        assert put(one, "third") == 429


def test_every_answer_has_the_headers():
    """Also the one to a socket that is opened, one that is refused, and to what went wrong."""
    with served() as one:
        answers = [one.ask("/")[1], one.ask("/fail")[1]]
        with one.open() as socket:
            answers.append(socket.response.headers)
        refused(one, path="/refused")
    for headers in answers:
        assert all(headers[n.decode()] == v.decode() for n, v in HEADERS)


def test_a_server_opens_the_files_that_a_lecture_hall_needs():
    code = "import resource, app; print(*resource.getrlimit(resource.RLIMIT_NOFILE))"
    shell = f"ulimit -Sn 256; ulimit -Hn 5000; exec {sys.executable} -c '{code}'"
    told = subprocess.run(["bash", "-c", shell], cwd=ROOT, capture_output=True, text=True)
    assert told.stdout.split() == ["5000", "5000"], told.stderr


def test_a_websocket_is_read_at_a_pace(monkeypatch):
    """None of it is lost, and what says much counts more."""
    sleep = AsyncMock()
    monkeypatch.setattr(limits.asyncio, "sleep", sleep)
    monkeypatch.setattr(limits, "MESSAGES_EACH_SECOND", 10)
    monkeypatch.setattr(limits, "MESSAGES_AT_ONCE", 3)
    monkeypatch.setattr("explainers.ui.turns.time.monotonic", lambda: 100.0)
    said = [{"bytes": b""}] * 4 + [{"text": "x" * limits.BYTES_OF_MESSAGE}]

    async def read():
        heard = limits.read_at_a_pace(AsyncMock(side_effect=said))
        return [await heard() for _message in said]

    with pytest.raises(StopIteration) as ended:
        read().send(None)
    assert ended.value.value == said
    assert [round(call.args[0], 3) for call in sleep.mock_calls] == [0.1, 0.3]
