"""A task in which attention must fetch: each token names the words that it is related to.

Batches of short news as tensors. A token knows only itself; who did it, and to whom, it learns from
the others. No head is told where to look.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from explainers.attention import masks
from explainers.toys.grammar import GRAMMARS, NUM_WORDS, News
from explainers.toys.layers import MAX_NEWS_TOKENS

NUM_CHOICES = 4 + MAX_NEWS_TOKENS
"""How many numbers decide about a sentence: its form, its kind, and its words."""
RUNNING = frozenset(grammar.running.tokens for grammar in GRAMMARS.values())


def is_held_out(tokens: Sequence[str]) -> bool:
    """A tenth of all sentences, and the running ones, are for testing; their letters decide."""
    digest = hashlib.blake2b(" ".join(tokens).encode(), digest_size=1).digest()
    return tuple(tokens) in RUNNING or digest[0] < 26


def draw_news(language: str, count: int, held_out: bool, seeded: torch.Generator) -> list[News]:
    """Random sentences, all of them for testing or none."""
    sentences: list[News] = []
    while len(sentences) < count:
        candidates = map(
            GRAMMARS[language].write_news,
            torch.randint(2**31, (count, NUM_CHOICES), generator=seeded).tolist(),
        )
        sentences += [
            sentence for sentence in candidates if is_held_out(sentence.tokens) == held_out
        ]
    return sentences[:count]


class Batch(NamedTuple):
    """Sentences as ids of words (batch, length), padded; padding has no target.

    `related` (batch, length, length) is True where the first token is related to the second.
    """

    words: Tensor
    related: Tensor
    lengths: Tensor


def encode_news(language: str, sentences: Sequence[News]) -> Batch:
    """The sentences as tensors."""
    word_ids = GRAMMARS[language].word_ids
    words, related = [[0] * MAX_NEWS_TOKENS for _ in sentences], []
    for n, sentence in enumerate(sentences):
        words[n][: len(sentence.tokens)] = [word_ids[token.casefold()] for token in sentence.tokens]
        related += [
            (n, i, j)
            for i, related_positions in enumerate(sentence.related)
            for j in related_positions
        ]
    pairs = torch.zeros(len(sentences), MAX_NEWS_TOKENS, MAX_NEWS_TOKENS, dtype=torch.bool)
    pairs[tuple(torch.tensor(related).T)] = True
    return Batch(
        torch.tensor(words), pairs, torch.tensor([len(sentence.tokens) for sentence in sentences])
    )


def build_news_mask(rule: str, lengths: Tensor) -> Tensor:
    """Who may look at whom (batch, 1, length, length); padding is seen by itself alone."""
    true_lengths = lengths[:, None, None, None]
    unpadded = masks.Rule(
        lambda query_pos, key_pos: (key_pos < true_lengths) | (key_pos == query_pos)
    )
    return masks.build(masks.RULES[rule] & unpadded, MAX_NEWS_TOKENS, MAX_NEWS_TOKENS)


def make_targets(batch: Batch, rule: str) -> Tensor:
    """1 for each word that a token shall name (batch, length, 2 · words): related, not hidden.

    The words before the token come first, then those after it: to name "who" and "whom" alike
    is not enough.
    """
    visible = batch.related & build_news_mask(rule, batch.lengths)[:, 0]
    words = one_hot(batch.words, NUM_WORDS).float()
    return torch.cat([visible.tril().float() @ words, visible.triu().float() @ words], dim=-1)


class Task(NamedTuple):
    """What a loss is computed from: words, who may look at whom, targets, and true lengths."""

    words: Tensor
    mask: Tensor
    targets: Tensor
    lengths: Tensor

    @property
    def is_real(self) -> Tensor:
        """True where a token is no padding (batch, length)."""
        return torch.arange(MAX_NEWS_TOKENS) < self.lengths[..., None]


def make_task(batch: Batch, rule: str) -> Task:
    """A batch with the mask and the targets of a rule."""
    return Task(
        batch.words, build_news_mask(rule, batch.lengths), make_targets(batch, rule), batch.lengths
    )
