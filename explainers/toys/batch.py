"""Sentences of the task as tensors: what is read, who may look at whom, and what is asked."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from explainers.attention import masks
from explainers.toys.task import PLACES, WORDS, News
from explainers.toys.trained_heads import MOST_TOKENS


class Batch(NamedTuple):
    """Sentences as numbers (batch, length), filled up; what fills is never asked.

    `related` (batch, length, length) is True where the first token is related to the second.
    """

    words: Tensor
    related: Tensor
    lengths: Tensor


def encoded(some: Sequence[News]) -> Batch:
    """The sentences as tensors."""
    words, related = [[0] * MOST_TOKENS for _ in some], []
    for n, one in enumerate(some):
        words[n][: len(one.tokens)] = [PLACES[token.casefold()] for token in one.tokens]
        related += [(n, i, j) for i, others in enumerate(one.related) for j in others]
    pairs = torch.zeros(len(some), MOST_TOKENS, MOST_TOKENS, dtype=torch.bool)
    pairs[tuple(torch.tensor(related).T)] = True
    return Batch(torch.tensor(words), pairs, torch.tensor([len(one.tokens) for one in some]))


def mask_of(rule: str, lengths: Tensor) -> Tensor:
    """Who may look at whom (batch, 1, length, length); what fills is seen by itself alone."""
    ends = lengths[:, None, None, None]
    unfilled = masks.Rule(lambda query_pos, key_pos: (key_pos < ends) | (key_pos == query_pos))
    return masks.build(masks.RULES[rule] & unfilled, MOST_TOKENS, MOST_TOKENS)


def asked(batch: Batch, rule: str) -> Tensor:
    """1 for each word that a token shall name (batch, length, 2 · words): related, not hidden.

    The words before the token come first, then those after it: to name "who" and "whom" alike
    is not enough.
    """
    visible = batch.related & mask_of(rule, batch.lengths)[:, 0]
    words = one_hot(batch.words, len(WORDS)).float()
    return torch.cat([visible.tril().float() @ words, visible.triu().float() @ words], dim=-1)


class Given(NamedTuple):
    """What a loss is computed from: words, who may look at whom, what is asked, true lengths."""

    words: Tensor
    mask: Tensor
    asked: Tensor
    lengths: Tensor

    @property
    def real(self) -> Tensor:
        """True where a token is no filling (batch, length)."""
        return torch.arange(MOST_TOKENS) < self.lengths[..., None]


def given(batch: Batch, rule: str) -> Given:
    """A batch with the mask and the questions of a rule."""
    return Given(batch.words, mask_of(rule, batch.lengths), asked(batch, rule), batch.lengths)
