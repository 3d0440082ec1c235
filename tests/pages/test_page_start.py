"""The start page leads everywhere: three doors, and a wall of all pages."""

import json

import pytest
from PIL import Image

from explainers.ui.page_parts.page_cards import THUMBNAILS
from tests.support.opening import CARDS, PAGES, elements, opened

MOST_BYTES, MOST_BYTES_IN_ALL = 8_000, 300_000


def cards(visit):
    """By kind: the groups of cards on the page."""
    found = (e.proto for e in elements(visit.main) if e.type == "bidi_component")
    data = [json.loads(proto.bytes) for proto in found if CARDS in proto.component_name]
    return {one["kind"]: one["groups"] for one in data}


def test_every_page_is_on_the_wall_in_order_behind_three_doors():
    found = cards(opened(PAGES[0]))
    shown = [card for group in found["wall"] for card in group["cards"]]
    assert [card["id"] for card in shown] == [f"pages/{page.name}" for page in PAGES]
    assert [card["note"] for card in shown] == [f"{n}" for n in range(1, len(PAGES) + 1)]
    assert all(card["title"] in card["alt"] and card["line"].endswith("?") for card in shown)
    [doors] = found["doors"]
    assert [door["id"] for door in doors["cards"]] == ["tour", "lecture", "course"]


@pytest.mark.parametrize("link", [{"tour": "1"}, {"lecture": "true"}])
def test_who_went_through_a_door_sees_no_doors(link):
    assert cards(opened(PAGES[0], link)) == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_thumbnail_is_there_and_small(theme):
    for name in (*(page.stem for page in PAGES), "lecture"):
        path = THUMBNAILS / f"{name}-{theme}.webp"
        assert path.stat().st_size <= MOST_BYTES
        with Image.open(path) as picture:
            assert picture.size == (240, 150)
    assert sum(path.stat().st_size for path in THUMBNAILS.iterdir()) <= MOST_BYTES_IN_ALL
