"""States against the real caches of tiny random hybrids, one of every class that has them."""

import json
import re
from typing import Any

import pytest
import torch
from transformers import CONFIG_MAPPING, AutoModelForCausalLM, DeepseekV4Config

from explainers.memory.cache_bytes import count_cache_bytes, count_extra_bytes
from explainers.memory.engines import count_engine_bytes
from explainers.memory.read_config import read_config
from explainers.memory.sizes import format_both_sizes
from explainers.models.config_defaults import find_class_defaults
from tests.memory.test_read_config import HYBRID, changed
from tests.memory.test_real_caches import (
    BATCH,
    LATENT,
    SIZES,
    TOKENS,
    filled,
    tensors,
    token_ids,
    weigh,
)

PLAIN: dict[str, Any] = {"vocab_size": 13, "pad_token_id": 0, "hidden_size": 24}
MIXED = ["mamba", "attention", "mamba", "mamba", "attention"]
BESIDE = ["mamba", "mamba", "hybrid", "mamba", "hybrid"]
DELTA = {
    "linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 10,
    "linear_value_head_dim": 6, "linear_conv_kernel_dim": 3, "head_dim": 8,
}  # fmt: skip
EXPERTS = {"num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 16}
MAMBA = {
    "mamba_n_heads": 4, "mamba_d_state": 10, "mamba_n_groups": 2, "mamba_d_conv": 3,
}  # fmt: skip
HYBRIDS: dict[str, dict[str, Any]] = {
    "granitemoehybrid": SIZES | MAMBA | {
        "layer_types": MIXED, "num_local_experts": 2, "num_experts_per_tok": 1,
        "shared_intermediate_size": 16,
    },
    "bamba": SIZES | MAMBA | {"attn_layer_indices": [1, 4]},
    "falcon_h1": SIZES | MAMBA | {"head_dim": 10, "mamba_d_ssm": 28},
    "nemotron_h": SIZES | {
        "layers_block_type": ["linear_attention", "mlp", "full_attention", "linear_attention"],
        "num_hidden_layers": 4, "head_dim": 10, "mamba_num_heads": 4, "mamba_head_dim": 7,
        "ssm_state_size": 9, "n_groups": 2, "conv_kernel": 3,
    },
    "zamba": SIZES | {
        "layers_block_type": BESIDE, "num_key_value_heads": 6, "mamba_d_state": 7,
        "mamba_d_conv": 3, "n_mamba_heads": 2, "use_mamba_kernels": False,
    },
    "zamba2": SIZES | {
        "layers_block_type": BESIDE, "num_key_value_heads": 6, "mamba_d_state": 7,
        "mamba_d_conv": 3, "n_mamba_heads": 4, "mamba_ngroups": 2,
    },
    "jamba": SIZES | {
        "attn_layer_period": 3, "attn_layer_offset": 1, "mamba_d_state": 7, "mamba_d_conv": 3,
        "num_experts": 2, "num_experts_per_tok": 1, "use_mamba_kernels": False,
    },
    "lfm2": SIZES | {"full_attn_idxs": [1, 4], "conv_L_cache": 4},
    "lfm2_moe": SIZES | EXPERTS | {
        "layer_types": ["conv", "full_attention", "conv", "conv", "full_attention"],
        "conv_L_cache": 4,
    },
    "lfm3": SIZES | {"conv_L_cache": 5, "head_dim": 10, "sliding_window": 4},
    "minimax": SIZES | {
        "head_dim": 10, "block_size": 4, "num_local_experts": 2, "num_experts_per_tok": 1,
    },
    "qwen3_next": SIZES | DELTA | EXPERTS | {"shared_expert_intermediate_size": 16},
    "qwen3_5_text": SIZES | DELTA,
    "qwen3_5_moe_text": SIZES | DELTA | EXPERTS | {"shared_expert_intermediate_size": 16},
    "olmo_hybrid": SIZES | {
        "linear_num_value_heads": 2, "linear_num_key_heads": 2, "linear_key_head_dim": 10,
        "linear_value_head_dim": 14, "linear_conv_kernel_dim": 3,
    },
    "kimi_linear": SIZES | LATENT | {
        "linear_head_dim": 10, "linear_num_heads": 4, "linear_conv_kernel_dim": 3,
        "num_experts": 2, "num_experts_per_token": 1,
    },
    "bailing_hybrid": SIZES | LATENT | {
        "head_dim": 10, "short_conv_kernel_size": 3, "layer_group_size": 3, "n_group": 1,
        "topk_group": 1, "num_local_experts": 2, "num_experts_per_tok": 1,
    },
    "zaya": SIZES | EXPERTS | {
        "head_dim": 10, "cca_time0": 2, "cca_time1": 3, "router_hidden_size": 8,
        "sliding_window": 4, "layer_types": ["hybrid", "hybrid_sliding", "hybrid"],
        "num_hidden_layers": 3,
    },
}  # fmt: skip
STATE_NAMES = ("conv_states", "recurrent_states")


def weigh_states(cache):
    """Bytes of everything but keys and values; MiniMax keeps its states in a list of their own."""
    states = [
        tensor
        for layer in cache.layers
        for name in STATE_NAMES
        for tensor in tensors(getattr(layer, name, None))
    ]
    states += tensors(getattr(cache, "linear_cache", None))
    return sum(tensor.nbytes for tensor in states)


@pytest.mark.parametrize("model_type", HYBRIDS)
def test_a_hybrid_keeps_what_its_file_says(model_type):
    config = CONFIG_MAPPING[model_type](**HYBRIDS[model_type])
    cache = filled(config)
    for shape in (
        read_config(json.dumps(config.to_dict())),
        read_config(json.dumps(config.to_dict()), find_class_defaults),
    ):
        assert not shape.gaps
        assert weigh(cache) == count_engine_bytes(shape, TOKENS, "transformers", BATCH)
        assert 0 < weigh_states(cache) == count_extra_bytes(shape, TOKENS, BATCH)
        assert count_extra_bytes(shape, 10**6, BATCH) == weigh_states(cache), "of any length"


ALONE: dict[str, dict[str, Any]] = {
    "mamba": PLAIN | {"num_hidden_layers": 3, "state_size": 7, "conv_kernel": 3},
    "falcon_mamba": PLAIN | {"num_hidden_layers": 3, "state_size": 7, "conv_kernel": 3},
    "mamba2": PLAIN | {
        "num_hidden_layers": 3, "state_size": 10, "conv_kernel": 3, "num_heads": 6, "head_dim": 8,
        "n_groups": 2,
    },
}  # fmt: skip


@pytest.mark.parametrize("model_type", ALONE)
def test_a_model_of_states_alone_is_refused_with_their_size(model_type):
    config = CONFIG_MAPPING[model_type](**ALONE[model_type])
    model = AutoModelForCausalLM.from_config(config).to(torch.bfloat16).eval()
    with torch.no_grad():
        cache = model(token_ids(TOKENS), use_cache=True).cache_params
    size = format_both_sizes(weigh_states(cache) // BATCH)
    with pytest.raises(ValueError, match=re.escape(f"{model_type} has no attention")) as refused:
        read_config(json.dumps(config.to_dict()))
    assert f"a state of {size}, however long" in str(refused.value)


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


def test_merged_rows_are_those_of_a_real_cache():
    """11 tokens: 3 of the last 4 and 5 of the last 6 wait, so that every buffer is full."""
    ratios = {"compressed_sparse_attention": 4, "heavily_compressed_attention": 6}
    kinds = ["sliding_attention", *ratios, *ratios]
    config = DeepseekV4Config(
        vocab_size=13, pad_token_id=0, hidden_size=32, num_attention_heads=4, num_hidden_layers=5,
        head_dim=32, q_lora_rank=16, moe_intermediate_size=16, n_routed_experts=4,
        num_experts_per_tok=1, sliding_window=7, index_n_heads=8, index_head_dim=24, index_topk=2,
        o_groups=2, o_lora_rank=16, layer_types=kinds, compress_rates=ratios,
    )  # fmt: skip
    rows = index = waiting = 0
    for layer in filled(config).layers:
        rows += layer.keys.nbytes  # values are the same row, though window layers copy it
        for name, parts in vars(layer).items():
            for part, tensor in parts.items() if isinstance(parts, dict) else ():
                if not isinstance(tensor, torch.Tensor):
                    continue
                if name != "compressed_kv":
                    waiting += tensor.nbytes
                elif part == "indexer":
                    index += tensor.nbytes
                else:
                    rows += tensor.nbytes
    shape = read_config(json.dumps(config.to_dict()))
    assert rows == count_engine_bytes(shape, TOKENS, "transformers", BATCH)
    newest = 5 * BATCH * 32 * 2  # transformers keeps one token less of each window
    assert rows + newest == count_cache_bytes(shape, TOKENS, BATCH)
    assert index + waiting == count_extra_bytes(shape, TOKENS, BATCH)
    assert index == BATCH * 2 * (TOKENS // 4) * 24 * 2


@pytest.mark.parametrize("model_type", ["deepseek_v32", "glm_moe_dsa"])
def test_keys_of_a_sparse_index_are_those_of_a_real_cache(model_type):
    config_class: Any = CONFIG_MAPPING[model_type]
    config = config_class(num_hidden_layers=3, first_k_dense_replace=3)
    with torch.device("meta"), torch.no_grad():
        model = AutoModelForCausalLM.from_config(config).to(torch.bfloat16)
        cache = model(torch.zeros((BATCH, TOKENS), dtype=torch.long), use_cache=True)
    index = sum(layer.indexer_keys.nbytes for layer in cache.past_key_values.layers)
    shape = read_config(json.dumps(config.to_dict()))
    assert 0 < index == count_extra_bytes(shape, TOKENS, BATCH)
    assert weigh(cache.past_key_values) == count_cache_bytes(shape, TOKENS, BATCH)
