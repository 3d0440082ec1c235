"""Shared keys and values in a browser: heads that share, latents, and a training."""

from playwright.sync_api import expect

from tests.browser.test_browser import option, slider, values
from tests.support.waiting import wait

PATH = "shared_heads"
SHARED = """() => {
  const host = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .find((one) => one.shadowRoot.querySelector('.hero'));
  const hero = host.shadowRoot.querySelector('.hero');
  const seen = (name) => [...hero.querySelectorAll(name)]
    .filter((node) => Number(node.style.opacity) > 0.5);
  return {
    boxes: seen('.sharing-box').length, circles: seen('.sharing-circle').length,
    lines: seen('.sharing-line').length, wrong: seen('.sharing-circle.wrong').length,
    stored: hero.querySelectorAll('.sharing-number')[1].textContent,
    product: hero.querySelectorAll('.sharing-product')[1].textContent,
  };
}"""
"""What is seen in the first picture."""


def expect_picture(one, **parts):
    """In the end so many parts of each kind are seen."""
    one.page.wait_for_function(
        f"(parts) => Object.entries(parts).every(([name, of]) => ({SHARED})()[name] === of)",
        arg=parts,
        timeout=10_000,
    )


def chip(visit, group, name):
    radios = visit.page.locator(".hero").get_by_role("radiogroup", name=group)
    return radios.locator(f"button[value='{name}']")


def test_the_picture_is_seen_without_a_click(visit):
    one = visit(PATH)
    expect_picture(one, boxes=2, circles=4, lines=4, wrong=0, stored="64", product="2×2×16")
    expect(one.says).to_contain_text("2 × 2 × 16 = 64 numbers per word instead of 128")
    expect(one.says).to_contain_text("stores a key and a value of 16 numbers")
    expect(one.says).to_contain_text("announced looks most at earnings")


def test_fewer_kv_heads_change_picture_and_sentence_without_the_server(visit):
    one = visit(PATH)
    messages = one.sent
    chip(one, "KV heads", "1").click()
    expect_picture(one, boxes=1, circles=4, stored="32")
    expect(one.says).to_contain_text("2 × 1 × 16 = 32 numbers per word instead of 128")
    assert one.sent == messages
    one.wait_for_choice("kv_heads", "1")
    chip(one.ready(), "Query heads", "8").click()
    expect_picture(one, boxes=1, circles=8, stored="16", product="2×1×8")
    one.wait_for_choice("heads", "8")


def test_no_more_kv_heads_are_offered_than_there_are_query_heads(visit):
    one = visit(PATH, heads="8", kv_heads="8")
    expect_picture(one, boxes=8, circles=8)
    chip(one, "Query heads", "2").click()
    expect_picture(one, boxes=2, circles=2)
    expect(chip(one, "KV heads", "4")).to_be_hidden()
    one.wait_for_choice("heads", "2")
    one.ready()
    expect_picture(one, boxes=2, circles=2)


def test_heads_that_are_dealt_out_wrongly_are_marked(visit):
    one = visit(PATH)
    one.page.get_by_role("button", name="Deal them wrongly").click()
    expect_picture(one, wrong=2)
    expect(one.says).to_contain_text("heads 1, 2 read keys and values of other heads")
    one.wait_for_choice("dealing", "turn")


def test_a_longer_latent_is_drawn_and_counted(visit):
    one = visit(PATH, weights="untrained", deep="latent")
    assert len(values(one, "latent c")[0]) == 16
    slider(one, "r: numbers").press("Home")
    one.wait_for_choice("latent", "4")
    expect(one.page.get_by_text("84 instead of 896")).to_be_visible()
    wait(lambda: len(values(one.ready(), "latent c")[0]) == 4)  # drawn after the text is there


def test_an_answer_shows_what_averaging_costs(visit):
    one = visit(PATH, predict="true")
    chart = one.page.locator('.vega-embed[aria-label*="The loss of four layers"]')
    expect(chart).to_have_count(0)
    asked = one.page.get_by_role("radiogroup", name="Your prediction").first
    asked.get_by_text("in between", exact=True).click()
    expect(one.page.get_by_text("The answer is worse than the untrained layer")).to_be_visible()
    expect(chart).to_be_visible()


def test_the_mask_stays_when_weights_change(visit):
    one = visit(PATH, weights="untrained", deep="weights")
    option(one, "causal").click()
    one.wait_for_choice("mask", "causal")
    assert values(one.ready(), "head 0")[0][1:] == [None] * 6


def test_training_goes_on_by_itself_and_can_be_stopped(visit):
    one = visit(PATH, weights="untrained", kv_heads="1", deep="uptraining")
    train = one.page.get_by_role("button", name="Train the averaged heads")
    train.click()
    expect(one.page.get_by_text("100 more batches")).to_be_visible()
    expect(one.page.get_by_text("Batch 100 of 100")).to_be_visible()
    train.click()
    one.page.get_by_role("button", name="Cancel").click()
    expect(one.page.get_by_text(", cancelled")).to_be_visible()
    expect(train).to_be_enabled()


def test_a_latent_and_the_words_below_it_change_without_the_server(visit):
    one = visit("shared_heads", deep="latent")
    figure = one.page.locator(".figure").filter(has=one.page.locator("input[type=range]"))
    slider, words = figure.locator("input[type=range]"), figure.locator(".says")
    expect(words).to_contain_text("r + 8 = 16 + 8 = 24 numbers")
    messages = one.sent
    slider.evaluate("(input) => { input.value = '4'; input.dispatchEvent(new Event('input')); }")
    expect(words).to_contain_text("r + 8 = 64 + 8 = 72 numbers")
    expect(figure.locator(".panel").first.locator(".shape")).to_have_text(" 7 × 64")
    assert one.sent == messages
    slider.evaluate("(input) => input.dispatchEvent(new Event('change'))")
    one.wait_for_choice("latent", "64")
    expect(words).to_contain_text("r + 8 = 64 + 8 = 72 numbers")
