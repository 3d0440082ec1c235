"""The wall of claims in a browser: a card is judged, its stamp turns, and its numbers come."""

import pytest
from playwright.sync_api import expect

from explainers.chapters.claims.claim_table import read_claims
from tests.support.browser_fixtures import dressed

WALL = """() => {
  const hosts = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')];
  const wall = hosts.map((host) => host.shadowRoot.querySelector('.claims')).find(Boolean);
  const cards = [...wall.querySelectorAll('.claims-card')];
  const isSeen = (card) => getComputedStyle(card).opacity > 0.9;
  const seen = cards.filter(isSeen);
  const { top } = wall.querySelector('.claims-card.open').getBoundingClientRect();
  const { bottom } = wall.querySelector('.says').getBoundingClientRect();
  return { top, bottom, seen: seen.length,
    turned: cards.filter((card) => card.querySelector('.turned')).length,
    told: cards.map((card) => card.dataset.verdict + card.querySelector('.front').textContent),
    open: wall.querySelector('.claims-card.open .claims-text').innerText,
    words: wall.querySelector('.in-words').textContent,
    says: wall.querySelector('.says').textContent };
}"""


@pytest.fixture
def unjudged(visit):
    """Who has judged nothing yet."""
    return visit("claims", size=(1280, 800), predict="true")


def test_cards_are_judged_turn_at_once_and_keys_lead_on(unjudged):
    page = unjudged.page
    wall = page.evaluate(WALL)
    assert wall["top"] <= 260
    assert wall["bottom"] <= 800
    assert wall["seen"] == 9
    assert wall["turned"] == 0
    assert set(wall["told"]) == {"down"}, "what is face down cannot be read anywhere"
    assert not wall["words"]
    assert f"{len(read_claims())} sentences" in wall["says"]
    assert page.get_by_text("Computed here").count() == 0

    first = page.locator(".claims-card.open .claims-text")
    first.focus()
    page.keyboard.press("ArrowLeft")
    last = list(read_claims().values())[-1]
    unjudged.wait_for_choice("claim", last.id.replace("_", " "))
    unjudged.wait_for_choice("about", last.part)
    unjudged.ready()
    page.keyboard.press("ArrowRight")
    expect(first).to_contain_text("every row of the weights sums to 1")

    page.get_by_role("button", name="Holds", exact=True).click()
    wall = page.evaluate(WALL)  # no run of the server comes between
    assert wall["turned"] == 1
    assert "1 of 1 right" in wall["says"]
    expect(page.locator(".claims-seal")).to_contain_text("Holds")
    numbers = page.get_by_text("The largest distance of a row's sum from 1")
    expect(numbers).to_be_visible()
    unjudged.wait_for_choice("guess_rows_sum_to_one", "holds")
    dressed(page, "light", (390, 844))
    page.wait_for_function(f"() => ({WALL})().seen === 3")
    assert numbers.bounding_box()["y"] < 844, "near the card, also on a phone"
    dressed(page, "light", (1280, 800))

    first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(WALL)["open"].startswith("The variance of a dot product of independent")
    unjudged.wait_for_choice("claim", "variance grows")
    expect(page.get_by_text("Judge the open card")).to_be_visible()
    page.get_by_role("button", name="Not reproducible", exact=True).click()
    assert "1 of 2 right" in page.evaluate(WALL)["says"]
    expect(page.locator(".claims-result")).to_contain_text("You chose: Not reproducible.")


def test_a_topic_has_its_cards_and_a_look_is_no_judgement(unjudged):
    page = unjudged.page
    page.get_by_role("radio", name="Printed 0/4").click()
    expect(page.locator(".claims-card.open .claims-text")).to_contain_text("With seed 42")
    unjudged.wait_for_choice("about", "printed")
    page.get_by_role("button", name="Show me").click()
    expect(page.locator(".claims-seal")).to_contain_text("Does not hold")
    assert "You have judged none" in page.evaluate(WALL)["says"]
    expect(page.get_by_text("The sentence says all that is drawn")).to_be_visible()
    page.get_by_role("button", name="The next claim").click()
    expect(page.locator(".claims-card.open .claims-text")).to_contain_text("With seed 0")
    assert page.evaluate(WALL)["seen"] == 4
    page.get_by_role("button", name="Show me").click()
    expect(page.get_by_text("Show all answers from now on?")).to_be_visible()
    page.get_by_role("button", name="Yes", exact=True).click()
    expect(unjudged.says).to_contain_text("not reproducible")
    assert page.evaluate(WALL)["turned"] == len(read_claims())


def test_other_sizes_change_the_verdict_below_the_wall(stroll):
    one = stroll("claims", tab="stories", claim="windows reach")
    expect(one.page.get_by_text("The first word that reaches it")).to_be_visible()
    layers = one.page.locator(".st-key-size_windows_reach_layers")
    layers.get_by_text("3", exact=True).click()
    expect(one.page.get_by_text("You changed the sizes")).to_be_visible()
    one.wait_for_choice("size_windows_reach_layers", "3")
