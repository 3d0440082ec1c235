"""In front of a class: a screen per idea, turned by the keys of a remote control, and shared."""

import io
import re

import pytest
import zxingcpp
from PIL import Image

from tests.browser.test_looks import violations
from tests.support.browser_fixtures import Visit

ON = {"lecture": "true", "predict": "true"}
OLD_PROJECTOR, BIG = (1024, 768), (3840, 2160)
COMPLETE = """() => {
  const lecture = globalThis.attentionLecture;
  return lecture?.screens.length && lecture.isComplete() && lecture.at >= 0;
}"""
STILL = """() => new Promise((done) => {
  let before, frames = 0;
  const look = () => {
    const now = globalThis.attentionLecture?.look.textContent; // until it has ended
    frames = now === before ? frames + 1 : 0;
    before = now;
    if (frames === 8) done();
    else requestAnimationFrame(look);
  };
  look();
})"""
"""A screen is tried in several sizes, one every other frame: wait until there are no more."""
KIND = "() => document.documentElement.dataset.lectureKind"
CELLS = """[...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
  .flatMap((host) => [...host.shadowRoot.querySelectorAll('td.cell')])
  .filter((cell) => cell.checkVisibility({ visibilityProperty: true }))"""
NUMBERS = f"() => {CELLS}.map((cell) => [cell.value, cell.style.backgroundColor])"
"""The cells of the pictures that are shown: their numbers and colours."""
NEXT = """(kind) => {
  const { at, screens } = attentionLecture;
  return screens.findIndex((screen, number) => number > at && screen.kind === kind);
}"""
LETTERS = """(kind) => {
  const parts = document.querySelectorAll(`[data-lecture-part=${kind}]`);
  const shown = [...parts].find((part) => part.checkVisibility());
  const text = shown.querySelector('p, code') ?? shown;
  return parseFloat(getComputedStyle(text).fontSize) * text.currentCSSZoom / innerHeight;
}"""
"""How high letters are on a kind of screen, as a share of the window's height."""
DIGITS = f"""() => Math.min(...{CELLS}
  .map((cell) => [parseFloat(getComputedStyle(cell).fontSize), cell.currentCSSZoom])
  .map(([size, zoom]) => size * zoom / innerHeight))"""
TOO_LARGE = """() => {
  const box = document.querySelector('[data-testid=stMain]');
  return Math.max(box.scrollHeight / box.clientHeight, box.scrollWidth / box.clientWidth);
}"""


@pytest.fixture
def lecture(visit):
    """Open a page in front of a class."""

    def opened(path: str = "", **more) -> Visit:
        return ready(visit(path, **{**ON, **more}))

    return opened


def ready(visit: Visit) -> Visit:
    """All screens are there, and the one that is shown has its size."""
    visit.page.wait_for_function(COMPLETE)
    visit.page.evaluate(STILL)
    return visit


def place(visit: Visit) -> str:
    """The counter in the corner: 3 / 12."""
    return visit.page.locator(".lecture-bar output").inner_text()


def turn(visit: Visit, key: str) -> str:
    """Press a key; the kind of the screen that is shown then."""
    visit.page.keyboard.press(key)
    visit.page.evaluate(STILL)
    return visit.page.evaluate(KIND)


def show(visit: Visit, at: int) -> None:
    """A screen by its number, from 0."""
    visit.page.evaluate("(at) => attentionLecture.show(at)", at)
    visit.page.evaluate(STILL)


def go_to(visit: Visit, kind: str) -> None:
    """On to the next screen of a kind."""
    at = visit.page.evaluate(NEXT, kind)
    assert at > 0, f"there is no {kind}"
    show(visit, at)
    assert visit.page.evaluate(KIND) == kind


def text_of(visit: Visit) -> str:
    """All that can be read outside of pictures."""
    return visit.page.locator("[data-testid=stMain]").inner_text()


def test_a_page_is_walked_by_keys_and_no_step_asks_the_server(lecture):
    one = lecture()
    sent, kinds = one.sent, [one.page.evaluate(KIND)]
    for key in ("ArrowRight", " ", "PageDown", "ArrowRight", "ArrowRight", "ArrowRight"):
        kinds.append(turn(one, key))
    assert kinds == ["title", "picture", "code", "code", "text", "picture", "picture"]
    assert place(one).startswith("7 / ")
    assert [turn(one, "ArrowLeft"), turn(one, "PageUp")] == ["picture", "text"]
    assert place(one).startswith("5 / ")
    assert one.sent == sent
    assert one.choices["screen"] == "5"


def test_one_idea_at_a_time(lecture):
    one = lecture()
    assert not one.page.locator("[data-testid=stSidebar]").is_visible()
    hero, tinted = one.page.locator(".st-key-journey"), one.page.locator(".st-key-one-sentence")
    title = text_of(one)
    assert "Attention in one picture" in title
    assert "How it works" not in title
    assert not hero.is_visible()
    assert one.page.evaluate(NUMBERS) == []
    turn(one, "ArrowRight")
    assert hero.is_visible()
    seen = []
    for at in one.page.evaluate(SCREENS, "7-matrices"):
        show(one, at)
        seen.append(len(one.page.evaluate(NUMBERS)))
        assert not hero.is_visible()
        assert not tinted.is_visible()
    assert seen == [7 * 8 + 3 * 7 * 4, 2 * 7 * 7 + 7 * 4]
    go_to(one, "end")
    assert tinted.is_visible()
    assert not text_of(one).replace(tinted.inner_text(), "").strip()


WIDE = """() => Math.max(...[...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
  .flatMap((host) => [...host.shadowRoot.querySelectorAll('.stage')])
  .filter((stage) => stage.checkVisibility({ visibilityProperty: true }))
  .map((stage) => stage.scrollWidth / stage.clientWidth))"""


SCREENS = """(picture) => attentionLecture.screens.map(({ id }, at) => [id, at])
  .filter(([id]) => id.startsWith(`picture st-key-picture-${picture} `)).map(([_, at]) => at)"""
"""Over how many screens, and which, a picture was dealt out."""


@pytest.mark.parametrize(
    ("path", "picture", "screens", "matrices"),
    [
        ("masks", "masks", 2, 5),
        ("cross_attention", "padding", 2, 2),
        ("scores", "step-output", 1, 3),
    ],
)
def test_wide_pictures_are_dealt_out_and_can_be_read(lecture, path, picture, screens, matrices):
    one = lecture(path, size=OLD_PROJECTOR)
    places, seen = one.page.evaluate(SCREENS, picture), []
    for at in places:
        show(one, at)
        seen += one.page.locator(".panel:visible .title .name").all_inner_texts()
        assert one.page.evaluate(TOO_LARGE) < 1.01
        assert one.page.evaluate(WIDE) < 1.01
        assert one.page.evaluate(DIGITS) > 0.013
    assert len(places) == screens
    assert len(seen) == matrices


def show_picture(one, name):
    """Turn to the screen of a picture."""
    [at] = one.page.evaluate(SCREENS, name)
    show(one, at)


def test_equal_numbers_have_equal_colours_from_step_to_step(lecture):
    """The products end the first step and begin the second; beside them stand the scores."""
    one, steps = lecture("scores", weights="untrained"), []
    for step in ("products", "scores"):
        show_picture(one, f"step-{step}")
        steps.append(one.page.evaluate(NUMBERS))
    first, second = steps
    products, scores = second[: 7 * 7], second[7 * 7 :]
    assert first[-7 * 7 :] == products
    near = [(p, s) for p in products for s in scores if abs(p[0] - s[0]) < 0.01]
    assert len(near) > 7
    for (_, there), (_, here) in near:
        assert [int(n) for n in re.findall(r"\d+", there)] == pytest.approx(
            [int(n) for n in re.findall(r"\d+", here)], abs=2
        )


def test_what_was_hidden_and_now_holds_a_screen_is_seen(lecture):
    """A place that held a control until a model came is no control any more."""
    one = lecture("scores")
    one.page.evaluate("""() => {
      const block = document.querySelector('[class*=st-key-picture-step-products]');
      Object.assign(block.parentElement.dataset, { lecture: 's0', lecturePart: 'controls' });
      attentionLecture.group();
    }""")
    show_picture(one, "step-products")
    assert one.page.evaluate(NUMBERS)


def test_a_question_then_what_comes_out_then_the_picture(lecture):
    one = lecture()
    go_to(one, "ask")
    asked = text_of(one)
    assert "the number that changes is ?." in " ".join(asked.split())
    assert turn(one, "ArrowRight") == "reveal"
    assert "the number that changes is 1." in " ".join(text_of(one).split())
    assert turn(one, "ArrowRight") == "picture"
    assert len(one.page.evaluate(NUMBERS)) == 2 * 7 * 4


def test_a_class_is_offered_the_answers_to_a_prediction(lecture):
    one = lecture("kv_cache")
    go_to(one, "ask")
    assert "just show me" not in text_of(one)
    options = one.page.locator("[data-testid=stRadioOption]:visible").all_inner_texts()
    assert len(options) > 1
    assert len({option.strip() for option in options}) == len(options)


def test_the_next_page_follows_and_the_one_before_ends_with_its_end(lecture):
    one = lecture()
    last = len(one.page.evaluate("attentionLecture.screens"))
    show(one, last - 1)
    turn(one, "PageDown")
    one.page.wait_for_url("**/tokens?**")
    ready(one)
    assert place(one).startswith("1 / ")
    assert one.choices["lecture"] == "true"
    turn(one, "PageUp")
    one.page.wait_for_function("() => location.pathname === '/'")
    ready(one)
    assert place(one) == f"{last} / {last}"


def test_a_key_begins_and_ends_it_and_typing_does_not(visit):
    one = visit("scores")
    field = one.page.get_by_role("textbox", name="Sentence")
    field.fill("all well")
    field.press("l")
    assert not one.page.evaluate("Boolean(globalThis.attentionLecture)")
    field.press("Enter")
    one.wait_for_choice("text", "all welll")
    one.page.locator("h1").click()
    one.page.keyboard.press("L")
    one.wait_for_choice("lecture", "true")
    ready(one)
    turn(one, "ArrowRight")
    turn(one, "c")
    field.click()
    before = place(one)
    for key in (" ", "ArrowLeft", "ArrowRight", "PageDown", "q", "Escape"):
        field.press(key)
    assert place(one) == before
    one.page.locator(".lecture-bar output").click()
    one.page.evaluate("document.activeElement.blur()")
    turn(one, "Escape")
    one.wait_for_choice("lecture", None)
    one.wait_for_choice("screen", None)
    assert one.page.locator("[data-testid=stSidebar]").is_visible()


def test_a_remote_control_turns_the_screen_after_a_click_in_a_picture(lecture):
    one = lecture("scores")
    show_picture(one, "step-products")
    one.page.locator(".panel td.cell:visible").nth(3).click()
    before = place(one)
    turn(one, "ArrowRight")
    assert place(one) != before
    assert one.page.evaluate(KIND) == "code"


@pytest.mark.parametrize("size", [OLD_PROJECTOR, BIG], ids=["1024x768", "3840x2160"])
def test_it_can_be_read_from_the_last_row(lecture, size):
    """Shares of the window's height: 1/30 is 24 lines of text on a screen."""
    one = lecture("", size=size)
    go_to(one, "code")
    assert one.page.evaluate(LETTERS, "code") > 0.018
    matrices = one.page.evaluate(SCREENS, "7-matrices")
    assert len(matrices) == 2
    for at in matrices:
        show(one, at)
        assert 0.011 < one.page.evaluate(DIGITS) < 1
        assert one.page.evaluate(TOO_LARGE) < 1.01
    go_to(one, "text")
    assert one.page.evaluate(LETTERS, "text") > 1 / 30
    go_to(one, "ask")
    assert one.page.evaluate(LETTERS, "ask") > 1 / 30
    assert one.page.evaluate(TOO_LARGE) < 1.01


def test_a_chart_fills_the_window_and_tells_its_numbers(lecture):
    one = lecture("kv_cache", size=OLD_PROJECTOR)
    one.page.wait_for_selector(".vega-embed svg", state="attached")
    while not one.page.locator(".vega-embed svg.marks:visible").count():
        go_to(one, "picture")
    marks = one.page.locator(".vega-embed svg.marks:visible").bounding_box()
    assert marks
    assert 0.85 * OLD_PROJECTOR[0] < marks["width"] <= OLD_PROJECTOR[0]
    one.page.locator(".vega-embed svg .mark-symbol path:visible").nth(3).hover()
    assert one.page.locator("#vg-tooltip-element.visible").inner_text()


def test_the_code_and_the_short_link_open_the_same_screen(lecture, browser, address):
    one = lecture("query_key_value", seed="7", queries="across", size=OLD_PROJECTOR)
    turn(one, "ArrowRight")
    turn(one, "q")
    one.page.wait_for_selector(".lecture-share svg")
    photograph = Image.open(io.BytesIO(one.page.screenshot()))
    (code,) = zxingcpp.read_barcodes(photograph)
    short = one.page.locator(".lecture-share strong").inner_text()
    for _ in range(2):  # away, and the same link again
        turn(one, "q")
    one.page.wait_for_selector(".lecture-share svg")
    assert code.text == one.page.url
    assert len(short) < len(f"{address}/") + 15
    turn(one, "q")
    with browser.new_context(viewport={"width": 390, "height": 844}) as elsewhere:
        for link in (code.text, short):
            other = Visit(elsewhere.new_page(), address)
            other.follow_raw(link.removeprefix(f"{address}/"))
            ready(other)
            assert other.choices == one.choices
            assert place(other) == place(one)
            assert other.page.evaluate(NUMBERS) == one.page.evaluate(NUMBERS)


@pytest.mark.parametrize(
    ("asked", "shown"), [("99", "last"), ("0", "1 /"), ("-1", "1 /"), ("<b>x</b>", "1 /")]
)
def test_an_absurd_screen_is_told(lecture, asked, shown):
    one = lecture("claims", screen=asked)
    at, count = place(one).split(" / ")
    assert at == (count if shown == "last" else "1")
    assert f"{asked}" in one.page.locator(".lecture-bar [role=status]").inner_text()


def test_a_hostile_short_link_is_told(visit):
    one = visit("scores", go="<script>alert(1)</script> [a](http://x.invalid)", d_k="8")
    note = one.page.locator("[data-testid=stAlert]").inner_text()
    assert "<script>alert(1)</script>" in note
    assert one.choices["d_k"] == "8"
    assert "go" not in one.choices


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_left_out(lecture, scheme):
    one = lecture("", scheme=scheme)
    for kind in ("picture", "code", "ask", "reveal"):
        go_to(one, kind)
        assert violations(one) == []
    said = one.page.locator(".lecture-voice").inner_text()
    assert place(one).split(" / ")[0] in said
    for button in one.page.locator(".lecture-bar button").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 44
        assert button.get_attribute("aria-label")
    turn(one, "q")
    one.page.wait_for_selector(".lecture-share svg")
    assert violations(one) == []
