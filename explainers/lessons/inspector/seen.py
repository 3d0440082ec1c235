"""What one run of a real model on a short text recorded."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from explainers.attention.scaled_dot_product import attention
from explainers.models.call import Layer


@dataclass(frozen=True)
class Seen:
    """One text in one model: every layer's attention, and what the model predicts at the end.

    weights (layers, heads, tokens, tokens). `predicted` is empty for a model that predicts nothing.
    """

    name: str
    origin: str
    tokens: tuple[str, ...]
    layers: list[Layer]
    predicted: list[tuple[str, float]]
    left_out: int = 0

    @cached_property
    def weights(self) -> Tensor:
        return torch.stack([layer.weights[0] for layer in self.layers]).float()

    @cached_property
    def masks(self) -> Tensor:
        """(layers, tokens, tokens), True = may attend."""
        return torch.stack([layer.mask[0, 0] for layer in self.layers])

    @property
    def shape(self) -> tuple[int, int]:
        """(layers, query heads)"""
        return self.weights.shape[0], self.weights.shape[1]

    @property
    def group_size(self) -> int:
        """Query heads per KV head."""
        return self.layers[0].query.shape[1] // self.layers[0].key.shape[1]

    @cached_property
    def is_causal(self) -> bool:
        """Is no later token seen, by anybody, in any layer?"""
        return not bool(self.masks.triu(1).any())

    @cached_property
    def windows(self) -> list[int | None]:
        """How far each layer looks back; None is all the way."""
        return [layer.window for layer in self.layers]

    @cached_property
    def on_first(self) -> Tensor:
        """(layers, heads): the weight on the first token, mean over queries that see more."""
        return on_key(self.weights, 0)

    def is_plain(self, layer: int) -> bool:
        """Is nothing added to attention in this layer?"""
        return self.layers[layer].function is attention


def on_key(weights: Tensor, place: int) -> Tensor:
    """The weight on one key, mean over the queries behind it: those before it may not see it."""
    behind = weights[..., place + 1 :, place]
    return behind.mean(dim=-1) if behind.shape[-1] else weights[..., place, place]
