"""Weights and caches that a config.json says are quantised: their size, or a question."""

import math
from dataclasses import replace

import pytest

from explainers.memory.cache_bytes import find_format
from explainers.memory.cache_report import report_cache
from explainers.memory.read_config import read_config
from explainers.memory.serving import find_weight_format
from tests.memory.test_read_config import LLAMA, changed

QUANTIZED = {**LLAMA, "vocab_size": 128_256}
EMBEDDED = 2 * 128_256 * 4096
BITS_AND_BYTES, COMPRESSED = ({"quant_method": n} for n in ("bitsandbytes", "compressed-tensors"))
WEIGHTS = {"weights": {"num_bits": 4, "group_size": 128, "type": "int", "symmetric": True}}


def read(quantization, **fields):
    return read_config(changed(QUANTIZED, quantization_config=quantization, **fields))


@pytest.mark.parametrize(
    ("quantization", "bits", "shared", "group"),
    [
        ({"quant_method": "gptq", "bits": 4, "group_size": 128}, 4, 20, 128),
        ({"quant_method": "awq", "w_bit": 4, "q_group_size": 64}, 4, 20, 64),
        ({"quant_method": "awq", "bits": 4, "group_size": -1}, 4, 0, None),
        ({**BITS_AND_BYTES, "load_in_4bit": True}, 4, 32, 64),
        ({**BITS_AND_BYTES, "load_in_4bit": True, "bnb_4bit_use_double_quant": True}, 4, 8, 64),
        ({**BITS_AND_BYTES, "load_in_8bit": True}, 8, 0, None),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, 8, 32, 128 * 128),
        ({"quant_method": "fp8", "activation_scheme": "dynamic"}, 8, 0, None),
        ({**COMPRESSED, "format": "float-quantized"}, 8, 0, None),
        ({**COMPRESSED, "config_groups": {"a": WEIGHTS}, "ignore": ["lm_head"]}, 4, 16, 128),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, 4, 8, 16),
    ],
)  # fmt: skip
def test_quantized_weights_have_the_size_that_the_file_says(quantization, bits, shared, group):
    shape = read(quantization)
    weights = 8 * 10**9 - EMBEDDED
    size = weights * bits // 8 + 2 * EMBEDDED
    size += math.ceil(math.ceil(weights / group) * shared / 8) if group else 0
    number_format = find_format(find_weight_format(shape))
    assert number_format.count_weight_bytes(8 * 10**9) == size
    assert any(quantization["quant_method"] in note for note in shape.notes)


def test_attention_that_stays_in_16_bits_is_counted():
    left = ["model.layers.*.self_attn", "model.layers.3.mlp", "lm_head"]
    shape = read({"quant_method": "mxfp4", "modules_to_not_convert": left})
    attention = 32 * 2 * 4096 * 128 * (32 + 8)
    assert shape.dtype == f"4-bit + 8/32, {EMBEDDED + attention} × 16-bit"
    assert "model.layers.3.mlp stay in 16 bits" in " ".join(shape.notes)


@pytest.mark.parametrize(
    "quantization",
    [
        {"quant_method": "hqq", "bits": 4},
        {"quant_method": "gptq"},
        {**COMPRESSED, "config_groups": {"a": {}}},
        {**COMPRESSED, "config_groups": {"a": WEIGHTS, "b": {"weights": {"num_bits": 8}}}},
    ],
)
def test_quantized_weights_of_unknown_size_are_asked_for_by_name(quantization):
    shape = replace(read(quantization), parameters=8 * 10**9)
    assert "choose the format of the weights" in " ".join(shape.notes)
    name = quantization["quant_method"]
    with pytest.raises(ValueError, match=f"weights in {name}: their size is not known here"):
        report_cache(shape, 100, gpu="h100")
    fit = report_cache(shape, 100, gpu="h100", weight_dtype="int4").fit
    assert fit
    assert fit.weight_bytes == 4.5 * 10**9


MLX = {"group_size": 64, "bits": 4}


def test_mlx_quantizes_embeddings_too_and_shares_a_scale_and_a_bias():
    shape = read_config(changed(QUANTIZED, quantization=MLX, quantization_config=MLX))
    assert shape.dtype == "4-bit + 32/64"
    mixed = read_config(changed(QUANTIZED, quantization={**MLX, "model.layers.0.mlp": {"bits": 8}}))
    assert mixed.dtype == "unknown: MLX", "some modules have bits of their own"


SCHEME = {"num_bits": 8, "type": "float", "strategy": "tensor"}


@pytest.mark.parametrize(
    ("quantization", "dtype", "is_told"),
    [
        ({"kv_cache_scheme": SCHEME}, "fp8", True),
        ({"kv_cache_quant_algo": "FP8"}, "fp8", True),
        ({"kv_cache_scheme": {**SCHEME, "type": "int"}}, "bfloat16", True),
        ({"kv_cache_scheme": None}, "bfloat16", False),
    ],
)
def test_a_file_may_say_how_its_cache_is_stored(quantization, dtype, is_told):
    shape = read({**COMPRESSED, **quantization})
    assert shape.cache_dtype == dtype
    assert any("kv_cache_scheme" in note for note in shape.notes) == is_told


def test_tied_embeddings_are_counted_once():
    shape = read({"quant_method": "gptq", "bits": 8}, tie_word_embeddings=True)
    assert shape.dtype == f"8-bit, {EMBEDDED // 2} × 16-bit"
