"""The inspector in a browser: heads that are pointed at, clicked, dimmed and zoomed into."""

import pytest
from playwright.sync_api import expect

from explainers.chapters.common.recording import record_text
from explainers.models.registry import WHEEL_MODELS
from explainers.toys.sentence import SENTENCE
from tests.support.real_models import real


@pytest.fixture(scope="module")
def shown():
    """What the picture is made of; without the model there is nothing to test."""
    return record_text(real(WHEEL_MODELS[0].id), SENTENCE)


def tile(one, layer, head):
    """The canvas of a head in the overview."""
    layers = one.page.locator(".stage:not(.enlarges) .across").count()
    return one.page.locator(".stage:not(.enlarges) .tile canvas").nth(head * layers + layer)


def read_out(one, canvas, query, key, tokens):
    """What the picture says of one number."""
    side = canvas.bounding_box()["width"]
    at = {"x": (key + 0.5) / tokens * side, "y": (query + 0.5) / tokens * side}
    canvas.hover(position=at)
    return one.page.locator(".tiles .readout").first.inner_text()


def test_pointing_tells_the_weight_that_the_model_computed(visit, shown):
    one = visit("inspector", deep="sinks")
    for layer, head, query, key in ((1, 2, 6, 5), (16, 0, 3, 2), (29, 8, 4, 0)):
        said = read_out(one, tile(one, layer, head), query, key, 7)
        weight = shown.weights[layer, head, query, key].item()
        assert said.startswith(f"layer {layer}, head {head}: “{shown.tokens[query]}” ({query})")
        assert float(said.rpartition("= ")[2]) == pytest.approx(weight, abs=0.6e-4)
    assert read_out(one, tile(one, 1, 2), 2, 6, 7).endswith("masked or dimmed")


def test_a_click_shows_a_head_large_and_stands_in_the_link(visit, shown):
    one = visit("inspector", deep="sinks")
    before = one.drawn()
    tile(one, 16, 1).click()
    one.wait_for_choice("model_layer", "16")
    one.wait_for_choice("model_head", "1")
    one.redrawn(before)
    expect(one.page.get_by_text("layer 16, head 1").first).to_be_visible()
    followed = visit("inspector", **one.choices)
    place = "(tile) => [...tile.parentNode.querySelectorAll('.tile')].indexOf(tile)"
    assert followed.page.locator(".tile.marked").evaluate(place) == 30 + 16
    expect(followed.page.get_by_text("layer 16, head 1").first).to_be_visible()


def test_the_picture_changes_at_a_click_and_is_in_the_link(visit, shown):
    one = visit("inspector")
    hero = one.page.locator(".hero")
    assert hero.locator(".stage").bounding_box()["y"] <= 260
    says = hero.locator(".says")
    weight = shown.weights[11, 0, 6, 2].item()
    assert f"Friday gives announced {100 * weight:.0f}\u00a0%" in says.inner_text()
    field = hero.locator(".mosaic-field")
    box = field.bounding_box()
    side = box["width"] / 30
    field.click(position={"x": 16.4 * side, "y": 0.4 * side})
    most = shown.weights[16, 0, 6].argmax().item()
    share = f"{100 * shown.weights[16, 0, 6, most].item():.0f}\u00a0%"
    expect(says).to_contain_text("layer 16, head 0")
    expect(says).to_contain_text(share)
    one.wait_for_choice("model_layer", "16")
    hero.get_by_role("radio").nth(3).click()
    one.wait_for_choice("token", "3")
    field.press("ArrowDown")
    one.wait_for_choice("model_head", "1")
    expect(says).to_contain_text("layer 16, head 1")
    hero.get_by_role("switch").click()
    expect(says).to_have_attribute("data-name", "hero_dimmed")
    one.wait_for_choice("dim_first", "1")


def test_another_telling_head_is_a_click_away(visit, shown):
    one = visit("inspector")
    hero = one.page.locator(".hero")
    hero.get_by_role("button", name="Another telling head").click()
    expect(hero.locator(".says")).to_contain_text("layer 12, head 0")
    weight = shown.weights[12, 0, 6, 2].item()
    expect(hero.locator(".says")).to_contain_text(f"{100 * weight:.0f}\u00a0%")


def test_a_long_text_is_zoomed_into(visit, shown):
    one = visit("inspector", tokens_read="128", deep="long")
    one.page.get_by_role("button", name="Read it").click()
    canvas = one.page.locator(".enlarges canvas").first
    expect(canvas).to_be_visible()
    one.ready()
    canvas.scroll_into_view_if_needed()
    box, whole = canvas.bounding_box(), canvas.evaluate("(c) => c.toDataURL()")
    mouse = one.page.mouse
    mouse.move(box["x"] + 10, box["y"] + 10)
    mouse.down()
    mouse.move(box["x"] + 60, box["y"] + 60)
    mouse.up()
    back = one.page.get_by_role("button", name="Show the whole text")
    expect(back).to_be_visible()
    assert canvas.evaluate("(c) => c.toDataURL()") != whole
    back.click()
    assert canvas.evaluate("(c) => c.toDataURL()") == whole
    assert not one.page.get_by_test_id("stProgress").count()


def test_a_token_of_a_long_text_is_looked_for(visit, shown):
    one = visit("inspector", tokens_read="64", deep="long")
    one.page.get_by_role("button", name="Read it").click()
    expect(one.page.locator(".enlarges canvas").first).to_be_visible()
    one.ready()
    heads = shown.shape[1]
    assert one.page.locator(".strip .share").count() == heads
    assert one.page.locator(".enlarges .line:visible").count() == 0
    ticks = one.page.locator(".enlarges .below").first.locator(".tick").all_inner_texts()
    assert ticks == ["0", "20", "40"]
    field = one.page.get_by_label("Which head looks at this token?")
    field.fill("12")
    found = one.page.locator(".found")
    expect(found).to_contain_text("(12) · head ")
    lines = one.page.locator(".enlarges .line:visible")
    assert lines.count() == heads
    box, line = (
        one.page.locator(".enlarges canvas").first.bounding_box(),
        lines.first.bounding_box(),
    )
    assert (line["x"] - box["x"]) / box["width"] == pytest.approx(12.5 / 64, abs=0.02)
    field.fill("no such token")
    expect(found).to_have_text("No token is called this.")
    assert lines.count() == 0
