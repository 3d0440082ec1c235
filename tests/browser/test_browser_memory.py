"""The cache calculator in a browser: search, typed numbers, pasted files, links."""

import json
import re

from playwright.sync_api import expect

from explainers.memory.cache_bytes import count_cache_bytes
from explainers.memory.capacity_plan import find_limit
from explainers.memory.model_shapes import find_shape
from explainers.memory.serving import Deployment, read_gpus
from explainers.memory.speed import estimate_tokens_per_second
from explainers.ui.controls import controls

PATH = "cache_memory"
CONFIG = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 32,
}


def bytes_of(model, tokens, texts=1):
    return f"{count_cache_bytes(find_shape(model), tokens, texts):,} bytes for "


def listed(visit, control):
    return visit.page.get_by_role("combobox", name=control.label, exact=True)


def choose(visit, control, typed):
    box = listed(visit, control)
    box.click()
    box.fill(typed)
    box.press("Enter")


def test_the_point_is_dragged_and_walked(visit):
    one = visit(PATH)
    expect(one.says).to_contain_text("16.00 GiB")
    point = one.page.locator(".hero .memory-point")
    expect(point).to_have_attribute("aria-label", "1 × 128k: 16.00 GiB, fits")
    for name in ("fits on 1 GPU", "too much for 16 GPUs", "8 · 16"):  # 8 KV heads: no room gained
        expect(one.page.locator(".hero .memory-mark", has_text=name)).to_have_css("opacity", "1")
    point.press("ArrowUp")
    expect(one.says).to_contain_text("2 texts of 131,072 tokens take 32.00 GiB")
    map_box, at = one.page.locator(".hero .memory-map").bounding_box(), point.bounding_box()
    one.page.mouse.move(at["x"] + 11, at["y"] + 11)
    one.page.mouse.down()
    one.page.mouse.move(map_box["x"] + 2, map_box["y"] + map_box["height"] - 2, steps=4)
    expect(one.says).to_contain_text("One text of 256 tokens takes 32.00 MiB")
    one.page.mouse.move(map_box["x"] + 4000, map_box["y"] - 500, steps=2)
    expect(one.says).to_contain_text("1,024 texts of 1,048,576 tokens take 128.00 TiB")
    expect(one.says).to_contain_text("Not even 16 × NVIDIA H100 SXM would hold all of it.")
    one.page.mouse.up()
    one.wait_for_choice("texts", "1,024")
    one.wait_for_choice("tokens", "1,048,576")
    expect(one.page.get_by_text(bytes_of("llama-3.1-8b", 2**20, 1_024))).to_be_visible()


def test_what_limits_is_said_with_its_numbers(visit):
    """The browser multiplies; the calculators say the same."""
    one = visit(PATH, texts="40", tokens="32,768", gpus="4")
    served = Deployment(find_shape("llama-3.1-8b"), read_gpus()["h100"], 4, block=16)
    for key, tokens, texts in [(None, 32_768, 40), ("ArrowRight", 49_152, 40)]:
        if key:
            one.page.locator(".hero .memory-point").press(key)
        limit = find_limit(served, tokens, texts)
        says = f"reads memory for {three(1000 * limit.reading)} ms and computes for"
        expect(one.says).to_contain_text(f"{says} {three(1000 * limit.computing)} ms.")
        speed = three(estimate_tokens_per_second(served, tokens, texts))
        expect(one.says).to_contain_text(f"at most {speed} tokens a second")
    expect(one.page.locator(".hero .memory-limit-title")).to_have_text("Bandwidth limits here")
    one.page.get_by_role("radio", name="2", exact=True).click()
    expect(one.page.locator(".hero .memory-limit-title")).to_have_text("Memory limits here")
    expect(one.says).to_contain_text("4 × NVIDIA H100 SXM would hold all of it.")
    one.wait_for_choice("gpus", "2")


def three(number):
    return f"{float(f'{float(number):.3g}'):,.10g}"


def test_a_model_is_searched_and_stands_in_the_link(visit):
    one = visit(PATH)
    choose(one, controls.model, "llama-3.1-70")
    one.wait_for_choice("model", "llama-3.1-70b")
    expect(one.page.get_by_text(bytes_of("llama-3.1-70b", 131_072))).to_be_visible()


HOLD = """() => {
  const { send } = WebSocket.prototype, held = [];
  WebSocket.prototype.send = function (...said) { held.push(() => send.apply(this, said)); };
  window.release = () => {
    WebSocket.prototype.send = send;
    for (const say of held) say();
  };
}"""
"""What the browser says to the page is held back, until it is released."""


def test_models_are_drawn_before_the_page_has_heard_of_them(visit):
    """What was drawn ahead is what the page draws then."""
    one, sheet = visit(PATH), ".figure .sheet"
    one.page.evaluate(HOLD)
    choose(one, controls.model, "gemma-3-27b")
    expect(one.says).to_contain_text("10.41 GiB")
    drawn = one.drawn()
    assert "model" not in one.choices
    one.page.evaluate("release()")
    one.wait_for_choice("model", "gemma-3-27b")
    assert one.ready().drawn() == drawn

    one.page.evaluate(HOLD)
    box = listed(one, controls.compared_models)
    box.fill("opt-13b")
    box.press("Enter")
    expect(one.page.locator(sheet)).to_have_attribute("aria-valuetext", re.compile("opt-13b"))
    drawn = one.drawn()
    assert "compared" not in one.choices
    one.page.evaluate("release()")
    one.page.wait_for_function("() => location.search.includes('compared=opt-13b')")
    assert one.ready().drawn() == drawn


def test_any_number_of_tokens_can_be_typed(visit):
    one = visit(PATH, model="llama-3-8b")
    choose(one, controls.tokens, "33000")
    one.wait_for_choice("tokens", "33000")
    expect(one.page.get_by_text(bytes_of("llama-3-8b", 33_000))).to_be_visible()
    one.page.get_by_role("button", name="More").click()
    choose(one, controls.texts, "many")
    one.wait_for_choice("texts", "many")
    expect(one.page.get_by_text("Use a whole number from 1")).to_be_visible()
    expect(one.page.get_by_text(bytes_of("llama-3-8b", 33_000))).to_be_visible()
    assert one.choices["tokens"] == "33000"


def test_a_link_sets_everything(visit):
    link = {
        "model": "llama-3-8b",
        "tokens": "128,000",
        "texts": "4",
        "cache_dtype": "fp8",
        "counting": "vLLM",
        "gpu": "a100-80",
        "gpus": "2",
        "page_size": "32",
        "percent": "80",
        "overhead": "3",
        "deep": "serving",
    }
    one = visit(PATH, **link)
    size = count_cache_bytes(find_shape("llama-3-8b"), 128_000, 4, "fp8")
    expect(one.page.get_by_text(f"{size:,} bytes for 4 texts of 128,000 tokens")).to_be_visible()
    expect(one.page.get_by_text("2 × NVIDIA A100 SXM 80 GB: weights take")).to_be_visible()
    expect(one.page.get_by_text("in pages of 32 tokens: 4,000 for each text")).to_be_visible()
    expect(one.page.get_by_text("3,221,225,472 overhead")).to_be_visible()
    assert one.choices == {"predict": "false", **link}


def test_a_choice_of_models_follows_the_address(visit):
    one = visit(PATH)
    drawn = one.drawn()
    one.page.get_by_role("button", name="Remove llama-2-7b").click()
    one.redrawn(drawn)
    assert "compared=llama-3.1-8b" in one.page.url
    assert "compared=llama-2-7b" not in one.page.url
    again = visit(PATH)
    again.follow_raw(one.page.url.removeprefix(f"{again.address}/")).ready()
    assert again.drawn() == one.drawn()


def test_a_list_stays_at_its_field_when_a_phone_opens_its_keyboard(visit):
    one = visit(PATH)
    box = listed(one, controls.model)
    box.click()
    box.fill("kimi")
    option = one.page.get_by_role("option", name="kimi-linear-48b-a3b")
    size = one.page.viewport_size
    one.page.set_viewport_size({"width": size["width"], "height": size["height"] // 2})
    one.page.mouse.wheel(0, 60)
    expect(option).to_be_visible()
    field, item = box.bounding_box(), option.bounding_box()
    assert 0 < item["y"] - field["y"] < 200
    option.click()
    one.wait_for_choice("model", "kimi-linear-48b-a3b")
    expect(option).to_be_hidden()


def test_names_are_chosen_with_keys_alone_and_no_more_than_six(visit):
    one = visit(PATH)
    box = listed(one, controls.compared_models)
    for name in ("bert", "nonsense"):  # one that keeps no cache is not offered either
        box.fill(name)
        expect(one.page.get_by_text("no such name")).to_be_visible()
        box.press("Enter")
    box.press("Escape")
    box.fill("gpt-oss")  # what is chosen is not offered again
    box.press("Enter")
    one.ready()
    box.fill("gpt2")
    expect(one.page.get_by_text("6 at the most: take one away first")).to_be_visible()
    box.press("Enter")
    box.press("Escape")
    box.press("Backspace")
    box.press("Backspace")
    box.fill("2 GPT")
    box.press("ArrowDown")
    box.press("Enter")
    expect(one.page.locator(".figure .sheet")).to_have_attribute(
        "aria-valuetext", re.compile("gpt2-medium")
    )
    names = ["llama-2-7b", "llama-3.1-8b", "gemma-3-27b", "gpt-oss-20b", "gpt2-medium"]
    told = "&".join(f"compared={name}" for name in names)
    one.page.wait_for_function("(told) => location.search.includes(told)", arg=told)


def pasted(visit, text):
    field = visit.page.get_by_role("textbox", name="Paste a config.json")
    field.fill(text)
    field.press("Control+Enter")


def test_a_config_is_pasted_survives_another_page_and_stays_out_of_the_address(visit):
    one = visit(PATH, model=controls.CONFIG, tokens="33000")
    expect(one.page.get_by_text("Waiting for a config.json.")).to_be_visible()
    pasted(one, json.dumps(CONFIG)[:-9])
    expect(one.page.get_by_text("config.json breaks off at")).to_be_visible()
    pasted(one, json.dumps(CONFIG))
    expect(one.page.get_by_text(bytes_of("llama-3-8b", 33_000))).to_be_visible()
    assert "hidden" not in one.page.url
    one.page.get_by_role("link", name="Shared keys and values").click()
    expect(one.page.get_by_role("heading", level=1)).to_have_text("Shared keys and values")
    one.ready().page.get_by_role("link", name="Cache calculator").click()
    expect(one.page.get_by_text(bytes_of("llama-3-8b", 33_000))).to_be_visible()


def test_a_paste_of_five_megabytes_is_not_taken(visit):
    one = visit(PATH, model=controls.CONFIG, tokens="33000")
    pasted(one, json.dumps(CONFIG))
    expect(one.page.get_by_text(bytes_of("llama-3-8b", 33_000))).to_be_visible()
    pasted(one, json.dumps({"a": "x" * 5_000_000}))
    field = one.ready().page.get_by_role("textbox", name="Paste a config.json")
    expect(field).to_have_value(json.dumps(CONFIG))
    expect(one.page.get_by_text(bytes_of("llama-3-8b", 33_000))).to_be_visible()
    assert one.choices["tokens"] == "33000"


def test_a_file_is_uploaded(visit):
    one = visit(PATH, model=controls.CONFIG, tokens="33000")
    chosen = {"name": "config.json", "mimeType": "application/json"}
    field = one.page.locator("input[type=file]")
    field.set_input_files({**chosen, "buffer": json.dumps(CONFIG).encode()})
    expect(one.page.get_by_text(bytes_of("llama-3-8b", 33_000))).to_be_visible()


def test_the_share_of_the_layers_is_under_a_veil(visit):
    one = visit(PATH, model="gemma-3-27b", deep="layers", predict="true")
    chart = one.page.locator('.vega-embed[aria-label*="What each layer holds"]')
    veil = one.page.get_by_role("button", name="hidden number, show")
    expect(veil).to_be_visible()
    expect(chart).to_have_count(0)  # its bars would say it
    expect(one.page.get_by_text("96.1 %")).to_have_count(0)
    veil.click()
    expect(one.page.get_by_text("96.1 %").first).to_be_visible()
    expect(chart).to_be_visible()


def test_a_reset_holds_after_the_menu_was_open(visit):
    """What the closed menu had shown is not chosen again by the next click."""
    one = visit(PATH)
    press(one, "Take a model with latents")
    one.wait_for_choice("gpus", "8")
    more = one.ready().page.get_by_role("button", name="More")
    more.click()
    menu = one.page.get_by_test_id("stPopoverBody")
    expect(menu.get_by_role("radio", name="16", exact=True)).to_be_visible()
    one.page.keyboard.press("Escape")
    one.ready()
    one.page.locator(".hero").get_by_role("button", name="Reset").click()
    one.wait_for_choice("gpus", None)
    one.ready().page.locator(".hero .memory-point").press("ArrowUp")
    one.wait_for_choice("texts", "2")
    one.ready()
    assert "gpus" not in one.choices
    expect(one.says).to_contain_text("1 × NVIDIA H100")
    more.click()
    one.ready()
    menu.get_by_role("radio", name="8", exact=True).click()
    one.wait_for_choice("gpus", "8")
    expect(one.says).to_contain_text("8 × NVIDIA H100")


def test_an_experiment_begins_from_its_own_settings_on_a_second_visit(visit):
    one = visit(PATH)
    press(one, "Take a model with windows")
    one.wait_for_choice("model", "gemma-3-27b")
    one.ready().page.get_by_role("link", name="Shared keys and values").click()
    expect(one.page.get_by_role("heading", level=1)).to_have_text("Shared keys and values")
    one.ready().page.get_by_role("link", name="Cache calculator").click()
    expect(one.says).to_contain_text("10.41 GiB")
    press(one.ready(), "40 readers of 32,768 tokens")
    expect(one.says).to_contain_text("40 texts of 32,768 tokens take 160.00 GiB")
    expect(one.says).to_contain_text("4 × NVIDIA H100 SXM")
    one.wait_for_choice("texts", "40")
    press(one.ready(), "Take a model with windows")
    one.wait_for_choice("model", "gemma-3-27b")
    expect(one.says).to_contain_text("One text of 131,072 tokens")


def press(visit, experiment):
    visit.page.locator(".hero").get_by_role("button", name=experiment, exact=True).click()


def test_what_is_below_follows_the_plan(visit):
    """The picture's part runs alone; an open card and the compared models are not left behind."""
    one = visit(PATH, deep="gpus")
    card = one.page.get_by_test_id("stExpander").filter(has_text="Which GPU, and how many?")
    expect(card).to_contain_text("with llama-3.1-8b: weights in bfloat16")
    choose(one, controls.model, "gpt-oss-20b")
    expect(card).to_contain_text("with gpt-oss-20b: weights in mxfp4")
    sheet = one.page.locator(".figure .sheet")
    expect(sheet).to_contain_text("memory of 1 × NVIDIA H100 SXM: 79.65 GiB")
    choose(one, controls.gpu, "h200")
    expect(sheet).to_contain_text("memory of 1 × NVIDIA H200: 140.40 GiB")
    expect(sheet).to_have_attribute("aria-valuetext", re.compile("llama-3.1-8b 16.00 GiB"))
    sheet.press("ArrowLeft")
    expect(sheet).to_have_attribute(
        "aria-valuetext", re.compile("At 65,536 .*llama-3.1-8b 8.00 GiB")
    )
