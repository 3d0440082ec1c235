"""Any model's config.json: the same groups as published, and a named field where it is wrong."""

import json
import math
import re
import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explainers.memory.cache_bytes import count_cache_bytes, count_extra_bytes, find_format
from explainers.memory.config_text import MAX_CHARACTERS
from explainers.memory.model_shapes import find_shape
from explainers.memory.read_config import read_config, read_config_file
from explainers.memory.serving import find_weight_format

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16",
}
MLA = {
    "model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61,
    "num_attention_heads": 128, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128, "v_head_dim": 128, "num_key_value_heads": 128,
}  # fmt: skip
LOCAL = ["sliding_attention", "full_attention"]
GPT_OSS = {
    "model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 24, "head_dim": 64,
    "num_attention_heads": 64, "num_key_value_heads": 8, "sliding_window": 128,
    "layer_types": LOCAL * 12,
}  # fmt: skip
GEMMA_3 = {
    "model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34, "head_dim": 256,
    "num_attention_heads": 8, "num_key_value_heads": 4, "sliding_window": 1024,
}  # fmt: skip
CONFIGS = [
    ("llama-3-8b", LLAMA),
    ("deepseek-v3", MLA),
    ("deepseek-v3.2-exp", {**MLA, "index_head_dim": 128}),
    ("gpt-oss-20b", GPT_OSS),
    ("gemma-3-4b", GEMMA_3),
    ("gemma-3-4b", {"text_config": {**GEMMA_3, "sliding_window_pattern": 6}}),
    ("gemma-2-9b", {
        "model_type": "gemma2", "hidden_size": 3584, "num_hidden_layers": 42, "head_dim": 256,
        "num_attention_heads": 16, "num_key_value_heads": 8, "sliding_window": 4096,
    }),
    ("mistral-7b-v0.1", {**LLAMA, "model_type": "mistral", "sliding_window": 4096}),
    ("qwen2.5-7b", {
        "model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28,
        "num_attention_heads": 28, "num_key_value_heads": 4, "sliding_window": 131072,
        "use_sliding_window": False, "max_window_layers": 28,
    }),
    ("qwen3-next-80b-a3b", {
        "model_type": "qwen3_next", "hidden_size": 2048, "num_hidden_layers": 48, "head_dim": 256,
        "num_attention_heads": 16, "num_key_value_heads": 2, "full_attention_interval": 4,
        "linear_num_value_heads": 32, "linear_num_key_heads": 16, "linear_key_head_dim": 128,
        "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
    }),
    ("llama-4-scout", {
        "model_type": "llama4_text", "hidden_size": 5120, "num_hidden_layers": 48, "head_dim": 128,
        "num_attention_heads": 40, "num_key_value_heads": 8, "attention_chunk_size": 8192,
    }),
    ("gpt2", {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12}),
    ("falcon-7b", {
        "model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32, "num_kv_heads": 71,
        "num_attention_heads": 71, "multi_query": True, "new_decoder_architecture": False,
    }),
    ("falcon-40b", {
        "model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60, "num_kv_heads": 8,
        "num_attention_heads": 128, "multi_query": True, "new_decoder_architecture": True,
    }),
    ("starcoder-15b", {
        "model_type": "gpt_bigcode", "n_embd": 6144, "n_layer": 40, "n_head": 48,
        "multi_query": True,
    }),
    ("whisper-tiny", {
        "model_type": "whisper", "is_encoder_decoder": True, "d_model": 384, "encoder_layers": 4,
        "decoder_layers": 4, "encoder_attention_heads": 6, "decoder_attention_heads": 6,
        "max_source_positions": 1500, "max_target_positions": 448,
    }),
    ("t5-small", {
        "model_type": "t5", "is_encoder_decoder": True, "d_model": 512, "d_kv": 64, "num_heads": 8,
        "num_layers": 6, "num_decoder_layers": 6, "n_positions": 512,
    }),
    ("gemma-4-31b", {
        "model_type": "gemma4_text", "hidden_size": 5376, "num_hidden_layers": 60, "head_dim": 256,
        "num_attention_heads": 32, "num_key_value_heads": 16, "num_global_key_value_heads": 4,
        "global_head_dim": 512, "sliding_window": 1024,
        "layer_types": (LOCAL[:1] * 5 + LOCAL[1:]) * 10,
    }),
    ("ling-2.6-flash", {
        "model_type": "bailing_hybrid", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 32, "head_dim": 128,
        "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128,
        "layer_group_size": 8, "num_kv_heads_for_linear_attn": 32, "num_nextn_predict_layers": 1,
    }),
    ("step-3.5-flash", {
        "model_type": "step3p5", "hidden_size": 4096, "num_hidden_layers": 45, "head_dim": 128,
        "num_attention_heads": 64, "num_attention_groups": 8, "sliding_window": 512,
        "layer_types": ["full_attention", *LOCAL[:1] * 3] * 12, "num_nextn_predict_layers": 3,
        "attention_other_setting": {
            "attention_type": "sliding_attention", "num_attention_groups": 8, "head_dim": 128,
        },
    }),
    ("trinity-large", {
        "model_type": "afmoe", "hidden_size": 3072, "num_hidden_layers": 60, "head_dim": 128,
        "num_attention_heads": 48, "num_key_value_heads": 8, "sliding_window": 4096,
        "global_attn_every_n_layers": 4,
    }),
    ("gemma-4-e2b", {
        "model_type": "gemma4_text", "hidden_size": 1536, "num_hidden_layers": 35,
        "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256,
        "global_head_dim": 512, "sliding_window": 512, "num_kv_shared_layers": 20,
        "layer_types": (LOCAL[:1] * 4 + LOCAL[1:]) * 7,
    }),
    ("gemma-4-e4b", {
        "model_type": "gemma4_text", "hidden_size": 2560, "num_hidden_layers": 42,
        "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 256,
        "global_head_dim": 512, "sliding_window": 512, "num_kv_shared_layers": 18,
        "layer_types": (LOCAL[:1] * 5 + LOCAL[1:]) * 7,
    }),
    ("qwen3.6-27b", {"text_config": {
        "model_type": "qwen3_5_text", "hidden_size": 5120, "num_hidden_layers": 64,
        "head_dim": 256, "num_attention_heads": 24, "num_key_value_heads": 4,
        "full_attention_interval": 4, "linear_num_value_heads": 48, "linear_num_key_heads": 16,
        "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
        "mamba_ssm_dtype": "float32",
    }}),
    ("deepseek-v4-pro", {
        "model_type": "deepseek_v4", "hidden_size": 7168, "num_hidden_layers": 61,
        "head_dim": 512, "num_attention_heads": 128, "num_key_value_heads": 1,
        "sliding_window": 128, "index_head_dim": 128,
        "compress_ratios": [128, 128, *[4, 128] * 29, 4, 0],
    }),
    ("bert-base-uncased", {
        "model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12,
    }),
]  # fmt: skip


def without(config, *fields):
    return {field: value for field, value in config.items() if field not in fields}


def blocks(group, **attention):
    """A layer of Nemotron-NAS whose KV heads are each shared by `group` query heads."""
    return {"attention": {"n_heads_in_group": group, **attention}, "ffn": {"no_op": False}}


HYBRID = {**LLAMA, "mamba_d_state": 128, "time_step_limit": [0.0, float("inf")]}
KIMI = {**MLA, "num_hidden_layers": 27, "num_attention_heads": 32}
RECURRENT = ("recurrent", 28, (), None)
STATES_UNKNOWN = {
    "Bamba", "Jamba", "Granite 4", "Nemotron-H", "Nemotron-H as transformers 5 writes it",
    "Falcon-H1", "Kimi Linear",
}  # fmt: skip
"""The files of these tests leave out what the size of a state is made of."""
GROUPS = [
    (
        "ChatGLM",
        {
            "num_layers": 28, "hidden_size": 4096, "num_attention_heads": 32, "kv_channels": 128,
            "multi_query_attention": True, "multi_query_group_num": 2,
        },
        [("full", 28, ((2, 128),) * 2, None)],
    ),
    (
        "MPT",
        {"n_layers": 24, "d_model": 2048, "n_heads": 16, "attn_config": {"attn_type": "x"}},
        [("full", 24, ((16, 128),) * 2, None)],
    ),
    (
        "MPT, multi-query",
        {
            "n_layers": 24, "d_model": 2048, "n_heads": 16,
            "attn_config": {"attn_type": "multiquery_attention"},
        },
        [("full", 24, ((1, 128),) * 2, None)],
    ),
    (
        "DBRX",
        {"n_layers": 40, "d_model": 6144, "n_heads": 48, "attn_config": {"kv_n_heads": 8}},
        [("full", 40, ((8, 128),) * 2, None)],
    ),
    (
        "Llama's params.json",
        {"n_layers": 32, "dim": 4096, "n_heads": 32, "n_kv_heads": 8},
        [("full", 32, ((8, 128),) * 2, None)],
    ),
    (
        "Nemotron-NAS",
        {
            **LLAMA,
            "num_key_value_heads": None,
            "block_configs": [
                *[blocks(8)] * 20,
                *[blocks(4, window_length=77)] * 7,
                *[blocks(None, no_op=True)] * 3,
                *[blocks(None, replace_with_linear=True)] * 2,
            ],
        },
        [("full", 20, ((4, 128),) * 2, None), ("sliding", 7, ((8, 128),) * 2, 77)],
    ),
    (
        "DeciLM",
        {**LLAMA, "num_key_value_heads_per_layer": [4] * 20 + [2] * 12},
        [("full", 12, ((2, 128),) * 2, None), ("full", 20, ((4, 128),) * 2, None)],
    ),
    (
        "Gemma 4 as transformers 5 writes it",
        {**LLAMA, "per_layer_config": {"05": {"head_dim": 512}, "11": {"num_key_value_heads": 4}}},
        [
            ("full", 1, ((4, 128),) * 2, None),
            ("full", 1, ((8, 512),) * 2, None),
            ("full", 30, ((8, 128),) * 2, None),
        ],
    ),
    (
        "Bamba",
        {**HYBRID, "attn_layer_indices": [9, 18, 27]},
        [("full", 3, ((8, 128),) * 2, None), ("recurrent", 29, (), None)],
    ),
    (
        "LFM2",
        {**LLAMA, "conv_L_cache": 3, "full_attn_idxs": [2, 5, 8, 10]},
        [("full", 4, ((8, 128),) * 2, None), RECURRENT],
    ),
    (
        "Jamba",
        {**HYBRID, "attn_layer_period": 8, "attn_layer_offset": 4},
        [("full", 4, ((8, 128),) * 2, None), RECURRENT],
    ),
    (
        "Granite 4",
        {**HYBRID, "layer_types": ["mamba"] * 28 + ["attention"] * 4},
        [("full", 4, ((8, 128),) * 2, None), RECURRENT],
    ),
    (
        "MiniMax",
        {**LLAMA, "attn_type_list": [0, 0, 0, 0, 0, 0, 0, 1] * 4},
        [("full", 4, ((8, 128),) * 2, None), RECURRENT],
    ),
    (
        "Nemotron-H",
        {**HYBRID, "num_hidden_layers": 9, "hybrid_override_pattern": "M-M*-MEM*"},
        [("full", 2, ((8, 128),) * 2, None), ("recurrent", 4, (), None)],
    ),
    (
        "Nemotron-H as transformers 5 writes it",
        {
            **without(HYBRID, "num_hidden_layers"),
            "layers_block_type": ["linear_attention", "moe", "full_attention", "mlp"],
        },
        [("full", 1, ((8, 128),) * 2, None), ("recurrent", 1, (), None)],
    ),
    (
        "Falcon-H1",
        {**HYBRID, "mamba_d_ssm": 1024},
        [("full", 32, ((8, 128),) * 2, None), ("recurrent", 32, (), None)],
    ),
    (
        "Kimi Linear",
        {**KIMI, "linear_attn_config": {"full_attn_layers": [4, 8, 12, 16, 20, 24, 27]}},
        [("latent", 7, ((1, 576),), None), ("recurrent", 20, (), None)],
    ),
    (
        "indexes that layers share",
        {
            **MLA, "index_head_dim": 128, "layer_types": ["indexed_attention"] * 61,
            "indexer_types": ["full", *["shared"] * 60],
        },
        [("index", 1, (), None), ("latent", 61, ((1, 576),), None)],
    ),
    (
        "inside two others",
        {"hidden_size": 7, "thinker_config": {"num_hidden_layers": 3, "text_config": LLAMA}},
        [("full", 32, ((8, 128),) * 2, None)],
    ),
    ("InternVL", {"llm_config": LLAMA}, [("full", 32, ((8, 128),) * 2, None)]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "config", "wanted"), GROUPS, ids=[name for name, *_ in GROUPS])
def test_families_that_write_it_in_another_way(name, config, wanted):
    shape = read_config(json.dumps(config))
    assert sorted((g.kind, g.count, g.vectors, g.window) for g in shape.require_groups()) == wanted
    unknown = [g for g in shape.require_groups() if g.kind == "recurrent" and not g.state]
    assert bool(shape.gaps) == bool(unknown), "what is left out is said"
    assert bool(unknown) == (name in STATES_UNKNOWN)


@pytest.mark.parametrize(
    ("fields", "lacks"),
    [({}, "mamba_n_heads|mamba_expand"), ({"mamba_n_heads": 4, "mamba_d_head": 6}, "mamba_d_conv")],
)
def test_a_state_whose_size_is_not_given_is_left_out_and_the_field_is_named(fields, lacks):
    config = {**HYBRID, **fields, "layer_types": ["mamba"] * 28 + ["attention"] * 4}
    [gap] = read_config(json.dumps(config)).gaps
    assert re.search(f"28 recurrent layers: config.json lacks ({lacks})", gap)


NEMOTRON = {
    "model_type": "nemotron_h", "hidden_size": 4096, "num_attention_heads": 32, "head_dim": 128,
    "num_key_value_heads": 8, "hybrid_override_pattern": "M-" * 24 + "*-" * 2,
    "num_hidden_layers": 52, "mamba_num_heads": 128, "mamba_head_dim": 64, "ssm_state_size": 128,
    "n_groups": 8, "conv_kernel": 4,
}  # fmt: skip


@pytest.mark.parametrize(("dtype", "mib"), [("float32", 96), ("bfloat16", 48)])
def test_the_states_of_nemotron_are_counted_in_the_format_that_the_file_names(dtype, mib):
    shape = read_config(changed(NEMOTRON, mamba_ssm_cache_dtype=dtype))
    convolution = 24 * (128 * 64 + 2 * 8 * 128) * 4 * 2
    assert count_extra_bytes(shape, 9) == mib * 2**20 + convolution
    assert "float32" not in " ".join(shape.notes)
    unnamed = read_config(changed(NEMOTRON))
    assert count_extra_bytes(unnamed, 9) == 96 * 2**20 + convolution
    assert "States are counted in float32" in " ".join(unnamed.notes)


V4 = {
    "model_type": "deepseek_v4", "hidden_size": 7168, "num_hidden_layers": 7, "head_dim": 512,
    "num_attention_heads": 128, "num_key_value_heads": 1, "sliding_window": 128,
    "index_head_dim": 96, "compress_ratios": [0, 4, 128, 4, 128, 4, 128, 0],
}  # fmt: skip


def test_rows_of_several_tokens_are_counted_as_rows():
    """The eighth ratio is that of a layer which guesses ahead: it is none of the seven."""
    groups = {
        (group.kind, group.ratio): group for group in read_config(changed(V4)).require_groups()
    }
    assert {key: group.count for key, group in groups.items()} == {
        ("compressed", 0): 1, ("compressed", 4): 3, ("compressed", 128): 3, ("index", 4): 3,
    }  # fmt: skip
    tokens = 1_003
    rows = 128 + 3 * (128 + 1_003 // 4) + 3 * (128 + 1_003 // 128)
    assert count_cache_bytes(read_config(changed(V4)), tokens) == rows * 512 * 2
    waiting = 3 * 2 * 127 * 512 + 3 * (2 * 3 * 2 + 2 * 4) * (512 + 96)
    extra = count_extra_bytes(read_config(changed(V4)), tokens)
    assert extra == 3 * (1_003 // 4) * 96 * 2 + 2 * waiting


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"compress_ratios": [0, 4]}, "compress_ratios names 2 layers, num_hidden_layers 7"),
        (
            {"compress_ratios": None, "layer_types": ["compressed_sparse_attention"] * 2},
            "layer_types names 2 layers, num_hidden_layers 7",
        ),
        ({"compress_ratios": [8] * 7}, "compress_ratios: 8 is not one of 0, 4, 128"),
        ({"compress_ratios": 4}, "compress_ratios must be a list of whole numbers"),
        ({"kv_source_layers": [1]}, "kv_source_layers: layers like these"),
        ({"index_head_dim": None}, "lacks index_head_dim"),
    ],
)
def test_rows_that_are_merged_in_another_way_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        read_config(changed(V4, **fields))


def test_all_that_is_missing_is_named_at_once():
    with pytest.raises(ValueError, match=r"add num_hidden_layers, num_attention_heads$"):
        read_config('{"hidden_size": 4096}')


def test_distilbert_keeps_nothing_and_bert_as_a_decoder_does():
    distilbert = {"model_type": "distilbert", "dim": 768, "n_heads": 12, "n_layers": 6}
    shape = read_config(json.dumps(distilbert))
    assert (shape.groups, shape.num_heads, shape.d_model) == ((), 12, 768)
    decoder = {**LLAMA, "model_type": "bert", "is_decoder": True}
    assert count_cache_bytes(read_config(json.dumps(decoder)), 8192) == 2**30


@pytest.mark.parametrize(
    ("model_type", "is_encoder"),
    [
        *(("vit", True), ("clip_text_model", True), ("siglip_vision_model", True)),
        *(("wav2vec2-bert", True), ("llama", False), ("mllama_text_model", False)),
        *(("qwen3_vl_text", False), ("canary_decoder", False)),
    ],
)
def test_encoders_of_pictures_and_sounds_keep_nothing(model_type, is_encoder):
    config = {**LLAMA, "model_type": model_type}
    assert (read_config(json.dumps(config)).groups == ()) == is_encoder


@pytest.mark.parametrize(("model_type", "is_encoder"), [("clip", True), ("aya_vision", False)])
def test_only_pairs_of_encoders_have_a_text_part_that_writes_nothing(model_type, is_encoder):
    nested = {"model_type": model_type, "text_config": without(LLAMA, "model_type")}
    assert (read_config(json.dumps(nested)).groups == ()) == is_encoder


@pytest.mark.parametrize(("model", "config"), CONFIGS)
def test_the_file_says_what_was_published(model, config):
    read, published = read_config(json.dumps(config)), find_shape(model)
    assert (read.num_heads, read.d_model) == (published.num_heads, published.d_model)
    assert read.architecture == published.architecture
    kept = sorted((g.kind, g.count, g.vectors, g.window) for g in read.require_groups())
    wanted = sorted((g.kind, g.count, g.vectors, g.window) for g in published.require_groups())
    assert kept == wanted
    for tokens in (1, 5000, 10**9):
        assert count_cache_bytes(read, tokens) == count_cache_bytes(published, tokens)
    if published.id != "deepseek-v3.2-exp":  # its index is kept in fp8, which the file does not say
        assert count_extra_bytes(read, 7) == count_extra_bytes(published, 7)


def test_what_was_assumed_is_said():
    config = without(
        {**LLAMA, "sliding_window": 77, "use_sliding_window": False}, "num_key_value_heads"
    )
    notes = " ".join(read_config(json.dumps(config)).notes)
    assert "4096 ÷ 32 = 128" in notes
    assert "each of the 32 heads has its own" in notes
    assert "switched off" in notes
    assert "text_config" in " ".join(read_config(json.dumps({"text_config": LLAMA})).notes)


def test_weights_that_were_quantised_are_not_taken_for_16_bits():
    for method, dtype in [("fp8", "fp8"), ("mxfp4", "mxfp4"), ("awq", "bfloat16")]:
        shape = read_config(changed(quantization_config={"quant_method": method}))
        assert shape.dtype == dtype
        assert ("quantization_config" in " ".join(shape.notes)) == (method == "awq")


def test_latents_that_are_switched_off_are_none():
    """As in the text model of DeepSeek-OCR."""
    off = {"kv_lora_rank": None, "qk_rope_head_dim": 0, "qk_nope_head_dim": 0, "v_head_dim": 0}
    for fields in (off, {"kv_lora_rank": 512}, {"kv_lora_rank": 0}):
        shape = read_config(changed(**fields, use_mla=False))
        assert count_cache_bytes(shape, 8192) == 2**30


def test_what_stands_before_a_file_is_no_part_of_it():
    assert read_config("\ufeff" + json.dumps(LLAMA)) == read_config(json.dumps(LLAMA))


def test_layers_that_share_a_cache_keep_nothing():
    """The last five: the first 29 have 4 global layers; the last 29 would have 5."""
    shared = read_config(json.dumps({**GEMMA_3, "num_kv_shared_layers": 5}))
    assert [(group.kind, group.count) for group in shared.require_groups()] == [
        ("sliding", 25),
        ("full", 4),
    ]


def test_qwen_slides_from_a_layer_on():
    config = {**LLAMA, "sliding_window": 9, "use_sliding_window": True, "max_window_layers": 30}
    groups = read_config(json.dumps(config)).require_groups()
    assert [(group.kind, group.count) for group in groups] == [("full", 30), ("sliding", 2)]


def test_windowed_layers_may_have_heads_of_their_own():
    other = {"attention_type": "sliding_attention", "num_attention_groups": 4, "head_dim": 64}
    groups = read_config(
        changed(GPT_OSS, attention_other_setting=other, num_key_value_heads=8)
    ).require_groups()
    assert {(g.kind, g.num_kv_heads, g.head_dim) for g in groups} == {
        ("sliding", 4, 64), ("full", 8, 64),
    }  # fmt: skip


def changed(config=LLAMA, **fields):
    return json.dumps({**config, **fields})


WHOLE = "must be a whole number from 1 to [0-9,]+, not"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "config.json is empty"),
        (" \n ", "config.json is empty"),
        ("hello", "is not JSON: Expecting value at line 1, column 1"),
        ("<html>", "is not JSON: it looks like a web page"),
        (json.dumps(LLAMA) * 2, "two files are pasted here: the second begins at line 1, column"),
        (f"{json.dumps(LLAMA)}\n[1]", "two files are pasted here: the second begins at line 2"),
        ("model_type: llama\nhidden_size: 4096", "is not JSON: it looks like YAML"),
        ("---\na: 1", "is not JSON: it looks like YAML"),
        (repr(LLAMA), "it has ' where JSON has \": print it with json.dumps"),
        (f"LlamaConfig {json.dumps(LLAMA)}", r"printed by Python: take the part in \{…\}"),
        ("version https://git-lfs.github.com/spec/v1", "it only points to a large file"),
        ("[model]\nhidden_size = 4096", "it looks like TOML or a script"),
        ("https://huggingface.co/Qwen/Qwen3-8B", "it is an address: copy the file that is there"),
        (f"```json\n{json.dumps(LLAMA)}\n```", r"more around it: take the part in \{…\}"),
        ("{“hidden_size”: 4096}", "'“' at line 1, column 2 does not belong there"),
        (json.dumps(LLAMA) + ",\n" + json.dumps(LLAMA), "two files are pasted here"),
        ('{"model_type": "\\ud800", "hidden_size": 4096}', "it has half of a sign"),
        ('{"do_sample": true, "eos_token_id": 2}', "this is generation_config.json: take the con"),
        ('{"weight_map": {"a": "b"}}', "this is model.safetensors.index.json"),
        ('{"peft_type": "LORA", "r": 16}', "this is adapter_config.json"),
        ("import torch", "is not JSON: Expecting value at line 1, column 1"),
        ('{"hidden_size": 4096,}', "is not JSON: .* at line 1"),
        ('{"hidden_size": 4096 // wide\n}', "is not JSON: .* at line 1"),
        (json.dumps(LLAMA)[:-10], "breaks off at line 1"),
        (json.dumps(LLAMA, indent=1)[:60], "breaks off at line"),
        ('{"hidden_size": 4096,', "breaks off at line 1"),
        ('{"hidden_si', "breaks off at line 1"),
        ('{"hidden_size": 4096} trailing', "is not JSON: Extra data"),
        ("[1, 2]", r"must be an object in \{…\}, not \[1, 2\]"),
        ("12", "must be an object"),
        (changed(hidden_size=float("nan")), f"hidden_size {WHOLE} nan"),
        ("[" * 200_000, "nested too deeply|breaks off"),
        ('{"hidden_size": ' + "9" * 5000 + "}", "cannot be read"),
        ("x" * (MAX_CHARACTERS + 1), "more than 1,000,000 characters"),
        ('{"a": ' + "[" * 32 + "]" * 32 + "}", "nested too deeply"),
        ('{"a": "' + "[" * 99 + '"}', "lacks num_hidden_layers"),  # in a text they are letters
        ("{}", "lacks num_hidden_layers"),
        (json.dumps(without(LLAMA, "num_hidden_layers")), "lacks num_hidden_layers .or n_layer"),
        (json.dumps(without(LLAMA, "num_attention_heads")), "lacks num_attention_heads"),
        (json.dumps(without(LLAMA, "hidden_size")), "lacks hidden_size"),
        (changed(num_hidden_layers="32"), f"num_hidden_layers {WHOLE} '32'"),
        (changed(num_hidden_layers=10**9), "num_hidden_layers must be .* to 1,000, not"),
        (changed(num_hidden_layers=0), f"num_hidden_layers {WHOLE} 0"),
        (changed(num_key_value_heads=-8), f"num_key_value_heads {WHOLE} -8"),
        (changed(num_key_value_heads=8.0), f"num_key_value_heads {WHOLE} 8.0"),
        (changed(num_key_value_heads=True), f"num_key_value_heads {WHOLE} True"),
        (changed(hidden_size=10**30), f"hidden_size {WHOLE} 1000"),
        (
            changed(num_key_value_heads=5),
            "num_attention_heads 32 cannot share num_key_value_heads 5",
        ),
        (changed(hidden_size=4100), "lacks head_dim, and 4100 .* does not divide by 32"),
        (json.dumps(without(MLA, "qk_rope_head_dim")), "lacks qk_rope_head_dim"),
        (changed(MLA, qk_rope_head_dim=0), f"qk_rope_head_dim {WHOLE} 0"),
        (changed(GPT_OSS, layer_types=LOCAL), "layer_types names 2 layers, num_hidden_layers 24"),
        (changed(GPT_OSS, layer_types=["other"] * 24), "layer_types: 'other' is not one of"),
        (changed(layer_types=["mamba"] * 32), "none of the 32 layers keeps keys and values"),
        (changed(GPT_OSS, layer_types="full_attention"), "layer_types must be a list of names"),
        (json.dumps(without(GPT_OSS, "sliding_window")), "lacks sliding_window"),
        (changed(multi_query="yes"), "multi_query must be true or false"),
        (changed(attn_type_list=[0, 1]), "attn_type_list names 2 layers, num_hidden_layers 32"),
        (changed(attn_type_list=[2] * 32), "attn_type_list: 2 is not one of 0, 1"),
        (changed(attn_type_list=0), "attn_type_list must be a list of whole numbers, not 0"),
        (changed(attn_layer_indices=[3, 32]), "layer 32 has attention, but there are 32 layers"),
        (changed(attn_layer_period=8), "attn_layer_offset must be a whole number"),
        (changed(hybrid_override_pattern="M*X-" * 8), "hybrid_override_pattern: 'X' is not one"),
        (changed(hybrid_override_pattern=7), "hybrid_override_pattern must be a text, not 7"),
        (changed(linear_attn_config=[1]), r"linear_attn_config must be an object in \{…\}"),
        (changed(mamba_d_state=128), "mamba_d_state: which layers keep a state is not said"),
        (changed(swa_num_key_value_heads=4), "swa_num_key_value_heads: heads like these"),
        (changed(v_head_dim=64), "v_head_dim 64 differs from head_dim 128"),
        (changed(zero_expert_num=256), "zero_expert_num: layers like these are not known"),
        (
            changed(cross_attention_layers=[3]),
            "vision_config must have image_size, patch_size, max",
        ),
        (changed(cross_attention_layers=[32]), "cross_attention_layers: layers like these"),
        (changed(num_key_value_heads_per_layer=[4]), "per_layer names 1 layers, not 32"),
        (changed(num_key_value_heads_per_layer=[5] * 32), "32 query heads cannot share 5 KV heads"),
        (changed(per_layer_config={"40": {}}), "per_layer_config: '40' is none of the 32 layers"),
        (changed(per_layer_config={"4": {"sliding_window": 9}}), "sliding_window of a single lay"),
        (changed(block_configs=[{}]), "block_configs must be a list of 32 layers"),
        (changed(block_configs=[{}] * 32), r"block_configs: \{\} lacks attention"),
        (changed(block_configs=[blocks(7)] * 32), "n_heads_in_group 7 does not divide 32 heads"),
        (changed(multi_query_attention=True), "lacks multi_query_group_num"),
        (changed(attn_config={"sliding_window_size": 9}), "sliding_window_size: layers like these"),
        (changed(MLA, layer_types=["sliding_attention"] * 61), "kv_lora_rank: a latent in sliding"),
        (changed(layer_types=["indexed_attention"] * 32), "known with kv_lora_rank only"),
        (
            json.dumps({"id2label": {"0": "a"}, "decoder": LLAMA}),
            "; decoder has it: paste that part",
        ),
        (changed(GEMMA_3, num_kv_shared_layers=34), "num_kv_shared_layers 34 leaves none"),
        ('{"model_type": "rwkv", "hidden_size": 8}', "rwkv has no attention, so it has no KV"),
        ('{"d_model": 8, "n_layer": 3, "ssm_cfg": {}}', "this model has no attention"),
    ],
)
def test_what_is_wrong_is_named(text, message):
    with pytest.raises(ValueError, match=message):
        read_config(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(1, 99) | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
FIELDS = [
    *(*LLAMA, *MLA, *GPT_OSS, "text_config", "multi_query", "num_kv_shared_layers"),
    *("attn_config", "block_configs", "per_layer_config", "layers_block_type", "attn_type_list"),
    *("linear_attn_config", "attn_layer_period", "attn_layer_indices", "v_head_dim"),
]


@given(
    st.sampled_from([LLAMA, MLA, GPT_OSS, GEMMA_3]), st.dictionaries(st.sampled_from(FIELDS), JSON)
)
def test_any_value_is_read_or_refused_but_never_crashes(config, fields):
    with suppress(ValueError):
        assert count_cache_bytes(read_config(json.dumps({**config, **fields})), 3) > 0


def test_a_folder_and_a_file_are_read_alike(tmp_path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(LLAMA), encoding="utf-8")
    assert read_config_file(tmp_path) == read_config_file(str(file))
    assert count_cache_bytes(read_config_file(tmp_path), 8192) == 2**30


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"there is no file .*config\.json"),
        (b"\xff\xfe\x00", "cannot be read as text"),
        (b"x" * (MAX_CHARACTERS + 5), "more than 1,000,000 characters"),
    ],
)
def test_a_folder_without_a_configuration_says_so(tmp_path, content, message):
    if content is not None:
        (tmp_path / "config.json").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_config_file(tmp_path)


@pytest.mark.parametrize(
    "bomb",
    ['{"a": [' + "{}," * 300_000 + "{}]}", '{"a": [' + '"x",' * 240_000 + '"x"]}'],
    ids=["objects", "texts"],
)
def test_nothing_is_built_of_a_short_text_that_unfolds(bomb):
    tracemalloc.start()
    with pytest.raises(ValueError, match="50,000 parts"):
        read_config(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000  # bytes; json would take 20 million


def test_a_text_without_an_end_is_read_once():
    """Looked at from each of its quotes anew, it would take hours."""
    with pytest.raises(ValueError, match="breaks off"):
        read_config('{"a": "' + '\\"' * 400_000)


CUSTOM = {"hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16, "head_dim": 128}
CLA = {
    "model_type": "hunyuan", "hidden_size": 6400, "num_hidden_layers": 64,
    "num_attention_heads": 80, "num_key_value_heads": 8, "attention_head_dim": 128,
    "use_cla": True, "cla_share_factor": 2,
}  # fmt: skip


def count(config, tokens=32_768, source_tokens=None):
    return count_cache_bytes(read_config(json.dumps(config)), tokens, source_tokens=source_tokens)


def test_layers_that_share_a_cache_are_counted_once():
    assert count(CLA) == 2 * 8 * 128 * 2 * 32_768 * 32
    assert count({**CLA, "use_cla": False}) == 2 * 8 * 128 * 2 * 32_768 * 64
    assert count({**CLA, "num_hidden_layers": 63}) == count(CLA)  # the last one stands alone


def test_layers_that_are_used_again_keep_a_cache_each_time():
    ouro = {**CUSTOM, "model_type": "ouro", "total_ut_steps": 4}
    assert count(ouro) == 2 * 16 * 128 * 2 * 32_768 * 24 * 4
    with pytest.raises(ValueError, match="total_ut_steps must be"):
        count({**ouro, "total_ut_steps": 10**6})


@pytest.mark.parametrize(
    ("model_type", "fields", "named"),
    [
        ("llada", {"mask_token_id": 126336}, "both ways"),
        ("Dream", {"mask_token_id": 151666, "use_sliding_window": False}, "both ways"),
        ("sdar", {"block_length": 4, "mask_token_id": 151669}, "block_length, mask_token_id"),
        ("huginn_raven", {"mean_recurrence": 32, "n_layers_in_recurrent_block": 4}, "mean_recur"),
        ("universal", {"num_loops": 6}, "num_loops"),
        ("mor", {"recursion_depth": 3, "kv_sharing": "cycle"}, "recursion_depth, kv_sharing"),
        ("yoco", {"num_yoco_layers": 12, "yoco_window": 1024}, "num_yoco_layers, yoco_window"),
        ("phi4flash", {"mb_per_layer": 2, "mamba_d_state": 16}, "mamba_d_state"),
        ("zamba3", {"mamba_ngroups": 2, "use_shared_block": True}, "mamba_ngroups"),
        ("griffin", {"attention_window": 2048}, "attention_window"),
        ("rwkv_hybrid", {"recurrent_state_size": 64}, "recurrent_state_size"),
        ("minicpm_sala", {"sparse_config": {"kernel_size": 32}}, "sparse_config"),
        ("mla_like", {"latent_size": 512}, "latent_size"),
        ("tpa", {"cp_rank": 2}, "cp_rank"),
        ("landmark", {"memory_length": 512}, "memory_length"),
        ("lckv", {"layer_share": "0_1_1"}, "layer_share"),
        ("hgrn", {"conv_size": 4, "use_short_conv": True}, "conv_size, use_short_conv"),
        ("retnet", {"retention_heads": 4}, "retention_heads"),
        ("dms", {"compression_ratio": 8}, "compression_ratio"),
    ],
)  # fmt: skip
def test_unknown_models_are_refused_by_the_fields_that_nobody_read(model_type, fields, named):
    config = {**CUSTOM, "model_type": model_type}
    assert count(config)
    with pytest.raises(ValueError, match=named):
        count({**config, **fields})


def test_fields_that_change_no_cache_refuse_nothing():
    harmless = {
        "model_type": "custom", "use_cache": True, "attention_dropout": 0.1, "rms_norm_eps": 1e-6,
        "initializer_range": 0.02, "n_shared_experts": 2, "q_lora_rank": 1536, "rope_theta": 1e4,
        "vocab_size": 32000, "shared_expert_intermediate_size": 512, "mask_token_id": None,
        "use_sliding_window": False, "max_window_layers": 28, "share_embeddings": True,
        "kv_cache_bits": 0, "tie_word_embeddings": True, "hidden_act": "silu",
    }  # fmt: skip
    assert count({**CUSTOM, **harmless}) == count({**CUSTOM, "model_type": "custom"})


YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768}


@pytest.mark.parametrize(
    ("fields", "reached"),
    [
        ({"rope_scaling": YARN}, 131_072),
        ({"rope_parameters": {**YARN, "rope_type": "yarn"}}, 131_072),
        ({"rope_parameters": {"full_attention": YARN, "sliding_attention": {}}}, 131_072),
        ({"rope_scaling": {"type": "yarn", "factor": 4}}, 131_072),
        ({"rope_scaling": {"type": "linear", "factor": 2}}, 65_536),
        ({"rope_scaling": {"type": "dynamic", "factor": 2.0}}, 65_536),
        ({"rope_scaling": {**YARN, "type": "llama3"}}, 32_768),
        ({"rope_scaling": {**YARN, "type": "longrope"}}, 32_768),
        ({"rope_scaling": YARN, "max_position_embeddings": 131_072}, 131_072),
        ({"rope_scaling": {**YARN, "factor": 2}, "max_position_embeddings": 131_072}, 131_072),
        ({"rope_scaling": {"type": "linear", "factor": 8}, "model_type": "gemma3_text"}, 32_768),
        ({"rope_scaling": None}, 32_768),
    ],
)  # fmt: skip
def test_scaled_positions_reach_further_than_the_file_was_trained(fields, reached):
    config = {**LLAMA, "max_position_embeddings": 32_768, **fields}
    assert read_config(json.dumps(config)).context == reached


@pytest.mark.parametrize("factor", ["4", [4], -4, 0, 1e300, True, float("nan")])
def test_a_factor_that_is_no_number_is_named(factor):
    rope = {**YARN, "factor": factor}
    with pytest.raises(ValueError, match="rope_scaling: factor must be a number"):
        read_config(json.dumps({**LLAMA, "rope_scaling": rope}))


MBART = {
    "model_type": "mbart", "d_model": 1024, "decoder_layers": 4, "decoder_attention_heads": 16,
    "encoder_layers": 12, "num_hidden_layers": 12, "max_position_embeddings": 768,
    "is_decoder": True, "add_cross_attention": True,
}  # fmt: skip
BERT = {
    "model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
    "max_position_embeddings": 512,
}  # fmt: skip
SWIN = {
    "model_type": "donut-swin", "depths": [2, 2, 14, 2], "image_size": [2560, 1920],
    "patch_size": 4, "num_heads": [4, 8, 16, 32],
}  # fmt: skip
VIT = {"model_type": "vit", "image_size": 384, "patch_size": 16, "num_attention_heads": 12}
T5 = {"model_type": "t5", "n_positions": 512}


@pytest.mark.parametrize(
    ("encoder", "rows"),
    [
        (SWIN, 80 * 60),
        ({**SWIN, "image_size": [1001, 64]}, 32 * 2),
        (VIT, 24 * 24 + 1),
        ({**VIT, "model_type": "deit"}, 24 * 24 + 2),
        ({**VIT, "model_type": "convnext"}, None),
        (BERT, 512),
        ({"model_type": "wav2vec2", "hidden_size": 768}, None),
    ],
)
def test_a_pair_keeps_what_its_decoder_makes_of_both(encoder, rows):
    pair = {"model_type": "vision-encoder-decoder", "encoder": encoder, "decoder": MBART}
    own = 2 * 16 * 64 * 2 * 768 * 4
    assert read_config(json.dumps(pair)).encoder_context == rows
    if rows:
        assert count(pair, 768) == own + 2 * 16 * 64 * 2 * rows * 4
    else:
        with pytest.raises(ValueError, match="source_tokens"):
            count(pair, 768)
    assert count(pair, 768, source_tokens=10) == own + 2 * 16 * 64 * 2 * 10 * 4


def test_other_pairs_are_read_from_their_decoders():
    musicgen = {
        "model_type": "musicgen", "text_encoder": T5, "audio_encoder": {"model_type": "encodec"},
        "decoder": {"model_type": "musicgen_decoder", "hidden_size": 1024, "ffn_dim": 4096,
                    "num_hidden_layers": 24, "num_attention_heads": 16},
    }  # fmt: skip
    assert count(musicgen, 1500) == 2 * 16 * 64 * 2 * (1500 + 512) * 24
    bert = {"model_type": "encoder-decoder", "encoder": BERT, "decoder": BERT}
    assert count(bert, 512) == 37_748_736


@pytest.mark.parametrize(
    ("decoder", "tokens", "source", "size"),
    [
        (MBART, 768, 4800, 91_226_112),
        ({**MBART, "is_encoder_decoder": False}, 768, 4800, 91_226_112),
        ({**BERT, "is_decoder": True, "add_cross_attention": True}, 512, 512, 37_748_736),
        ({**MBART, "model_type": "trocr", "add_cross_attention": None}, 768, 4800, 91_226_112),
    ],
)  # fmt: skip
def test_a_decoder_alone_asks_how_much_its_encoder_read(decoder, tokens, source, size):
    with pytest.raises(ValueError, match="--source-tokens"):
        count(decoder, tokens)
    assert count(decoder, tokens, source_tokens=source) == size


GGUF = {
    "general.architecture": "llama", "llama.block_count": 32, "llama.embedding_length": 4096,
    "llama.attention.head_count": 32, "llama.attention.head_count_kv": 8,
    "llama.context_length": 8192, "tokenizer.ggml.tokens": ["a"], "general.file_type": 2,
}  # fmt: skip


def test_the_metadata_of_a_gguf_file_is_read():
    assert count(GGUF) == 4_294_967_296
    shape = read_config(json.dumps({"metadata": {k: {"value": v} for k, v in GGUF.items()}}))
    assert (shape.context, shape.dtype, shape.family) == (8192, "q4_0", "llama")
    by_layer = {**GGUF, "llama.attention.head_count_kv": [8] * 31 + [4]}
    assert count(by_layer) == 2 * 128 * 2 * 32_768 * (31 * 8 + 4)
    gemma = {name.replace("llama", "gemma3"): value for name, value in GGUF.items()}
    gemma |= {"general.architecture": "gemma3", "gemma3.attention.sliding_window": 1024}
    groups = read_config(json.dumps(gemma)).groups or ()
    [local, full] = sorted(groups, key=lambda group: -group.count)
    assert (local.count, local.window, full.count) == (27, 1024, 5)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"llama.attention.sliding_window": 4096}, "llama.attention.sliding_window"),
        ({"llama.ssm.state_size": 16}, "llama.ssm.state_size"),
        ({"llama.attention.kv_lora_rank": 512}, "llama.attention.kv_lora_rank"),
        ({"general.architecture": 3}, "general.architecture must be"),
        ({"llama.block_count": "32"}, "num_hidden_layers must be"),
    ],
)
def test_what_gguf_says_and_nobody_reads_is_named(fields, named):
    with pytest.raises(ValueError, match=named):
        count({**GGUF, **fields})


def test_a_long_list_of_numbers_is_refused_before_it_is_built():
    longest = json.dumps({**LLAMA, "rope_scaling": {"long_factor": [1] * 300_000}})
    tracemalloc.start()
    with pytest.raises(ValueError, match="parts"):
        read_config(longest.replace(" ", ""))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


QUANTIZED = {**LLAMA, "vocab_size": 128_256}
EMBEDDED = 2 * 128_256 * 4096
INT4 = {"num_bits": 4, "group_size": 128, "type": "int", "symmetric": True}


@pytest.mark.parametrize(
    ("quantization", "bits", "shared", "group"),
    [
        ({"quant_method": "gptq", "bits": 4, "group_size": 128}, 4, 20, 128),
        ({"quant_method": "awq", "w_bit": 4, "q_group_size": 64}, 4, 20, 64),
        ({"quant_method": "awq", "bits": 4, "group_size": -1}, 4, 0, None),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, 4, 32, 64),
        (
            {"quant_method": "bitsandbytes", "load_in_4bit": True,
             "bnb_4bit_use_double_quant": True},
            4, 8, 64,
        ),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, 8, 0, None),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, 8, 32, 128 * 128),
        ({"quant_method": "fp8", "activation_scheme": "dynamic"}, 8, 0, None),
        ({"quant_method": "compressed-tensors", "format": "float-quantized"}, 8, 0, None),
        (
            {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": INT4}},
             "ignore": ["lm_head"]},
            4, 16, 128,
        ),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, 4, 8, 16),
        ({"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}, 4, 8, 32),
    ],
)  # fmt: skip
def test_quantized_weights_have_the_size_that_the_file_says(quantization, bits, shared, group):
    shape = read_config(json.dumps({**QUANTIZED, "quantization_config": quantization}))
    weights = 8 * 10**9 - EMBEDDED
    size = weights * bits // 8 + 2 * EMBEDDED
    size += math.ceil(math.ceil(weights / group) * shared / 8) if group else 0
    number_format = find_format(find_weight_format(shape))
    assert number_format.count_weight_bytes(8 * 10**9) == size
    assert any(quantization["quant_method"] in note for note in shape.notes)


def test_attention_that_stays_in_16_bits_is_counted():
    left = ["model.layers.*.self_attn", "model.layers.3.mlp", "lm_head"]
    quantization = {"quant_method": "mxfp4", "modules_to_not_convert": left}
    shape = read_config(json.dumps({**QUANTIZED, "quantization_config": quantization}))
    attention = 32 * 2 * 4096 * 128 * (32 + 8)
    assert shape.dtype == f"4-bit + 8/32, {EMBEDDED + attention} × 16-bit"
    assert "model.layers.3.mlp stay in 16 bits" in " ".join(shape.notes)


def test_tied_embeddings_are_counted_once():
    quantization = {"quant_method": "gptq", "bits": 8}
    config = {**QUANTIZED, "tie_word_embeddings": True, "quantization_config": quantization}
    assert read_config(json.dumps(config)).dtype == f"8-bit, {EMBEDDED // 2} × 16-bit"


@pytest.mark.parametrize(
    "quantization",
    [
        {"quant_method": "hqq", "bits": 4},
        {"quant_method": "gptq"},
        {"quant_method": "compressed-tensors", "config_groups": {"a": {}}},
        {
            "quant_method": "compressed-tensors",
            "config_groups": {"a": {"weights": INT4}, "b": {"weights": {"num_bits": 8}}},
        },
    ],
)
def test_quantized_weights_of_unknown_size_are_asked_for(quantization):
    shape = read_config(json.dumps({**QUANTIZED, "quantization_config": quantization}))
    assert shape.dtype == "bfloat16"
    assert "choose the format of the weights" in " ".join(shape.notes)


SCHEME = {"num_bits": 8, "type": "float", "strategy": "tensor"}


@pytest.mark.parametrize(
    ("quantization", "dtype"),
    [
        ({"kv_cache_scheme": SCHEME}, "fp8"),
        ({"kv_cache_quant_algo": "FP8"}, "fp8"),
        ({"kv_cache_scheme": {**SCHEME, "type": "int"}}, "bfloat16"),
        ({"kv_cache_scheme": None}, "bfloat16"),
    ],
)
def test_a_file_may_say_how_its_cache_is_stored(quantization, dtype):
    quantization = {"quant_method": "compressed-tensors", **quantization}
    shape = read_config(json.dumps({**LLAMA, "quantization_config": quantization}))
    assert shape.cache_dtype == dtype
    is_told = any("kv_cache_scheme" in note for note in shape.notes)
    assert is_told == any(
        quantization.get(name) for name in ("kv_cache_scheme", "kv_cache_quant_algo")
    )
