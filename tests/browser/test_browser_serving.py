"""Serving in a browser: words are changed, pages are filled, and each sentence is the picture's."""

import re

import pytest
from playwright.sync_api import expect

from explainers.chapters.serving.hero import compute_numbers, count_moved, name_token
from explainers.chapters.serving.measured_serving import BLOCK, read_shipped
from explainers.local_numbers import write_value
from explainers.translations import ENGLISH, set_language, translate_section

SERVING = read_shipped()
NUMBERS = compute_numbers(SERVING, "prefix", -1)
TREE = SERVING.drafts()


def fill(language, name, **values):
    """A sentence as it is read, its numbers those of the code."""
    set_language(language)
    try:
        text = translate_section("15_serving", name)
    finally:
        set_language(ENGLISH)
    filled = re.sub(
        r"\{\{(\w+)\}\}", lambda slot: write_value(values[slot[1]], language), text.replace("*", "")
    )
    return " ".join(filled.split())


def expect_sentence(one, language, name, **values):
    expect(one.says).to_have_text(fill(language, name, **values))


@pytest.mark.parametrize("language", ["en", "vi"])
def test_each_sentence_is_made_of_the_numbers_of_its_picture(visit, language):
    """Of the model too, if it has been loaded: its numbers are those that are kept."""
    one, tokens = visit("serving", lang=language), SERVING.prompts.tokens[1]
    found = SERVING.reuse(-1)
    shared = {"shared": found.shared, "tokens": len(tokens), "block": BLOCK}
    reused = BLOCK * found.blocks
    more = {
        "reused": reused,
        "computed": len(tokens) - reused,
        "gap": "0",
        "next": name_token(found.next_tokens[1]),
    }
    expect_sentence(one, language, "hero_shared", **shared, **more)
    for at in (3, 17):
        one.page.locator("button.serving-token").nth(at).click()
        first, later = count_moved(SERVING.reuse(at), len(SERVING.prompts.others))
        words = {"old": tokens[at].strip(), "new": SERVING.prompts.others[at][0].strip()}
        counts = {"shared": at, "beginning": len(SERVING.prompts.others)}
        expect_sentence(one, language, "hero_changed", **words, **counts, first=first, later=later)
        one.wait_for_choice("changed", f"{at}")
    one = visit("serving", lang=language, trick="drafts", draft_mask="causal")
    way = NUMBERS["drafts"]["ways"]["causal"]
    largest = NUMBERS["drafts"]["largest"]
    expect_sentence(one, language, "hero_drafts_causal", gap=way["gap"], largest=largest)
    assert sum(map(int, "".join(way["cells"]))) == 16 * 17 // 2


def test_an_experiment_changes_a_word_and_back(visit):
    one = visit("serving")
    one.page.get_by_role("button", name="Change “helpful”").click()
    expect(one.says).to_contain_text("helpful becomes useful")
    one.wait_for_choice("changed", "3")
    one.page.locator("button.serving-token.changed").click()
    expect(one.says).to_contain_text("whole blocks of 4")
    one.wait_for_choice("changed", None)


SHARE_OF_RED = """() => {
  const host = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .map((each) => each.shadowRoot).find((root) => root?.querySelector('.serving'));
  const canvas = host?.querySelector('.serving-grids canvas');
  if (!canvas?.width) return 0;
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const red = getComputedStyle(host.querySelector('.hero')).getPropertyValue('--wrong');
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(red.slice(at, at + 2), 16));
  let count = 0;
  for (let at = 0; at < data.length; at += 4)
    count += data[at] === r && data[at + 1] === g && data[at + 2] === b;
  return count / (data.length / 4);
}"""


def test_squares_turn_red_behind_the_changed_word(visit):
    """The picture itself: how much of the squares has the colour of another row."""
    one = visit("serving")
    one.page.wait_for_function(f"() => ({SHARE_OF_RED})() > 0", polling=100)
    before = one.page.evaluate(SHARE_OF_RED)
    one.page.locator("button.serving-token").nth(3).click()
    one.page.wait_for_function(f"() => ({SHARE_OF_RED})() > {before + 0.3}", polling=100)


def test_pages_are_filled_step_by_step(visit):
    one = visit("serving")
    one.page.get_by_role("radio", name="pages").click()
    one.wait_for_choice("trick", "pages")
    slider = one.page.get_by_role("slider", name="step")
    slider.fill("1")
    pages = len(NUMBERS["pages"][1]["tables"][1])
    expect(one.says).to_have_text(fill("en", "hero_pages_1", shared=19, pages=pages))
    expect(one.page.locator(".serving-page.shared")).to_have_count(pages)
    slider.fill("4")
    expect(one.page.locator(".serving-page.shared")).to_have_count(0)
    table = one.page.locator(".serving-entry.prompt1:visible")
    expect(table).to_have_text([f"{page + 1}" for page in NUMBERS["pages"][4]["tables"][1]])


def test_chunks_are_chosen_and_drawn_by_a_link(visit):
    one = visit("serving", trick="chunks", chunk_size="4")
    sizes = NUMBERS["chunks"]["sizes"]
    expect(one.says).to_contain_text(f"{sizes['4']['passes']} passes")
    one.page.get_by_role("radio", name="8").click()
    expect(one.says).to_contain_text(f"{sizes['8']['weights']} weights")
    one.wait_for_choice("chunk_size", None)
    expect(one.page.locator(".serving-passes .pass")).to_have_count(sizes["8"]["passes"])


def test_the_tree_marks_the_drafts_that_the_model_would_write(visit):
    one = visit("serving", trick="drafts")
    right = [name_token(TREE.drafts[draft]) for draft in TREE.right]
    expect(one.page.locator(".serving-draft.right b")).to_have_text(right)
    expect(one.page.locator(".serving-draft.wrong")).to_have_count(0)
    one.page.get_by_role("radio", name="positions counted on").click()
    way = NUMBERS["drafts"]["ways"]["counted"]
    off = [gap for gap, is_wrong in zip(way["gaps"], way["wrong"], strict=True) if is_wrong]
    expect(one.page.locator(".serving-draft.wrong span")).to_have_text(off)
