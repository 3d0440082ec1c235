"""Measures the heads of two models, and keeps their scores and how they read one text."""

import torch

from explainers.models.head_scores import measure_heads
from explainers.models.load import RealModel, load_model
from explainers.models.registry import WHEEL_MODELS
from explainers.models.shipped_measurements import (
    EXAMPLE_PART,
    LEVELS,
    Example,
    find_first_repeated,
    name_scores,
)
from workshop.keep import keep_of_model

EXAMPLE = "The young judge met Ann Lee. Ann Lee thanked the young judge."
"""A name that comes twice: the second time, a head can know what follows. And nouns to be found."""


COMMAND = "python -m workshop.models.measure_scores"
TOLERANCE = {"scores": 2e-3, "pairs of words": 1}
"""A relation counts pairs of words, and another processor may decide one of them otherwise."""


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


def write_shipped_scores(model: str) -> None:
    """Measure a model and keep its scores."""
    loaded = load_model(model)
    scores, example = measure_heads(loaded), read_example(loaded)
    levels = (example.weights * LEVELS).round().to(torch.uint8)
    shown = {f"{EXAMPLE_PART}: ids": example.ids, f"{EXAMPLE_PART}: weights": levels}
    numbers, tensors = {"tokens": example.tokens}, scores.tensors | shown
    keep_of_model(name_scores(model), model, COMMAND, TOLERANCE, numbers, tensors)


if __name__ == "__main__":
    for one in WHEEL_MODELS:
        write_shipped_scores(one.id)
