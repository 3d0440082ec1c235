"""What each head adds directly to the lead of one next token over another (Elhage et al. 2021).

Directly: along the stream to the end, not through later layers.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from explainers.messages import N_
from explainers.models.layer_by_layer import TOLERANCE, Decoder, Stream
from explainers.models.registry import ModelError


class DirectEffects(NamedTuple):
    """In logits; all together are `lead`, the logit of one token minus that of the other.

    heads (layers, heads), mlps (layers,).
    """

    heads: Tensor
    mlps: Tensor
    embedding: float
    lead: float


def compute_direct_effects(
    decoder: Decoder, stream: Stream, tokens: tuple[int, int]
) -> DirectEffects:
    """Split the lead of the first of two tokens after the last position of the first text.

    The final norm divides by the length of the whole stream: that number is kept as it is.
    """
    end = stream.end[0, -1]
    direction = freeze_norm(decoder, end) * read_direction(decoder, tokens)  # (d_model,)
    heads, mlps = [], []
    for layer, after in enumerate([*stream.before[1:], stream.end]):
        written = write_heads(decoder, stream, layer)  # (heads, d_model)
        added = after[0, -1] - stream.before[layer][0, -1]  # (d_model,)
        heads.append(written @ direction)
        mlps.append((added - written.sum(dim=0)) @ direction)
    return DirectEffects(
        torch.stack(heads),
        torch.stack(mlps),
        float(stream.before[0][0, -1] @ direction),
        float(end @ direction),
    )


def read_direction(decoder: Decoder, tokens: tuple[int, int]) -> Tensor:
    """The direction of the stream in which the first token gains on the second (d_model,)."""
    first, second = decoder.model.lm_head.weight[list(tokens)].detach()
    return first - second


def write_heads(decoder: Decoder, stream: Stream, layer: int) -> Tensor:
    """What each head of a layer writes at the last position of the first text (heads, d_model)."""
    outputs = stream.heads[layer][0, -1]  # (heads, head_dim)
    return torch.einsum("hd,ohd->ho", outputs, decoder.split_output_matrix(layer).detach())


def freeze_norm(decoder: Decoder, end: Tensor) -> Tensor:
    """What the final norm multiplies this stream by, number by number (d_model,)."""
    norm = decoder.inner.norm
    epsilon = getattr(norm, "variance_epsilon", getattr(norm, "eps", 0.0))
    factors: Tensor = norm.weight.detach() * torch.rsqrt(end.pow(2).mean() + epsilon)
    own = norm(end).detach()
    if float((end * factors - own).abs().max()) > TOLERANCE * float(own.abs().max()):
        raise ModelError(N_("The final norm of this model is not a root mean square."))
    return factors
