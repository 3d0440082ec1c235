"""The page on choosing keys in a browser: a click asks for another token, the sentence follows."""

import re

from playwright.sync_api import expect

from explainers.chapters.choosing.hero import measure_kept
from explainers.models.shipped_indexers import KEPT, ORACLE, PROSE, TWICE, WINDOW, read_files
from explainers.ui.text.numbers import write_percent

PATH = "choosing"
PROSE_PASSAGE, AGAIN = (read_files().passages[name] for name in (PROSE, TWICE))


def says(one):
    return one.page.locator(".hero .says")


def numbers(text):
    return re.findall(r"[\d.]+\s%", text.replace("\N{NO-BREAK SPACE}", " "))


def test_the_sentence_has_the_numbers_of_the_picture(visit):
    one = visit(PATH)
    found = measure_kept(PROSE_PASSAGE, PROSE_PASSAGE.query, 64)
    expected = [write_percent(found[name]) for name in ("oracle", "indexer", "first")]
    expect(says(one)).to_contain_text(f"token {PROSE_PASSAGE.query + 1}")
    assert numbers(says(one).inner_text()) == numbers(" ".join(expected))
    shares = one.page.locator(".hero .reading-share").all_inner_texts()
    assert numbers(" ".join(shares)) == numbers(" ".join(map(write_percent, found.values())))
    losses = one.page.locator(".hero .reading-loss").all_inner_texts()
    assert losses == [f"{PROSE_PASSAGE.losses[name][KEPT.index(64)]:.2f}" for name in found]


def test_fewer_keys_and_another_policy_change_the_picture_at_once(visit):
    one = visit(PATH)
    one.page.get_by_role("slider", name="keys kept").press("ArrowLeft")
    one.wait_for_choice("keys_kept", "48")
    one.page.locator(".hero button.reading-name").nth(3).click()
    found = measure_kept(PROSE_PASSAGE, PROSE_PASSAGE.query, 48)[WINDOW]
    loss = PROSE_PASSAGE.losses[WINDOW][KEPT.index(48)]
    expect(says(one)).to_contain_text(f"The last 48 keys hold {write_percent(found)}")
    expect(says(one)).to_contain_text(f"is {loss:.2f} instead of {PROSE_PASSAGE.full_loss:.2f}")
    one.wait_for_choice("kept_by", "window")


def test_a_click_or_a_key_asks_for_another_token(visit):
    one = visit(PATH)
    canvas = one.page.locator(".hero .reading-canvas")
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] * 300.5 / 512, "y": 90})
    one.wait_for_choice("query_token", "300")
    expect(says(one)).to_contain_text("token 301")
    canvas.press("ArrowLeft")
    one.wait_for_choice("query_token", "299")
    expect(says(one)).to_contain_text("token 300")


def test_the_text_that_is_repeated_shows_who_looks_back(visit):
    one = visit(PATH)
    one.page.get_by_role("button", name="Repeat the text").click()
    one.wait_for_choice("read_text", "twice")
    expect(says(one)).to_contain_text(f"token {AGAIN.query + 1}")
    loss = AGAIN.losses[ORACLE][KEPT.index(48)]
    expect(one.page.locator(".hero .reading-loss").first).to_have_text(f"{loss:.2f}")


def test_a_phone_has_the_same_lines(visit):
    one = visit(PATH, size=(390, 844))
    names = one.page.locator(".hero button.reading-name")
    expect(names).to_have_count(4)
    for line in range(4):
        share = one.page.locator(".hero .reading-share").nth(line).bounding_box()
        assert (
            names.nth(line).bounding_box()["x"] + names.nth(line).bounding_box()["width"]
            < share["x"]
        )
