"""Learning the task: Adam (Kingma and Ba 2015) on the words that attention's output names."""

import functools
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.func import vmap
from torch.nn.functional import binary_cross_entropy_with_logits

from explainers.attention.grouped_query import grouped_query
from explainers.attention.layer import MultiHead
from explainers.attention.multi_head import ManyHeads, multi_head
from explainers.attention.positions import sinusoidal
from explainers.toys.batch import Batch, Given, encoded, given
from explainers.toys.examples import LONGEST, generator
from explainers.toys.learned import Learned
from explainers.toys.task import WORDS, sentences
from explainers.toys.trained_heads import D_MODEL, Configuration

STEPS, BATCH_SIZE, RATE = 600, 64, 3e-3
POOL, TESTS = 8_000, 1_000
"""How many sentences batches are drawn from, and how many held-out ones it is tested on."""
START = 0.5
"""Vectors and projections start at half the usual spread: heads then find their own part sooner."""
RARE = -3.0
"""Where the biases start: of all words, few are related to a token."""


@functools.lru_cache(maxsize=2)
def pool(held_out: bool) -> Batch:
    """The sentences to learn from, or those to test with."""
    seeded = generator("sentences", int(held_out))
    return encoded(sentences(TESTS if held_out else POOL, held_out, seeded))


def fresh(configuration: Configuration, seed: int) -> tuple[Tensor, ...]:
    """Untrained parts, in the order of `trained.PARTS`."""
    num_heads, num_kv_heads, head_dim, _ = configuration
    seeded = generator("training", seed, *configuration)

    def drawn(rows: int, columns: int, spread: float = 1.0) -> Tensor:
        return START * spread * torch.randn(rows, columns, generator=seeded)

    width, kv_width = num_heads * head_dim, num_kv_heads * head_dim
    return (
        drawn(len(WORDS), D_MODEL),
        *(drawn(D_MODEL, columns, D_MODEL**-0.5) for columns in (width, kv_width, kv_width)),
        drawn(width, D_MODEL, width**-0.5),
        torch.full((2 * len(WORDS),), RARE),
    )


def parts_of(learned: Learned) -> tuple[Tensor, ...]:
    """What was learned, in the order of `trained.PARTS`."""
    layer = learned.layer
    matrices = layer.w_query, layer.w_key, layer.w_value, layer.w_output
    return tuple(part.detach().cpu() for part in (learned.embedding, *matrices, learned.bias))


def heads(x: Tensor, layer: MultiHead, mask: Tensor) -> ManyHeads:
    """The pages' own attention, with as many KV heads as the layer has."""
    return (multi_head if layer.group_size == 1 else grouped_query)(x, layer, mask)


def attend(learned: Learned, words: Tensor, mask: Tensor) -> ManyHeads:
    """Attention over embedding + position; `words` are places in `WORDS`."""
    x = learned.embedding[words] + sinusoidal(words.shape[-1], D_MODEL, LONGEST)
    return heads(x, learned.layer, mask)


def losses(learned: Learned, task: Given) -> Tensor:
    """Binary cross-entropy of every token, summed over the words it could name (batch, length)."""
    named = learned.named(attend(learned, task.words, task.mask).output)
    return binary_cross_entropy_with_logits(named, task.asked, reduction="none").sum(dim=-1)


def mean_loss(learned: Learned, task: Given) -> Tensor:
    """The mean over all tokens that are no filling."""
    return (losses(learned, task) * task.real).sum() / task.real.sum()


class Training:
    """Some seeds of one configuration, learning side by side, each as if it were alone.

    They begin untrained, or, for more training, with what `start` has for each seed.
    """

    def __init__(
        self, configuration: Configuration, seeds: Sequence[int], start: Sequence[Learned] = ()
    ) -> None:
        self.configuration = configuration
        drawn = [parts_of(one) for one in start] or [fresh(configuration, s) for s in seeds]
        self.parts = [torch.stack(alike).requires_grad_() for alike in zip(*drawn, strict=True)]
        self._adam = torch.optim.Adam(self.parts, RATE, fused=True)
        self._draws = [generator("batches", seed) for seed in seeds]
        self._losses = vmap(lambda parts, *task: mean_loss(self._put(parts), Given(*task)))

    def step(self) -> list[float]:
        """Learn from one batch per seed; returns each seed's loss before it learned."""
        size = (BATCH_SIZE,)
        drawn = torch.cat([torch.randint(POOL, size, generator=own) for own in self._draws])
        task = given(Batch(*(part[drawn] for part in pool(False))), self.configuration.rule)
        apart = (part.view(len(self._draws), BATCH_SIZE, *part.shape[1:]) for part in task)
        before = self._losses(self.parts, *apart)
        gradients = torch.autograd.grad(before.sum(), self.parts)
        for part, gradient in zip(self.parts, gradients, strict=True):
            part.grad = gradient
        self._adam.step()
        return before.tolist()

    def learned(self, place: int) -> Learned:
        """What the seed in this place knows now."""
        return self._put([part[place].detach().clone() for part in self.parts])

    def _put(self, parts: Sequence[Tensor]) -> Learned:
        return Learned.of(WORDS, parts, self.configuration.head_dim)
