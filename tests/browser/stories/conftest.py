"""The tab in which a reader looks at one page."""

from collections.abc import Callable

import pytest

from tests.support.browser_fixtures import Opener
from tests.support.visit import WINDOW, Size, Visit


@pytest.fixture
def story(stroll: Opener, tabs: dict[str, Visit]) -> Callable[..., Visit]:
    """Open a page: `story("scores", d_k="8")`; at the end nothing has failed.

    Stories of one page share its tab, as to load the front end is what costs most. The first link
    says all: what it does not name is as it was in the beginning.
    """

    def opened(path: str, size: Size = WINDOW, **choices: str) -> Visit:
        mine = f"story of {path}"
        for other in [name for name in tabs if name.startswith("story of ") and name != mine]:
            tabs.pop(other).page.close()
        return stroll(path, size=size, tab=mine, **choices)

    return opened
