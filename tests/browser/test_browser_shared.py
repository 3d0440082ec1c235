"""Shared keys and values in a browser: heads that share, latents, and a training."""

from playwright.sync_api import expect

from tests.browser.test_browser import option, panel, slider, values

PATH = "shared_heads"
LINES = """(panel) => [...panel.querySelectorAll('path.link')].map(
  (line) => line.getAttribute('d').match(/[\\d.]+/g).map(Number))"""
"""From where to where the lines of a drawing go."""


def heads_offered(visit):
    group = visit.page.get_by_role("radiogroup", name="KV heads")
    return group.get_by_role("radio").all_inner_texts()


def choose(visit, group, name):
    radios = visit.page.get_by_role("radiogroup", name=group)
    radios.get_by_role("radio", name=name, exact=True).click()


def test_fewer_kv_heads_are_shared_by_more_query_heads(visit):
    one = visit(PATH, weights="untrained")
    sharing = panel(one, "who shares")
    ends = [line[2] for line in sharing.evaluate(LINES)]
    assert len(ends) == 4
    assert len(set(ends)) == 2
    before = values(one, "head 0"), values(one, "change of head 0")
    choose(one, "KV heads", "1")
    one.wait_for_choice("kv_heads", "1")
    expect(one.page.get_by_text("Weights: multi-query (MQA)")).to_be_visible()
    one.ready()
    assert len({line[2] for line in sharing.evaluate(LINES)}) == 1
    after = values(one, "head 0"), values(one, "change of head 0")
    assert all(a != b for a, b in zip(before, after, strict=True))


def test_a_change_of_heads_leaves_no_impossible_kv_heads(visit):
    one = visit(PATH, weights="untrained", heads="8", kv_heads="8")
    assert heads_offered(one) == ["1", "2", "4", "8"]
    choose(one, "Query heads", "2")
    expect(panel(one, "head 2")).to_have_count(0)  # the address changes before the page does
    assert heads_offered(one.ready()) == ["1", "2"]
    expect(panel(one, "head 1")).to_be_visible()
    assert one.choices.get("kv_heads", "2") in ("1", "2")


def test_a_longer_latent_is_drawn_and_counted(visit):
    one = visit(PATH, weights="untrained")
    assert len(values(one, "latent c")[0]) == 16
    slider(one, "r: numbers").press("Home")
    one.wait_for_choice("latent", "4")
    expect(one.page.get_by_text("84 instead of 896")).to_be_visible()
    assert len(values(one.ready(), "latent c")[0]) == 4


def test_an_answer_shows_what_is_cached(visit):
    one = visit(PATH, weights="untrained", predict="true")
    asked = one.page.get_by_role("radiogroup", name="Your prediction").first
    asked.get_by_text("448", exact=True).click()
    expect(one.page.get_by_text("It is 224")).to_be_visible()
    expect(one.page.locator('.vega-embed[aria-label*="1 KV head 224"]')).to_be_visible()


def test_the_mask_stays_when_weights_change(visit):
    one = visit(PATH, weights="untrained")
    option(one, "causal").click()
    one.wait_for_choice("mask", "causal")
    assert values(one.ready(), "head 0")[0][1:] == [None] * 6


def test_training_goes_on_by_itself_and_can_be_stopped(visit):
    one = visit(PATH, weights="untrained", kv_heads="1")
    train = one.page.get_by_role("button", name="Train the averaged heads")
    train.click()
    expect(one.page.get_by_text("100 batches more")).to_be_visible()
    expect(one.page.get_by_text("Batch 100 of 100")).to_be_visible()
    train.click()
    one.page.get_by_role("button", name="Cancel").click()
    expect(one.page.get_by_text(", cancelled")).to_be_visible()
    expect(train).to_be_enabled()
