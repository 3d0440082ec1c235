"""Small models that read pairs of a key and a value, and are then asked for some of the values.

Each layer remembers by one of four rules; the states of all but softmax are 16 × 16 numbers.

What they find again was measured by `python -m workshop.toys --memories`.
"""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from explainers import kept
from explainers.attention import masks
from explainers.attention.linear import gated_delta_attention, linear_attention
from explainers.attention.position_bias import alibi_bias, biased_attention
from explainers.toys.examples import make_generator

SUM, OVERWRITE, FADE, SOFTMAX = RULES = "sum", "overwrite", "fade", "softmax"
KEYS, ASKED, WIDTH, HEAD_DIM = 64, 8, 64, 16
REPEATED = 8
"""Keys that are written again and again, in the task that repeats them."""
STEPS, BATCH_SIZE, LEARNING_RATE = 400, 64, 5e-3
COUNTS = 8, 16, 32
"""Pairs of a batch while a model learns, in turn."""
NAMES = "query", "key", "value", "output", "write", "bias"


class Pairs(NamedTuple):
    """Texts of pairs, and the questions at their end."""

    keys: Tensor
    """(texts, pairs)"""
    values: Tensor
    """(texts, pairs)"""
    asked: Tensor
    """(texts, questions)"""
    answers: Tensor
    """The newest value of each key that is asked for (texts, questions)."""


def draw_pairs(texts: int, count: int, has_repeats: bool, generator: torch.Generator) -> Pairs:
    """All keys of a text differ, or they are drawn from eight, so that most are written again."""
    if has_repeats:
        keys = torch.randint(REPEATED, (texts, count), generator=generator)
    else:
        keys = torch.rand(texts, KEYS, generator=generator).argsort(dim=-1)[:, :count]
    values = torch.randint(KEYS, (texts, count), generator=generator)
    places = torch.randint(count, (texts, ASKED), generator=generator)
    asked = keys.gather(1, places)
    is_same = keys[:, None] == asked[..., None]  # (texts, questions, pairs)
    newest = (is_same * torch.arange(1, count + 1)).argmax(dim=-1)
    return Pairs(keys, values, asked, values.gather(1, newest))


class PairMemory(NamedTuple):
    """A model of a few layers, each with a rule by which it remembers."""

    rules: tuple[str, ...]
    parts: dict[str, Tensor]


def draw_memory(rules: Sequence[str], generator: torch.Generator) -> PairMemory:
    """An untrained model, which at first writes half of each value and forgets next to nothing."""

    def draw(*sizes: int, scale: float = 1.0) -> Tensor:
        return (torch.randn(*sizes, generator=generator) * scale).requires_grad_()

    spread, parts = (3 * WIDTH) ** -0.5, {"keys": draw(KEYS, WIDTH), "values": draw(KEYS, WIDTH)}
    parts |= {"question": draw(WIDTH, scale=0.1), "words": draw(WIDTH, KEYS, scale=spread)}
    for layer in range(len(rules)):
        sizes = dict.fromkeys(("query", "key", "value"), (WIDTH, HEAD_DIM))
        sizes |= {"output": (HEAD_DIM, WIDTH), "write": (WIDTH, 2)}
        own = {name: draw(*size, scale=(3 * size[0]) ** -0.5) for name, size in sizes.items()}
        own["bias"] = torch.tensor([0.0, -4.0]).requires_grad_()
        parts |= {f"{layer} {name}": part for name, part in own.items()}
    return PairMemory(tuple(rules), parts)


def score_answers(memory: PairMemory, pairs: Pairs) -> Tensor:
    """How probable each value is as the answer (texts, questions, values), before softmax."""
    rules, parts = memory
    written = parts["keys"][pairs.keys] + parts["values"][pairs.values]
    x = torch.cat([written, parts["keys"][pairs.asked] + parts["question"]], dim=1)
    for layer, rule in enumerate(rules):
        x = x + _remember(rule, _normalise(x), {n: parts[f"{layer} {n}"] for n in NAMES})
    return _normalise(x[:, -ASKED:]) @ parts["words"]


def _normalise(x: Tensor) -> Tensor:
    return F.layer_norm(x, (WIDTH,))


def _remember(rule: str, x: Tensor, own: dict[str, Tensor]) -> Tensor:
    """One layer: write every word and ask with every word, by its rule."""
    query, key, value = (x @ own[name] for name in ("query", "key", "value"))
    beta, fade = (x @ own["write"] + own["bias"]).unbind(dim=-1)  # (texts, length)
    mask = masks.build(masks.causal, x.shape[1], x.shape[1])
    if rule == SOFTMAX:  # newer ones first, by a slope that it learns
        bias = alibi_bias(F.softplus(own["bias"][1:] + 2), x.shape[1], x.shape[1])[0]
        return biased_attention(query, key, value, mask, bias).output @ own["output"]
    query, key = F.normalize(query, dim=-1), F.normalize(key, dim=-1)
    if rule == SUM:
        found = linear_attention(query, key, value * beta.sigmoid()[..., None], mask)
    else:
        keep = torch.exp(-F.softplus(fade)) if rule == FADE else torch.ones_like(fade)
        found = gated_delta_attention(query, key, value, beta.sigmoid(), keep)
    return found @ own["output"]


def train_memory(
    rules: Sequence[str], has_repeats: bool, seed: int, steps: int = STEPS
) -> Iterator[tuple[PairMemory, float]]:
    """The model after each batch, and the loss of that batch."""
    generator = make_generator("pairs", seed, *rules, int(has_repeats))
    memory = draw_memory(rules, generator)
    optimiser = torch.optim.Adam(memory.parts.values(), LEARNING_RATE)
    for step in range(steps):
        count = COUNTS[step % len(COUNTS)]
        pairs = draw_pairs(BATCH_SIZE, count, has_repeats, generator)
        scores = score_answers(memory, pairs)
        loss = F.cross_entropy(scores.flatten(0, 1), pairs.answers.flatten())
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        yield memory, loss.item()


@torch.no_grad()
def measure_memory(
    memory: PairMemory, counts: Sequence[int], has_repeats: bool, texts: int = 256
) -> list[float]:
    """The share of right answers for each number of pairs, on texts that no training has."""
    found = []
    for count in counts:
        seeded = make_generator("pairs", "held out", count, int(has_repeats))
        pairs = draw_pairs(texts, count, has_repeats, seeded)
        is_right = score_answers(memory, pairs).argmax(dim=-1) == pairs.answers
        found.append(is_right.float().mean().item())
    return found


FOUND = "weights/pair_memories"
MODELS = (SOFTMAX,), (SUM,), (OVERWRITE,), (FADE,), (FADE,) * 3, (FADE, FADE, SOFTMAX)
"""The rules of their layers."""
SEEDS = 0, 1, 2
TESTED_COUNTS = 4, 8, 16, 32, 64
"""Pairs of the texts that they are tested on; the last are twice the longest of the training."""


@dataclass(frozen=True)
class MemoryRow:
    """One model and one task: the share of right answers by seed and number of pairs."""

    rules: tuple[str, ...]
    has_repeats: bool
    shares: list[list[float]]

    def average(self, count: int) -> float:
        """The mean over the seeds, for so many pairs."""
        place = TESTED_COUNTS.index(count)
        return mean(shares[place] for shares in self.shares)


@functools.cache
def read_results() -> dict[tuple[tuple[str, ...], bool], MemoryRow]:
    """The stored rows, by the rules of the layers and whether keys are repeated."""
    stored = kept.read(FOUND).numbers["rows"]
    rows = [MemoryRow(tuple(one["rules"]), one["has_repeats"], one["shares"]) for one in stored]
    return {(row.rules, row.has_repeats): row for row in rows}
