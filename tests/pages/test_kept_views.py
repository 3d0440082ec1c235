"""What holds of every page as it is kept in `tests/golden`: nothing is run here.

That a page still is as it is kept, the tests there say.
"""

import json
import re

import pytest

from tests.golden.kept import read_kept
from tests.support.opening import DECKS, ORIGIN, PAGES, PICKER, PICTURES, ROOT

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
CARDS_IN_FIRST_PART = range(1, 7)
SCRIPTS = ROOT / "explainers" / "ui" / "browser" / "picture" / "heroes"
PUT_TOGETHER = {"own_nowhere", "own_elsewhere", "own_itself"}
"""Names that the script of idle heads makes of two parts."""


def is_picture(kind, sent):
    """Does it show numbers? Lists of names and decks of cards do not."""
    if not kind.startswith("main ") or not kind.endswith(PICTURES):
        return False
    is_list = sent.get("component", "").endswith(PICKER)
    return not is_list and not any(deck in json.dumps(sent) for deck in DECKS)


def names_in(value):
    """Every name in the data."""
    if isinstance(value, dict):
        yield from value
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from names_in(one)


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


@pytest.mark.parametrize("page", PAGES[:7], ids=lambda page: page.stem)
def test_what_a_page_folds_away_can_be_overlooked(page):
    assert sum(name.startswith("card ") for name in read_kept(page)) in CARDS_IN_FIRST_PART


@each_page
def test_a_picture_fills_every_slot_of_its_sentences(page):
    """From what its script or its data names."""
    views = read_kept(page)
    elements = [one for name in ("as it opens", "Vietnamese") for _kind, one in views[name][1]]
    for sent in (one["data"] for one in elements if "component" in one):
        if not isinstance(sent, dict) or "looks" not in sent:
            continue  # not the page's first picture
        files = [SCRIPTS / f"{sent['kind']}.js", *SCRIPTS.glob(f"{sent['kind']}_*.js")]
        script = "\n".join(file.read_text(encoding="utf-8") for file in files)
        filled = {*re.findall(r"\b(\w+)(?:[:,]| *})", script), *names_in(sent), *PUT_TOGETHER}
        for name, template in sent["texts"].items():
            assert template, name
            assert set(re.findall(r"\{\{(\w+)\}\}", template)) <= filled, name
