"""Is a weight an explanation? Leave a word out, and see whose probability falls."""

import torch
from torch import Tensor

from explainers.translation.record import Translation
from explainers.translation.translator import Translator


def leave_one_out(translator: Translator, found: Translation) -> Tensor:
    """How much log-probability each syllable loses without each word (syllables, words).

    The model is made to write the same syllables, while nobody sees that one word: not the
    decoder, and not the other words in the encoder.
    """
    before = found.log_probabilities[:-1]  # (syllables,); the end is not asked about
    lost = []
    for place in range(len(found.words)):
        without = translator.forced(found.words, found.syllables, left_out=[place])
        lost.append(before - without.log_probabilities[:-1])
    return torch.stack(lost, dim=-1)


def peaks_agree(weights: Tensor, lost: Tensor) -> Tensor:
    """In which rows the largest weight is on the word whose absence costs most (syllables,).

    Both are (syllables, words): `<eos>` is no word and cannot be left out.
    """
    return weights.argmax(dim=-1) == lost.argmax(dim=-1)


def spearman(left: Tensor, right: Tensor) -> Tensor:
    """Do two rows put the words into the same order? The correlation of ranks, row by row.

    1: the same order, −1: the opposite one; (rows,) from two (rows, words) without equal numbers.
    """
    ranks = [side.argsort(dim=-1).argsort(dim=-1).double() for side in (left, right)]
    first, second = (rank - rank.mean(dim=-1, keepdim=True) for rank in ranks)
    together = (first * second).sum(dim=-1)
    return together / (first.square().sum(dim=-1) * second.square().sum(dim=-1)).sqrt()
