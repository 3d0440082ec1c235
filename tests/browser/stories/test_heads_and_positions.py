"""Relative positions."""

from playwright.sync_api import expect


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
