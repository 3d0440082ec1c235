"""The start page as the door to everything: its wall and its thumbnails, and the tour by keys."""

import pytest

from benchmarks.tour import COMPLETE, WATCH
from explainers.ui.tour import STOPS
from tests.support.browser_fixtures import PAGES
from tests.support.visit import PHONE, dressed

TOP = "document.querySelector('[data-testid=stMain]').scrollTop"
PICTURES = """(kind) => [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
  .flatMap((host) => [...host.shadowRoot.querySelectorAll(`.cards.${kind} img`)])"""
SHOWN = f"""([kind, theme]) => ({PICTURES})(kind).length > 2 && ({PICTURES})(kind).every((image) =>
  image.src.endsWith(`-${{theme}}.webp`) && image.complete && image.naturalWidth === 240)"""


def seen(one, kind):
    """Scroll to the cards, so that their thumbnails are fetched."""
    one.page.locator(f".cards.{kind} a").last.scroll_into_view_if_needed()
    return one.page.locator(f".cards.{kind}")


def test_the_wall_follows_the_theme_fits_a_phone_and_leads_on_by_key(visit):
    one = visit("", weights="untrained", mask="causal")
    waiting = f"() => ({PICTURES})('wall').every((image) => image.loading === 'lazy')"
    assert one.page.evaluate(waiting), "thumbnails may come late"
    for theme in ("light", "dark"):
        one.page.emulate_media(color_scheme=theme)
        for kind in ("doors", "wall"):
            seen(one, kind)
            one.page.wait_for_function(SHOWN, arg=[kind, theme])

    dressed(one.page, "dark", PHONE)
    wall = seen(one, "wall").locator("a")
    assert wall.count() == len(PAGES)
    assert len({round(card.bounding_box()["x"]) for card in wall.all()}) == 2
    card = wall.filter(has_text="Masks")
    card.focus()
    assert "mask=causal" in card.get_attribute("href"), "a card keeps the choices"
    one.page.keyboard.press("Enter")
    one.page.get_by_role("heading", name="Masks", exact=True).wait_for()
    one.ready()
    assert one.page.evaluate(TOP) == 0


@pytest.mark.parametrize(
    "stops", [3, pytest.param(len(STOPS), marks=pytest.mark.nightly("the others are like these"))]
)
def test_the_tour_is_walked_by_keyboard(visit, stops):
    one = visit("")
    one.page.evaluate(WATCH)
    seen(one, "doors").locator("a").first.focus()
    one.page.keyboard.press("Enter")
    for place in range(1, stops + 1):
        one.page.get_by_text(f"{place} of {len(STOPS)}", exact=True).wait_for()
        one.wait_for_choice("tour", "1")
        one.ready()
        assert one.page.evaluate(TOP) == 0
        assert one.page.locator(".st-key-one-sentence").is_visible()
        if place > 1:
            one.page.wait_for_function(COMPLETE)
            seen_first = one.page.evaluate("() => tour.found")
            assert seen_first["words"] <= seen_first["picture"]
            assert not seen_first["blank"], "something is on screen at every moment"
        if place < stops:
            one.page.locator(".st-key-tour-next button").focus()
            one.page.evaluate("() => tour.begin(true)")
            one.page.keyboard.press("Enter" if place > 1 else "PageDown")
    one.page.go_back()
    one.page.get_by_text(f"{stops - 1} of {len(STOPS)}", exact=True).wait_for()
    one.ready().page.reload()
    one.page.get_by_text(f"{stops - 1} of {len(STOPS)}", exact=True).wait_for()
    one.ready().page.get_by_role("button", name="Leave the tour").press("Enter")
    one.wait_for_choice("tour", None)
    one.ready().page.get_by_role("heading", name="Check yourself").wait_for()
