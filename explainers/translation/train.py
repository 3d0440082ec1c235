"""Learning to translate, from the first step to the shipped file."""

import functools
import math
import sys
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from explainers.attention.cross import Attend
from explainers.attention.dropout import drop
from explainers.attention.scaled_dot_product import Attention, attention
from explainers.toys.examples import generator
from explainers.translation import word_pieces
from explainers.translation.corpus import training_set
from explainers.translation.model import LAYERS, PLAIN, Model, fresh
from explainers.translation.vocabulary import BEGIN, END, PAD, Padded, padded, sources, vietnamese
from explainers.translation.weights_file import SEEDS, keep

SENTENCES, BATCH_SIZE, STEPS = 120_000, 96, 4_500
RATE, WARM_UP, LOWEST = 2e-3, 300, 0.02
"""The rate rises for so many steps, then falls along a cosine to this part of it."""
HIDDEN_SYLLABLES = 0.35
"""So many of the syllables that the decoder reads are hidden from it, each drawn by itself.

Else it guesses the second syllable of a word from the first, and need not look at the source.
"""
DROPPED_WEIGHTS = 0.1
"""So many of the weights of cross-attention are dropped: none of them can be relied on alone."""


class Batch(NamedTuple):
    """Sentences of nearly equal length: sources, what the decoder reads, what it shall predict."""

    source: Padded
    read: Tensor
    asked: Tensor


@functools.lru_cache(maxsize=1)
def batches(sentences: int) -> tuple[Batch, ...]:
    """The training set, sorted by length and cut into batches."""
    pairs = sorted(training_set(sentences), key=lambda pair: (len(pair.target), len(pair.source)))
    found = []
    for first in range(0, len(pairs), BATCH_SIZE):
        some = pairs[first : first + BATCH_SIZE]
        targets = [vietnamese().numbers(pair.target) for pair in some]
        found.append(
            Batch(
                sources(pair.source for pair in some),
                padded([[BEGIN, *target] for target in targets]).numbers,
                padded([[*target, END] for target in targets]).numbers,
            )
        )
    return tuple(found)


def loss(model: Model, batch: Batch, read: Tensor, attend: Sequence[Attend] = PLAIN) -> Tensor:
    """Cross-entropy of the next syllable, the mean over all that are no filling."""
    logits = model.predict(read, model.read(batch.source), attend).logits
    return cross_entropy(logits.flatten(0, 1), batch.asked.flatten(), ignore_index=PAD)


def with_dropout(generator: torch.Generator) -> Attend:
    """Attention that loses some of its weights, others each time."""

    def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Attention:
        scores, weights, _ = attention(query, key, value, mask)
        kept = drop(weights, DROPPED_WEIGHTS, generator)
        return Attention(scores, kept, kept @ value)

    return attend


def rate(step: int, steps: int) -> float:
    """How far one step goes."""
    falling = LOWEST + (1 - LOWEST) * (1 + math.cos(math.pi * step / steps)) / 2
    return RATE * min(1, (step + 1) / WARM_UP) * falling


class Training:
    """One seed, from random weights, through all steps."""

    def __init__(self, seed: int, steps: int = STEPS, sentences: int = SENTENCES) -> None:
        self.steps, self.done = steps, 0
        self.parts = {name: part.requires_grad_() for name, part in fresh(seed).items()}
        self._model, self._batches = Model.of(self.parts), batches(sentences)
        self._adam = torch.optim.AdamW(
            self.parts.values(), RATE, (0.9, 0.98), weight_decay=1e-4, fused=True
        )
        self._seeded = generator("training the translator", seed)
        self._attend = with_dropout(self._seeded)
        self._order: list[int] = []

    def step(self) -> float:
        """Learn from one batch; returns its loss before it was learned from."""
        if not self._order:
            self._order = torch.randperm(len(self._batches), generator=self._seeded).tolist()
        batch = self._batches[self._order.pop()]
        drawn = torch.rand(batch.read.shape, generator=self._seeded)
        is_hidden = (drawn < HIDDEN_SYLLABLES) & (batch.read != BEGIN)
        read = batch.read.masked_fill(is_hidden, PAD)
        before = loss(self._model, batch, read, (self._attend,) * LAYERS)
        self._adam.param_groups[0]["lr"] = rate(self.done, self.steps)
        every = list(self.parts.values())
        for part, gradient in zip(every, torch.autograd.grad(before, every), strict=True):
            part.grad = gradient
        torch.nn.utils.clip_grad_norm_(every, 1.0)
        self._adam.step()
        self.done += 1
        return before.item()

    def learned(self) -> dict[str, Tensor]:
        """All parts as they are now, in the 16 bits that are shipped."""
        return {name: part.detach().half() for name, part in self.parts.items()}


PIECES_FROM = 20_000
"""How many sentences of the training set the pieces of words are learned from."""
BAR = 40
EVERY = 20
"""How many steps pass until the progress is printed again."""
MADE = (
    f"{STEPS:,} batches of {BATCH_SIZE} out of {SENTENCES:,} sentences, AdamW {RATE}, "
    f"torch {torch.__version__}, one thread"
)


def train(seed: int, steps: int = STEPS, sentences: int = SENTENCES) -> Mapping[str, Tensor]:
    """All parts of one seed; one thread, so that the sums come out the same again."""
    torch.set_num_threads(1)
    print(f"seed {seed}: writing {sentences:,} sentences", file=sys.stderr, flush=True)
    training = Training(seed, steps, sentences)
    started = time.monotonic()
    for step in range(1, steps + 1):
        loss = training.step()
        if step % EVERY == 0 or step == steps:
            _progress(seed, step, steps, loss, time.monotonic() - started)
    return training.learned()


def make(seed: int, steps: int = STEPS, sentences: int = SENTENCES) -> None:
    """Train a seed and put it into its file; what others are in that file stay there."""
    learned = train(seed, steps, sentences)
    cut = word_pieces.train(_lines(min(PIECES_FROM, sentences))) if seed == SEEDS[0] else b""
    keep(seed, learned, cut)


def _lines(sentences: int) -> list[str]:
    return [" ".join(s) for pair in training_set(sentences) for s in (pair.source, pair.target)]


def _progress(seed: int, step: int, steps: int, loss: float, seconds: float) -> None:
    bar = "█" * (BAR * step // steps)
    left = seconds / step * (steps - step)
    print(
        f"\rseed {seed} {bar:░<{BAR}} {step}/{steps}, loss {loss:.3f}, about {left:.0f} s left ",
        end="\n" if step == steps else "",
        file=sys.stderr,
        flush=True,
    )
