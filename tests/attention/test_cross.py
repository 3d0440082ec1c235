"""Cross-attention: torch's module with keys and values of another sequence, and what it keeps."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from explainers.attention.cross import cross_attention, hide_padding, read_source
from explainers.attention.layer import MultiHead

HEADS, HEAD_DIM, Q_LEN, KV_LEN = 3, 4, 7, 5
WIDTH = HEADS * HEAD_DIM
LENGTHS = torch.tensor([2, 5])


def drawn(*axes):
    seeded = torch.Generator().manual_seed(sum(axes) + len(axes))
    return torch.randn(*axes, generator=seeded, dtype=torch.double)


LEARNED = drawn(4, WIDTH, WIDTH)
LAYER = MultiHead(LEARNED[0], LEARNED[1], LEARNED[2], LEARNED[3], HEAD_DIM)
X, SOURCE = drawn(2, Q_LEN, WIDTH), drawn(2, KV_LEN, WIDTH)
SEEN = hide_padding(torch.tensor([KV_LEN, KV_LEN]), KV_LEN)


def torchs(x, source, **masked):
    module = nn.MultiheadAttention(WIDTH, HEADS, bias=False, batch_first=True, dtype=x.dtype)
    projections = [LAYER.w_query.T, LAYER.w_key.T, LAYER.w_value.T]
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat(projections))
        module.out_proj.weight.copy_(LAYER.w_output.T)
        return module(x, source, source, average_attn_weights=False, **masked)


def test_agrees_with_torchs_module_given_another_sequence():
    """Also where one source is shorter, and filled up."""
    filling = torch.arange(KV_LEN) >= LENGTHS[:, None]
    for seen, masked in [
        (SEEN, {}),
        (hide_padding(LENGTHS, KV_LEN), {"key_padding_mask": filling}),
    ]:
        run, (output, weights) = read(X, SOURCE, seen), torchs(X, SOURCE, **masked)
        assert run.weights.shape == (2, HEADS, Q_LEN, KV_LEN)
        assert_close(run.weights, weights)
        assert_close(run.output, output)


def test_what_fills_a_source_up_changes_nothing_when_it_is_hidden():
    short = read(X[0], SOURCE[0, :2], hide_padding(torch.tensor([2]), 2)[0])
    filled, leaking = read(X, SOURCE, hide_padding(LENGTHS, KV_LEN)), read(X, SOURCE, SEEN)
    assert_close(filled.output[0], short.output)
    assert (leaking.output[0] - short.output).abs().min() > 0
    assert_close(leaking.output[1], filled.output[1])  # the longest is not filled up


def test_a_source_of_nothing_but_filling_is_refused():
    with pytest.raises(ValueError, match="leaves row 0"):
        hide_padding(torch.tensor([0, 5]), KV_LEN)


def read(x, source, mask):
    return cross_attention(x, read_source(source, LAYER), LAYER, mask)
