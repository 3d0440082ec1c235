"""The cache calculator: every number is what explainers.memory returns."""

import json
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df as table_of

from explainers.chapters.cache_memory.choose_cache import MAX_PASTED
from explainers.chapters.cache_memory.compared_models import (
    LENGTHS,
    count_model_bytes,
    make_growth_table,
    name_origin,
)
from explainers.chapters.cache_memory.gpu_fit import find_weight_format
from explainers.chapters.cache_memory.layer_names import LESSONS, SINKS_LESSON, list_lessons
from explainers.chapters.cache_memory.published_table import (
    FIGURE_NAMES,
    describe_figure,
    round_shortest,
)
from explainers.charts.matrix import Matrix
from explainers.memory.cache_bytes import (
    count_bytes_per_token,
    count_cache_bytes,
    count_extra_bytes,
    list_group_caches,
)
from explainers.memory.cache_formula import COUNTINGS, HEADLINE, explain_counting
from explainers.memory.calculator_mistakes import list_wrong_answers
from explainers.memory.capacity_plan import find_fewest_gpus, find_limit
from explainers.memory.engines import ENGINES, count_wasted_bytes
from explainers.memory.model_shapes import (
    LAYER_KINDS,
    LayerGroup,
    ModelShape,
    find_shape,
    list_model_ids,
)
from explainers.memory.prefix_sharing import count_prefix_savings
from explainers.memory.published_figures import REASONS, read_figures
from explainers.memory.read_config import read_config
from explainers.memory.serving import (
    GIB,
    Deployment,
    count_free_bytes_per_gpu,
    count_stored_copies,
    count_text_bytes_per_gpu,
    count_users,
    explain_longest_context,
    explain_memory,
    find_longest_context,
    read_gpus,
)
from explainers.memory.serving_flags import make_command
from explainers.memory.sizes import format_both_sizes, format_size
from explainers.memory.speed import estimate_tokens_per_second, explain_speed
from explainers.models import hub_config
from explainers.models.hub import HubUnreachableError
from explainers.models.registry import READ_FOLDERS_VARIABLE, ModelError
from explainers.ui.controls import controls, page_controls
from explainers.ui.session import PLAN_BELOW
from tests.support.opening import ROOT, elements, opened, widgets
from tests.support.reading import figure as read_figure
from tests.support.reading import hero, panels, said, words_below

PAGE = ROOT / "pages" / "10_cache_memory.py"
CHOSEN = {"tokens": "33000", "texts": "3", "cache_dtype": "q8_0"}
KIMI = "kimi-linear-48b-a3b"
COUNTINGS_CARD, LAYERS, SERVING, FIGURES = (
    {"deep": name} for name in ("countings", "layers", "serving", "figures")
)
LISTED = CHOSEN | {"tokens": "16,384", "texts": "4"}
"""AppTest cannot run a page twice whose list has a value that was typed."""
LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_hidden_layers": 32,
    "head_dim": 128,
    "max_position_embeddings": 8192,
}
LATENT = {"model_type": "x", "num_attention_heads": 8, "num_hidden_layers": 5, "kv_lora_rank": 512}


def code(visit):
    return "\n".join(block.value for block in visit.main.code)


def warned(visit):
    return " ".join(warning.value for warning in visit.warning)


def chart(visit, place):
    """The rows of a chart of the page."""
    [*charts] = visit.get("vega_lite_chart")
    return table_of(charts[place].proto.data.data)


def row(name, size, ideal, chosen=""):
    times = f"{size / ideal:.2f}×"
    return f"| **{name}**{chosen}: {COUNTINGS[name]} | {format_both_sizes(size)} | {times} |"


@pytest.mark.parametrize(
    "model",
    [
        *("gpt2", "llama-3.1-8b", "falcon-7b", "gemma-3-27b", "phi-3-mini-4k", "llama-4-scout"),
        *("deepseek-v3", "deepseek-v3.2-exp", "kimi-linear-48b-a3b", "minimax-text-01"),
        *("whisper-tiny", "opus-mt-fr-en"),
    ],
)
def test_the_numbers_are_those_of_the_library(model):
    shape = find_shape(model)
    source = shape.encoder_context
    ideal = count_cache_bytes(shape, 33_000, 3, "q8_0", source_tokens=source)
    visit = opened(PAGE, {"model": model, **CHOSEN, **COUNTINGS_CARD})
    assert not visit.exception
    assert not visit.info
    text = said(visit)
    assert f"**{format_both_sizes(ideal)}, ideal minimum**" in text
    assert f"{ideal:,} bytes for 3 texts of 33,000 tokens" in text
    assert f"**Per token:** {count_bytes_per_token(shape, 'q8_0'):,} bytes" in text
    lengths = (
        count_cache_bytes(shape, n, 1, "q8_0", source_tokens=source) for n in (33_000, 33_001)
    )
    assert f"the next token of a text adds {-int.__sub__(*lengths):,} bytes" in text
    assert f"= {ideal:,} bytes" in code(visit)
    for name in COUNTINGS:
        if name in ENGINES and name != "llama.cpp":
            assert f"| **{name}**: it stores no cache in q8_0 | – | – |" in text
            continue
        size = explain_counting(shape, 33_000, name, 3, "q8_0", source).size
        chosen = " (chosen)" if name == "ideal minimum" else ""
        assert row(name, size, ideal, chosen) in text
    for other in list_wrong_answers(shape, 33_000, 3, "q8_0", source):
        amounts = f"{format_both_sizes(other.size)} | {float(other.ratio):.2f}×"
        assert f"| **{other.name}:** {other.reason} | {amounts} |" in text
    assert all(source in text for source in shape.sources)


@pytest.mark.parametrize("counting", COUNTINGS)
def test_which_number_is_shown_is_said(counting):
    visit = opened(PAGE, {"model": "gpt-oss-20b", "counting": counting, "texts": "2"})
    working = explain_counting(find_shape("gpt-oss-20b"), 131_072, counting, 2)
    size = format_both_sizes(working.size)
    assert f"**{size}, {counting}** ({COUNTINGS[counting]})" in said(visit)
    assert "\n".join(working.lines) in code(visit)


@pytest.mark.parametrize(
    ("counting", "dtype", "exists"),
    [
        ("transformers", "q8_0", False),
        ("transformers", "int4_residual", True),
        ("llama.cpp", "fp8", False),
        ("vLLM", "fp8", True),
        ("vLLM, windows off", "q4_0", False),
        (HEADLINE, "q8_0", True),
    ],
)
def test_a_cache_that_no_engine_keeps_is_said_not_to_exist(counting, dtype, exists):
    link = {"model": "llama-3-8b", "counting": counting, "cache_dtype": dtype}
    visit = opened(PAGE, link | COUNTINGS_CARD)
    assert (f"**{counting} stores no cache in {dtype}.**" in said(visit)) == (not exists)
    line = f"| **{counting}** (chosen): it stores no cache in {dtype} | – | – |"
    assert (line in said(visit)) == (not exists)


def test_round_and_binary_thousands_are_two_lengths():
    sizes = {}
    for tokens in ("128,000", "131,072", "1,000,000", "1,048,576"):
        number = int(tokens.replace(",", ""))
        sizes[tokens] = count_cache_bytes(find_shape("llama-3-8b"), number)
        for link in (tokens, str(number)):
            visit = opened(PAGE, {"model": "llama-3-8b", "tokens": link})
            assert f"{sizes[tokens]:,} bytes for 1 text of {tokens} tokens" in said(visit)
            assert not visit.info
    assert len(set(sizes.values())) == 4


def test_what_is_left_out_and_what_is_too_long_is_said():
    hybrid = said(opened(PAGE, {"model": "qwen3-next-80b-a3b", "tokens": "512000"}))
    assert "Kept besides, and not counted above: " in hybrid
    assert "512,000 tokens is more than the 262,144" in hybrid
    kimi = said(opened(PAGE, {"model": KIMI}))
    assert "**20 layers, Kimi delta attention:** their states" in kimi
    assert "Left out" not in kimi
    assert "does not generate" in said(opened(PAGE, {"model": "bert-base-uncased"}))


NEMOTRON = {
    "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
    "num_hidden_layers": 52, "hybrid_override_pattern": "M-" * 24 + "*-" * 2,
    "mamba_num_heads": 128, "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8,
}  # fmt: skip


def test_a_pasted_hybrid_is_exact_only_if_its_states_are_known():
    known = said(with_config(json.dumps(NEMOTRON | {"conv_kernel": 4})))
    assert "exact for keys and values" in known
    assert "**24 layers, Mamba-2:** their states" in known
    assert "Left out" not in known
    unknown = said(with_config(json.dumps(NEMOTRON)))
    assert "exact for " not in unknown
    assert "**not the whole cache**" in unknown
    assert "**Left out:** 24 recurrent layers: config.json lacks mamba_d_conv" in unknown


def test_nothing_is_called_exact_beside_what_is_left_out():
    known = with_config(json.dumps(NEMOTRON | {"conv_kernel": 4}))
    unknown = with_config(json.dumps(NEMOTRON))
    assert "bytes that must be kept, exact" in said(known)
    assert "bytes that must be kept, exact" not in said(unknown)
    assert "bytes that must be kept, without some layers" in said(unknown)
    assert [hero(visit)["leftOut"] for visit in (known, unknown)] == [0, 24]
    gap = ModelShape("x", (LayerGroup("full", 1, 1, 1), LayerGroup("recurrent", 2)), 1, 1)
    assert "exact" in name_origin([find_shape("gpt2")], 1, "fp8")
    assert "exact" not in name_origin([find_shape("gpt2"), gap], 1, "fp8")
    assert "some layers of x are left out" in name_origin([find_shape("gpt2"), gap], 1, "fp8")


def test_states_and_indexes_are_compared_as_well():
    shape = find_shape("qwen3-next-80b-a3b")
    size = count_cache_bytes(shape, 4_096, 2) + count_extra_bytes(shape, 4_096, 2)
    assert count_model_bytes(shape, 4_096, 2, "bfloat16") == size
    shown = said(opened(PAGE, {"compared": [shape.id], "tokens": "4096", "texts": "2"}))
    assert f"({size:,} bytes) |" in shown


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


def test_a_file_that_relies_on_its_class_is_filled_and_deepseek_v4_is_counted():
    gemma = {"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34}
    shown = said(with_config(json.dumps(gemma | {"sliding_window": 1024}), **COUNTINGS_CARD))
    size = count_cache_bytes(find_shape("gemma-3-4b"), 131_072)
    assert f"{size:,} bytes for 1 text" in shown
    assert "num\\_attention\\_heads is not in the file" in shown
    ratios = [0, 0, *[4, 128] * 20, 4]
    flash = {
        "hidden_size": 4096, "num_hidden_layers": 43, "num_attention_heads": 64, "head_dim": 512,
        "num_key_value_heads": 1, "sliding_window": 128, "index_head_dim": 128,
        "compress_ratios": ratios,
    }  # fmt: skip
    size = count_cache_bytes(find_shape("deepseek-v4-flash"), 131_072)
    assert f"{size:,} bytes for 1 text" in said(with_config(json.dumps(flash)))


def test_a_window_is_spoken_of_where_there_is_one():
    for model, windows in [("llama-3-8b", False), ("gemma-3-4b", True)]:
        assert ("while no window is full" in said(opened(PAGE, {"model": model}))) == windows
    bert = said(opened(PAGE, {"model": "bert-base-uncased"}))
    assert "**Per token:** 0 bytes; the next" in bert
    assert "0 bytes = 0 bytes" not in bert


def test_an_encoder_and_its_beams_are_counted():
    link = {"model": "whisper-tiny", "tokens": "448", "source": "300", "beams": "5"}
    shape = find_shape("whisper-tiny")
    size = count_cache_bytes(shape, 448, 1, source_tokens=300, beams=5)
    visit = opened(PAGE, link)
    text = said(visit)
    assert f"{size:,} bytes for 1 text" in text
    assert f"next token of a text adds {5 * count_bytes_per_token(shape):,} bytes" in text
    assert "in each of 5 beams" in text
    layers = chart(opened(PAGE, link | LAYERS), -1)
    assert layers["bytes"].sum() == size, "a layer holds the keys of every beam"
    deployment = Deployment(
        shape,
        read_gpus()["h100"],
        1,
        find_weight_format(shape),
        block=16,
        source_tokens=300,
        beams=5,
    )
    serving = opened(PAGE, link | SERVING)
    for line in (*explain_memory(deployment, 448), *explain_speed(deployment, 448)):
        assert line in code(serving)
    assert "the true limit is higher" in said(serving)
    assert "28 for each beam. The last one has room for 0 more" in said(serving)
    waste = count_wasted_bytes(shape, 448, block=16, source_tokens=300, beams=5)
    assert f"{format_both_sizes(waste)} are unused" in said(serving)
    text = said(opened(PAGE, link | COUNTINGS_CARD))
    for other in list_wrong_answers(shape, 448, source_tokens=300, beams=5):
        assert f"| **{other.name}:** {other.reason} | {format_both_sizes(other.size)} |" in text
    assert not {"source", "beams"} & set(widgets(opened(PAGE)))


def test_layers_are_drawn_where_they_are_and_as_large_as_they_are():
    shape = find_shape("gemma-3-4b")
    rows = chart(opened(PAGE, {"model": "gemma-3-4b", **CHOSEN, **LAYERS}), -1)
    assert rows["bytes"].sum() == count_cache_bytes(shape, 33_000, 1, "q8_0")
    full = rows[rows["kind"] == "full attention"]
    assert list(full["layer"]) == list(shape.full_layers)
    assert set(full["tokens"]) == {33_000}
    assert set(rows["tokens"]) == {33_000, 1_024}


def test_a_model_that_nobody_gets_wrong_is_said_to_be_one_and_why():
    plain = said(opened(PAGE, {"model": "llama-2-7b", "tokens": "4096", **COUNTINGS_CARD}))
    assert "None of the usual mistakes changes this model's number" in plain
    assert "there is no window, there is no latent" in plain
    link = {"model": controls.OWN, "own_kv_heads": "32", "own_local": "9", "tokens": "4096"}
    link |= COUNTINGS_CARD
    assert "the text is no longer than its windows, there is no latent" in said(opened(PAGE, link))
    assert "None of the usual mistakes" not in said(opened(PAGE, link | {"tokens": "8192"}))


def test_layers_that_differ_in_heads_only_are_named_by_them():
    lists = {"num_key_value_heads_per_layer": [4] * 20 + [2] * 12}
    text = said(with_config(json.dumps(LLAMA | lists), **LAYERS))
    assert "20 layers of full attention, 4 KV heads × 128; 12 layers of full" in text
    blocks = [{"attention": {"n_heads_in_group": 8, "window_length": n + 1}} for n in range(32)]
    visit = with_config(json.dumps(LLAMA | {"block_configs": blocks}), **LAYERS)
    assert not visit.exception
    assert "26 other kinds" in said(visit)


def test_every_kind_of_layer_has_a_page_that_explains_it():
    published = json.loads((ROOT / "assets/models.json").read_text(encoding="utf-8"))
    kinds = {group["kind"] for model in published for group in model.get("groups") or []}
    assert kinds == set(LESSONS) == set(LAYER_KINDS)
    assert all((ROOT / path).is_file() for path in (*LESSONS.values(), SINKS_LESSON))
    shapes = {name: find_shape(name) for name in list_model_ids()}
    listed = {name: shape for name, shape in shapes.items() if shape.groups}
    assert len(listed) > 80
    for name, shape in listed.items():
        wanted = {LESSONS[group.kind] for group in shape.require_groups()}
        wanted |= {SINKS_LESSON} if shape.has_learned_sinks else set()
        assert wanted == set(list_lessons(shape)), name


@pytest.mark.parametrize(
    ("model", "lessons"),
    [
        ("gpt-oss-20b", ["masks", "shared_heads", "idle_heads"]),
        ("llama-4-scout", ["masks", "shared_heads"]),
        ("deepseek-v3.2-exp", ["shared_heads", "choosing"]),
        ("minimax-text-01", ["growing_memory", "shared_heads"]),
    ],
)
def test_the_card_on_layers_leads_to_their_pages(model, lessons):
    shown = opened(PAGE, {"model": model, "deep": "layers"})
    links = [e.proto.page for e in elements(shown.main) if e.type == "page_link"]
    assert sorted(links[: len(lessons)]) == sorted(lessons)


def test_layers_that_are_alike_need_no_picture():
    uniform = opened(PAGE, LAYERS)
    assert not uniform.get("vega_lite_chart")
    assert "32 layers of full attention: 131,072 tokens, 512.00 MiB" in said(uniform)
    unordered = said(opened(PAGE, {"model": "gemma-4-31b", **LAYERS}))
    assert "group by group" in unordered


def test_the_share_of_the_layers_is_asked_and_computed():
    groups = list_group_caches(find_shape("gemma-3-27b"), 131_072)
    share = 100 * groups[1].size / sum(group.size for group in groups)
    link = {"model": "gemma-3-27b", **LAYERS, "predict": "true"}
    asking, told = said(opened(PAGE, link)), said(opened(PAGE, link | {"predict": "false"}))
    assert "10 layers of 62 are of the kind *full attention*" in asking
    assert f"{share:.1f} %" not in asking
    assert f"they hold :green-background[{share:.1f} %]" in told
    assert "10 layers of full attention" in told


def test_a_model_of_671_billion_needs_less_cache_than_one_of_8():
    small, large = (
        count_cache_bytes(find_shape(m), 131_072) for m in ("llama-3.1-8b", "deepseek-v3")
    )
    assert small > large
    visit = opened(PAGE, {"predict": "true", "guess_compare": "deepseek-v3"})
    assert "The answer is **llama-3.1-8b**" in said(visit)
    lesson = "A large model may need less than a small one."
    assert lesson in said(visit)
    assert lesson not in said(opened(PAGE, {"predict": "true"}))
    assert f"32 layers: {format_both_sizes(small)}" in said(visit)
    assert f"each of 61: {format_both_sizes(large)}" in said(visit)


@pytest.mark.parametrize(
    ("model", "gpu", "number", "verdict"),
    [
        ("llama-3.1-8b", "a10", 1, "It does not fit"),
        ("llama-3.1-70b", "h100", 4, "It fits"),
        ("deepseek-v3", "h200", 8, "It fits"),
        ("llama-3.1-405b", "h100", 1, "It does not fit"),
    ],
)
def test_serving_says_what_the_library_says(model, gpu, number, verdict):
    choices = {"gpu": gpu, "gpus": f"{number}", "page_size": "64", "overhead": "2", "percent": "85"}
    visit = opened(PAGE, {"model": model, **CHOSEN, **choices, **SERVING})
    shape = find_shape(model)
    weights = find_weight_format(shape)
    deployment = Deployment(
        shape, read_gpus()[gpu], number, weights, "q8_0", overhead=2 * GIB, percent=85, block=64
    )
    text = said(visit)
    assert f"**{verdict}" in text
    readers = count_users(deployment, 33_000)
    assert f"{readers:,}**; you asked for 3" in text or "weights alone are too large" in text
    assert f"at once must fit: **{find_longest_context(deployment, 3):,} tokens**" in text
    assert readers is not None
    served = min(readers, 3)
    printed = re.findall(r"at most \*\*([\d,.]+) tokens a second", text)
    limits = [float(estimate_tokens_per_second(deployment, 33_000, served))] if served else []
    assert [float(limit.replace(",", "")) for limit in printed] == pytest.approx(limits, abs=0.05)
    assert ("**Speed limit:** none, because" in text) == (not served)
    expected = explain_memory(deployment, 33_000), explain_longest_context(deployment, 3)
    for line in (*expected[0], expected[1]):
        assert line in code(visit)
    for line in explain_speed(deployment, 33_000, served) if served else ():
        assert line in code(visit)
    assert ("in which all 3 texts choose" in text) == (model == "deepseek-v3")
    waste = count_wasted_bytes(shape, 33_000, 3, "q8_0", block=64)
    assert f"{format_both_sizes(waste)} are unused" in text
    assert "516 for each text. The last one has room for 24 more tokens" in text
    assert f"**{float(count_stored_copies(shape, number, 33_000)):.3g}×**" in text


@pytest.mark.parametrize(("gpu", "beyond"), [("h100", True), ("a10", False)])
def test_a_longest_text_that_the_model_was_not_made_for_is_called_so(gpu, beyond):
    text = said(opened(PAGE, {"gpu": gpu, **SERVING}))
    [after] = re.findall(r"at once must fit: \*\*[\d,]+ tokens\*\*\.(.*)", text)
    assert ("more than the 131,072 that llama-3.1-8b was published with" in after) is beyond


@pytest.mark.parametrize("engine", page_controls.flags_engine.options)
def test_flags_are_those_of_the_point(engine):
    served = Deployment(find_shape("llama-3.1-8b"), read_gpus()["h100"], 4, block=16)
    command = make_command(served, 32_768, 40, engine)
    assert command is not None
    link = {"tokens": "32,768", "texts": "40", "gpus": "4", "deep": "flags", "flags_for": engine}
    visit = opened(PAGE, link)
    assert command.code in [block.value for block in visit.main.code]
    assert "These flags hold **40 texts** of 32,768 tokens on 4 × NVIDIA H100 SXM." in said(visit)
    for flag in command.flags:
        assert f"| `{flag.name}` | `{flag.value}` | {flag.reason} |" in said(visit)


def test_where_no_flags_can_be_given_the_page_says_why():
    full = said(opened(PAGE, {"model": "llama-3.1-405b", "deep": "flags"}))
    assert "**No flags make this fit.**" in full
    other = said(opened(PAGE, {"cache_dtype": "q8_0", "deep": "flags"}))
    assert "**vLLM stores no cache in q8_0.**" in other
    unknown = said(opened(PAGE, {"model": "glm-5", "deep": "flags"}))
    assert "How many parameters does it have?" in unknown


def test_a_common_beginning_is_counted_once():
    link = {"sharers": "7", "common_tokens": "1000", "own_tokens": "90", "changed_at": "40"}
    text = said(opened(PAGE, link | {"page_size": "32", "deep": "prefix"}))
    shape = find_shape("llama-3.1-8b")
    shared = count_prefix_savings(shape, 1_090, [1_000] * 7, block=32)
    after = count_prefix_savings(shape, 1_090, [1_000] * 6 + [39], block=32)
    for one, place in [(shared.blocks_alone, shared.bytes_alone), (245, 245 * 32 * 131_072)]:
        assert f"| in pages | 1,090 | {one} | {format_size(place)} |" in text
    for blocks, size in [
        (shared.blocks_shared, shared.bytes_shared),
        (after.blocks_shared, after.bytes_shared),
    ]:
        assert f"| 1,090 | {blocks} | {format_size(size)} |" in text
    assert "31 of them, with 992 tokens" in text
    assert "5,952 tokens need not be computed again" in text
    assert "needs 30 more pages in a layer, and 960 tokens are computed again" in text
    nothing = said(opened(PAGE, {"model": "bert-base-uncased", "deep": "prefix"}))
    assert "stores no cache, so there is nothing to share" in nothing


def test_a_number_of_parameters_is_asked_for_where_none_is_published():
    visit = opened(PAGE, {"model": "glm-5", "parameters": "5000", **SERVING})
    assert "5,000,000,000 parameters (a stated, rounded number)" in code(visit)
    assert "parameters" not in widgets(opened(PAGE))


@pytest.mark.parametrize(
    ("link", "verdict"),
    [
        ({"model": "llama-3.1-405b"}, "It does not fit: the weights alone are too large."),
        ({"model": "llama-3-8b", "gpu": "a10", "percent": "70"}, "no room is left for a cache."),
        ({"model": "llama-3-8b", "overhead": "70"}, "It does not fit: no room is left for a cache"),
        ({"model": "bert-base-uncased"}, "The weights fit."),
        ({"model": "bert-base-uncased", "overhead": "80"}, "no room is left for a cache."),
        ({"model": "llama-3-8b", "texts": "64"}, "It does not fit."),
        ({"model": "llama-3-8b"}, "It fits."),
    ],
)
def test_why_it_does_not_fit(link, verdict):
    text = said(opened(PAGE, {"tokens": "8192", **link, **SERVING}))
    assert verdict in text
    assert ("**Speed limit" in text) == (link["model"] != "bert-base-uncased"), "it writes nothing"


def test_nothing_is_said_of_weights_whose_number_is_not_known():
    for visit in (
        with_config(json.dumps(LLAMA), **SERVING),
        opened(PAGE, {"model": controls.OWN, **SERVING}),
    ):
        assert "How many parameters does it have?" in said(visit)
        assert not re.search(r"It fits|does not fit\.\*\*|tokens a second", said(visit))
        assert "parameters" not in code(visit)
        assert "**Pages.**" in said(visit), "pages do not depend on the weights"
        widgets(visit)["parameters"].set_value(5000)
        assert "5,000,000,000 parameters" in code(visit.run())
        assert "**It fits.**" in said(visit)


def test_heads_that_cannot_be_split_are_refused_and_the_rest_stays():
    visit = opened(PAGE, {"model": "llama-4-scout", "gpus": "16"})
    assert "40 query heads cannot be split over 16 ranks" in warned(visit)
    assert "A large model may need less than a small one." in said(visit)


def test_six_models_are_compared_with_the_memory_of_the_gpus():
    models = ["gpt2", "gemma-3-27b", "deepseek-v3", "llama-2-7b", "t5-small", "gpt-oss-120b"]
    link: dict[str, str | list[str]] = {"compared": models, "gpu": "t4", "gpus": "2", **CHOSEN}
    visit = opened(PAGE, link)
    assert not visit.info
    [panel] = panels(visit, "comparison").values()
    assert panel["high"] == 2 * read_gpus()["t4"].memory_bytes
    assert panel["formula"] == "memory of 2 × NVIDIA T4: 30.00 GiB"
    assert panel["rows"] == models
    lengths = [int(column) for column in panel["columns"]]
    assert lengths == sorted({*LENGTHS, 33_000})
    assert panel["ringed"] == [[row, lengths.index(33_000)] for row in range(6)]
    for name, line in zip(models, panel["values"], strict=True):
        shape = find_shape(name)
        source = shape.encoder_context
        assert line == [
            count_cache_bytes(shape, tokens, 3, "q8_0", source_tokens=source) for tokens in lengths
        ]
    for name in models:
        shape = find_shape(name)
        size = count_cache_bytes(shape, 33_000, 3, "q8_0", source_tokens=shape.encoder_context)
        longer = count_cache_bytes(shape, 33_001, 3, "q8_0", source_tokens=shape.encoder_context)
        rates = f"{count_bytes_per_token(shape, 'q8_0'):,} / {(longer - size) // 3:,}"
        line = (
            f"| {name} ({shape.attention}) | {rates} | {format_both_sizes(size)} ({size:,} bytes) |"
        )
        assert line in said(visit)


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        (["nonsense"], list(controls.compared_models.default)),
        (["gpt2", "nonsense"], ["gpt2"]),
        (["gpt2", "gpt2"], ["gpt2"]),
        (list(list_model_ids()), [m for m in list_model_ids() if find_shape(m).groups][:6]),
    ],
)
def test_a_link_to_models_that_cannot_be_compared(asked, shown):
    visit = opened(PAGE, {"compared": asked, "tokens": "33000"})
    assert not visit.exception
    assert visit.session_state["compared"] == shown
    assert any("compared =" in note.value for note in visit.info)
    assert "of 33,000 tokens" in said(visit)


def test_nothing_to_compare_is_no_error():
    visit = opened(PAGE)
    visit.session_state["compared"] = []  # what the browser does before the page runs again
    visit.run()
    assert not visit.exception
    assert "Choose a model to compare." in said(visit)


@pytest.mark.parametrize("shown", controls.published_rows.options)
def test_every_published_figure_stands_beside_ours(shown):
    main = opened(PAGE, {"figures": shown, **FIGURES}).main.markdown
    [table] = [m.value for m in main if m.value.startswith("| what, and why they differ")]
    expected = sorted(read_figures().values(), key=lambda figure: figure.agrees)
    if shown != "all":
        expected = [f for f in expected if (f.reason if "differ" in shown else not f.agrees)]
    lines = table.splitlines()[2:]
    number_of = dict(zip(controls.published_rows.options, (19, 51, 98), strict=True))
    assert len(expected) == len(lines) == number_of[shown]
    assert not re.search(r"as above|\| same|Hkv\d|\bL\d", " ".join(line[:80] for line in lines))
    for figure, line in zip(expected, lines, strict=True):
        unmarked = line.replace("\N{ZERO WIDTH SPACE}", "")
        _, what, numbers, _ = (
            " ".join(cell.replace("\\", "").split()) for cell in re.split(r"(?<!\\)\|", unmarked)
        )
        printed, ours = numbers.split(" / ")
        assert what.startswith(f"**{describe_figure(figure)}.** ")
        if figure.id not in FIGURE_NAMES:
            assert what.startswith(f"**{figure.model}: ")
        signs = {"percent": " %", "x": "×"}
        assert printed == f"{figure.published:,}{signs.get(figure.unit, ' ' + figure.unit)}"
        [(number, unit)] = re.findall(r"^([\d.]+)(.+)$", ours.replace(",", ""))
        assert unit == signs.get(figure.unit_meant, " " + figure.unit_meant)
        assert float(number) == pytest.approx(float(figure.computed_value), abs=0.051)
        assert REASONS.get(figure.reason, "They agree.") in what
        assert what.endswith(f"Source: {figure.source}")
        if figure.mistaken_value is not None:
            [again] = re.findall(r"Done so, we get ([\d.,]+\d)", what)
            mistaken = pytest.approx(float(figure.mistaken_value), abs=0.051)
            assert float(again.replace(",", "")) == mistaken


def test_published_figures_have_the_marks_of_the_reader_s_language():
    """Also beside words, where 2.684 could pass for a thousand; papers keep their numbers."""
    table = said(opened(PAGE, {"deep": "figures", "figures": "all", "lang": "vi"}))
    for figure in read_figures().values():
        ours = round_shortest(figure.computed_value)
        marked = f"{ours:,}".translate(str.maketrans(",.", ".,"))
        assert re.search(rf"/ {re.escape(marked)}( |×)", table), figure.id
        if numbers := re.findall(r"arXiv \d{4}\.\d{5}", figure.source):
            assert numbers[0] in table


def test_labels_are_spelled_out():
    spelled = {name: describe_figure(figure) for name, figure in read_figures().items()}
    assert spelled["hf-l31-405B-1k"] == (
        "Llama-3.1-405B: 126 layers, 8 KV heads, head_dim 128, 1,024 tokens, fp16"
    )
    assert spelled["gemma3-4B-table3"].endswith("the report says KV in 8 bits, computed in 16 bits")
    assert spelled["lc-8b-q4_0"].endswith("2560 cells, 2,560 tokens, q4_0")
    assert ": 34 layers (5 global), 4 KV heads, head_dim 256, w" in spelled["gemma3-4B-table3"]
    assert "40 layers, 1 KV head, head_dim 128, 16,000" in spelled["hf-octo-mqa"]
    assert spelled["gpt2xl-300"].startswith("GPT-2 XL: 48 layers, 25 heads, head_dim 64")


def with_config(text, **link):
    visit = opened(PAGE, {"model": controls.CONFIG, **link})
    visit.text_area(key="pasted config").set_value(text)
    return visit.run()


def test_layers_that_look_at_an_image_read_as_much_of_it_as_the_command_counts():
    pasted = LLAMA | {
        "cross_attention_layers": [3, 8],
        "vision_config": {"image_size": 56, "patch_size": 14, "max_num_tiles": 200},
    }
    shape = read_config(json.dumps(pasted))
    assert shape.encoder_context == 200 * (4 * 4 + 1) > controls.encoder_tokens.default
    size = count_cache_bytes(shape, 16_384)
    assert f"{size:,} bytes for 1 text" in said(with_config(json.dumps(pasted), tokens="16,384"))


def test_a_pair_of_encoder_and_decoder_keeps_both_caches_on_the_page():
    swin = {
        "model_type": "donut-swin", "depths": [2, 2, 14, 2], "image_size": [2560, 1920],
        "patch_size": 4,
    }  # fmt: skip
    mbart = {
        "model_type": "mbart", "d_model": 1024, "decoder_layers": 4, "decoder_attention_heads": 16,
        "max_position_embeddings": 768,
    }  # fmt: skip
    pair = {"model_type": "vision-encoder-decoder", "encoder": swin, "decoder": mbart}
    size = f"{2 * 16 * 64 * 2 * 4 * (16_384 + 80 * 60):,} bytes for 1 text"
    assert size in said(with_config(json.dumps(pair), tokens="16,384"))
    alone = json.dumps({**mbart, "is_decoder": True, "add_cross_attention": True})
    assert size in said(with_config(alone, tokens="16,384", source="4800"))


def test_a_file_says_on_the_page_how_its_cache_is_stored():
    scheme = {"num_bits": 8, "type": "float"}
    quantized = {"quant_method": "compressed-tensors", "kv_cache_scheme": scheme}
    pasted = json.dumps({**LLAMA, "quantization_config": quantized})
    size = count_cache_bytes(read_config(pasted), 16_384, dtype="fp8")
    assert f"{size:,} bytes for 1 text" in said(with_config(pasted, tokens="16,384"))


def test_a_model_of_an_unknown_kind_is_refused_by_its_fields_on_the_page():
    visit = with_config(json.dumps({**LLAMA, "model_type": "llada", "mask_token_id": 126_336}))
    assert any("mask_token_id" in warning.value for warning in visit.warning)


def test_a_pasted_config_is_read_and_stays_out_of_the_link():
    visit = with_config(json.dumps(LLAMA), tokens="16,384")
    assert not visit.exception
    assert not visit.warning
    assert f"{count_cache_bytes(find_shape('llama-3-8b'), 16_384):,} bytes for 1 text" in said(
        visit
    )
    assert not any("hidden_size" in str(value) for value in visit.query_params.values())
    for name in ("gpt2", controls.CONFIG):
        visit.session_state["model"] = name
        visit.run()
    assert "16,384 tokens, model ` llama `" in said(visit.run()), "what was pasted is lost"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (json.dumps(LLAMA)[:-20], "config.json breaks off at line 1"),
        ("hello", "hello is no config.json: paste the file, or owner/name"),
        ("[1]", "must be an object"),
        ("{}", "config.json lacks num_hidden_layers"),
        ("[" * 50_000, "nested too deeply"),
        (json.dumps({"a": "x" * 900_000}), "or more: upload it"),
        (json.dumps(LLAMA | {"num_hidden_layers": 0}), "num_hidden_layers must be"),
        (json.dumps(LLAMA | {"num_hidden_layers": 10**30}), "num_hidden_layers must be"),
        (json.dumps(LLAMA | {"head_dim": -1}), "head_dim must be"),
        (json.dumps(LLAMA | {"num_key_value_heads": 5}), "cannot share num_key_value_heads 5"),
        ('{"num_hidden_layers": NaN}', "num_hidden_layers must be a whole number"),
        (json.dumps(LATENT), "config.json lacks qk_rope_head_dim"),
        (json.dumps(LLAMA | {"layer_types": "x"}), "layer_types must be a list"),
    ],
)
def test_a_config_that_cannot_be_read_is_refused_by_name_and_nothing_is_lost(text, message):
    visit = with_config(text, **LISTED, gpus="4")
    assert not visit.exception
    assert message in warned(visit)
    kept = visit.session_state
    assert (kept["tokens"], kept["texts"], kept["gpus"]) == ("16,384", "4", "4")
    assert len(visit.text_area(key="pasted config").value) == min(len(text), MAX_PASTED)
    visit.session_state["model"] = "llama-3-8b"
    size = count_cache_bytes(find_shape("llama-3-8b"), 16_384, 4, "q8_0")
    assert f"{size:,} bytes for 4 texts" in said(visit.run())


def test_markup_in_a_config_is_printed_and_not_obeyed():
    visit = with_config(json.dumps(LLAMA | {"_name_or_path": "**b** :red[x] <b>` | $y$"}))
    assert "`` **b** :red[x] <b>` | $y$ ``" in said(visit)
    visit = with_config(json.dumps(LLAMA | {"layer_types": ["**b** [a](http://x.invalid)"]}))
    assert "** :" not in warned(visit)
    assert visit.warning[0].value.startswith("` ")


def test_an_uploaded_config_is_read():
    visit = opened(PAGE, {"model": controls.CONFIG, "tokens": "16,384"})
    for content, shown in [(b"\xff\xfe\x00", "is not text in UTF-8"), (b"{", "breaks off")]:
        visit.file_uploader[0].set_value(("config.json", content, "application/json"))
        assert shown in warned(visit.run())
    content = json.dumps(LLAMA).encode()
    visit.file_uploader[0].set_value(("config.json", content, "application/json"))
    visit.run()
    assert f"{count_cache_bytes(find_shape('llama-3-8b'), 16_384):,} bytes for 1 text" in said(
        visit
    )


def test_a_folder_is_read_only_where_the_owner_said_so(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA), encoding="utf-8")
    asked = {"model": controls.CONFIG, "config folder": str(tmp_path)}
    monkeypatch.delenv(READ_FOLDERS_VARIABLE, raising=False)
    hosted = opened(PAGE, asked)
    assert "config folder" not in widgets(hosted)
    hosted.session_state["config folder"] = str(tmp_path)
    assert "Waiting for a config.json" in warned(hosted.run())
    monkeypatch.setenv(READ_FOLDERS_VARIABLE, "1")
    own = opened(PAGE, asked)
    assert "Waiting" in warned(own), "a link reads a folder"
    widgets(own)["config folder"].set_value(str(tmp_path))
    assert "model ` llama `" in said(own.run())
    widgets(own)["config folder"].set_value(str(tmp_path / "none"))
    assert "there is no file" in warned(own.run())


def test_a_model_of_ones_own():
    link = {"own_layers": "7", "own_heads": "12", "own_kv_heads": "3", "own_head_dim": "80"}
    link |= {"own_local": "5", "own_window": "100", "model": controls.OWN}
    groups = LayerGroup("sliding", 5, 3, 80, 100), LayerGroup("full", 2, 3, 80)
    shape = ModelShape("own", groups, 12, 960)
    size = count_cache_bytes(shape, 16_384, 4, "q8_0")
    assert f"{size:,} bytes for 4 texts" in said(opened(PAGE, link | LISTED))
    latent = replace(shape, groups=(LayerGroup("latent", 7, latent_dim=20, rope_dim=6),))
    link |= {"own_kind": "a latent (MLA)", "own_latent": "20", "own_rope": "6"}
    size = count_cache_bytes(latent, 16_384, 4, "q8_0")
    assert f"{size:,} bytes for 4 texts" in said(opened(PAGE, link | LISTED))
    refused = opened(PAGE, {"model": controls.OWN, "own_heads": "10", "own_kv_heads": "4"})
    assert "10 query heads cannot share 4 KV heads" in warned(refused)


OWN_KEYS = [key for key in controls.CONTROLS_BY_KEY if key.startswith("own_") and key != "own_kind"]


@pytest.mark.parametrize("value", ["0.5", "-1", "nan", "1e999", "-1e999", "9" * 400, "x", ""])
def test_numbers_of_ones_own_that_cannot_be(value):
    for kind in controls.own_kind.options:
        link = {"model": controls.OWN, "own_kind": kind, "tokens": "33000"}
        visit = opened(PAGE, link | dict.fromkeys(OWN_KEYS, value))
        assert not visit.exception
        for key in set(OWN_KEYS) & set(widgets(visit)):
            assert any(f"{key} =" in note.value for note in visit.info), key
        assert "of 33,000 tokens" in said(visit)


@pytest.mark.parametrize(
    "tokens",
    [
        "0",
        "-1",
        "1,2",
        "1,0000",
        ",5",
        "1" + "0" * 30,
        "1000000001",
        "nan",
        "1e5",
        "128k",
        "٤",
        "2.5",
        "9" * 5000,
    ],
)
def test_tokens_that_cannot_be_are_refused_by_name(tokens):
    visit = opened(PAGE, {"tokens": tokens, "model": "llama-3-8b", "texts": "3"})
    assert not visit.exception
    assert any("tokens = `" in note.value for note in visit.info)
    size = count_cache_bytes(find_shape("llama-3-8b"), 131_072, 3)
    assert f"{size:,} bytes for 3 texts of 131,072 tokens" in said(visit)


def test_the_largest_numbers_are_exact():
    visit = opened(PAGE, {"tokens": f"{10**9}", "texts": f"{10**6}", "model": "llama-3-8b"})
    assert f"{131_072 * 10**15:,} bytes for 1,000,000 texts" in said(visit)
    assert not visit.exception


def test_lengths_have_the_marks_of_the_language_and_links_have_none():
    visit = opened(PAGE, {"lang": "vi", "tokens": "33.000", "model": "llama-3-8b"})
    [field] = [one for one in visit.selectbox if one.key == "tokens"]
    assert "131.072" in field.options
    assert "131,072" not in field.options
    assert field.value == "33.000"
    size = count_cache_bytes(find_shape("llama-3-8b"), 33_000)
    assert f"{size:,}".replace(",", ".") in said(visit)
    assert visit.query_params["tokens"] in ("33,000", ["33,000"])
    assert not visit.info


def test_a_headline_forgets_windows():
    headline = explain_counting(find_shape("gemma-3-27b"), 131_072, HEADLINE).size
    assert headline > 5 * count_cache_bytes(find_shape("gemma-3-27b"), 131_072)


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


def test_absurd_sizes_are_drawn_as_well():
    sizes = {f"own_{name}": "100000" for name in ("heads", "kv_heads", "head_dim")}
    link = {"model": "my own numbers", "tokens": "1,000,000,000", "own_local": "1", **sizes}
    assert not opened(PAGE, link).exception
    huge: dict[str, str | list[str]] = {
        "texts": "1,000,000",
        "cache_dtype": "float32",
        "compared": ["opt-175b", "gpt2"],
    }
    [panel] = panels(opened(PAGE, huge), "comparison").values()
    size = count_cache_bytes(find_shape("opt-175b"), 2**20, 10**6, "float32")
    assert size > 2**63, "more than a table of whole numbers holds"
    assert panel["values"][0][-1] == size
    lines = Matrix("", "", [[size]], ["opt-175b"], ["1"], "", "", kind="lines")
    assert make_growth_table(lines, 1)["bytes"].max() == pytest.approx(size)


@pytest.mark.parametrize("model", ["gemma-3-27b", "whisper-tiny", "deepseek-v3"])
def test_another_language_says_the_same_numbers(model):
    link = {"model": model, "beams": "4", **CHOSEN}
    english, vietnamese = (opened(PAGE, link | {"lang": lang}) for lang in ("en", "vi"))
    with_our_marks = code(vietnamese).translate(str.maketrans(".,", ",."))
    assert numbers(code(english)) == numbers(with_our_marks)
    assert "tokens" in code(english)
    assert "tokens" not in code(vietnamese), "a line of the working is not said"


@pytest.mark.parametrize(
    ("model", "tokens", "texts"),
    [("llama-3.1-8b", 32_768, 40), ("deepseek-v3", 131_072, 1), ("gpt-oss-20b", 1_000, 3)],
)
def test_every_gpu_is_planned_for_the_readers_texts(model, tokens, texts):
    link = {"model": model, "tokens": f"{tokens}", "texts": f"{texts}", "deep": "gpus"}
    shown, shape = said(opened(PAGE, link)), find_shape(model)
    for gpu in read_gpus().values():
        served = Deployment(shape, gpu, weight_dtype=find_weight_format(shape), block=16)
        longest = find_longest_context(served)
        plan = find_fewest_gpus(served, tokens, texts)
        name = f"| {gpu.name}, {format_size(gpu.memory_bytes)} |"
        alone = f"| {longest:,} |" if longest else "| – |"
        if plan is None:
            assert f"{name} – | – | – | – {alone}" in shown
            continue
        used = texts * count_text_bytes_per_gpu(plan, tokens)
        left = format_size(count_free_bytes_per_gpu(plan) - used)
        row = f"{name} **{plan.gpus}** | {count_users(plan, tokens):,} | {left} |"
        speed = round(float(estimate_tokens_per_second(plan, tokens, texts)))
        limit = {"bandwidth": "bandwidth", "compute": "computing"}
        what = limit[find_limit(plan, tokens, texts).name]
        assert f"{row} {what}: {speed:,} tokens/s {alone}" in shown


def test_gpus_are_not_planned_for_what_is_not_known():
    assert "nobody can say what fits" in said(opened(PAGE, {"model": "glm-5", "deep": "gpus"}))
    bert = said(opened(PAGE, {"model": "bert-base-uncased", "deep": "gpus"}))
    assert "any GPU that holds its weights" in bert


def test_the_picture_of_a_prefix_has_the_pages_of_its_table():
    link = {"sharers": "7", "common_tokens": "1000", "own_tokens": "90", "changed_at": "40"}
    shown = opened(PAGE, link | {"page_size": "32", "deep": "prefix"})
    drawn = panels(shown, "stored 0")
    alone, shared, changed = drawn.values()
    common, pages, left = 1000 // 32, -(-1090 // 32), 39 // 32
    own = pages - common
    assert alone["values"] == [[0, common, 0, own]] * 4
    assert shared["values"] == [[0, common, 0, own], *[[common, 0, 0, own]] * 3]
    assert changed["values"][1] == [left, 0, common - left, own]
    assert [len(panel["rows"]) for panel in drawn.values()] == [4, 4, 4]
    assert alone["rows"][-1] == "4 more, each"
    for panel, kind in [(alone, "blocks_alone"), (shared, "blocks_shared")]:
        counted = count_prefix_savings(find_shape("llama-3.1-8b"), 1_090, [1_000] * 7, block=32)
        assert panel["formula"].startswith(f"{getattr(counted, kind):,} pages in a layer")
    below = words_below(read_figure(shown, "stored 0"))
    assert f"these {common} pages for all 7" in below
    two = panels(opened(PAGE, {"sharers": "2", "deep": "prefix"}), "stored 0")
    assert two["stored 1"]["rows"] == ["text 1", "text 2"]


def test_published_figures_are_kept_for_each_language():
    tables = [said(opened(PAGE, {"lang": lang, **FIGURES})) for lang in ("vi", "en", "vi")]
    assert [("Source\\: " in one, "Nguồn\\: " in one) for one in tables] == [
        (False, True),
        (True, False),
        (False, True),
    ]


def numbers(lines):
    return re.findall(r"\d[\d,.]*\d|\d", lines)


def press_fetch(visit):
    [button] = [one for one in visit.button if one.key == "fetch config"]
    return button.click().run()


def test_a_name_is_fetched_only_if_the_reader_asks(monkeypatch):
    asked = []

    def fetch(name):
        asked.append(name)
        return json.dumps(LLAMA)

    monkeypatch.setattr(hub_config, "fetch_config", fetch)
    visit = with_config(" meta/Llama-3-8B\n", tokens="16,384")
    assert "meta/Llama-3-8B is a name: fetch its config.json" in warned(visit)
    assert "there is llama-3-8b" in warned(visit)
    assert asked == []
    press_fetch(visit)
    size = count_cache_bytes(find_shape("llama-3-8b"), 16_384)
    assert f"{size:,} bytes for 1 text" in said(visit)
    assert not visit.warning
    assert f"{size:,} bytes for 1 text" in said(visit.run()), "it stays when the page runs again"
    assert asked == ["meta/Llama-3-8B"]
    visit.text_area(key="pasted config").set_value("https://hub.co/meta/other/blob/a/b.json").run()
    assert "meta/other is a name" in warned(visit), "one name's file is not another's"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (HubUnreachableError("the hub is out of reach (here)"), "out of reach (here): open the mo"),
        (ModelError("a/b has no config.json on the hub."), "has no config.json on the hub"),
    ],
)
def test_where_nothing_can_be_fetched_it_is_said_what_to_do(monkeypatch, error, sentence):
    def fetch(_name):
        raise error

    monkeypatch.setattr(hub_config, "fetch_config", fetch)
    visit = press_fetch(with_config("a/b"))
    assert not visit.exception
    assert sentence in warned(visit)
    assert visit.text_area(key="pasted config").value == "a/b"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("gpt2", "gpt2 is no config.json: paste the file, or owner/name; there is gpt2"),
        ("albert-base-v2", "Do you mean albert/albert-base-v2?"),
        (f"{json.dumps(LLAMA)}\n{json.dumps(LLAMA)}", "two files are pasted here: the second"),
        ("model_type: llama\nhidden_size: 4096\n", "it looks like YAML"),
        (json.dumps(LLAMA | {"hidden_size": [4096]}), r"hidden\_size must be a whole number"),
        (json.dumps(LLAMA | {"num_hidden_layers": 10**40}), "must be a whole number from 1 to"),
        (json.dumps(LLAMA | {"head_dim": -1}), "must be a whole number from 1 to"),
        ("{'a': 1}", "json.dumps"),
        ("<!doctype html><p>config", "it looks like a web page"),
        ("<script>alert(1)</script>", "it looks like a web page"),
    ],
)
def test_bad_input_is_answered_and_nothing_is_lost(text, sentence):
    visit = with_config(text, tokens="16,384")
    assert not visit.exception
    assert sentence.replace("\\_", "_") in warned(visit).replace("\\_", "_")
    assert visit.text_area(key="pasted config").value == text
    assert widgets(visit)["tokens"].value in (16_384, "16,384")
    visit.text_area(key="pasted config").set_value(json.dumps(LLAMA)).run()
    assert f"{count_cache_bytes(find_shape('llama-3-8b'), 16_384):,} bytes" in said(visit)


def test_the_menu_costs_nothing_until_it_is_opened_and_then_has_what_the_link_says():
    link = {
        "texts": "4", "gpus": "8", "weight_dtype": "fp8", "page_size": "64", "percent": "80",
        "overhead": "3", "cache_dtype": "fp8", "counting": "vLLM", "source": "300", "beams": "5",
        "model": "whisper-tiny",
    }  # fmt: skip
    visit = opened(PAGE, link)
    assert not set(link) & set(widgets(visit)), "fields of a closed menu cost time"
    closed = said(visit)
    assert not visit.info
    visit.session_state["more"] = True
    visit.run()
    shown = {key: it.value for key, it in widgets(visit).items() if key in link}
    assert {key: f"{value}" for key, value in shown.items()} == {
        key: value for key, value in link.items() if key != "model"
    }
    assert said(visit) == closed
    widgets(visit)["percent"].set_value(70)
    visit.run()
    visit.session_state["more"] = False
    assert widgets(visit.run())["percent"].value == 70, "it is not taken away again"


@pytest.mark.parametrize(
    ("link", "notice"),
    [
        ({"percent": "500"}, "percent = ` 500 `. Use a whole number from 1 to 100"),
        ({"overhead": "1.5"}, "overhead = ` 1.5 `. Use a whole number from 0 to 1000"),
        ({"cache_dtype": "int3"}, "cache_dtype = ` int3 `."),
        ({"page_size": "7"}, "page_size = ` 7 `. Use one of 1, 8, 16"),
        ({"texts": "many"}, "texts = ` many `"),
        ({"gpus": "3"}, "gpus = ` 3 `"),
    ],
)
def test_a_bad_link_to_the_closed_menu_is_told(link, notice):
    usual, visit = opened(PAGE), opened(PAGE, link)
    assert any(notice in info.value for info in visit.info)
    assert hero(visit)["choices"] == hero(usual)["choices"]


@pytest.mark.parametrize(
    ("model", "stored"),
    [
        ("llama-3.1-8b", "a key and a value in each of its **KV heads**"),
        ("deepseek-v3", "one **latent** that all heads share"),
        ("deepseek-v3.2-exp", "one **latent** that all heads share"),
        (KIMI, "Not all layers store the same."),
        ("gemma-3-27b", "Not all layers store the same."),
        ("mistral-7b-v0.1", "Not all layers store the same."),
        ("bert-base-uncased", "stores nothing for later"),
    ],
)
def test_the_formula_is_introduced_by_what_the_layers_store(model, stored):
    shown = said(opened(PAGE, {"model": model}))
    sentences = ("in each of its **KV heads**", "one **latent** that", "Not all", "for later:")
    assert stored in shown
    assert sum(one in shown for one in sentences) == 1


def test_a_flag_is_written_as_it_is_typed_in_any_language():
    shown = said(opened(PAGE, {"lang": "vi", "deep": "flags", "tokens": "8,192"}))
    assert "| `--gpu-memory-utilization` | `0.90` |" in shown


@pytest.mark.parametrize(
    ("model", "gpus", "told"),
    [
        ("llama-3.1-8b", "8", "number of GPUs; each holds its part of the heads"),
        ("llama-3.1-8b", "16", "cannot divide all of the cache, and together store it 2×"),
        ("deepseek-v3", "16", "cannot divide all of the cache, and together store it 16×"),
    ],
)
def test_a_cache_that_gpus_cannot_divide_is_told_beside_the_flag(model, gpus, told):
    link = {"model": model, "gpu": "h200", "gpus": gpus, "tokens": "8,192", "deep": "flags"}
    assert told in said(opened(PAGE, link))


def test_who_is_asked_for_parameters_has_a_field_for_them():
    for link in ({}, {"deep": "serving"}, {"deep": "gpus"}, {"deep": "flags"}):
        visit = opened(PAGE, {"model": "glm-5", **link})
        assert widgets(visit)["parameters"].label == "Million parameters"
        assert "*Million parameters*" in said(visit) + hero(visit)["texts"]["hero_unknown"]
        assert {plan["weights"] for plan in hero(visit)["plans"]} == {None}
