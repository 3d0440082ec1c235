"""Tokens, queries and keys, scores, masks."""

import re

from playwright.sync_api import expect

from tests.browser.looks import list_what_hides_the_focus
from tests.support.visit import drag, drop

SENTENCE = "The CEO announced record earnings on Friday"


def test_tokens(story):
    one = story("tokens")
    slider, sent = one.hero.locator(".film input"), one.sent
    assert f"there are {len(SENTENCE)} tokens" in drag(slider, 0)
    assert one.sent == sent
    drop(slider)
    one.expect_in_link(merges="0")
    slider.press("ArrowRight")
    one.expect_in_link(merges="1")


def test_queries_keys_and_values(story):
    one = story("query_key_value")
    asker, sent = one.page.locator(".views-asker"), one.sent
    one.radio(re.compile("^record")).hover()
    expect(asker).to_have_text("record")
    one.page.mouse.move(5, 5)
    expect(asker).to_have_text("announced")
    assert one.sent == sent
    assert "word" not in one.choices

    one.radio(re.compile("^announced")).press("ArrowDown")
    one.expect_in_link(word="3")
    query = one.page.get_by_role("slider", name=re.compile("^query of record"))
    query.press("ArrowRight")
    column = query.get_attribute("aria-valuenow")
    one.expect_said(f"column {column} of W_Q", query.get_attribute("aria-valuetext"))


def test_scores(story):
    one = story("scores")
    shares, word = one.page.locator(".hero .share"), one.hero.locator(".words button").last
    word.press("ArrowDown")
    one.expect_in_link(word="0")
    parts = one.page.locator(".hero .part")
    tallest = "(all) => Math.max(...all.map((part) => part.getBoundingClientRect().height))"
    cold = parts.evaluate_all(tallest)
    one.hero.locator(".temperature input").press("End")
    hot = [int(re.sub(r"\D", "", share)) for share in shares.all_inner_texts()]
    assert max(hot) - min(hot) < 12
    assert parts.evaluate_all(tallest) < cold / 2
    one.expect_in_link(divided_by="64")
    for scheme in ("dark", "light"):
        assert list_what_hides_the_focus(one.wear(scheme)) == []


def hatched(one):
    return one.hero.locator(".masked-cell.forbidden").count()


def masked_cell(one, row, column):
    return one.hero.locator(".masked-cell").nth(7 * row + column)


def test_masks(story):
    one = story("masks", rule="window")
    slider, sent = one.page.get_by_role("slider", name="Width of the window"), one.sent
    drag(slider, 1)
    assert hatched(one) == 49 - 7
    assert one.sent == sent
    slider.press("End")
    one.expect_in_link(window="7")
    assert hatched(one) == 21
    one.hero.locator(".words button", has_text="Friday").click()
    one.expect_in_link(word="6")
    masked_cell(one, 2, 2).click()  # under a mask of the table it only follows the row
    one.expect_in_link(word=None, cells=None, rule="window")

    one.turn_to("masks", rule="window", window="2", word="1")
    card = one.hero.get_by_role("button", name="A narrow window")
    expect(card).to_have_attribute("aria-pressed", "true")
    card.click()  # an experiment that a link has made is taken back
    expect(card).to_have_attribute("aria-pressed", "false")
    one.expect_in_link(rule=None)
    expect(one.radio("causal")).to_be_checked()


def test_a_mask_is_drawn_cell_by_cell(story):
    one = story("masks", rule="own", cells="causal")
    for column, cells in ((6, "41.3.7.f.1f.3f.7f"), (5, "61.3.7.f.1f.3f.7f")):
        masked_cell(one, 0, column).click()
        one.expect_in_link(cells=cells, word="0")
    masked_cell(one, 0, 5).click()
    one.expect_in_link(cells="41.3.7.f.1f.3f.7f", word="0")
    assert hatched(one) == 20
    one.press("allow all")
    one.expect_in_link(cells=None)
    masked_cell(one, 0, 0).focus()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        one.page.keyboard.press(key)
    one.expect_in_link(cells="7b.7f.7f.7f.7f.7f.7f")
    quick = "(cells) => [3, 4, 5, 6].forEach((n) => cells[n].click())"
    one.hero.locator(".masked-cell").evaluate_all(quick)
    one.expect_in_link(cells="3.7f.7f.7f.7f.7f.7f")

    one.turn_to("masks", rule="own", cells="1.2.7.f.1f.3f.7f")
    masked_cell(one, 1, 1).click()  # the last that its row may look at
    expect(masked_cell(one, 1, 0)).to_have_text("nan")
    one.expect_in_link(cells="1.0.7.f.1f.3f.7f")
    masked_cell(one, 1, 0).click()
    expect(masked_cell(one, 1, 0)).not_to_have_text("nan")

    one.turn_to("masks", deep="reach")
    lines, live, sent = one.page.locator(".cone .fan"), one.live_slider("Layers stacked"), one.sent
    for step, count in ((1, 3 + 9), (0, 3)):
        drag(live, step)
        expect(lines).to_have_count(count)
    assert one.sent == sent
