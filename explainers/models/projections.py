"""The matrices that one layer of a real model learned for attention, as our own layer has them."""

from typing import Any

import torch
from torch import Tensor, nn

from explainers.attention.layer import MultiHead


def read_heads(model: Any, layer_index: int) -> MultiHead:
    """All heads of a layer of a model built like BERT, from 0.

    A bias is one more row of its matrix, which a 1 at the end of each word's numbers reads (see
    `append_one`): x · W + b = [x, 1] · [W; b]. W_O writes nothing where the 1 stands, and its
    bias, which belongs to no head, is left out.
    """
    block = model.encoder.layer[layer_index].attention
    w_query, w_key, w_value = (
        _join_bias(getattr(block.self, name)) for name in ("query", "key", "value")
    )  # (d_model + 1, heads · head_dim) each
    w_output = nn.functional.pad(block.output.dense.weight.T, (0, 1)).detach().float()
    return MultiHead(w_query, w_key, w_value, w_output, block.self.attention_head_size)


def append_one(x: Tensor) -> Tensor:
    """Each word's numbers with a 1 at their end (..., d_model + 1), for the row of the biases."""
    return nn.functional.pad(x, (0, 1), value=1.0)


def _join_bias(linear: nn.Linear) -> Tensor:
    return torch.cat([linear.weight.T, linear.bias[None]]).detach().float()
