"""Any model's config.json: the same groups as published, and a named field where it is wrong."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explainers.memory.cache_bytes import count_cache_bytes, count_extra_bytes
from explainers.memory.model_shapes import find_shape
from explainers.memory.read_config import MAX_CHARACTERS, read_config, read_config_file

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
    recurrent = any(kind == "recurrent" for kind, *_ in wanted)
    assert bool(shape.gaps) == recurrent, "what is left out is said"


def test_distilbert_keeps_nothing_and_bert_as_a_decoder_does():
    distilbert = {"model_type": "distilbert", "dim": 768, "n_heads": 12, "n_layers": 6}
    shape = read_config(json.dumps(distilbert))
    assert (shape.groups, shape.num_heads, shape.d_model) == ((), 12, 768)
    decoder = {**LLAMA, "model_type": "bert", "is_decoder": True}
    assert count_cache_bytes(read_config(json.dumps(decoder)), 8192) == 2**30


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


def changed(config=LLAMA, **fields):
    return json.dumps({**config, **fields})


WHOLE = "must be a whole number from 1 to [0-9,]+, not"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "config.json is empty"),
        (" \n ", "config.json is empty"),
        ("hello", "is not JSON: Expecting value at line 1, column 1"),
        ("<html>", "is not JSON"),
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
        (changed(GPT_OSS, layer_types=["hybrid"] * 24), "layer_types: 'hybrid' is not one of"),
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
        (changed(cross_attention_layers=[3]), "cross_attention_layers: layers like these"),
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
