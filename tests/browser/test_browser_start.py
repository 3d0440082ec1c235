"""The start page in a browser: pointing, playing, dragging and trying, without a server's help."""

import io

import pytest
import torch
from PIL import Image
from playwright.sync_api import expect

from explainers.chapters.start.own_words import read_with
from explainers.charts.theme import LIGHT, parse_colour
from explainers.toys.readable_head import FILM_SEED, film_of, load_readable_layer
from explainers.toys.sentence import SENTENCE, read_sentence
from explainers.ui.text.numbers import write_percent
from tests.support.browser_fixtures import Visit

TOKENS = tuple(SENTENCE.split())


@pytest.fixture
def start(visit):
    return visit("")


def word(one, name):
    return one.page.locator(".hero .words button", has_text=name)


def find_largest(weights):
    place = max(range(len(weights)), key=weights.__getitem__)
    return TOKENS[place], write_percent(weights[place])


def test_another_word_is_shown_at_once_and_is_in_the_link_afterwards(start):
    weights = film_of(TOKENS, "full").weights[-1]
    first, share = find_largest(weights[TOKENS.index("Friday")].tolist())
    said = start.says_after(word(start, "Friday"))
    assert said.startswith(f"Friday gives {share} of its attention to {first}.")
    start.wait_for_choice("word", "6")
    expect(word(start, "Friday")).to_have_attribute("aria-checked", "true")


def test_pointing_shows_a_word_for_as_long(start):
    before = start.says.inner_text()
    word(start, "earnings").hover()
    expect(start.says).to_contain_text("earnings gives")
    start.page.mouse.move(5, 5)
    expect(start.says).to_have_text(before)
    assert "word" not in start.choices


def test_the_journey_is_walked_with_the_keyboard(start):
    word(start, "announced").focus()
    start.page.keyboard.press("ArrowRight")
    expect(start.says).to_contain_text("record")
    start.page.keyboard.press("ArrowLeft")
    start.page.locator(".hero .stop").nth(0).focus()
    for said in ("list of 8 numbers", "Three learned matrices", "compared with every key", "mask"):
        start.page.keyboard.press("ArrowRight")
        expect(start.says).to_contain_text(said)
    start.page.keyboard.press("ArrowRight")
    expect(start.says).to_contain_text("Softmax")
    start.page.keyboard.press("ArrowRight")
    expect(start.says).to_contain_text("The sum is the new vector of announced")
    assert start.page.locator(".hero .stop.now").count() == 1


SEEN = """(nodes) =>
  nodes.filter((node) => node.checkVisibility({ visibilityProperty: true })).length"""


def test_strips_of_other_steps_are_no_layers_of_the_browser(start):
    strips = start.page.locator(".hero .stage canvas")
    assert strips.count() > 40
    assert strips.evaluate_all(SEEN) == 0
    start.page.locator(".hero .stop").nth(1).click()
    expect(start.says).to_contain_text("list of 8 numbers")
    assert strips.evaluate_all(SEEN) == len(TOKENS)


FOCUSED = """() => {
  let one = document.activeElement;
  while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
  return [one.ariaLabel, one.innerText, one.title].filter(Boolean).map((said) => said.trim())[0];
}"""
"""What a screen reader would name, where the keyboard is."""


def test_the_page_is_walked_with_nothing_but_the_keyboard(start):
    """In the order in which it is read; and a step and an experiment need no pointer."""
    press, focused = start.page.keyboard.press, lambda: start.page.evaluate(FOCUSED) or ""
    start.page.get_by_role("textbox", name="Sentence").focus()
    walked = ["Sentence"]
    while "Start with the day" not in walked[-1]:
        press("Tab")
        walked.append(focused())
        assert len(walked) < 40, walked
        if "Show me how" in walked[-1]:
            press("Enter")
            expect(start.says).to_contain_text("list of 8 numbers")
            press("Enter")
        if "Hide later words" in walked[-1]:
            press("Enter")
            start.wait_for_choice("mask", "causal")
    wanted = "announced", "Show me", "Numbers", "Output", "one word", "Hide", "Start"
    places = [next((n for n, said in enumerate(walked) if one in said), -1) for one in wanted]
    assert places == sorted(places), walked


IN_LINES = """() => [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
  .map((host) => [...host.shadowRoot.querySelectorAll('.panel')])
  .map((panels) => panels.map((panel) => panel.getBoundingClientRect().left))
  .find((lefts) => lefts.length)
  .map((left, n, all) => n > 0 && left < all[n - 1])"""


def test_the_seven_matrices_stand_in_two_lines(visit):
    """X, Q, K and V; then scores, weights and output."""
    one = visit("", size=(1280, 900), deep="all_words")
    assert one.page.evaluate(IN_LINES) == [False] * 4 + [True] + [False] * 2


def test_all_words_are_the_rows_of_a_matrix(start):
    start.page.get_by_role("radio", name="all words", exact=True).click()
    weights = load_weights("full")
    shown = [write_percent(w) if w >= 0.005 else "0" for row in weights for w in row]
    expect(start.page.locator(".hero .cell")).to_have_text(shown)


def test_the_film_runs_from_random_to_trained(start):
    film = start.page.get_by_role("slider", name="batches learned")
    film.evaluate("(range) => { range.value = 0; range.dispatchEvent(new Event('input')); }")
    expect(start.says).to_contain_text("Before training")
    first, share = find_largest(film_of(TOKENS, "full").weights[0, 2].tolist())
    expect(start.says).to_contain_text(f"{share} to {first}")
    start.wait_for_choice("batches", "0")


def test_an_experiment_sets_the_picture_says_what_happened_and_takes_it_back(start):
    before = start.says.inner_text()
    button = start.page.get_by_role("button", name="Hide later words")
    button.click()
    first, share = find_largest(load_weights("causal")[2])
    expect(start.says).to_contain_text(f"{share} of its attention to {first}")
    expect(start.page.locator(".hero .card.on p")).to_contain_text(f"{first} now gets {share}")
    start.wait_for_choice("mask", "causal")
    start.page.get_by_role("button", name="Reset", exact=True).click()
    expect(start.says).to_have_text(before)
    start.wait_for_choice("mask", None)


def test_an_experiment_reads_another_sentence(start):
    start.page.get_by_role("button", name="Read another sentence").click()
    expect(word(start, "praised")).to_have_attribute("aria-checked", "true")
    expect(start.says).to_contain_text("praised gives")
    expect(start.page.get_by_role("textbox", name="Sentence")).to_have_value(
        "The team praised young fans on Sunday"
    )


def load_weights(rule):
    layer = load_readable_layer(TOKENS, rule, FILM_SEED)
    return film_of(layer.tokens, rule).weights[-1].tolist()


READ_CLIPBOARD = """async () => {
  const [copied] = await navigator.clipboard.read();
  const picture = await copied.getType('image/png');
  return [...new Uint8Array(await picture.arrayBuffer())];
}"""


def test_the_picture_is_copied_with_its_sentence(start):
    start.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    hero = start.page.locator(".hero .stage").bounding_box()
    start.page.get_by_role("button", name="Copy as picture").click()
    expect(start.page.get_by_role("button", name="Copied")).to_be_visible()
    picture = Image.open(io.BytesIO(bytes(start.page.evaluate(READ_CLIPBOARD)))).convert("RGB")
    assert hero
    assert picture.width > 2 * hero["width"]
    colours = set(picture.get_flattened_data())
    assert parse_colour(LIGHT.value) in colours, "the mixture"
    assert parse_colour(LIGHT.heads[0]) in colours, "a share in the sentence"
    expect(start.page.get_by_role("button", name="Copy as picture")).to_be_visible()


FAR_AWAY = """(() => {
  const late = (listener) => (event) => setTimeout(() => listener.call(event.target, event), 400);
  const listen = WebSocket.prototype.addEventListener;
  WebSocket.prototype.addEventListener = function (kind, listener, ...more) {
    return listen.call(this, kind, kind === 'message' ? late(listener) : listener, ...more);
  };
  const told = Object.getOwnPropertyDescriptor(WebSocket.prototype, 'onmessage');
  Object.defineProperty(WebSocket.prototype, 'onmessage', {
    ...told, set(listener) { told.set.call(this, listener && late(listener)); },
  });
})()"""
"""Everything that the server says arrives 0.4 s later, as over a slow line."""


def test_a_late_answer_takes_back_no_newer_choice(browser, address):
    with browser.new_context(viewport={"width": 1280, "height": 900}) as visitor:
        visitor.add_init_script(FAR_AWAY)
        one = Visit(visitor.new_page(), address)
        one.goto("")
        for name in ("CEO", "record"):
            word(one, name).click()
            one.page.wait_for_timeout(450)
        one.wait_for_choice("word", "3")
        one.page.wait_for_timeout(1500)
        expect(word(one, "record")).to_have_attribute("aria-checked", "true")
        one.page.locator(".hero input[type=range]").press("Home")
        one.wait_for_choice("batches", "0")
        assert one.choices["word"] == "3"


def test_a_click_in_the_picture_keeps_what_was_typed_before(start):
    sentence = "The chef served hungry guests on Monday"
    start.page.get_by_role("textbox", name="Sentence").fill(sentence)
    word(start, "CEO").click()
    start.wait_for_choice("text", sentence)
    expect(word(start, "chef")).to_be_visible()
    start.page.wait_for_timeout(800)
    assert start.choices["text"] == sentence
    assert start.choices["word"] == "1"


@pytest.mark.parametrize("page", ["", "tokens", "query_key_value", "scores", "masks"])
def test_a_longer_sentence_is_drawn_where_a_shorter_one_stood(visit, page):
    one = visit(page, text="The judge rejected claims")
    in_words = one.page.locator(".hero .in-words")
    before = in_words.inner_text()
    sentence = one.page.get_by_role("textbox", name="Sentence")
    sentence.fill("The judge rejected new claims on Sunday")
    sentence.press("Enter")
    expect(in_words).not_to_have_text(before)
    expect(one.page.get_by_text("BidiComponent Error")).to_have_count(0)


def test_a_sentence_is_made_of_words_in_menus(start):
    start.page.get_by_role("button", name="Build one").click()
    start.page.get_by_role("combobox", name="Who").click()
    start.page.get_by_role("option", name="board", exact=True).click()
    expect(word(start, "board")).to_be_visible()
    start.wait_for_choice("text", "The board announced record earnings on Friday")
    expect(start.page.get_by_role("combobox", name="Who")).to_be_visible()


def test_own_words_are_read_by_a_real_model_as_far_as_one_is_here(visit, minilm):
    own = read_with(minilm, read_sentence(text := "My grandmother bakes a warm apple cake"))
    assert own
    one = visit("", text=text)
    assert one.page.locator(".hero .words button").all_inner_texts() == [*own.tokens]
    weights = torch.tensor(own.weigh_words())
    share = write_percent(weights[1].max().item())
    expect(one.says).to_contain_text(f"My gives {share} of its attention to grandmother")
    expect(one.page.locator(".hero .film")).to_be_hidden()
    share = write_percent(weights[own.tokens.index("cake")].max().item())
    said = one.says_after(word(one, "cake"))
    one.wait_for_choice("word", f"{own.tokens.index('cake')}")
    assert said.startswith(f"cake gives {share} to [CLS], a mark that the model adds")
    one.page.locator(".hero .stop").nth(1).click()
    expect(one.says).to_contain_text("384 numbers")
