"""Cross-attention in a browser: a translation is played, a head is clicked."""

from playwright.sync_api import expect

from tests.browser.test_browser import cell, panel, values
from tests.browser.test_browser_cache import button

PATH = "cross_attention"
LINES, WEIGHTS, RATES = "who looks where", "weights", "alignment error rate"
TIES = """(panel) => [...panel.querySelectorAll('line.tie')].map(
  (line) => [line.dataset.names, Number(line.getAttribute('stroke-width'))])"""
"""The lines of the drawing: what they join, and how thick they are."""
NAMES = "(panel) => [...panel.querySelectorAll('text.word')].map((name) => name.textContent)"


def written(visit):
    """How many rows of the table are filled."""
    return sum(row[0] is not None for row in values(visit, WEIGHTS))


def test_each_step_writes_a_syllable_with_its_lines(visit):
    one = visit(PATH, written="4")
    assert written(one) == 4
    assert panel(one, LINES).evaluate(NAMES)[-4:] == ["tổng", "giám", "đốc", "đã"]
    before = panel(one, LINES).evaluate(TIES)
    button(one, "Next step").click()
    one.wait_for_choice("written", "5")
    assert written(one.ready()) == 5
    after = panel(one, LINES).evaluate(TIES)
    assert after[: len(before)] == before
    new = dict(after[len(before) :])
    weights = dict(enumerate(values(one, WEIGHTS)[4]))
    assert new
    for names, thick in new.items():
        syllable, word = (int(name.rpartition("-")[2]) for name in names.split())
        assert syllable == 4
        assert abs(thick / 10 - weights[word]) < 1e-4


def test_play_writes_to_the_end_without_the_server(visit):
    one = visit(PATH, written="10")
    play, messages = button(one, "Play or pause"), one.sent
    play.click()
    expect(cell(one, WEIGHTS, 11, 0)).not_to_be_empty()
    assert one.sent == messages
    one.wait_for_choice("written", "13")
    expect(play).to_have_text("Play")


def test_pointing_at_a_word_shows_its_lines_alone(visit):
    one = visit(PATH)
    panel(one, LINES).locator("text.word", has_text="record").hover()
    aside = "(panel) => [...panel.querySelectorAll('line:not(.aside)')].map((l) => l.dataset.names)"
    shown = panel(one, LINES).evaluate(aside)
    assert shown
    assert all("word-3" in names.split() for names in shown)
    # Word 3 of the source is lit in the table, and not syllable 3.
    lit = "(cell) => Boolean(getComputedStyle(cell).getPropertyValue('--beside'))"
    assert cell(one, WEIGHTS, 0, 3).evaluate(lit)
    assert not cell(one, WEIGHTS, 3, 0).evaluate(lit)


def test_gold_is_ringed_until_it_is_switched_off(visit):
    one = visit(PATH)
    rings = panel(one, WEIGHTS).locator("td.ringed")
    assert rings.count() == 13
    one.page.get_by_text("Ring what gold says").click()
    one.wait_for_choice("gold", "false")
    expect(rings).to_have_count(0)


def test_a_click_on_an_error_rate_looks_through_that_head(visit):
    one = visit(PATH)
    cell(one, RATES, 3, 1).click()
    for key, value in {"cross_layer": "1", "cross_head": "2", "cross_rows": "reads"}.items():
        one.wait_for_choice(key, value)
    expect(panel(one, WEIGHTS)).to_contain_text("decoder layer 1, head 2")


def test_a_click_on_a_weight_shows_its_arithmetic(visit):
    one = visit(PATH, cross_head="1")
    cell(one, WEIGHTS, 4, 2).click()
    card = one.page.locator(".card:visible")
    expect(card).to_contain_text("The largest score of the row is")
    shown = values(one, WEIGHTS)[4][2]
    expect(card).to_contain_text(f"{shown:.2f}"[:3])


def test_another_sentence_is_chosen_and_another_change_made(visit):
    one = visit(PATH, text="The bank confirmed weak sales on Monday", instead="uniform")
    assert len(values(one, WEIGHTS)) == 11
    before = one.drawn()
    one.page.get_by_role("radio", name="a word less", exact=True).click()
    one.wait_for_choice("instead", "a word less")
    one.redrawn(before)
    expect(one.page.get_by_text("hidden from encoder and decoder")).to_be_visible()
