"""In front of a class, as the server draws it: few screens, each of named parts."""

import functools
import re

import pytest

from explainers.ui.browser_files import FOLDER
from explainers.ui.lecture import screens
from tests.support.opening import PAGES, elements, opened

ON = {"lecture": "true", "predict": "true"}
NAMED = re.compile(r"screen (\w+) (.+)$")


def some_pages(test):
    test = pytest.mark.rotating(6)(test)
    return pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)(test)


def named(block):
    """The parts with a name, those inside of others left out: their kinds, names and contents."""
    for child in getattr(block, "children", {}).values():
        found = NAMED.search(getattr(getattr(child, "proto", None), "id", "") or "")
        if found and hasattr(child, "children"):
            yield *found.groups(), child
        else:
            yield from named(child)


@functools.cache
def lecture(page):
    """Every part of a page that a class may see."""
    visit = opened(page, ON)
    assert not visit.exception
    return list(named(visit.main))


def count_screens(parts):
    """As many as `browser/lecture/screens.js` makes of them."""
    asked = {name for kind, name, _part in parts if kind == "ask"}
    alone = [kind for kind, name, _part in parts if kind == "answer" and name not in asked]
    return sum(kind in screens.SCREEN_KINDS for kind, _name, _part in parts) + len(alone)


@some_pages
def test_a_page_has_few_screens_of_what_is_read_at_a_glance(page):
    """And those of a shorter lecture are there, and follow each other as on the page."""
    parts = lecture(page)
    kinds = [kind for kind, _name, _part in parts]
    assert 3 <= count_screens(parts) <= screens.MOST_SCREENS
    seen = [kind for kind in kinds if kind in screens.SCREEN_KINDS]
    assert (seen[0], seen[-1]) == ("hero", "end")
    assert "question" in kinds[: kinds.index("hero")]
    assert not any(" recall" in name or "veil" in name for _kind, name, _part in parts)
    names = [(kind, name) for kind, name, _part in parts]
    for place, (kind, name, part) in enumerate(parts):
        if kind == "ask" and ("answer", name) not in names:
            assert name.startswith("task"), "a function is written elsewhere"
        is_beside = any(other == "picture" for other in kinds[place + 1 : place + 3])
        if kind in {"how", "answer"} and not name.startswith(("task", "claim")) and is_beside:
            (remark,) = [one.value for one in elements(part) if one.type == "markdown"]
            _heading, caption, rest = screens.cut_caption(remark)
            assert not rest
            # A sentence may be a little longer.
            assert len(caption.split()) <= screens.CAPTION_WORDS + 10
    shorter = screens.LESSON.get("" if page == PAGES[0] else page.stem.partition("_")[2], ())
    places = [
        next(n for n, part in enumerate(names) if one in (part[0], " ".join(part)))
        for one in shorter
    ]
    assert places == sorted(places)


@some_pages
def test_a_follower_first_gets_the_lecturers_screen_alone(page, monkeypatch):
    """A run of the page ends with it, and with what changes the same picture."""
    names = [(kind, name) for kind, name, _part in lecture(page)]
    kinds = [kind for kind, _name in names]
    ends = {*screens.SCREEN_KINDS} - {"try"}
    stops = [place for place, kind in enumerate(kinds) if kind in ends]
    for kind in {"hero", "ask"} & {*kinds}:
        place = kinds.index(kind)
        number = sum(one in screens.SCREEN_KINDS for one in kinds[: place + 1])
        take_part = "explainers.ui.page.take_part"
        monkeypatch.setattr(take_part, lambda *_, n=number: screens.draw_until(n))
        visit = opened(page, ON)
        assert not visit.exception
        drawn = [(kind, name) for kind, name, _part in named(visit.main)]
        assert drawn == names[: len(drawn)]
        assert place < len(drawn) <= next(stop for stop in stops if stop > place)


def test_the_browser_knows_the_kinds_of_screens_and_there_are_no_others():
    code = (FOLDER / "lecture" / "screens.js").read_text(encoding="utf-8")
    (alone,) = re.findall(r"const ALONE = \[(.+)\];", code)
    assert set(re.findall(r'"(\w+)"', alone)) == set(screens.SCREEN_KINDS)
    for kind in screens.PART_KINDS:
        assert f'"{kind}"' in code
    with pytest.raises(ValueError, match="nothing"), screens.screen("nothing", "at all"):
        pass


@pytest.mark.parametrize(
    ("text", "heading", "caption", "rest"),
    [
        ("One. Two.", "", "One. Two.", ""),
        ("## How\n\nOne **two.** Three.\n\nFour.", "## How", "One **two.** Three.", "Four."),
        (f"{'a ' * 20}b. {'c ' * 9}d. E.", "", f"{'a ' * 20}b.", f"{'c ' * 9}d. E."),
        (f"It holds: {'a ' * 25}b.", "", "It holds.", f"{'a ' * 25}b."),
        ("**Bold sentence.** It is 0.45 here.", "", "**Bold sentence.** It is 0.45 here.", ""),
    ],
)
def test_a_caption_is_whole_sentences(text, heading, caption, rest):
    assert screens.cut_caption(text) == (heading, caption, rest)


def test_the_question_of_a_remark_is_what_it_has_in_bold():
    assert screens.find_question("So far. **Which words?** A **mask**.") == "Which words?"
    assert screens.find_question("Without **it**: what happens?") == "What happens?"
    assert screens.find_question("With one head.\nFor how\nmany?") == "For how many?"
    assert screens.find_question("### A heading\nNo question.") == "No question."
