"""One replica is killed, or each is started again: everybody sees the same picture soon after."""

import signal
import socket

import pytest

from tests.deploy.replicas import NAMES, read_seat
from tests.support.forged import Forger

WAITS = pytest.mark.nightly("starts two replicas that have imported everything, and kills them")
ENDS = signal.SIGKILL, signal.SIGTERM
PLACES = [
    ("scores", "d_k=3"),
    ("masks", "mask=window"),
    ("tokens", ""),
    ("many_heads", "heads=3"),
    ("kv_cache", "text=a+private+sentence"),
]


@WAITS
def test_a_replica_that_ends_keeps_nobody_away(warm_proxy):
    """The first one is killed, the second one is asked to end; each is started again."""
    drawn = [Forger(warm_proxy.address).run(*place).pictures for place in PLACES]
    for (name, other), how in zip((NAMES, NAMES[::-1]), ENDS, strict=True):
        seat = {"Cookie": f"replica={name}"}
        replica = warm_proxy.replicas[name]
        replica.stop(how)
        answer = warm_proxy.ask("/scores?text=a+private+sentence", **seat)
        assert (answer.status, read_seat(answer.headers)) == (200, other)
        for place, picture in zip(PLACES, drawn, strict=True):
            one = Forger(warm_proxy.address, additional_headers=seat)
            assert read_seat(one.headers) == other
            assert one.run(*place).pictures == picture
        replica.start()
        replica.wait()
    assert "private" not in warm_proxy.log.read_text()


def test_a_phone_that_sleeps_comes_back_to_its_session(proxy):
    """The network drops its connection, and nobody says goodbye."""
    one = Forger(proxy.address)
    drawn = one.run("scores", "d_k=3").pictures
    seat = {"Cookie": f"replica={read_seat(one.headers)}"}
    one.socket.socket.shutdown(socket.SHUT_RDWR)
    for named, is_kept in ((one.session, True), ("nothing-is-kept-of-it", False)):
        again = Forger(proxy.address, named, additional_headers=seat)
        assert again.run("scores", "d_k=3").pictures == drawn, "the address has the choices"
        assert (again.session == one.session) == is_kept
        again.close()


@WAITS
def test_a_browser_goes_on_where_another_replica_takes_over(warm_proxy, browser):
    """Its session is another one then, which knows nothing of the page before it has drawn it."""
    with browser.new_context() as visitor:
        page = visitor.new_page()
        page.goto(f"{warm_proxy.address}/scores?d_k=3")
        page.locator(".panel").first.wait_for()
        seats = {cookie["name"]: cookie["value"] for cookie in visitor.cookies()}
        gone = warm_proxy.replicas[seats["replica"]]
        try:
            with page.expect_websocket() as back:
                gone.stop()
            back.value.wait_for_event("framereceived")
            page.locator("input[type=range]").first.focus()
            page.keyboard.press("ArrowRight")
            page.wait_for_function("() => location.search.includes('divided_by')")
            with page.expect_download() as download:
                page.get_by_role("button", name="Script").click()
            assert not download.value.failure()
        finally:
            gone.start()
            gone.wait()
