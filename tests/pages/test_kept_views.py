"""What holds of every page as it is kept in `tests/golden`: nothing is run here.

That a page still is as it is kept, the tests there say.
"""

import re

import pytest

from explainers.ui.controls.controls import CONTROLS_BY_KEY
from explainers.ui.page import list_titles
from tests.golden.kept import read_kept
from tests.support.opening import CARDS, DECKS, ORIGIN, PAGES, PICKER, PICTURES

CARDS_IN_FIRST_PART = range(3, 7)
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def is_picture(kind, sent):
    """Does it show numbers? Thumbnails of pages, lists of names and decks of cards do not."""
    if not kind.endswith(PICTURES) or kind.startswith("sidebar"):
        return False
    is_list = sent.get("component", "").endswith((CARDS, PICKER))
    return not is_list and sent.get("data", {}).get("kind") not in DECKS


@each_page
def test_every_picture_says_where_its_numbers_come_from(page):
    for name, (_link, sent) in read_kept(page).items():
        waiting = False
        for kind, element in sent:
            if is_picture(kind, element):
                assert not waiting, name
                waiting = True
            elif kind == "main markdown" and ORIGIN.search(element["body"]):
                waiting = False
        assert not waiting, name


@each_page
def test_a_link_chooses_what_the_picture_then_shows(page):
    """Each choice of a picture can be linked; only a hostile link is answered with a note."""
    for name, (link, sent) in read_kept(page).items():
        shown = {}
        for _kind, element in sent:
            data = element.get("data") if "component" in element else None
            shown = (data or {}).get("choices") or {} if not shown else shown
        for key in link.keys() & shown.keys() if name != "hostile" else ():
            assert CONTROLS_BY_KEY[key].format_for_url(shown[key]) == link[key], name


@each_page
def test_an_ordinary_link_needs_no_excuse(page):
    for name, (_link, sent) in read_kept(page).items():
        kinds = [kind for kind, _element in sent]
        assert ("main alert" in kinds) <= (name != "as it opens"), name
