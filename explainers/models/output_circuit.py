"""What heads write, token by token: values times W_O, and the next tokens that this promotes.

A head's output is its weights times its values, so what it writes is a sum over the tokens that it
looks at; with the final norm kept as it is, so is what it adds to each logit (Elhage et al. 2021).
"""

from typing import NamedTuple

import torch
from torch import Tensor

from explainers.models.attention_hook import RecordedAttention, repeat_kv_heads
from explainers.models.direct_effect import freeze_norm, read_direction
from explainers.models.layer_by_layer import Decoder, Stream, run_layers

LISTED = 10
"""Tokens that gain most, and as many that lose most."""


class Writing(NamedTuple):
    """What the heads of a layer write at the last position, by the token that they look at.

    weights (heads, keys); `leads` (heads, keys): what all of the weight on this key would add to
    the lead of one answer over another. ids and logits (heads, keys, 20): the ten tokens that it
    would promote most, then the ten that it would demote most, the last most of all.
    """

    weights: Tensor
    leads: Tensor
    ids: Tensor
    logits: Tensor

    @property
    def added(self) -> Tensor:
        """To the lead, in logits (heads, keys); over the keys they sum to the direct effect."""
        return self.weights * self.leads


def compute_writing(
    decoder: Decoder, stream: Stream, layer: int, answers: tuple[int, int]
) -> Writing:
    """Of the heads of one layer, at the last position of the first text."""
    weights, written = write_by_key(decoder, stream, layer)
    factors = freeze_norm(decoder, stream.end[0, -1])  # (d_model,)
    leads = written @ (factors * read_direction(decoder, answers))
    ids, logits = list_promoted(compute_promoted(decoder, written, factors))
    return Writing(weights, leads, ids, logits)


def write_by_key(decoder: Decoder, stream: Stream, layer: int) -> tuple[Tensor, Tensor]:
    """The weights of the last position (heads, keys), and W_O W_V of what stands at each key.

    The latter (heads, keys, d_model) is what a head would write with all of its weight there.
    """
    with torch.no_grad():
        start = stream.before[layer][:1]
        weights, values = run_layers(decoder, start, layer, record=_take_last)[1][0]
    matrix = decoder.split_output_matrix(layer).detach()  # (d_model, heads, head_dim)
    return weights, torch.einsum("hkd,ohd->hko", values, matrix)


def compute_promoted(decoder: Decoder, written: Tensor, factors: Tensor) -> Tensor:
    """What a head's writing (…, d_model) adds to every logit (…, vocabulary), less their mean.

    Softmax ignores what is added to all logits alike, so that would say nothing.
    """
    logits: Tensor = (written * factors) @ decoder.model.lm_head.weight.detach().T
    return logits - logits.mean(dim=-1, keepdim=True)


def find_likeliest(decoder: Decoder, stream: Stream) -> tuple[int, int]:
    """The two next tokens that the model prefers after the first text, the better one first."""
    with torch.no_grad():
        first, second = decoder.compute_logits(stream.end[0, -1]).topk(2).indices.tolist()
    return first, second


def list_promoted(logits: Tensor) -> tuple[Tensor, Tensor]:
    """The ten highest and the ten lowest logits (…, 20), highest first, and whose they are."""
    high, low = logits.topk(LISTED), logits.topk(LISTED, largest=False)
    ids = torch.cat([high.indices, low.indices.flip(-1)], dim=-1)
    return ids, torch.cat([high.values, low.values.flip(-1)], dim=-1)


def _take_last(layer: RecordedAttention) -> tuple[Tensor, Tensor]:
    values = repeat_kv_heads(layer.query, layer.value)
    return layer.weights[0, :, -1], values[0]  # (heads, keys), (heads, keys, head_dim)
