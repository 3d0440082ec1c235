"""One replica is killed, or each is started again: everybody sees the same picture soon after."""

import asyncio
import contextlib
import itertools
import signal

import pytest

from tests.deploy.replicas import NAMES, read_seat, run
from tests.deploy.visitors import Visitor

WAITS = pytest.mark.nightly("starts two replicas that have imported everything, and kills them")
HALL, AT_ONCE = 40, 8
"""Visitors, and how many of them come at the same moment."""
ENDS = signal.SIGKILL, signal.SIGTERM
MOST_TRIES = 3
"""Of somebody who is cut off: the proxy sends nobody to a replica that does not answer."""
PLACES = [
    ("scores", "d_k=3"),
    ("masks", "mask=window"),
    ("tokens", ""),
    ("many_heads", "heads=3"),
    ("kv_cache", "text=a+private+sentence"),
]


@contextlib.asynccontextmanager
async def audience(proxy, count):
    """Visitors on several pages, who come back whenever they are cut off."""
    places = itertools.islice(itertools.cycle(PLACES), count)
    visitors = [Visitor(proxy.address, page, query) for page, query in places]
    gate, over = asyncio.Semaphore(AT_ONCE), asyncio.Event()

    async def come(visitor):
        async with gate:
            await visitor.come()

    await asyncio.gather(*map(come, visitors))
    staying = asyncio.gather(*(visitor.stay(over) for visitor in visitors))
    try:
        yield visitors
    finally:
        over.set()
        await staying


async def meet(visitors: list[Visitor], name: str) -> None:
    """Wait until everybody is on one replica."""
    async with asyncio.timeout(60):
        while any(visitor.seat != name or not visitor.is_here for visitor in visitors):
            await asyncio.sleep(0.02)


@WAITS
def test_replicas_that_end_one_after_the_other_keep_nobody_away_for_long(warm_proxy):
    """The first one is killed, the second one is asked to end; each is started again."""

    async def act():
        async with audience(warm_proxy, HALL) as visitors:
            pictures = [visitor.picture for visitor in visitors]
            assert len({frozenset(picture.items()) for picture in pictures}) == len(PLACES)
            moved = [visitor.seat == NAMES[0] for visitor in visitors]
            assert HALL / 5 < sum(moved) < HALL * 4 / 5
            for (name, other), how in zip((NAMES, NAMES[::-1]), ENDS, strict=True):
                replica = warm_proxy.replicas[name]
                await asyncio.to_thread(replica.stop, how)
                await meet(visitors, other)
                if how == signal.SIGKILL:
                    assert [bool(visitor.tries) for visitor in visitors] == moved
                    ask_of_another(warm_proxy, name, other)
                replica.start()
                await asyncio.to_thread(replica.wait)
            assert max(max(visitor.tries, default=0) for visitor in visitors) <= MOST_TRIES
            assert [visitor.picture for visitor in visitors] == pictures

    run(act())
    assert "private" not in warm_proxy.log.read_text()


def ask_of_another(proxy, gone, other):
    """Who comes now to a replica that is away is sent to the other one."""
    answer = proxy.ask("/scores?text=a+private+sentence", Cookie=f"replica={gone}")
    assert (answer.status, read_seat(answer.headers)) == (200, other)


def test_a_phone_that_sleeps_comes_back_to_its_session(proxy):
    """The network drops its connection, and nobody says goodbye."""

    async def act():
        one = Visitor(proxy.address, "scores", "d_k=3")
        await one.come()
        session, picture = one.session, one.picture
        one.socket.transport.abort()
        await one.come()
        assert (one.session, one.picture) == (session, picture)
        await one.socket.close()
        one.session = "nothing-is-kept-of-it"
        await one.come()
        assert one.session not in ("", session)
        assert one.picture == picture, "the address has the choices"
        await one.socket.close()

    run(act())


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
