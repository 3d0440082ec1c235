"""The laws of a cache's size, its limits, and what it says to numbers that make no sense."""

import re
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from explainers.memory import cache_formula
from explainers.memory.cache_bytes import (
    FORMATS,
    NumberFormat,
    count_bytes_per_token,
    count_cache_bytes,
    count_extra_bytes,
    count_paged_bytes,
    count_pages,
    list_group_caches,
    list_layer_caches,
)
from explainers.memory.cache_formula import format_size
from explainers.memory.engines import ENGINES, count_engine_bytes
from explainers.memory.model_shapes import LayerGroup, ModelShape, find_shape, list_model_ids
from explainers.memory.sharding import count_stored_copies, split_shape

LLAMA = find_shape("llama-3-8b")
GEMMA = find_shape("gemma-3-4b")
DEEPSEEK = find_shape("deepseek-v3")
WHISPER = find_shape("whisper-tiny")
SHAPES = [find_shape(model) for model in list_model_ids() if find_shape(model).groups]
shapes = st.sampled_from(SHAPES)
lengths = st.integers(1, 10**9)
formats = st.sampled_from(sorted(FORMATS))


@given(shapes, lengths, st.integers(0, 10**6), formats)
def test_linear_in_the_batch_and_never_smaller_for_a_longer_text(shape, tokens, more, dtype):
    one = count_cache_bytes(shape, tokens, dtype=dtype)
    assert count_cache_bytes(shape, tokens, more + 1, dtype) == (more + 1) * one
    assert count_cache_bytes(shape, tokens + more, dtype=dtype) >= one


@given(shapes, lengths)
def test_the_rate_holds_until_a_window_is_full(shape, tokens):
    assume(not any(group.ratio for group in shape.groups))  # a merged row comes every few tokens
    cross = count_cache_bytes(shape, 1) - count_bytes_per_token(shape)
    windows = [group.window for group in shape.groups if group.window]
    linear = tokens * count_bytes_per_token(shape) + cross
    total = count_cache_bytes(shape, tokens)
    assert (total == linear) == (tokens <= min(windows, default=tokens))
    assert total <= linear


def test_the_last_page_is_counted_whole():
    assert (count_pages(33), count_pages(32), count_pages(0)) == (3, 2, 0)
    assert count_paged_bytes(LLAMA, 33, block=16) == 48 * count_bytes_per_token(LLAMA)


@given(st.sampled_from([LLAMA, GEMMA, DEEPSEEK]), st.sampled_from([1, 2, 4]), lengths)
def test_ranks_hold_the_cache_together(shape, ranks, tokens):
    together = ranks * count_cache_bytes(split_shape(shape, ranks), tokens)
    times = ranks if shape is DEEPSEEK else 1
    assert together == times * count_cache_bytes(shape, tokens)
    assert count_stored_copies(shape, ranks, tokens) == times


def test_how_often_a_cache_is_stored_depends_on_its_heads_and_its_length():
    """Gemma 4's global layers have fewer KV heads than its local ones, whose windows are full."""
    for model, ranks, tokens, copies in [
        ("llama-3.1-405b", 16, 7, 2),
        ("starcoder-15b", 48, 7, 48),
        ("whisper-tiny", 3, 7, 1),
        ("gemma-4-31b", 8, 1, 1 + 10 * 4 * 512 / (10 * 4 * 512 + 50 * 16 * 256)),
        ("gemma-4-31b", 8, 131_072, 1.927),
    ]:
        stored = count_stored_copies(find_shape(model), ranks, tokens)
        assert float(stored) == pytest.approx(copies, abs=0.001), model


INT3 = NumberFormat("int3, groups of 32", 3, 32, 32)
INT4 = NumberFormat("int4, groups of 64", 4, 64, 32)
PER_ELEMENT: dict[str | NumberFormat, Fraction | int] = {
    "float32": 4, "fp8": 1, "int8_per_head": 1 + Fraction(4, 128), "int4": Fraction(9, 16),
    "nvfp4": Fraction(9, 16), "mxfp4": Fraction(17, 32), "q8_0": Fraction(34, 32),
    "q5_1": Fraction(24, 32), "q5_0": Fraction(22, 32), "q4_1": Fraction(20, 32),
    "q4_0": Fraction(18, 32), INT3: Fraction(1, 2), NumberFormat("6 bits", 6): Fraction(3, 4),
}  # fmt: skip


def test_bytes_of_an_element_with_its_scales():
    for dtype, size in PER_ELEMENT.items():
        assert count_bytes_per_token(LLAMA, dtype) == 2 * 32 * 8 * 128 * size, dtype
    assert INT4.count_vector_bytes(3, 30) == 45 + 2 * 4, "a group that is not full has a scale too"
    assert NumberFormat("", 5).count_vector_bytes(1, 3) == 2


def test_a_residual_window_stays_in_16_bits_and_what_is_read_at_once_does_not():
    assert count_cache_bytes(LLAMA, 128, dtype="int2_residual") == count_cache_bytes(LLAMA, 128)
    longer = count_cache_bytes(LLAMA, 129, dtype="int2_residual") - count_cache_bytes(LLAMA, 128)
    assert longer == count_bytes_per_token(LLAMA, "int2_residual")
    read = count_cache_bytes(WHISPER, 9, dtype="int2_residual")
    written = count_cache_bytes(WHISPER, 9, source_tokens=0, dtype="int2_residual")
    assert written == count_cache_bytes(WHISPER, 9, source_tokens=0)
    assert read - written == 1500 * 4 * 2 * 384 * 3 // 8


def test_states_and_index_keys_stand_beside_the_cache():
    assert count_extra_bytes(find_shape("qwen3-next-80b-a3b"), 7) == 36 * (524288 * 4 + 32768 * 2)
    assert count_extra_bytes(find_shape("deepseek-v3.2-exp"), 7, 3) == 3 * 7 * 61 * 132
    assert count_extra_bytes(find_shape("glm-5"), 7) == 7 * 78 * 128 * 2
    assert count_extra_bytes(LLAMA, 7) == 0


WINDOW_OF_17 = ModelShape("local", (LayerGroup("sliding", 3, 2, 8, 17),), 2, 16)


@pytest.mark.parametrize(
    ("engine", "model", "tokens", "held"),
    [
        ("llama.cpp", "gemma-3-4b", 131072, 5 * 131072 + 29 * 1536),  # logged: 2560 and 174 MiB
        ("llama.cpp", "gemma-3-4b", 300, 34 * 512),
        ("vLLM", "gemma-3-4b", 131072, 5 * 131072 + 29 * (3072 + 16)),
        ("vLLM", "gemma-3-4b", 33, 5 * 48 + 29 * 64),
        ("vLLM", "llama-4-scout", 131072, 12 * 131072 + 36 * (8192 + 2048)),
        # A window of 17 keeps 16 besides: with 2,048 these are 129 pages, not 130, and one more.
        ("vLLM", WINDOW_OF_17, 131072, 3 * (129 + 1) * 16),
    ],
)
def test_what_an_engine_makes_room_for(engine, model, tokens, held):
    shape = model if isinstance(model, ModelShape) else find_shape(model)
    first = shape.require_groups()[0]
    layer = 2 * first.num_kv_heads * first.head_dim * 2
    assert count_engine_bytes(shape, tokens, engine) == held * layer


def test_vllm_packs_a_latent_with_its_scales():
    assert count_engine_bytes(DEEPSEEK, 16, "vLLM", dtype="fp8") == 16 * 61 * 656
    assert count_engine_bytes(DEEPSEEK, 16, "transformers", dtype="fp8") == 16 * 61 * 576


@given(shapes, lengths)
def test_engines_take_at_least_the_minimum_save_a_token_of_a_window(shape, tokens):
    least = count_cache_bytes(shape, tokens)
    locals_ = sum(
        p.group.count * p.token_bytes for p in list_group_caches(shape, tokens) if p.group.window
    )
    assert count_engine_bytes(shape, tokens, "transformers") >= least - locals_
    for engine in set(ENGINES) - {"transformers"}:
        assert count_engine_bytes(shape, tokens, engine) >= least


@given(shapes, lengths, st.integers(1, 9), formats)
def test_the_working_multiplies_out(shape, tokens, batch, dtype):
    working = cache_formula.explain_cache(shape, tokens, batch, dtype)
    assert working.size == count_cache_bytes(shape, tokens, batch, dtype)
    for line in working.lines[:-1]:
        if " = " in line:
            sum_, result = line.split(": ")[-1].split(" = ")
            assert counted(sum_) == counted(result), line
    assert not working.size or counted(working.lines[-1].split(" = ")[0]) == working.size


def test_layers_stand_where_they_were_published():
    found, known = list_layer_caches(GEMMA, list_group_caches(GEMMA, 131_072))
    full = [layer for layer, part in enumerate(found) if part.group.kind == "full"]
    assert (full, len(found), known) == ([5, 11, 17, 23, 29], 34, True)
    oss = find_shape("gpt-oss-20b")
    found, known = list_layer_caches(oss, list_group_caches(oss, 7))
    assert [part.group.kind for part in found] == ["sliding", "full"] * 12
    unknown = find_shape("gemma-4-31b")
    found, known = list_layer_caches(unknown, list_group_caches(unknown, 7))
    assert [part.group.kind for part in found] == ["sliding"] * 50 + ["full"] * 10
    assert not known
    shifted = replace(GEMMA, full_layers=(5, 11, 17, 23, 34))
    assert not list_layer_caches(shifted, list_group_caches(GEMMA, 7))[1], "there is no layer 34"


@given(shapes, lengths)
def test_layer_by_layer_nothing_is_lost(shape, tokens):
    groups = list_group_caches(shape, tokens)
    found, _ = list_layer_caches(shape, groups)
    total = sum(Fraction(part.size, part.group.count) for part in found)
    assert total == count_cache_bytes(shape, tokens)
    assert len(found) == sum(part.group.count for part in groups)


def counted(text):
    """The value of a line of working, its words left out."""
    words = r"of \d+ bits filled up|in 16 bits|\(K and V(?: in one)?\)|\(packed\)"
    bare = re.sub(words, "", text.replace(",", ""))
    bare = bare.replace(" window ", ", ").replace("⌊", "(").replace("⌋", ")")
    python = re.sub(r"\b(?!min\b)[A-Za-z-]+", "", bare).replace("×", "*").replace("÷", "//")
    return eval(python)


def test_sizes_name_what_they_were_divided_by():
    for count, binary, decimal in [
        (0, "0 bytes", "0 bytes"),
        (1, "1 byte", "1 byte"),
        (1023, "1023 bytes", "1.02 kB"),
        (1024, "1.00 KiB", "1.02 kB"),
        (2**30, "1.00 GiB", "1.07 GB"),
        (2**30 - 1, "1.00 GiB", "1.07 GB"),
        (10**9 - 1, "953.67 MiB", "1.00 GB"),
        (131072 * 10**9, "119.21 TiB", "131.07 TB"),
        (10**30, "827,180.61 YiB", "1,000,000.00 YB"),
    ]:
        assert (format_size(count), format_size(count, "decimal")) == (binary, decimal)


SHARED_BY_FOUR = (LayerGroup("full", 1, 4, 8),)
UNKNOWN_SOURCE = replace(WHISPER, encoder_context=None)
TOO_FEW = "5 KV heads can neither be split over 3 ranks nor repeated"
COUNT: Any = count_cache_bytes
"""For values that its types forbid."""


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (partial(count_engine_bytes, LLAMA, 5, "ollama"), "engine must be one of tr.*'ollama'"),
        (partial(count_engine_bytes, LLAMA, 0, "vLLM"), "tokens must be"),
        (partial(count_paged_bytes, LLAMA, 5, block=0), "block must be a whole number from 1 on"),
        (partial(split_shape, LLAMA, 3), "32 query heads cannot be split over 3 ranks"),
        (partial(split_shape, find_shape("smollm2-360m"), 3), TOO_FEW),
        (partial(ModelShape, "x", SHARED_BY_FOUR, 10, 8), "10 query heads cannot sha"),
        (partial(LayerGroup, "latent", 3, latent_dim=512), "rope_dim of a latent layer must be"),
        (partial(LayerGroup, "sliding", 3, 2, 4), "window of a sliding layer must be"),
        (partial(LayerGroup, "full", 3, 2, 4, window=8), "a full layer has no window"),
        (partial(LayerGroup, "full", 0, 2, 4), "count must be"),
        (partial(LayerGroup, "mamba", 3), "kind must be one of full, sliding, .*'mamba'"),
        (partial(NumberFormat, "int4", 4, 0, 32), "group must be"),
        (partial(list_group_caches, UNKNOWN_SOURCE, 5), "source_tokens must be given"),
        (partial(count_cache_bytes, WHISPER, 5, source_tokens=-1), "source_tokens .* from 0"),
        (partial(count_cache_bytes, replace(LLAMA, groups=None), 5), f"{LLAMA.id}: .*not publi"),
        (partial(COUNT, "llama-3-8b", 5), "must be a ModelShape, .*, not 'll"),
        (partial(COUNT, LLAMA, 0), "tokens must be a whole number from 1 on, not 0"),
        (partial(COUNT, LLAMA, 4096.0), "tokens must be .*, not 4096.0"),
        (partial(COUNT, LLAMA, True), "tokens must be .*, not True"),
        (partial(COUNT, LLAMA, -(10**9000)), "not a number of more than 60 digits"),
        (partial(COUNT, LLAMA, 5, 0), "batch must be a whole number from 1 on"),
        (partial(COUNT, LLAMA, 5, 1, "int3"), "dtype .* float32, bfl.*, not 'int3'"),
        (partial(COUNT, LLAMA, 5, 1, ["fp8"]), "dtype must be one of"),
    ],
)
def test_what_cannot_be_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
