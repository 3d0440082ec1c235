"""Ablations of cross-attention: weights replaced by others, and words left out one by one."""

import torch
from torch import Tensor

from explainers.attention.scaled_dot_product import Attention, attention
from explainers.toys.examples import make_generator
from explainers.translation.translator import Translation, Translator


def uniform_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Attention:
    """Attention whose weights are the same for all visible words."""
    original = attention(query, key, value, mask)
    allowed = mask.expand_as(original.weights).to(value.dtype)
    return _replace_weights(original, allowed / allowed.sum(dim=-1, keepdim=True), value)


def peak_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Attention:
    """Attention whose largest weight becomes 1 and all others 0."""
    original = attention(query, key, value, mask)
    peak = original.weights.argmax(dim=-1, keepdim=True)
    return _replace_weights(
        original, torch.zeros_like(original.weights).scatter(-1, peak, 1.0), value
    )


def permuted_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Attention:
    """Attention whose weights are permuted within each row, alike in all heads.

    A row's permutation depends on its position alone, so that writing step by step gives the same
    weights as one pass over all rows.
    """
    original = attention(query, key, value, mask)
    allowed = mask.expand_as(original.weights)
    q_len, kv_len = allowed.shape[-2:]
    random_order = torch.rand(q_len, kv_len, generator=make_generator("exchanged weights")).to(
        value.device
    )
    shuffled_keys = random_order.masked_fill(~allowed, 2.0).argsort(dim=-1)
    visible_keys = (~allowed).to(torch.uint8).argsort(dim=-1, stable=True)
    shuffled_weights = original.weights.gather(-1, shuffled_keys)
    return _replace_weights(
        original,
        torch.zeros_like(shuffled_weights).scatter(-1, visible_keys, shuffled_weights),
        value,
    )


def _replace_weights(original: Attention, weights: Tensor, value: Tensor) -> Attention:
    return Attention(original.scores, weights, weights @ value)


def leave_one_out(translator: Translator, translation: Translation) -> Tensor:
    """How much log-probability each syllable loses without each word (syllables, words).

    The model is made to write the same syllables, while nobody sees that one word: not the
    decoder, and not the other words in the encoder.
    """
    log_probabilities = translation.log_probabilities[
        :-1
    ]  # (syllables,); the end is not asked about
    losses = []
    for word_index in range(len(translation.words)):
        translation_without = translator.force(
            translation.words, translation.syllables, hidden_positions=[word_index]
        )
        losses.append(log_probabilities - translation_without.log_probabilities[:-1])
    return torch.stack(losses, dim=-1)


def compare_peaks(weights: Tensor, losses: Tensor) -> Tensor:
    """True in rows whose largest weight is on the word whose absence costs most (syllables,).

    Both are (syllables, words): `<eos>` is no word and cannot be left out.
    """
    return weights.argmax(dim=-1) == losses.argmax(dim=-1)


def correlate_ranks(left: Tensor, right: Tensor) -> Tensor:
    """Spearman's rank correlation of two rows, for each pair of rows.

    1: the same order, −1: the opposite one; (rows,) from two (rows, words) without equal numbers.
    """
    ranks = [side.argsort(dim=-1).argsort(dim=-1).double() for side in (left, right)]
    first, second = (rank - rank.mean(dim=-1, keepdim=True) for rank in ranks)
    products = (first * second).sum(dim=-1)
    return products / (first.square().sum(dim=-1) * second.square().sum(dim=-1)).sqrt()
