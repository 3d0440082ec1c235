"""Many heads in a browser: click a head, switch heads off, drag dropout's probability."""

import itertools
import re

import pytest
from playwright.sync_api import expect

from explainers.attention.multi_head import multi_head
from explainers.toys.layers import draw_layer
from explainers.toys.sentence import SENTENCE, split_words

PAGE = "many_heads"
LAYER, DROPOUT = {"deep": "layer", "weights": "untrained"}, {"deep": "dropout"}


def panel(visit, name):
    """In the card, if the matrix is also among those right below the question."""
    return visit.page.locator(f'.panel[aria-label="{name}"]').last


def values(visit, name):
    return panel(visit, name).evaluate(
        "(panel) => [...panel.querySelectorAll('tbody tr')].map("
        "(line) => [...line.querySelectorAll('td.cell')].map((cell) => cell.value))"
    )


def cell(visit, name, row, column):
    return panel(visit, name).locator("tbody tr").nth(row).locator("td.cell").nth(column)


def test_a_click_on_a_head_enlarges_it(visit):
    one = visit(PAGE, **LAYER)
    expect(panel(one, "head 0")).to_have_attribute("aria-current", "true")
    expect(panel(one, "weights of head 0")).to_be_visible()
    cell(one, "head 2", 4, 1).click()
    one.wait_for_choice("head", "2")
    one.wait_for_choice("word", "4")
    expect(panel(one, "head 2")).to_have_attribute("aria-current", "true")
    expect(panel(one, "head 0")).to_have_attribute("aria-current", "false")
    enlarged = panel(one, "weights of head 2")
    expect(enlarged).to_be_visible()
    assert values(one, "weights of head 2") == [
        [pytest.approx(weight, abs=1e-5) for weight in line] for line in values(one, "head 2")
    ]
    expect(panel(one, "parts").locator(".formula")).to_contain_text("earnings")
    expect(one.page.locator(".card:not([hidden]):not(.experiments .card)")).to_contain_text(
        "head 2: query earnings"
    )
    again = visit(PAGE, **LAYER, **{key: one.choices[key] for key in ("head", "word")})
    assert values(again, "weights of head 2") == values(one, "weights of head 2")


def test_with_queries_across_the_clicked_column_is_the_word(visit):
    one = visit(PAGE, **LAYER, queries="across")
    cell(one, "head 1", 4, 0).click()
    one.wait_for_choice("head", "1")
    one.wait_for_choice("word", "0")


def hero(visit):
    """The picture of the heads, in its shadow."""
    return visit.page.locator(".hero")


def test_the_picture_of_heads_is_seen_at_once_and_changes_by_itself(visit):
    """A choice asks no server, and is in the link afterwards."""
    one = visit(PAGE, size=(1280, 800))
    stage, says = hero(one).locator(".stage"), hero(one).locator(".says")
    assert stage.bounding_box()["y"] <= 260
    box = hero(one).locator(".hint").bounding_box()
    assert box["y"] + box["height"] <= 800
    expect(says).to_contain_text("head 1 gives earnings 100\N{NO-BREAK SPACE}%")
    switch = hero(one).get_by_role("switch", name="head 1")
    at_once = hero(one).evaluate(
        "(box) => { box.querySelectorAll('.heads-lamp')[2].click();"
        " return box.querySelector('.says').textContent; }"
    )
    assert "but no longer earnings" in at_once
    expect(switch).to_have_attribute("aria-checked", "false")
    expect(hero(one).locator(".heads-sum").nth(1)).to_contain_text("✗")
    one.wait_for_choice("off", "1")
    hero(one).get_by_role("radio", name="8", exact=True).click()
    expect(says).to_contain_text("8 heads")
    one.wait_for_choice("heads", "8")
    one.page.wait_for_function("() => !location.search.includes('off=')")
    again = visit(PAGE, heads="8", off="4", word="2")
    expect(hero(again).get_by_role("switch", name="head 4")).to_have_attribute(
        "aria-checked", "false"
    )
    expect(hero(again).locator(".says")).to_contain_text("but no longer earnings")


def test_the_words_of_the_heads_are_chosen_by_keys(visit):
    one = visit(PAGE)
    word = hero(one).locator(".words button").nth(2)
    word.focus()
    one.page.keyboard.press("ArrowRight")
    one.wait_for_choice("word", "3")
    expect(hero(one).locator(".says")).to_contain_text("record")


def test_on_a_phone_each_head_keeps_its_row(visit):
    one = visit(PAGE, size=PHONE, scheme="dark")
    lamps = hero(one).locator(".heads-lamp.on")
    tops = [lamps.nth(head).bounding_box()["y"] for head in range(4)]
    assert tops == sorted(tops)
    assert all(below - above >= 40 for above, below in itertools.pairwise(tops))
    assert hero(one).evaluate("(box) => box.scrollWidth <= box.clientWidth + 1")


def test_train_it_now_opens_the_card_with_the_button(visit):
    one = visit(PAGE)
    hero(one).get_by_role("button", name="Train one yourself").click()
    expect(one.page.get_by_role("button", name="Train it here")).to_be_visible()
    one.wait_for_choice("deep", "layer")


def test_switching_a_head_off_changes_the_output(visit):
    one = visit(PAGE, deep="layer", d_k="16")
    before, drawn = values(one, "named"), one.drawn()
    for head in range(4):
        hero(one).get_by_role("switch", name=f"head {head}").click()
        drawn = one.redrawn(drawn)
        expect(panel(one, f"head {head}")).to_have_class(re.compile("muted"))
    after = values(one, "named")
    assert after[0] == before[0], "all heads"
    assert after[1] != before[1], "heads on"
    assert values(one, "shares") == [[0]] * 4
    assert "off=0&off=1&off=2&off=3" in one.page.url
    expect(one.page.get_by_text("Nothing is added up, so the output is 0")).to_be_visible()


def test_dragging_dropout_asks_nobody(visit):
    one = visit(PAGE, **DROPOUT)
    line = one.page.locator("label.slider", has_text="Probability").locator("input")
    before, sent = values(one, "sums"), one.sent
    line.evaluate("(range) => { range.value = 3; range.dispatchEvent(new Event('input')); }")
    at_three = values(one, "sums")
    assert at_three != before
    assert one.sent == sent
    line.evaluate("(range) => range.dispatchEvent(new Event('change'))")
    one.wait_for_choice("dropout", "0.3")
    assert values(one.ready(), "sums") == at_three


def test_a_number_of_an_image_is_read_under_the_finger(visit):
    one = visit(PAGE, **LAYER, d_k="64")
    image = panel(one, "heads").locator("canvas")
    image.scroll_into_view_if_needed()
    box = image.bounding_box()
    image.hover(position={"x": box["width"] * 70.5 / 256, "y": box["height"] * 4.5 / 7})
    layer = draw_layer(tuple(split_words(SENTENCE)), 8, 4, 64, "full", seed=0)
    number = multi_head(layer.x, layer.heads, layer.mask).per_head[1, 4, 70 - 64].item()
    readout = one.page.locator(".readout", has_text="heads [")
    expect(readout).to_have_text(re.compile(r"^heads \[earnings, 1\.6\] = "))
    shown = float(readout.inner_text().split("= ")[1])
    assert shown == pytest.approx(number, abs=6e-4)


PHONE = (390, 844)
LONG = " ".join(["The CEO announced record earnings on Friday"] * 3)


def place(locator):
    return locator.bounding_box()


@pytest.mark.parametrize("text", ["The CEO announced record earnings on Friday", LONG])
def test_two_heads_stand_side_by_side_on_a_phone(visit, text):
    one = visit(PAGE, **LAYER, scheme="dark", size=PHONE, text=text)
    first, second, third = (place(panel(one, f"head {n}")) for n in range(3))
    assert first["x"] + first["width"] <= second["x"]
    assert second["y"] < first["y"] + first["height"] <= third["y"]
    for n in range(3):
        table, box = (place(panel(one, f"head {n}").locator(what)) for what in ("table", ".title"))
        assert table["x"] + table["width"] <= box["x"] + first["width"] + 1


@pytest.mark.parametrize("size", [PHONE, (1024, 768)], ids=["phone", "projector"])
def test_one_box_around_the_followed_row_with_its_name(visit, size):
    one = visit(PAGE, **LAYER, size=size, text=LONG, word="4")
    rows = panel(one, "head 1").locator("tr.followed")
    expect(rows).to_have_count(1)
    expect(rows.locator("th")).to_have_text("earnings")
    expect(rows.locator("th span")).to_be_visible()
    expect(rows).to_have_css("outline-style", "solid")
    cell(one, "head 1", 9, 0).click()
    expect(rows.locator("th")).to_have_text("announced")


def test_with_queries_across_the_followed_word_is_a_column(visit):
    one = visit(PAGE, **LAYER, word="4")
    followed = panel(one, "head 1").locator(".followed")
    expect(followed).to_have_count(1)
    one.page.get_by_role("button", name="Settings").click()
    one.page.get_by_role("radio", name="across").click()
    expect(followed).to_have_count(7)
    places = followed.evaluate_all("(all) => all.map((cell) => cell.place[1])")
    assert places == [4] * 7


def test_headings_of_columns_do_not_run_together_on_a_phone(visit):
    one = visit(PAGE, **LAYER, size=PHONE)
    names = panel(one, "heads").locator("th.column span")
    boxes = names.evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().toJSON())")
    assert len(boxes) == 16
    for left, right in itertools.pairwise(boxes):
        assert left["right"] <= right["left"] + 1


def test_a_badge_is_read_to_its_end_on_a_phone(visit):
    one = visit(PAGE, deep="layer", size=PHONE, text=LONG)
    badges = one.page.locator(".stMarkdownBadge")
    assert badges.count() == 4, "heads, trainings, steps, card"
    assert badges.evaluate_all("(all) => all.every((e) => e.scrollWidth <= e.clientWidth + 1)")


def test_a_corner_names_only_axes_that_there_are(visit):
    one = visit(PAGE, deep="layer")
    corners = {name: panel(one, name).locator(".corner") for name in ("shares", "named", "head 0")}
    expect(corners["shares"]).to_have_text("head ↓")
    expect(corners["named"]).to_have_text("word →")
    expect(corners["head 0"]).to_have_text("query ↓ key →")
    expect(one.page.locator(".remark", has_text="The shares sum to 1")).to_be_visible()


def test_sizes_follow_weights_in_the_address(visit):
    """The disabled slider shows 64; the reader's own d_model comes back."""
    one = visit(PAGE, **LAYER, d_model="16", d_k="5")
    sliders = one.page.get_by_role("slider", name="d_model")
    one.page.get_by_role("radio", name="trained", exact=True).click()
    expect(sliders).to_have_attribute("aria-valuetext", "64")
    one.wait_for_choice("d_k", "4")
    again = visit(PAGE, **{key: value for key, value in one.choices.items() if key != "predict"})
    assert again.drawn() == one.ready().drawn()
    one.page.get_by_role("radio", name="untrained").click()
    expect(sliders).to_have_attribute("aria-valuetext", "16")
    one.wait_for_choice("d_model", "16")
