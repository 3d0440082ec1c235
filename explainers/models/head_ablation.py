"""What a model loses on several texts if one head's output is replaced, by each of three things.

Zero is an output that the model never met; the mean of other places, and the output on another
text, are closer to what later layers expect (Wang et al. 2022; Chan et al. 2022).
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.messages import N_
from explainers.models.changes import compute_losses
from explainers.models.layer_by_layer import Decoder, Stream, go_on, read_stream

ZERO, MEAN, RESAMPLE = N_("zero"), N_("mean"), N_("resample")
KINDS = ZERO, MEAN, RESAMPLE
"""What stands in for the head's output: nothing, its mean, or what it wrote in another text."""
CLEAR = 2.0
"""Standard errors that a mean must be away from 0 to be called different from it."""

LARGEST = 20
"""Heads whose rises on some texts are compared with those on others."""


class Baseline(NamedTuple):
    """Texts as the model reads them: `means` of each layer (heads, head_dim), losses (texts,)."""

    stream: Stream
    means: list[Tensor]
    losses: Tensor


class Estimate(NamedTuple):
    """A mean over texts, and its standard error."""

    mean: float
    error: float

    @property
    def is_clear(self) -> bool:
        """Is the mean at least two standard errors away from 0?"""
        return abs(self.mean) >= CLEAR * self.error


def read_baseline(decoder: Decoder, ids: Tensor) -> Baseline:
    """Read texts, ids (texts, tokens) of one length; the first token is in no mean."""
    stream = read_stream(decoder, ids)
    means = [outputs[:, 1:].mean(dim=(0, 1)) for outputs in stream.heads]
    with torch.no_grad():
        return Baseline(stream, means, compute_text_losses(decoder, stream.end, ids))


def compute_text_losses(decoder: Decoder, end: Tensor, ids: Tensor) -> Tensor:
    """The mean loss of each text (texts,), in nats per token; one text at a time, for memory."""
    return torch.cat(
        [
            compute_losses(decoder.compute_logits(one[None]).log_softmax(-1), own[None]).mean(-1)
            for one, own in zip(end, ids, strict=True)
        ]
    )


def replace_output(baseline: Baseline, layer: int, head: int, kind: str) -> Tensor:
    """The outputs of a layer (texts, tokens, heads, head_dim) with one head's replaced."""
    outputs = baseline.stream.heads[layer].clone()
    outputs[:, :, head] = {
        ZERO: torch.zeros_like(outputs[:, :, head]),
        MEAN: baseline.means[layer][head].expand_as(outputs[:, :, head]),
        RESAMPLE: outputs[:, :, head].roll(-1, dims=0),
    }[kind]
    return outputs


def measure_head(decoder: Decoder, baseline: Baseline, place: tuple[int, int], kind: str) -> Tensor:
    """By how much each text's loss rises (texts,), in nats per token; `place`: layer and head."""
    outputs = replace_output(baseline, *place, kind)
    end = go_on(decoder, baseline.stream, place[0], outputs)
    with torch.no_grad():
        losses = compute_text_losses(decoder, end, baseline.stream.ids)
    return losses - baseline.losses


def summarise(rises: Tensor) -> Estimate:
    """Mean and standard error over texts (texts,)."""
    return Estimate(float(rises.mean()), float(rises.std()) / math.sqrt(len(rises)))


def find_costly(rises: Tensor) -> Tensor:
    """Where the loss rises by at least two standard errors; rises (…, texts), True or False (…)."""
    error = rises.std(dim=-1) / math.sqrt(rises.shape[-1])
    return rises.mean(dim=-1) >= CLEAR * error


def compare_texts(rises: Tensor, count: int) -> float:
    """The heads that cost most on the first texts: their correlation with as many other texts.

    rises (layers, heads, texts); one text has much that no other text has.
    """
    first, other = (
        rises[..., start : start + count].mean(dim=-1).flatten() for start in (0, count)
    )
    largest = first.abs().topk(min(LARGEST, len(first))).indices
    return float(torch.corrcoef(torch.stack([first[largest], other[largest]]))[0, 1])
