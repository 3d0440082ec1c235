"""Long sequences in a browser: lengths, blocks and tiles that are dragged, a measurement."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_browser import live_slider, panel, run, values


def seen(visit, name):
    """How many numbers a matrix shows."""
    return sum(value is not None for line in values(visit, name) for value in line)


AT_ONCE = """(range, at) => {
  range.value = at;
  range.dispatchEvent(new Event('input'));
  const root = range.getRootNode();
  return ['.tiles-size', '.says'].map((name) => root.querySelector(name).textContent);
}"""
"""Drag a slider; what the picture says right after it, before any server could."""
DRAG = "(range, at) => { range.value = at; range.dispatchEvent(new Event('input')); }"


def sizes(one):
    """Of all weights, and of the tile."""
    return one.page.locator(".hero .tiles-size")


TILE_IS = """(share) => {
  const root = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .map((host) => host.shadowRoot.querySelector('.tiles')).find(Boolean);
  const [dot, held] = ['.tiles-dot', '.tiles-held']
    .map((name) => root.querySelector(name).getBoundingClientRect());
  return Math.abs(dot.width / held.width - share) < 0.01;
}"""
"""Is the tile, when it has come to its place, so wide a part of the square?"""


def test_a_length_and_a_mask_change_the_picture_at_once_and_are_in_the_link(visit):
    one = visit("long_sequences", predict="true")
    expect(sizes(one)).to_have_text(["32 GiB", "32 KiB"])
    assert one.page.locator(".hero .stage").bounding_box()["y"] <= 260
    size, says = one.page.locator(".hero .bar input").evaluate(AT_ONCE, 0)
    assert size == "2 MiB"
    assert "only 2 MiB" in says
    one.page.wait_for_function(TILE_IS, arg=128 / 1024)
    one.page.locator(".hero .chips button", has_text="causal").click()
    expect(one.page.locator(".hero .says")).to_contain_text("skips 28 of 64 tiles")
    expect(one.page.locator(".hero .tiles-cell.forbidden")).to_have_count(21)
    one.wait_for_choice("length", "1024")
    one.wait_for_choice("tile_mask", "causal")
    followed = visit("long_sequences", **one.choices)
    expect(followed.page.locator(".hero .says")).to_contain_text("skips 28 of 64 tiles")


def test_the_sweep_fills_the_outputs_and_forgets_its_tiles(visit):
    one = visit("long_sequences")
    film = one.page.locator(".hero .film input")
    for frame in range(12):
        film.evaluate(DRAG, frame)
        expect(one.page.locator(".hero .tiles-cell.now")).to_have_count(
            (3 if frame % 3 < 2 else 1) * (2 if frame < 9 else 1)
        )
        done = 2 * (frame // 3 + 1)
        expect(one.page.locator(".hero .strip:not(.empty)")).to_have_count(min(done, 7))
    expect(one.page.locator(".hero .tiles-total.full")).to_have_count(7)
    expect(one.page.locator(".hero .film output")).to_have_text("12 of 12")
    one.page.locator(".hero .small-play").click()
    expect(one.page.locator(".hero .film output")).to_have_text(re.compile(r"^[2-9] of 12$"))


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
    card = one.page.locator(".card:visible", has=one.page.locator(".lines")).first
    lines = card.locator(".lines").inner_text()
    assert lines.startswith("correction = e^(")
    shown = values(one, "running")[2][1]
    assert float(run(card.locator(".snippet").inner_text())) == pytest.approx(shown, abs=1e-4)


def test_tiles_are_read_one_by_one_and_no_other_scores_are_held(visit):
    one = visit("long_sequences", tile="1", tile_mask="causal", deep="tiles")
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
    one = visit("long_sequences", up_to="1024", deep="measure")
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


def test_the_bars_of_two_sequences_and_their_words_change_without_the_server(visit):
    one = visit("long_sequences", deep="two")
    keys = live_slider(one, "Keys of the other")
    figure = one.page.locator(".figure").filter(has=keys)
    words, bars = figure.locator(".says"), figure.locator(".amount .share")
    expect(words).to_contain_text("128 × 4,096 = 524,288 scores")
    messages = one.sent
    keys.evaluate("(input) => { input.value = '0'; input.dispatchEvent(new Event('input')); }")
    expect(words).to_contain_text("128 × 16 = 2,048 scores")
    live_slider(one, "Queries").evaluate(
        "(input) => { input.value = '0'; input.dispatchEvent(new Event('input')); }"
    )
    expect(words).to_contain_text("16 × 16 = 256 scores")
    expect(bars.first).to_have_attribute("style", re.compile("width: 25%"))
    assert one.sent == messages
