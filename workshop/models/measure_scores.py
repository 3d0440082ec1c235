"""Measures the heads of two models, and keeps their scores and how they read one text."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from explainers.models.head_scores import measure_heads
from explainers.models.load import RealModel, load_model
from explainers.models.registry import WHEEL_MODELS, resolve_folder
from explainers.models.shipped_scores import (
    EXAMPLE_PART,
    LEVELS,
    Example,
    compute_fingerprint,
    find_first_repeated,
    locate_shipped_scores,
)

EXAMPLE = "The young judge met Ann Lee. Ann Lee thanked the young judge."
"""A name that comes twice: the second time, a head can know what follows. And nouns to be found."""


def write_tensors(
    file: Path, model: str, tensors: dict[str, Tensor], described: dict[str, str]
) -> Path:
    """A file all at once or not at all, which also says of which weights it was measured."""
    fingerprint = compute_fingerprint(resolve_folder(model))
    unfinished = file.with_suffix(f".{os.getpid()}")
    file.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, unfinished, {"model": model, "fingerprint": fingerprint, **described})
    unfinished.replace(file)
    return file


def read_example(loaded: RealModel) -> Example:
    """How all heads read the example now."""
    from explainers.models.attention_hook import run_model

    ids = loaded.tokenizer(EXAMPLE, return_tensors="pt")["input_ids"]
    layers = run_model(
        loaded.model,
        record=lambda layer: layer.weights[0].float().cpu(),
        input_ids=ids.to(loaded.model.device),
    ).layers
    tokens = [str(loaded.tokenizer.decode([token])) for token in ids[0].tolist()]
    return Example(tokens, ids[0], torch.stack(layers), find_first_repeated(tokens))


def write_shipped_scores(model: str) -> Path:
    """Measure a model and write its file."""
    loaded, file = load_model(model), locate_shipped_scores(model)
    scores, example = measure_heads(loaded), read_example(loaded)
    tensors = {name: tensor.contiguous() for name, tensor in scores.tensors.items()}
    levels = (example.weights * LEVELS).round().to(torch.uint8)
    tensors |= {f"{EXAMPLE_PART}: ids": example.ids, f"{EXAMPLE_PART}: weights": levels}
    return write_tensors(file, model, tensors, {"tokens": json.dumps(example.tokens)})


def write_each(write: Callable[[str], Path]) -> None:
    """A file for every model that has one."""
    for model in WHEEL_MODELS:
        file = write(model.id)
        print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    write_each(write_shipped_scores)
