"""The tab in which a reader looks at one page."""

from collections.abc import Callable, Generator, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser.stories.story import Story
from tests.support.browser_fixtures import WINDOW, Size, count_exceptions

FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A fixture may know whether its test has failed."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture(scope="session")
def still_reader(browser: Browser, address: str) -> Iterator[BrowserContext]:
    """A browser that keeps the front end; its reader wants no motion."""
    with browser.new_context(reduced_motion="reduce") as context:
        context.new_page().goto(f"{address}/_stcore/health")
        yield context


@pytest.fixture(scope="session")
def open_tabs() -> list[Story]:
    """The tab of the story before, if nothing went wrong in it."""
    return []


@pytest.fixture
def story(
    still_reader: BrowserContext,
    address: str,
    open_tabs: list[Story],
    request: pytest.FixtureRequest,
) -> Iterator[Callable[..., Story]]:
    """Open a page: `story("scores", d_k="8")`; at the end nothing has failed.

    Stories of one page share its tab, as to load the front end is what costs most. The first link
    says all: what it does not name is as it was in the beginning.
    """
    told: list[Story] = []

    def opened(path: str, size: Size = WINDOW, **choices: str) -> Story:
        one = open_tabs.pop() if open_tabs else None
        if one and one.paths != {f"/{path}"}:
            one.page.close()
            one = None
        told.append(one or Story(still_reader.new_page(), address))
        return told[-1].turn(path, size, **choices)

    yield opened
    for one in told:
        broken = count_exceptions(one)
        if one.errors or broken or request.node.stash.get(FAILED, False):
            one.page.close()
        else:
            open_tabs.append(one)
        assert not one.errors
        assert not broken
