"""A trained translator, and what real models do."""

import re

import pytest
from playwright.sync_api import expect

from explainers.models.registry import WHEEL_MODELS
from tests.browser.stories.story import PHONE

SMOLLM2, MINILM = (one.id for one in WHEEL_MODELS[:2])


def need(model_id):
    """The page has nothing to show without this model."""
    from explainers.models.load import is_on_disk  # torch, which other stories do not need

    if not is_on_disk(model_id):
        pytest.skip(f"no {model_id} here: python -m explainers.models fetch says why")


WRITTEN = "(buttons) => buttons.filter((button) => !button.inert).length"
SEEN = "(nodes) => nodes.filter((node) => getComputedStyle(node).opacity > 0.5).length"
IN_SIGHT = """(nodes) => nodes.filter((node) => getComputedStyle(node).opacity > 0.5)
  .map((node) => node.innerText)"""


def percent(text):
    """The number of a percentage, however it is written."""
    return int(re.sub(r"\D", "", text))


def test_cross_attention(story):
    one = story("cross_attention")
    shares = one.hero.locator(".share")
    largest = max(shares.evaluate_all(IN_SIGHT), key=percent)
    one.expect_said("To write nhuận", f"{largest} of its attention to earnings")
    dotted = one.hero.locator(".words button.correct")
    expect(dotted).to_have_text("earnings")
    one.hero.get_by_role("switch", name="correct word").click()
    expect(dotted).to_have_count(0)
    one.expect_in_link(gold="0")
    one.back()
    one.expect_in_link(gold=None)
    expect(dotted).to_have_text("earnings")

    said = one.says_after(one.radio(re.compile("^kỷ:")))
    assert "To write kỷ" in said
    one.expect_in_link(syllable="8")
    heads = one.hero.get_by_role("radiogroup", name="Head")
    heads.get_by_role("radio").nth(1).click()
    one.expect_in_link(cross_head="0")
    expect(one.says).not_to_have_text(said)
    one.turn("cross_attention")
    one.radio(re.compile("^record:")).click()
    one.expect_said("Syllables that look at record")
    assert shares.evaluate_all(SEEN) >= 2
    one.page.keyboard.press("ArrowRight")
    one.expect_said("Syllables that look at earnings")

    one.turn("cross_attention", written="10")
    syllables = one.hero.locator(".words").nth(1).locator("button")
    assert syllables.evaluate_all(WRITTEN) == 10
    one.expect_said("Syllable 10 of 13")
    sent = one.sent
    one.press("Play")
    one.expect_said("Syllable 11 of 13")
    assert one.sent == sent
    one.expect_said("To write nhuận")  # complete: what was asked about before
    assert syllables.evaluate_all(WRITTEN) == 13
    one.expect_in_link(written=None)


def test_a_translation_is_changed(story):
    one = story("cross_attention")
    words = one.hero.locator(".words button")
    one.press("Turn it into the passive")
    expect(words.first).to_have_text("Record")
    expect(one.hero.locator(".card.on p")).to_contain_text("pairs of lines cross")
    one.expect_in_link(text="Record earnings were announced by the CEO on Friday")
    places = [word.bounding_box()["x"] for word in words.all()]
    assert places[:10] == sorted(places[:10])
    assert places[10:] == sorted(places[10:])
    assert len(places) == 10 + 14
    one.press("Reset")
    expect(words.first).to_have_text("The")

    one.turn("cross_attention")
    one.radio("table").click()
    one.expect_in_link(cross_view="table")
    cells = one.hero.locator(".translation-cell")
    expect(cells).to_have_count(13 * 8)
    one.expect_said(cells.nth(7 * 8 + 4).inner_text())
    cells.nth(8 * 8 + 3).click()
    one.expect_said("To write kỷ")

    one.turn("cross_attention", deep="rows")
    one.cell("alignment error rate", 3, 1).click()
    one.expect_in_link(cross_layer="1", cross_head="2", cross_rows="reads")
    one.expect_said("After reading")
    one.radio("predicts").click()  # the way back
    one.expect_in_link(cross_rows=None)
    one.expect_said("To write")
    one.turn("cross_attention", cross_head="1")
    one.cell("weights", 4, 2).click()
    card = one.page.locator(".card:visible").filter(has_text="largest score")
    expect(card).to_contain_text(f"{one.values('weights')[4][2]:.2f}"[:3])

    one.turn("cross_attention", deep="explaining")
    one.page.get_by_role("radio", name="a word less", exact=True).click()
    one.expect_in_link(instead="a word less")
    expect(one.page.get_by_text("hidden from encoder and decoder")).to_be_visible()

    one.turn("cross_attention", size=PHONE)
    expect(one.hero).to_have_class(re.compile("down"))
    left, right = (one.hero.locator(".words").nth(n).locator("button") for n in (0, 1))
    first, second = left.first.bounding_box(), right.first.bounding_box()
    assert first["x"] + first["width"] < second["x"], "two columns"
    assert left.last.bounding_box()["y"] > first["y"] + 200
    expect(one.radio("table")).not_to_be_visible()
    one.hero.get_by_role("button", name="Change").click()
    expect(one.radio("table")).to_be_visible()


def test_inspector(story):
    need(SMOLLM2)
    one = story("inspector")
    field, text = one.hero.locator(".mosaic-field"), one.page.locator(".tiles .readout").first
    side = field.bounding_box()["width"] / 30
    field.click(position={"x": 16.4 * side, "y": 0.4 * side})
    one.expect_said("layer 16, head 0")
    one.expect_in_link(model_layer="16")
    one.hero.get_by_role("radio").nth(3).click()
    one.expect_in_link(token="3")
    field.press("ArrowDown")
    one.expect_in_link(model_head="1")
    one.expect_said("layer 16, head 1")
    one.hero.get_by_role("switch").click()
    expect(one.says).to_have_attribute("data-name", "hero_dimmed")
    one.expect_in_link(dim_first="1")
    one.back()
    one.expect_in_link(dim_first=None, model_head="1")
    one.turn("inspector")
    one.press("Another telling head")
    one.expect_said("layer 12, head 0")

    one.turn("inspector", deep="sinks")
    tiles, layers = one.page.locator(".stage:not(.enlarges) .tile canvas"), 30

    def point(layer, head, query, key):
        canvas = tiles.nth(head * layers + layer)
        pixel = canvas.bounding_box()["width"] / 7
        canvas.hover(position={"x": (key + 0.5) * pixel, "y": (query + 0.5) * pixel})
        return text.inner_text()

    sent = one.sent
    assert point(16, 0, 3, 2).startswith("layer 16, head 0: “")
    assert "(3)" in point(16, 0, 3, 2)
    assert point(1, 2, 2, 6).endswith("masked or dimmed")
    assert one.sent == sent
    tiles.nth(layers + 16).click()
    one.expect_in_link(model_layer="16", model_head="1")
    expect(one.page.get_by_text("layer 16, head 1").first).to_be_visible()
    place = "(tile) => [...tile.parentNode.querySelectorAll('.tile')].indexOf(tile)"
    assert one.page.locator(".tile.marked").evaluate(place) == layers + 16


def test_a_long_text_in_the_inspector(story):
    need(SMOLLM2)
    one = story("inspector", tokens_read="64", deep="long")
    one.page.get_by_role("button", name="Read it").click()
    canvas, mouse = one.page.locator(".enlarges canvas").first, one.page.mouse
    expect(canvas).to_be_visible()
    one.ready()
    lines = one.page.locator(".enlarges .line:visible")
    assert lines.count() == 0
    ticks = one.page.locator(".enlarges .below").first.locator(".tick").all_inner_texts()
    assert ticks == ["0", "20", "40"]
    name = one.page.get_by_label("Which head looks at this token?")
    name.fill("12")
    found = one.page.locator(".found")
    expect(found).to_contain_text("(12) · head ")
    assert lines.count() == one.page.locator(".strip .share").count() > 0
    box, line = canvas.bounding_box(), lines.first.bounding_box()
    assert (line["x"] - box["x"]) / box["width"] == pytest.approx(12.5 / 64, abs=0.02)
    name.fill("no such token")
    expect(found).to_have_text("No token is called this.")
    assert lines.count() == 0

    canvas.scroll_into_view_if_needed()
    box, whole = canvas.bounding_box(), canvas.evaluate("(canvas) => canvas.toDataURL()")
    mouse.move(box["x"] + 10, box["y"] + 10)
    mouse.down()
    mouse.move(box["x"] + 60, box["y"] + 60)
    mouse.up()
    back = one.page.get_by_role("button", name="Show the whole text")
    expect(back).to_be_visible()
    assert canvas.evaluate("(canvas) => canvas.toDataURL()") != whole
    back.click()
    assert canvas.evaluate("(canvas) => canvas.toDataURL()") == whole


def test_head_gallery(story):
    one = story("head_gallery")
    one.page.get_by_role("gridcell", name="L16.H0: ").click()
    one.expect_said("L16.H0")
    one.expect_in_link(gallery_layer="16")
    one.page.get_by_role("gridcell", name="L16.H0: ").press("ArrowRight")
    expect(one.hero.locator(".gallery-title")).to_contain_text("L17.H0")
    one.expect_in_link(gallery_layer="17")
    lit, name = one.hero.locator(".gallery-cell:not(.dim)"), one.radio("duplicate token 3")
    everyone = lit.count()
    name.click()
    expect(lit).to_have_count(3)
    one.expect_said("3 have the name duplicate token")
    one.expect_in_link(head_name="duplicate token")
    name.press("ArrowRight")
    expect(lit).not_to_have_count(3)
    assert lit.count() < everyone

    one.turn("head_gallery", size=PHONE, gallery_layer="18", gallery_head="6")
    words = one.hero.locator(".words button")
    first, second = words.nth(0).bounding_box(), words.nth(1).bounding_box()
    assert second["y"] - first["y"] >= 24, "below each other, and large enough for a finger"
    expect(one.hero.locator(".words button.asks")).to_have_text("Ann")
    assert one.hero.locator(".arc").evaluate_all(SEEN) >= 1
    words.nth(2).click()
    one.expect_in_link(gallery_word="2")


def test_the_heads_of_another_model_in_the_gallery(story):
    need(MINILM)
    one = story("head_gallery", real_model=MINILM, deep="measures")
    rows = one.page.locator('.panel[aria-label^="induction"] tbody tr')
    rows.nth(2).locator("td.cell").first.click()
    one.expect_in_link(gallery_layer="0")
    title = one.hero.locator(".gallery-title")
    expect(title).to_have_text("L0.H2: previous token, positional")
    before = one.drawn()
    one.page.get_by_role("radio", name="prose", exact=True).click()
    one.expect_in_link(probe="prose")
    assert one.redrawn(before) != before


LEAST_CONTRAST = """(buttons) => {
  const light = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number).map((c) =>
    c <= 10 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0.05);
  return Math.min(...buttons.filter((one) => !one.matches('.first')).map((one) => {
    const worn = getComputedStyle(one), both = [light(worn.color), light(worn.backgroundColor)];
    return Math.max(...both) / Math.min(...both);
  }));
}"""


def test_what_if(story):
    need(SMOLLM2)
    one = story("what_if")
    tokens, told, sent = (
        one.hero.locator(".words button"),
        one.page.locator(".what-if-told"),
        one.sent,
    )
    assert tokens.evaluate_all(LEAST_CONTRAST) >= 4.5
    tokens.nth(5).hover()
    pointed = told.inner_text()
    assert re.search(r"loss [\d.]+, changed [\d.]+", pointed)
    assert one.sent == sent
    tokens.nth(5).press("ArrowRight")
    expect(told).not_to_have_text(pointed)
    assert "4 bits" in one.says_after(one.page.get_by_role("radio", name="few bits"))
    assert not one.page.locator(".hero.waiting").count()
    one.expect_in_link(what_if="few bits")
    one.back()
    one.expect_in_link(what_if=None)
    one.expect_said("only the last 4")
    one.press("Drop √d_k")
    one.expect_said("Without the division")


def test_why_it_looked(story):
    one = story("why_it_looked")
    bar = one.hero.get_by_role("button", name="head L16.H0 +15.38")
    results = one.page.locator(".why-weight + .text")
    assert results.evaluate_all(SEEN) == 1
    assert "Without head L16.H0" in one.says_after(bar)
    expect(bar).to_have_attribute("aria-pressed", "true")
    assert results.evaluate_all(SEEN) == 4
    one.expect_in_link(why_removed="key.L16.H0")
    assert "Without" not in one.says_after(bar)
    one.expect_in_link(why_removed=None)
    three = one.hero.get_by_role("button", name="remove the first 3").first
    assert "MLP 0, " in one.says_after(three)
    one.expect_in_link(why_removed="query_three")
    one.press("Go one step back")
    one.expect_said("to the token before it, Ann")
    one.expect_in_link(why_cell="16.0")
    one.turn("why_it_looked", lang="vi", why_cell="16.0", why_removed="key.MLP15")
    one.expect_said("Không có MLP 15")
    expect(one.page.locator(".why-title.key")).to_have_text("“Ann” đưa ra gì: khóa của nó")


def test_does_it_matter(story):
    one = story("does_it_matter")
    zero, full = (one.hero.locator(".matter-line").nth(n).bounding_box() for n in (0, 1))
    assert zero["x"] < full["x"]
    cells = one.hero.locator(".gallery-cell")
    others = cells.filter(has_not=one.page.locator("[aria-selected=true]"))
    name = others.nth(5).get_attribute("aria-label").partition(":")[0]
    others.nth(5).click()
    one.expect_said(name)
    one.expect_in_link(matter_head=name.partition(".H")[2])
    listed = one.hero.get_by_role("button", name=re.compile(r"^L\d+\.H\d+$"))
    third = listed.nth(2).inner_text()
    listed.nth(2).click()
    one.expect_said(third)
    one.press("A head that works against the answer")
    one.expect_said("away")
    bars = one.hero.locator(".matter-bar").all()
    assert min(bar.bounding_box()["x"] for bar in bars) < zero["x"] - 2, (
        "its bar goes to the other side"
    )


def test_writing(story):
    one = story("writing")
    one.page.locator("button.writing-word").nth(1).click()
    one.expect_in_link(write_step="1")
    head = one.page.locator(".writing-heads button").nth(1)
    name = head.inner_text()
    head.click()
    one.expect_in_link(write_head=name)
    assert one.page.locator(".writing-share").evaluate_all(SEEN), "the head's whole row"
    one.back()
    one.expect_in_link(write_head=None, write_step="1")
    one.turn("writing", lecture="true")  # no sentence is cut in the name of a head
    one.hero.locator(".says").first.filter(has_text=".").wait_for()
    said = one.hero.locator(".says").first.inner_text()
    assert said.endswith(".")
    assert not said.endswith(("L13.", "L1."))
