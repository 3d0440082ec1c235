"""Tokens, queries and keys, scores, masks."""

import re

from playwright.sync_api import expect

from tests.browser.stories.story import drag, drop

SENTENCE = "The CEO announced record earnings on Friday"
CHIPS = """(nodes) => nodes.filter((node) => node.style.opacity !== "0")
  .map((node) => [Number(node.style.transform.match(/-?[\\d.]+/)[0]), node.textContent])
  .sort(([a], [b]) => a - b).map(([, text]) => text)"""
"""The tokens that can be seen, from left to right."""
HATCHED = "(cells) => cells.map((cell) => cell.matches('.forbidden'))"
CLICK_A_MASK = """(button) => {
  button.click();
  const root = button.getRootNode();
  return [root.querySelector('.says').textContent,
    [...root.querySelectorAll('.masked-cell')].filter((c) => c.matches('.forbidden')).length];
}"""
"""The sentence and how many cells are hatched, before any server could have heard of the click."""


def numbers(texts):
    return [int(re.sub(r"\D", "", text)) for text in texts]


def test_tokens(story):
    one = story("tokens")
    slider, chips = one.hero.locator(".film input"), one.page.locator(".tokens-chip")
    learned, sent = chips.evaluate_all(CHIPS), one.sent
    said = drag(slider, 0)
    assert one.sent == sent
    assert f"there are {len(SENTENCE)} tokens" in said
    assert chips.evaluate_all(CHIPS) == list(SENTENCE.replace(" ", "␣"))
    drop(slider)
    one.expect_in_link(merges="0")
    slider.press("ArrowRight")
    one.expect_in_link(merges="1")
    one.radio("words").click()
    one.expect_in_link(unit="words")
    assert chips.evaluate_all(CHIPS) == SENTENCE.split()
    one.back()
    one.expect_in_link(unit=None, merges="1")

    one.turn("tokens")
    one.press("No merges")
    expect(one.hero.locator(".card.on p")).to_contain_text("Each byte is a token")
    one.expect_in_link(merges="0")
    one.press("Reset")
    one.expect_in_link(merges=None)
    assert chips.evaluate_all(CHIPS) == learned


def test_queries_keys_and_values(story):
    one = story("query_key_value")
    asker, sent = one.page.locator(".views-asker"), one.sent
    one.radio(re.compile("^record")).hover()
    expect(asker).to_have_text("record")
    one.page.mouse.move(5, 5)
    expect(asker).to_have_text("announced")
    assert one.sent == sent
    assert "word" not in one.choices

    assert "Friday" in one.says_after(one.radio(re.compile("^Friday")))
    expect(asker).to_have_text("Friday")
    one.expect_in_link(word="6")
    shares = one.page.locator(".hero .share")
    before = shares.all_inner_texts()
    one.radio("W_K = W_Q").click()
    one.radio("untrained").click()
    one.expect_in_link(weights="untrained", w_k="w_q")
    expect(shares).not_to_have_text(before, use_inner_text=True)
    link, drawn = one.choices, one.drawn()
    one.turn("query_key_value")
    expect(asker).to_have_text("announced")
    assert one.turn("query_key_value", **link).drawn() == drawn

    one.radio(re.compile("^Friday")).press("ArrowUp")
    one.expect_in_link(word="5")
    query = one.page.get_by_role("slider", name=re.compile("^query of on"))
    query.press("ArrowRight")
    column = query.get_attribute("aria-valuenow")
    one.expect_said(f"column {column} of W_Q", query.get_attribute("aria-valuetext"))

    one.turn("query_key_value")
    card = one.page.locator(".experiments .card", has_text="Make W_K = W_Q")
    card.get_by_role("button").click()
    expect(card).to_contain_text("the same in both directions")
    expect(one.says).to_have_attribute("data-name", re.compile("^hero_tied"))
    one.expect_in_link(w_k="w_q")
    one.press("Reset")
    one.expect_in_link(w_k=None)
    expect(asker).to_have_text("announced")


def test_scores(story):
    one = story("scores")
    shares, word = one.page.locator(".hero .share"), one.hero.locator(".words button").last
    first = shares.all_inner_texts()
    said = one.says_after(word)
    of_friday = shares.all_inner_texts()
    assert of_friday != first
    assert max(of_friday, key=lambda share: numbers([share])) in said
    assert word.get_attribute("aria-label").endswith(f"weight {of_friday[-1]}")
    one.expect_in_link(word="6")
    word.press("ArrowDown")
    one.expect_in_link(word="0")
    one.back()
    one.expect_in_link(word="6")
    expect(shares).to_have_text(of_friday)

    parts = one.page.locator(".hero .part")
    tallest = "(all) => Math.max(...all.map((part) => part.getBoundingClientRect().height))"
    cold = parts.evaluate_all(tallest)
    one.hero.locator(".temperature input").press("End")
    hot = numbers(shares.all_inner_texts())
    assert max(hot) - min(hot) < 12
    assert parts.evaluate_all(tallest) < cold / 2
    one.expect_in_link(divided_by="64")
    one.press("Divide by √4 = 2")
    expect(shares).to_have_text(of_friday)
    one.expect_in_link(divided_by=None)

    one.press("The first word")
    one.expect_in_link(mask="causal", word="0")
    assert numbers(shares.all_inner_texts()) == [100, *[0] * 6]
    one.expect_said("exactly the value of The")
    expect(one.hero.locator(".card.on p")).to_contain_text("sees only itself")
    one.press("Reset")
    one.expect_in_link(mask=None, word="6")
    expect(shares).to_have_text(of_friday)


def hatched(one):
    """How many cells the mask forbids."""
    return sum(one.hero.locator(".masked-cell").evaluate_all(HATCHED))


def masked_cell(one, row, column):
    return one.hero.locator(".masked-cell").nth(7 * row + column)


def test_masks(story):
    one = story("masks")
    assert hatched(one) == 21
    said, told = one.says.inner_text(), one.radio("window").evaluate(CLICK_A_MASK)
    assert told[0] != said
    assert told[1] == 49 - 18
    one.expect_in_link(rule="window")
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
    link, drawn = one.choices, one.drawn()
    one.turn("masks")
    assert one.turn("masks", **link).drawn() == drawn

    one.turn("masks")
    for title, count in (("A narrow window", 36), ("A shared beginning", 18), ("Only itself", 42)):
        one.press(title)
        expect(one.hero.locator(".card.on p")).not_to_be_empty()
        assert hatched(one) == count
    one.press("Reset")
    assert hatched(one) == 21
    one.press("A narrow window")
    one.expect_in_link(rule="window")
    one.turn("masks", **one.choices)
    card = one.hero.get_by_role("button", name="A narrow window")
    expect(card).to_have_attribute("aria-pressed", "true")
    card.click()
    expect(card).to_have_attribute("aria-pressed", "false")
    one.expect_in_link(rule=None)
    expect(one.radio("causal")).to_be_checked()


def test_a_mask_is_drawn_cell_by_cell(story):
    one = story("masks", rule="own")
    assert hatched(one) == 0
    one.press("only earlier words")
    one.expect_in_link(cells="causal")
    masked_cell(one, 0, 6).click()
    assert hatched(one) == 20
    one.expect_in_link(cells="41.3.7.f.1f.3f.7f", word="0")
    masked_cell(one, 0, 5).click()
    one.expect_in_link(cells="61.3.7.f.1f.3f.7f", word="0")
    one.back()
    one.expect_in_link(cells="41.3.7.f.1f.3f.7f", word="0")
    assert hatched(one) == 20
    one.press("allow all")
    one.expect_in_link(cells=None)
    assert hatched(one) == 0
    masked_cell(one, 0, 0).focus()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        one.page.keyboard.press(key)
    one.expect_in_link(cells="7b.7f.7f.7f.7f.7f.7f")
    quick = "(cells) => [3, 4, 5, 6].forEach((n) => cells[n].click())"
    one.hero.locator(".masked-cell").evaluate_all(quick)
    one.expect_in_link(cells="3.7f.7f.7f.7f.7f.7f")

    one.turn("masks", rule="own", cells="1.2.7.f.1f.3f.7f")
    masked_cell(one, 1, 1).click()
    one.expect_said("Your mask is refused: CEO may attend to nothing.")
    one.expect_in_link(cells="1.0.7.f.1f.3f.7f")
    refused = "the mask leaves row 1 (of 7 queries) nothing to look at"
    expect(one.page.get_by_text(refused).first).to_be_visible()
    expect(masked_cell(one, 1, 0)).to_have_text("nan")
    masked_cell(one, 1, 0).click()
    one.expect_in_link(cells="1.1.7.f.1f.3f.7f")
    expect(masked_cell(one, 1, 0)).not_to_have_text("nan")

    one.turn("masks", deep="reach")
    lines, live, sent = one.page.locator(".cone .fan"), one.live_slider("Layers stacked"), one.sent
    expect(lines).to_have_count(3 + 9 + 15)
    for step, count in ((1, 3 + 9), (0, 3)):
        drag(live, step)
        expect(lines).to_have_count(count)
    assert one.sent == sent
