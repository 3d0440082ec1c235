"""Links that are made up: on any page, in any language, none breaks it, and none is half obeyed.

With each commit they are others, and for the same ATTENTION_TURN the same. To look further, name
another number: `ATTENTION_EXAMPLES=20000 python -m pytest tests/pages/test_any_link.py`.
"""

import functools
import os
import zlib
from string import printable

import pytest
from hypothesis import HealthCheck, example, given, seed, settings
from hypothesis import strategies as st

from explainers.ui.controls import name_controls, number_controls
from explainers.ui.controls.controls import CONTROLS_BY_KEY
from explainers.ui.text.language import list_languages
from tests.pages.test_bad_input import OF_ALL
from tests.pages.test_bad_links import TEXTS, VALUES, is_told, obeyed
from tests.support.opening import PAGES, ROOT, cards_on, opened
from tests.support.tiers import EVERYTHING, TURN

EXAMPLES = int(os.environ.get("ATTENTION_EXAMPLES", 200 if EVERYTHING else 30))
LANGUAGES = [None, *list_languages(), "xx", ""]
MOST_CHOICES = 8
WITHOUT_NOTE = OF_ALL | {"deep", "compared"}
"""Choices whose notes have words of their own, and have tests of their own."""


@functools.cache
def keys_by_page():
    """The choices that are on a page without its cards, and below None all: pages add to them."""
    states = {page: opened(page).session_state for page in PAGES}
    keys = sorted(CONTROLS_BY_KEY)
    by_page = {page: [key for key in keys if key in state] for page, state in states.items()}
    return {None: keys, **by_page}


def good_values(control):
    """What a choice may be, as far as that is known without its page."""
    match control:
        case name_controls.Choice(options=options) if options:
            return st.sampled_from(list(options))
        case number_controls.WholeNumber() | number_controls.RestrictedSlider():
            return st.integers(control.low, control.high).map(str)
        case number_controls.StepSlider() | number_controls.BrowserSlider():
            return st.sampled_from([f"{step:g}" for step in control.steps])
        case number_controls.Switch():
            return st.sampled_from(["true", "false"])
        case number_controls.TypedNumber():
            return st.sampled_from([f"{number:,}" for number in control.usual])
        case name_controls.SentenceText():
            return st.sampled_from(list(TEXTS.values()))
        case number_controls.Counter():
            return st.integers(0, 12).map(str)
    return st.nothing()


BAD = st.one_of(
    st.sampled_from(list(VALUES.values())),
    st.text(max_size=30),
    st.text(printable, max_size=30),
    st.integers().map(str),
    st.floats().map(str),
    st.lists(st.sampled_from(["3", "", "trained", "nonsense", "true"]), min_size=2, max_size=3),
)


@st.composite
def links(draw):
    """(page, {name: value}, names whose values are good)."""
    page = draw(st.sampled_from(PAGES))
    names = draw(
        st.lists(st.sampled_from(keys_by_page()[page]), max_size=MOST_CHOICES, unique=True)
    )
    names += draw(st.lists(st.sampled_from(keys_by_page()[None]), max_size=2))
    link, good = {}, set()
    for name in dict.fromkeys(names):
        values = good_values(CONTROLS_BY_KEY[name])
        is_good = not values.is_empty and draw(st.booleans())
        link[name] = draw(values if is_good else BAD)
        good |= {name} if is_good else set()
    language = draw(st.sampled_from(LANGUAGES))
    link |= {} if language is None else {"lang": language}
    link |= draw(st.sampled_from([{}, *cards_on(page)]))
    return page, link, good


@pytest.mark.usefixtures("small_models")
@seed(zlib.crc32(TURN.encode()))
@settings(
    max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
@given(links())
@example((ROOT / "pages/09_shared_heads.py", {"heads": "", "kv_heads": "4" * 5000}, set()))
def test_any_link_is_obeyed_or_answered(made):
    page, link, good = made
    visit = opened(page, link)
    assert not visit.exception, [one.message for one in visit.exception]
    for name in good - WITHOUT_NOTE:
        if name in visit.session_state:
            kept = obeyed(visit, name, link[name])
            assert is_told(visit, name) or kept, f"{name} = {link[name]}"
