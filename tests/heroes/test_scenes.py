"""First pictures, drawn without a browser from what pages were recorded to send."""

import re

import pytest

from tests.golden.kept import list_differences, read_kept
from tests.heroes.layout import list_faults
from tests.heroes.scenes import OPENS, ROOMS, SCENES, TOLD, draw
from tests.support.opening import PAGES

VIETNAMESE = "Vietnamese, "
ENGLISH_NUMBER = re.compile(
    r"(?<![\w.,])(?:[1-9]\d{0,2}(?:,\d{3})+(?![\d,])|\d+\.\d{1,2}(?![.\w]))"
)
"""With thousands or decimals marked as in English; three digits behind a point may be either."""
LARGE = f"{OPENS}, {ROOMS[1280]} px"
IN_VAIN = {
    "01_start": [" stop now: Look", "group : one word"],
    "07_relative_positions": ["group : query of announced"],
    "10_cache_memory": ["stage memory-point moves: 1 × 128k: 16.00 GiB, fits"],
    "14_idle_heads": ["words moves: ⟨s⟩"],
    "15_serving": ["film gone small-play: Play: step"],
    "19_what_if": ["words moves asks: Madrid"],
}
"""Buttons that show what is shown already, cannot be asked (⟨s⟩), or are not there in this view."""
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


@each_page
@pytest.mark.usefixtures("document")
def test_a_picture_is_drawn_as_it_was_recorded(page):
    assert list(list_differences(page, read_kept(page, SCENES), draw(page))) == []


@each_page
def test_texts_are_large_enough_and_stand_apart(page):
    scenes = read_kept(page, SCENES)
    faults = {name: list(list_faults(sent)) for name, (_link, sent) in scenes.items()}
    assert {name: found for name, found in faults.items() if found} == {}


@each_page
def test_numbers_have_the_marks_of_the_language(page):
    """In Vietnamese a comma is no mark of thousands, and a point none of decimals."""
    scenes = read_kept(page, SCENES)
    texts = [
        one for name in scenes if name.startswith(VIETNAMESE) for one in texts_of(scenes[name])
    ]
    assert texts
    assert [one for one in texts if ENGLISH_NUMBER.search(one)] == []


def test_no_weight_is_said_to_be_nothing():
    """Where no mask is, each word gets some: softmax leaves nobody 0, though it may be sent so."""
    scenes = read_kept(next(page for page in PAGES if page.stem == "03_query_key_value"), SCENES)
    texts = [one for scene in scenes.values() for one in texts_of(scene)]
    assert any("<\u00a01\u00a0%" in one for one in texts)
    assert [one for one in texts if re.search(r"(?<!\d)0\u00a0%", one)] == []
    masks = read_kept(next(page for page in PAGES if page.stem == "05_masks"), SCENES)
    says = [one for scene in masks.values() for one in texts_of(scene) if "gave itself" in one]
    assert says
    assert [one for one in says if "itself 0\u00a0%" in one] == [], "before the mask"


def texts_of(scene):
    """All that is read in it: what stands on nodes."""
    _link, sent = scene
    yield dict(sent)["says"]
    yield from (text for _node, (text, *_more) in sent[len(TOLD) :] if text)


@each_page
def test_every_button_does_something(page):
    """It draws another picture, or tells the server what to draw."""
    scenes = {name: sent for name, (_link, sent) in read_kept(page, SCENES).items()}
    opens = scenes[LARGE]
    clicked = {
        name.split(". ", 1)[1]: sent
        for name, sent in scenes.items()
        if name.startswith(f"{LARGE}, ")
    }
    assert clicked
    dead = [n for n, one in clicked.items() if one == opens and not dict(one[: len(TOLD)])["told"]]
    assert dead == IN_VAIN.get(page.stem, [])
