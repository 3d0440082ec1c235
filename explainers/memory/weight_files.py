"""How many weights files hold, and in which formats, read from where they begin.

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
from typing import Any, BinaryIO

from explainers.memory.checked_fields import check_whole
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
