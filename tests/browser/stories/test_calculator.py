"""The cache calculator: a point is dragged, models are searched, files are pasted."""

import re

from playwright.sync_api import expect

HOLD = """() => {
  const { send } = WebSocket.prototype, held = [];
  WebSocket.prototype.send = function (...said) { held.push(() => send.apply(this, said)); };
  window.release = () => {
    WebSocket.prototype.send = send;
    for (const say of held) say();
  };
}"""
"""What the browser says to the page is held back, until it is released."""


def listed(one, name):
    return one.page.get_by_role("combobox", name=name, exact=True)


def choose(one, name, typed):
    box = listed(one, name)
    box.click()
    box.fill(typed)
    box.press("Enter")


def test_cache_calculator(story):
    one = story("cache_memory")
    point, mouse = one.hero.locator(".memory-point"), one.page.mouse
    point.press("ArrowUp")
    one.expect_said("2 texts of 131,072 tokens take 32.00 GiB")
    area, at = one.hero.locator(".memory-map").bounding_box(), point.bounding_box()
    mouse.move(at["x"] + 11, at["y"] + 11)
    mouse.down()
    mouse.move(area["x"] + 2, area["y"] + area["height"] - 2, steps=4)
    one.expect_said("One text of 256 tokens takes 32.00 MiB")
    mouse.move(area["x"] + 4000, area["y"] - 500, steps=2)
    one.expect_said("1,024 texts of 1,048,576 tokens take 128.00 TiB")
    mouse.up()
    one.expect_in_link(texts="1,024", tokens="1,048,576")


def test_models_are_drawn_before_the_page_has_heard_of_them(story):
    """What was drawn ahead is what the page draws then; cards follow."""
    one = story("cache_memory", deep="gpus")
    sheet = one.page.locator(".figure .sheet")
    one.page.evaluate(HOLD)
    choose(one, "Model (type to search)", "gemma-3-27b")
    one.expect_said("10.41 GiB")
    drawn = one.drawn()
    assert "model" not in one.choices
    one.page.evaluate("release()")
    one.expect_in_link(model="gemma-3-27b")
    assert one.drawn() == drawn

    one.page.evaluate(HOLD)
    box = listed(one, "Up to six models")
    box.fill("opt-13b")
    box.press("Enter")
    expect(sheet).to_have_attribute("aria-valuetext", re.compile("opt-13b"))
    drawn = one.drawn()
    assert "compared" not in one.choices
    one.page.evaluate("release()")
    one.page.wait_for_function("() => location.search.includes('compared=opt-13b')")
    assert one.ready().drawn() == drawn

    choose(one, "GPU", "h200")
    expect(sheet).to_contain_text("memory of 1 × NVIDIA H200: 140.40 GiB")
    before = sheet.get_attribute("aria-valuetext")
    sheet.press("ArrowLeft")
    expect(sheet).not_to_have_attribute("aria-valuetext", before)


def test_names_are_chosen_with_keys_alone_and_no_more_than_six(story):
    one = story("cache_memory")
    box, page = listed(one, "Up to six models"), one.page
    for name in ("bert", "nonsense"):  # one that keeps no cache is not offered either
        box.fill(name)
        expect(page.get_by_text("no such name").filter(visible=True)).to_be_visible()
        box.press("Enter")
    box.press("Escape")
    box.fill("gpt-oss")  # what is chosen is not offered again
    box.press("Enter")
    one.ready()
    box.fill("gpt2")
    expect(page.get_by_text("6 at the most: take one away first")).to_be_visible()
    for key in ("Enter", "Escape", "Backspace", "Backspace"):
        box.press(key)
    box.fill("2 GPT")
    box.press("ArrowDown")
    box.press("Enter")
    names = ["llama-2-7b", "llama-3.1-8b", "gemma-3-27b", "gpt-oss-20b", "gpt2-medium"]
    told = "&".join(f"compared={name}" for name in names)
    page.wait_for_function("(told) => location.search.includes(told)", arg=told)
    one.ready()
    page.get_by_role("button", name="Remove llama-2-7b").click()
    page.wait_for_function("() => !location.search.includes('llama-2-7b')")
    one.ready()

    box = listed(one, "Model (type to search)")
    box.click()
    box.fill("kimi")
    option = page.get_by_role("option", name="kimi-linear-48b-a3b")
    width, height = page.viewport_size["width"], page.viewport_size["height"]
    page.set_viewport_size({"width": width, "height": height // 2})  # a phone opens its keyboard
    page.mouse.wheel(0, 60)
    expect(option).to_be_visible()
    assert 0 < option.bounding_box()["y"] - box.bounding_box()["y"] < 200
    option.click()
    one.expect_in_link(model="kimi-linear-48b-a3b")
    expect(option).to_be_hidden()


def test_a_reset_holds_after_the_menu_was_open(visit):
    """What the closed menu had shown is not chosen again by the next click."""
    one = visit("cache_memory", is_still=True, gpus="8")
    more = one.page.get_by_role("button", name="More")
    one.after_run(more.click)
    expect(one.page.get_by_test_id("stPopoverBody").get_by_role("radio", name="16")).to_be_visible()
    one.after_run(lambda: one.page.keyboard.press("Escape"))
    one.hero.get_by_role("button", name="Take a model with windows", exact=True).click()
    one.wait_for_choice("gpus", None)
    one.ready()
    card = one.page.locator(".st-key-go-deeper summary").first
    one.after_run(lambda: card.evaluate("(summary) => summary.click()"))
    one.expect_in_link(gpus=None, model="gemma-3-27b")
    one.page.get_by_text("Settings").first.click()
    one.after_run(lambda: one.page.get_by_role("slider", name="Seed").press("ArrowRight"))
    one.expect_in_link(gpus=None, model="gemma-3-27b", seed="1")
    expect(one.hero.get_by_role("radio", name="1", exact=True)).to_have_attribute(
        "aria-checked", "true"
    )
