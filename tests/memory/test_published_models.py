"""What config.json files say of published models is what is listed of them, and has a source.

What was published of the caches of models of 2026 is computed again.
"""

import json
from fractions import Fraction
from typing import Any

import pytest
from transformers import KimiLinearConfig

from explainers.memory.cache_bytes import (
    count_bytes_per_token,
    count_cache_bytes,
    count_extra_bytes,
    count_lasting_bytes,
)
from explainers.memory.cache_formula import round_quotient
from explainers.memory.model_shapes import find_shape, list_model_ids
from explainers.memory.read_config import read_config
from explainers.memory.serving import read_gpus
from explainers.models.config_defaults import find_class_defaults
from tests.memory.test_read_config import GEMMA_3, GPT_OSS, LLAMA, LOCAL, MLA, describe

CONFIGS = [
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
    ("llama-4-scout", {
        "model_type": "llama4_text", "hidden_size": 5120, "num_hidden_layers": 48, "head_dim": 128,
        "num_attention_heads": 40, "num_key_value_heads": 8, "attention_chunk_size": 8192,
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
    ("gemma-4-31b", {
        "model_type": "gemma4_text", "hidden_size": 5376, "num_hidden_layers": 60, "head_dim": 256,
        "num_attention_heads": 32, "num_key_value_heads": 16, "num_global_key_value_heads": 4,
        "global_head_dim": 512, "sliding_window": 1024,
        "layer_types": (LOCAL[:1] * 5 + LOCAL[1:]) * 10,
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
]  # fmt: skip


CLASS_DEFAULTS = {
    "bert-base-uncased": "bert",
    "falcon-7b": "falcon",
    "qwen3.5-9b": "qwen3_5_text",
    "qwen3.5-35b-a3b": "qwen3_5_moe_text",
    "qwen3.6-35b-a3b": "qwen3_5_moe_text",
    "zaya1-8b": "zaya",
    "minimax-m2.5": "minimax_m2",
}
"""Their files say no more than their class."""
CONFIGS += [(model, {"model_type": name}) for model, name in CLASS_DEFAULTS.items()]


@pytest.mark.parametrize(("model", "config"), CONFIGS)
def test_the_file_says_what_was_published(model, config):
    defaults = [find_class_defaults] if model in CLASS_DEFAULTS else []
    check_alike(read_config(json.dumps(config), *defaults), find_shape(model))


def check_alike(read, listed):
    assert (read.num_heads, read.d_model) == (listed.num_heads, listed.d_model)
    assert read.architecture == listed.architecture
    assert describe(read) == describe(listed)
    for tokens in (1, 777, 131_072, 10**9):
        assert count_cache_bytes(read, tokens) == count_cache_bytes(listed, tokens)
        if listed.id != "deepseek-v3.2-exp":  # its index is in fp8, which the file does not say
            assert count_extra_bytes(read, tokens) == count_extra_bytes(listed, tokens)


def test_stated_numbers_of_parameters_are_read_exactly():
    for model, parameters, exact in [
        ("llama-3-8b", 8_030_261_248, True),
        ("mixtral-8x7b", 46_700_000_000, False),
        ("kimi-k2", 1_000_000_000_000, False),
        ("glm-5", None, False),
    ]:
        shape = find_shape(model)
        assert (shape.parameters, shape.has_exact_parameters) == (parameters, exact)


def test_everything_published_has_a_source():
    assert len(list_model_ids()) == 83
    shapes = [find_shape(model) for model in list_model_ids()]
    assert all(shape.sources and shape.verified for shape in shapes)
    assert all(gpu.sources for gpu in read_gpus().values())


def test_an_unknown_model_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match=r"no model 'llama-9'.*llama-3-8b"):
        find_shape("llama-9")
    nothing: Any = ["gpt2"]
    with pytest.raises(ValueError, match=r"no model \['gpt2'\]"):
        find_shape(nothing)


MILLION = 2**20
PRO, FLASH, BEFORE = (find_shape(f"deepseek-v{name}") for name in ("4-pro", "4-flash", "3.2-exp"))


def keep(shape):
    """Rows and index keys in 16 bits, without the tokens that wait: as vLLM counts."""
    waiting = sum(g.count * part.elements * 2 for g in shape.require_groups() for part in g.state)
    return count_cache_bytes(shape, MILLION) + count_extra_bytes(shape, MILLION) - waiting


def test_deepseek_v4_keeps_what_was_published_of_it():
    """9.62 GiB, 8.7 times less than in 16 bits."""
    assert f"{round_quotient(keep(PRO), 2**30)}" == "9.62"
    all_in_16_bits = 61 * (512 + 64 + 128) * 2
    assert f"{round_quotient(all_in_16_bits * MILLION, keep(PRO), 1)}" == "8.7"
    groups = {(g.kind, g.ratio): g.count for g in PRO.require_groups()}
    assert groups == {("compressed", 4): 30, ("index", 4): 30, ("compressed", 128): 31}
    # A tenth of the cache of V3.2 is a matter of formats.
    in_16_bits = Fraction(count_lasting_bytes(PRO), all_in_16_bits)
    assert round(float(100 * in_16_bits), 1) == 11.5
    as_shown = count_lasting_bytes(FLASH) / count_lasting_bytes(BEFORE)
    assert round(float(100 * as_shown), 1) == 8.8, "rows in 16 bits, the old index in fp8"


def test_kib_for_each_token_are_those_of_the_galleries():
    for model, kib in {
        "ling-2.5-1t": "11.25", "kimi-k2.5": "68.62", "minimax-m2.5": "248.00",
    }.items():  # fmt: skip
        assert f"{round_quotient(count_bytes_per_token(find_shape(model)), 1024)}" == kib


def test_the_layers_of_kimi_linear_are_those_of_its_file():
    """Every fourth and the last; its class alone, which counts from 0, would give one less."""
    full = [4, 8, 12, 16, 20, 24, 27]
    rest = [layer for layer in range(1, 28) if layer not in full]
    nested = {"full_attn_layers": full, "kda_layers": rest, "num_heads": 32, "head_dim": 128}
    written = nested | {"short_conv_kernel_size": 4}
    file = {"model_type": "kimi_linear", "linear_attn_config": written}
    listed = find_shape("kimi-linear-48b-a3b")
    check_alike(read_config(json.dumps(file), find_class_defaults), listed)
    counts = {group.kind: group.count for group in listed.require_groups()}
    assert counts == {"latent": 7, "recurrent": 20}
    config = KimiLinearConfig.from_dict({"linear_attn_config": nested})
    assert list(config.layer_types or ()).count("full_attention") == counts["latent"]
