"""Every page in every position of its controls; pages that come later are found by themselves."""

import ast
import inspect
import itertools
import re
import sys
import threading
from typing import Any

import pytest
import streamlit as st

from explainers.ui.controls import controls
from explainers.ui.controls.number_controls import BrowserSlider
from explainers.ui.prediction import SKIP, sort_options
from explainers.ui.session import GUESS
from tests.support.opening import (
    PAGES,
    ROOT,
    WITHOUT_PICTURES,
    Found,
    cards_on,
    controls_on,
    elements,
    extremes,
    is_picture,
    known_words,
    lacks_model,
    links_on,
    needs_known_words,
    opened,
    pictures,
    reads_text,
    unfolded,
    widgets,
)
from tests.support.reading import heroes

ORIGIN = re.compile(r":gray-badge\[:material/info: (.*)\]")
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
LONGEST = " ".join(f"word{n}" for n in range(24))


# All tests of a page follow each other: what controls it has is found out once.
def each_page(test):
    return pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem, scope="module")(test)


def each_page_that_draws(test):
    pages = [page for page in PAGES if page.stem not in WITHOUT_PICTURES]
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.stem, scope="module")(test)


def title_of(page):
    """What `contents.py` calls a page."""
    source = (ROOT / "contents.py").read_text(encoding="utf-8")
    return next(iter(re.findall(rf'"pages/{page.name}": N_\("(.*)"\)', source)))


@each_page
@pytest.mark.parametrize("predict", ["true", "false"])
def test_a_page_opens(page, predict):
    visit = opened(page, {"predict": predict})
    assert not visit.exception
    assert [title.value for title in visit.title] == [title_of(page)]
    assert not visit.info, "an ordinary link needs no excuse"
    assert not unfolded(visit).exception


ALONE = {"text", "preset", "predict", "lecture", "lang"}
"""Controls with which all others look different."""
AT_ONCE = 6


def groups_on(page):
    """The controls of a page, few at a time: in sight together, with about as many extremes."""
    by_link: dict[tuple[Any, ...], list[Found]] = {}
    for found in sorted(controls_on(page), key=lambda found: len(found.extremes)):
        alone = found.key if found.key in ALONE else ""
        by_link.setdefault((alone, *found.link.items()), []).append(found)
    for (_, *link), here in by_link.items():
        for first in range(0, len(here), AT_ONCE):
            yield dict(link), here[first : first + AT_ONCE]


def set_controls(visit, asked):
    """Set controls that offer it and run the page; true if it stands and still has them all."""
    here = widgets(visit)
    if any(key not in here or value not in extremes(here[key]) for key, value in asked.items()):
        return False
    for key, value in asked.items():
        here[key].set_value(value)
    visit.run()
    return not visit.exception and bool(visit.title) and asked.keys() <= widgets(visit).keys()


@each_page
@pytest.mark.usefixtures("quick")
def test_every_control_at_its_extremes(page):
    """Several controls in a run; where they do not get along, fewer of them and then each alone."""
    for link, group in groups_on(page):
        visit = opened(page, link)
        for number in range(max(len(found.extremes) for found in group)):
            asked = {f.key: f.extremes[number] for f in group if number < len(f.extremes)}
            if not set_controls(visit, asked):
                assert not visit.exception, asked
                set_fewer(page, link, asked)
                visit = opened(page, link)


def set_fewer(page, link, asked):
    """Set each half of some controls on a page of its own, and halves of what does not go."""
    keys = list(asked)
    for half in (keys[: len(keys) // 2], keys[len(keys) // 2 :]):
        visit = opened(page, link)
        few = {key: asked[key] for key in half}
        if set_controls(visit, few):
            continue
        if len(few) > 1:
            set_fewer(page, link, few)
        elif few:
            visit = opened(page, link)
            [(key, value)] = few.items()
            widgets(visit)[key].set_value(value)
            visit.run()
            assert visit.title, few
        assert not visit.exception, few


@each_page
@pytest.mark.parametrize(("end", "text"), [(0, "x"), (-1, LONGEST)], ids=["first", "last"])
def test_all_controls_at_their_extremes_together(page, end, text):
    if needs_known_words(page):
        text = known_words(len(text.split()))
    keys = [f.key for f in controls_on(page) if f.key not in {"text", "preset", "predict"}]
    for card in cards_on(page):
        visit = opened(page, {"text": text, **card})
        if card and visit.info:
            continue  # a text of one word has fewer cards
        for asked in set_in_turn(visit, keys, lambda widget: extremes(widget)[end]):
            assert not visit.exception, asked
            if visit.info:  # one choice took another one's end away
                set_one_by_one(page, {"text": text, **card}, keys, end)
                break


def set_one_by_one(page, link, keys, end):
    """The next control has the ends that it has after what the ones before were set to."""
    visit = opened(page, link)
    for key in keys:
        if key in widgets(visit):
            widgets(visit)[key].set_value(extremes(widgets(visit)[key])[end])
            visit.run()
            assert not visit.exception, key
            assert not visit.info, f"the ends of {key} are allowed"


def set_in_turn(visit, keys, value_for):
    """Set the controls that are in sight in one run, then those that have come into sight."""
    waiting = set(keys)
    while here := {key: w for key, w in widgets(visit).items() if key in waiting}:
        for widget in here.values():
            widget.set_value(value_for(widget))
        visit.run()
        waiting -= here.keys()
        yield list(here)


FIRST_PART = PAGES[:7]
CARDS = range(3, 7)
WITHOUT_QUESTION = {"01_start", "23_exercises"}
"""They give before they ask."""


@pytest.mark.parametrize("page", FIRST_PART, ids=lambda page: page.stem)
def test_what_a_page_folds_away_can_be_overlooked(page):
    closed, *cards = cards_on(page)
    assert not closed
    assert len(cards) in CARDS


@each_page
def test_a_page_asks_one_question_before_it_shows_an_answer(page):
    asked = [key for key in widgets(opened(page, {"predict": "true"})) if key.startswith(GUESS)]
    assert len(asked) <= (page.stem not in WITHOUT_QUESTION)


@each_page
def test_every_live_slider_at_its_ends(page):
    """What is dragged in the browser is no widget of Streamlit's; a link sets it as well."""
    sliders = [c for c in controls.CONTROLS_BY_KEY.values() if isinstance(c, BrowserSlider)]
    for card in cards_on(page):
        here = opened(page, card).session_state
        asked = [control for control in sliders if control.key in here]
        for end in (0, -1) if asked else ():
            link = {control.key: f"{control.steps[end]:g}" for control in asked}
            visit = opened(page, link | card)
            assert not visit.exception
            for control in asked:
                assert visit.session_state[control.key] == control.steps[end], control.key


@each_page_that_draws
def test_a_question_hides_pictures_until_it_is_answered(page):
    for card in cards_on(page):
        hides_until_answered(page, card)


def hides_until_answered(page, card):
    shown, asking = opened(page, card), opened(page, {"predict": "true", **card})
    options = {key: it.options for key, it in widgets(asking).items() if key.startswith(GUESS)}
    shows = {str(one.key) for one in asking.button if str(one.key).startswith(f"show {GUESS}")}
    veils = {one.removeprefix("show ") for one in shows} - set(options)
    are_fewer = len(pictures(asking)) < len(pictures(shown))
    assert not answers_on(shown), "predict is off"
    told = [markdown.value for markdown in shown.main.markdown]
    assert sum(one.startswith("Answer: **") for one in told) >= len(options), "and what came out"
    assert are_fewer or not options
    assert options or veils or not are_fewer
    options |= {key: [SKIP] for key in veils}
    for answers in itertools.zip_longest(*options.values(), fillvalue=SKIP):
        given = dict(zip(options, answers, strict=True))
        answered = opened(page, {"predict": "true", **card, **given})
        assert pictures(answered) == pictures(shown), given


@each_page
def test_an_answer_is_compared_with_what_was_computed(page):
    for card in cards_on(page):
        asked = {"predict": "true", **card}
        for key, options in answers_on(opened(page, asked)).items():
            right = []
            for option in options:
                answered = opened(page, {**asked, key: option})
                said = "\n".join(markdown.value for markdown in answered.main.markdown)
                assert f"**{option}**" in said or option == SKIP
                right += re.findall(r"Right: \*\*(.*)\*\*", said)
            assert len(right) == 1, f"{key}: {right} cannot all be right"


def answers_on(visit):
    """The answers to the questions in sight: of a framed one, or beside a veil."""
    found = {key: it.options for key, it in widgets(visit).items() if key.startswith(GUESS)}
    for button in visit.button:
        if button.key and button.key.startswith(GUESS):
            key, _, option = button.key.partition(": ")
            found.setdefault(key, []).append(option)
    return found


@each_page
def test_every_picture_says_where_its_numbers_come_from(page):
    for link in links_on(page):
        waiting = False
        for element in elements(opened(page, link).main):
            if is_picture(element):
                assert not waiting, f"a picture without origin at {link}"
                waiting = True
            elif element.type == "markdown" and ORIGIN.search(element.value):
                waiting = False
        assert not waiting, f"a picture without origin at {link}"


@each_page
def test_a_seed_is_named_where_it_matters(page):
    for card in cards_on(page):
        if "weights" in names_its_seed(page, card).session_state:
            names_its_seed(page, {"weights": "untrained", **card})


def names_its_seed(page, link):
    seven, eight = (opened(page, {"seed": seed, **link}) for seed in "78")
    pairs = zip(pictures(seven), origins(seven), pictures(eight), origins(eight), strict=True)
    for picture, origin, other_picture, other_origin in pairs:
        assert (picture != other_picture) == (origin != other_origin)
        assert picture == other_picture or ("seed 7" in origin and "seed 8" in other_origin)
    return seven


def origins(visit):
    found = (ORIGIN.search(e.value) for e in elements(visit.main) if e.type == "markdown")
    return [badge[1] for badge in found if badge]


@pytest.mark.parametrize(
    ("options", "offered"),
    [
        (["0", "1", "24", "7"], ["0", "1", "7", "24"]),
        (["2.0 times", "1,000 times", "-3 times"], ["-3 times", "2.0 times", "1,000 times"]),
        (["5 MiB", "1 GiB", "4 MiB"], ["5 MiB", "1 GiB", "4 MiB"]),
        (["both", "none", "both", "7"], ["both", "none", "7"]),
    ],
)
def test_an_answer_does_not_stand_out_among_numbers(options, offered):
    assert sort_options(options) == offered


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


CODE = "The code that just ran: "


@each_page
@pytest.mark.usefixtures("quick")
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


@each_page_that_draws
@pytest.mark.usefixtures("quick")
def test_the_same_link_gives_the_same_pictures(page):
    if lacks_model(opened(page)):
        pytest.skip("no model here: python -m explainers.models fetch says why")
    first = [pictures(opened(page, BUSY | card)) for card in cards_on(page)]
    other = [pictures(opened(page, card)) for card in cards_on(page)]
    st.cache_data.clear()
    st.cache_resource.clear()
    assert [pictures(opened(page, BUSY | card)) for card in cards_on(page)] == first
    assert first[0] != other[0]


@each_page
@pytest.mark.usefixtures("quick")
def test_a_link_shows_what_its_choices_show(page):
    """However the reader got there: the page depends on the choices alone."""
    for card in cards_on(page):
        visit, chosen = opened(page, card), dict(card)
        for asked in set_in_turn(visit, BUSY, busy_value):
            chosen |= {key: BUSY[key] for key in asked}
        assert pictures(visit) == pictures(opened(page, chosen))


def busy_value(widget):
    """What a busy link asks of this control."""
    value = BUSY[widget.key]
    return int(value) if widget.type == "slider" else value


@each_page
def test_reset_sets_everything_back(page):
    untouched = opened(page, {"predict": "true"})
    for card in cards_on(page):
        is_reset(page, card, untouched)


def is_reset(page, card, untouched):
    visit = opened(page, BUSY | card)
    keys = [found.key for found in controls_on(page) if found.key not in ("predict", "lang")]
    for asked in set_in_turn(visit, keys, lambda widget: extremes(widget)[-1]):
        assert not visit.exception, asked
    next(b for b in visit.button if b.label.startswith("Reset")).click()
    visit.run()
    assert not visit.exception
    assert pictures(visit) == pictures(untouched)
    same = {key: widget.value for key, widget in widgets(visit).items() if key != "preset"}
    assert same == {key: w.value for key, w in widgets(untouched).items() if key != "preset"}
    assert not visit.info


@each_page_that_draws
def test_reset_forgets_answers(page):
    asking = opened(page, {"predict": "true"})
    radios = {key: it for key, it in widgets(asking).items() if key.startswith(GUESS)}
    guesses = {key: radio.options[0] for key, radio in radios.items()}
    visit = opened(page, {"predict": "true", **guesses})
    assert len(pictures(visit)) >= len(pictures(asking)) + len(guesses)
    next(b for b in visit.button if b.label.startswith("Reset")).click()
    visit.run()
    assert {widgets(visit)[key].value for key in radios} <= {None}
    assert pictures(visit) == pictures(asking)


def test_choices_follow_the_reader_from_page_to_page():
    visit = opened(PAGES[0], BUSY)
    for page in PAGES[1:]:
        visit.switch_page(page.relative_to(ROOT).as_posix()).run()
        shown = {key: str(w.value) for key, w in widgets(visit).items() if key in BUSY}
        assert shown == {key: BUSY[key] for key in shown}
        assert {"seed", "queries", *(["text"] if reads_text(page) else [])} <= set(shown)


@each_page
def test_what_an_experiment_chooses_can_be_linked(page):
    """A button's choices, written as a link has them, are what the page opens with."""
    first = heroes(opened(page))
    for experiment in first[0]["experiments"] if first else []:
        link = {
            key: controls.CONTROLS_BY_KEY[key].format_for_url(value)
            for key, value in experiment["choices"].items()
        }
        visit = opened(page, link)
        assert not visit.info
        if not lacks_model(visit):
            chosen = heroes(visit)[0]["choices"]
            assert {key: chosen[key] for key in link} == experiment["choices"]
