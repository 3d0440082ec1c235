"""*Does it matter?* in a browser: squares, bars, an experiment, what a head writes, Vietnamese."""

import pytest
from playwright.sync_api import expect

from explainers.chapters.does_it_matter.hero import find_largest, read_shown


@pytest.fixture(scope="module")
def patching():
    shown = read_shown()
    if not shown:
        pytest.skip("the model here has other weights than the one that was measured")
    return shown.patching


def name(place):
    return "L{}.H{}".format(*place)


def percent(value):
    return f"{abs(value):.0%}".replace("%", "\u00a0%")


def test_the_picture_is_there_and_its_largest_head_is_said(visit, patching):
    one = visit("does_it_matter")
    first = find_largest(patching)[0]
    expect(one.says).to_contain_text(name(first))
    expect(one.says).to_contain_text(percent(float(patching.effects[first])))
    expect(one.page.locator(".hero .gallery-cell")).to_have_count(patching.effects.numel())
    hatched = one.page.locator(".hero .gallery-cell.matter-chance")
    expect(hatched).to_have_count(int((~patching.passes).sum()))


def test_bars_lie_between_both_answers(visit, patching):
    """As far along as the effect says, and to the other side where it is negative."""
    one = visit("does_it_matter")
    zero, full = (
        one.page.locator(".hero .matter-line").nth(place).bounding_box() for place in (0, 1)
    )
    bars = one.page.locator(".hero .matter-bar")
    for row, place in enumerate(find_largest(patching)[:2]):
        box, effect = bars.nth(row).bounding_box(), float(patching.effects[place])
        wide = abs(effect) * (full["x"] - zero["x"])
        assert box["width"] == pytest.approx(wide, abs=2)
        assert (box["x"] < zero["x"] - 2) == (effect < 0)


def test_a_square_and_a_name_are_clicked(visit, patching):
    one = visit("does_it_matter")
    _first, second, third = find_largest(patching)[:3]
    one.page.get_by_role("gridcell", name=f"{name(second)}: ").click()
    expect(one.says).to_contain_text(name(second))
    one.wait_for_choice("matter_layer", str(second[0]))
    one.page.get_by_role("button", name=name(third), exact=True).click()
    expect(one.says).to_contain_text(name(third))
    one.wait_for_choice("matter_head", str(third[1]))


def test_an_experiment_shows_a_head_against_the_answer(visit, patching):
    one = visit("does_it_matter")
    against = next(place for place in find_largest(patching) if patching.effects[place] < 0)
    one.page.get_by_role("button", name="A head that works against the answer").click()
    expect(one.says).to_contain_text(f"{percent(float(patching.effects[against]))} away")


def test_the_card_says_what_the_clicked_head_writes(visit, patching):
    one = visit("does_it_matter", deep="writes", matter_layer="23", matter_head="3")
    expect(one.page.get_by_text("L23.H3 writes at the last token")).to_be_visible()
    total = f"{float(patching.direct.heads[23, 3]):+.2f}".replace("-", "−")
    expect(one.page.get_by_role("row", name="sum: its direct effect")).to_contain_text(total)


def test_the_picture_speaks_vietnamese(visit, patching):
    one = visit("does_it_matter", lang="vi")
    expect(one.says).to_contain_text("từ prompt kia, đáp án dịch")
    expect(one.page.locator(".hero .matter-legend")).not_to_contain_text("random words")
