"""A reader walks through the course in one tab, and on each page everything is looked at.

A page is seen as it opens, in English and in study mode, and then as one of `SECOND`; by day and
by night; in a large window, on a projector and on a phone; by eyes and by screen readers. All that
is wrong with it is told at once.
"""

from functools import partial

import pytest
from playwright.sync_api import TimeoutError

from explainers.translations import load_sections
from tests.browser.looks import (
    COLOURS,
    LARGE,
    PATIENCE,
    PHONE,
    PROJECTOR,
    SENTENCES,
    list_faults_at_sight,
    list_what_hides_the_focus,
    list_what_is_far,
    list_what_is_too_much,
    list_what_stands_out,
    violations,
)
from tests.support.browser_fixtures import PAGES
from tests.support.tiers import EVERYTHING

FIRST = {"lang": "en", "predict": "true"}
SECOND = {
    "Vietnamese, study mode": {"lang": "vi", "predict": "true"},
    "Vietnamese": {"lang": "vi", "predict": "false"},
    "English": {"lang": "en", "predict": "false"},
}
THEMES = "light", "dark"
WALK = [
    pytest.param(at, path, second, id=f"{stem}-{name}")
    for at, (stem, path) in enumerate(PAGES.items())
    for name, second in (list(SECOND.items()) * 2)[at % 3 : at % 3 + 3]
]
"""Each page in three cases, of which one runs: at one commit, a third of the pages in each."""
SPEAKS = "(language) => document.documentElement.lang === language"
CHANGED = f"""(before) => {{
  const now = ({COLOURS})();
  return now.filter((colour, at) => colour === before[at]).length <= 0.1 * now.length;
}}"""
FEW = 10
"""Colours of cells and charts of which most are another theme's; fewer may be what has none."""
ON_SOME_PAGES = "Both compute this page's numbers again", "info real: ", "info trained: "
"""How sentences begin that pages have in common: of their files, and of where numbers come from."""


LAPTOP = 1280, 900
HIGHEST = 900
TALLER = {("04_scores", "steps"): 1080}
"""One that could not be cut: a whole computation, its arithmetic, and the choice of its weights."""
OPEN_CARD = "[class*=st-key-go-deeper] details[open]"


def list_cards(stem):
    return [name[7:] for name in load_sections(stem) if name.startswith("deeper_")]


@pytest.fixture(scope="module")
def said():
    """What each page says, of those where the walk has been."""
    return {}


@pytest.mark.rotating(3)
@pytest.mark.parametrize(("at", "path", "second"), WALK)
def test_a_page_looks_as_it_should(stroll, said, at, path, second):
    """The theme changes on the page: the next one begins in that in which this one ended."""
    by_day, by_night = THEMES if at % 2 == 0 else THEMES[::-1]
    faults: list[str] = []

    def look(state, scheme, size, *ways):
        one.resize(size)
        where = f"{state['lang']}, predict={state['predict']}, {scheme}, {size[0]} × {size[1]}"
        for find in (list_faults_at_sight, list_what_stands_out, *ways):
            faults.extend(f"{where}: {fault}" for fault in find(one, path))

    one = stroll(path, scheme=by_day, size=LARGE, tab="looks", **FIRST)
    look(FIRST, by_day, LARGE, list_what_is_too_much, partial(list_what_is_left, said))
    look(FIRST, by_day, PHONE, list_what_is_far, violations)
    before = one.resize(PROJECTOR).page.evaluate(COLOURS), one.drawn()
    one.wear(by_night)
    at_night = [violations] if EVERYTHING else []
    look(FIRST, by_night, PROJECTOR, partial(list_what_keeps_its_colour, before), *at_night)
    one.turn_to(path, **second)
    one.page.wait_for_function(SPEAKS, arg=second["lang"])
    look(second, by_night, PHONE)
    look(second, by_night, LARGE)
    look(second, by_night, PROJECTOR, violations, list_what_hides_the_focus)
    assert not faults, "\n".join(faults)


@pytest.mark.rotating(3)
@pytest.mark.parametrize("stem", [stem for stem in PAGES if list_cards(stem)])
def test_a_card_takes_one_screen(stroll, stem):
    """Each card of "Go deeper", opened in the window of a laptop."""
    path, high = PAGES[stem], []
    for card in list_cards(stem):
        one = stroll(path, size=LAPTOP, tab="cards", lang="en", predict="false", deep=card)
        one.page.locator(OPEN_CARD).first.wait_for()
        one.ready()
        height = one.page.locator(OPEN_CARD).first.bounding_box()["height"]
        if height > TALLER.get((stem, card), HIGHEST):
            high.append(f"{card}: {height:.0f} px")
    assert not high, f"more than {HIGHEST} px: {', '.join(high)}"


def list_what_is_left(said, one, path):
    """What the page before says and this one says too, of all that only pages say."""
    said[path] = set(one.page.evaluate(SENTENCES))
    before = list(said)[-2:-1]
    left = said[path].intersection(*[said[page] for page in before]) if before else set()
    return [f"left of the page before: {one}" for one in left if not one.startswith(ON_SOME_PAGES)]


def list_what_keeps_its_colour(before, one, _path):
    """Cells and charts wear the other theme, and say what they said."""
    (colours, drawn), found = before, []
    if len(colours) >= FEW:
        try:
            one.page.wait_for_function(CHANGED, arg=colours, timeout=PATIENCE)
        except TimeoutError:
            found.append("the colours of cells stay")
    said, says = (
        [text.split() for text, *_ in pictures if isinstance(text, str)]
        for pictures in (drawn, one.drawn())
    )
    return found + ([f"says {says} after {said}"] if says != said else [])
