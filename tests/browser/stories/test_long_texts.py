"""Long sequences, a memory that does not grow, choosing, idle heads, serving."""

import re

from playwright.sync_api import expect

from tests.browser.stories.story import PHONE, drag, drop

TILE = """() => {
  const root = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .map((host) => host.shadowRoot.querySelector('.tiles')).find(Boolean);
  const [dot, held] = ['.tiles-dot', '.tiles-held']
    .map((name) => root.querySelector(name).getBoundingClientRect());
  return dot.width / held.width;
}"""
"""How wide a part of the square the tile is."""


def seen(one, name):
    """How many numbers a matrix shows."""
    return sum(value is not None for line in one.values(name) for value in line)


def test_long_sequences(story):
    one = story("long_sequences", predict="true")
    sizes = one.hero.locator(".tiles-size")
    expect(sizes).to_have_text(["32 GiB", "32 KiB"])
    assert "only 2 MiB" in drag(one.hero.locator(".bar input"), 0)
    expect(sizes.first).to_have_text("2 MiB")
    one.page.wait_for_function(f"() => Math.abs(({TILE})() - 128 / 1024) < 0.01")
    one.hero.locator(".chips button", has_text="causal").click()
    one.expect_said("skips 28 of 64 tiles")
    expect(one.hero.locator(".tiles-cell.forbidden")).to_have_count(21)
    drop(one.hero.locator(".bar input"))
    one.expect_in_link(length="1024", tile_mask="causal")
    one.back()
    one.expect_in_link(length=None)

    one.turn("long_sequences")
    film, steps = one.hero.locator(".film input"), one.hero.locator(".film output")
    for frame in (0, 2, 11):
        drag(film, frame)
        here = (3 if frame % 3 < 2 else 1) * (2 if frame < 9 else 1)
        expect(one.hero.locator(".tiles-cell.now")).to_have_count(here)
        done = min(2 * (frame // 3 + 1), 7)
        expect(one.hero.locator(".strip:not(.empty)")).to_have_count(done)
    expect(one.hero.locator(".tiles-total.full")).to_have_count(7)
    expect(steps).to_have_text("12 of 12")
    one.hero.locator(".small-play").click()
    expect(steps).to_have_text(re.compile(r"^[2-9] of 12$"))
    one.hero.locator(".small-play").click()


def test_blocks_and_tiles(story):
    one = story("long_sequences")
    names, slider, sent = ("scores", "running", "weights"), one.live_slider("Blocks read"), one.sent
    drag(slider, 0)
    assert [seen(one, name) for name in names] == [2, 2, 2]
    assert one.sent == sent
    drop(slider)
    one.expect_in_link(read="1")
    drag(slider, slider.get_attribute("max"))
    one.cell("running", 2, 1).click()
    card = one.page.locator(".card:visible", has=one.page.locator(".lines")).first
    expect(card.locator(".lines")).to_contain_text("correction = e^(")

    one.turn("long_sequences", tile="1", tile_mask="causal", deep="tiles")
    slider = one.live_slider("Tiles read")
    held = []
    for frame in range(8):
        drag(slider, frame)
        held.append(seen(one, "scores in memory"))
    assert sum(held) == 28, "each allowed pair once"
    assert max(held) <= 6

    one.turn("long_sequences", deep="two")
    keys, sent = one.live_slider("Keys of the other"), one.sent
    figure = one.page.locator(".figure").filter(has=keys)
    drag(keys, 0)
    drag(one.live_slider("Queries"), 0)
    expect(figure.locator(".says")).to_contain_text("16 × 16 = 256 scores")
    share = figure.locator(".amount .share").first
    expect(share).to_have_attribute("style", re.compile("width: 25%"))
    assert one.sent == sent


MEMORY = """() => {
  const hero = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .map((host) => host.shadowRoot.querySelector('.hero')).find(Boolean);
  const texts = (name) => [...hero.querySelectorAll(name)].map((node) => node.textContent);
  const rows = [...hero.querySelectorAll('.strip')].filter((node) =>
    Number(node.style.opacity) === 1 && node.clientHeight < 20 && node.clientWidth < 90);
  return {
    names: [...hero.querySelectorAll('.state-name')].map((node) => node.firstChild.textContent),
    right: texts('.state-mark.moves').filter((mark) => mark === '✓').length,
    found: texts('.state-found')[0], stored: rows.length,
    side: hero.querySelector('.state-grid').style.width,
  };
}"""


def test_growing_memory(story):
    one = story("growing_memory")
    look = one.page.evaluate(MEMORY)
    assert look["found"].startswith(f"{look['right']} of 9")
    side = look["side"]
    button = one.hero.locator(".bar button[value='sum']")
    assert "Sum answers record" in one.says_after(button)
    one.expect_in_link(writing="sum")
    assert one.page.evaluate(MEMORY)["side"] == side, "it does not grow"
    one.hero.locator(".bar button[value='softmax']").click()
    one.expect_in_link(writing="softmax")
    one.expect_said("Attention stores all 12 rows, 192 numbers")
    assert one.page.evaluate(MEMORY)["stored"] == 24
    one.back()
    one.expect_in_link(writing="sum")

    one.turn("growing_memory")
    slider = one.hero.locator(".film input")
    slider.fill("6")
    one.expect_said("It answers record (0.87), which is right")
    one.expect_in_link(pairs="6")
    slider.fill("0")
    one.expect_said("all 64 numbers of the memory are 0")
    slider.fill("12")
    one.hero.locator(".words button").nth(3).click()
    one.expect_said("what came after record")
    one.expect_in_link(question="3")

    one.turn("growing_memory", pairs="11")
    one.hero.locator(".play").click()
    expect(one.hero.locator(".film output")).to_have_text("12 of 12")
    one.press("Keys at right angles")
    one.expect_said("It answers record (1.00), which is right")
    one.press("Keys at right angles")
    one.expect_said("Overwriting answers a")
    one.hero.locator(".state-grid").hover(position={"x": 5, "y": 5})
    expect(one.hero.locator(".state-note")).to_contain_text("row 1, column 1:")


def test_choosing(story):
    one = story("choosing")
    canvas, names = one.hero.locator(".reading-canvas"), one.hero.locator("button.reading-name")
    shares = one.hero.locator(".reading-share")
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] * 300.5 / 512, "y": 90})
    one.expect_in_link(query_token="300")
    one.expect_said("token 301")
    canvas.press("ArrowLeft")
    one.expect_in_link(query_token="299")
    one.expect_said("token 300")
    one.back()
    one.expect_in_link(query_token="300")
    one.page.get_by_role("slider", name="keys kept").press("ArrowLeft")
    one.expect_in_link(keys_kept="48")
    names.nth(3).click()
    one.expect_said("The last 48 keys hold", shares.nth(3).inner_text())
    one.expect_in_link(kept_by="window")
    one.press("Repeat the text")
    one.expect_in_link(read_text="twice")

    one.turn("choosing", size=PHONE)
    expect(names).to_have_count(4)
    for line in range(4):
        name, share = names.nth(line).bounding_box(), shares.nth(line).bounding_box()
        assert name["x"] + name["width"] < share["x"]


IDLE = """() => {
  const hero = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .map((host) => host.shadowRoot.querySelector('.hero.idle')).find(Boolean);
  const parts = [...hero.querySelectorAll('.stage > .idle-part')].slice(5)
    .map((part) => parseFloat(part.style.width));
  const all = parts.reduce((sum, part) => sum + part);
  return parts.map((part) => Math.round((100 * part) / all));
}"""
"""The bar of the idle letters in percent: useful, first, itself, nowhere, elsewhere."""


def test_idle_heads(story):
    one = story("idle_heads")

    def toggle(name):
        return one.hero.get_by_role("switch", name=name)

    def told():
        return int(re.sub(r"\D", "", one.says.locator("strong").last.inner_text()))

    one.expect_said("of their weight goes to ⟨s⟩")
    assert abs(one.page.evaluate(IDLE)[1] - told()) <= 1
    assert "scattered over other letters" in one.says_after(toggle("first token"))
    assert abs(one.page.evaluate(IDLE)[4] - told()) <= 1
    toggle("learned sink").click()
    one.expect_said("falls into the sink")
    assert abs(one.page.evaluate(IDLE)[3] - told()) <= 1
    expect(one.hero.locator(".idle-key .name", has_text="nowhere")).to_be_visible()
    one.expect_in_link(given="sink")
    one.hero.get_by_role("radio").nth(9).click()
    one.expect_said("is idle")
    one.expect_in_link(letter="8")
    one.turn("idle_heads", given="gate")
    one.expect_said("open")
    gates = [text for text in one.hero.locator(".idle-gate").all_inner_texts() if text]
    assert len(gates) == 2

    one.turn("idle_heads")
    train = one.hero.get_by_role("button", name="Train it now")
    train.click()
    one.hero.get_by_role("button", name="Cancel").click()
    expect(train).to_be_visible()
    one.expect_said("of their weight goes to ⟨s⟩")


RED = """() => {
  const root = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')]
    .map((host) => host.shadowRoot).find((root) => root.querySelector('.serving'));
  const canvas = root.querySelector('.serving-grids canvas');
  if (!canvas?.width) return 0;
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const red = getComputedStyle(root.querySelector('.hero')).getPropertyValue('--wrong');
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(red.slice(at, at + 2), 16));
  let count = 0;
  for (let at = 0; at < data.length; at += 4)
    count += data[at] === r && data[at + 1] === g && data[at + 2] === b;
  return count / (data.length / 4);
}"""
"""How much of the squares has the colour of what another row has."""


def test_serving(story):
    one = story("serving")
    one.page.wait_for_function(f"() => ({RED})() > 0", polling=100)
    red = one.page.evaluate(RED)
    one.page.locator("button.serving-token").nth(3).click()
    one.expect_said("helpful becomes useful")
    one.page.wait_for_function(f"() => ({RED})() > {red + 0.3}", polling=100)
    one.expect_in_link(changed="3")
    one.back()
    one.expect_said("whole blocks of 4")

    one.radio("pages").click()
    slider = one.page.get_by_role("slider", name="step")
    shared = one.page.locator(".serving-page.shared")
    slider.fill("1")
    expect(shared).not_to_have_count(0)
    slider.fill("4")
    expect(shared).to_have_count(0)
    one.radio("chunks").click()
    passes = one.page.locator(".serving-passes .pass")
    expect(passes).not_to_have_count(0)
    few = passes.count()
    one.radio("4").click()
    expect(passes).not_to_have_count(few)
    one.expect_said(f"{passes.count()} passes")
    one.expect_in_link(chunk_size="4", trick="chunks")
    one.radio("drafts").click()
    expect(one.page.locator(".serving-draft.right b")).not_to_have_count(0)
    wrong = one.page.locator(".serving-draft.wrong span")
    expect(wrong).to_have_count(0)
    one.radio("positions counted on").click()
    expect(wrong).not_to_have_count(0)
