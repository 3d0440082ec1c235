"""What only a browser can tell: painting, pointing, clicking, keys, links and files."""

import csv
import io
import math
import re
from contextlib import redirect_stdout
from fractions import Fraction
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from PIL import Image
from playwright.sync_api import expect

from explainers.toys.sentence import PRESETS, SENTENCE, split_words
from tests.support.browser_fixtures import PAGES, Visit

TOKENS = SENTENCE.split()
STEPS, WARM = {"deep": "steps"}, {"deep": "temperature"}
NINE, UNTRAINED = {"deep": "sizes"}, {"weights": "untrained"}
KNOWN = "The team praised young fans on Sunday"
"""A sentence all of whose words the readable head has learned."""
STAGES = ["X", "Q", "K", "V", "products", "scores", "masked", "weights", "output"]
FOCUSED = """() => {
  let at = document.activeElement;
  while (at.shadowRoot) at = at.shadowRoot.activeElement;
  return at.place;
}"""
"""[row, column] of the cell that has the keyboard."""
NUMBER = r"−?-?\d+(?:\.\d+)?"


def panel(visit, name):
    """One matrix of a linked picture: the first of its name, or where a card is open, its own."""
    found = visit.page.locator(f'.panel[aria-label="{name}"]')
    return found.last if "deep" in visit.choices else found.first


def values(visit, name):
    """The numbers of a matrix, row by row; a masked one is None."""
    return panel(visit, name).evaluate(
        "(panel) => [...panel.querySelectorAll('tbody tr')].map("
        "(line) => [...line.querySelectorAll('td.cell')].map((cell) => cell.value))"
    )


def cell(visit, name, row, column):
    line = panel(visit, name).locator("tbody tr").nth(row)
    return line.locator("td.cell").nth(column)


def framed(visit, name):
    """[row, column] of the cells that are framed."""
    return panel(visit, name).evaluate(
        "(panel) => [...panel.querySelectorAll('td.framed')].map((cell) => cell.place)"
    )


def slider(visit, key):
    return visit.page.get_by_role("slider", name=re.compile(f"^{key}"))


def option(visit, name):
    return visit.page.get_by_role("radio", name=name, exact=True)


def answer(visit, name):
    visit.page.get_by_role("radiogroup", name="Your prediction").get_by_text(
        name, exact=True
    ).click()


@pytest.fixture(scope="module")
def elsewhere(browser, address):
    """Another browser, which has the files of the front end."""
    with browser.new_context() as context:
        context.new_page().goto(f"{address}/_stcore/health")
        yield context


@pytest.fixture
def stranger(elsewhere):
    """Another browser, which remembers no visit."""
    elsewhere.clear_cookies()
    elsewhere.pages[0].evaluate("localStorage.clear()")
    yield elsewhere.new_page()
    elsewhere.pages[1].close()


@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
def test_the_same_link_draws_the_same_pictures(stroll, stranger, address, path):
    """To a reader who comes from other pages, and in a browser that remembers nothing."""
    link = {"text": "one word, another word", "seed": "7", "d_model": "16", "queries": "across"}
    link |= UNTRAINED
    if path in ("", "query_key_value"):
        link |= {"text": KNOWN, **NINE}
    other = Visit(stranger, address).goto(path, **link)
    assert other.choices.items() <= {"predict": "false", **link}.items()
    assert other.drawn() == stroll(path, **link).drawn()


def test_a_slider_moves_the_matrices(visit):
    one = visit("", **NINE, **UNTRAINED)
    before = one.drawn()
    slider(one, "d_k").press("ArrowRight")
    one.wait_for_choice("d_k", "5")
    expect(panel(one, "Q").locator("th.column")).to_have_count(5)
    assert one.redrawn(before) != before


def test_a_size_changes_in_the_browser(visit):
    """The matrices and the arithmetic of the number change at once; the link hears of it later."""
    one = visit("scores", deep="steps", row="2", column="1")
    moved, card, messages = slider(one, "d_k: "), one.page.locator(".card.docked"), one.sent
    terms = card.inner_text().count("×")
    moved.evaluate("(input) => { input.value = 2; input.dispatchEvent(new Event('input')); }")
    expect(panel(one, "Q").locator("th.column")).to_have_count(16, timeout=1)
    assert card.inner_text().count("×") > terms
    assert framed(one, "products") == [[2, 1]]
    drawn = one.drawn()
    assert one.sent == messages
    assert "d_k" not in one.choices
    moved.evaluate("(input) => input.dispatchEvent(new Event('change'))")
    one.wait_for_choice("d_k", "16")
    assert one.ready().drawn() == drawn
    assert visit("scores", deep="steps", row="2", column="1", d_k="16").drawn() == drawn


def test_a_slider_moves_what_follows_it(visit):
    """Bars in a picture of their own, without a word to the server."""
    one = visit("scores", root_d_k="4")
    before, messages = bars(one), one.sent
    live_slider(one, "d_k").evaluate(
        "(input) => { input.value = input.max; input.dispatchEvent(new Event('input')); }"
    )
    after = bars(one)
    assert one.sent == messages
    assert before != after
    assert float(after[19]["height"]) > 10 * float(before[19]["height"]), "one takes everything"
    live_slider(one, "d_k").evaluate("(input) => input.dispatchEvent(new Event('change'))")
    one.wait_for_choice("root_d_k", None)
    assert bars(one.ready()) == after == bars(visit("scores"))


def bars(visit):
    """How often the largest weight was how large, as it is drawn."""
    return visit.page.locator("rect.share").evaluate_all(
        "(bars) => bars.map((bar) => Object.fromEntries("
        "[...bar.attributes].map(({ name, value }) => [name, value])))"
    )


def live_slider(visit, label):
    """A slider that moves in the browser."""
    lines = visit.page.locator("label.slider", has_text=re.compile(f"^{label}"))
    return lines.locator("input")


def test_a_link_sets_the_controls(visit):
    link = {
        "text": "two plus three",
        "d_k": "8",
        "d_model": "16",
        "mask": "causal",
        "seed": "5",
        "queries": "across",
        "step": "weights",
        "weights": "untrained",
        "deep": "steps",
    }
    one = visit("scores", **link)
    expect(one.page.get_by_role("textbox", name="Sentence")).to_have_value("two plus three")
    one.page.get_by_role("button", name="Settings").click()
    expect(slider(one, "d_k: ")).to_have_attribute("aria-valuetext", "8")
    expect(slider(one, "d_model")).to_have_attribute("aria-valuetext", "16")
    expect(slider(one, "Seed")).to_have_attribute("aria-valuetext", "5")
    for chosen in ("causal", "across", "weights"):
        expect(option(one, chosen)).to_be_checked()
    assert one.choices == {"predict": "false", **link}
    warm = visit("scores", deep="temperature", temperature="0.5")
    expect(live_slider(warm, "Temperature")).to_have_attribute("aria-valuetext", "0.5")


def test_the_controls_set_the_link(visit):
    one = visit("scores", deep="steps", weights="untrained")
    one.page.get_by_role("textbox", name="Sentence").fill("two plus three")
    one.page.get_by_role("textbox", name="Sentence").press("Enter")
    one.wait_for_choice("text", "two plus three")
    for key in ("causal", "weights"):
        option(one, key).click()
    one.page.get_by_role("button", name="Settings").click()
    option(one, "across").click()
    for key, value in {"mask": "causal", "queries": "across", "step": "weights"}.items():
        one.wait_for_choice(key, value)
    slider(one, "Seed").press("End")
    one.wait_for_choice("seed", "99")
    slider(one, "d_model").press("Home")
    one.wait_for_choice("d_model", "4")
    followed = visit("scores", **one.choices)
    assert followed.drawn() == one.ready().drawn()


def test_a_default_leaves_the_link(visit):
    one = visit("", **NINE, weights="untrained", seed="7")
    option(one, "trained").click()
    one.wait_for_choice("weights", None)
    one.page.get_by_role("button", name="Settings").click()
    one.page.get_by_role("button", name="Reset all choices").click()
    one.wait_for_choice("seed", None)
    one.wait_for_choice("predict", None)
    assert one.choices == {}


def test_a_preset_fills_the_sentence(visit):
    one = visit("tokens", deep="sum")
    one.page.get_by_role("combobox", name="Or an example").click()
    one.page.get_by_role("option", name="Vietnamese").click()
    sentence = PRESETS["Vietnamese"]
    expect(one.page.get_by_role("textbox", name="Sentence")).to_have_value(sentence)
    one.wait_for_choice("text", sentence)
    heads = panel(one, "X").locator("th.row")
    expect(heads).to_have_text(split_words(sentence), use_inner_text=False)


def test_pointing_at_a_token_lights_it_in_every_stage_without_the_server(visit):
    one = visit("", **NINE)
    messages = one.sent, one.received
    lit = (
        "(panel) => [...panel.querySelectorAll('td.cell, th')]"
        ".filter((cell) => { const style = getComputedStyle(cell);"
        " return style.getPropertyValue('--above') || style.getPropertyValue('--beside'); })"
        ".map((cell) => cell.place ?? cell.textContent)"
    )
    for name in STAGES:
        assert panel(one, name).evaluate(lit) == []
    panel(one, "X").locator("th.row", has_text="record").hover()
    for name in STAGES:
        rows, columns = len(values(one, name)), len(values(one, name)[0])
        by_key = name in ("products", "scores", "masked", "weights")
        expected = [[i, j] for i in range(rows) for j in range(columns)]
        expected = [[i, j] for i, j in expected if i == 3 or (by_key and j == 3)]
        found = panel(one, name).evaluate(lit)
        assert [cell for cell in found if not isinstance(cell, str)] == expected
        assert {"record"} == {cell for cell in found if isinstance(cell, str)}
    cell(one, "weights", 3, 0).hover()
    crossed = {
        tuple(place) for place in panel(one, "weights").evaluate(lit) if place[0] in range(7)
    }
    assert crossed == {(3, j) for j in range(7)} | {(i, 0) for i in range(7)}, "its query, its key"
    one.page.mouse.move(0, 0)
    for name in STAGES:
        assert panel(one, name).evaluate(lit) == []
    assert (one.sent, one.received) == messages


def half_a_digit(shown):
    """By how much a number may differ from what its cell has room for."""
    return 0.5001 * 10.0 ** -len(shown.partition(".")[2])


@pytest.mark.parametrize(
    ("path", "name", "row", "column", "choices"),
    [
        ("", "Q", 3, 2, NINE),
        ("", "products", 4, 5, NINE),
        ("", "scores", 4, 5, NINE),
        ("", "weights", 4, 3, {**NINE, "mask": "causal"}),
        ("", "output", 6, 0, NINE),
        ("tokens", "X", 4, 5, {"deep": "sum"}),
        ("scores", "weights", 5, 6, {**STEPS, "step": "weights", "queries": "across"}),
    ],
)
def test_a_click_on_a_number_shows_its_arithmetic(visit, path, name, row, column, choices):
    one = visit(path, **choices)
    across = choices.get("queries") == "across"
    clicked = cell(one, name, *((column, row) if across else (row, column)))
    shown = clicked.inner_text().replace("−", "-")
    clicked.click()
    one.wait_for_choice("row", str(row))
    one.wait_for_choice("column", str(column))
    card = one.page.locator(".card[role=status]:not([hidden])")
    expect(card.first).to_contain_text(f"{name}: ")
    lines, snippet = (card.first.locator(part).inner_text() for part in (".lines", ".snippet"))
    if path != "scores":  # where one steps it stays
        card.get_by_role("button", name="Close").click()
        expect(card).to_have_count(0)
    one.page.get_by_text("The arithmetic, to read and to copy").click()
    assert below(one, name) == (lines, snippet)
    printed = run(snippet)
    assert float(printed) == pytest.approx(float(shown), abs=half_a_digit(shown))
    assert lines.endswith(f"= {printed}")
    assert len(snippet.splitlines()) == 3
    multiplied_out(lines.splitlines())


def below(visit, name):
    """The arithmetic and the snippet below a picture."""
    expect(visit.page.get_by_test_id("stText")).to_contain_text(f"{name}: ")
    code = visit.ready().page.locator("[data-testid=stColumn] [data-testid=stCode] code")
    return tuple(code.nth(n).inner_text().rstrip() for n in (0, 1))


def run(snippet):
    """What a reader sees who pastes a snippet into Python."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(snippet, {})
    return printed.getvalue().strip()


def multiplied_out(lines):
    """Recompute every line as a reader with a pocket calculator does."""
    total = Fraction(0)
    for line in lines:
        found = [Fraction(number.replace("−", "-")) for number in re.findall(NUMBER, line)]
        if "×" in line:
            left, right, product = found
            assert abs(left * right - product) <= half(line)
            total += product
        elif line.startswith("sum ="):
            assert found == [total]
        elif line.startswith("e^"):
            total += Fraction(re.findall(rf"= ({NUMBER})", line)[0])
        elif line.startswith("total ="):
            assert found == [total]
        elif "÷" in line:
            top, bottom, quotient = found
            assert abs(top / bottom - quotient) <= half(line)


def half(line):
    """Half a unit of the last digit of a line's result."""
    places = len(re.findall(NUMBER, line)[-1].partition(".")[2])
    return Fraction(1, 2 * 10**places)


def test_arrow_keys_walk_through_a_matrix_and_enter_picks(visit):
    one = visit("", **NINE)
    cell(one, "weights", 0, 0).focus()
    for key, place in [
        ("ArrowRight", [0, 1]),
        ("ArrowDown", [1, 1]),
        ("ArrowDown", [2, 1]),
        ("ArrowLeft", [2, 0]),
        ("ArrowUp", [1, 0]),
        ("ArrowLeft", [1, 0]),
    ]:
        one.page.keyboard.press(key)
        assert one.page.evaluate(FOCUSED) == place
    assert one.choices == {"predict": "false", **NINE}
    one.page.keyboard.press("Enter")
    one.wait_for_choice("row", "1")
    one.wait_for_choice("column", "0")
    one.wait_for_choice("matrix", "weights")
    assert framed(one, "weights") == [[1, 0]]
    assert framed(one, "masked") == [[1, n] for n in range(len(TOKENS))]


@pytest.mark.parametrize(
    ("path", "left", "right", "name"),
    [("query_key_value", "X", "W_Q", "Q"), ("scores", "Q", "Kᵀ", "products")],
)
def test_stepping_through_the_cells_of_a_product(visit, path, left, right, name):
    one = visit(path, row="0", column="0", **(STEPS if path == "scores" else {}))
    last = [len(values(one, name)) - 1, len(values(one, name)[0]) - 1]
    assert framed(one, name) == [[0, 0]]
    step = one.page.get_by_role("button", name="Next cell")
    for press, place in [
        (lambda: one.page.keyboard.press("ArrowRight"), [0, 1]),
        (step.click, [0, 2]),
        (lambda: one.page.keyboard.press("ArrowLeft"), [0, 1]),
        (one.page.get_by_role("button", name="Previous cell").click, [0, 0]),
        (lambda: one.page.keyboard.press("ArrowLeft"), last),
    ]:
        press()
        assert framed(one, name) == [place]
        row, column = place
        assert framed(one, left) == [[row, n] for n in range(len(values(one, left)[0]))]
        assert framed(one, right) == [[n, column] for n in range(len(values(one, right)))]
    one.wait_for_choice("row", str(last[0]))
    one.wait_for_choice("column", str(last[1]))
    at = f"{name}[{last[0]}, {last[1]}]"
    expect(one.page.locator(".card.docked:not(.late)").filter(has_text=at)).to_be_visible()
    assert framed(one.ready(), name) == [last]


def test_stepping_leaves_typing_and_sliders_alone(visit):
    one = visit("scores", **STEPS, weights="untrained", row="0", column="0")
    one.page.get_by_role("textbox", name="Sentence").press("ArrowRight")
    assert framed(one, "products") == [[0, 0]]
    slider(one, "d_k: ").press("ArrowRight")
    one.wait_for_choice("d_k", "5")
    assert framed(one.ready(), "products") == [[0, 0]]


def test_play_walks_on_until_it_is_paused(visit):
    one = visit("scores", **STEPS, row="0", column="0")
    play = one.page.get_by_role("button", name="Play or pause")
    play.click()
    expect(play).to_have_text("Pause")
    expect(cell(one, "products", 0, 2)).to_have_class(re.compile("framed"))
    play.click()
    expect(play).to_have_text("Play")
    stopped = framed(one, "products")
    one.page.evaluate("() => new Promise((wake) => setTimeout(wake, 1500))")  # two steps' time
    assert framed(one, "products") == stopped


def test_predict_then_reveal(visit):
    one = visit("query_key_value", predict="true")
    pictures = len(one.drawn())
    answer(one, "about as much")
    one.wait_for_choice("guess_directions", "about as much")
    verdict = "You chose about as much. The answer is almost nothing."
    expect(one.page.get_by_text(verdict)).to_be_visible()
    answer(one, "almost nothing")
    expect(one.page.get_by_text("Right: almost nothing.")).to_be_visible()
    assert len(one.ready().drawn()) > pictures
    followed = visit("query_key_value", **one.choices)
    assert followed.drawn() == one.ready().drawn()


def test_a_number_under_a_veil_is_guessed_or_shown(visit):
    one = visit("", deep="ending", predict="true")
    guess = one.page.get_by_role("button", name="7", exact=True)
    expect(guess).to_be_visible()
    guess.click()
    one.wait_for_choice("guess_ending", "7")
    expect(one.page.get_by_text("You chose 7. The answer is 1.")).to_be_visible()
    again = visit("", deep="ending", predict="true")
    again.page.get_by_role("button", name="hidden number, show").click()
    expect(again.page.get_by_text("the number that changes is 1.")).to_be_visible()


def asked(one):
    """The questions of a page that wait for a reader's answer, or have had it."""
    return one.page.locator("[class*='st-key-question-']")


def test_a_question_can_be_skipped(visit):
    one = visit("query_key_value", predict="true")
    expect(asked(one)).to_have_count(1)
    expect(panel(one, "weights")).to_have_count(0)
    one.page.get_by_role("button", name="Show me", exact=True).click()
    expect(panel(one, "weights")).to_be_visible()
    expect(one.page.get_by_text("Answer: almost nothing.")).to_be_visible()


def test_one_switch_turns_questions_off_on_the_next_pages_too(visit):
    """That no page asks anything without study mode is tested for each of them by its link."""
    one = visit("", predict="true")
    one.page.get_by_test_id("stSidebar").get_by_text("Study mode").click()
    one.wait_for_choice("predict", "false")
    links = one.page.get_by_role("navigation").get_by_role("link")
    for n in (2, links.count() // 2, links.count() - 1):
        title = re.sub(r"^\d+ · | .$", "", links.nth(n).inner_text())
        links.nth(n).click()
        expect(one.page.get_by_role("heading", level=1, name=title)).to_be_visible()
        # The question stands there with its answer; nobody is asked for one.
        expect(asked(one.ready())).to_have_count(0)
        one.wait_for_choice("predict", "false")


@pytest.mark.parametrize(
    ("label", "key", "name"),
    [
        ("Temperature", "temperature", "at this temperature"),
        ("d_k", "root_d_k", "weights without √d_k"),
    ],
)
def test_a_live_slider_repaints_under_the_finger(visit, label, key, name):
    one = visit("scores", deep="temperature")
    live = live_slider(one, label)
    live.scroll_into_view_if_needed()
    box, seen = live.bounding_box(), [values(one, name)]
    mouse, height = one.page.mouse, box["y"] + box["height"] / 2
    messages = one.sent
    mouse.move(box["x"] + box["width"] / 2, height)
    mouse.down()
    for share in (0.75, 0.4, 0.1):
        mouse.move(box["x"] + box["width"] * share, height, steps=3)
        seen.append(values(one, name))
    assert all(a != b for a, b in pairwise(seen))
    assert one.sent == messages, "a message went out before the slider was released"
    assert key not in one.choices
    shown = float(re.findall(r"[\d.]+", live.get_attribute("aria-valuetext"))[0])
    mouse.up()
    one.page.wait_for_function("(key) => new URLSearchParams(location.search).has(key)", arg=key)
    assert float(one.choices[key]) == pytest.approx(shown, rel=0.01)
    assert one.sent > messages
    assert values(one.ready(), name) == seen[-1]


@pytest.mark.parametrize(
    ("path", "name", "row", "column", "choices"),
    [
        ("", "new", 6, 2, {"deep": "ending"}),
        ("query_key_value", "exchanged", 5, 3, {"queries": "across", "deep": "swap"}),
        ("scores", "at this temperature", 5, 3, {**WARM, "mask": "causal", "temperature": "4"}),
        ("scores", "attention", 5, 3, {**WARM, "mask": "causal", "queries": "across"}),
    ],
)
def test_a_click_in_a_later_picture_shows_its_arithmetic(visit, path, name, row, column, choices):
    one = visit(path, **choices)
    across = choices.get("queries") == "across"
    clicked = cell(one, name, *((column, row) if across else (row, column)))
    shown = clicked.inner_text().replace("−", "-")
    clicked.click()
    card = one.page.locator(".card[role=status]:not(.docked):not([hidden])")
    expect(card).to_contain_text(f"{name}: ")
    printed = run(card.locator(".snippet").inner_text())
    assert float(printed) == pytest.approx(float(shown), abs=half_a_digit(shown))
    multiplied_out(card.locator(".lines").inner_text().splitlines())
    assert "row" not in one.choices, "the place in the link belongs to the first picture"


COVERS = """(card) => {
  const matrix = card.getRootNode().querySelector('.panel[aria-label="at this temperature"]');
  const [a, b] = [card, matrix].map((one) => one.getBoundingClientRect());
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}"""
"""Does the arithmetic lie over its matrix?"""


def test_a_slider_hides_the_arithmetic_of_another_frame(visit):
    one = visit("scores", **WARM)
    cell(one, "at this temperature", 5, 3).click()
    card = one.page.locator(".card[role=status]:not(.docked):not([hidden])")
    expect(card).to_contain_text("at this temperature: query on, key record")
    assert not card.evaluate(COVERS), "what it explains stays in sight"
    live_slider(one, "Temperature").press("ArrowRight")
    expect(card).to_have_count(0)


def test_orientation(visit):
    one = visit("", **NINE)
    down = {name: values(one, name) for name in STAGES}
    one.page.get_by_role("button", name="Settings").click()
    option(one, "across").click()
    one.wait_for_choice("queries", "across")
    expect(panel(one, "weights")).to_contain_text("drawn transposed")
    expect(panel(one, "weights")).to_contain_text("every column sums to 1")
    for name in STAGES:
        pairs = name in ("products", "scores", "masked", "weights")
        turned = [list(column) for column in zip(*down[name], strict=True)]
        assert values(one, name) == (turned if pairs else down[name])


def test_choices_of_a_link_follow_to_another_page(visit):
    link = {"seed": "5", "text": KNOWN, "d_model": "16", "d_k": "6"}
    link |= UNTRAINED
    one = visit("", **NINE, **link)
    contents = one.page.get_by_role("navigation")
    contents.get_by_role("link", name="Queries, keys, values").click()
    follows(one, "Queries, keys, values", link)
    contents.get_by_role("link", name="From scores to output").click()
    follows(one, "From scores to output", link)


def test_a_title_opens_its_page_with_the_choices(visit):
    link = {"seed": "5", "text": KNOWN, "d_model": "16", "d_k": "6"}
    link |= UNTRAINED
    one = visit("", **NINE, **link)
    panel(one, "weights").get_by_role("button").click()
    follows(one, "From scores to output", {**link, "step": "weights"})
    expect(option(one, "weights")).to_be_checked()


SIZES = {
    "Queries, keys, values": "Longer queries, longer values",
    "From scores to output": "One step at a time",
}
"""The card of a page in which its sizes can be chosen."""


def follows(visit, title, link):
    """The page shows what the link asked for.

    In the address stand at once only the choices that every page has; Streamlit adds the others
    when they are next touched.
    """
    expect(visit.page.get_by_role("heading", level=1)).to_have_text(title)
    expect(visit.page.get_by_role("textbox", name="Sentence")).to_have_value(link["text"])
    visit.page.get_by_text(SIZES[title]).click()
    expect(slider(visit, "d_k: ")).to_have_attribute("aria-valuetext", link["d_k"])
    expect(slider(visit, "d_model")).to_have_attribute("aria-valuetext", link["d_model"])
    for key, value in {"predict": "false", "seed": link["seed"]}.items():
        visit.wait_for_choice(key, value)


@pytest.fixture
def files(visit, tmp_path):
    """Download all that is offered under one picture."""

    def taken(path, nth, **choices):
        one = visit(path, **choices)
        one.page.get_by_role("button", name="Table and files").nth(nth).click()
        kept = {}
        for kind in ("PNG", "SVG", "CSV"):
            with one.page.expect_download() as download:
                one.page.get_by_role("button", name=kind, exact=True).click()
            kept[kind] = tmp_path / download.value.suggested_filename
            download.value.save_as(kept[kind])
        return one, kept

    return taken


def test_linked_matrices_can_be_taken_away(files):
    one, kept = files("", -1, **NINE, **UNTRAINED, mask="causal", d_k="3")
    drawn = {name: values(one, name) for name in STAGES}
    looks_like_a_picture(kept)
    assert set(TOKENS) <= texts(kept["SVG"])
    read = {name: [[math.inf] * len(line) for line in drawn[name]] for name in STAGES}
    with kept["CSV"].open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            value = float(line["value"] or "nan")
            read[line["matrix"]][int(line["row"])][int(line["column"])] = value
            if line["matrix"] == "weights":
                assert line["row_label"] == TOKENS[int(line["row"])]
    for name in STAGES:
        assert flat(read[name]) == pytest.approx(flat(drawn[name]), rel=1e-5, nan_ok=True), name


def flat(rows):
    return [math.nan if value is None else value for row in rows for value in row]


def test_a_chart_can_be_taken_away(files):
    one, kept = files("scores", 2, root_d_k="16")
    looks_like_a_picture(kept)
    assert {"without √d_k", "with √d_k", "largest weight"} <= texts(kept["SVG"])
    with kept["CSV"].open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    drawn = bars(one)
    assert len(read) == len(drawn) == 2 * 20
    colours = {"without √d_k": drawn[0]["fill"], "with √d_k": drawn[20]["fill"]}
    for line, bar in zip(read, drawn, strict=True):
        assert colours[line["series"]] == bar["fill"]
        assert float(line["share"]) * 180 == pytest.approx(float(bar["height"]), abs=1e-3)


def looks_like_a_picture(kept):
    with Image.open(kept["PNG"]) as picture:
        picture.load()
        assert min(picture.size) > 200
        assert len(set(picture.convert("RGB").tobytes())) > 10


def texts(svg):
    """All that is written in a picture."""
    return {
        "".join(e.itertext())
        for e in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")
    }


def test_the_table_behind_a_picture(visit):
    one = visit("", deep="all_words")
    one.page.get_by_role("button", name="Table and files").nth(1).click()
    table = one.page.get_by_test_id("stTable")
    expect(table).to_contain_text("row_label")
    expect(table.get_by_role("row")).not_to_have_count(0)
