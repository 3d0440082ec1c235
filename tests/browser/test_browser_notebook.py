"""A picture of all heads in a file of its own, opened without a network."""

import re

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from explainers.notebook.look import look_at_weights, make_look
from tests.notebook.test_look import TEXT, eager_weights
from tests.support.tiny_families import tiny
from tests.support.tiny_tokenizer import tokenizer_of

HOSTILE = "</script><script>hacked=1</script> <img/src=x/onerror=hacked=1> {{key}} {query} <b>w</b>"


@pytest.fixture
def quiet_page(quiet_page):
    """It may load nothing but files."""
    quiet_page.context.set_offline(True)
    return quiet_page


def open_picture(page, folder, picture):
    file = picture.save(folder / "heads.html")
    page.goto(file.as_uri())
    page.locator(".look.painted").wait_for()
    assert page.asked == [file.as_uri()]
    assert page.faults == []


def read_choice(page):
    layer, head = map(int, re.findall(r"\d+", page.locator("h2").inner_text()))
    return layer, head, int(page.locator("canvas.matrix").get_attribute("aria-valuenow"))


FITS = """() => new Promise((done) => {
  const look = () => document.documentElement.scrollWidth <= innerWidth
    ? done() : requestAnimationFrame(look);
  look();
})"""
"""Waited for here, not by Playwright, which looks a second time with what a file's rules forbid."""


GREENS = """(canvas, [rows, columns, row]) => {
  const pen = canvas.getContext("2d"), y = Math.floor((row + 0.5) * canvas.height / rows);
  const x = (key) => Math.floor((key + 0.5) * canvas.width / columns);
  const read = (key) => pen.getImageData(x(key), y, 1, 1).data;
  const pixels = Array.from({ length: columns }, (_one, key) => read(key));
  return pixels.map(([_red, green, _blue, alpha]) => alpha ? green : null);
}"""
"""How green the cells of a row are: from white to #3f007d by the root of the weight."""


def test_another_head_and_row_are_chosen_in_a_file_without_a_network(quiet_page, tmp_path):
    picture = make_look(tiny("Llama"), tokenizer_of(), TEXT, names=False)
    quiet_page.emulate_media(color_scheme="light")
    open_picture(quiet_page, tmp_path, picture)
    field = quiet_page.locator(".field").bounding_box()
    quiet_page.mouse.click(field["x"] + field["width"] * 0.5, field["y"] + field["height"] * 0.9)
    assert read_choice(quiet_page)[:2] == (1, 5)
    quiet_page.locator(".field").focus()
    quiet_page.keyboard.press("ArrowRight")
    quiet_page.keyboard.press("ArrowUp")
    quiet_page.mouse.move(0, 0)
    quiet_page.locator(".token").nth(3).click()
    quiet_page.mouse.move(0, 0)
    assert read_choice(quiet_page) == (2, 4, 3)
    quiet_page.locator("canvas.matrix").focus()
    quiet_page.keyboard.press("ArrowDown")
    assert read_choice(quiet_page) == (2, 4, 4)
    row = eager_weights(tiny("Llama"))[2][4, 4]
    best, shown = int(row.argmax()), quiet_page.locator(".key-row").first.locator("> *")
    assert shown.first.text_content() == f"{TEXT.split()[best]}{best}"
    assert shown.last.text_content() == f"{round(100 * float(row[best]))}\u00a0%"
    assert quiet_page.locator(".token.masked").count() == 11 - 5
    greens = quiet_page.locator("canvas.matrix").evaluate(GREENS, [11, 11, 4])
    assert greens[:5] == pytest.approx((255 * (1 - row[:5].sqrt())).tolist(), abs=1.5)
    assert greens[5:] == [None] * 6, "what is masked is not painted"
    for width in (390, 1280):
        quiet_page.set_viewport_size({"width": width, "height": 800})
        # Nothing is cut off, once the picture has heard of its room.
        quiet_page.evaluate(FITS)


def test_text_of_a_user_runs_nowhere(quiet_page, tmp_path):
    tokenizer = tokenizer_of(HOSTILE.split())
    picture = make_look(tiny("BERT"), tokenizer, HOSTILE, names=False)
    open_picture(quiet_page, tmp_path, picture)
    assert quiet_page.evaluate("typeof hacked") == "undefined"
    assert quiet_page.locator("img, .look b").count() == 0
    assert quiet_page.locator(".token").all_inner_texts() == HOSTILE.split()


def test_two_of_them_in_a_notebook_are_painted_in_frames_that_reach_nothing(quiet_page):
    shown = [make_look(tiny(one), tokenizer_of(), TEXT, names=False) for one in ("Llama", "BERT")]
    for scheme, paper in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(15, 18, 22)")):
        quiet_page.emulate_media(color_scheme=scheme)
        quiet_page.set_content("".join(one._repr_html_() for one in shown))
        for place, name in enumerate(("LlamaForCausalLM", "BertForMaskedLM")):
            frame = quiet_page.frame_locator("iframe").nth(place)
            frame.locator(".look.painted").wait_for()
            assert frame.locator("h1").inner_text() == name
            ground = "(node) => getComputedStyle(node).backgroundColor"
            assert frame.locator(".look").evaluate(ground) == paper, scheme
            assert frame.locator("body").evaluate("() => self.origin") == "null"
    assert quiet_page.faults == []


def test_names_light_their_heads(quiet_page, tmp_path, smollm2):
    from explainers.models.shipped_measurements import read_shipped_scores

    shipped = read_shipped_scores(smollm2.name)
    assert shipped
    picture = make_look(smollm2.model, smollm2.tokenizer, "Ann met Ann", names=shipped.scores)
    open_picture(quiet_page, tmp_path, picture)
    induction = shipped.scores.select("repeated", "induction")
    quiet_page.get_by_role("button", name=re.compile("^induction ")).click()
    best = divmod(int(induction.argmax()), induction.shape[1])
    assert read_choice(quiet_page)[:2] == best


def test_a_long_text_says_what_is_in_the_file(quiet_page, tmp_path):
    numbers = torch.randint(4, 53, (300,), generator=torch.Generator().manual_seed(0)).tolist()
    model, text = tiny("Llama", max_position_embeddings=400), " ".join(f"w{n}" for n in numbers)
    picture = make_look(model, tokenizer_of(), text, names=False, layers=[1])
    open_picture(quiet_page, tmp_path, picture)
    assert read_choice(quiet_page)[0] == 1
    assert quiet_page.locator(".token").count() == 300
    assert quiet_page.locator(".text").is_visible()
    quiet_page.locator(".field").focus()
    quiet_page.keyboard.press("ArrowRight")
    assert "layers=[2]" in quiet_page.locator(".says").inner_text()
    assert not quiet_page.locator(".text").is_visible()
    quiet_page.locator("canvas.matrix").hover(position={"x": 10, "y": 300})  # where it stands still
    expect(quiet_page.locator(".readout")).to_contain_text("at most 0.")


GIVEN = np.random.default_rng(0).dirichlet(np.full(7, 0.3), (3, 6, 5))
ASKING, ASKED = list("abcde"), list("tuvwxyz")


def test_two_texts_make_a_rectangle_with_both_texts_below(quiet_page, tmp_path):
    quiet_page.emulate_media(color_scheme="light")
    open_picture(quiet_page, tmp_path, look_at_weights(GIVEN, ASKING, ASKED))
    box = quiet_page.locator("canvas.matrix").bounding_box()
    assert box["height"] / box["width"] == pytest.approx(5 / 7, abs=0.01)
    queries, keys = quiet_page.locator(".text").all()
    assert [one.locator(".token").all_inner_texts() for one in (queries, keys)] == [ASKING, ASKED]
    quiet_page.locator("canvas.matrix").click(position={"x": 5, "y": box["height"] * 0.7})
    quiet_page.mouse.move(0, 0)
    layer, head, query = read_choice(quiet_page)
    assert query == 3
    row = GIVEN[layer, head, query]
    assert quiet_page.locator(".says .key").inner_text() == ASKED[int(row.argmax())]
    greens = quiet_page.locator("canvas.matrix").evaluate(GREENS, [5, 7, query])
    assert greens == pytest.approx(255 * (1 - row**0.5), abs=1.5)


def test_rows_are_averaged_or_added_up_and_it_is_said_which(quiet_page, tmp_path):
    open_picture(quiet_page, tmp_path, look_at_weights(GIVEN, ASKING, ASKED))
    tokens = quiet_page.locator(".text").first.locator(".token")
    tokens.nth(1).click()
    tokens.nth(3).click(modifiers=["ControlOrMeta"])
    quiet_page.mouse.move(0, 0)
    layer, head, _query = read_choice(quiet_page)
    sent = (np.rint(255 * GIVEN[layer, head, [1, 3]] ** 0.5) / 255) ** 2
    mean = sent.mean(axis=0)
    shown, says = quiet_page.locator(".key-share").first, quiet_page.locator(".says")
    expect(shown).to_have_text(f"{round(100 * mean.max())}\u00a0%")
    expect(says).to_contain_text("The mean of the rows of 2 queries (b d)")
    quiet_page.get_by_role("button", name="Add the rows up").click()
    expect(shown).to_have_text(f"{round(200 * mean.max())}\u00a0%")
    expect(says).to_contain_text("added up (b d)")
    assert quiet_page.locator(".row-frame").count() == 2
    quiet_page.locator("canvas.matrix").focus()
    quiet_page.keyboard.press("Shift+ArrowDown")
    expect(says).to_contain_text("3 queries added up (b d e)")
    assert quiet_page.locator(".row-frame").count() == 2, "neighbours have one frame"
    tokens.nth(0).click()
    expect(says).to_contain_text("a gives")


def test_words_that_are_marked_are_asked_together(quiet_page, tmp_path):
    open_picture(quiet_page, tmp_path, look_at_weights(GIVEN, ASKING, ASKED))
    first, last = (
        quiet_page.locator(".text").first.locator(".token").nth(place).bounding_box()
        for place in (1, 3)
    )
    quiet_page.mouse.move(first["x"] + 1, first["y"] + 8)
    quiet_page.mouse.down()
    quiet_page.mouse.move(last["x"] + last["width"] - 1, last["y"] + 8, steps=5)
    quiet_page.mouse.up()
    quiet_page.mouse.move(0, 0)
    expect(quiet_page.locator(".says")).to_contain_text("3 queries (b c d)")


def test_parts_of_a_text_are_seen_by_themselves_and_heads_kept(quiet_page, tmp_path):
    picture = make_look(tiny("Llama"), tokenizer_of(), TEXT, names=False, answer="w7 w9 w8")
    open_picture(quiet_page, tmp_path, picture)
    views = quiet_page.locator(".one .roles button").all_inner_texts()
    assert views[1:] == ["prompt → prompt", "answer → prompt", "answer → answer"], "it is causal"
    assert quiet_page.locator(".text .part").all_inner_texts() == ["prompt", "answer"]
    border = quiet_page.locator(".borders .left")
    assert border.get_attribute("style").startswith(f"left: {100 * 11 / 14:.3f}")
    quiet_page.get_by_role("button", name="answer → prompt").click()
    assert quiet_page.locator(".of-row").all_inner_texts() == ["w7", "w9", "w8"]
    assert border.count() == 0
    keep = quiet_page.get_by_role("button", name="Keep this head beside others")
    keep.click()
    first = quiet_page.locator("h2").inner_text()
    quiet_page.locator(".field").focus()
    quiet_page.keyboard.press("ArrowDown" if first.endswith("0") else "ArrowUp")
    keep.click()
    second = quiet_page.locator("h2").inner_text()
    kept = quiet_page.locator(".kept button")
    assert [one.split("\n")[0] for one in kept.all_inner_texts()] == [first, second]
    kept.first.click()
    expect(quiet_page.locator("h2")).to_have_text(first)
    keep.click()
    expect(kept).to_have_count(1)


@pytest.mark.parametrize("kind", ["file", "notebook", "without frames"])
def test_without_scripts_there_is_a_still(kind, browser, tmp_path):
    """In the file, in a frame of a notebook, and where a viewer has taken frames and styles out."""
    picture = look_at_weights(GIVEN, ASKING, ASKED)
    html = picture.page if kind == "file" else picture._repr_html_()
    if kind == "without frames":
        html = re.sub("<iframe.*</iframe>", "", re.sub(' style="[^"]*"', "", html), flags=re.DOTALL)
    file = tmp_path / "still.html"
    file.write_text(html, encoding="utf-8")
    with browser.new_context(java_script_enabled=False, offline=True) as visitor:
        page = visitor.new_page()
        page.goto(file.as_uri())
        seen = page.frame_locator("iframe") if kind == "notebook" else page
        image = seen.locator("img").first
        expect(image).to_be_visible()
        box = image.bounding_box()
        assert box["width"] > 300
        assert box["height"] > 200
        assert image.get_attribute("alt") == picture.summary


@pytest.mark.parametrize("viewer", ["Jupyter", "marimo"])
def test_a_frame_hides_the_still_and_fills_its_room(viewer, quiet_page):
    html = look_at_weights(GIVEN, ASKING, ASKED)._repr_html_()
    if viewer == "marimo":  # it makes each frame anew, in an element of its own
        html = html.replace("<iframe", "<div><iframe").replace("</iframe>", "</iframe></div>")
    quiet_page.set_content(html)
    quiet_page.frame_locator("iframe").locator(".look.painted").wait_for()
    frame = quiet_page.locator("iframe").bounding_box()
    assert frame["width"] > 1200
    hit = "({ left, top }) => document.elementFromPoint(left + 5, top + 5).localName"
    image = quiet_page.locator("img").bounding_box()
    assert quiet_page.evaluate(hit, {"left": image["x"], "top": image["y"]}) == "iframe"
    assert image["y"] + image["height"] <= frame["y"] + frame["height"]
