"""What lies in a model's folder, looked at before any of it is loaded."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError, safe_open

from explainers.models.registry import ModelError, brings_code
from explainers.phrase import phrase, words_of

PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.h5", "*.msgpack")
LARGEST_JSON = 20_000_000
"""Bytes. The largest that is read here lists the tensors of a model; tokenizers are not read."""


class Contents(NamedTuple):
    """A folder that holds a model of a kind that transformers knows, whole and without code."""

    config: dict[str, Any]
    parameters: int


def contents(folder: Path) -> Contents:
    """Look at everything but the numbers themselves; raise what is wrong."""
    config = read_json(folder / "config.json")
    for settings in (config, read_json(folder / "tokenizer_config.json", needed=False)):
        if "auto_map" in settings:
            raise brings_code(folder.name)
    sizes = [size for file in weight_files(folder) for size in tensor_sizes(file)]
    layers = max(layer_counts(config), default=0)
    if layers > len(sizes):
        raise ModelError(
            phrase(
                "{model} is not whole: it speaks of {layers:,} layers and has weights for fewer.",
                model=folder.name,
                layers=layers,
            )
        )
    return Contents(config, sum(sizes))


def layer_counts(settings: dict[str, Any]) -> Iterator[int]:
    """How many layers would be built of a configuration, whatever the files hold."""
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from layer_counts(value)
        # Qwen's max_window_layers says which layers are local, and may be more than there are.
        elif isinstance(value, int) and name.endswith(("layer", "layers")) and "max" not in name:
            yield value


def weight_files(folder: Path) -> list[Path]:
    """The safetensors of a model, all of them there."""
    index = read_json(folder / "model.safetensors.index.json", needed=False)
    listed = index.get("weight_map", {"": "model.safetensors"})
    names = sorted(set(map(str, listed.values()))) if isinstance(listed, dict) else []
    if not names or any(Path(n).name != n or not n.endswith(".safetensors") for n in names):
        raise ModelError(
            phrase(
                "{model}: its list of weights names files outside its folder.", model=folder.name
            )
        )
    missing = [name for name in names if not (folder / name).is_file()]
    pickled = sorted(file.name for kind in PICKLED for file in folder.glob(kind))
    if missing and pickled:
        raise ModelError(
            phrase(
                "{model} has its weights as {file}. Such files can run code when they are "
                "read: only safetensors are.",
                model=folder.name,
                file=pickled[0],
            )
        )
    if missing:
        raise ModelError(
            phrase(
                "{model} is not whole: {file} is missing. Fetch it again.",
                model=folder.name,
                file=missing[0],
            )
        )
    return [folder / name for name in names]


def tensor_sizes(file: Path) -> list[int]:
    """How many numbers each tensor has, from the header; a file that was cut off has none."""
    try:
        with safe_open(file, framework="pt") as tensors:
            return [math.prod(tensors.get_slice(n).get_shape()) for n in tensors.offset_keys()]
    except (SafetensorError, OSError) as wrong:
        raise ModelError(
            phrase(
                "{file} is not whole, or not safetensors: {why}",
                file=file.name,
                why=words_of(wrong),
            )
        ) from None


def read_json(file: Path, needed: bool = True) -> dict[str, Any]:
    """An object from a file; an empty one if the file is missing and may be."""
    if not file.is_file():
        if needed:
            raise ModelError(
                phrase(
                    "{model} is not a model: it has no {file}.",
                    model=file.parent.name,
                    file=file.name,
                )
            )
        return {}
    if file.stat().st_size > LARGEST_JSON:
        raise ModelError(
            phrase("{file} has more than {most:,} bytes.", file=file.name, most=LARGEST_JSON)
        )
    try:
        found = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        raise ModelError(
            phrase("{model}: {file} is not JSON.", model=file.parent.name, file=file.name)
        ) from None
    if not isinstance(found, dict):
        raise ModelError(
            phrase("{model}: {file} is no JSON object.", model=file.parent.name, file=file.name)
        )
    return found
