"""The proxy before two replicas: what it passes on, keeps, refuses, and hides."""

import gzip
import json
import re
import secrets
import socket
import tomllib
from pathlib import Path

import pytest
import streamlit
import yaml

from benchmarks.browser import ROOT
from explainers.ui.follow.board import BEAT, Limits
from explainers.ui.follow.checked_request import name_room
from explainers.ui.headers import HEADERS
from tests.deploy.replicas import DEPLOY, NAMES, read_seat
from tests.follow.test_routes import OPENING, Ear, bear

CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
SHIPPED = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
TABLE = (DEPLOY / "replicas.conf").read_text(encoding="utf-8")
LARGEST = f"too large: a file may have {CONFIG['server']['maxUploadSize']} MB"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
FRONTEND = Path(streamlit.__file__).parent / "static"


def shipped(pattern):
    found = re.search(pattern, SHIPPED)
    assert found, pattern
    return found[1]


def read_all(talk):
    return b"".join(iter(lambda: talk.recv(65536), b""))


def open_room(proxy, seat, source="127.0.0.1", **headers):
    """Open a room on a replica, from an address; its name, or the reason why not."""
    secret = secrets.token_urlsafe(32)
    headers |= {"Content_Type": "application/json", "Cookie": f"replica={seat}", **bear(secret)}
    answer = proxy.ask("/lead", "POST", json.dumps(OPENING), source, **headers)
    said = json.loads(answer.text)
    assert said.get("room", name_room(secret)[0]) == name_room(secret)[0]
    return said.get("room") or said["error"]


def test_one_address_does_not_take_the_server_from_the_others(lonely_proxy):
    """Also where no replica answers: then each request costs the proxy alone."""
    burst = int(shipped(r"burst=(\d+)"))
    requests = "GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 900  # nginx hangs up after a thousand
    heard = b""
    for _ in range(burst // 900 + 1):
        here = ("127.0.0.2", 0)
        with socket.create_connection(("127.0.0.1", lonely_proxy.port), 20, here) as talk:
            talk.sendall(f"{requests}GET / HTTP/1.0\r\n\r\n".encode())
            heard += read_all(talk)
    assert heard.count(b"HTTP/1.1 502") >= burst
    assert heard.count(b"HTTP/1.1 429") >= 100
    assert lonely_proxy.ask("/").status == 502, "another address is served as well as can be"


@pytest.mark.parametrize("name", NAMES)
def test_a_visitor_stays_on_the_replica_that_the_cookie_names(proxy, name):
    """Each replica has a board of its own here, and another one's rooms are unknown to it."""
    room = open_room(proxy, name)
    (other,) = {*NAMES} - {name}
    for seat, kind in ((name, "room"), (other, "refused")):  # the stream stays open
        assert Ear(proxy.port, f"/follow/{room}", {"Cookie": f"replica={seat}"}).next(kind)
    assert read_seat(proxy.ask("/_stcore/health", Cookie=f"replica={name}").headers) == ""


def test_newcomers_are_shared_out_and_get_a_cookie(proxy):
    answers = [proxy.ask("/_stcore/health") for _ in range(40)]
    seats = [read_seat(answer.headers) for answer in answers]
    assert min(seats.count(name) for name in NAMES) >= 5
    assert all("replica=" in answer.headers.get_all("Set-Cookie")[-1] for answer in answers)
    assert "HttpOnly" in answers[0].headers.get_all("Set-Cookie")[-1]
    for forged in ("elsewhere.example", "app-3", "app-1 app-1"):
        assert read_seat(proxy.ask("/_stcore/health", Cookie=f"replica={forged}").headers) in NAMES


def test_what_streamlit_serves_is_compressed_and_kept(proxy):
    file = max(FRONTEND.glob("static/js/index.*.js"), key=lambda path: path.stat().st_size)
    path = f"/static/js/{file.name}"
    packed = proxy.ask(path, Accept_Encoding="gzip")
    assert packed.status == 200, packed.text
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.text) == file.read_bytes()
    assert len(packed.text) < file.stat().st_size / 2.5
    assert proxy.ask(path).text == file.read_bytes()
    kept = [one for one in (proxy.folder / "cache").rglob("*") if one.is_file()]
    assert any(file.read_bytes() in one.read_bytes() for one in kept)
    page = proxy.ask("/scores", Accept_Encoding="gzip")
    assert b'<div id="root">' in gzip.decompress(page.text)
    assert "frame-ancestors" in page.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("said", "status", "told"),
    [
        ("GET /scores HTTP/1.0", 502, ""),
        ("GET /_stcore/metrics HTTP/1.0", 404, ""),
        ("GET /a/path/_stcore/script-health-check HTTP/1.0", 404, ""),
        ("POST /lead HTTP/1.0\r\nContent-Length: 3000000", 413, LARGEST),
        (f"GET /{'x' * 40_000} HTTP/1.0", 414, ""),
        ("nonsense", 400, ""),
    ],
    ids=lambda one: str(one)[:40],
)
def test_the_proxy_itself_answers_in_words_and_with_the_headers(lonely_proxy, said, status, told):
    with socket.create_connection(("127.0.0.1", lonely_proxy.port), 20) as talk:
        talk.sendall(f"{said}\r\n\r\n".encode())
        head, _, words = read_all(talk).decode().partition("\r\n\r\n")
    assert told in words
    assert f" {status} " in head.splitlines()[0]
    assert "html" not in words
    assert "\r\nContent-Security-Policy: default-src 'none';" in head
    for name, value in HEADERS:
        if name != b"content-security-policy":
            assert head.lower().count(f"\r\n{name.decode()}: {value.decode()}\r\n") == 1
    assert ("\r\nRefresh: 10" in head) == (status == 502)


def test_a_frame_of_another_site_keeps_its_replica(proxy):
    """Browsers send a cookie from there only if it says so, and keep that only over TLS."""
    cookie = proxy.ask("/scores", X_Forwarded_Proto="https").headers.get_all("Set-Cookie")[-1]
    assert cookie.endswith("SameSite=None; Secure; Partitioned")
    assert proxy.ask("/scores").headers.get_all("Set-Cookie")[-1].endswith("SameSite=Lax")


def test_an_address_is_what_the_proxy_sees(proxy):
    """Else whoever invents addresses could take all rooms, and all lecturers would share one."""
    for n in range(Limits().rooms_of_address + 1):
        told = open_room(proxy, "app-2", "127.0.0.3", X_Forwarded_For=f"192.0.2.{n}")
    assert told == "many rooms here"


def test_the_proxy_waits_as_long_and_takes_as_much_as_the_app():
    ping = CONFIG["server"]["websocketPingInterval"]
    assert 60 * int(shipped(r"proxy_read_timeout (\d+)m;")) > 2 * max(BEAT, ping)
    assert ping < 30, "some proxies wait no longer"
    assert int(shipped(r"client_max_body_size (\d+)m;")) > CONFIG["server"]["maxUploadSize"]


def test_the_parts_fit_together():
    services = COMPOSE["services"]
    for name in NAMES:
        assert TABLE.count(f"server {name}:8501 resolve;") == 1
        assert services[name]["environment"]["ATTENTION_BOARD"] == "redis://board:6379"
        assert services[name]["image"] == services[NAMES[0]]["image"]
    assert {*services} == {*NAMES, "proxy", "board"}
    assert services["proxy"]["ports"] == [f"8501:{shipped('listen (.*);')}"]
    for volume in services["proxy"]["volumes"]:
        here, there, how = volume.split(":")
        assert (DEPLOY / here).is_file()
        assert (there, how) == (f"/etc/nginx/{(DEPLOY / here).name}", "ro")
    for service in services.values():
        assert service["read_only"], "nothing is written but to /tmp"
        assert service["mem_limit"]
    context = DEPLOY / COMPOSE["x-app"]["build"]["context"]
    assert context.resolve() == ROOT, "where the Dockerfile is"
