"""Walls of cards in a browser: claims are judged, and exercises are solved."""

import re

import pytest
from playwright.sync_api import expect

from explainers.chapters.claims.claim_table import read_claims
from tests.support.visit import PHONE, dressed

WALL = """(wall) => {
  const cards = [...wall.querySelectorAll('.claims-card')];
  return { seen: cards.filter((card) => getComputedStyle(card).opacity > 0.9).length,
    turned: cards.filter((card) => card.querySelector('.turned')).length,
    told: cards.map((card) => card.dataset.verdict + card.querySelector('.front').textContent),
    open: wall.querySelector('.claims-card.open .claims-text').innerText,
    says: wall.querySelector('.says').textContent };
}"""
OPENS = ".deck .deck-card.open .deck-name"
TOP = "document.querySelector('[data-testid=stMain]').scrollTop"
LOW = 1280, 800


@pytest.fixture
def unjudged(visit):
    return visit("claims", size=LOW, predict="true")


def test_claims_are_judged_turn_at_once_and_keys_lead_on(unjudged):
    page, claims = unjudged.page, unjudged.page.locator(".claims-wall")
    wall = claims.evaluate(WALL)
    assert (wall["seen"], wall["turned"]) == (7, 0)
    assert set(wall["told"]) == {"down"}, "what is face down cannot be read anywhere"
    assert page.get_by_text("Computed here").count() == 0

    first = page.locator(".claims-card.open .claims-text")
    first.focus()
    page.keyboard.press("ArrowLeft")
    last = list(read_claims().values())[-1]
    unjudged.expect_in_link(claim=last.id.replace("_", " "), about=last.part)
    page.keyboard.press("ArrowRight")
    expect(first).to_contain_text("every row of the weights sums to 1")
    page.get_by_role("button", name="Holds", exact=True).click()
    wall = claims.evaluate(WALL)  # no run of the server comes between
    assert wall["turned"] == 1
    assert "1 of 1 right" in wall["says"]
    numbers = page.get_by_text("The largest distance of a row's sum from 1")
    expect(numbers).to_be_visible()
    unjudged.wait_for_choice("guess_rows_sum_to_one", "holds")
    dressed(page, "light", PHONE)
    page.wait_for_function(f"(wall) => ({WALL})(wall).seen === 3", arg=claims.element_handle())
    assert numbers.bounding_box()["y"] < PHONE[1], "near the card, also on a phone"


def test_a_look_at_claims_is_no_judgement(unjudged):
    page, claims = unjudged.page, unjudged.page.locator(".claims-wall")
    page.get_by_role("radio", name="Positions 0/6").click()
    unjudged.expect_in_link(about="positions")
    page.get_by_role("button", name="Show me").click()
    expect(page.locator(".claims-seal")).to_contain_text("Does not hold")
    assert "You have judged none" in claims.evaluate(WALL)["says"]
    page.get_by_role("button", name="The next claim").click()
    expect(page.locator(".claims-card.open .claims-text")).to_contain_text("needs no causal mask")
    page.wait_for_function(f"(wall) => ({WALL})(wall).seen === 6", arg=claims.element_handle())
    page.get_by_role("button", name="Show me").click()
    expect(page.get_by_text("Show all answers from now on?")).to_be_visible()
    page.get_by_role("button", name="Yes", exact=True).click()
    unjudged.expect_said("Not reproducible: ")
    assert claims.evaluate(WALL)["turned"] == len(read_claims())


def test_exercises_open_at_once_and_the_next_page_begins_at_its_top(visit):
    one = visit("exercises", size=LOW, done="a mixture")
    page = one.page
    field = page.get_by_role("textbox", name="Your answer").bounding_box()
    assert field["y"] + field["height"] < LOW[1], "its task is seen without scrolling"
    page.get_by_role("radio", name="Heads for a budget").click()
    opens = page.locator(OPENS)
    assert opens.text_content() == "Heads for a budget"  # no run of the server comes between
    expect(page.get_by_role("heading", name="Heads for a budget")).to_be_visible()
    one.wait_for_choice("exercise", "heads for a budget")
    for key, name in (("ArrowRight", "A model on two GPUs"), ("ArrowDown", "Rotate")):
        page.keyboard.press(key)
        assert opens.text_content() == name
    expect(page.get_by_role("heading", name="Rotate", exact=True)).to_be_visible()

    row = page.get_by_role("button", name="Reach a goal")
    row.click()
    one.wait_for_choice("kind", "reach")
    expect(row).to_have_attribute("aria-pressed", "true")
    page.get_by_role("radio", name="A mixture").click()
    expect(row).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_role("heading", name="A mixture")).to_be_visible()

    one.ready()
    page.set_viewport_size({"width": 1024, "height": 600})
    page.get_by_role("button", name=re.compile("Next:")).click()
    page.get_by_role("heading", name="Claims, checked", exact=True).wait_for()
    page.get_by_text("The learning path", exact=True).wait_for()
    assert page.evaluate(TOP) == 0, "Streamlit would stay at the end"
