"""The calculators against real caches: tiny random models of every kind, filled and weighed.

Of a hybrid also its states, a model of nearly every class that has them.
"""

import json
import re

import pytest
import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, StaticCache
from transformers.modeling_outputs import BaseModelOutput

from explainers.memory.cache_bytes import count_cache_bytes, count_extra_bytes
from explainers.memory.cache_formula import format_both_sizes
from explainers.memory.engines import count_engine_bytes
from explainers.memory.read_config import read_config
from explainers.models.config_defaults import find_class_defaults
from tests.memory.test_read_config import changed
from tests.support.tiny_families import FAMILIES, GEMMA
from workshop.models.families import list_families
from workshop.models.family_sizes import make_tiny_config

BATCH, TOKENS, SOURCE = 3, 11, 7
CLASSES = dict(list_families())
PLAIN = ["gpt2", "llama", "mpt", "olmo2", "deepseek_v3"]
WINDOWED = ["mistral", "gemma3_text", "gemma4_text"]
INDEXED = ["deepseek_v32", "glm_moe_dsa"]
HYBRIDS = ["granitemoehybrid", "bamba", "falcon_h1", "nemotron_h", "zamba", "zamba2", "jamba"]
HYBRIDS += ["lfm2_moe", "lfm3", "minimax", "qwen3_next", "qwen3_5_text"]
HYBRIDS += ["qwen3_5_moe_text", "olmo_hybrid", "kimi_linear", "bailing_hybrid", "zaya"]
TWO_GEMMAS = {"encoder": GEMMA | {"num_hidden_layers": 2}, "decoder": GEMMA}
PAIRS = {
    "Marian": AutoConfig.for_model("marian", **FAMILIES["Marian"][2]),
    "T5": AutoConfig.for_model("t5", **FAMILIES["T5 (relative bias)"][2]),
    "T5Gemma": AutoConfig.for_model("t5gemma", **TWO_GEMMAS),
}


def configure(model_type):
    return make_tiny_config(model_type, getattr(transformers, CLASSES[model_type]))


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


def tensors(found):
    """Every tensor in what a layer calls its state."""
    if isinstance(found, torch.Tensor):
        return [found]
    values = found.values() if isinstance(found, dict) else found or []
    return [tensor for value in values for tensor in tensors(value)]


def weigh_states(cache):
    """Bytes of everything but keys and values; MiniMax keeps its states in a list of their own."""
    states = [getattr(cache, "linear_cache", None)]
    for layer in cache.layers:
        names = "conv_states", "recurrent_states", "indexer_keys"
        states += [getattr(layer, name, None) for name in names]
    return sum(tensor.nbytes for tensor in tensors(states))


@pytest.mark.parametrize("model_type", [*PLAIN, *WINDOWED, *INDEXED, *HYBRIDS])
def test_a_grown_cache_weighs_what_is_said(model_type):
    config = configure(model_type)
    cache = filled(config)
    weight, besides = weigh(cache), weigh_states(cache)
    assert (besides > 0) == (model_type in {*INDEXED, *HYBRIDS})
    for shape in (shape_of(config), read_config(json.dumps(config.to_dict()), find_class_defaults)):
        assert not shape.gaps
        assert weight == count_engine_bytes(shape, TOKENS, "transformers") * BATCH
        assert besides == count_extra_bytes(shape, TOKENS, BATCH)
        if model_type in HYBRIDS:
            assert besides == count_extra_bytes(shape, 10**6, BATCH), "of any length"
    least = count_cache_bytes(shape_of(config), TOKENS, BATCH)
    if model_type in WINDOWED:  # of a window it keeps one token less, unless of fixed size
        fixed = filled(config, StaticCache(config, max_cache_len=TOKENS))
        assert weight < weigh(fixed) == least
    elif model_type not in HYBRIDS:  # some have windows as well
        assert weight == least


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


@pytest.mark.parametrize("model_type", ["mamba", "falcon_mamba", "mamba2"])
def test_a_model_of_states_alone_is_refused_with_their_size(model_type):
    config = configure(model_type)
    config.intermediate_size = (config.expand + 1) * config.hidden_size  # Mamba-2 reads `expand`
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
