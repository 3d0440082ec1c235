"""The head gallery in a browser: measure a real model, click a head, and see that head."""

import pytest
from playwright.sync_api import expect

from explainers.chapters.common.measured_heads import MEASURE_LABEL
from explainers.models.load import is_on_disk
from explainers.models.registry import WHEEL_MODELS

MINILM = WHEEL_MODELS[1].id


@pytest.fixture
def gallery(visit):
    if not is_on_disk(MINILM):
        pytest.skip(f"no {MINILM} here: python -m explainers.models fetch says why")
    one = visit("head_gallery", real_model=MINILM)
    asking = one.page.get_by_role("button", name=MEASURE_LABEL)
    if asking.count():
        asking.click()
    expect(cell(one, 0, 0)).to_be_visible()
    return one.ready()


def cell(one, row, column):
    """The number of a head in the picture of all heads."""
    panel = one.page.locator('.panel[aria-label^="induction"]')
    return panel.locator("tbody tr").nth(row).locator("td.cell").nth(column)


def test_a_click_on_the_map_shows_that_head(gallery):
    cell(gallery, 2, 0).click()
    gallery.wait_for_choice("model_layer", "0")
    expect(gallery.page.get_by_text("L0.H2: previous token and positional.")).to_be_visible()
    counters = gallery.page.get_by_role("spinbutton")
    assert [one.input_value() for one in counters.all()][:2] == ["0", "2"]


def test_another_score_is_drawn_without_another_run(gallery):
    before = gallery.drawn()
    gallery.page.get_by_role("radio", name="prose").click()
    assert gallery.redrawn(before) != before
    gallery.wait_for_choice("probe", "prose")
    assert not gallery.page.get_by_role("button", name=MEASURE_LABEL).count()
