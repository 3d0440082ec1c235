"""Cross-attention in a browser: a translation is played, words and heads are chosen."""

import re

import pytest
from playwright.sync_api import expect

from explainers.translation.alignment import read_links
from explainers.translation.corpus import RUNNING_PAIR
from explainers.translation.weights_file import load_translator
from tests.browser.test_browser import cell, panel, values

PATH = "cross_attention"
WEIGHTS, RATES = "weights", "alignment error rate"
WRITTEN = """() => {
  const host = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .find((one) => one.shadowRoot.querySelector('.hero'));
  return [...host.shadowRoot.querySelectorAll('.words')[1].querySelectorAll('button')]
    .filter((button) => !button.inert).map((button) => button.textContent);
}"""


@pytest.fixture
def hero(visit):
    """Opens the page; gives the visit and its picture."""

    def open_hero(**link):
        one = visit(PATH, **link)
        return one, one.page.locator(".hero.translation")

    return open_hero


def says(picture):
    return picture.locator(".says")


def shares(picture):
    """Percentages that are seen beside words."""
    return [
        share.inner_text()
        for share in picture.locator(".share").all()
        if share.evaluate("(node) => getComputedStyle(node).opacity > 0.5")
    ]


def drawn(picture):
    """How many lines of the syllable that is asked about are drawn."""
    paths = picture.locator(".translation-strong path").all()
    return sum(path.evaluate("(node) => node.style.display !== 'none'") for path in paths)


def test_the_sentence_says_what_the_picture_shows(hero):
    one, picture = hero()
    expect(says(picture)).to_contain_text("To write nhuận")
    one.page.wait_for_timeout(700)
    largest = max(shares(picture), key=lambda share: int(re.findall(r"\d+", share)[0]))
    expect(says(picture)).to_contain_text(f"{largest} of its attention to earnings")
    expect(says(picture)).to_contain_text(re.compile(r"\d+ of 13 syllables"))
    assert drawn(picture) >= 1


def test_another_syllable_is_shown_without_the_server_and_is_in_the_link(hero):
    one, picture = hero()
    messages = one.sent
    picture.get_by_role("radio", name=re.compile("^kỷ:")).click()
    expect(says(picture)).to_contain_text("To write kỷ")
    assert one.sent == messages
    one.wait_for_choice("syllable", "8")
    heads = load_translator(0).force(RUNNING_PAIR.source, RUNNING_PAIR.target).cross[-1]
    expect(says(picture)).to_contain_text(f"{count_right(heads.mean(dim=0))} of 13")
    worst = min(range(len(heads)), key=lambda head: count_right(heads[head]))
    assert count_right(heads[worst]) < count_right(heads.mean(dim=0)), "another number is seen"
    picture.get_by_role("radiogroup", name="Head").get_by_role("radio", name=f"{worst}").click()
    one.wait_for_choice("cross_head", f"{worst}")
    expect(says(picture)).to_contain_text(f"{count_right(heads[worst])} of 13")


def count_right(weights):
    """How many syllables of the running sentence look most at the word that they come from."""
    links = read_links(weights, len(RUNNING_PAIR.source), len(RUNNING_PAIR.target))
    return len(links & RUNNING_PAIR.sure)


def test_play_writes_to_the_end_without_the_server(hero):
    one, picture = hero(written="10")
    messages = one.sent
    assert len(one.page.evaluate(WRITTEN)) == 10
    expect(says(picture)).to_contain_text("Syllable 10 of 13")
    picture.get_by_role("button", name="Play").click()
    expect(says(picture)).to_contain_text("Syllable 11 of 13")
    assert one.sent == messages
    expect(says(picture)).to_contain_text("To write nhuận")  # complete: what was asked about before
    assert len(one.page.evaluate(WRITTEN)) == 13
    one.wait_for_choice("written", None)


def test_a_word_shows_the_syllables_that_look_at_it(hero):
    one, picture = hero()
    picture.get_by_role("radio", name=re.compile("^record:")).click()
    expect(says(picture)).to_contain_text("Syllables that look at record")
    one.page.wait_for_timeout(700)
    assert len(shares(picture)) >= 2
    one.page.keyboard.press("ArrowRight")
    expect(says(picture)).to_contain_text("Syllables that look at earnings")


def test_the_same_weights_are_a_table(hero):
    one, picture = hero()
    picture.get_by_role("radio", name="table").click()
    one.wait_for_choice("cross_view", "table")
    one.page.wait_for_timeout(700)
    cells = [cell.inner_text() for cell in picture.locator(".translation-cell").all()]
    assert len(cells) == 13 * 8
    columns = 8
    [share] = re.findall(r"\d+\s%", says(picture).inner_text())[:1]
    assert cells[7 * columns + 4] == share
    picture.locator(".translation-cell").nth(8 * columns + 3).click()
    expect(says(picture)).to_contain_text("To write kỷ")


def test_the_correct_words_are_dotted_until_they_are_switched_off(hero):
    one, picture = hero()
    dotted = picture.locator(".words button.correct")
    expect(dotted).to_have_text("earnings")
    picture.get_by_role("switch", name="correct word").click()
    expect(dotted).to_have_count(0)
    one.wait_for_choice("gold", "0")


def test_the_passive_is_translated_and_taken_back(hero):
    one, picture = hero()
    picture.get_by_role("button", name="Turn it into the passive").click()
    expect(picture.locator(".words button").first).to_have_text("Record")
    expect(picture.locator(".card.on p")).to_contain_text("pairs of lines cross")
    one.wait_for_choice("text", "Record earnings were announced by the CEO on Friday")
    one.page.wait_for_timeout(900)  # what stays has come to its place
    places = [button.bounding_box()["x"] for button in picture.locator(".words button").all()]
    assert places[:10] == sorted(places[:10])
    assert places[10:] == sorted(places[10:])
    assert len(places) == 10 + 14
    picture.get_by_role("button", name="Reset").click()
    expect(picture.locator(".words button").first).to_have_text("The")


def test_a_click_on_an_error_rate_looks_through_that_head(hero):
    one, picture = hero(deep="rows")
    cell(one, RATES, 3, 1).click()
    for key, value in {"cross_layer": "1", "cross_head": "2", "cross_rows": "reads"}.items():
        one.wait_for_choice(key, value)
    expect(says(picture)).to_contain_text("After reading")
    picture.get_by_role("radio", name="predicts").click()  # the way back
    one.wait_for_choice("cross_rows", None)
    expect(says(picture)).to_contain_text("To write")


def test_a_click_on_a_weight_shows_its_arithmetic(hero):
    one, _picture = hero(cross_head="1")
    panel(one, WEIGHTS).scroll_into_view_if_needed()
    cell(one, WEIGHTS, 4, 2).click()
    card = one.page.locator(".card:visible").filter(has_text="largest score")
    expect(card).to_contain_text("The largest score of the row is")
    shown = values(one, WEIGHTS)[4][2]
    expect(card).to_contain_text(f"{shown:.2f}"[:3])


def test_another_sentence_is_chosen_and_another_change_made(hero):
    text = "The bank confirmed weak sales on Monday"
    one, picture = hero(text=text, instead="uniform", deep="explaining")
    expect(picture.locator(".words button").nth(1)).to_have_text("bank")
    before = one.drawn()
    one.page.get_by_role("radio", name="a word less", exact=True).click()
    one.wait_for_choice("instead", "a word less")
    one.redrawn(before)
    expect(one.page.get_by_text("hidden from encoder and decoder")).to_be_visible()


def test_on_a_phone_the_sentences_are_two_columns(hero):
    one, picture = hero()
    one.page.set_viewport_size({"width": 390, "height": 844})
    expect(picture).to_have_class(re.compile("down"))
    one.page.wait_for_timeout(700)
    words, syllables = (picture.locator(".words").nth(n).locator("button") for n in (0, 1))
    left, right = words.first.bounding_box(), syllables.first.bounding_box()
    assert left["x"] + left["width"] < right["x"]
    assert words.last.bounding_box()["y"] > left["y"] + 200
    table = picture.get_by_role("radio", name="table")
    expect(table).not_to_be_visible()
    picture.get_by_role("button", name="Change").click()
    expect(table).to_be_visible()
