"""A lecture that is followed through a proxy, over several servers, and when one goes away."""

import os
import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from benchmarks.browser import wait_until_healthy
from tests.browser import test_browser_follow as audience
from tests.browser.test_browser_follow import code, comes_to_lead, leaf, turn
from tests.deploy.replicas import NGINX, free_port
from tests.follow import boards
from tests.support.browser_fixtures import ROOT

people, hall, browsers = audience.people, audience.hall, audience.browsers
redis_server = boards.redis_server


def serve(port, base="", **environment):
    """The app in a process of its own."""
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"]
    environment = {**os.environ, **environment}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    wait_until_healthy(f"http://localhost:{port}{base}")
    return process


PREFIX, BASE = "/course/attn", "/inner"
STRIPPING = """
daemon off; pid nginx.pid; error_log stderr crit;
events {{ worker_connections 256; }}
http {{
  access_log off; client_body_temp_path body; proxy_temp_path proxied;
  fastcgi_temp_path unused; uwsgi_temp_path unused; scgi_temp_path unused;
  map $http_upgrade $kind {{ default upgrade; "" close; }}
  server {{
    listen 127.0.0.1:{proxy};
    location {prefix}/ {{
      proxy_pass http://127.0.0.1:{port}/; proxy_http_version 1.1; proxy_buffering off;
      proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $kind;
      proxy_set_header Host $http_host;
    }}
  }}
}}
"""
"""A proxy that takes away what stands before the paths: the app never hears of it."""


@pytest.fixture(params=["", BASE], ids=["stripped", "stripped, and a base"])
def address_behind(request, tmp_path):
    """Where browsers find an app whose proxy strips a prefix; it may have a base besides."""
    if not NGINX:
        pytest.skip("There is no nginx here, and it could not be installed.")
    port, proxy, base = free_port(), free_port(), request.param
    (tmp_path / "conf").write_text(STRIPPING.format(proxy=proxy, prefix=PREFIX, port=port))
    app = serve(port, base, STREAMLIT_SERVER_BASE_URL_PATH=base)
    command = [NGINX, "-p", str(tmp_path), "-c", str(tmp_path / "conf")]
    command += ["-g", "user root;"] if os.geteuid() == 0 else []
    nginx = subprocess.Popen(command)
    wait_until_healthy(address := f"http://127.0.0.1:{proxy}{PREFIX}{base}")
    yield address
    for process in (nginx, app):
        process.terminate()
        process.wait()


@pytest.mark.nightly("starts a server; by day tests/follow asks for routes below a base")
def test_an_audience_follows_behind_a_proxy_that_strips_a_prefix(address_behind, hall):
    lecturer = comes_to_lead(hall, address_behind)
    shown = lecturer.page.locator(".follow-panel strong").text_content()
    assert shown.startswith(f"{address_behind.removeprefix('http://')}/?follow=")
    phone = hall("phone", address_behind).comes(code(lecturer, 6))
    phone.sees_what(lecturer)
    turn(lecturer, [phone])
    leaf(lecturer, [phone])
    assert phone.page.url.startswith(f"{address_behind}/")


@pytest.fixture
def replicas(redis_server):
    """Two replicas of the app with one Redis server; yields their addresses."""
    redis_server.empty()
    ports = free_port(), free_port()
    processes = [serve(port, ATTENTION_BOARD=redis_server.url) for port in ports]
    yield [f"http://localhost:{port}" for port in ports]
    for process in processes:
        process.terminate()
        process.wait()


@pytest.mark.nightly("starts two servers; by day tests/follow tries boards that lose Redis")
def test_replicas_share_a_lecture_and_go_on_without_redis(replicas, redis_server, hall, people):
    lecturer = comes_to_lead(hall, replicas[0])
    phone, button = hall("phone", replicas[1]), lecturer.page.locator(".follow-lead")
    phone.comes(code(lecturer, 6)).sees_what(lecturer)
    turn(lecturer, [phone])
    expect(button).to_have_text("◉ 1")

    redis_server.stop()
    expect(phone.bar).to_contain_text("cannot be reached")
    expect(button).to_have_attribute("title", re.compile("does not hear you"))
    expect(lecturer.page.locator(".follow-panel > p")).to_contain_text("does not hear you")
    with lecturer.page.expect_response("**/lead/*") as answer:
        turn(lecturer, [])
    assert answer.value.status == 503
    expect(button).to_have_attribute("title", re.compile("does not hear you"))
    expect(phone.bar).to_be_visible()
    assert phone.state() != lecturer.state()
    leaf(lecturer, [])
    redis_server.start()  # empty: nobody else knows where the lecturer is
    phone.sees_what(lecturer)
    expect(phone.bar).to_contain_text("Following")
    expect(button).to_have_text("◉ 1")
    turn(lecturer, [phone])
    for person in people:
        person.errors.clear()  # browsers complain of what is away
