"""Relative positions in a browser: vectors that rotate under the finger."""

import re
from itertools import pairwise

import pytest

from tests.browser.test_browser import live_slider, panel, values

PATH = "relative_positions"
TIPS = """(panel) => [...panel.querySelectorAll('svg')].map((svg) =>
  [...svg.querySelectorAll('path.arrow')].map(
    (arrow) => arrow.getAttribute('d').match(/^M0 0L(\\S+) ([^LM]+)/).slice(1).map(Number)))"""
"""Where the arrows of each plane end."""


def test_all_words_move_under_the_finger(visit):
    one = visit(PATH)
    live = live_slider(one, "Move all words by")
    live.scroll_into_view_if_needed()
    box, messages = live.bounding_box(), one.sent
    score = "score of announced for CEO"
    still, moving = values(one, score)[0], [values(one, score)[1]]
    dials, arrows = panel(one, "one query and one key"), []
    arrows.append(dials.evaluate(TIPS))
    mouse, height = one.page.mouse, box["y"] + box["height"] / 2
    mouse.move(box["x"] + 8, height)
    mouse.down()
    for share in (0.3, 0.6, 0.8):  # at 0.9 is the default, which no link has
        mouse.move(box["x"] + box["width"] * share, height, steps=2)
        moving.append(values(one, score)[1])
        arrows.append(dials.evaluate(TIPS))
    assert one.sent == messages, "a message went out before the slider was released"
    assert all(a != b for a, b in pairwise(moving))
    assert all(a != b for a, b in pairwise(arrows))
    assert values(one, score)[0] == pytest.approx(still, abs=1e-4)
    mouse.up()
    one.page.wait_for_function("new URLSearchParams(location.search).has('shift')")
    shown = re.findall(r"\d+", live.get_attribute("aria-valuetext"))
    assert [one.choices["shift"]] == shown
    assert values(one.ready(), score)[1] == moving[-1]


def test_arrows_point_where_their_numbers_say(visit):
    one = visit(PATH, shift="3")
    dials = panel(one, "one query and one key")
    told = dials.locator("svg").evaluate_all("(all) => all.map((svg) => svg.ariaLabel)")
    for plane, label in zip(dials.evaluate(TIPS), told, strict=True):
        numbers = [float(n) for n in re.findall(r"-?\d+\.\d\d\b", label.replace("−", "-"))][-4:]
        for (x, y), (across, up) in zip(plane, (numbers[:2], numbers[2:]), strict=True):
            assert abs(x * up + y * across) < 0.6, "another direction"
            assert x * across - y * up > 0 or abs(across) + abs(up) < 0.05
