"""A served app and visitors in a real browser, or what stands in for one."""

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext

from benchmarks.browser import server, wait_until_healthy
from tests.heroes.scenes import AS_LOCKED, DENO, SCRIPT
from tests.support.real_models import as_tests_began
from tests.support.visit import WINDOW, Scheme, Size, Visit, count_exceptions, dressed

ROOT = Path(__file__).parents[2]
PAGES = {path.stem: re.sub(r"^\d+_", "", path.stem) for path in sorted(ROOT.glob("pages/*.py"))}
"""Where each page is in the address; the first one stands at the root."""
PAGES[min(PAGES)] = ""


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The app, served for all tests of a worker."""
    with ExitStack() as stack:
        with as_tests_began():  # the first test that wants a page may be among those without models
            running = stack.enter_context(server(ROOT / "app.py", ROOT))
        wait_until_healthy(running)
        yield running


@pytest.fixture(scope="session")
def reader(browser: Browser, address: str) -> Iterator[BrowserContext]:
    """A browser that keeps the front end in its cache, and its process while a page is open."""
    with browser.new_context() as context:
        context.new_page().goto(f"{address}/_stcore/health")
        yield context


@pytest.fixture
def quiet_page(browser: Browser) -> Iterator[Any]:
    """A page of files, `asked`: what it asked for, and `faults`: what it said."""
    with browser.new_context(viewport={"width": 1280, "height": 900}, locale="en") as visitor:
        page: Any = visitor.new_page()
        page.asked, page.faults = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("console", lambda told: page.faults.append(told.text))
        yield page


Opener = Callable[..., Visit]


@pytest.fixture
def visit(reader: BrowserContext, address: str) -> Iterator[Opener]:
    """Open a page of the served app: `visit("scores", d_k="8")`; at the end nothing has failed.

    To who wants it to be `is_still` nothing moves: cheaper, where motion is not what is looked at.
    """
    visits: list[Visit] = []

    def opened(
        path: str,
        scheme: Scheme = "light",
        size: Size = WINDOW,
        is_still: bool = False,
        **choices: str,
    ) -> Visit:
        page = dressed(reader.new_page(), scheme, size)
        page.emulate_media(reduced_motion="reduce" if is_still else "no-preference")
        visits.append(Visit(page, address))
        return visits[-1].goto(path, **choices)

    yield opened
    for one in visits:
        broken = count_exceptions(one)
        one.page.close()
        assert not one.errors
        assert not broken


@pytest.fixture(scope="session")
def tabs() -> dict[str, Visit]:
    """Tabs that stay open from test to test, by name."""
    return {}


@pytest.fixture
def stroll(
    reader: BrowserContext, address: str, tabs: dict[str, Visit], request: pytest.FixtureRequest
) -> Iterator[Opener]:
    """Like `visit`, as who walks through the course: in a tab that stays open from page to page.

    Two thirds of a visit go into loading the front end. For tests that look at a page as a link
    shows it, and change nothing that a link does not change back; nothing moves there.
    """
    seen: list[Visit] = []
    failed = request.session.testsfailed

    def opened(
        path: str, scheme: Scheme = "light", size: Size = WINDOW, tab: str = "walk", **choices: str
    ) -> Visit:
        is_new = tab not in tabs
        one = tabs[tab] = Visit(reader.new_page(), address) if is_new else tabs[tab]
        seen.append(one)
        if is_new:
            dressed(one.page, scheme, size).emulate_media(reduced_motion="reduce")
            return one.goto(path, **choices)
        return one.wear(scheme).resize(size).turn_to(path, **choices)

    yield opened
    broken = [(one.errors, count_exceptions(one)) for one in seen]
    if request.session.testsfailed > failed or any(map(any, broken)):
        for one in tabs.values():  # what they show is not to be trusted any more
            one.page.close()
        tabs.clear()
    assert [found for found in broken if found != ([], 0)] == []


@pytest.fixture(scope="session")
def document() -> None:
    """The library that stands in for a browser's document, fetched once."""
    fetch = [DENO, "cache", *AS_LOCKED, str(SCRIPT)]
    done = subprocess.run(fetch, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"Deno cannot fetch linkedom: {done.stderr.strip()[-300:]}")
