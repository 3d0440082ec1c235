"""The start page in a browser: pointing, keys, copying, and choices faster than the server."""

import io
from collections import Counter

import pytest
from PIL import Image
from playwright.sync_api import expect

from explainers.charts.theme import LIGHT, parse_colour
from explainers.toys.sentence import SENTENCE
from tests.support.visit import REDRAWN, WANTED, Visit, drag, tells_end

TOKENS = tuple(SENTENCE.split())


@pytest.fixture
def start(visit):
    """The start page, where nothing moves, with one card open."""
    return visit("", is_still=True, deep="all_words")


def word(one, name):
    return one.hero.locator(".words button", has_text=name)


SEEN = """(nodes) =>
  nodes.filter((node) => node.checkVisibility({ visibilityProperty: true })).length"""
READ_CLIPBOARD = """async () => {
  const [copied] = await navigator.clipboard.read();
  const picture = await copied.getType('image/png');
  return [...new Uint8Array(await picture.arrayBuffer())];
}"""


def test_the_picture_shows_what_is_pointed_at_and_is_copied(start):
    before = start.says.inner_text()
    word(start, "earnings").hover()
    start.expect_said("earnings gives")
    start.page.mouse.move(5, 5)
    expect(start.says).to_have_text(before)
    assert "word" not in start.choices, "pointing chooses nothing"
    assert start.says_after(word(start, "Friday")).startswith("Friday gives"), "at once"
    start.expect_in_link(word="6")
    film = start.page.get_by_role("slider", name="batches learned")
    assert "Before training" in drag(film, 0)
    start.expect_in_link(batches="0")

    start.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    stage = start.hero.locator(".stage").bounding_box()
    start.press("Copy as picture")
    expect(start.page.get_by_role("button", name="Copied")).to_be_visible()
    picture = Image.open(io.BytesIO(bytes(start.page.evaluate(READ_CLIPBOARD)))).convert("RGB")
    assert picture.width > 2 * stage["width"]
    colours = set(picture.get_flattened_data())
    assert parse_colour(LIGHT.value) in colours, "the mixture"
    assert parse_colour(LIGHT.heads[0]) in colours, "a share in the sentence"
    expect(start.page.get_by_role("button", name="Copy as picture")).to_be_visible()


PLAYED = """(hero) => new Promise((done) => {
  const seen = new Map(), says = hero.querySelector('.says');
  const look = () => {
    const shares = [...hero.querySelectorAll('.share')].map((one) => one.textContent);
    const [first] = shares.sort((a, b) => parseInt(b) - parseInt(a));
    seen.set(says.textContent, [...seen.get(says.textContent) ?? [], first]);
    if (seen.size > 8) done([...seen].slice(1, -1));
    else requestAnimationFrame(look);
  };
  look();
})"""
"""What is said while a film plays, and at each frame the largest share in the picture."""


def test_a_film_says_what_it_shows(visit):
    """Also where things move: the picture is not on its way to a frame that is told already."""
    one = visit("", batches="0")
    one.hero.get_by_role("button", name="Play: batches learned").click()
    for says, firsts in one.hero.evaluate(PLAYED):
        assert all(first in says for first in firsts), (says, firsts)


def test_each_step_stands_until_it_is_read_and_one_without_anything_is_left_out(browser, address):
    """In a browser of its own: a clock that is stopped stops for all its pages."""
    seconds, words = Counter[str](), {}
    with browser.new_context(reduced_motion="reduce") as context:
        one = Visit(context.new_page(), address).goto("")
        one.page.clock.install(time=0)
        one.page.clock.pause_at(60)  # or the time of a busy machine would be counted, too
        one.press("Show me how")
        now = one.hero.locator("[aria-current=step]")
        while (name := now.get_attribute("aria-label") or "") != "Output":
            seconds[name] += 1
            words[name] = len(one.says.inner_text().split())
            one.page.clock.run_for(1000)
        assert not one.errors
    assert [*seconds] == ["Numbers", "Query, key, value", "Scores", "Weights"]
    assert all(seconds[name] * 4 >= count - 4 for name, count in words.items()), (seconds, words)


FOCUSED = """() => {
  let one = document.activeElement;
  while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
  return [one.ariaLabel, one.innerText, one.title].filter(Boolean).map((said) => said.trim())[0];
}"""
"""What a screen reader would name, where the keyboard is."""


def test_the_page_is_walked_with_nothing_but_the_keyboard(start):
    """In the order in which it is read; and a step and an experiment need no pointer."""
    strips = start.hero.locator(".stage canvas")
    assert strips.count() > 40
    assert strips.evaluate_all(SEEN) == 0, "those of other steps are no layers of the browser"
    press, focused = start.page.keyboard.press, lambda: start.page.evaluate(FOCUSED) or ""
    start.page.get_by_role("textbox", name="Sentence").focus()
    walked = ["Sentence"]
    while "Start with the day" not in walked[-1]:
        press("Tab")
        walked.append(focused())
        assert len(walked) < 40, walked
        if "Show me how" in walked[-1]:
            press("Enter")
            start.expect_said("list of 8 numbers")
            assert strips.evaluate_all(SEEN) == len(TOKENS)
            press("ArrowRight")
            start.expect_said("Three learned matrices")
            press("ArrowLeft")
            press("Enter")
        if "Hide later words" in walked[-1]:
            for mask in ("causal", None):
                press("Enter")
                start.wait_for_choice("mask", mask)
    wanted = "announced", "Show me", "Numbers", "Output", "one word", "Hide", "Start"
    places = [next((n for n, said in enumerate(walked) if one in said), -1) for one in wanted]
    assert places == sorted(places), walked


def test_a_sentence_is_typed_or_another_one(start):
    sentence = start.page.get_by_role("textbox", name="Sentence")
    sentence.fill("The chef served hungry guests on Monday")
    word(start, "CEO").click()
    expect(word(start, "chef")).to_be_visible()
    start.expect_in_link(text="The chef served hungry guests on Monday", word="1")

    start.page.get_by_role("button", name="Read another sentence").click()
    expect(word(start, "praised")).to_have_attribute("aria-checked", "true")
    expect(sentence).to_have_value("The team praised young fans on Sunday")


FAR_AWAY = """(() => {
  const held = [];
  let isHeld = false;
  const late = (listener) => function (event) {
    if (isHeld) held.push(() => listener.call(this, event));
    else listener.call(this, event);
  };
  globalThis.hold = (isNow) => { isHeld = isNow; for (const tell of held.splice(0)) tell(); };
  const listen = WebSocket.prototype.addEventListener;
  WebSocket.prototype.addEventListener = function (kind, listener, ...more) {
    return listen.call(this, kind, kind === 'message' ? late(listener) : listener, ...more);
  };
  const told = Object.getOwnPropertyDescriptor(WebSocket.prototype, 'onmessage');
  Object.defineProperty(WebSocket.prototype, 'onmessage', {
    ...told, set(listener) { told.set.call(this, listener && late(listener)); },
  });
})()"""
"""What the server says is not heard before `hold()` lets it through, as over a slow line."""


def test_a_late_answer_takes_back_no_newer_choice(visit):
    one = visit("", is_still=True)
    one.page.add_init_script(FAR_AWAY)
    one.goto("")
    one.page.evaluate("hold(true)")
    for name in ("CEO", "record"):
        with one.socket.expect_event("framereceived", tells_end):
            word(one, name).click()
            one.page.evaluate(WANTED)
        if name == "record":  # now the server's answer to the first click comes
            one.page.evaluate("hold(true)")
            one.page.evaluate(REDRAWN)
            expect(word(one, "record")).to_have_attribute("aria-checked", "true")
    one.page.evaluate("hold(false)")
    one.expect_in_link(word="3")
    expect(word(one, "record")).to_have_attribute("aria-checked", "true")
    one.hero.locator("input[type=range]").press("Home")
    one.expect_in_link(batches="0", word="3")


@pytest.mark.rotating(4)
@pytest.mark.parametrize("page", ["tokens", "query_key_value", "scores", "masks"])
def test_a_longer_sentence_is_drawn_where_a_shorter_one_stood(stroll, page):
    one = stroll(page, tab="stories", text="The judge rejected claims")
    in_words = one.hero.locator(".in-words")
    before = in_words.inner_text()
    sentence = one.page.get_by_role("textbox", name="Sentence")
    sentence.fill("The judge rejected new claims on Sunday")
    sentence.press("Enter")
    expect(in_words).not_to_have_text(before)
    expect(one.page.get_by_text("BidiComponent Error")).to_have_count(0)
