"""Masks in a browser: masks and cells that are clicked, windows and layers that are dragged."""

import re

import pytest
import torch
from playwright.sync_api import expect

from explainers.attention import masks
from explainers.attention.steps import hide, softmax
from explainers.chapters.common.score_matrix import Lab
from explainers.toys.readable_head import FILM_SEED, load_readable_layer
from explainers.toys.sentence import SENTENCE
from explainers.ui.controls.mask_drawing import read_cells
from explainers.ui.text.numbers import write_percent
from tests.browser.test_browser import live_slider

TOKENS = tuple(SENTENCE.split())
WORDS = len(TOKENS)
OWN = {"rule": "own"}
AT_ONCE = """(button) => {
  button.click();
  const root = button.getRootNode();
  return [root.querySelector('.says').textContent,
    [...root.querySelectorAll('.masked-cell')].map((c) => c.classList.contains('forbidden'))];
}"""
"""Click a button; the sentence, and which cells are hatched right after it."""


@pytest.fixture(scope="module")
def lab():
    return Lab(load_readable_layer(TOKENS, "full", FILM_SEED), queries_down=True)


def cells(one):
    return one.page.locator(".hero .masked-cell")


def cell(one, row, column):
    return cells(one).nth(row * WORDS + column)


def allowed(one):
    """[row, column] of the cells that are not hatched."""
    hatched = cells(one).evaluate_all("(all) => all.map((c) => c.matches('.forbidden'))")
    return [list(divmod(n, WORDS)) for n, is_hatched in enumerate(hatched) if not is_hatched]


def expect_weights(one, mask, weights):
    """In the end every cell says what torch computed under the mask."""
    shown = [
        (write_percent(weight) if weight >= 0.005 else "0") if is_allowed else ""
        for line, row in zip(mask.tolist(), weights.tolist(), strict=True)
        for is_allowed, weight in zip(line, row, strict=True)
    ]
    expect(cells(one)).to_have_text(shown)


def chip(one, name):
    return one.page.locator(".hero .chips button", has_text=name)


def test_the_weights_under_a_mask_are_seen_without_a_click(visit, lab):
    one = visit("masks")
    stage = one.page.locator(".hero .stage").bounding_box()
    assert stage["y"] <= 260
    assert stage["height"] <= 430
    said = one.says.bounding_box()
    assert said["y"] + said["height"] <= 800
    expect_weights(one, lab.mask(masks.causal), lab.weights(masks.causal))
    lost = write_percent(lab.weights(masks.full)[2, 3:].sum().item())
    before, after = (lab.weights(rule)[2, 1].item() for rule in (masks.full, masks.causal))
    expect(one.says).to_have_text(
        f"The causal mask hides 4 of 7 words from announced. The {lost} it gave them is shared by "
        f"the rest: CEO rises from {write_percent(before)} to {write_percent(after)}."
    )


def test_another_mask_changes_picture_and_sentence_without_the_server(visit, lab):
    one = visit("masks")
    said = one.says.inner_text()
    told, hatched = chip(one, "window").evaluate(AT_ONCE)  # no server can answer so fast
    assert told != said
    assert told.startswith("The window mask")
    rule = masks.sliding_window(3)
    assert hatched == (~lab.mask(rule)).flatten().tolist()
    expect_weights(one, lab.mask(rule), lab.weights(rule))
    one.wait_for_choice("rule", "window")
    one.page.locator(".hero .words button", has_text="Friday").click()
    one.wait_for_choice("word", "6")
    drawn = one.ready().drawn()
    assert visit("masks", **one.choices).drawn() == drawn


def test_windows_and_layers_move_under_the_finger(visit):
    one = visit("masks", rule="window")
    slider = one.page.get_by_role("slider", name="Width of the window")
    seen, messages = [allowed(one)], one.sent
    slider.evaluate("(input) => { input.value = '1'; input.dispatchEvent(new Event('input')); }")
    seen.append(allowed(one))
    assert one.sent == messages
    assert seen[1] == [[n, n] for n in range(WORDS)]
    slider.press("End")
    one.wait_for_choice("window", "7")
    assert allowed(one.ready()) == [[i, j] for i in range(WORDS) for j in range(i + 1)]
    stacked = visit("masks", deep="reach")
    live = live_slider(stacked, "Layers stacked")
    lines = stacked.page.locator(".cone .fan")
    expect(lines).to_have_count(3 + 9 + 15)
    messages = stacked.sent
    for step, count in (("1", 3 + 9), ("0", 3)):
        live.evaluate(
            "(input, step) => { input.value = step; input.dispatchEvent(new Event('input')); }",
            step,
        )
        expect(lines).to_have_count(count)
    assert stacked.sent == messages


@pytest.mark.parametrize("drawing", ["41.3.6.f.1f.3f.7f", "40.20.10.8.4.2.1", "7f.1.7f.2.7f.4.7f"])
def test_the_browsers_softmax_is_torchs(visit, lab, drawing):
    mask = torch.tensor(read_cells(drawing, WORDS))
    one = visit("masks", cells=drawing, **OWN)
    expect_weights(one, mask, softmax(hide(lab.scores, mask)))


def test_a_click_draws_the_mask_and_it_is_in_the_link(visit):
    one = visit("masks", **OWN)
    assert len(allowed(one)) == WORDS**2
    one.page.get_by_role("button", name="only earlier words").click()
    one.wait_for_choice("cells", "causal")
    assert allowed(one.ready()) == [[i, j] for i in range(WORDS) for j in range(i + 1)]
    cell(one, 0, 6).click()
    assert [0, 6] in allowed(one)
    one.wait_for_choice("cells", "41.3.7.f.1f.3f.7f")
    one.wait_for_choice("word", "0")
    cell(one, 2, 0).click()
    one.wait_for_choice("cells", "41.3.6.f.1f.3f.7f")
    one.wait_for_choice("word", None)
    assert allowed(visit("masks", **one.choices)) == allowed(one)
    one.page.get_by_role("button", name="allow all").click()
    one.wait_for_choice("cells", None)


def test_under_another_mask_a_click_only_follows_the_row(visit):
    one = visit("masks")
    before = allowed(one)
    cell(one, 6, 2).click()
    one.wait_for_choice("word", "6")
    assert allowed(one.ready()) == before
    assert "cells" not in one.choices
    expect(one.says).to_contain_text("hides nothing from Friday")


def test_back_takes_a_cell_back(visit):
    one = visit("masks", word="0", **OWN)
    full = allowed(one)
    cell(one, 0, 6).click()
    one.wait_for_choice("cells", "3f.7f.7f.7f.7f.7f.7f")
    assert [0, 6] not in allowed(one.ready())
    one.page.go_back()
    one.wait_for_choice("cells", None)
    expect(cell(one, 0, 6)).not_to_have_class(re.compile("forbidden"))
    assert allowed(one.ready()) == full


def test_quick_clicks_are_all_heard(visit):
    one = visit("masks", cells="causal", **OWN)
    cells(one).evaluate_all("(all) => [3, 4, 5, 6].forEach((n) => all[n].click())")
    one.wait_for_choice("cells", "79.3.7.f.1f.3f.7f")


def test_an_emptied_row_is_refused_and_nothing_is_lost(visit):
    one = visit("masks", cells="1.2.7.f.1f.3f.7f", **OWN)
    cell(one, 1, 1).click()
    expect(one.says).to_contain_text("Your mask is refused: CEO may attend to nothing.")
    one.wait_for_choice("cells", "1.0.7.f.1f.3f.7f")
    one.page.get_by_text("the mask leaves row 1 (of 7 queries) nothing to look at").first.wait_for()
    assert cell(one, 1, 0).inner_text() == "nan"
    assert len(allowed(one)) == 26
    cell(one, 1, 0).click()
    one.wait_for_choice("cells", "1.1.7.f.1f.3f.7f")
    expect(one.says).to_contain_text("CEO")
    assert cell(one, 1, 0).inner_text() != "nan"


def test_cells_are_reached_and_turned_by_keys(visit):
    one = visit("masks", word="0", **OWN)
    cell(one, 0, 0).focus()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        one.page.keyboard.press(key)
    one.wait_for_choice("cells", "7b.7f.7f.7f.7f.7f.7f")


def test_what_can_be_tried_is_shown_and_taken_back(visit):
    one = visit("masks")
    for title, count in (("A narrow window", 13), ("A shared beginning", 31), ("Only itself", 7)):
        one.page.get_by_role("button", name=title).click()
        expect(one.page.locator(".hero .card.on p")).not_to_be_empty()
        assert len(allowed(one)) == count
    one.page.get_by_role("button", name="Reset", exact=True).click()
    assert len(allowed(one)) == 28


def test_an_experiment_that_came_with_the_link_is_taken_back(visit):
    one = visit("masks")
    one.page.get_by_role("button", name="A narrow window").click()
    one.wait_for_choice("rule", "window")
    other = visit("masks", **one.choices)
    card = other.page.get_by_role("button", name="A narrow window")
    expect(card).to_have_attribute("aria-pressed", "true")
    card.click()
    expect(card).to_have_attribute("aria-pressed", "false")
    other.wait_for_choice("rule", None)
    expect(other.page.get_by_role("radio", name="causal", exact=True)).to_be_checked()
