"""A config.json that cannot be counted: what is wrong is named, and nothing large is built."""

import json
import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explainers.memory.cache_bytes import count_cache_bytes
from explainers.memory.config_text import MAX_CHARACTERS
from explainers.memory.read_config import read_config, read_config_file
from tests.memory.test_read_config import (
    CUSTOM,
    GEMMA_3,
    GGUF,
    GPT_OSS,
    LLAMA,
    LOCAL,
    MLA,
    V4,
    YARN,
    blocks,
    changed,
    count,
    without,
)

OTHER_LIST = {"compress_ratios": None, "layer_types": ["compressed_sparse_attention"] * 2}
WHOLE = "must be a whole number from 1 to [0-9,]+, not"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" \n ", "config.json is empty"),
        ("hello", "is not JSON: Expecting value at line 1, column 1"),
        ("<html>", "is not JSON: it looks like a web page"),
        (json.dumps(LLAMA) * 2, "two files are pasted here: the second begins at line 1, column"),
        ("model_type: llama\nhidden_size: 4096", "is not JSON: it looks like YAML"),
        ("---\na: 1", "is not JSON: it looks like YAML"),
        ("* Dumping 35 key/value pair(s)\n", "a GGUF file for people. Paste what gguf-dump --json"),
        ("  1: UINT32     |        1 | GGUF.version = 3", "Paste what gguf-dump --json prints"),
        ("     12: [STRING]   |   128256 | tokenizer.ggml.tokens = ['!', ...]", "gguf-dump --json"),
        ("    107:   16777216 |  4096,  4096,     1,     1 | Q4_K    | blk.9", "gguf-dump --json"),
        ("llama_model_loader: - kv   0: general.architecture", "Paste what gguf-dump --json"),
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
        ('{"hidden_size": 4096,}', "is not JSON: .* at line 1"),
        (json.dumps(LLAMA)[:-10], "breaks off at line 1"),
        ('{"hidden_size": 4096} trailing', "is not JSON: Extra data"),
        ("[1, 2]", r"must be an object in \{…\}, not \[1, 2\]"),
        (changed(hidden_size=float("nan")), f"hidden_size {WHOLE} nan"),
        ("[" * 200_000, "nested too deeply|breaks off"),
        ('{"hidden_size": ' + "9" * 5000 + "}", "cannot be read"),
        ("x" * (MAX_CHARACTERS + 1), "more than 1,000,000 characters"),
        ('{"a": ' + "[" * 32 + "]" * 32 + "}", "nested too deeply"),
        ('{"a": "' + "[" * 99 + '"}', "lacks num_hidden_layers"),  # in a text they are letters
        (json.dumps(without(LLAMA, "num_hidden_layers")), "lacks num_hidden_layers .or n_layer"),
        (json.dumps(without(LLAMA, "num_attention_heads")), "lacks num_attention_heads"),
        (json.dumps(without(LLAMA, "hidden_size")), "lacks hidden_size"),
        (changed(num_hidden_layers=10**9), "num_hidden_layers must be .* to 1,000, not"),
        (changed(hidden_size=10**30), f"hidden_size {WHOLE} 1000"),
        (changed(num_key_value_heads=8.0), f"num_key_value_heads {WHOLE} 8.0"),
        (changed(num_key_value_heads=True), f"num_key_value_heads {WHOLE} True"),
        (changed(num_key_value_heads=5), "_heads 32 cannot share num_key_value_heads 5"),
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
        (changed(attn_layer_indices=[3, 32]), "layer 32 has attention, but there are 32 layers"),
        (changed(attn_layer_period=8), "attn_layer_offset must be a whole number"),
        (changed(hybrid_override_pattern="M*X-" * 8), "hybrid_override_pattern: 'X' is not one"),
        (changed(hybrid_override_pattern=7), "hybrid_override_pattern must be a text, not 7"),
        (changed(linear_attn_config=[1]), r"linear_attn_config must be an object in \{…\}"),
        (changed(mamba_d_state=128), "mamba_d_state: which layers keep a state is not said"),
        (changed(swa_num_key_value_heads=4), "swa_num_key_value_heads: heads like these"),
        (changed(v_head_dim=64), "v_head_dim 64 differs from head_dim 128"),
        (changed(zero_expert_num=256), "zero_expert_num: layers like these are not known"),
        (changed(cross_attention_layers=[3]), "vision_config must have image_size, patch"),
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
        (json.dumps({"id2label": {}, "decoder": LLAMA}), "; decoder has it: paste that part"),
        (changed(GEMMA_3, num_kv_shared_layers=34), "num_kv_shared_layers 34 leaves none"),
        (changed(V4, compress_ratios=[0, 4]), "compress_ratios names 2 layers, num_hidden_lay"),
        (changed(V4, **OTHER_LIST), "layer_types names 2 layers, num_hidden_layers 7"),
        (changed(V4, compress_ratios=[8] * 7), "compress_ratios: 8 is not one of 0, 4, 128"),
        (changed(V4, compress_ratios=4), "compress_ratios must be a list of whole numbers"),
        (changed(V4, kv_source_layers=[1]), "kv_source_layers: layers like these"),
        (changed(V4, index_head_dim=None), "lacks index_head_dim"),
        (changed(CUSTOM, total_ut_steps=10**6, model_type="ouro"), "total_ut_steps must be"),
        (changed(GGUF, **{"llama.attention.sliding_window": 9}), "llama.attention.sliding_window"),
        (changed(GGUF, **{"llama.ssm.state_size": 16}), "llama.ssm.state_size"),
        (changed(GGUF, **{"llama.attention.kv_lora_rank": 512}), "llama.attention.kv_lora_rank"),
        (changed(GGUF, **{"general.architecture": 3}), "general.architecture must be"),
        (changed(GGUF, **{"llama.block_count": "32"}), "num_hidden_layers must be"),
        ('{"hidden_size": 4096}', r"add num_hidden_layers, num_attention_heads$"),
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
    assert read_config("\ufeff" + json.dumps(LLAMA)) == read_config_file(tmp_path)


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
    [
        '{"a": [' + "{}," * 300_000 + "{}]}",
        '{"a": [' + '"x",' * 240_000 + '"x"]}',
        changed(rope_scaling={"long_factor": [1] * 300_000}).replace(" ", ""),
    ],
    ids=["objects", "texts", "numbers"],
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


UNREAD = {
    "mean_recurrence": 32, "n_layers_in_recurrent_block": 4, "num_loops": 6, "recursion_depth": 3,
    "kv_sharing": "cycle", "num_yoco_layers": 12, "yoco_window": 1024, "mamba_ngroups": 2,
    "use_shared_block": True, "attention_window": 2048, "recurrent_state_size": 64,
    "sparse_config": {"kernel_size": 32}, "latent_size": 512, "cp_rank": 2, "memory_length": 512,
    "layer_share": "0_1_1", "conv_size": 4, "use_short_conv": True, "retention_heads": 4,
    "compression_ratio": 8, "block_length": 4,
}  # fmt: skip
"""Of models that no class of transformers is known for."""


@pytest.mark.parametrize("field", UNREAD)
def test_unknown_models_are_refused_by_the_fields_that_nobody_read(field):
    with pytest.raises(ValueError, match=field):
        count({**CUSTOM, "model_type": "custom", field: UNREAD[field]})


def test_what_fills_in_masked_tokens_is_refused_as_such():
    with pytest.raises(ValueError, match=r"block_length, mask_token_id: sdar .* both ways"):
        count({**CUSTOM, "model_type": "sdar", "block_length": 4, "mask_token_id": 151669})


def test_fields_that_change_no_cache_refuse_nothing():
    harmless = {
        "model_type": "custom", "use_cache": True, "attention_dropout": 0.1, "rms_norm_eps": 1e-6,
        "initializer_range": 0.02, "n_shared_experts": 2, "q_lora_rank": 1536, "rope_theta": 1e4,
        "vocab_size": 32000, "shared_expert_intermediate_size": 512, "mask_token_id": None,
        "use_sliding_window": False, "max_window_layers": 28, "share_embeddings": True,
        "kv_cache_bits": 0, "tie_word_embeddings": True, "hidden_act": "silu",
    }  # fmt: skip
    assert count({**CUSTOM, **harmless}) == count({**CUSTOM, "model_type": "custom"})


@pytest.mark.parametrize("factor", ["4", [4], -4, 0, 1e300, True, float("nan")])
def test_a_factor_that_is_no_number_is_named(factor):
    rope = {**YARN, "factor": factor}
    with pytest.raises(ValueError, match="rope_scaling: factor must be a number"):
        read_config(json.dumps({**LLAMA, "rope_scaling": rope}))
