"""Many heads, relative positions."""

import re
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from tests.browser.stories.story import PHONE, drag, drop

LONG = " ".join(["The CEO announced record earnings on Friday"] * 3)
CLICK_A_LAMP = """(lamps) => {
  lamps[2].click();
  return lamps[2].getRootNode().querySelector('.says').textContent;
}"""


def test_many_heads(story):
    one = story("many_heads")
    assert "but no longer earnings" in one.hero.locator(".heads-lamp").evaluate_all(CLICK_A_LAMP)
    switch = one.hero.get_by_role("switch", name="head 1")
    expect(switch).to_have_attribute("aria-checked", "false")
    expect(one.hero.locator(".heads-sum").nth(1)).to_contain_text("✗")
    one.expect_in_link(off="1")
    one.back()
    one.expect_in_link(off=None)
    expect(switch).to_have_attribute("aria-checked", "true")
    switch.click()
    one.expect_in_link(off="1")
    one.radio("8").click()
    one.expect_in_link(heads="8", off=None)
    one.expect_said("8 heads")
    one.radio("4").click()
    one.expect_in_link(heads=None)
    one.hero.locator(".words button").nth(2).press("ArrowRight")
    one.expect_in_link(word="3")
    one.expect_said("record")
    one.press("Train one yourself")
    one.expect_in_link(deep="layer")
    expect(one.page.get_by_role("button", name="Train it here")).to_be_visible()


def test_heads_in_the_card(story):
    one = story("many_heads", deep="layer", weights="untrained")
    one.cell("head 2", 4, 1).click()
    one.expect_in_link(head="2", word="4")
    expect(one.panel("head 2")).to_have_attribute("aria-current", "true")
    expect(one.panel("head 0")).to_have_attribute("aria-current", "false")
    for large, small in zip(one.values("weights of head 2"), one.values("head 2"), strict=True):
        assert large == pytest.approx(small, abs=1e-5)
    expect(one.panel("parts").locator(".formula")).to_contain_text("earnings")

    followed = one.panel("head 1").locator(".followed")
    expect(followed).to_have_count(1)
    one.page.get_by_role("button", name="Settings").click()
    one.page.get_by_role("radio", name="across").click()
    one.page.keyboard.press("Escape")
    expect(followed).to_have_count(7)
    one.cell("head 1", 4, 0).click()  # the column is the word now
    one.expect_in_link(head="1", word="0")

    one.turn("many_heads", deep="layer", d_k="16")
    before = one.values("named")
    for head in range(4):
        one.hero.get_by_role("switch", name=f"head {head}").click()
        expect(one.panel(f"head {head}")).to_have_class(re.compile("muted"))
    expect(one.page.get_by_text("Nothing is added up, so the output is 0")).to_be_visible()
    one.ready()
    assert "off=0&off=1&off=2&off=3" in one.page.url
    assert one.values("named")[0] == before[0], "all heads"
    assert one.values("named")[1] != before[1], "heads on"

    one.turn("many_heads", deep="dropout")
    line, sums = one.live_slider("Probability"), one.values("sums")
    sent = one.sent
    drag(line, 3)
    at_three = one.values("sums")
    assert at_three != sums
    assert one.sent == sent
    drop(line)
    one.expect_in_link(dropout="0.3")
    assert one.values("sums") == at_three


@pytest.mark.nightly("two cases of what sliders and canvases of other pages do each day")
def test_sizes_of_the_layer(story):
    one = story("many_heads", deep="layer", weights="untrained", d_model="16", d_k="5")
    sliders = one.page.get_by_role("slider", name="d_model")
    one.page.get_by_role("radio", name="trained", exact=True).click()
    one.expect_in_link(weights=None, d_k="4")
    expect(sliders).to_have_attribute("aria-valuetext", "64")
    one.page.get_by_role("radio", name="untrained").click()
    one.expect_in_link(d_model="16")  # the reader's own comes back
    expect(sliders).to_have_attribute("aria-valuetext", "16")

    one.turn("many_heads", deep="layer", weights="untrained", d_k="64")
    image = one.panel("heads").locator("canvas")
    image.scroll_into_view_if_needed()
    box = image.bounding_box()
    image.hover(position={"x": box["width"] * 70.5 / 256, "y": box["height"] * 4.5 / 7})
    expect(one.page.locator(".readout", has_text="heads [earnings, 1.6] = ")).to_be_visible()


@pytest.mark.nightly("what stands out of a phone is found on every page by the walk")
def test_heads_on_a_phone(story):
    """What CSS does where there is little room."""
    one = story("many_heads", size=PHONE)
    lamps = one.hero.locator(".heads-lamp.on")
    tops = [lamps.nth(head).bounding_box()["y"] for head in range(4)]
    assert all(below - above >= 40 for above, below in pairwise(tops)), "room for a finger"
    one.turn("many_heads", size=PHONE, deep="layer", weights="untrained", text=LONG, word="4")
    first, second, third = (one.panel(f"head {n}").bounding_box() for n in range(3))
    assert first["x"] + first["width"] <= second["x"]
    assert second["y"] < first["y"] + first["height"] <= third["y"]
    for n in range(3):
        table, title = (
            one.panel(f"head {n}").locator(name).bounding_box() for name in ("table", ".title")
        )
        assert table["x"] + table["width"] <= title["x"] + first["width"] + 1
    rows = one.panel("head 1").locator("tr.followed")
    expect(rows.locator("th span")).to_be_visible()
    expect(rows).to_have_css("outline-style", "solid")
    one.cell("head 1", 9, 0).click()
    expect(rows.locator("th")).to_have_text("announced")
    fits = "(all) => all.every((badge) => badge.scrollWidth <= badge.clientWidth + 1)"
    badges = one.page.locator(".stMarkdownBadge")
    assert badges.count() >= 3
    assert badges.evaluate_all(fits)
    one.turn("many_heads", size=PHONE, deep="layer", weights="untrained")
    names = one.panel("heads").locator("th.column span")
    boxes = names.evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().toJSON())")
    assert len(boxes) == 16
    assert all(left["right"] <= right["left"] + 1 for left, right in pairwise(boxes))


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


def between(hands):
    """The angle from the key's hand to the query's, of each dial, in turns."""
    return [(query - key) / 6.283185307 % 1 for query, key in hands]


def told(one):
    """The parts and both scores, as they are printed."""
    return one.page.locator(".hero .dials-number").all_inner_texts()


def test_relative_positions(story):
    one = story("relative_positions")
    slider, mouse = one.page.get_by_label("Move both words by"), one.page.mouse
    hands, scores, sent = one.hero.evaluate(TIPS), told(one), one.sent
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    mouse.move(box["x"] + 8, middle)
    mouse.down()
    mouse.move(box["x"] + box["width"] * 0.45, middle, steps=3)
    assert one.sent == sent, "a message went out before the slider rested"
    shift, turned = int(slider.input_value()), one.hero.evaluate(TIPS)
    assert 20 < shift < 40
    assert abs(turned[0][0] - hands[0][0]) > 0.1
    for now, before in zip(between(turned), between(hands), strict=True):
        assert abs((now - before + 0.5) % 1 - 0.5) < 0.004, "the angle between them stays"
    assert told(one)[:5] == scores[:5], "so do the rotary parts and their sum"
    assert told(one)[5:] != scores[5:], "but not the score of added positions"
    one.expect_said(f"Both words moved {shift} positions")
    mouse.up()
    one.expect_in_link(shift=f"{shift}")

    one.turn("relative_positions", shift="56")
    one.press("Play")
    expect(slider).to_have_value("64")
    expect(one.hero.get_by_role("button", name="Play", exact=True)).to_be_visible()
    one.expect_in_link(shift="64")

    one.turn("relative_positions")
    alone = one.page.get_by_label("Move only announced by")
    alone.press("ArrowRight")
    alone.press("ArrowRight")
    one.expect_said("Only announced moved, from position 2 to 4")
    one.expect_in_link(apart="2")
    assert told(one)[:5] != scores[:5]
    one.press("Move only one word")
    one.expect_in_link(apart="6")
    expect(one.hero.locator(".card.on p")).to_contain_text(told(one)[4])
    one.press("Reset")
    one.expect_in_link(apart="2")

    one.turn("relative_positions")
    one.radio("key of earnings").click()
    one.hero.locator(".words button", has_text="CEO").click()
    one.expect_in_link(asked="1")
    expect(one.radio("key of CEO")).to_be_visible()
    one.radio("query of announced").click()
    chosen = one.hero.locator(".words button[aria-checked=true]")
    expect(chosen).to_have_text("announced")
    chosen.press("ArrowRight")
    one.expect_in_link(word="3")
    one.expect_said("record is at position 3, CEO at 1")
