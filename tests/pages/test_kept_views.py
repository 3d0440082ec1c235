"""What holds of every page as it is kept in `tests/golden`: nothing is run here.

That a page still is as it is kept, the tests there say.
"""

import json
import re
from typing import Any

import pytest

from explainers.ui.controls.controls import CONTROLS_BY_KEY, claim
from tests.golden.kept import read_kept
from tests.golden.links import OF_EVERY_PAGE
from tests.support.opening import DECKS, ORIGIN, PAGES, PICKER, PICTURES, ROOT

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
CARDS_IN_FIRST_PART = range(1, 7)
BEYOND = "written 49", "token 7", "learned 501", "write_head L18.H6"
"""Links that ask for the number after the last, or for what is there only with another choice."""
CLICKS = {"run"}
"""A count of clicks, which no link has."""
SCRIPTS = ROOT / "explainers" / "ui" / "browser" / "picture" / "heroes"
PUT_TOGETHER = {"own_nowhere", "own_elsewhere", "own_itself"}
"""Names that the script of idle heads makes of two parts."""


def is_picture(kind, sent):
    """Does it show numbers? Lists of names and decks of cards do not."""
    if not kind.startswith("main ") or not kind.endswith(PICTURES):
        return False
    is_list = sent.get("component", "").endswith(PICKER)
    return not is_list and not any(deck in json.dumps(sent) for deck in DECKS)


def heroes_in(sent):
    """The page's first pictures: one, or none."""
    pictures = [element["data"] for _kind, element in sent if "component" in element]
    return [data for data in pictures if isinstance(data, dict) and "looks" in data]


def names_in(value):
    """Every name in the data."""
    if isinstance(value, dict):
        yield from value
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from names_in(one)


def ways_to_write(control, value):
    """Of a choice in a link: several names are written one by one, and yes is 1 or true."""
    written = control.format_for_url(value)
    return written if isinstance(written, list) else [written, str(value).lower()]


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
def test_a_link_is_obeyed_or_answered(page):
    """Each choice of a picture can be linked; of a hostile link each choice is named in a note."""
    for name, (link, sent) in read_kept(page).items():
        shown: dict[str, Any] = next((data["choices"] for data in heroes_in(sent)), {})
        notes = " ".join(element["body"] for kind, element in sent if kind.endswith(" info"))
        if any(kind == "main error" for kind, _element in sent):
            continue  # without a model there is nothing to choose
        for key in (link.keys() & shown.keys()) - {*OF_EVERY_PAGE} - CLICKS:
            control = CONTROLS_BY_KEY.get(key, claim)  # a chapter's own, which is not imported
            is_told = name in ("hostile", *BEYOND) and f"{key} =" in notes
            asked = link[key] if isinstance(link[key], list) else [link[key]]
            assert {*asked} <= {*ways_to_write(control, shown[key])} or is_told, name
        assert name != "as it opens" or not notes, "an ordinary link needs no excuse"


@pytest.mark.parametrize("page", PAGES[:7], ids=lambda page: page.stem)
def test_what_a_page_folds_away_can_be_overlooked(page):
    assert sum(name.startswith("card ") for name in read_kept(page)) in CARDS_IN_FIRST_PART


@each_page
def test_a_picture_fills_every_slot_of_its_sentences(page):
    """From what its script or its data names."""
    views = read_kept(page)
    for sent in (
        one for name in ("as it opens", "Vietnamese") for one in heroes_in(views[name][1])
    ):
        files = [SCRIPTS / f"{sent['kind']}.js", *SCRIPTS.glob(f"{sent['kind']}_*.js")]
        script = "\n".join(file.read_text(encoding="utf-8") for file in files)
        filled = {*re.findall(r"\b(\w+)(?:[:,]| *})", script), *names_in(sent), *PUT_TOGETHER}
        for name, template in sent["texts"].items():
            assert template, name
            assert set(re.findall(r"\{\{(\w+)\}\}", template)) <= filled, name
