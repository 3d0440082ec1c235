"""First pictures, drawn without a browser from what pages were recorded to send."""

import pytest

from tests.golden.kept import list_differences, read_kept
from tests.heroes.layout import list_faults
from tests.heroes.scenes import OPENS, ROOMS, SCENES, TOLD, draw
from tests.support.opening import PAGES

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
