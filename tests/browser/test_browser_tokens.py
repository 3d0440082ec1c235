"""The picture of tokens in a browser: a slider joins them at once, and the link keeps it."""

from playwright.sync_api import expect

from explainers.chapters.tokens.cut_text import learn_shipped_merges
from explainers.toys.byte_pairs import encode, make_pieces
from explainers.toys.sentence import SENTENCE

MERGES = learn_shipped_merges()
SHOWN = """(nodes) => nodes.filter((node) => node.style.opacity !== "0")
  .map((node) => [Number(node.style.transform.match(/-?[\\d.]+/)[0]), node.textContent])
  .sort(([a], [b]) => a - b).map(([, text]) => text)"""
DRAG = """(range) => {
  range.value = 0;
  range.dispatchEvent(new Event("input"));
  return range.getRootNode().querySelector(".says").textContent;
}"""
"""Drag to the first merge; the sentence right after it."""


def tokens(one):
    return one.page.locator(".tokens-chip").evaluate_all(SHOWN)


def pieces(merges):
    return [piece.text.replace(" ", "␣") for piece in make_pieces(SENTENCE, MERGES[:merges])]


def test_tokens_are_seen_without_a_click(visit):
    one = visit("tokens")
    stage = one.page.locator(".hero .stage").bounding_box()
    assert stage["y"] <= 260
    assert stage["height"] <= 430
    bottom = one.page.locator(".hero .hint").bounding_box()
    assert bottom["y"] + bottom["height"] <= 800
    assert tokens(one) == pieces(250)
    for token in pieces(250):
        strip = one.page.locator(f'.strip[aria-label^="vector of {token.replace("␣", " ")}:"]')
        expect(strip.locator(".column span")).to_have_count(8)


def test_the_slider_joins_tokens_without_the_server(visit):
    one = visit("tokens")
    said = one.page.locator(".hero .film input").evaluate(DRAG)  # no server can answer so fast
    assert f"there are {len(encode(SENTENCE, []))} tokens" in said
    assert len(tokens(one)) == len(SENTENCE)
    one.wait_for_choice("merges", "0")
    one.page.get_by_role("slider", name="merges learned").press("ArrowRight")
    one.wait_for_choice("merges", "1")
    assert tokens(one) == pieces(1)
    one.page.get_by_role("radio", name="words").click()
    one.wait_for_choice("unit", "words")
    assert tokens(one) == SENTENCE.split()


def test_what_can_be_tried_is_shown_and_taken_back(visit):
    one = visit("tokens")
    one.page.get_by_role("button", name="No merges").click()
    expect(one.page.locator(".hero .card.on p")).to_contain_text("Each byte is a token")
    one.wait_for_choice("merges", "0")
    one.page.get_by_role("button", name="Reset", exact=True).click()
    one.wait_for_choice("merges", None)
    assert tokens(one) == pieces(250)
