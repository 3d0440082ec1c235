"""The calculator's menu of what is seldom changed, which the picture changes while it is closed."""

from playwright.sync_api import expect


def test_a_reset_holds_after_the_menu_was_open(visit):
    """What the closed menu had shown is not chosen again by the next click."""
    one = visit("cache_memory", is_still=True, gpus="8")
    more = one.page.get_by_role("button", name="More")
    one.after_run(more.click)
    expect(one.page.get_by_test_id("stPopoverBody").get_by_role("radio", name="16")).to_be_visible()
    one.after_run(lambda: one.page.keyboard.press("Escape"))
    one.hero.get_by_role("button", name="Take a model with windows", exact=True).click()
    one.wait_for_choice("gpus", None)
    one.ready()
    card = one.page.locator(".st-key-go-deeper summary").first
    one.after_run(lambda: card.evaluate("(summary) => summary.click()"))
    one.expect_in_link(gpus=None, model="gemma-3-27b")
    one.page.get_by_text("Settings").first.click()
    one.after_run(lambda: one.page.get_by_role("slider", name="Seed").press("ArrowRight"))
    one.expect_in_link(gpus=None, model="gemma-3-27b", seed="1")
    expect(one.hero.get_by_role("radio", name="1", exact=True)).to_have_attribute(
        "aria-checked", "true"
    )
