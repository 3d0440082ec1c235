"""The start page leads everywhere: three doors, and a wall of all pages."""

import pytest
from PIL import Image

from explainers.ui.page_parts.page_cards import THUMBNAILS
from tests.support.opening import CARDS, PAGES, elements, opened

MOST_BYTES, MOST_BYTES_IN_ALL = 8_000, 300_000


@pytest.mark.parametrize("link", [{"tour": "1"}, {"lecture": "true"}])
def test_who_went_through_a_door_sees_no_doors(link):
    found = [e.proto for e in elements(opened(PAGES[0], link).main) if e.type == "bidi_component"]
    assert not [one for one in found if CARDS in one.component_name]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_thumbnail_is_there_and_small(theme):
    for name in (*(page.stem for page in PAGES), "lecture"):
        path = THUMBNAILS / f"{name}-{theme}.webp"
        assert path.stat().st_size <= MOST_BYTES
        with Image.open(path) as picture:
            assert picture.size == (240, 150)
    assert sum(path.stat().st_size for path in THUMBNAILS.iterdir()) <= MOST_BYTES_IN_ALL
