"""Pages in every position of their controls, some with each commit; later pages find themselves.

What a page says and draws when it opens is kept in `tests/golden`. Here is what one look at a page
cannot tell: that two ways to a choice lead to the same page, and that none breaks it.
"""

import ast
import inspect
import itertools
import re
import sys
import threading
from functools import partial

import pytest
import streamlit as st

from explainers.translations import load_sections
from explainers.ui.prediction import SKIP
from explainers.ui.session import GUESS
from tests.support.opening import (
    PAGES,
    ROOT,
    Found,
    cards_in_turn,
    controls_on,
    extremes,
    known_words,
    lacks_model,
    links_on,
    opened,
    origins,
    pictures,
    press,
    reads_text,
    unfolded,
    widgets,
)
from tests.support.reading import said
from tests.support.tiers import take_turns

BUSY = {
    "gallery_layer": "2",
    "matter_layer": "2",
    "write_step": "2",
    "about": "caches",
    "text": known_words(7),
    "weights": "untrained",
    "seed": "7",
    "d_model": "16",
    "queries": "across",
    "model": "gpt-oss-20b",
    "what_text": "the bank raised the rate",
    "pairs": "6",
    "keys_kept": "16",
    "beginning": "The bank raised the rate.",
    "why_removed": "three",
}
"""Choices of which every page has some, none of them the default."""
LONGEST = " ".join(f"word{n}" for n in range(24))
WITHOUT_QUESTION = {"01_start", "23_exercises"}
"""They give before they ask."""


# All tests of a page follow each other: what controls it has is found out once.
def some_pages(test):
    test = pytest.mark.usefixtures("quick")(pytest.mark.rotating(8)(test))
    return pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem, scope="module")(test)


def set_controls(visit, asked):
    """Set controls that offer it and run the page; true if it stands and still has them all."""
    here = widgets(visit)
    if any(key not in here or value not in extremes(here[key]) for key, value in asked.items()):
        return False
    for key, value in asked.items():
        here[key].set_value(value)
    visit.run()
    return bool(visit.title) and asked.keys() <= widgets(visit).keys()


@some_pages
def test_every_control_at_its_extremes(page):
    """Several controls in a run; where they do not get along, each on a page of its own."""
    for link, group in groups_on(page):
        visit = opened(page, link)
        for number in range(max(len(found.extremes) for found in group)):
            asked = {f.key: f.extremes[number] for f in group if number < len(f.extremes)}
            if not set_controls(visit, asked) or visit.info:
                assert not visit.exception, asked
                visit = opened(page, link)
                for key, value in asked.items():
                    alone = opened(page, link)
                    widget = widgets(alone)[key].set_value(value)
                    assert alone.run().title
                    assert not alone.exception, (key, value)
                    if widget.type not in TYPED:
                        assert not alone.info, f"{value} is allowed for {key}"
            assert not visit.exception, asked


ALONE = {"text", "preset", "predict", "lecture", "lang"}
"""Controls with which all others look different."""
AT_ONCE = 6
TYPED = {"number_input", "text_input"}
"""Where more can be typed than is allowed."""


def groups_on(page):
    """The controls of a page, few at a time: in sight together, with about as many extremes."""
    by_link: dict[tuple[str, str], list[Found]] = {}
    for found in sorted(controls_on(page), key=lambda found: len(found.extremes)):
        alone = found.key if found.key in ALONE else ""
        by_link.setdefault((alone, str(found.link)), []).append(found)
    for here in by_link.values():
        for first in range(0, len(here), AT_ONCE):
            yield here[0].link, here[first : first + AT_ONCE]


@some_pages
def test_all_controls_at_their_extremes_together(page):
    keys = [f.key for f in controls_on(page) if f.key not in {"text", "preset", "predict"}]
    for card, (end, text) in itertools.product(cards_in_turn(page), [(0, "x"), (-1, LONGEST)]):
        visit = opened(page, {"text": text, **card})
        for asked in set_in_turn(visit, keys, partial(take_extreme, end=end)):
            assert not visit.exception, asked


def take_extreme(widget, end=-1):
    return extremes(widget)[end]


def set_in_turn(visit, keys, value_for):
    """Set the controls that are in sight in one run, then those that have come into sight."""
    waiting = set(keys)
    while here := {key: w for key, w in widgets(visit).items() if key in waiting}:
        for widget in here.values():
            widget.set_value(value_for(widget))
        visit.run()
        waiting -= here.keys()
        yield list(here)


@some_pages
def test_a_question_hides_what_answers_it_and_its_answer_is_what_was_computed(page):
    for card in cards_in_turn(page):
        shown, asking = opened(page, card), opened(page, {"predict": "true", **card})
        options = answers_on(asking)
        told = [markdown.value.startswith("Answer: **") for markdown in shown.main.markdown]
        assert not answers_on(shown), "predict is off"
        assert sum(told) >= len([key for key in options if key in widgets(asking)])
        assert card or len(options) <= (page.stem not in WITHOUT_QUESTION)
        assert (len(pictures(asking)) < len(pictures(shown))) <= bool(options), "and no other does"
        right = 0
        for answers in itertools.zip_longest(*options.values(), fillvalue=SKIP):
            given = dict(zip(options, answers, strict=True))
            answered = opened(page, {"predict": "true", **card, **given})
            assert pictures(answered) == pictures(shown), given
            said_now = said(answered)
            assert all(f"**{one}**" in said_now or one == SKIP for one in answers)
            right += said_now.count("Right: **")
        assert right == len([one for one in options.values() if {*one} != {SKIP}])


def answers_on(visit):
    """The answers to the questions in sight: of a framed one, or beside a veil."""
    found = {key: it.options for key, it in widgets(visit).items() if key.startswith(GUESS)}
    for button in visit.button:
        key, _, option = (button.key or "").removeprefix("show ").partition(": ")
        if key.startswith(GUESS):
            found.setdefault(key, []).append(option or SKIP)
    return found


@some_pages
def test_a_seed_is_named_where_it_matters(page):
    for card in cards_in_turn(page):
        if "weights" in names_its_seed(page, card).session_state:
            names_its_seed(page, {"weights": "untrained", **card})


def names_its_seed(page, link):
    seven, eight = (opened(page, {"seed": seed, **link}) for seed in "78")
    pairs = zip(pictures(seven), origins(seven), pictures(eight), origins(eight), strict=True)
    for picture, origin, other_picture, other_origin in pairs:
        assert (picture != other_picture) == (origin != other_origin)
        assert picture == other_picture or ("seed 7" in origin and "seed 8" in other_origin)
    return seven


class Ran:
    """Collects what runs in the threads that are started meanwhile."""

    def __init__(self):
        self.codes = set()

    def __enter__(self):
        # A profile would also ask for every call of C and every return.
        threading.settrace(lambda frame, *_: self.codes.add(frame.f_code))
        return self

    def __exit__(self, *_):
        threading.settrace(None)

    def sources(self):
        ours = (c for c in self.codes if c.co_filename.startswith(f"{ROOT}/explainers/"))
        return {inspect.getsource(code).strip() for code in ours if code.co_name.isidentifier()}


@some_pages
def test_the_code_on_the_page_is_the_code_that_ran(page):
    links = links_on(page)
    forget_results()
    shown = set()
    with Ran() as ran:
        for link in links:
            visit = unfolded(opened(page, link))
            assert not visit.exception
            for expander in visit.expander:
                if "code that just ran" in expander.label:
                    shown |= {(expander.label, code.value) for code in expander.code}
    assert shown or lacks_model(opened(page))
    sources = ran.sources()
    for label, code in shown:
        kinds = ast.FunctionDef | ast.ClassDef
        names = [one.name for one in ast.parse(code).body if isinstance(one, kinds)]
        assert names == re.findall(r"`(\w+)`", label)
        assert all(source in sources for source in functions_in(code))


def forget_results():
    """What is in a cache does not run again."""
    st.cache_data.clear()
    st.cache_resource.clear()
    for name, module in list(sys.modules.items()):
        if name.startswith("explainers.") and not name.startswith("explainers.models"):
            for one in vars(module).values():
                named = vars(one) if isinstance(one, type) else ()
                for part in (one, *(getattr(one, own, None) for own in named)):
                    if hasattr(part, "cache_info"):
                        part.cache_clear()


def functions_in(code):
    """The texts of the functions in a piece of code, those of classes too, with decorators."""
    lines = code.splitlines()
    functions = [one for one in ast.walk(ast.parse(code)) if isinstance(one, ast.FunctionDef)]
    starts = [min([one.lineno, *(d.lineno for d in one.decorator_list)]) - 1 for one in functions]
    return [
        "\n".join(lines[start : one.end_lineno]).strip()
        for start, one in zip(starts, functions, strict=True)
    ]


@some_pages
def test_a_link_shows_what_its_choices_show(page):
    """However the reader got there: the page depends on the choices alone."""
    for card in cards_in_turn(page):
        visit, chosen = opened(page, card), dict(card)
        for asked in set_in_turn(visit, BUSY, busy_value):
            chosen |= {key: BUSY[key] for key in asked}
        assert pictures(visit) == pictures(opened(page, chosen))


def busy_value(widget):
    """What a busy link asks of this control."""
    value = BUSY[widget.key]
    return int(value) if widget.type == "slider" else value


@some_pages
def test_reset_sets_everything_back(page):
    """Choices, from a link or clicked, and answers."""
    untouched = opened(page, {"predict": "true"})
    guesses = {key: options[0] for key, options in answers_on(untouched).items()}
    keys = [found.key for found in controls_on(page) if found.key not in ("predict", "lang")]
    for card in cards_in_turn(page):
        visit = opened(page, BUSY | card | guesses | {"predict": "true"})
        assert {key: visit.session_state[key] for key in guesses} == guesses
        for asked in set_in_turn(visit, keys, take_extreme):
            assert not visit.exception, asked
        next(b for b in visit.button if b.label.startswith("Reset")).click().run()
        assert not visit.exception
        assert not visit.info
        assert pictures(visit) == pictures(untouched)
        same = {key: widget.value for key, widget in widgets(visit).items() if key != "preset"}
        assert same == {key: w.value for key, w in widgets(untouched).items() if key != "preset"}


@some_pages
def test_a_reset_leaves_nothing_in_the_link(page):
    """Nor an answer to a question that is not drawn now, but would be found answered later."""
    asked = [name[4:] for name in load_sections(page.stem) if name.startswith("ask_")]
    guesses = {f"{GUESS}{name}": SKIP for name in asked}
    visit = opened(page, {"word": "1", "asked": "3", "predict": "false"} | guesses)
    visit.query_params["lang"] = "en"
    assert {*press(visit, "Reset all choices").query_params} <= {"lang"}


def test_choices_follow_the_reader_from_page_to_page():
    first, *others = take_turns(PAGES, 6)
    visit = opened(first, BUSY)
    for page in others:
        visit.switch_page(page.relative_to(ROOT).as_posix()).run()
        shown = {key: str(w.value) for key, w in widgets(visit).items() if key in BUSY}
        assert shown == {key: BUSY[key] for key in shown}
        assert {"seed", "queries", *(["text"] if reads_text(page) else [])} <= set(shown)
