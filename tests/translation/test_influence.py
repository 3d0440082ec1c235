"""Weights put in place of learned ones, words left out, and ranks that are compared."""

import pytest
import torch
from torch.testing import assert_close

from explainers.attention import masks
from explainers.attention.scaled_dot_product import attention
from explainers.translation.changed_weights import (
    compare_peaks,
    correlate_ranks,
    leave_one_out,
    peak_attention,
    permuted_attention,
    uniform_attention,
)
from tests.support.translators import make_untrained_translator

BATCH, HEADS, Q_LEN, KV_LEN, HEAD_DIM = 2, 3, 5, 7, 4
LENGTHS = torch.tensor([4, 7])
MASK = masks.build(masks.padding(LENGTHS), 1, KV_LEN)
WORDS, SYLLABLES = ("the", "CEO", "announced", "earnings"), ("tổng", "giám", "đốc")


def drawn(*axes):
    seeded = torch.Generator().manual_seed(sum(axes))
    return torch.randn(*axes, generator=seeded, dtype=torch.double)


QUERY = drawn(BATCH, HEADS, Q_LEN, HEAD_DIM)
KEY, VALUE = drawn(2, BATCH, HEADS, KV_LEN, HEAD_DIM)
LEARNED = attention(QUERY, KEY, VALUE, MASK)
EACH = pytest.mark.parametrize("instead", [uniform_attention, peak_attention, permuted_attention])


@EACH
def test_rows_sum_to_one_and_what_is_hidden_stays_hidden(instead):
    run = instead(QUERY, KEY, VALUE, MASK)
    assert_close(run.weights.sum(dim=-1), torch.ones(BATCH, HEADS, Q_LEN).double())
    assert (run.weights[0, ..., 4:] == 0).all()
    assert_close(run.scores, LEARNED.scores)
    assert_close(run.output, run.weights @ VALUE)
    assert (run.weights - LEARNED.weights).abs().max() > 0.01


def test_uniform_weights_are_all_alike():
    weights = uniform_attention(QUERY, KEY, VALUE, MASK).weights
    assert_close(weights[0, ..., :4], torch.full((HEADS, Q_LEN, 4), 1 / 4).double())
    assert_close(weights[1], torch.full((HEADS, Q_LEN, 7), 1 / 7).double())


def test_only_the_peak_is_left():
    weights = peak_attention(QUERY, KEY, VALUE, MASK).weights
    assert torch.equal(weights.argmax(dim=-1), LEARNED.weights.argmax(dim=-1))
    assert set(weights.unique().tolist()) == {0.0, 1.0}


def test_permuted_weights_are_the_same_numbers_in_other_places():
    weights = permuted_attention(QUERY, KEY, VALUE, MASK).weights
    assert_close(weights.sort(dim=-1).values, LEARNED.weights.sort(dim=-1).values)
    moved = (weights[1] != LEARNED.weights[1]).any(dim=-1)
    assert moved.all()


def test_permuted_step_by_step_is_permuted_at_once():
    whole = permuted_attention(QUERY, KEY, VALUE, MASK).weights
    assert_close(permuted_attention(QUERY[..., :2, :], KEY, VALUE, MASK).weights, whole[..., :2, :])


def test_what_a_word_is_worth_is_the_difference_it_makes():
    translator = make_untrained_translator(0)
    found = translator.force(WORDS, SYLLABLES)
    lost = leave_one_out(translator, found)
    assert lost.shape == (3, 4)
    without = translator.force(WORDS, SYLLABLES, hidden_positions=[2]).log_probabilities
    assert_close(lost[:, 2], (found.log_probabilities - without)[:3])
    assert lost.abs().min() > 0


def test_peaks_and_orders_are_compared_row_by_row():
    weights = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    lost = torch.tensor([[9.0, 4.0, -1.0], [8.0, 1.0, 0.0]])
    assert compare_peaks(weights, lost).tolist() == [True, False]
    assert_close(correlate_ranks(weights, lost), torch.tensor([1.0, -1.0]).double())
    # Ranks 1 2 3 4 and 2 1 4 3: 1 − 6 · 4 / (4 · 15).
    ranks = torch.tensor([[1.0, 2.0, 3.0, 4.0]]), torch.tensor([[2.0, 1.0, 4.0, 3.0]])
    assert correlate_ranks(*ranks).item() == pytest.approx(0.6)
