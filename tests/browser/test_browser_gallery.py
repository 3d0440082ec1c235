"""The head gallery in a browser: its first picture, a card, and the heads of a real model."""

import pytest
from playwright.sync_api import expect

from explainers.chapters.common.measured_heads import MEASURE_LABEL
from explainers.models.load import is_on_disk
from explainers.models.registry import WHEEL_MODELS

MINILM = WHEEL_MODELS[1].id


def test_the_picture_is_there_at_once_and_a_click_shows_another_head(visit):
    one = visit("head_gallery")
    says = one.page.locator(".hero .says")
    expect(says).to_contain_text("L18.H6 scores 0.89")
    one.page.get_by_role("gridcell", name="L16.H0: ").click()
    expect(says).to_contain_text("L16.H0")
    one.wait_for_choice("gallery_layer", "16")
    one.page.get_by_role("gridcell", name="L16.H0: ").press("ArrowRight")
    expect(one.page.locator(".hero .gallery-title")).to_contain_text("L17.H0")
    one.wait_for_choice("gallery_layer", "17")


def test_a_name_lights_only_its_heads(visit):
    one = visit("head_gallery")
    lit = one.page.locator(".hero .gallery-cell:not(.dim)")
    expect(lit).to_have_count(270)
    one.page.get_by_role("radio", name="duplicate token 3").click()
    expect(lit).to_have_count(3)
    expect(one.page.locator(".hero .says")).to_contain_text("3 have the name duplicate token")
    one.wait_for_choice("head_name", "duplicate token")
    one.page.get_by_role("radio", name="duplicate token 3").press("ArrowRight")
    expect(lit).to_have_count(8)


def test_a_phone_has_the_arcs_too_and_a_touch_chooses_a_word(visit):
    one = visit("head_gallery", size=(390, 844), gallery_layer="18", gallery_head="6")
    words = one.page.locator(".hero .words button")
    first, second = words.nth(0).bounding_box(), words.nth(1).bounding_box()
    assert second["y"] - first["y"] >= 24, "below each other, and large enough for a finger"
    asker = one.page.locator(".hero .words button.asks")
    expect(asker).to_have_text("Ann")
    arcs = one.page.locator(".hero .arc")
    seen = "(arcs) => arcs.filter((arc) => Number(arc.style.opacity) > 0.5).length"
    assert arcs.evaluate_all(seen) >= 1
    words.nth(2).click()
    one.wait_for_choice("gallery_word", "2")


@pytest.fixture
def gallery(visit):
    if not is_on_disk(MINILM):
        pytest.skip(f"no {MINILM} here: python -m explainers.models fetch says why")
    one = visit("head_gallery", real_model=MINILM, deep="measures")
    expect(cell(one, 0, 0)).to_be_visible()
    return one.ready()


def cell(one, row, column):
    """The number of a head in the picture of all heads."""
    panel = one.page.locator('.panel[aria-label^="induction"]')
    return panel.locator("tbody tr").nth(row).locator("td.cell").nth(column)


def test_a_click_on_the_map_shows_that_head(gallery):
    cell(gallery, 2, 0).click()
    gallery.wait_for_choice("gallery_layer", "0")
    title = gallery.page.locator(".hero .gallery-title")
    expect(title).to_have_text("L0.H2: previous token, positional")


def test_another_score_is_drawn_without_another_run(gallery):
    before = gallery.drawn()
    gallery.page.get_by_role("radio", name="prose", exact=True).click()
    assert gallery.redrawn(before) != before
    gallery.wait_for_choice("probe", "prose")
    assert not gallery.page.get_by_role("button", name=MEASURE_LABEL).count()
