"""A task in which attention must fetch: each token names the words that it is related to.

Short news of four kinds, such as "The CEO announced record earnings on Friday", and batches of
them as tensors. A token knows only itself; who did it, and to whom, it learns from the others. No
head is told where to look."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from explainers.attention import masks
from explainers.toys.layers import MAX_NEWS_TOKENS

COMMON_WORDS = {
    "determiner": "the",
    "preposition": "on before after",
    "time": "Monday Tuesday Wednesday Thursday Friday Sunday",
    "adverb": "quietly proudly suddenly",
}
TOPICS = (
    {
        "one": "CEO board",
        "many": "earnings results analysts investors",
        "verb": "announced expected questioned confirmed",
        "modifier": "record strong weak",
    },
    {
        "one": "judge court",
        "many": "lawyers ministers witnesses claims",
        "verb": "rejected supported accused believed",
        "modifier": "new final false",
    },
    {
        "one": "team coach",
        "many": "players fans rivals referees",
        "verb": "praised missed celebrated surprised",
        "modifier": "young lucky brilliant",
    },
    {
        "one": "chef restaurant",
        "many": "cooks waiters guests critics",
        "verb": "served trained welcomed thanked",
        "modifier": "hungry famous friendly",
    },
)
"""Business, court, sport, kitchen. The many can do something, or have it done to them."""
RELATED_PARTS = {
    "determiner": ("subject",),
    "subject": ("determiner", "verb"),
    "adverb": ("verb",),
    "verb": ("subject", "object", "adverb"),
    "modifier": ("object",),
    "object": ("verb", "modifier"),
    "preposition": ("time", "verb"),
    "time": ("preposition", "verb"),
}
"""What each part of a sentence is asked for, as far as it is there and may be seen."""
WORDS = tuple(
    word for part in (COMMON_WORDS, *TOPICS) for words in part.values() for word in words.split()
)
WORD_IDS = {word.casefold(): place for place, word in enumerate(WORDS)}
NUM_CHOICES = 4 + MAX_NEWS_TOKENS
"""How many numbers decide about a sentence: its form, its kind, and its words."""


class News(NamedTuple):
    """A sentence, and for each of its tokens the positions of those that it is related to."""

    tokens: tuple[str, ...]
    related: tuple[frozenset[int], ...]


def write_news(choices: Sequence[int]) -> News:
    """The sentence that `CHOICES` whole numbers choose.

    In a quarter of them the time stands in front, a quarter has an adverb, four fifths a modifier.
    """
    is_fronted = choices[0] % 4 == 0
    has_adverb = choices[1] % 4 == 0
    has_modifier = choices[2] % 5 > 0
    time = ["preposition", "time"]
    parts = time if is_fronted else []
    parts = [*parts, "determiner", "subject", *["adverb"] * has_adverb, "verb"]
    parts = [*parts, *["modifier"] * has_modifier, "object", *([] if is_fronted else time)]
    words = {
        part: word_list.split()
        for part, word_list in (COMMON_WORDS | TOPICS[choices[3] % len(TOPICS)]).items()
    }
    words |= {"subject": words["one"] + words["many"], "object": words["many"]}
    tokens: list[str] = []
    for part, choice in zip(parts, choices[4:], strict=False):
        # Nobody thanks themselves.
        unused_words = [word for word in words[part] if word not in tokens]
        tokens.append(unused_words[choice % len(unused_words)])
    tokens[0] = tokens[0].capitalize()
    places = {part: place for place, part in enumerate(parts)}
    related = [frozenset(places[p] for p in RELATED_PARTS[part] if p in places) for part in parts]
    return News(tuple(tokens), tuple(related))


RUNNING_NEWS = write_news((1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 4, 0))
RUNNING = RUNNING_NEWS.tokens
"""The sentence of the whole course. It is never trained on."""


def is_held_out(tokens: Sequence[str]) -> bool:
    """A tenth of all sentences, and the running one, are kept for testing; their letters decide."""
    digest = hashlib.blake2b(" ".join(tokens).encode(), digest_size=1).digest()
    return tuple(tokens) == RUNNING or digest[0] < 26


def draw_news(count: int, held_out: bool, seeded: torch.Generator) -> list[News]:
    """Random sentences, all of them for testing or none."""
    sentences: list[News] = []
    while len(sentences) < count:
        candidates = map(
            write_news, torch.randint(2**31, (count, NUM_CHOICES), generator=seeded).tolist()
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


def encode_news(sentences: Sequence[News]) -> Batch:
    """The sentences as tensors."""
    words, related = [[0] * MAX_NEWS_TOKENS for _ in sentences], []
    for n, sentence in enumerate(sentences):
        words[n][: len(sentence.tokens)] = [WORD_IDS[token.casefold()] for token in sentence.tokens]
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
    words = one_hot(batch.words, len(WORDS)).float()
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
