"""Attention weights changed on purpose: replaced by others, or a word left out."""

import torch
from torch import Tensor

from explainers.attention.scaled_dot_product import Attention, attention
from explainers.toys.examples import generator
from explainers.translation.translator import Translation, Translator


def uniform(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Attention:
    """Every word that may be seen gets the same share."""
    learned = attention(query, key, value, mask)
    allowed = mask.expand_as(learned.weights).to(value.dtype)
    return _mixed(learned, allowed / allowed.sum(dim=-1, keepdim=True), value)


def only_peak(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Attention:
    """The largest weight becomes 1, all others 0."""
    learned = attention(query, key, value, mask)
    peak = learned.weights.argmax(dim=-1, keepdim=True)
    return _mixed(learned, torch.zeros_like(learned.weights).scatter(-1, peak, 1.0), value)


def permuted(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Attention:
    """The same weights, in each row handed to other words: the same ones in all heads.

    A row's exchange depends on its place alone, so that writing step by step gives the same
    weights as one pass over all rows.
    """
    learned = attention(query, key, value, mask)
    allowed = mask.expand_as(learned.weights)
    q_len, kv_len = allowed.shape[-2:]
    drawn = torch.rand(q_len, kv_len, generator=generator("exchanged weights")).to(value.device)
    shuffled = drawn.masked_fill(~allowed, 2.0).argsort(dim=-1)
    in_order = (~allowed).to(torch.uint8).argsort(dim=-1, stable=True)
    taken = learned.weights.gather(-1, shuffled)
    return _mixed(learned, torch.zeros_like(taken).scatter(-1, in_order, taken), value)


def _mixed(learned: Attention, weights: Tensor, value: Tensor) -> Attention:
    return Attention(learned.scores, weights, weights @ value)


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
