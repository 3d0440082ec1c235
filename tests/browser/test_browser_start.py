"""The start page in a browser: pointing, playing, dragging and trying, without a server's help."""

import io

import pytest
from PIL import Image
from playwright.sync_api import expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from explainers.charts.theme import LIGHT, parse_colour
from explainers.toys.readable_head import FILM_SEED, film_of, load_readable_layer
from explainers.toys.sentence import SENTENCE
from explainers.ui.text.numbers import write_percent
from tests.support.browser_fixtures import Visit

TOKENS = tuple(SENTENCE.split())


@pytest.fixture
def start(visit):
    """The start page, where nothing moves, with one card open."""
    one = visit("", deep="all_words")
    one.page.emulate_media(reduced_motion="reduce")
    return one


def word(one, name):
    return one.page.locator(".hero .words button", has_text=name)


def find_largest(weights):
    place = max(range(len(weights)), key=weights.__getitem__)
    return TOKENS[place], write_percent(weights[place])


def load_weights(rule):
    layer = load_readable_layer(TOKENS, rule, FILM_SEED)
    return film_of(layer.tokens, rule).weights[-1].tolist()


SEEN = """(nodes) =>
  nodes.filter((node) => node.checkVisibility({ visibilityProperty: true })).length"""
READ_CLIPBOARD = """async () => {
  const [copied] = await navigator.clipboard.read();
  const picture = await copied.getType('image/png');
  return [...new Uint8Array(await picture.arrayBuffer())];
}"""
IN_LINES = """() => [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
  .map((host) => [...host.shadowRoot.querySelectorAll('.panel')])
  .map((panels) => panels.map((panel) => panel.getBoundingClientRect().left))
  .find((lefts) => lefts.length)
  .map((left, n, all) => n > 0 && left < all[n - 1])"""


def test_the_picture_shows_what_is_pointed_at_clicked_and_turned(start):
    before = start.says.inner_text()
    word(start, "earnings").hover()
    expect(start.says).to_contain_text("earnings gives")
    start.page.mouse.move(5, 5)
    expect(start.says).to_have_text(before)
    assert "word" not in start.choices, "pointing chooses nothing"

    button = start.page.get_by_role("button", name="Hide later words")
    button.click()
    first, share = find_largest(load_weights("causal")[2])
    expect(start.says).to_contain_text(f"{share} of its attention to {first}")
    expect(start.page.locator(".hero .card.on p")).to_contain_text(f"{first} now gets {share}")
    start.wait_for_choice("mask", "causal")
    start.page.get_by_role("button", name="Reset", exact=True).click()
    expect(start.says).to_have_text(before)
    start.wait_for_choice("mask", None)

    weights = film_of(TOKENS, "full").weights[-1]
    first, share = find_largest(weights[TOKENS.index("Friday")].tolist())
    said = start.says_after(word(start, "Friday"))
    assert said.startswith(f"Friday gives {share} of its attention to {first}."), "at once"
    start.wait_for_choice("word", "6")
    expect(word(start, "Friday")).to_have_attribute("aria-checked", "true")

    start.page.get_by_role("radio", name="all words", exact=True).click()
    shown = [write_percent(w) if w >= 0.005 else "0" for row in load_weights("full") for w in row]
    expect(start.page.locator(".hero .cell")).to_have_text(shown)
    start.page.get_by_role("radio", name="one word", exact=True).click()
    film = start.page.get_by_role("slider", name="batches learned")
    film.evaluate("(range) => { range.value = 0; range.dispatchEvent(new Event('input')); }")
    expect(start.says).to_contain_text("Before training")
    first, share = find_largest(film_of(TOKENS, "full").weights[0, 6].tolist())
    expect(start.says).to_contain_text(f"{share} to {first}")
    start.wait_for_choice("batches", "0")

    start.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    stage = start.page.locator(".hero .stage").bounding_box()
    start.page.get_by_role("button", name="Copy as picture").click()
    expect(start.page.get_by_role("button", name="Copied")).to_be_visible()
    picture = Image.open(io.BytesIO(bytes(start.page.evaluate(READ_CLIPBOARD)))).convert("RGB")
    assert picture.width > 2 * stage["width"]
    colours = set(picture.get_flattened_data())
    assert parse_colour(LIGHT.value) in colours, "the mixture"
    assert parse_colour(LIGHT.heads[0]) in colours, "a share in the sentence"
    expect(start.page.get_by_role("button", name="Copy as picture")).to_be_visible()


FOCUSED = """() => {
  let one = document.activeElement;
  while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
  return [one.ariaLabel, one.innerText, one.title].filter(Boolean).map((said) => said.trim())[0];
}"""
"""What a screen reader would name, where the keyboard is."""


def test_the_page_is_walked_with_nothing_but_the_keyboard(start):
    """In the order in which it is read; and a step and an experiment need no pointer."""
    strips = start.page.locator(".hero .stage canvas")
    assert strips.count() > 40
    assert strips.evaluate_all(SEEN) == 0, "those of other steps are no layers of the browser"
    press, focused = start.page.keyboard.press, lambda: start.page.evaluate(FOCUSED) or ""
    word(start, "announced").focus()
    press("ArrowRight")
    expect(start.says).to_contain_text("record gives")
    press("ArrowLeft")
    start.page.get_by_role("textbox", name="Sentence").focus()
    walked = ["Sentence"]
    while "Start with the day" not in walked[-1]:
        press("Tab")
        walked.append(focused())
        assert len(walked) < 40, walked
        if "Show me how" in walked[-1]:
            press("Enter")
            expect(start.says).to_contain_text("list of 8 numbers")
            assert strips.evaluate_all(SEEN) == len(TOKENS)
            press("Enter")
        if "Hide later words" in walked[-1]:
            press("Enter")
            start.wait_for_choice("mask", "causal")
            press("Enter")
            start.wait_for_choice("mask", None)
    wanted = "announced", "Show me", "Numbers", "Output", "one word", "Hide", "Start"
    places = [next((n for n, said in enumerate(walked) if one in said), -1) for one in wanted]
    assert places == sorted(places), walked

    start.page.locator(".hero .stop").nth(0).click()
    for said in (
        "list of 8 numbers",
        "Three learned matrices",
        "compared with every key",
        "mask",
        "Softmax",
        "The sum is the new vector of announced",
    ):
        press("ArrowRight")
        expect(start.says).to_contain_text(said)
    assert start.page.locator(".hero .stop.now").count() == 1


def test_a_sentence_is_typed_built_or_another_one(start):
    assert start.page.evaluate(IN_LINES) == [False] * 4 + [True] + [False] * 2, (
        "X, Q, K and V; then scores, weights and output"
    )
    start.page.get_by_role("button", name="Build one").click()
    start.page.get_by_role("combobox", name="Who").click()
    start.page.get_by_role("option", name="board", exact=True).click()
    expect(word(start, "board")).to_be_visible()
    start.wait_for_choice("text", "The board announced record earnings on Friday")
    expect(start.page.get_by_role("combobox", name="Who")).to_be_visible()
    start.page.keyboard.press("Escape")

    sentence = start.page.get_by_role("textbox", name="Sentence")
    sentence.fill("The chef served hungry guests on Monday")
    word(start, "board").click()
    start.wait_for_choice("text", "The chef served hungry guests on Monday")
    start.wait_for_choice("word", "1")
    expect(word(start, "chef")).to_be_visible()
    start.ready()
    assert start.choices["text"] == "The chef served hungry guests on Monday", "what was typed"
    assert start.choices["word"] == "1", "and the click after it"

    start.page.get_by_role("button", name="Read another sentence").click()
    expect(word(start, "praised")).to_have_attribute("aria-checked", "true")
    expect(start.says).to_contain_text("praised gives")
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
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"


def has_ended(frame):
    """Does the server say that a run is over?"""
    return ForwardMsg.FromString(frame).WhichOneof("type") == "script_finished"


def test_a_late_answer_takes_back_no_newer_choice(reader, address):
    one, sockets = Visit(reader.new_page(), address), []
    one.page.on("websocket", lambda socket: sockets.append(socket))
    one.page.add_init_script(FAR_AWAY)
    one.page.emulate_media(reduced_motion="reduce")
    one.goto("")
    one.page.evaluate("hold(true)")
    for name in ("CEO", "record"):
        with sockets[0].expect_event("framereceived", has_ended):
            word(one, name).click()
        if name == "record":  # now the server's answer to the first click comes
            one.page.evaluate("hold(true)")
            one.page.evaluate(PAINTED)
            expect(word(one, "record")).to_have_attribute("aria-checked", "true")
    one.page.evaluate("hold(false)")
    one.wait_for_choice("word", "3")
    one.ready()
    expect(word(one, "record")).to_have_attribute("aria-checked", "true")
    one.page.locator(".hero input[type=range]").press("Home")
    one.wait_for_choice("batches", "0")
    assert one.choices["word"] == "3"
    assert not one.errors
    one.page.close()


@pytest.mark.rotating(4)
@pytest.mark.parametrize("page", ["tokens", "query_key_value", "scores", "masks"])
def test_a_longer_sentence_is_drawn_where_a_shorter_one_stood(stroll, page):
    one = stroll(page, tab="stories", text="The judge rejected claims")
    in_words = one.page.locator(".hero .in-words")
    before = in_words.inner_text()
    sentence = one.page.get_by_role("textbox", name="Sentence")
    sentence.fill("The judge rejected new claims on Sunday")
    sentence.press("Enter")
    expect(in_words).not_to_have_text(before)
    expect(one.page.get_by_text("BidiComponent Error")).to_have_count(0)
