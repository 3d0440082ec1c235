"""The cells of linked matrices: a click shows the arithmetic of one, and one steps through all."""

from playwright.sync_api import expect

from tests.browser.hands import cell, check_arithmetic, framed, panel, run, slider, values

STEPS, WARM, NINE = {"deep": "steps"}, {"deep": "temperature"}, {"deep": "sizes"}
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
CARD = ".card[role=status]:not([hidden])"
FIRST_PICTURES = [
    (
        "",
        {**NINE, "mask": "causal"},
        [("Q", 3, 2), ("products", 4, 5), ("scores", 4, 5), ("weights", 4, 3), ("output", 6, 0)],
    ),
    ("scores", {**STEPS, "step": "weights", "queries": "across"}, [("weights", 5, 6)]),
    ("tokens", {"deep": "sum"}, [("X", 4, 5)]),
]
"""(page, link, cells that are clicked): (matrix, row, column)."""
LATER_PICTURES = [
    ("", {"deep": "ending", "queries": "down"}, [("new", 6, 2)]),
    ("query_key_value", {"queries": "across", "deep": "swap"}, [("exchanged", 5, 3)]),
    (
        "scores",
        {**WARM, "mask": "causal", "temperature": "4", "queries": "across"},
        [("at this temperature", 5, 3), ("attention", 5, 3)],
    ),
]


def test_a_click_on_a_number_shows_its_arithmetic(visit):
    one = visit("", is_still=True, **NINE)
    for path, link, cells in FIRST_PICTURES:
        one.turn_to(path, **link)
        for at, place in enumerate(cells):
            shows_its_arithmetic(one, path, link, *place, is_first=at == 0)
    for path, link, cells in LATER_PICTURES:
        one.turn_to(path, **link)
        for name, row, column in cells:
            shown = click(one, link, name, row, column)
            card = one.page.locator(".card[role=status]:not(.docked):not([hidden])")
            expect(card).to_contain_text(f"{name}: ")
            lines, snippet = (card.locator(part).inner_text() for part in (".lines", ".snippet"))
            check_arithmetic(lines, snippet, shown)
            assert one.choices.get("row") is None, "its place belongs to the first picture"


def click(one, link, name, row, column):
    """Click on a cell; what it shows."""
    across = link.get("queries") == "across"
    clicked = cell(one, name, *((column, row) if across else (row, column)))
    shown = clicked.inner_text().replace("−", "-")
    clicked.click()
    return shown


def shows_its_arithmetic(one, path, link, name, row, column, is_first):
    """In a card at once, and below the picture, where the server has written it."""
    shown = click(one, link, name, row, column)
    for key, value in {"row": str(row), "column": str(column)}.items():
        one.wait_for_choice(key, value)
    card = one.page.locator(CARD)
    expect(card.first).to_contain_text(f"{name}: ")
    lines, snippet = (card.first.locator(part).inner_text() for part in (".lines", ".snippet"))
    if path != "scores":  # where one steps it stays
        card.get_by_role("button", name="Close").click()
        expect(card).to_have_count(0)
    if is_first:
        one.page.get_by_text("The arithmetic, to read and to copy").click()
    expect(one.page.get_by_test_id("stText")).to_contain_text(f"{name}: ")
    code = one.ready().page.locator("[data-testid=stColumn] [data-testid=stCode] code")
    assert [code.nth(n).inner_text().rstrip() for n in (0, 1)] == [lines, snippet]
    check_arithmetic(lines, snippet, shown)
    assert lines.endswith(f"= {run(snippet)}")
    assert len(snippet.splitlines()) == 3


def steps_through(one, left, right, name):
    """By keys and by buttons, through the cells of a product; the last one is behind the first."""
    last = [len(values(one, name)) - 1, len(values(one, name)[0]) - 1]
    assert framed(one, name) == [[0, 0]]
    press = one.page.keyboard.press
    for act, place in [
        (lambda: press("ArrowRight"), [0, 1]),
        (one.page.get_by_role("button", name="Next cell").click, [0, 2]),
        (lambda: press("ArrowLeft"), [0, 1]),
        (one.page.get_by_role("button", name="Previous cell").click, [0, 0]),
        (lambda: press("ArrowLeft"), last),
    ]:
        act()
        assert framed(one, name) == [place]
        row, column = place
        assert framed(one, left) == [[row, n] for n in range(len(values(one, left)[0]))]
        assert framed(one, right) == [[n, column] for n in range(len(values(one, right)))]
    one.wait_for_choice("row", str(last[0]))
    one.wait_for_choice("column", str(last[1]))
    at = f"{name}[{last[0]}, {last[1]}]"
    expect(one.page.locator(".card.docked:not(.late)").filter(has_text=at)).to_be_visible()
    assert framed(one.ready(), name) == [last]


def test_stepping_through_the_cells_of_a_product(visit):
    one = visit("query_key_value", is_still=True, row="0", column="0")
    steps_through(one, "X", "W_Q", "Q")
    one.turn_to("scores", row="0", column="0", **STEPS)
    steps_through(one, "Q", "Kᵀ", "products")
    last = framed(one, "products")
    one.page.get_by_role("textbox", name="Sentence").press("ArrowRight")
    assert framed(one, "products") == last, "who types does not step"
    plays_until_it_is_paused(one)
    changes_its_size_in_the_browser(one)


def plays_until_it_is_paused(one):
    play = one.page.get_by_role("button", name="Play or pause")
    one.page.evaluate(TICKS)
    before = framed(one, "products")
    play.click()
    expect(play).to_have_text("Pause")
    moved = "([panel, at]) => panel.querySelector('td.framed').place.join() !== at.join()"
    arg = [panel(one, "products").element_handle(), before[0]]
    one.page.wait_for_function(moved, arg=arg)
    assert one.page.evaluate("ticking.size") == 1
    play.click()
    expect(play).to_have_text("Play")
    assert one.page.evaluate("ticking.size") == 0, "nothing goes on"


def changes_its_size_in_the_browser(one):
    """The matrices and the arithmetic of the number change at once; the link hears of it later."""
    at = framed(one.ready(), "products")
    moved, card, messages = slider(one, "d_k: "), one.page.locator(".card.docked"), one.sent
    terms = card.inner_text().count("×")
    moved.evaluate("(input) => { input.value = 2; input.dispatchEvent(new Event('input')); }")
    expect(panel(one, "Q").locator("th.column")).to_have_count(16)
    assert card.inner_text().count("×") > terms
    assert framed(one, "products") == at
    drawn = one.drawn()
    assert one.sent == messages
    assert "d_k" not in one.choices
    one.after_run(lambda: moved.evaluate("(input) => input.dispatchEvent(new Event('change'))"))
    one.wait_for_choice("d_k", "16")
    assert one.drawn() == drawn
    one.after_run(lambda: slider(one, "d_k: ").press("ArrowLeft"))
    assert framed(one, "products") == at, "who moves a slider does not step"
