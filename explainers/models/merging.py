"""Weights between pieces of words, as weights between words (Clark et al. 2019, section 4.1)."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import one_hot

SPACE = "▁"
"""Stands in a piece for the space in front of it: there a word begins (sentencepiece)."""


def words_of(pieces: Sequence[str]) -> list[int]:
    """The number of each piece's word; a sign like `</s>` is a word of its own."""
    found: list[int] = []
    for place, piece in enumerate(pieces):
        is_sign = piece.startswith("<") and piece.endswith(">")
        after_sign = place > 0 and pieces[place - 1].startswith("<")
        begins = piece.startswith(SPACE) or is_sign or after_sign
        found.append(found[-1] + begins if found else 0)
    return found


def named(pieces: Sequence[str], words: Sequence[int]) -> list[str]:
    """Each word as it is written."""
    spelled = [""] * (max(words, default=-1) + 1)
    for piece, word in zip(pieces, words, strict=True):
        spelled[word] += piece.replace(SPACE, "")
    return [word or " " for word in spelled]


def merged(weights: Tensor, target: Sequence[int], source: Sequence[int]) -> Tensor:
    """From (..., target pieces, source pieces) to words, given the number of each piece's word.

    What goes *to* a word is the sum over its pieces, what comes *from* one their mean: so every
    row still sums to 1.
    """
    to_words, from_words = (
        one_hot(torch.tensor(words, device=weights.device)).to(weights.dtype)
        for words in (source, target)
    )
    return from_words.T @ (weights @ to_words) / from_words.sum(dim=0)[:, None]
