"""Relative positions."""

from playwright.sync_api import expect

TIPS = """(hero) => [...hero.querySelectorAll('.dial')].map((dial) => {
  const face = dial.querySelector('.dial-face');
  const centre = ['cx', 'cy'].map((name) => Number(face.getAttribute(name)));
  const [query, key] = ['query', 'key'].map((name) => {
    const path = dial.querySelector(`.dial-hand.${name}`).getAttribute('d');
    const points = path.match(/[\\d.-]+/g);
    const [x, y] = points.slice(6, 8).map(Number); // after the beginning, the neck and the head
    return Math.atan2(centre[1] - y, x - centre[0]) / (2 * Math.PI);
  });
  return [query, ((query - key) % 1 + 1) % 1];
})"""
"""Of each dial: where its query's hand points, and the angle to it from the key's, in turns."""


def told(one):
    """The parts and both scores, as they are printed."""
    return one.page.locator(".hero .dials-number").all_inner_texts()


def test_relative_positions(story):
    one = story("relative_positions")
    one.expect_said("If both move 64 positions, it stays")
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
    assert abs(turned[0][0] - hands[0][0]) > 0.02
    for (_, now), (_, before) in zip(turned, hands, strict=True):
        assert abs((now - before + 0.5) % 1 - 0.5) < 0.004, "the angle between them stays"
    assert told(one)[:5] == scores[:5], "so do the rotary parts and their sum"
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
