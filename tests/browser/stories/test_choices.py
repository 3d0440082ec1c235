"""What a click on first pictures chooses, and that its link shows the same."""

import pytest
from playwright.sync_api import expect

from explainers.models.registry import WHEEL_MODELS
from tests.support.real_models import need

CHOICES = {
    "tokens": ("role=radio[name='words']", {"unit": "words"}),
    "query_key_value": ("role=radio[name=/^Friday/]", {"word": "6"}),
    "scores": (".words button >> nth=-1", {"word": "6"}),
    "masks": ("role=radio[name='window']", {"rule": "window"}),
    "many_heads": ("role=switch[name='head 1']", {"off": "1"}),
    "shared_heads": ("[aria-label='KV heads'] button[value='1']", {"kv_heads": "1"}),
    "cache_memory": ("role=radio[name='2']", {"gpus": "2"}),
    "long_sequences": (".chips button:text-is('causal')", {"tile_mask": "causal"}),
    "growing_memory": (".bar button[value='softmax']", {"writing": "softmax"}),
    "idle_heads": ("role=radio >> nth=9", {"letter": "8"}),
    "cross_attention": ("role=radio[name=/^kỷ:/]", {"syllable": "8"}),
    "inspector": ("role=switch", {"dim_first": "1"}),
    "what_if": ("role=radio[name='few bits']", {"what_if": "few bits"}),
    "why_it_looked": ("role=button[name='head L16.H0 +15.38']", {"why_removed": "key.L16.H0"}),
    "does_it_matter": ("role=radio[name='direct effect']", {"matter_view": "direct effect"}),
    "writing": ("button.writing-word >> nth=1", {"write_step": "1"}),
}


@pytest.mark.parametrize("page", CHOICES)
def test_a_click_is_told_at_once_and_stands_in_the_link(story, page):
    if page in ("inspector", "what_if"):
        need(WHEEL_MODELS[0].id)
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
