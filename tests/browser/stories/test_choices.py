"""What a click chooses, and that its link shows the same: of pages without a longer story."""

import pytest
from playwright.sync_api import expect

CHOICES = {
    "many_heads": ("role=switch[name='head 1']", {"off": "1"}),
    "why_it_looked": ("role=button[name='head L16.H0 +15.38']", {"why_removed": "key.L16.H0"}),
    "does_it_matter": ("role=radio[name='direct effect']", {"matter_view": "direct effect"}),
    "writing": ("button.writing-word >> nth=1", {"write_step": "1"}),
}


@pytest.mark.parametrize("page", CHOICES)
def test_a_click_is_told_at_once_and_stands_in_the_link(story, page):
    selector, link = CHOICES[page]
    one = story(page)
    said = one.says.first.text_content()
    assert one.says_after(one.hero.first.locator(selector).first) != said, "no server was asked"
    one.expect_in_link(**link)
    one.see_below()
    chosen, drawn = one.choices, one.drawn()
    one.turn_to(page)
    one.expect_in_link(**dict.fromkeys(link))
    expect(one.says.first).to_have_text(said)  # the address is back before the picture is
    assert one.turn_to(page, **chosen).drawn() == drawn
