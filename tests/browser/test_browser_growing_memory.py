"""A memory that does not grow, in a browser: pairs are written without the server."""

from playwright.sync_api import expect

from tests.support.browser_fixtures import CLICK

PATH = "growing_memory"
SEEN = """() => {
  const host = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .find((one) => one.shadowRoot.querySelector('.hero'));
  const hero = host.shadowRoot.querySelector('.hero');
  const texts = (name) => [...hero.querySelectorAll(name)].map((node) => node.textContent);
  const rows = [...hero.querySelectorAll('.strip')].filter((node) =>
    Number(node.style.opacity) === 1 && node.clientHeight < 20 && node.clientWidth < 90);
  return {
    names: [...hero.querySelectorAll('.state-name')].map((node) => node.firstChild.textContent),
    pairs: texts('.state-name span'), numbers: texts('.state-number'),
    marks: texts('.state-mark.moves'),
    found: texts('.state-found')[0], titles: texts('.state-title b'), stored: rows.length,
    memory: Number(hero.querySelector('.state-grid').style.opacity),
    side: hero.querySelector('.state-grid').style.width,
  };
}"""
"""What is seen in the first picture."""


def expect_picture(one, **parts):
    """In the end each of these is seen."""
    same = "(a, b) => JSON.stringify(a) === JSON.stringify(b)"
    one.page.wait_for_function(
        f"(parts) => Object.entries(parts).every(([name, of]) => ({same})(({SEEN})()[name], of))",
        arg=parts,
        timeout=10_000,
    )


def chip(one, value):
    return one.page.locator(f".hero .bar button[value='{value}']")


def test_the_picture_is_seen_without_a_click(visit):
    one = visit(PATH)
    pairs = {"names": ["a", "loss", "record"], "pairs": ["newest pair", "", "older pair"]}
    expect_picture(one, **pairs, found="6 of 9words find their newest pair")
    expect(one.says).to_contain_text("Overwriting answers a (0.98), the newest")
    expect(one.says).to_contain_text("Sum answers record (1.34; a 0.99): it keeps both")
    seen = one.page.evaluate(SEEN)
    assert seen["marks"].count("✓") == 6
    assert seen["marks"].count("✗") == 3
    assert seen["marks"].count("·") == 3


def test_rules_change_the_picture_without_the_server_and_the_memory_keeps_its_size(visit):
    one = visit(PATH)
    messages, side = one.sent, one.page.evaluate(SEEN)["side"]
    says = chip(one, "sum").evaluate(CLICK)
    assert "Sum answers record (1.34; a 0.99)" in says
    assert one.sent == messages
    pairs = ["older pair", "newest pair", ""]
    expect_picture(one, names=["record", "a", "Friday"], pairs=pairs)
    assert one.page.evaluate(SEEN)["side"] == side
    one.wait_for_choice("writing", "sum")


FLASHES = """(node) => getComputedStyle(node).visibility === 'visible'
  && node.getAnimations().some((one) => one.playState === 'running')"""


def test_what_a_pair_writes_lights_up_and_is_hidden_again(visit):
    one = visit(PATH)
    flash = one.page.locator(".hero .state-flash")
    expect(flash).to_be_hidden()
    slider = one.page.locator(".hero input[type=range]").first
    slider.press("ArrowLeft")
    slider.press("ArrowRight")
    assert flash.evaluate(FLASHES)
    expect(flash).to_be_hidden()


def test_attention_stores_every_row(visit):
    one = visit(PATH, writing="softmax")
    expect(one.says).to_contain_text("Attention stores all 12 rows, 192 numbers")
    expect(one.says).to_contain_text("record 50\N{NO-BREAK SPACE}% and a 50\N{NO-BREAK SPACE}%")
    seen = one.page.evaluate(SEEN)
    assert seen["stored"] == 24
    assert seen["memory"] < 0.2
    assert [mark for mark in seen["marks"] if mark != "·"] == ["50\N{NO-BREAK SPACE}%"] * 2


def test_pairs_are_written_by_the_slider_and_read_by_a_click(visit):
    one = visit(PATH)
    slider = one.page.locator(".hero .film input")
    slider.fill("6")
    expect(one.says).to_contain_text("It answers record (0.87), which is right")
    one.wait_for_choice("pairs", "6")
    slider.fill("0")
    expect(one.says).to_contain_text("all 64 numbers of the memory are 0")
    slider.fill("12")
    one.page.locator(".hero .words button").nth(3).click()
    expect(one.says).to_contain_text("what came after record")
    one.wait_for_choice("question", "3")


def test_play_writes_all_pairs(visit):
    one = visit(PATH, pairs="9")
    one.page.locator(".hero .play").click()
    expect(one.page.locator(".hero .film output")).to_have_text("12 of 12", timeout=15_000)
    expect(one.says).to_contain_text("Overwriting answers a (0.98)")


def test_experiments_choose_and_give_back(visit):
    one = visit(PATH)
    button = one.page.get_by_role("button", name="Keys at right angles")
    button.click()
    expect(one.says).to_contain_text("It answers record (1.00), which is right")
    button.click()
    expect(one.says).to_contain_text("Overwriting answers a (0.98)")


def test_a_number_of_the_memory_is_told_under_the_mouse(visit):
    one = visit(PATH)
    one.page.locator(".hero .state-grid").hover(position={"x": 5, "y": 5})
    note = one.page.locator(".hero .state-note")
    expect(note).to_contain_text("row 1, column 1:")
