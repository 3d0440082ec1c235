"""A machine that lacks something: the server serves without it, or says in a line what is wrong."""

import errno
import http.client
import os
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from benchmarks.browser import ROOT
from explainers.ui import server
from explainers.ui.limits import MANY_HERE
from tests.deploy.replicas import SERVER, free_port, serve
from tests.support.forged import Forger
from tests.support.waiting import wait
from tests.ui.test_hosting import UPGRADE
from tests.ui.test_limits import served

PING_EVERY_SECOND = """
from streamlit import config
from explainers.ui.server import serve
config.set_option("server.websocketPingInterval", 1)
serve()
"""
NOBODY = ["unshare", "--mount", "--map-user=12345", "--keep-caps"]
BARE = """
mount -o remount,ro,bind "$(findmnt --noheadings --output TARGET --target .)" || exit
touch here 2> /dev/null && exit
exec "$@"
"""
"""What a hardened container is: nothing can be written where the app lies, not even here."""
HALF = b"GET / HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize("port", ["http", "-1", "0", "65536", "８５０１"])
def test_a_port_that_is_none_is_told(port, monkeypatch):
    monkeypatch.setenv("PORT", port)
    with pytest.raises(SystemExit, match=f"PORT is “{port}”, which is not the number of a port."):
        server.take_port()


def test_a_port_that_is_taken_and_a_setting_that_is_none_are_told():
    with socket.create_server(("0.0.0.0", 0)) as other:
        port = str(other.getsockname()[1])
        for setting, told in (
            ({"PORT": port}, f"Port {port}: Address already in use. Set PORT to another one."),
            ({"PORT": "", "STREAMLIT_SERVER_PORT": "http"}, "STREAMLIT_SERVER_PORT"),
        ):
            start = partial(subprocess.run, SERVER, capture_output=True, text=True, timeout=60)
            ended = start(cwd=ROOT, env={**os.environ, **setting})
            assert ended.returncode == 1
            assert "Traceback" not in ended.stderr
            assert told in ended.stderr.splitlines()[-1]


def test_ipv6_is_served_where_it_is(monkeypatch):
    """By a socket of its own: one for both would say ::ffff:1.2.3.4 of who comes from 1.2.3.4."""
    create = socket.create_server

    def lack(address, **options):
        if address[0] == "::":
            raise OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")
        return create(address, **options)

    monkeypatch.setenv("PORT", str(free_port()))
    for hosts in (["0.0.0.0", "::"], ["0.0.0.0"]):
        taken = server.take_port()
        found = [one.getsockname()[0] for one in taken]
        for one in taken:
            one.close()
        assert found == hosts
        monkeypatch.setattr(socket, "create_server", lack)


def test_the_server_speaks_before_a_proxy_hangs_up(tmp_path):
    """A websocket is pinged as often as the settings say, here every second."""
    with serve(tmp_path / "log", [sys.executable, "-c", PING_EVERY_SECOND]) as server:
        connection = http.client.HTTPConnection("localhost", server.port, timeout=10)
        connection.request("GET", "/_stcore/stream", headers=UPGRADE)
        assert connection.getresponse().status == 101
        assert connection.sock.recv(1) == b"\x89", "how the frame of a ping begins"


def test_nobody_serves_from_a_read_only_disk_without_a_home_or_a_log(monkeypatch):
    if subprocess.run([*NOBODY, "true"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("This machine gives no namespaces to try it in.")
    for name in ("HOME", "USER", "LOGNAME"):
        monkeypatch.delenv(name, raising=False)
    command = [*NOBODY, "sh", "-c", BARE, "sh", *SERVER]
    with serve(Path("/dev/full"), command) as running:
        assert len(Forger(running.address).run("cache_memory").elements) > 20


def begin(one, text=HALF, of="127.0.0.2"):
    talk = socket.create_connection(("127.0.0.1", one.port), 20, (of, 0))
    talk.sendall(text)
    return talk


def count_open(one):
    begun = list(one.server.server_state.connections)
    return next((each.opened for each in begun if hasattr(each, "opened")), None)


def test_half_requests_of_one_address_leave_room_for_the_others(monkeypatch):
    monkeypatch.setattr(server, "allow_connections", lambda: 20)
    with served(http=server.PatientHttp) as one:
        held = [begin(one) for _ in range(20)]
        assert begin(one).recv(9999).endswith(MANY_HERE.encode())
        assert one.ask("/")[0] == 200, "another address"
        proxied = [begin(one, of="127.0.0.1") for _ in range(30)]
        assert one.ask("/")[0] == 200, "a proxy that is believed holds those of many"
        opened = count_open(one)
        assert opened == {"127.0.0.2": 20}
        for talk in [*held, *proxied]:
            talk.close()
        wait(lambda: not opened)


def test_a_websocket_is_no_longer_counted_as_a_request():
    with served(http=server.PatientHttp, forwarded_allow_ips="10.0.0.1") as one:
        kept = begin(one)
        wait(lambda: count_open(one))
        opened = count_open(one)
        with one.open():
            wait(lambda: opened == {"127.0.0.2": 1})
        kept.close()
        wait(lambda: not opened)


SAID = {
    "nothing": b"",
    "half of the headers": HALF,
    "half of a body": b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf",
    "half of another request": HALF + b"\r\n" + HALF,
}


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_nobody_is_waited_for_for_ever(said, monkeypatch):
    monkeypatch.setattr(server, "LONGEST_SILENCE", 0.1)
    with served(http=server.PatientHttp, timeout_keep_alive=99) as one:
        talk = begin(one, said)
        while talk.recv(9999):
            pass
        assert one.ask("/")[0] == 200
