"""Linked matrices in a browser: pointing, keys, arithmetic, sliders and files; study mode."""

import csv
import io
import re
from contextlib import redirect_stdout
from xml.etree import ElementTree

import pytest
from PIL import Image
from playwright.sync_api import expect

from explainers.toys.sentence import SENTENCE
from tests.support.visit import drag, drop

TOKENS = SENTENCE.split()
SEVEN = {"deep": "all_words"}
KNOWN = "The team praised young fans on Sunday"
"""A sentence all of whose words the readable head has learned."""
STAGES = ["X", "Q", "K", "V", "scores", "weights", "output"]
PAIRS = {"scores", "weights"}
LEARNED = ["W_Q", "W_K", "W_V"]
LIT = """(panel) => [...panel.querySelectorAll('td.cell, th')].filter((cell) => {
  const style = getComputedStyle(cell);
  return style.getPropertyValue('--above') || style.getPropertyValue('--beside');
}).map((cell) => cell.place ?? cell.textContent)"""
CARD = ".card[role=status]:not([hidden])"


def framed(one, name):
    """[row, column] of the cells that are framed."""
    return one.panel(name).evaluate(
        "(panel) => [...panel.querySelectorAll('td.framed')].map((cell) => cell.place)"
    )


def slider(one, name):
    return one.page.get_by_role("slider", name=re.compile(f"^{name}"))


def test_a_linked_picture_under_the_pointer_and_the_keyboard(visit):
    link = {"predict": "false", "seed": "7", **SEVEN}
    one = visit("", is_still=True, **link)
    messages = one.sent, one.received
    one.panel("X").locator("th.row", has_text="record").hover()
    for name in STAGES:
        rows, columns = len(one.values(name)), len(one.values(name)[0])
        expected = [[i, j] for i in range(rows) for j in range(columns)]
        expected = [[i, j] for i, j in expected if i == 3 or (name in PAIRS and j == 3)]
        found = one.panel(name).evaluate(LIT)
        assert [place for place in found if not isinstance(place, str)] == expected
        assert {"record"} == {place for place in found if isinstance(place, str)}
    one.page.mouse.move(0, 0)
    assert all(one.panel(name).evaluate(LIT) == [] for name in STAGES)
    one.cell("weights", 0, 0).focus()
    for key, place in [("Right", (0, 1)), ("Down", (1, 1)), ("Left", (1, 0)), ("Left", (1, 0))]:
        one.page.keyboard.press(f"Arrow{key}")
        expect(one.cell("weights", *place)).to_be_focused()
    assert one.choices == link
    assert (one.sent, one.received) == messages, "the server need not know"

    one.after_run(lambda: one.page.keyboard.press("Enter"))
    assert framed(one, "weights") == [[1, 0]]
    assert framed(one, "scores") == [[1, n] for n in range(len(TOKENS))]


def test_a_linked_picture_is_changed_taken_away_and_leads_on(visit, tmp_path):
    link = {"seed": "5", "text": KNOWN, "d_model": "16", "d_k": "5", "weights": "untrained"}
    one = visit("query_key_value", is_still=True, deep="parameters", **link)
    one.after_run(lambda: slider(one, "d_k").press("ArrowRight"))
    one.expect_in_link(d_k="6")
    expect(one.panel("W_Q").locator("th.column")).to_have_count(6)
    written, lines = take_away(one, -1, tmp_path)
    for name in LEARNED:
        assert {*one.panel(name).locator("td.cell").all_inner_texts()} <= written, "as on screen"
        told = [float(line["value"]) for line in lines if line["matrix"] == name]
        drawn = [n for row in one.values(name) for n in row]
        assert told == pytest.approx(drawn, rel=1e-5), name

    one.turn_to("", **one.choices | SEVEN)
    one.after_run(one.panel("weights").get_by_role("button").click)
    expect(one.page.get_by_role("heading", level=1)).to_have_text("From scores to output")
    expect(one.page.get_by_role("textbox", name="Sentence")).to_have_value(KNOWN)
    one.page.get_by_text("One step at a time").click()
    expect(one.page.get_by_role("radio", name="weights", exact=True)).to_be_checked()


def take_away(one, nth, folder):
    """Download all that is offered under a picture: the texts of its SVG, the lines of its CSV."""
    one.page.get_by_role("button", name="Table and files").nth(nth).click()
    kept = {}
    for kind in ("PNG", "SVG", "CSV"):
        with one.page.expect_download() as download:
            one.page.get_by_role("button", name=kind, exact=True).click()
        kept[kind] = folder / download.value.suggested_filename
        download.value.save_as(kept[kind])
    with Image.open(kept["PNG"]) as picture:
        assert min(picture.size) > 200
        assert len(set(picture.convert("RGB").tobytes())) > 10
    written = {text.strip() for text in ElementTree.parse(kept["SVG"]).getroot().itertext()}
    with kept["CSV"].open(encoding="utf-8", newline="") as file:
        return written, list(csv.DictReader(file))


def test_a_slider_moves_bars_and_they_can_be_taken_away(visit, tmp_path):
    """A picture of its own follows, without a word to the server."""
    one = visit("scores", is_still=True, root_d_k="4")
    bars, moved, messages = one.page.locator("rect.share"), one.live_slider("d_k"), one.sent
    heights = "(bars) => bars.map((bar) => Number(bar.getAttribute('height')))"
    before = bars.evaluate_all(heights)
    drag(moved, moved.get_attribute("max"))
    after = bars.evaluate_all(heights)
    assert one.sent == messages
    assert after[19] > 10 * before[19], "one takes everything"
    one.after_run(lambda: drop(moved))
    one.expect_in_link(root_d_k=None)
    assert bars.evaluate_all(heights) == after
    written, lines = take_away(one, 2, tmp_path)
    assert {"■ without √d_k", "■ with √d_k", "largest weight"} <= written
    assert [float(line["share"]) * 180 for line in lines] == pytest.approx(after, abs=1e-3)


CLICKED = [
    ("query_key_value", {}, [("Q", 3, 2), ("Q", 4, 3)]),
    ("scores", {"deep": "steps", "step": "weights", "queries": "across"}, [("weights", 6, 5)]),
    ("", {"queries": "across", **SEVEN}, [("scores", 3, 5)]),
]
"""(page, link, cells that are clicked): (matrix, row, column) as they are drawn."""


def test_a_click_on_a_number_shows_its_arithmetic(visit):
    """Where one walks through a matrix, in a card that stands; elsewhere beside the number."""
    one = visit("query_key_value", is_still=True)
    for path, link, cells in CLICKED:
        one.turn_to(path, **link)
        for name, row, column in cells:
            clicked = one.cell(name, row, column)
            shown = clicked.inner_text().replace("−", "-")
            one.after_run(clicked.click)
            card = one.page.locator(CARD + (".docked" if path else ":not(.docked)"))
            expect(card).to_contain_text(f"{name}: ")
            with redirect_stdout(io.StringIO()) as printed:
                exec(card.locator(".snippet").inner_text(), {})
            assert float(printed.getvalue()) == pytest.approx(float(shown), abs=0.006)
    one.page.locator(CARD).get_by_role("button", name="Close").click()
    expect(one.page.locator(CARD)).to_have_count(0)


TICKS = """() => {
  const [begin, end] = [setInterval, clearInterval];
  globalThis.ticking = new Set();
  globalThis.setInterval = (...what) => {
    const id = begin(...what);
    ticking.add(id);
    return id;
  };
  globalThis.clearInterval = (id) => { ticking.delete(id); end(id); };
}"""
"""Keeps what is done again and again, until it is stopped."""


def test_stepping_through_the_cells_of_a_product(visit):
    """By keys and by buttons; the last cell is behind the first."""
    one = visit("scores", is_still=True, deep="steps")
    press, last = one.page.keyboard.press, [6, 6]
    assert framed(one, "products") == [[2, 1]]
    one.cell("products", 0, 0).click()
    for act, (row, column) in [
        (lambda: press("ArrowRight"), (0, 1)),
        (one.page.get_by_role("button", name="Next cell").click, (0, 2)),
        (one.page.get_by_role("button", name="Previous cell").click, (0, 1)),
        (lambda: press("ArrowLeft"), (0, 0)),
        (lambda: press("ArrowLeft"), last),
    ]:
        act()
        assert framed(one, "products") == [[row, column]]
        assert framed(one, "Q") == [[row, n] for n in range(len(one.values("Q")[0]))]
        assert framed(one, "Kᵀ") == [[n, column] for n in range(len(one.values("Kᵀ")))]
    card = one.page.locator(".card.docked:not(.late)").filter(has_text="products[6, 6]")
    expect(card).to_be_visible()
    one.page.get_by_role("textbox", name="Sentence").press("ArrowRight")
    assert framed(one, "products") == [last], "who types does not step"

    play = one.page.get_by_role("button", name="Play or pause")
    one.page.evaluate(TICKS)
    play.click()
    moved = "(panel) => panel.querySelector('td.framed').place.join() !== '6,6'"
    one.page.wait_for_function(moved, arg=one.panel("products").element_handle())
    assert one.page.evaluate("ticking.size") == 1
    play.click()
    assert one.page.evaluate("ticking.size") == 0, "nothing goes on"
    one.cell("products", last[0], last[1] - 1).click()
    play.click()
    one.page.wait_for_function("() => ticking.size === 0")
    assert framed(one, "products") == [last], "it comes to rest"
    at, sizes, messages = framed(one.ready(), "products"), slider(one, "d_k: "), one.sent
    drag(sizes, 2)
    expect(one.panel("Q").locator("th.column")).to_have_count(16)
    assert framed(one, "products") == at
    drawn = one.drawn()
    assert one.sent == messages
    one.after_run(lambda: drop(sizes))
    one.expect_in_link(d_k="16")
    assert one.drawn() == drawn
    one.after_run(lambda: sizes.press("ArrowLeft"))
    assert framed(one, "products") == at, "who moves a slider does not step"
