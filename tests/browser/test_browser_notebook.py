"""A picture of all heads in a file of its own, opened without a network."""

import re

import pytest
import torch
from playwright.sync_api import expect

from explainers.notebook.look import make_look, report
from tests.support.tiny_families import tiny
from tests.support.tiny_tokenizer import tokenizer_of

TEXT = "w7 w9 w8 w7 w9 w30 w12 w7 w9 w8 w40"
HOSTILE = "</script><script>hacked=1</script> <img/src=x/onerror=hacked=1> {{key}} {query} <b>w</b>"


@pytest.fixture(scope="module")
def without_network(browser):
    """A browser that has no network."""
    with browser.new_context(viewport={"width": 1280, "height": 800}, offline=True) as visitor:
        yield visitor


@pytest.fixture
def quiet_page(without_network):
    """A page that may load nothing but files; `asked` is what it tried, `errors` what it said."""
    page = without_network.new_page()
    page.asked, page.errors = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda told: page.errors.append(told.text))
    yield page
    page.close()


def open_report(page, file):
    page.goto(file.as_uri())
    page.locator(".look.painted").wait_for()
    assert page.asked == [file.as_uri()]
    assert page.errors == []


def weights_of(model):
    model.set_attn_implementation("eager")
    ids = torch.tensor([tokenizer_of()(TEXT)["input_ids"]])
    with torch.no_grad():
        return [layer[0] for layer in model(input_ids=ids, output_attentions=True).attentions]


def read_choice(page):
    layer, head = map(int, re.findall(r"\d+", page.locator("h2").inner_text()))
    return layer, head, int(page.locator("canvas.matrix").get_attribute("aria-valuenow"))


FITS = """() => new Promise((done) => {
  const look = () => document.documentElement.scrollWidth <= innerWidth
    ? done() : requestAnimationFrame(look);
  look();
})"""
"""Waited for here, not by Playwright, which looks a second time with what a file's rules forbid."""


def test_another_head_and_row_are_chosen_in_a_file_without_a_network(quiet_page, tmp_path):
    file = report(tiny("Llama"), tokenizer_of(), TEXT, tmp_path / "heads.html", names=False)
    open_report(quiet_page, file)
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
    row = weights_of(tiny("Llama"))[2][4, 4]
    best, shown = int(row.argmax()), quiet_page.locator(".key-row").first.locator("> *")
    assert shown.first.text_content() == f"{TEXT.split()[best]}{best}"
    assert shown.last.text_content() == f"{round(100 * float(row[best]))}\u00a0%"
    assert quiet_page.locator(".token.masked").count() == 11 - 5
    for width in (390, 1280):
        quiet_page.set_viewport_size({"width": width, "height": 800})
        # Nothing is cut off, once the picture has heard of its room.
        quiet_page.evaluate(FITS)


PIXELS = """(canvas, [query, count]) => {
  const pen = canvas.getContext("2d"), cell = canvas.width / count;
  const at = (place) => Math.floor((place + 0.5) * cell);
  const pixel = (key) => [...pen.getImageData(at(key), at(query), 1, 1).data];
  return Array.from({ length: count }, (_one, key) => pixel(key));
}"""
"""The colours of a query's cells."""


def test_the_colour_of_a_cell_is_its_weight(quiet_page, tmp_path):
    file = report(tiny("GPT-2"), tokenizer_of(), TEXT, tmp_path / "heads.html", names=False)
    quiet_page.emulate_media(color_scheme="light")
    open_report(quiet_page, file)
    layer, head, query = read_choice(quiet_page)
    row = weights_of(tiny("GPT-2"))[layer][head, query]
    painted = quiet_page.locator("canvas.matrix").evaluate(PIXELS, [query, 11])
    for key, (_red, green, _blue, alpha) in enumerate(painted):
        if key > query:
            assert alpha == 0
        else:  # from white to #3f007d by the root of the weight
            assert green == pytest.approx(255 * (1 - float(row[key]) ** 0.5), abs=1.5)


def test_text_of_a_user_runs_nowhere(quiet_page, tmp_path):
    tokenizer = tokenizer_of(HOSTILE.split())
    file = report(tiny("BERT"), tokenizer, HOSTILE, tmp_path / "heads.html", names=False)
    open_report(quiet_page, file)
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
    assert quiet_page.errors == []


def test_names_light_their_heads(quiet_page, tmp_path, smollm2):
    from explainers.models.shipped_scores import read_shipped_scores

    shipped = read_shipped_scores(smollm2.name)
    assert shipped
    file = tmp_path / "heads.html"
    report(smollm2.model, smollm2.tokenizer, "Ann met Ann", file, names=shipped.scores)
    open_report(quiet_page, file)
    induction = shipped.scores.select("repeated", "induction")
    quiet_page.get_by_role("button", name=re.compile("^induction ")).click()
    best = divmod(int(induction.argmax()), induction.shape[1])
    assert read_choice(quiet_page)[:2] == best


def test_a_long_text_says_what_is_in_the_file(quiet_page, tmp_path):
    numbers = torch.randint(4, 53, (300,), generator=torch.Generator().manual_seed(0)).tolist()
    model, text = tiny("Llama", max_position_embeddings=400), " ".join(f"w{n}" for n in numbers)
    file = report(model, tokenizer_of(), text, tmp_path / "heads.html", names=False, layers=[1])
    open_report(quiet_page, file)
    assert read_choice(quiet_page)[0] == 1
    assert quiet_page.locator(".token").count() == 300
    assert quiet_page.locator(".text").is_visible()
    quiet_page.locator(".field").focus()
    quiet_page.keyboard.press("ArrowRight")
    assert "layers=[2]" in quiet_page.locator(".says").inner_text()
    assert not quiet_page.locator(".text").is_visible()
    quiet_page.locator("canvas.matrix").hover(position={"x": 10, "y": 300})  # where it stands still
    expect(quiet_page.locator(".readout")).to_contain_text("at most 0.")
