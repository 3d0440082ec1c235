"""What only a browser can tell: painting, pointing, clicking, keys, links and files."""

import csv
import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from PIL import Image
from playwright.sync_api import expect

from explainers.toys.sentence import PRESETS, SENTENCE, split_words
from tests.browser.hands import bars, cell, framed, live_slider, option, panel, slider, values

TOKENS = SENTENCE.split()
STEPS, WARM, NINE = {"deep": "steps"}, {"deep": "temperature"}, {"deep": "sizes"}
UNTRAINED = {"weights": "untrained"}
KNOWN = "The team praised young fans on Sunday"
"""A sentence all of whose words the readable head has learned."""
STAGES = ["X", "Q", "K", "V", "products", "scores", "masked", "weights", "output"]
PAIRS = {"products", "scores", "masked", "weights"}
FOCUSED = """() => {
  let at = document.activeElement;
  while (at.shadowRoot) at = at.shadowRoot.activeElement;
  return at.place;
}"""
"""[row, column] of the cell that has the keyboard."""
LIT = """(panel) => [...panel.querySelectorAll('td.cell, th')].filter((cell) => {
  const style = getComputedStyle(cell);
  return style.getPropertyValue('--above') || style.getPropertyValue('--beside');
}).map((cell) => cell.place ?? cell.textContent)"""
COVERS = """(card) => {
  const matrix = card.getRootNode().querySelector('.panel[aria-label="at this temperature"]');
  const [a, b] = [card, matrix].map((one) => one.getBoundingClientRect());
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}"""
"""Does the arithmetic lie over its matrix?"""


def is_other(one, name, before):
    """Wait until a matrix shows other numbers than before; returns them."""
    one.page.wait_for_function(
        "([panel, before]) => [...panel.querySelectorAll('td.cell')].map((cell) => cell.value)"
        ".join() !== before.flat().join()",
        arg=[panel(one, name).element_handle(), before],
    )
    return values(one, name)


def test_a_linked_picture_under_the_pointer_and_the_keyboard(visit):
    link = {"predict": "false", "seed": "7", **NINE, **UNTRAINED}
    one = visit("", is_still=True, **link)
    messages = one.sent, one.received
    assert all(panel(one, name).evaluate(LIT) == [] for name in STAGES)
    panel(one, "X").locator("th.row", has_text="record").hover()
    for name in STAGES:
        rows, columns = len(values(one, name)), len(values(one, name)[0])
        expected = [[i, j] for i in range(rows) for j in range(columns)]
        expected = [[i, j] for i, j in expected if i == 3 or (name in PAIRS and j == 3)]
        found = panel(one, name).evaluate(LIT)
        assert [place for place in found if not isinstance(place, str)] == expected
        assert {"record"} == {place for place in found if isinstance(place, str)}
    cell(one, "weights", 3, 0).hover()
    lit = panel(one, "weights").evaluate(LIT)
    crossed = {tuple(place) for place in lit if place[0] in range(7)}
    assert crossed == {(3, j) for j in range(7)} | {(i, 0) for i in range(7)}, "its query, its key"
    one.page.mouse.move(0, 0)
    assert all(panel(one, name).evaluate(LIT) == [] for name in STAGES)
    cell(one, "weights", 0, 0).focus()
    walk = [("Right", [0, 1]), ("Down", [1, 1]), ("Down", [2, 1])]
    walk += [("Left", [2, 0]), ("Up", [1, 0]), ("Left", [1, 0])]
    for key, place in walk:
        one.page.keyboard.press(f"Arrow{key}")
        assert one.page.evaluate(FOCUSED) == place
    assert one.choices == link
    assert (one.sent, one.received) == messages, "the server need not know"

    one.after_run(lambda: one.page.keyboard.press("Enter"))
    for key, value in {"row": "1", "column": "0", "matrix": "weights"}.items():
        one.wait_for_choice(key, value)
    assert framed(one, "weights") == [[1, 0]]
    assert framed(one, "masked") == [[1, n] for n in range(len(TOKENS))]

    one.after_run(option(one, "trained").click)
    one.wait_for_choice("weights", None)  # a default leaves the link
    down = {name: values(one, name) for name in STAGES}
    one.page.get_by_role("button", name="Settings").click()
    one.after_run(option(one, "across").click)
    one.wait_for_choice("queries", "across")
    expect(panel(one, "weights")).to_contain_text("drawn transposed")
    expect(panel(one, "weights")).to_contain_text("every column sums to 1")
    for name in STAGES:
        turned = [list(column) for column in zip(*down[name], strict=True)]
        assert values(one, name) == (turned if name in PAIRS else down[name])
    one.after_run(one.page.get_by_role("button", name="Reset all choices").click)
    for key in ("seed", "predict", "row", "queries"):
        one.wait_for_choice(key, None)
    assert one.choices == {}


def test_a_linked_picture_is_changed_taken_away_and_leads_on(visit, tmp_path):
    link = {"seed": "5", "text": KNOWN, "d_model": "16", "d_k": "5", "mask": "causal", **UNTRAINED}
    one = visit("", is_still=True, **NINE, **link)
    before = one.drawn()
    one.after_run(lambda: slider(one, "d_k").press("ArrowRight"))
    one.wait_for_choice("d_k", "6")
    expect(panel(one, "Q").locator("th.column")).to_have_count(6)
    assert one.drawn() != before
    holds_what_is_drawn(one, take_away(one, -1, tmp_path))
    one.after_run(panel(one, "weights").get_by_role("button").click)
    link["d_k"] = "6"
    follows(one, "From scores to output", "One step at a time", link)
    expect(option(one, "weights")).to_be_checked()
    contents = one.page.get_by_role("navigation")
    one.after_run(contents.get_by_role("link", name="Queries, keys, values").click)
    follows(one, "Queries, keys, values", "Longer queries, longer values", link)


def follows(visit, title, card, link):
    """The page shows what the link asked for, the sizes in a card of it.

    In the address stand at once only the choices that every page has; Streamlit adds the others
    when they are next touched.
    """
    expect(visit.page.get_by_role("heading", level=1)).to_have_text(title)
    expect(visit.page.get_by_role("textbox", name="Sentence")).to_have_value(link["text"])
    visit.page.get_by_text(card).click()
    expect(slider(visit, "d_k: ")).to_have_attribute("aria-valuetext", link["d_k"])
    expect(slider(visit, "d_model")).to_have_attribute("aria-valuetext", link["d_model"])
    for key, value in {"predict": "false", "seed": link["seed"]}.items():
        visit.wait_for_choice(key, value)


def take_away(one, nth, folder):
    """Download all that is offered under one picture."""
    one.page.get_by_role("button", name="Table and files").nth(nth).click()
    kept = {}
    for kind in ("PNG", "SVG", "CSV"):
        with one.page.expect_download() as download:
            one.page.get_by_role("button", name=kind, exact=True).click()
        kept[kind] = folder / download.value.suggested_filename
        download.value.save_as(kept[kind])
    with Image.open(kept["PNG"]) as picture:
        picture.load()
        assert min(picture.size) > 200
        assert len(set(picture.convert("RGB").tobytes())) > 10
    return kept


def texts(svg):
    """All that is written in a picture."""
    found = ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")
    return {"".join(one.itertext()) for one in found}


def holds_what_is_drawn(one, kept):
    """The files of linked matrices, and the table beside them."""
    table = one.page.get_by_test_id("stTable")
    expect(table).to_contain_text("row_label")
    expect(table.get_by_role("row")).not_to_have_count(0)
    drawn = {name: values(one, name) for name in STAGES}
    words = KNOWN.split()
    assert set(words) <= texts(kept["SVG"])
    read = {name: [[math.inf] * len(line) for line in drawn[name]] for name in STAGES}
    with kept["CSV"].open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            value = float(line["value"] or "nan")
            read[line["matrix"]][int(line["row"])][int(line["column"])] = value
            if line["matrix"] == "weights":
                assert line["row_label"] == words[int(line["row"])]
    for name in STAGES:
        assert flat(read[name]) == pytest.approx(flat(drawn[name]), rel=1e-5, nan_ok=True), name


def flat(rows):
    return [math.nan if value is None else value for row in rows for value in row]


def test_a_slider_moves_bars_and_they_can_be_taken_away(visit, tmp_path):
    """A picture of its own follows, without a word to the server."""
    one = visit("scores", is_still=True, root_d_k="4")
    before, messages = bars(one), one.sent
    moved = live_slider(one, "d_k")
    moved.evaluate(
        "(input) => { input.value = input.max; input.dispatchEvent(new Event('input')); }"
    )
    after = bars(one)
    assert one.sent == messages
    assert float(after[19]["height"]) > 10 * float(before[19]["height"]), "one takes everything"
    one.after_run(lambda: moved.evaluate("(input) => input.dispatchEvent(new Event('change'))"))
    one.wait_for_choice("root_d_k", None)
    assert bars(one) == after
    assert bars(one.turn_to("scores", root_d_k="4")) == before

    kept = take_away(one, 2, tmp_path)
    assert {"without √d_k", "with √d_k", "largest weight"} <= texts(kept["SVG"])
    with kept["CSV"].open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    drawn = bars(one)
    assert len(read) == len(drawn) == 2 * 20
    colours = {"without √d_k": drawn[0]["fill"], "with √d_k": drawn[20]["fill"]}
    for line, bar in zip(read, drawn, strict=True):
        assert colours[line["series"]] == bar["fill"]
        assert float(line["share"]) * 180 == pytest.approx(float(bar["height"]), abs=1e-3)


def test_a_live_slider_repaints_under_the_finger(visit):
    one = visit("scores", is_still=True, temperature="0.5", **WARM)
    expect(live_slider(one, "Temperature")).to_have_attribute("aria-valuetext", "0.5")
    cell(one, "at this temperature", 5, 3).click()
    card = one.page.locator(".card[role=status]:not(.docked):not([hidden])")
    expect(card).to_contain_text("at this temperature: query on, key record")
    assert not card.evaluate(COVERS), "what it explains stays in sight"
    for label, key, name in [
        ("Temperature", "temperature", "at this temperature"),
        ("d_k", "root_d_k", "weights without √d_k"),
    ]:
        drags(one, label, key, name)
        expect(card).to_have_count(0)  # its arithmetic was of another frame


def drags(one, label, key, name):
    live = live_slider(one, label)
    live.scroll_into_view_if_needed()
    box, seen = live.bounding_box(), [values(one, name)]
    mouse, height = one.page.mouse, box["y"] + box["height"] / 2
    messages, before = one.ready().sent, one.choices.get(key)
    mouse.move(box["x"] + box["width"] / 2, height)
    mouse.down()
    for share in (0.75, 0.4, 0.1):
        mouse.move(box["x"] + box["width"] * share, height, steps=3)
        seen.append(is_other(one, name, seen[-1]))
    assert all(a != b for a, b in pairwise(seen))
    assert one.sent == messages, "a message went out before the slider was released"
    assert one.choices.get(key) == before
    shown = float(re.findall(r"[\d.]+", live.get_attribute("aria-valuetext"))[0])
    one.after_run(mouse.up)
    one.page.wait_for_function(
        "([key, before]) => new URLSearchParams(location.search).get(key) !== before",
        arg=[key, before],
    )
    assert float(one.choices[key]) == pytest.approx(shown, rel=0.01)
    assert values(one, name) == seen[-1]


def test_the_controls_set_the_link_and_it_sets_the_controls(visit):
    one = visit("scores", is_still=True, **STEPS, **UNTRAINED)
    sentence = one.page.get_by_role("textbox", name="Sentence")
    sentence.fill("two plus three")
    one.after_run(lambda: sentence.press("Enter"))
    for key in ("causal", "weights"):
        one.after_run(option(one, key).click)
    one.page.get_by_role("button", name="Settings").click()
    one.after_run(option(one, "across").click)
    for name, key in (("Seed", "End"), ("d_model", "Home"), ("d_k: ", "ArrowRight")):
        one.after_run(lambda name=name, key=key: slider(one, name).press(key))
    chosen = {"text": "two plus three", "mask": "causal", "queries": "across", "step": "weights"}
    chosen |= {"seed": "99", "d_model": "4", "d_k": "5", **STEPS, **UNTRAINED}
    for key, value in chosen.items():
        one.wait_for_choice(key, value)
    assert one.choices == {"predict": "false", **chosen}

    other = visit("scores", is_still=True, **chosen)
    assert other.drawn() == one.drawn()
    expect(other.page.get_by_role("textbox", name="Sentence")).to_have_value("two plus three")
    other.page.get_by_role("button", name="Settings").click()
    for name, value in (("d_k: ", "5"), ("d_model", "4"), ("Seed", "99")):
        expect(slider(other, name)).to_have_attribute("aria-valuetext", value)
    for name in ("causal", "across", "weights"):
        expect(option(other, name)).to_be_checked()
    assert other.choices == {"predict": "false", **chosen}


def test_an_address_is_obeyed_by_a_page_that_was_seen_before(stroll):
    one = stroll("masks", tab="history")
    before = one.says.inner_text()
    one.turn_to("scores").turn_to("masks", rule="window")
    assert one.choices["rule"] == "window"
    assert one.says.inner_text() != before


def test_a_preset_fills_the_sentence(visit):
    one = visit("tokens", is_still=True, deep="sum")
    one.page.get_by_role("combobox", name="Or an example").click()
    one.after_run(one.page.get_by_role("option", name="Vietnamese").click)
    sentence = PRESETS["Vietnamese"]
    expect(one.page.get_by_role("textbox", name="Sentence")).to_have_value(sentence)
    one.wait_for_choice("text", sentence)
    heads = panel(one, "X").locator("th.row")
    expect(heads).to_have_text(split_words(sentence), use_inner_text=False)


def asked(one):
    """The questions of a page that wait for a reader's answer, or have had it."""
    return one.page.locator("[class*='st-key-question-']")


def test_predict_then_reveal(visit):
    one = visit("query_key_value", is_still=True, predict="true")
    pictures = len(one.drawn())
    answers = one.page.get_by_role("radiogroup", name="Your prediction")
    one.after_run(answers.get_by_text("about as much", exact=True).click)
    one.wait_for_choice("guess_directions", "about as much")
    verdict = "You chose about as much. The answer is almost nothing."
    expect(one.page.get_by_text(verdict)).to_be_visible()
    one.after_run(answers.get_by_text("almost nothing", exact=True).click)
    expect(one.page.get_by_text("Right: almost nothing.")).to_be_visible()
    assert len(one.drawn()) > pictures
    other = visit("query_key_value", is_still=True, **one.choices)
    assert other.drawn() == one.drawn()
    other.turn_to("", deep="ending", predict="true")
    other.page.get_by_role("button", name="7", exact=True).click()
    other.wait_for_choice("guess_ending", "7")
    expect(other.page.get_by_text("You chose 7. The answer is 1.")).to_be_visible()


def test_who_does_not_want_to_predict(visit):
    """That no page asks anything without study mode is tested for each of them by its link."""
    one = visit("query_key_value", is_still=True, predict="true")
    expect(asked(one)).to_have_count(1)
    expect(panel(one, "weights")).to_have_count(0)
    one.page.get_by_role("button", name="Show me", exact=True).click()
    expect(panel(one, "weights")).to_be_visible()
    expect(one.page.get_by_text("Answer: almost nothing.")).to_be_visible()
    one.ready().turn_to("", deep="ending", predict="true")
    one.page.get_by_role("button", name="hidden number, show").click()
    expect(one.page.get_by_text("the number that changes is 1.")).to_be_visible()
    one.ready().page.get_by_test_id("stSidebar").get_by_text("Study mode").click()
    one.wait_for_choice("predict", "false")
    links = one.page.get_by_role("navigation").get_by_role("link")
    for n in (2, links.count() - 1):
        title = re.sub(r"^\d+ · | .$", "", links.nth(n).inner_text())
        one.after_run(links.nth(n).click)
        expect(one.page.get_by_role("heading", level=1, name=title)).to_be_visible()
        # The question stands there with its answer; nobody is asked for one.
        expect(asked(one)).to_have_count(0)
        one.wait_for_choice("predict", "false")
