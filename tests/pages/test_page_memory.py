"""The cache calculator: which choices reach the calculators, and what a visit keeps.

What the calculators return is proved in `tests/memory`; what the page says of it is kept.
"""

import re
import subprocess
import sys

import pytest

from explainers.chapters.cache_memory.compared_models import make_growth_table
from explainers.chapters.cache_memory.gpu_fit import judge_fit
from explainers.chapters.cache_memory.layer_names import LESSONS, SINKS_LESSON, list_lessons
from explainers.charts.matrix import Matrix
from explainers.memory.model_shapes import LAYER_KINDS, find_shape, list_model_ids
from explainers.memory.serving import (
    GIB,
    Deployment,
    explain_longest_context,
    explain_memory,
    find_weight_format,
    read_gpus,
)
from explainers.memory.speed import explain_speed
from explainers.ui.controls import controls
from explainers.ui.session import PLAN_BELOW
from tests.support.opening import ROOT, opened, widgets
from tests.support.reading import hero, panels, said

PAGE = ROOT / "pages" / "10_cache_memory.py"


def code(visit):
    return "\n".join(block.value for block in visit.main.code)


def warned(visit):
    return " ".join(warning.value for warning in visit.warning)


def test_a_model_of_ones_own_is_counted_by_hand():
    """Five layers keep a window of 100 tokens, two keep all; q8_0 has 34 bytes for 32 numbers."""
    link = {"own_layers": "7", "own_heads": "12", "own_kv_heads": "3", "own_head_dim": "96"}
    link |= {"own_local": "5", "own_window": "100", "model": controls.OWN}
    link |= {"tokens": "16,384", "texts": "4", "cache_dtype": "q8_0"}
    size = 4 * (2 * 3 * 96 * 34 // 32) * (5 * 100 + 2 * 16_384)
    assert f"= {size:,} bytes" in code(opened(PAGE, link))
    latent = {"own_kind": "a latent (MLA)", "own_latent": "20", "own_rope": "12"}
    size = 4 * 7 * (20 + 12) * 34 // 32 * 16_384
    assert f"{size:,} bytes for 4 texts" in said(opened(PAGE, link | latent))
    refused = opened(PAGE, {"model": controls.OWN, "own_heads": "10", "own_kv_heads": "4"})
    assert "10 query heads cannot share 4 KV heads" in warned(refused)


def test_every_choice_of_a_server_reaches_the_calculators():
    choices = {"gpu": "h200", "gpus": "8", "page_size": "64", "overhead": "2", "percent": "85"}
    asked = {"model": "deepseek-v3", "tokens": "33000", "texts": "3", "cache_dtype": "q8_0"}
    shown = code(opened(PAGE, asked | choices | {"deep": "serving"}))
    shape = find_shape("deepseek-v3")
    hardware = {"overhead": 2 * GIB, "percent": 85, "block": 64}
    served = Deployment(shape, read_gpus()["h200"], 8, "fp8", "q8_0", **hardware)
    memory, speed = explain_memory(served, 33_000), explain_speed(served, 33_000, 3)
    for line in (*memory, explain_longest_context(served, 3), *speed):
        assert line in shown


@pytest.mark.parametrize(
    ("model", "gpu", "texts", "more", "verdict"),
    [
        ("llama-3.1-405b", "h100", 1, {}, "weights_too_large"),
        ("llama-3-8b", "a10", 1, {"percent": 70}, "no_room"),
        ("llama-3-8b", "h100", 1, {"overhead": 70 * GIB}, "no_room"),
        ("bert-base-uncased", "h100", 1, {}, "encoder"),
        ("bert-base-uncased", "h100", 1, {"overhead": 80 * GIB}, "no_room"),
        ("llama-3-8b", "h100", 64, {}, "too_many"),
        ("llama-3-8b", "h100", 1, {}, "yes"),
    ],
)
def test_why_it_does_not_fit(model, gpu, texts, more, verdict):
    shape = find_shape(model)
    served = Deployment(shape, read_gpus()[gpu], 1, find_weight_format(shape), **more)
    assert judge_fit(served, 8_192, texts)[0] == verdict


def test_a_prefix_is_drawn_with_the_pages_that_it_takes():
    """Seven texts of 1,090 tokens in pages of 32: 31 whole pages of 1,000 tokens are common."""
    link = {"sharers": "7", "common_tokens": "1000", "own_tokens": "90", "changed_at": "64"}
    shown = opened(PAGE, link | {"page_size": "32", "deep": "prefix"})
    drawn = panels(shown, "stored 0").values()
    common, own, left = 31, 4, 1
    alone, shared, changed = (panel["values"] for panel in drawn)
    assert alone == [[0, common, 0, own]] * 4
    assert shared == [[0, common, 0, own], *[[common, 0, 0, own]] * 3]
    assert changed[1] == [left, 0, common - left, own]
    counted = (7 * (common + own), common + 7 * own, common + 7 * own + common - left)
    for panel, blocks in zip(drawn, counted, strict=True):
        assert panel["formula"].startswith(f"{blocks:,} pages in a layer")


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        (["nonsense"], list(controls.compared_models.default)),
        (["gpt2", "nonsense", "gpt2"], ["gpt2"]),
        (list(list_model_ids()), [m for m in list_model_ids() if find_shape(m).groups][:6]),
    ],
)
def test_a_link_to_models_that_cannot_be_compared(asked, shown):
    visit = opened(PAGE, {"compared": asked, "tokens": "33000"})
    assert any("compared =" in note.value for note in visit.info)
    [panel] = panels(visit, "comparison").values()
    assert panel["rows"] == shown
    assert panel["ringed"] == [[row, 6] for row in range(len(shown))]  # behind 32,768


def test_absurd_sizes_are_exact_and_drawn():
    huge: dict[str, str | list[str]] = {"texts": "1,000,000", "tokens": f"{10**9}"}
    huge |= {"model": "llama-3-8b", "cache_dtype": "float32", "compared": ["opt-175b", "gpt2"]}
    visit = opened(PAGE, huge)
    assert f"{2 * 131_072 * 10**15:,} bytes for 1,000,000 texts" in said(visit)
    [panel] = panels(visit, "comparison").values()
    size = 2 * 96 * 12_288 * 4 * 10**15
    assert size > 2**63, "more than a table of whole numbers holds"
    assert panel["values"][0][panel["columns"].index(f"{10**9}")] == size
    lines = Matrix("", "", [[size]], ["opt-175b"], ["1"], "", "", kind="lines")
    assert make_growth_table(lines, 1)["bytes"].max() == pytest.approx(size)


def test_every_kind_of_layer_has_a_page_that_explains_it():
    assert set(LESSONS) == set(LAYER_KINDS)
    assert all((ROOT / path).is_file() for path in (*LESSONS.values(), SINKS_LESSON))
    assert SINKS_LESSON in list_lessons(find_shape("gpt-oss-20b"))


def test_what_is_drawn_below_depends_on_a_model_only_if_a_card_is_open():
    drawn = []
    for link, key, value in [
        ({}, "model", "gpt2"),
        ({}, "gpu", "h200"),
        ({"deep": "gpus"}, "model", "gpt2"),
    ]:
        visit = opened(PAGE, link)
        below = visit.session_state[PLAN_BELOW]
        visit.session_state[key] = value
        visit.run()
        drawn.append(visit.session_state[PLAN_BELOW] == below)
    assert drawn == [True, False, False]


def test_parameters_are_asked_for_where_none_are_published_and_nothing_is_said_before():
    for link in ({}, {"deep": "serving"}, {"deep": "gpus"}, {"deep": "flags"}):
        visit = opened(PAGE, {"model": "glm-5", **link})
        assert not re.search(r"It fits|does not fit\.\*\*|tokens a second", said(visit))
        widgets(visit)["parameters"].set_value(5000).run()
        assert {type(plan["weights"]) for plan in hero(visit)["plans"]} == {float}
    assert "parameters" not in widgets(opened(PAGE))


def test_the_menu_costs_nothing_until_it_is_opened_and_then_has_what_the_link_says():
    link = {
        "texts": "4", "gpus": "8", "weight_dtype": "fp8", "page_size": "64", "percent": "80",
        "overhead": "3", "cache_dtype": "fp8", "counting": "vLLM", "source": "300", "beams": "5",
    }  # fmt: skip
    visit = opened(PAGE, link | {"model": "whisper-tiny"})
    assert not set(link) & set(widgets(visit)), "fields of a closed menu cost time"
    closed = said(visit)
    visit.session_state["more"] = True
    visit.run()
    shown = {key: f"{it.value}" for key, it in widgets(visit).items() if key in link}
    assert shown == link
    assert said(visit) == closed
    widgets(visit)["percent"].set_value(70)
    visit.run()
    visit.session_state["more"] = False
    assert widgets(visit.run())["percent"].value == 70, "it is not taken away again"


def test_lengths_have_the_marks_of_the_language_and_links_have_none():
    visit = opened(PAGE, {"lang": "vi", "tokens": "33.000", "model": "llama-3-8b"})
    [field] = [one for one in visit.selectbox if one.key == "tokens"]
    assert "131.072" in field.options
    assert f"{33_000 * 131_072:,}".replace(",", ".") in said(visit)
    assert visit.query_params["tokens"] in ("33,000", ["33,000"])
    assert not visit.info


def test_the_number_comes_without_torch_and_without_pandas():
    """Streamlit imports neither for text; the first picture needs pandas, and comes later."""
    code = f"""
import sys
from tests.support.opening import PAGES, opened
[page] = [page for page in PAGES if page.stem == "{PAGE.stem}"]
visit = opened(page, {{"predict": "true"}})
assert not visit.exception and any("16.00 GiB" in one.value for one in visit.main.markdown)
print(*sys.modules)
"""
    run = [sys.executable, "-c", code]
    loaded = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert not {"torch", "transformers", "altair", "pandas"} & set(loaded.split())
