"""The tab in which a reader walks from story to story."""

from collections.abc import Callable, Generator, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser.stories.story import Story
from tests.support.browser_fixtures import count_exceptions


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
    """The tab that stays open, unless something went wrong in it."""
    return []


@pytest.fixture
def story(
    still_reader: BrowserContext,
    address: str,
    open_tabs: list[Story],
    request: pytest.FixtureRequest,
) -> Iterator[Callable[..., Story]]:
    """Go on to a page: `story("scores", d_k="8")`; at the end nothing has failed.

    All choices are put back afterwards, as they would follow the reader to the next page.
    """
    one = open_tabs.pop() if open_tabs else Story(still_reader.new_page(), address)
    yield one.turn
    if request.node.stash.get(FAILED, False):
        one.page.close()
        return
    assert not one.errors
    assert not count_exceptions(one)
    one.reset()
    open_tabs.append(one)
