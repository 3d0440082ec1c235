"""The calculators against real caches: tiny random models of every kind, filled and weighed.

Of a hybrid also its states, one model of every class that has them.
"""

import json
import re
from typing import Any

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, StaticCache
from transformers.modeling_outputs import BaseModelOutput

from explainers.memory.cache_bytes import count_cache_bytes, count_extra_bytes
from explainers.memory.cache_formula import format_both_sizes
from explainers.memory.engines import count_engine_bytes
from explainers.memory.read_config import read_config
from explainers.models.config_defaults import find_class_defaults
from tests.memory.test_read_config import changed

BATCH, TOKENS, SOURCE = 3, 11, 7
SIZES: dict[str, Any] = {
    "vocab_size": 13, "pad_token_id": 0, "hidden_size": 24, "num_hidden_layers": 5,
    "num_attention_heads": 6, "num_key_value_heads": 2, "intermediate_size": 40,
}  # fmt: skip
LATENT = {
    "kv_lora_rank": 9, "qk_rope_head_dim": 2, "qk_nope_head_dim": 8, "v_head_dim": 12,
    "num_key_value_heads": 6, "moe_intermediate_size": 16,
}  # fmt: skip
SEVEN: dict[str, Any] = SIZES | {"num_hidden_layers": 7, "head_dim": 10, "sliding_window": 8}
WORDS_OF_GPT2: dict[str, Any] = {"n_embd": 12, "n_layer": 5, "n_head": 2}
DECODERS = {
    "GPT-2": AutoConfig.for_model("gpt2", **WORDS_OF_GPT2, vocab_size=13),
    "Llama": AutoConfig.for_model("llama", **SIZES, head_dim=10),
    "Mistral": AutoConfig.for_model("mistral", **SIZES, head_dim=8, sliding_window=4),
    "Gemma 3": AutoConfig.for_model("gemma3_text", **SEVEN),
    "DeepSeek": AutoConfig.for_model(
        "deepseek_v3", **SIZES | LATENT, q_lora_rank=6, first_k_dense_replace=5
    ),
}
GEMMA_PARTS = SEVEN | {"num_hidden_layers": 3}
PAIRS = {
    "Marian": AutoConfig.for_model(
        "marian", encoder_layers=2, decoder_layers=5, encoder_attention_heads=2, d_model=20,
        decoder_attention_heads=4, encoder_ffn_dim=14, decoder_ffn_dim=14, vocab_size=13,
        pad_token_id=0, decoder_start_token_id=0, max_position_embeddings=32,
    ),
    "T5": AutoConfig.for_model(
        "t5", vocab_size=13, d_model=12, d_kv=10, num_layers=2, num_decoder_layers=5, num_heads=4,
        d_ff=14,
    ),
    "T5Gemma": AutoConfig.for_model(
        "t5gemma", encoder=GEMMA_PARTS | {"num_hidden_layers": 2}, decoder=GEMMA_PARTS
    ),
}  # fmt: skip


def shape_of(config):
    """What the calculators read off the file that transformers would write."""
    return read_config(json.dumps(config.to_dict()))


def token_ids(length):
    generator = torch.Generator().manual_seed(0)
    return torch.randint(1, 13, (BATCH, length), generator=generator)


def filled(config, cache=None):
    """A cache after a prompt and two single steps, as in generation."""
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config).to(torch.bfloat16).eval()
    ids = token_ids(TOKENS)
    with torch.no_grad():
        for part in (ids[:, :-2], ids[:, -2:-1], ids[:, -1:]):
            cache = model(part, past_key_values=cache, use_cache=True).past_key_values
    return cache


def weigh(cache):
    layers = [layer for layer in cache.layers if getattr(layer, "keys", None) is not None]
    return sum(layer.keys.nbytes + layer.values.nbytes for layer in layers)


@pytest.mark.parametrize("name", DECODERS)
def test_a_grown_cache_weighs_what_is_said(name):
    config = DECODERS[name]
    weight = weigh(filled(config))
    assert weight == count_engine_bytes(shape_of(config), TOKENS, "transformers") * BATCH
    least = count_cache_bytes(shape_of(config), TOKENS, BATCH)
    if name in {"Mistral", "Gemma 3"}:  # of a window it keeps one token less, unless of fixed size
        cache = filled(config, StaticCache(config, max_cache_len=TOKENS))
        assert weight < weigh(cache) == least
    else:
        assert weight == least


def tensors(found):
    """Every tensor in what a layer calls its state."""
    if isinstance(found, torch.Tensor):
        return [found]
    values = found.values() if isinstance(found, dict) else found or []
    return [tensor for value in values for tensor in tensors(value)]


@pytest.mark.parametrize("name", PAIRS)
def test_an_encoder_and_a_decoder_keep_two_caches(name):
    torch.manual_seed(0)
    translator = AutoModelForSeq2SeqLM.from_config(PAIRS[name]).to(torch.bfloat16).eval()
    shape, cache, encoded = shape_of(PAIRS[name]), None, None
    for step in range(1, 4):
        with torch.no_grad():
            out = translator(
                input_ids=token_ids(SOURCE),
                encoder_outputs=encoded,
                decoder_input_ids=token_ids(step)[:, -1:],
                past_key_values=cache,
                use_cache=True,
            )
        cache, encoded = out.past_key_values, BaseModelOutput(out.encoder_last_hidden_state)
        own, cross = weigh(cache.self_attention_cache), weigh(cache.cross_attention_cache)
        assert own + cross == count_cache_bytes(shape, step, BATCH, source_tokens=SOURCE)
        assert own == count_cache_bytes(shape, step, BATCH, source_tokens=0)


OF_HYBRIDS: dict[str, Any] = LATENT | SIZES | {
    "head_dim": 10, "use_mamba_kernels": False, "mamba_d_ssm": 28, "mamba_n_heads": 4,
    "mamba_d_state": 9, "mamba_n_groups": 2, "mamba_d_conv": 3, "n_mamba_heads": 4,
    "mamba_ngroups": 2, "mamba_num_heads": 4, "mamba_head_dim": 7, "ssm_state_size": 9,
    "n_groups": 2, "conv_kernel": 3, "conv_L_cache": 4, "linear_num_value_heads": 4,
    "linear_num_key_heads": 2, "linear_key_head_dim": 10, "linear_value_head_dim": 6,
    "linear_conv_kernel_dim": 3, "short_conv_kernel_size": 3, "cca_time0": 2, "cca_time1": 3,
    "router_hidden_size": 8, "block_size": 4, "num_experts": 2, "num_local_experts": 2,
    "num_experts_per_tok": 1, "num_experts_per_token": 1, "shared_intermediate_size": 16,
    "shared_expert_intermediate_size": 16,
}  # fmt: skip
"""Each class takes those that it knows."""
BESIDE = {"layers_block_type": ["mamba", "mamba", "hybrid", "mamba", "hybrid"]}
HYBRIDS: dict[str, dict[str, Any]] = {
    "granitemoehybrid": {"layer_types": ["mamba", "attention", "mamba", "mamba", "attention"]},
    "bamba": {"attn_layer_indices": [1, 4]},
    "falcon_h1": {"head_dim": 10},
    "nemotron_h": {
        "layers_block_type": ["linear_attention", "mlp", "full_attention", "linear_attention"],
        "num_hidden_layers": 4,
    },
    "zamba": BESIDE | {"num_key_value_heads": 6, "n_mamba_heads": 2},
    "zamba2": BESIDE | {"num_key_value_heads": 6},
    "jamba": {"attn_layer_period": 3, "attn_layer_offset": 1},
    "lfm2": {"full_attn_idxs": [1, 4]},
    "lfm2_moe": {"layer_types": ["conv", "full_attention", "conv", "conv", "full_attention"]},
    "lfm3": {"sliding_window": 4},
    "minimax": {},
    "qwen3_next": {},
    "qwen3_5_text": {},
    "qwen3_5_moe_text": {},
    "olmo_hybrid": {"linear_num_value_heads": 2},
    "kimi_linear": {"num_key_value_heads": 6, "linear_num_heads": 4, "linear_head_dim": 10},
    "bailing_hybrid": {
        "num_key_value_heads": 6, "layer_group_size": 3, "n_group": 1, "topk_group": 1,
    },
    "zaya": {
        "sliding_window": 4, "num_hidden_layers": 3,
        "layer_types": ["hybrid", "hybrid_sliding", "hybrid"],
    },
}  # fmt: skip


def weigh_states(cache):
    """Bytes of everything but keys and values; MiniMax keeps its states in a list of their own."""
    states = [getattr(cache, "linear_cache", None)]
    for layer in cache.layers:
        states += [getattr(layer, name, None) for name in ("conv_states", "recurrent_states")]
    return sum(tensor.nbytes for tensor in tensors(states))


@pytest.mark.parametrize("model_type", HYBRIDS)
def test_a_hybrid_keeps_what_its_file_says(model_type):
    known = AutoConfig.for_model(model_type).to_dict()
    sizes = {name: size for name, size in OF_HYBRIDS.items() if name in known}
    config = AutoConfig.for_model(model_type, **sizes | HYBRIDS[model_type])
    cache = filled(config)
    for shape in (shape_of(config), read_config(json.dumps(config.to_dict()), find_class_defaults)):
        assert not shape.gaps
        assert weigh(cache) == count_engine_bytes(shape, TOKENS, "transformers") * BATCH
        assert 0 < weigh_states(cache) == count_extra_bytes(shape, TOKENS, BATCH)
        assert count_extra_bytes(shape, 10**6, BATCH) == weigh_states(cache), "of any length"


@pytest.mark.parametrize(
    ("model_type", "sizes"),
    [
        ("mamba", {"state_size": 7}),
        ("falcon_mamba", {"state_size": 7}),
        ("mamba2", {"state_size": 10, "num_heads": 6, "head_dim": 8, "n_groups": 2}),
    ],
)
def test_a_model_of_states_alone_is_refused_with_their_size(model_type, sizes):
    plain = {"vocab_size": 13, "pad_token_id": 0, "hidden_size": 24, "num_hidden_layers": 3}
    config = AutoConfig.for_model(model_type, **plain, **sizes, conv_kernel=3)
    model = AutoModelForCausalLM.from_config(config).to(torch.bfloat16).eval()
    with torch.no_grad():
        cache = model(token_ids(TOKENS), use_cache=True).cache_params
    size = format_both_sizes(weigh_states(cache) // BATCH)
    with pytest.raises(ValueError, match=re.escape(f"{model_type} has no attention")) as refused:
        shape_of(config)
    assert f"a state of {size}, however long" in str(refused.value)


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
    config = AutoConfig.for_model(
        "deepseek_v4", vocab_size=13, pad_token_id=0, hidden_size=32, num_attention_heads=4,
        num_hidden_layers=5, head_dim=32, q_lora_rank=16, moe_intermediate_size=16,
        n_routed_experts=4, num_experts_per_tok=1, sliding_window=7, index_n_heads=8,
        index_head_dim=24, index_topk=2, o_groups=2, o_lora_rank=16, layer_types=kinds,
        compress_rates=ratios,
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
    shape = shape_of(config)
    assert rows == count_engine_bytes(shape, TOKENS, "transformers") * BATCH
    newest = 5 * BATCH * 32 * 2  # transformers keeps one token less of each window
    assert rows + newest == count_cache_bytes(shape, TOKENS, BATCH)
    assert index + waiting == count_extra_bytes(shape, TOKENS, BATCH)
    assert index == BATCH * 2 * (TOKENS // 4) * 24 * 2


INDEXED = {"num_hidden_layers": 3, "first_k_dense_replace": 3}


@pytest.mark.parametrize(
    ("model_type", "sizes"),
    [
        *[("gemma4_text", {}), ("mpt", {}), ("olmo2", {})],
        *[("deepseek_v32", INDEXED), ("glm_moe_dsa", INDEXED)],
    ],
)
def test_families_weigh_what_their_own_class_keeps(model_type, sizes):
    """Of published sizes: on the meta device a model takes no memory, its cache has sizes."""
    config = AutoConfig.for_model(model_type, **sizes)
    with torch.device("meta"), torch.no_grad():
        model = AutoModelForCausalLM.from_config(config).to(torch.bfloat16)
        ids = torch.zeros((BATCH, TOKENS), dtype=torch.long)
        cache = model(ids, use_cache=True).past_key_values
    shape = shape_of(config)
    assert weigh(cache) == count_engine_bytes(shape, TOKENS, "transformers") * BATCH
    index = sum(layer.indexer_keys.nbytes for layer in cache.layers if sizes)
    assert index == count_extra_bytes(shape, TOKENS, BATCH)
    assert bool(index) == bool(sizes)
