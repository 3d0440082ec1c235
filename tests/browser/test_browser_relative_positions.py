"""Relative positions in a browser: hands that turn under the finger, and bars that stand still."""

import pytest
import torch
from playwright.sync_api import expect

from explainers.chapters.relative_positions.moved_pair import MovedPair
from explainers.toys.sentence import SENTENCE
from explainers.ui.text.numbers import write_decimals

PATH = "relative_positions"
TOKENS = tuple(SENTENCE.split())
TIPS = """(hero) => [...hero.querySelectorAll('.dial')].map((dial) => {
  const face = dial.querySelector('.dial-face');
  const centre = ['cx', 'cy'].map((name) => Number(face.getAttribute(name)));
  return ['query', 'key'].map((name) => {
    const path = dial.querySelector(`.dial-hand.${name}`).getAttribute('d');
    const points = path.match(/[\\d.-]+/g);
    const [x, y] = points.slice(6, 8).map(Number); // after the beginning, the neck and the head
    return Math.atan2(centre[1] - y, x - centre[0]);
  });
})"""
"""Where the hands of each dial point, in radians."""
HEIGHTS = "(hero) => [...hero.querySelectorAll('.dials-bar')].map((bar) => bar.getBBox().height)"


@pytest.fixture(scope="module")
def moved():
    return MovedPair.of(TOKENS, (2, 4), 0)


def said(one):
    return one.says.inner_text()


def told(one):
    """The parts and both scores, as they are printed."""
    return one.page.locator(".hero .dials-number").all_inner_texts()


def written(moved, apart, shift):
    rotary, added = moved.find(apart, shift)
    return [write_decimals(number) for number in [*rotary.tolist(), added[-1].item()]]


def off(angle, expected):
    """How far an angle is from another one."""
    turn = torch.as_tensor(angle) - expected
    return torch.atan2(turn.sin(), turn.cos()).abs().max().item()


def test_both_words_move_under_the_finger(visit, moved):
    one = visit(PATH)
    hero, slider = one.page.locator(".hero"), one.page.get_by_label("Move both words by")
    heights, before, messages = hero.evaluate(HEIGHTS), said(one), one.sent
    angles = torch.tensor(hero.evaluate(TIPS))
    box, mouse = slider.bounding_box(), one.page.mouse
    middle = box["y"] + box["height"] / 2
    mouse.move(box["x"] + 8, middle)
    mouse.down()
    mouse.move(box["x"] + box["width"] * 0.45, middle, steps=3)
    assert one.sent == messages, "a message went out before the slider rested"
    shift = int(slider.input_value())
    assert 20 < shift < 40
    query, key = moved.directions()
    hands = torch.tensor(hero.evaluate(TIPS))
    assert off(hands[:, 0], query[shift - moved.least]) < 0.01
    assert off(hands[:, 1], key[shift]) < 0.01
    assert off(hands[:, 0] - hands[:, 1], angles[:, 0] - angles[:, 1]) < 0.02, "between them"
    assert off(hands[0], angles[0]) > 0.1
    assert told(one) == written(moved, 0, shift)
    assert hero.evaluate(HEIGHTS)[:5] == pytest.approx(heights[:5], abs=0.05)
    assert abs(hero.evaluate(HEIGHTS)[5] - heights[5]) > 1
    assert said(one) != before
    assert f"Both words moved {shift} positions" in said(one)
    mouse.up()
    one.wait_for_choice("shift", str(shift))
    assert told(one.ready()) == written(moved, 0, shift)


def test_play_turns_the_hands_to_the_end_of_the_slider(visit, moved):
    one = visit(PATH, shift="40")
    one.page.get_by_role("button", name="Play", exact=True).click()
    expect(one.page.get_by_role("button", name="Pause")).to_be_visible()
    expect(one.page.get_by_label("Move both words by")).to_have_value("64")
    expect(one.page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    one.wait_for_choice("shift", "64")
    assert told(one) == written(moved, 0, 64)


def test_play_goes_in_strides_for_those_who_want_no_motion(visit):
    one = visit(PATH, shift="48")
    one.page.emulate_media(reduced_motion="reduce")
    slider = one.page.get_by_label("Move both words by")
    one.page.get_by_role("button", name="Play", exact=True).click()
    seen = {slider.input_value()}
    while "64" not in seen:
        seen.add(slider.input_value())
        one.page.wait_for_timeout(100)
    assert seen <= {"48", "56", "64"}


def test_one_word_moves_alone_by_the_keyboard_and_comes_back(visit, moved):
    one = visit(PATH)
    slider = one.page.get_by_label("Move only announced by")
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    assert told(one) == written(moved, 2, 0)
    assert "Only announced moved, from position 2 to 4" in said(one)
    one.wait_for_choice("apart", "2")
    one.page.get_by_role("button", name="Move only one word").click()
    expect(one.page.locator(".hero .card.on p")).to_contain_text(written(moved, 6, 0)[4])
    one.wait_for_choice("apart", "6")
    one.page.get_by_role("button", name="Reset", exact=True).click()
    one.wait_for_choice("apart", "2")


def test_any_two_words_can_be_the_pair(visit):
    one = visit(PATH)
    one.page.get_by_role("radio", name="key of earnings").click()
    one.page.locator(".words button", has_text="CEO").click()
    one.wait_for_choice("asked", "1")
    expect(one.page.get_by_role("radio", name="key of CEO")).to_be_visible()
    one.ready()
    assert told(one) == written(MovedPair.of(TOKENS, (2, 1), 0), 0, 0)
    one.page.get_by_role("radio", name="query of announced").click()
    chosen = one.page.locator(".words button[aria-checked=true]")
    expect(chosen).to_have_text("announced")
    chosen.press("ArrowRight")
    one.wait_for_choice("word", "3")
    says = one.says  # the link comes first, then the server's numbers
    expect(says).to_contain_text("record is at position 3, CEO at 1")
    assert told(one) == written(MovedPair.of(TOKENS, (3, 1), 0), 0, 0)
