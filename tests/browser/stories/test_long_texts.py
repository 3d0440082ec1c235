"""Relative positions, long sequences, a bounded memory, choosing, idle heads, serving."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.visit import PHONE, drag, drop


def told(one):
    """The parts and both scores, as they are printed."""
    return one.page.locator(".hero .dials-number").all_inner_texts()


def test_relative_positions(story):
    one = story("relative_positions")
    one.expect_said("If both move 64 positions, it stays")
    slider, mouse = one.page.get_by_label("Move both words by"), one.page.mouse
    scores, sent = told(one), one.sent
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    mouse.move(box["x"] + 8, middle)
    mouse.down()
    mouse.move(box["x"] + box["width"] * 0.45, middle, steps=3)
    assert one.sent == sent, "a message went out before the slider rested"
    shift = int(slider.input_value())
    assert 20 < shift < 40
    assert told(one)[:5] == scores[:5], "the rotary parts and their sum stay"
    assert told(one)[5:] != scores[5:], "but not the score of added positions"
    mouse.up()
    one.expect_in_link(shift=f"{shift}")

    one.turn_to("relative_positions", shift="56")
    one.press("Play")
    expect(slider).to_have_value("64")
    expect(one.hero.get_by_role("button", name="Play", exact=True)).to_be_visible()
    one.expect_in_link(shift="64")

    one.turn_to("relative_positions")
    one.radio("key of CEO").click()
    one.hero.locator(".words button", has_text="earnings").click()
    one.expect_in_link(asked="4")
    expect(one.radio("key of earnings")).to_be_visible()
    one.radio("query of announced").click()
    chosen = one.hero.locator(".words button[aria-checked=true]")
    expect(chosen).to_have_text("announced")
    chosen.press("ArrowRight")
    one.expect_in_link(word="3")
    one.expect_said("record is at position 3, earnings at 4")


def test_long_sequences(story):
    one = story("long_sequences")
    length = one.hero.locator(".bar input")
    assert "only 2 MiB" in drag(length, 0)
    one.hero.locator(".chips button", has_text="causal").click()
    one.expect_said("skips 28 of 64 tiles")
    drop(length)
    one.expect_in_link(length="1024", tile_mask="causal")

    one.turn_to("long_sequences")
    film, steps = one.hero.locator(".film input"), one.hero.locator(".film output")
    drag(film, 11)
    expect(steps).to_have_text("12 of 12")
    one.hero.locator(".small-play").click()
    expect(steps).to_have_text(re.compile(r"^[2-9] of 12$"))
    one.hero.locator(".small-play").click()


def test_growing_memory(story):
    one = story("growing_memory", pairs="11")
    one.hero.locator(".play").click()
    expect(one.hero.locator(".film output")).to_have_text("12 of 12")
    one.hero.locator(".state-grid").hover(position={"x": 5, "y": 5})
    expect(one.hero.locator(".state-note")).to_contain_text("row 1, column 1:")


def test_choosing(story):
    one = story("choosing")
    canvas, names = one.hero.locator(".reading-canvas"), one.hero.locator("button.reading-name")
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] * 300.5 / 512, "y": 90})
    one.expect_in_link(query_token="300")
    one.expect_said("token 301")
    canvas.press("ArrowLeft")
    one.expect_in_link(query_token="299")
    one.page.get_by_role("slider", name="keys kept").press("ArrowLeft")
    one.expect_in_link(keys_kept="48")

    one.resize(PHONE).turn_to("choosing")
    expect(names).to_have_count(4)
    for line in range(4):
        name, share = (
            found.nth(line).bounding_box() for found in (names, one.hero.locator(".reading-share"))
        )
        assert name["x"] + name["width"] < share["x"]


def test_idle_heads(story):
    one = story("idle_heads")
    train = one.hero.get_by_role("button", name="Train it now")
    train.click()
    one.hero.get_by_role("button", name="Cancel").click()
    expect(train).to_be_visible()


@pytest.mark.nightly("it trains; that jobs run, end and are cancelled: test_job_queue")
def test_one_of_the_idle_heads_is_trained_while_one_looks_on(story):
    one = story("idle_heads", given="sink-gate")
    one.press("Train it now")
    status = one.hero.locator(".idle-training [role=status]")
    expect(status).to_contain_text("batch")
    expect(one.hero.get_by_role("button", name="Cancel")).to_be_visible()
    expect(status).to_contain_text("trained here just now, from seed 5", timeout=180_000)
    one.expect_said("needs the letter before it")
    expect(one.hero.get_by_role("button", name="Train it now")).to_be_visible()


RED = """() => {
  const root = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .map((host) => host.shadowRoot).find((root) => root.querySelector('.serving'));
  const canvas = root.querySelector('.serving-grids canvas');
  if (!canvas?.width) return 0;
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const red = getComputedStyle(root.querySelector('.hero')).getPropertyValue('--wrong');
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(red.slice(at, at + 2), 16));
  let count = 0;
  for (let at = 0; at < data.length; at += 4)
    count += data[at] === r && data[at + 1] === g && data[at + 2] === b;
  return count / (data.length / 4);
}"""
"""How much of the squares has the colour of what another row has."""


def test_serving(story):
    one = story("serving")
    one.page.wait_for_function(f"() => ({RED})() > 0", polling=100)
    red = one.page.evaluate(RED)
    one.page.locator("button.serving-token").nth(3).click()
    one.page.wait_for_function(f"() => ({RED})() > {red + 0.3}", polling=100)
    one.expect_in_link(changed="3")
    one.page.locator("button.serving-token").nth(3).click()
    one.expect_in_link(changed=None)
    one.expect_said("whole pages of 4")

    one.radio("pages").click()
    slider = one.page.get_by_role("slider", name="step")
    shared = one.page.locator(".serving-page.shared")
    slider.fill("1")
    expect(shared).not_to_have_count(0)
    slider.fill("4")
    expect(shared).to_have_count(0)
    one.expect_in_link(trick="pages")
    one.radio("chunks").click()
    passes = one.page.locator(".serving-passes .pass")
    expect(passes).not_to_have_count(0)
    few = passes.count()
    one.radio("4").click()
    expect(passes).not_to_have_count(few)
    one.expect_said(f"{passes.count()} passes")
    one.expect_in_link(chunk_size="4", trick="chunks")
