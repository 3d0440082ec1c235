"""Pieces of words put together again, in a text and in its weights."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from torch import Tensor

from explainers.models import merging

if TYPE_CHECKING:
    from explainers.models.load import Loaded


def words_of(loaded: "Loaded", text: str, count: int) -> list[int]:
    """For each of the first `count` tokens the number of its word; the model's own are by
    themselves."""
    encoded = loaded.tokenizer(text, verbose=False)
    places = encoded.word_ids(0) if encoded.encodings else list(range(count))
    found: list[int] = []
    for n, place in enumerate(places[:count]):
        is_same = n > 0 and place is not None and place == places[n - 1]
        found.append(found[-1] if is_same else len(set(found)))
    return found


def labels_of(tokens: Sequence[str], words: Sequence[int]) -> list[str]:
    """Each word as its pieces spell it; BERT marks pieces that go on with ##."""
    spelled = [""] * (max(words) + 1)
    for token, word in zip(tokens, words, strict=True):
        spelled[word] += token.removeprefix("##") if spelled[word] else token
    return spelled


def merged(weights: Tensor, words: Tensor) -> Tensor:
    """Weights (..., tokens, tokens) between words: added up over keys, averaged over queries.

    So a row still sums to 1. words (tokens,) has the number of each token's word.
    """
    return merging.merged(weights, words.tolist(), words.tolist())
