"""How many weights a model has, and in which formats: read from its files, or its config.json.

GGUF: docs/gguf.md and ggml-common.h of ggml-org/llama.cpp. safetensors: README.md of
huggingface/safetensors. No weight is read, and nothing is believed that takes memory.
"""

import json
import math
import re
import struct
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from explainers.memory.cache_bytes import FORMATS, UNKNOWN, name_packed_format
from explainers.memory.checked_fields import WIDTH_FIELDS, ConfigFields, check_whole
from explainers.memory.model_shapes import LayerGroup
from explainers.messages import InputError

TYPE_SIZES = {
    "F64": (1, 8), "F32": (1, 4), "F16": (1, 2), "BF16": (1, 2), "I64": (1, 8), "U64": (1, 8),
    "I32": (1, 4), "U32": (1, 4), "I16": (1, 2), "U16": (1, 2), "I8": (1, 1), "U8": (1, 1),
    "BOOL": (1, 1), "F8_E4M3": (1, 1), "F8_E5M2": (1, 1), "F8_E8M0": (1, 1), "F4": (2, 1),
    "Q4_0": (32, 18), "Q4_1": (32, 20), "Q5_0": (32, 22), "Q5_1": (32, 24), "Q8_0": (32, 34),
    "Q2_K": (256, 84), "Q3_K": (256, 110), "Q4_K": (256, 144), "Q5_K": (256, 176),
    "Q6_K": (256, 210), "IQ1_S": (256, 50), "IQ1_M": (256, 56), "IQ2_XXS": (256, 66),
    "IQ2_XS": (256, 74), "IQ2_S": (256, 82), "IQ3_XXS": (256, 98), "IQ3_S": (256, 110),
    "IQ4_NL": (32, 18), "IQ4_XS": (256, 136), "TQ1_0": (256, 54), "TQ2_0": (256, 66),
    "MXFP4": (32, 17), "NVFP4": (64, 36), "Q1_0": (128, 18),
}  # fmt: skip
"""(weights in a block, its bytes), by the names in safetensors and in GGUF."""
GGUF_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 10: "Q2_K",
    11: "Q3_K", 12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS",
    19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 24: "I8", 25: "I16",
    26: "I32", 27: "I64", 28: "F64", 29: "IQ1_M", 30: "BF16", 34: "TQ1_0", 35: "TQ2_0",
    39: "MXFP4", 40: "NVFP4", 41: "Q1_0",
}  # fmt: skip
PACKING = {"I32": 32, "U32": 32, "I16": 16, "U16": 16, "I8": 8, "U8": 8}
"""Bits of a whole number in which several quantized weights lie."""
STORED = "stored_weights"
"""Where a read config.json has the number of weights of each type."""


class BrokenFileError(ValueError):
    """A file says what cannot be, or ends too early."""


def count_elements(lengths: object) -> int:
    """Weights of a tensor of these lengths; ValueError where they are no whole numbers.

    In any other list, a text or a list that is multiplied by a number would take memory.
    """
    if not isinstance(lengths, list) or not all(type(n) is int for n in lengths):
        raise BrokenFileError
    return math.prod(lengths)


def count_stored_bytes(stored: Mapping[str, int]) -> int:
    """Bytes of so many weights of each type, all of which are in `TYPE_SIZES`."""
    blocks = ((TYPE_SIZES[name], check_whole(name, count, 0)) for name, count in stored.items())
    return sum(-(-count // block) * size for (block, size), count in blocks)


def count_stored_weights(stored: Mapping[str, int], bits: int | None) -> tuple[int | None, bool]:
    """(how many weights these are, whether that is exact); None where packed ones have no bits.

    The scales of quantized weights count as weights: they cannot be told apart.
    """
    if not PACKING.keys() & stored.keys():
        return sum(stored.values()), True
    if bits is None:
        return None, False
    return sum(PACKING[n] * c // bits if n in PACKING else c for n, c in stored.items()), False


GGUF_MAGIC = b"GGUF"
GGUF_SCALARS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
"""Types of metadata as `struct` writes them; besides these there are texts and lists."""
GGUF_TEXT, GGUF_LIST = 8, 9
MOST_ENTRIES, MOST_SHOWN, LONGEST_TEXT = 2_000_000, 1_000, 1_000_000
MOST_METADATA, MOST_AXES = 256_000_000, 8
"""Bytes: a vocabulary of 262,144 with its merges has a tenth of this; ggml has 4 axes."""
PART_OF, MOST_PARTS = re.compile(r"(.+)-(\d{5})-of-(\d{5})(\.\w+)"), 1_000


def _take(stream: BinaryIO, code: str) -> Any:
    """The next number."""
    form = struct.Struct(f"<{code}")
    content = stream.read(form.size)
    if len(content) < form.size:
        raise BrokenFileError
    return form.unpack(content)[0]


def _take_text(stream: BinaryIO) -> str:
    length = _take(stream, "Q")
    content = stream.read(length) if length <= LONGEST_TEXT else b""
    if len(content) < length or stream.tell() > MOST_METADATA:
        raise BrokenFileError
    return content.decode("utf-8", "replace")


def _take_value(stream: BinaryIO, kind: int) -> Any:
    """A value of the metadata; of a list too long to be of use, such as tokens, its length."""
    if kind in GGUF_SCALARS:
        return _take(stream, GGUF_SCALARS[kind])
    if kind == GGUF_TEXT:
        return _take_text(stream)
    inner, count = _take(stream, "I"), _take(stream, "Q")
    if kind != GGUF_LIST or inner == GGUF_LIST or count > MOST_ENTRIES:
        raise BrokenFileError
    values = (_take_value(stream, inner) for _ in range(count))
    kept = [value for place, value in enumerate(values) if place < MOST_SHOWN]
    return kept if count <= MOST_SHOWN else count


def _read_gguf_part(path: Path) -> tuple[dict[str, Any], Counter[str]]:
    """The metadata of one file, and its weights by type."""
    with path.open("rb") as stream:
        magic, version, number = stream.read(4), _take(stream, "I"), _take(stream, "Q")
        if magic != GGUF_MAGIC or version not in (2, 3) or number > MOST_ENTRIES:
            raise BrokenFileError
        number_of_fields = _take(stream, "Q")
        if number_of_fields > MOST_ENTRIES:
            raise BrokenFileError
        fields = {
            _take_text(stream): _take_value(stream, _take(stream, "I"))
            for _field in range(number_of_fields)
        }
        counts: Counter[str] = Counter()
        for _tensor in range(number):
            _take_text(stream)
            if (axes := _take(stream, "I")) > MOST_AXES:
                raise BrokenFileError
            lengths = [_take(stream, "Q") for _axis in range(axes)]
            kind, _place = _take(stream, "I"), _take(stream, "Q")
            counts[GGUF_TYPES.get(kind, f"GGUF type {kind}")] += math.prod(lengths)
    own = {name: value for name, value in fields.items() if not name.startswith("tokenizer.")}
    if words := fields.get("tokenizer.ggml.tokens"):
        count = len(words) if isinstance(words, list | str) else words
        own = {f"{own.get('general.architecture')}.vocab_size": count, **own}
    return own, counts


def list_parts(file: Path) -> list[Path]:
    """All parts that the name of one of them (`-00001-of-00003`) speaks of, or the file alone.

    ValueError where it is no part of as many, or there are too many.
    """
    part = PART_OF.fullmatch(file.name)
    if not part:
        return [file]
    count = int(part[3])
    if not 1 <= int(part[2]) <= count <= MOST_PARTS:
        raise InputError(
            "{file} is part {part} of {count}: parts are counted from 1, and at most {most:,} are "
            "read",
            file=file,
            part=int(part[2]),
            count=count,
            most=MOST_PARTS,
        )
    return [file.with_name(f"{part[1]}-{n:05}-of-{part[3]}{part[4]}") for n in range(1, count + 1)]


def read_gguf(path: str | Path) -> tuple[str, dict[str, int]]:
    """The metadata of a GGUF file as JSON, and its weights by type, with those of all its parts.

    ValueError where it is no such file, or broken, or a part is missing.
    """
    file, fields, counts = Path(path), dict[str, Any](), Counter[str]()
    parts = list_parts(file)
    try:
        for part in parts:
            more, others = _read_gguf_part(part)
            fields, counts = {**more, **fields}, counts + others
    except FileNotFoundError as error:
        raise InputError("there is no file {file}", file=error.filename) from None
    except (BrokenFileError, ValueError, OSError):
        raise InputError("{file} is no whole GGUF file", file=file) from None
    return json.dumps(fields), dict(counts)


MOST_HEADER = 16_000_000
"""Bytes: the longest published ones have a tenth of this."""


def read_safetensors(folder: Path) -> dict[str, int]:
    """The weights by type in the files of a folder; nothing where there are none.

    Only the beginning of each file is read. ValueError where one is broken or missing.
    """
    counts: Counter[str] = Counter()
    files = [*folder.glob("model*.safetensors")] or [*folder.glob("*.safetensors")]
    for file in sorted({part for one in files for part in list_parts(one)}):
        try:
            with file.open("rb") as stream:
                length = _take(stream, "Q")
                header = stream.read(length) if length <= MOST_HEADER else b""
                tensors: dict[str, Any] = json.loads(header if len(header) == length else b"")
            for name, tensor in tensors.items():
                if name != "__metadata__":
                    counts[str(tensor["dtype"])] += count_elements(tensor["shape"])
        except FileNotFoundError:
            raise InputError("there is no file {file}", file=file) from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OSError):
            raise InputError("{file} is no whole safetensors file", file=file) from None
    return dict(counts)


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
