"""Long sequences in a browser: blocks and tiles that are dragged, a measurement."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_browser import live_slider, panel, run, values


def seen(visit, name):
    """How many numbers a matrix shows."""
    return sum(value is not None for line in values(visit, name) for value in line)


def test_blocks_are_read_in_the_browser(visit):
    one = visit("long_sequences")
    assert [seen(one, name) for name in ("scores", "running", "weights")] == [6, 8, 12]
    sent, slider = one.sent, live_slider(one, "Blocks read")
    slider.evaluate("(range) => { range.value = 0; range.dispatchEvent(new Event('input')); }")
    assert [seen(one, name) for name in ("scores", "running", "weights")] == [2, 2, 2]
    assert one.sent == sent, "the server is not asked while the slider is dragged"
    slider.dispatch_event("change")
    one.wait_for_choice("read", "1")
    followed = visit("long_sequences", **one.choices)
    assert followed.drawn() == one.ready().drawn()


def test_a_correction_is_explained(visit):
    one = visit("long_sequences")
    cells = panel(one, "running").locator("tbody tr").nth(2).locator("td.cell")
    cells.nth(1).click()
    card = one.page.locator(".card:visible").first
    lines = card.locator(".lines").inner_text()
    assert lines.startswith("correction = e^(")
    shown = values(one, "running")[2][1]
    assert float(run(card.locator(".snippet").inner_text())) == pytest.approx(shown, abs=1e-4)


def test_tiles_are_read_one_by_one_and_no_other_scores_are_held(visit):
    one = visit("long_sequences", tile="1")
    slider = live_slider(one, "Tiles read")
    held, done = [], []
    for frame in range(8):
        slider.evaluate(
            "(range, n) => { range.value = n; range.dispatchEvent(new Event('input')); }", frame
        )
        held.append(seen(one, "scores in memory"))
        done.append(seen(one, "output so far") // 4)
    assert sum(held) == 28, "each allowed pair once"
    assert max(held) <= 6
    assert done == [2, 4, 4, 6, 6, 7, 7, 7]


def test_measuring_shows_itself_and_comes_to_an_end(visit):
    one = visit("long_sequences", up_to="1024")
    charts = one.page.locator("[data-testid=stVegaLiteChart]")
    before = charts.count()
    one.page.get_by_role("button", name="Measure on this machine").click()
    expect(one.page.get_by_text("9 of 9, fused attention, 1,024 tokens")).to_be_visible()
    expect(charts).to_have_count(before + 2)
    expect(one.page.get_by_text("No output differs by more than")).to_be_visible()
    button = one.page.get_by_role("button", name="Measure on this machine")
    expect(button).to_be_enabled()
    assert not one.page.get_by_role("button", name="Cancel").count()
    one.ready()
