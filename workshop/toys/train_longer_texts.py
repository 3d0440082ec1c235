"""A small model that learns on texts of 32 tokens to find what followed a token the first time.

A row of different tokens is written again and again; the second time every token can be known.
It is then asked on longer texts, without any further training and with RoPE's pairs slowed down,
or after some more batches of longer texts.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from explainers.attention import masks
from explainers.attention.rotary import rotary_attention
from explainers.attention.stretching import sharpen
from explainers.toys.examples import make_generator
from explainers.toys.rotary_layers import HEAD_DIM, PLAIN, ROTARY, TRAINED, YARN, find_speeds

HEADS, LAYERS = 2, 2
WIDTH, VOCABULARY = HEADS * HEAD_DIM, 128
STEPS, BATCH_SIZE, LEARNING_RATE = 1000, 64, 3e-3
Parts = Mapping[str, Tensor]


class Repeats(NamedTuple):
    """Texts that repeat themselves, and the tokens whose successor can be known."""

    tokens: Tensor
    """(texts, length + 1)"""
    is_known: Tensor
    """(texts, length)"""


class Measured(NamedTuple):
    """On held-out texts, of what can be known: the loss in nats, and the share of right tokens."""

    loss: float
    right: float


def draw_repeats(texts: int, length: int, generator: torch.Generator) -> Repeats:
    """Rows of 2 to length / 2 different tokens, written again until the text is full."""
    most = length // 2
    rows = torch.rand(texts, VOCABULARY, generator=generator).argsort(dim=-1)[:, :most]
    period = torch.randint(2, most + 1, (texts, 1), generator=generator)
    places = torch.arange(length + 1)[None] % period
    return Repeats(rows.gather(1, places), torch.arange(length)[None] >= period)


def draw_parts(generator: torch.Generator) -> dict[str, Tensor]:
    """The weights of an untrained model."""

    def draw(*sizes: int, scale: float) -> Tensor:
        return (torch.randn(*sizes, generator=generator) * scale).requires_grad_()

    spread = (3 * WIDTH) ** -0.5
    parts = {"tokens": draw(VOCABULARY, WIDTH, scale=1.0)}
    for layer in range(LAYERS):
        parts[f"{layer} query, key, value"] = draw(WIDTH, 3 * WIDTH, scale=spread)
        parts[f"{layer} output"] = draw(WIDTH, WIDTH, scale=spread)
    return parts | {"words": draw(WIDTH, VOCABULARY, scale=spread)}


def predict_next(parts: Parts, tokens: Tensor, speed: Tensor, sharper: float = 1.0) -> Tensor:
    """Logits of the next token (texts, length, vocabulary), for tokens (texts, length)."""
    x, length = parts["tokens"][tokens], tokens.shape[1]
    angle = torch.arange(length)[:, None] * speed  # (length, pairs)
    mask = masks.build(masks.causal, length, length)
    for layer in range(LAYERS):
        projected = F.layer_norm(x, (WIDTH,)) @ parts[f"{layer} query, key, value"]
        split = projected.view(*x.shape[:2], 3, HEADS, HEAD_DIM).transpose(1, 3)
        query, key, value = split.unbind(dim=2)  # (texts, heads, length, head_dim)
        mixed = rotary_attention(query * sharper, key, value, mask, angle).output
        x = x + mixed.transpose(1, 2).flatten(-2) @ parts[f"{layer} output"]
    return F.layer_norm(x, (WIDTH,)) @ parts["words"]


def train_on(
    parts: dict[str, Tensor], speed: Tensor, length: int, steps: int, generator: torch.Generator
) -> list[float]:
    """Learn on batches of new texts; the loss of each batch. The parts are changed in place."""
    optimiser, losses = torch.optim.Adam(parts.values(), LEARNING_RATE), []
    for _step in range(steps):
        tokens, is_known = draw_repeats(BATCH_SIZE, length, generator)
        logits = predict_next(parts, tokens[:, :-1], speed)
        loss = F.cross_entropy(logits[is_known], tokens[:, 1:][is_known])
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(loss.item())
    return losses


def train_model(kind: str, seed: int, steps: int = STEPS) -> tuple[dict[str, Tensor], list[float]]:
    """A model of this kind of positions, trained on texts of 32 tokens, and its losses."""
    generator = make_generator("longer texts", kind, seed)
    parts = draw_parts(generator)
    return parts, train_on(parts, find_speeds(kind, PLAIN, 1.0), TRAINED, steps, generator)


def train_further(parts: Parts, way: str, length: int, seed: int, steps: int) -> dict[str, Tensor]:
    """A copy of a model with RoPE after some more batches, of longer texts."""
    copied = {name: part.detach().clone().requires_grad_() for name, part in parts.items()}
    generator = make_generator("longer texts", "further", seed)
    train_on(copied, find_speeds(ROTARY, way, length / TRAINED), length, steps, generator)
    return copied


@torch.no_grad()
def measure_model(parts: Parts, kind: str, way: str, length: int, texts: int = 128) -> Measured:
    """On held-out texts of this length, the pairs slowed down so that it fits."""
    factor = max(1.0, length / TRAINED)
    tokens, is_known = draw_repeats(texts, length, make_generator("longer texts", "test", length))
    sharper = sharpen(factor) if way == YARN else 1.0
    logits = predict_next(parts, tokens[:, :-1], find_speeds(kind, way, factor), sharper)
    expected = tokens[:, 1:][is_known]
    loss = F.cross_entropy(logits[is_known], expected).item()
    right = (logits[is_known].argmax(dim=-1) == expected).float().mean().item()
    return Measured(loss, right)
