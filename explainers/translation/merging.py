"""Weights between pieces of words, as weights between words (Clark et al. 2019, section 4.1)."""

from collections.abc import Sequence

import torch
from torch import Tensor

SPACE = "▁"
"""Stands in a piece for the space in front of it: there a word begins."""


def words_of(pieces: Sequence[str]) -> list[list[int]]:
    """The places of each word's pieces; a sign like `</s>` is a word of its own."""
    found: list[list[int]] = []
    for place, piece in enumerate(pieces):
        is_sign = piece.startswith("<") and piece.endswith(">")
        after_sign = place > 0 and pieces[place - 1].startswith("<")
        if piece.startswith(SPACE) or is_sign or after_sign or not found:
            found.append([place])
        else:
            found[-1].append(place)
    return found


def named(pieces: Sequence[str], words: Sequence[Sequence[int]]) -> list[str]:
    """Each word as it is written."""
    return ["".join(pieces[place] for place in word).replace(SPACE, "") or " " for word in words]


def merged(
    weights: Tensor, target: Sequence[Sequence[int]], source: Sequence[Sequence[int]]
) -> Tensor:
    """From (…, target pieces, source pieces) to words.

    What goes *to* a word is the sum over its pieces, what comes *from* one their mean: so every
    row still sums to 1.
    """
    to_words = torch.stack([weights[..., list(word)].sum(dim=-1) for word in source], dim=-1)
    return torch.stack([to_words[..., list(word), :].mean(dim=-2) for word in target], dim=-2)
