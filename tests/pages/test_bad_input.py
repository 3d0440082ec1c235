"""Absurd links and texts: no page ever breaks, and every page says what it changed."""

import math
from string import ascii_lowercase

import pytest
from playwright.sync_api import expect

from explainers.toys.sentence import MAX_CHARACTERS, SENTENCE, split_words
from explainers.ui.controls import controls
from explainers.ui.controls.number_controls import BrowserSlider
from explainers.ui.limits import LONGEST_LINK
from explainers.ui.session import SIZE
from tests.support import browser_fixtures
from tests.support.opening import PAGES, controls_on, opened, pictures, reads_text, widgets

MARKUP = "<script>alert(1)</script> <img src=x onerror=alert(1)> [a](http://x.invalid) **b** $x^2$"
DIRECTIVES = (
    ":red[x] :material/home: :blue-background[y] # h `c` ~~d~~ ![i](http://x.invalid/i.png)"
)
VALUES: dict[str, str | list[str]] = {
    "empty": "",
    "spaces": "   ",
    "huge": "9" * 400,
    "negative": "-1",
    "endlessly negative": "-1e999",
    "not a number": "nan",
    "between": "2.5",
    "a word": "nonsense",
    "repeated": ["3", "5"],
    "long": "4" * 5_000,
    "other digits": "٤",
    "control characters": "\x00\x1b[31m4",
    "markup": f"{MARKUP} {DIRECTIVES}",
}
FEW = "empty", "huge", "a word", "repeated"
"""What a control is asked for that shows up only with another one's choice."""
TEXTS = {
    "right-to-left": "שלום עולם مرحبا بالعالم",
    "joined emoji": "👩‍👩‍👧 won 🏴‍☠️ 💃🏽 🇻🇳",
    "accents on accents": "Z͑ͫ̓ͪ̂ͫ̽a͇ḻg̛o",
    "markup": MARKUP,
    "directives": DIRECTIVES,
    "code": "{{moved}} {0} %s ${x} \\n \\u0041",
}
CHANGED = {
    "empty": "",
    "spaces": "  \t ",
    "long": "word " * 20_000,
    "one long word": "x" * 100_000,
    "control characters": "a\x00b\x07c\x1b[31md",
    "overrides of direction": "abc \u202edef\u202c \u2067ghi\u2069",
    "nothing to see": "\u200b\u200b\ufeff",
    "too many words": " ".join(f"w{n}" for n in range(60)),
}

OF_ALL = {"text", "preset", "predict", "real_model", "lang"}
"""The text, the switches of pictures and languages, and a model without which there are none."""
ELSEWHERE = SIZE, "answer ", "built: ", "held-out sentence", "translator", "written_from"
"""Keys that begin so have tests of their own, or stand in no link."""


def each_page(test):
    return pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem, scope="module")(test)


def each_page_with_a_text(test):
    pages = [page for page in PAGES if reads_text(page)]
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.stem)(test)


def notes(visit):
    """What the page says it changed, as a reader reads it."""
    return [note.value.replace("\\", "") for note in [*visit.info, *visit.warning]]


def chosen(visit, key):
    """What a control shows now, as it stands in a link."""
    value = visit.session_state[key]
    if isinstance(value, list):  # several may be chosen; a link repeats the name for each
        return ", ".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def obeyed(visit, key, asked):
    """Does the control show what the link asks for? Of several values the last one counts."""
    shown, asked = chosen(visit, key), asked[-1] if isinstance(asked, list) else asked
    try:
        return shown == asked or math.isclose(float(asked), float(shown))  # a text may be "nan"
    except (TypeError, ValueError):
        return shown == asked


def choices(page):
    """{link: {key: a value that is not its default}}: what a link may ask for on a page.

    What decides on all others, and what claims speak of, have tests of their own.
    """
    by_link: dict[tuple[tuple[str, str], ...], dict[str, str]] = {(): {}}
    shown = {}
    for key, values, link in controls_on(page):
        if key not in OF_ALL and not key.startswith(ELSEWHERE):
            asked = tuple(link.items())
            if asked not in shown:
                shown[asked] = opened(page, link)
            default = chosen(shown[asked], key)
            if key == controls.followed_word.key and isinstance(values[0], str):
                values = (*range(len(values)),)  # a list of words: a link says the place of one
            others = [str(value) for value in values if str(value) != default]
            if others:  # of a single picture there is no other matrix to choose
                by_link.setdefault(asked, {})[key] = others[0]
    live = [
        control
        for control in controls.CONTROLS_BY_KEY.values()
        if isinstance(control, BrowserSlider)
    ]
    here = opened(page).session_state
    by_link[()] |= {control.key: f"{control.steps[0]:g}" for control in live if control.key in here}
    return by_link


@each_page
@pytest.mark.usefixtures("quick")
def test_a_link_that_cannot_be_obeyed(page):
    for link, good in choices(page).items():
        for bad in filter(None, (list(good)[::2], list(good)[1::2])):
            # Which of these there are depends on others, which may be kept as well.
            kept = {
                key: good[key]
                for key in good
                if key not in [*bad, "matrix", "d_k", "claim", "exercise", "lecture"]
            }
            for kind, value in VALUES.items():
                if link and kind not in FEW:
                    continue
                visit = opened(page, dict(link) | kept | dict.fromkeys(bad, value))
                assert not visit.exception, f"{bad} are {kind}"
                said = notes(visit)
                for key in bad:
                    told = any(f"{key} =" in note for note in said)
                    assert told or obeyed(visit, key, value), f"{key} is {kind}, and nothing said"
                assert {key: chosen(visit, key) for key in kept} == kept, f"{bad} are {kind}"


@each_page
def test_a_link_with_a_bad_switch_of_predictions(page):
    for kind, value in VALUES.items():
        visit = opened(page, {"predict": value, "seed": "7"})
        assert not visit.exception
        assert any("predict =" in note for note in notes(visit)), kind
        assert chosen(visit, "seed") == "7"


@each_page_with_a_text
def test_any_text_is_read(page):
    for kind, visit in linked_and_typed(page, TEXTS):
        assert not visit.exception, kind
        assert visit.text_input(key="text").value == TEXTS[kind]
        assert chosen(visit, "seed") == "7", kind
        of_head = "New to it:"
        assert all("Only the first 24" in note or of_head in note for note in notes(visit)), kind


@each_page_with_a_text
def test_a_text_that_is_changed(page):
    for kind, visit in linked_and_typed(page, CHANGED):
        assert not visit.exception, kind
        # The inspector's model reads more than 24 words; what it leaves out the page says itself.
        is_read = page.stem == "17_inspector" and kind == "too many words"
        assert notes(visit) or is_read, kind
        assert chosen(visit, "seed") == "7", kind
        assert len("".join(notes(visit))) < 1_000, kind


def linked_and_typed(page, texts):
    """The page with each text from a link, then typed, one after the other, where it has room."""
    for kind, text in texts.items():
        yield kind, opened(page, {"text": text, "seed": "7"})
    visit = opened(page, {"seed": "7"})
    for kind, text in texts.items():
        if len(text) <= MAX_CHARACTERS:
            visit.text_input(key="text").set_value(text)
            yield kind, visit.run()


@each_page_with_a_text
@pytest.mark.parametrize("text", ["", "\x00"])
def test_a_text_without_words_is_the_running_sentence(page, text):
    visit = opened(page, {"text": text})
    assert any(SENTENCE in note for note in notes(visit))
    assert pictures(visit) == pictures(opened(page))


@each_page
def test_a_note_goes_when_its_control_is_touched(page):
    visit = opened(page, {"seed": "nonsense"})
    assert notes(visit)
    widgets(visit)["seed"].set_value(7)
    assert not notes(visit.run())
    widgets(visit)["seed"].set_value(0)
    assert not notes(visit.run())


@each_page
def test_a_note_stays_while_others_are_touched(page):
    visit = opened(page, {"seed": "nonsense"})
    said = notes(visit)
    widgets(visit)["queries"].set_value("across")
    assert notes(visit.run()) == said


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
TAKEN = {"A", "IMG", "SCRIPT"}
"""Elements that these texts would bring."""
IN_BROWSER = {
    "an image and a link": "<img src=x onerror=alert(1)> [a](http://x.invalid)",
    "a script and an icon": "<script>alert(1)</script> :material/home: <b>",
    "Markdown and LaTeX": "**b** $x^2$ :red[x] # h `c`",
}


def harmless(text):
    """A text of as many tokens, as many of them different, of the same lengths, all letters."""
    words = split_words(text)
    letters = dict(zip(dict.fromkeys(words), ascii_lowercase, strict=False))
    return " ".join(letters[word] * len(word) for word in words)


@each_page
def test_no_markup_is_taken_over(page, stroll):
    path = browser_fixtures.PAGES[page.stem]
    text = IN_BROWSER["an image and a link"]
    hostile = stroll(path, tab="hostile", text=text, seed=DIRECTIVES)
    plain = stroll(path, tab="plain", text=harmless(text), seed="nonsense")
    found, expected = (one.page.evaluate(TAGS) for one in (hostile, plain))
    if path in ("", "tokens", "inspector", "head_gallery"):  # tokens that depend on the letters
        found, expected = ({tag: n.get(tag) for tag in TAKEN} for n in (found, expected))
    assert found == expected


@pytest.mark.parametrize(
    ("kind", "unit"), list(zip(IN_BROWSER, ["words", "characters", "byte pairs"], strict=True))
)
def test_no_markup_is_taken_over_from_pieces_of_a_text(visit, kind, unit):
    text = IN_BROWSER[kind]
    one = visit("tokens", text=text, unit=unit)
    one.page.locator(".tokens-chip").first.wait_for()
    drawn = "".join(one.page.locator(".tokens-chip").all_text_contents())
    assert all(word in drawn for word in split_words(text))
    main = one.page.get_by_test_id("stMain")
    assert main.locator("img, script, .katex, a[href*=invalid]").count() == 0


def test_a_page_that_does_not_exist(visit):
    one = visit("nowhere", seed="7")
    expect(one.page.get_by_role("dialog")).to_contain_text("Page not found")
    one.page.keyboard.press("Escape")
    expect(one.page.get_by_role("heading", level=1)).to_have_text("Attention in one picture")
    one.page.get_by_role("button", name="Settings").click()
    one.page.get_by_role("slider", name="Seed").press("ArrowRight")
    one.wait_for_choice("seed", "8")
    assert all("does not seem to exist" in error for error in one.errors)
    one.errors.clear()


def test_half_a_character_in_a_link(visit):
    one = visit("tokens")
    one.follow_raw("tokens?predict=false&deep=sum&seed=7&text=a%ED%A0%80b%FF").ready()
    expect(one.page.locator('.panel[aria-label="X"] th.row').first).to_have_text("a")
    one.page.get_by_role("button", name="Settings").click()
    one.page.get_by_role("slider", name="Seed").press("ArrowRight")
    expect(one.page.get_by_text("seed 8").first).to_be_visible()


def test_a_link_as_long_as_a_server_takes_it(visit):
    one = visit("tokens", text="word " * (LONGEST_LINK // 5 - 10), seed="7")
    expect(one.page.get_by_text("Only the first 24")).to_be_visible()
    assert one.choices["seed"] == "7"
