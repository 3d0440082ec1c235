"""Absurd links and texts: no page ever breaks, and every page says what it changed.

Some links are made up: with each commit they are others, and for the same ATTENTION_TURN the same.
To look further, name another number:
`ATTENTION_EXAMPLES=20000 python -m pytest tests/pages/test_any_link.py`.
What each kind of control makes of them is tried in `test_bad_links.py`, without a page.
"""

import functools
import itertools
import os
import zlib
from string import ascii_lowercase, printable

import pytest
from hypothesis import HealthCheck, example, given, seed, settings
from hypothesis import strategies as st
from playwright.sync_api import expect

from explainers.toys.sentence import SENTENCE, split_words
from explainers.ui.controls import name_controls, number_controls
from explainers.ui.controls.controls import CONTROLS_BY_KEY
from explainers.ui.limits import LONGEST_LINK
from explainers.ui.text.language import list_languages
from tests.pages.test_bad_links import CHANGED, DIRECTIVES, TEXTS, VALUES, is_told, notes, obeyed
from tests.support import browser_fixtures
from tests.support.opening import PAGES, ROOT, cards_in_turn, cards_on, opened, pictures
from tests.support.tiers import EVERYTHING, TURN

OF_ALL = {"text", "preset", "predict", "real_model", "lang"}
"""The text, the switches of pictures and languages, and a model without which there are none."""
MOST = 500
"""Characters for one choice of many: a server takes links of 8 KiB."""
KINDS = {
    f"{text}, {value}": (texts[text], VALUES[value])
    for texts in [TEXTS | CHANGED]
    for text, value in zip(texts, itertools.cycle(VALUES), strict=False)
}


each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


# Of 14 kinds and 24 pages: about one kind on each page, another one with each commit.
@pytest.mark.rotating(13)
@pytest.mark.parametrize(("text", "value"), KINDS.values(), ids=KINDS)
@each_page
@pytest.mark.usefixtures("small_models")
def test_a_link_that_cannot_be_obeyed(page, text, value):
    """All choices that there are ask for it at once, on the page and in one of its cards."""
    for card in cards_in_turn(page):
        asked = dict.fromkeys(CONTROLS_BY_KEY.keys() - OF_ALL, value[:MOST])
        asked |= {"text": text, **card}
        visit = opened(page, asked)
        assert not visit.exception
        assert all(len(note) < 1_000 for note in notes(visit))
        here = [key for key in asked if key in visit.session_state and key != "text"]
        ignored = [key for key in here if not is_told(visit, key)]
        assert [key for key in ignored if not obeyed(visit, key, asked[key])] == []


@pytest.mark.rotating(12)
@each_page
def test_what_no_page_asked_for_is_left_alone(page):
    visit = opened(page, {"utm_source": "mail", "d_kk": "5", "": "x"})
    assert not visit.exception
    assert not notes(visit)
    assert pictures(visit) == pictures(opened(page))


TAGS = """() => {
  const counted = {}, look = (node) => {
    for (const child of node.children) {
      if (child.tagName === 'PRE') continue; // code is coloured by what it says
      counted[child.tagName] = (counted[child.tagName] ?? 0) + 1;
      look(child);
      if (child.shadowRoot) look(child.shadowRoot);
    }
  };
  look(document.body);
  return counted;
}"""
"""How many elements of each kind the page has, pictures included."""
TAKEN = "A", "IMG", "SCRIPT"
"""Elements that these texts would bring."""
IN_BROWSER = {
    "words": "<img src=x onerror=alert(1)> [a](http://x.invalid)",
    "characters": "<script>alert(1)</script> :material/home: <b>",
    "byte pairs": "**b** $x^2$ :red[x] # h `c`",
}
"""By how the page on tokens cuts it: an image and a link, a script and an icon, Markdown, LaTeX."""


def harmless(text):
    """A text of as many tokens, as many of them different, of the same lengths, all letters."""
    words = split_words(text)
    letters = dict(zip(dict.fromkeys(words), ascii_lowercase, strict=False))
    return " ".join(letters[word] * len(word) for word in words)


@pytest.mark.rotating(12)
@each_page
def test_no_markup_is_taken_over(page, stroll):
    path, text = browser_fixtures.PAGES[page.stem], IN_BROWSER["words"]
    known = ""
    if path == "cross_attention":  # where too little of a text is known nothing is drawn
        known, text = f"{SENTENCE} ", "<img src=x>"
    hostile = stroll(path, tab="hostile", text=known + text, seed=DIRECTIVES)
    plain = stroll(path, tab="plain", text=known + harmless(text), seed="nonsense")
    found, expected = (one.page.evaluate(TAGS) for one in (hostile, plain))
    assert [found.get(tag) for tag in TAKEN] == [expected.get(tag) for tag in TAKEN]


@pytest.mark.rotating(3)
@pytest.mark.parametrize(("unit", "text"), IN_BROWSER.items())
def test_no_markup_is_taken_over_from_pieces_of_a_text(stroll, unit, text):
    page = stroll("tokens", tab="hostile", text=text, unit=unit).page
    page.locator(".tokens-chip").first.wait_for()
    drawn = "".join(page.locator(".tokens-chip").all_text_contents())
    assert all(word in drawn for word in split_words(text))
    main = page.get_by_test_id("stMain")
    assert main.locator("img, script, .katex, a[href*=invalid]").count() == 0


def test_addresses_that_are_no_links_of_ours(visit):
    """Half a character, as long as a server takes it, and a page that does not exist."""
    one = visit("relative_positions", text="word " * (LONGEST_LINK // 5 - 10), seed="7")
    expect(one.page.get_by_text("Only the first 24")).to_be_visible()
    one.follow_raw("tokens?predict=false&seed=7&text=a%ED%A0%80b%FF").ready()
    expect(one.page.locator(".tokens-chip").first).to_have_text("a")
    one.follow_raw("nowhere?predict=false&seed=7")
    expect(one.page.get_by_role("dialog")).to_contain_text("Page not found")
    one.page.keyboard.press("Escape")
    expect(one.page.get_by_role("heading", level=1)).to_have_text("Attention in one picture")
    one.page.get_by_role("button", name="Settings").click()
    one.page.get_by_role("slider", name="Seed").press("ArrowRight")
    one.wait_for_choice("seed", "8")
    assert all("does not seem to exist" in error for error in one.errors)
    one.errors.clear()


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
