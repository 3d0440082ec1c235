"""The calculators against real caches: tiny random models of every kind, filled and weighed."""

import json
from typing import Any

import pytest
import torch
from transformers import (
    CONFIG_MAPPING,
    AutoModelForCausalLM,
    DeepseekV3Config,
    Gemma3TextConfig,
    GPT2Config,
    LlamaConfig,
    MarianConfig,
    MarianMTModel,
    MistralConfig,
    QuantizedCache,
    StaticCache,
    T5Config,
    T5ForConditionalGeneration,
    T5GemmaConfig,
    T5GemmaForConditionalGeneration,
)
from transformers.modeling_outputs import BaseModelOutput

from explainers.memory.cache_bytes import count_cache_bytes
from explainers.memory.engines import count_engine_bytes
from explainers.memory.read_config import read_config

BATCH, TOKENS, SOURCE = 3, 11, 7
SIZES: dict[str, Any] = {
    "vocab_size": 13, "pad_token_id": 0, "hidden_size": 24, "num_hidden_layers": 5,
    "num_attention_heads": 6, "num_key_value_heads": 2, "intermediate_size": 40,
}  # fmt: skip
LATENT = {
    "kv_lora_rank": 9, "qk_rope_head_dim": 2, "qk_nope_head_dim": 8, "v_head_dim": 12,
    "num_key_value_heads": 6, "moe_intermediate_size": 16,
}  # fmt: skip
LLAMA = LlamaConfig(**SIZES, head_dim=10)
WORDS_OF_GPT2: dict[str, Any] = {"n_embd": 12, "n_layer": 5, "n_head": 2, "n_positions": 32}
DECODERS = {
    "GPT-2": GPT2Config(**WORDS_OF_GPT2, vocab_size=13),
    "Llama": LLAMA,
    "Mistral": MistralConfig(**SIZES, head_dim=8, sliding_window=4),
    "Gemma 3": Gemma3TextConfig(**SIZES | {"num_hidden_layers": 7}, head_dim=10, sliding_window=8),
    "DeepSeek": DeepseekV3Config(**SIZES | LATENT, q_lora_rank=6, first_k_dense_replace=5),
}
BOTH_SIDES: dict[str, Any] = {
    "encoder_layers": 2, "decoder_layers": 5, "encoder_attention_heads": 2,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 14, "decoder_ffn_dim": 14,
}  # fmt: skip
MARIAN = MarianConfig(
    **BOTH_SIDES,
    vocab_size=13,
    d_model=20,
    pad_token_id=0,
    decoder_start_token_id=0,
    max_position_embeddings=32,
)
T5 = T5Config(
    vocab_size=13, d_model=12, d_kv=10, num_layers=2, num_decoder_layers=5, num_heads=4, d_ff=14
)
GEMMA_PARTS = SIZES | {"num_hidden_layers": 3, "head_dim": 10, "sliding_window": 8}
T5GEMMA = T5GemmaConfig(encoder=GEMMA_PARTS | {"num_hidden_layers": 2}, decoder=GEMMA_PARTS)
PAIRS = [
    (MARIAN, MarianMTModel),
    (T5, T5ForConditionalGeneration),
    (T5GEMMA, T5GemmaForConditionalGeneration),
]


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
    assert weight == count_engine_bytes(shape_of(config), TOKENS, "transformers", BATCH)
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


@pytest.mark.parametrize(("config", "model"), PAIRS, ids=["Marian", "T5", "T5Gemma"])
def test_an_encoder_and_a_decoder_keep_two_caches(config, model):
    torch.manual_seed(0)
    translator: Any = model(config).to(torch.bfloat16).eval()
    shape, cache, encoded = shape_of(config), None, None
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


def test_a_quantised_cache_takes_a_byte_for_each_element():
    cache = filled(LLAMA, QuantizedCache("fp8", LLAMA))
    states = [
        tensor.nbytes
        for layer in cache.layers
        for tensor in (layer._quantized_keys[0], layer._quantized_values[0])
    ]
    assert sum(states) == count_cache_bytes(shape_of(LLAMA), TOKENS, BATCH, "fp8")


@pytest.mark.parametrize(
    "model_type",
    ["gemma4_text", "mpt", "olmo2"],  # of published sizes; hybrids have a file of their own
)
def test_families_weigh_what_their_own_class_keeps(model_type):
    """On the meta device a model takes no memory, and its cache has sizes all the same."""
    config = CONFIG_MAPPING[model_type]()
    with torch.device("meta"), torch.no_grad():
        model = AutoModelForCausalLM.from_config(config).to(torch.bfloat16)
        cache = model(
            torch.zeros((BATCH, TOKENS), dtype=torch.long), use_cache=True
        ).past_key_values
    assert weigh(cache) == count_engine_bytes(shape_of(config), TOKENS, "transformers", BATCH)
