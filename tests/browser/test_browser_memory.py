"""The cache calculator in a browser: search, typed numbers, pasted files, links."""

import json

from playwright.sync_api import expect

from explainers.memory.cache_bytes import count_cache_bytes
from explainers.memory.model_shapes import find_shape
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


def test_a_square_of_the_map_is_clicked(visit):
    one = visit(PATH)
    expect(one.says).to_contain_text("16.00 GiB")
    one.page.get_by_role("gridcell", name="8 × 8k: 8.00 GiB, fits", exact=True).click()
    expect(one.says).to_contain_text("8 texts of 8,192 tokens take 8.00 GiB")
    one.wait_for_choice("texts", "8")
    one.wait_for_choice("tokens", "8,192")
    expect(one.page.get_by_text(bytes_of("llama-3.1-8b", 8_192, 8))).to_be_visible()
    one.page.get_by_role("gridcell", selected=True).press("ArrowUp")
    expect(one.says).to_contain_text("4 texts of 8,192 tokens take 4.00 GiB")


def test_a_model_is_searched_and_stands_in_the_link(visit):
    one = visit(PATH)
    choose(one, controls.model, "llama-3.1-70")
    one.wait_for_choice("model", "llama-3.1-70b")
    expect(one.page.get_by_text(bytes_of("llama-3.1-70b", 131_072))).to_be_visible()


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
    one.page.get_by_role("button", name="Remove llama-2-7b").or_(
        one.page.locator("[data-testid=stMultiSelect] [data-baseweb=tag]").first.get_by_role(
            "button"
        )
    ).first.click()
    one.redrawn(drawn)
    assert "compared=llama-3.1-8b" in one.page.url
    assert "compared=llama-2-7b" not in one.page.url
    again = visit(PATH)
    again.follow_raw(one.page.url.removeprefix(f"{again.address}/")).ready()
    assert again.drawn() == one.drawn()


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
    expect(one.page.locator('.vega-embed[aria-label*="What each layer holds"]')).to_be_visible()
    expect(one.page.get_by_text("96.1 %")).to_have_count(0)
    one.page.get_by_role("button", name="hidden number, show").click()
    expect(one.page.get_by_text("96.1 %")).to_be_visible()


def test_a_reset_holds_after_the_menu_was_open(visit):
    """What the closed menu had shown is not chosen again by the next click."""
    one = visit(PATH)
    press(one, "Take a model with latents")
    one.wait_for_choice("gpus", "8")
    more = one.ready().page.get_by_role("button", name="More")
    more.click()
    expect(one.page.get_by_role("radio", name="16", exact=True)).to_be_visible()
    one.page.keyboard.press("Escape")
    one.ready()
    one.page.locator(".hero").get_by_role("button", name="Reset").click()
    one.wait_for_choice("gpus", None)
    one.ready().page.get_by_role("gridcell", name="8 × 8k: 8.00 GiB, fits", exact=True).click()
    one.wait_for_choice("texts", "8")
    one.ready()
    assert "gpus" not in one.choices
    expect(one.says).to_contain_text("1 × NVIDIA H100")
    more.click()
    chosen = one.ready().page.get_by_role("radio", name="8", exact=True)
    chosen.click()
    one.wait_for_choice("gpus", "8")
    expect(one.says).to_contain_text("8 × NVIDIA H100")


def test_an_experiment_begins_from_its_own_settings_on_a_second_visit(visit):
    one = visit(PATH)
    press(one, "Take a model with windows")
    one.wait_for_choice("model", "gemma-3-27b")
    one.ready().page.get_by_role("link", name="Shared keys and values").click()
    expect(one.page.get_by_role("heading", level=1)).to_have_text("Shared keys and values")
    one.ready().page.get_by_role("link", name="Cache calculator").click()
    expect(one.says).to_contain_text("gemma-3-27b")
    press(one.ready(), "Serve many readers")
    expect(one.says).to_contain_text("weights of llama-3.1-8b")
    one.wait_for_choice("texts", "64")
    press(one.ready(), "Take a model with windows")
    expect(one.says).to_contain_text("gemma-3-27b")
    one.wait_for_choice("model", "gemma-3-27b")
    expect(one.says).to_contain_text("One text of 131,072 tokens")


def press(visit, experiment):
    visit.page.locator(".hero").get_by_role("button", name=experiment, exact=True).click()
