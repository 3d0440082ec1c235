"""What a bias does that is added to all queries, or to all keys."""

import torch

from explainers.attention.single_head import project
from explainers.attention.steps import attention_steps
from explainers.chapters.common.number_words import bound_rounding
from explainers.toys.examples import make_generator
from explainers.toys.layers import Layer


def measure_biases(layer: Layer) -> dict[str, str]:
    """By how much a weight changes at most, with a random bias on the keys, or on the queries."""
    query, key, value = project(layer.x, layer.head())
    seeded = make_generator("biases", layer.seed)
    bias = torch.randn(key.shape[-1], generator=seeded).to(key.device)

    def weights(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        return attention_steps(query, key, value, layer.mask).weights

    plain = weights(query, key)
    on_keys = (weights(query, key + bias) - plain).abs().max().item()
    on_queries = (weights(query + bias, key) - plain).abs().max().item()
    return {"on_keys": bound_rounding(on_keys), "on_queries": f"{on_queries:.2f}"}
