"""In which formats a config.json says that weights are stored, and the cache with them."""

import math
import re
from typing import NamedTuple

from explainers.memory.cache_bytes import FORMATS, UNKNOWN, name_packed_format
from explainers.memory.checked_fields import WIDTH_FIELDS, ConfigFields
from explainers.memory.model_shapes import LayerGroup
from explainers.memory.weight_files import (
    STORED,
    TYPE_SIZES,
    count_stored_bytes,
    count_stored_weights,
)

MAX_NAMED = 8
MLX_SHARED = {"affine": 32, "mxfp4": 8, "mxfp8": 8, "nvfp4": 8}
"""Bits that a group of weights shares, by MLX's way to quantize."""
EIGHT_BITS = "FP8", "float-quantized", "int-quantized", "naive-quantized"
PLAIN_FIELDS = "modules_to_not_convert", "ignore", "llm_int8_skip_modules", "ignored_layers"
ALL_ATTENTION = re.compile(r"(\*|layers|^re:.*)\.self_attn\W*$|^self_attn$")
"""How a list of modules names the attention of every layer."""
COUNTED_PLAIN = re.compile(r"embed|lm_head|router|gate$|norm")


class Weights(NamedTuple):
    """What a file says of its weights: their format, and how many there are."""

    dtype: str
    number: int | None = None
    is_exact: bool = False


def read_weights(fields: ConfigFields, groups: tuple[LayerGroup, ...]) -> Weights:
    """The weights as their files hold them, or else as the quantization says.

    An unknown quantization has its name: no size is guessed.
    """
    stated = fields.read_text("dtype") or fields.read_text("torch_dtype") or "bfloat16"
    mlx = fields.read_object("quantization")
    quantized = mlx or fields.read_object("quantization_config")
    method = (quantized and quantized.read_text("quant_method")) or ("MLX" if mlx else "")
    packed = read_packed_bits(quantized, method) if quantized else None
    stored = fields.read_object(STORED)
    if stored and (types := stored.config.keys() - TYPE_SIZES.keys()):
        return Weights(UNKNOWN + ", ".join(name[:40] for name in sorted(types)[:MAX_NAMED]))
    if stored and (size := count_stored_bytes(stored.config)):
        number, is_exact = count_stored_weights(stored.config, packed[0] if packed else None)
        fields.add_note("Weights: {size:,} bytes, as their files say.", size=size)
        return Weights(f"{size} bytes in its files", number, is_exact)
    of_cache = method == "compressed-tensors" and not {"config_groups", "format"} & {
        *(quantized.config if quantized else ())
    }
    if quantized is None or of_cache:
        return Weights(stated)
    if method in FORMATS and len(quantized.config) == 1:
        return Weights(method)
    if packed is None:
        name = method or quantized.read_text("quant_algo") or "quantization_config"
        fields.add_note(
            "quantization_config ({method}): choose the format of the weights below.", method=name
        )
        return Weights(UNKNOWN + name)
    plain = 0 if mlx else count_plain_weights(fields, quantized, groups)
    name = name_packed_format(*packed, plain)
    fields.add_note(
        "quantization_config ({method}): weights as {format}. This names the bits of a weight, "
        "the bits that a group shares, and the weights left in 16 bits.",
        method=method,
        format=name,
    )
    return Weights(name)


def read_packed_bits(quantized: ConfigFields, method: str) -> tuple[int, int, int | None] | None:
    """(bits of a weight, bits that a group shares, weights in a group); None where the file does
    not say it in a way that is known here."""
    if method == "fp8" and (block := quantized.read_whole_numbers("weight_block_size")):
        return 8, 32, math.prod(block[:2]) or None
    if method in FORMATS:
        known = FORMATS[method]
        return known.bits, known.shared_bits, known.group
    if method == "MLX":  # embeddings too; a scale and a bias in 16 bits, or a scale in 8
        bits, group = quantized.find_number("bits", maximum=8), quantized.find_number("group_size")
        own = [name for name, value in quantized.config.items() if isinstance(value, dict | bool)]
        shared = MLX_SHARED.get(quantized.read_text("mode") or "affine")
        return (bits, shared, group) if bits and group and shared and not own else None
    if method == "bitsandbytes" and quantized.read_flag("load_in_4bit"):
        return 4, 8 if quantized.read_flag("bnb_4bit_use_double_quant") else 32, 64
    if method in ("awq", "gptq"):  # a scale in 16 bits, and a zero point as narrow as the weights
        bits = quantized.find_number("bits", "w_bit", maximum=16)
        group = quantized.find_number("group_size", "q_group_size", minimum=-1)
        return (bits, 16 + bits, group if group and group > 0 else None) if bits else None
    if method == "compressed-tensors" and (groups := quantized.read_object("config_groups")):
        sizes = {read_tensor_bits(groups, name) for name in groups.config}
        return sizes.pop() if len(sizes) == 1 else None
    kind = quantized.read_text("quant_algo") or quantized.read_text("format")
    if kind == "NVFP4":
        return 4, 8, 16
    is_narrow = quantized.read_flag("load_in_8bit") or method == "fbgemm_fp8"
    return (8, 0, None) if is_narrow or kind in EIGHT_BITS else None


def read_tensor_bits(groups: ConfigFields, name: str) -> tuple[int, int, int | None] | None:
    """Sizes as `read_packed_bits` has them, of one of the groups of compressed-tensors."""
    part = groups.read_object(name)
    weights = part and part.read_object("weights")
    bits = weights and weights.find_number("num_bits", maximum=16)
    if not weights or not bits:
        return None
    group = weights.find_number("group_size", minimum=-1)
    if not group or group < 0:
        return bits, 0, None
    scale = 8 if weights.read_text("type") == "float" and bits == 4 else 16
    return bits, scale + (0 if weights.read_flag("symmetric", default=True) else bits), group


def count_plain_weights(
    fields: ConfigFields, quantized: ConfigFields, groups: tuple[LayerGroup, ...]
) -> int:
    """Weights that stay in 16 bits: embeddings and output, and all attention if the file says so.

    What else the file leaves as it was becomes a note.
    """
    width = fields.require_number(*WIDTH_FIELDS)
    matrices = 1 if fields.read_flag("tie_word_embeddings") else 2
    plain = matrices * width * (fields.find_number("vocab_size", minimum=0) or 0)
    left = next(filter(None, map(quantized.read_names, PLAIN_FIELDS)), [])
    if any(ALL_ATTENTION.search(name) for name in left):
        num_heads = fields.read_num_heads()
        plain += sum(
            2 * group.count * width * group.head_dim * (num_heads + group.num_kv_heads)
            for group in groups
        )
    others = [n for n in left if not COUNTED_PLAIN.search(n) and not ALL_ATTENTION.search(n)]
    if others:
        fields.add_note(
            "quantization_config: {names} stay in 16 bits, but are counted like the rest.",
            names=", ".join(name[:60] for name in others[:MAX_NAMED]),
        )
    return plain


def read_cache_dtype(fields: ConfigFields) -> str:
    """The format in which vLLM stores the cache if nobody says another one."""
    quantized = fields.read_object("quantization_config")
    scheme = quantized and quantized.read_object("kv_cache_scheme")
    if quantized and quantized.read_text("kv_cache_quant_algo") == "FP8":
        scheme = ConfigFields({"num_bits": 8, "type": "float"})
    if not scheme:
        return "bfloat16"
    if scheme.find_number("num_bits") != 8 or scheme.read_text("type") != "float":
        fields.add_note("kv_cache_scheme is not known here: choose the cache's format.")
        return "bfloat16"
    fields.add_note("kv_cache_scheme: vLLM stores the cache in fp8 where no format is chosen.")
    return "fp8"
