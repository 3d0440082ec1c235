"""A trained translator, and what real models do."""

import re

import pytest
from playwright.sync_api import expect

from explainers.models.registry import WHEEL_MODELS
from tests.support.real_models import need
from tests.support.visit import PHONE

SMOLLM2 = WHEEL_MODELS[0].id


def test_cross_attention(story):
    one = story("cross_attention")
    one.radio(re.compile("^record:")).click()
    one.expect_said("Syllables that look at record")
    one.page.keyboard.press("ArrowRight")
    one.expect_said("Syllables that look at earnings")

    one.turn_to("cross_attention", written="10")
    sent = one.sent
    one.press("Play")
    one.expect_said("Syllable 11 of 13")
    assert one.sent == sent
    one.expect_said("To write nhuận")  # complete: what was asked about before
    one.expect_in_link(written=None)

    one.press("Turn it into the passive")  # another sentence, and another picture
    one.expect_in_link(text="Record earnings were announced by the CEO on Friday")
    expect(one.hero.locator(".words button").first).to_have_text("Record")
    one.press("Reset")
    expect(one.hero.locator(".words button").first).to_have_text("The")


def test_cells_of_a_translation(story):
    one = story("cross_attention", cross_head="1")
    one.cell("weights", 4, 2).click()
    card = one.page.locator(".card:visible").filter(has_text="largest score")
    expect(card).to_contain_text(f"{one.values('weights')[4][2]:.2f}"[:3])

    one.resize(PHONE).turn_to("cross_attention")
    left, right = (one.hero.locator(".words").nth(n).locator("button") for n in (0, 1))
    first, second = left.first.bounding_box(), right.first.bounding_box()
    assert first["x"] + first["width"] < second["x"], "two columns"
    assert left.last.bounding_box()["y"] > first["y"] + 200
    expect(one.radio("table")).not_to_be_visible()
    one.hero.get_by_role("button", name="Change").click()
    expect(one.radio("table")).to_be_visible()


def test_inspector(story):
    need(SMOLLM2)
    one = story("inspector")
    field = one.hero.locator(".mosaic-field")
    side = field.bounding_box()["width"] / 30
    field.click(position={"x": 16.4 * side, "y": 0.4 * side})
    one.expect_said("layer 16, head 0")
    one.expect_in_link(model_layer="16")
    field.press("ArrowDown")
    one.expect_in_link(model_head="1")


def test_a_large_image_of_a_head(story):
    need(SMOLLM2)
    one = story("head_gallery", deep="evidence")
    canvas, mouse = one.page.locator(".tile canvas").first, one.page.mouse
    expect(canvas).to_be_visible()
    one.ready()
    lines = one.page.locator(".tile .line:visible")
    assert lines.count() == 0
    name, found = (
        one.page.get_by_label("Which head looks at this token?").first,
        one.page.locator(".found").first,
    )
    name.fill("12")
    expect(found).to_contain_text("(12) · L18.H6: ")
    assert lines.count() == 1
    box, line = canvas.bounding_box(), lines.first.bounding_box()
    alt = one.page.get_by_label(re.compile(r"^Weights of L18.H6 between \d+ tokens"))
    [tokens] = re.findall(r"between (\d+) tokens", alt.get_attribute("aria-label"))
    assert (line["x"] - box["x"]) / box["width"] == pytest.approx(12.5 / int(tokens), abs=0.02)
    name.fill("no such token")
    expect(found).to_have_text("No token is called this.")
    assert lines.count() == 0

    canvas.scroll_into_view_if_needed()
    box, whole = canvas.bounding_box(), canvas.evaluate("(canvas) => canvas.toDataURL()")
    mouse.move(box["x"] + 10, box["y"] + 10)
    mouse.down()
    mouse.move(box["x"] + 60, box["y"] + 60)
    mouse.up()
    back = one.page.get_by_role("button", name="Show the whole text").first
    expect(back).to_be_visible()
    assert canvas.evaluate("(canvas) => canvas.toDataURL()") != whole
    back.click()
    assert canvas.evaluate("(canvas) => canvas.toDataURL()") == whole


def test_head_gallery(story):
    one = story("head_gallery")
    one.page.get_by_role("gridcell", name="L16.H0: ").click()
    one.expect_in_link(gallery_layer="16")
    one.page.get_by_role("gridcell", name="L16.H0: ").press("ArrowRight")
    expect(one.hero.locator(".gallery-title")).to_contain_text("L17.H0")
    one.expect_in_link(gallery_layer="17")
    lit, name = one.hero.locator(".gallery-cell:not(.dim)"), one.radio("duplicate token 3")
    name.click()
    expect(lit).to_have_count(3)
    one.expect_in_link(head_name="duplicate token")
    name.press("ArrowRight")
    expect(lit).not_to_have_count(3)

    one.resize(PHONE).turn_to("head_gallery", gallery_layer="18", gallery_head="6")
    words = one.hero.locator(".words button")
    first, second = words.nth(0).bounding_box(), words.nth(1).bounding_box()
    assert second["y"] - first["y"] >= 24, "below each other, and large enough for a finger"
    words.nth(2).click()
    one.expect_in_link(gallery_word="2")


def test_what_if(story):
    need(SMOLLM2)
    one = story("what_if")
    tokens, told = one.hero.locator(".words button"), one.page.locator(".what-if-told")
    sent = one.sent
    tokens.nth(5).hover()
    pointed = told.inner_text()
    assert re.search(r"loss [\d.]+, changed [\d.]+", pointed)
    assert one.sent == sent
    tokens.nth(5).press("ArrowRight")
    expect(told).not_to_have_text(pointed)
