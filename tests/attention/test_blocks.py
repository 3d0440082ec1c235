"""Cross-attention, and blocks of an encoder and of a decoder: what torch's own layers give."""

from dataclasses import astuple
from typing import Any

import torch
from torch import nn
from torch.testing import assert_close

from explainers.attention import masks
from explainers.attention.decoder_block import (
    DecoderBlock,
    cross_attention,
    decoder_block,
    hide_padding,
    read_source,
)
from explainers.attention.encoder_block import EncoderBlock, FeedForward, Norm, encoder_block
from explainers.attention.layer import MultiHead
from tests.support.drawn import drawn, fill_module

HEADS, HEAD_DIM, HIDDEN, Q_LEN, KV_LEN = 3, 4, 17, 7, 5
WIDTH = HEADS * HEAD_DIM
LENGTHS = torch.tensor([2, 5])
FILLING = torch.arange(KV_LEN) >= LENGTHS[:, None]
LOOKING_BACK = masks.build(masks.causal, Q_LEN, Q_LEN)
X, SOURCE = drawn(2, Q_LEN, WIDTH), drawn(2, KV_LEN, WIDTH)
OWN, CROSS = (
    MultiHead(each[0], each[1], each[2], each[3], HEAD_DIM) for each in drawn(2, 4, WIDTH, WIDTH)
)
FEED = FeedForward(drawn(WIDTH, HIDDEN), drawn(HIDDEN), drawn(HIDDEN, WIDTH), drawn(WIDTH))
FIRST, SECOND, THIRD = (Norm(*both.unbind()) for both in drawn(3, 2, WIDTH).unbind())
NORMS = FIRST, SECOND, THIRD
SIZES: dict[str, Any] = {"dim_feedforward": HIDDEN, "dropout": 0.0}
SIZES |= {"batch_first": True, "norm_first": True}


def take(module, own, feed, norms):
    """Give torch's layer our numbers; it has the parts that we have not, and they add 0."""
    for name, attending in own.items():
        held = fill_module(getattr(module, name), attending)
        nn.init.zeros_(held.in_proj_bias)
        nn.init.zeros_(held.out_proj.bias)
    of_torch = (module.linear1.weight.T, module.linear1.bias, module.linear2.weight.T)
    for theirs, ours in zip((*of_torch, module.linear2.bias), astuple(feed), strict=True):
        theirs.copy_(ours)
    for n, norm in enumerate(norms, start=1):
        getattr(module, f"norm{n}").weight.copy_(norm.gain)
        getattr(module, f"norm{n}").bias.copy_(norm.shift)
    return module


def test_cross_attention_agrees_with_torchs_module_given_another_sequence():
    """Where one source is shorter, and filled up."""
    torchs = nn.MultiheadAttention(WIDTH, HEADS, bias=False, batch_first=True, dtype=X.dtype)
    output, weights = fill_module(torchs, CROSS)(
        X, SOURCE, SOURCE, average_attn_weights=False, key_padding_mask=FILLING
    )
    run = cross_attention(X, read_source(SOURCE, CROSS), CROSS, hide_padding(LENGTHS, KV_LEN))
    assert run.weights.shape == (2, HEADS, Q_LEN, KV_LEN)
    assert_close(run.weights, weights)
    assert_close(run.output, output)


@torch.no_grad()
def test_an_encoders_block_agrees_with_torchs_layer():
    torchs = nn.TransformerEncoderLayer(WIDTH, HEADS, **SIZES, dtype=torch.double)
    take(torchs, {"self_attn": OWN}, FEED, NORMS[:2])
    mask = hide_padding(LENGTHS, KV_LEN)
    ours = encoder_block(SOURCE, EncoderBlock(OWN, FEED, (FIRST, SECOND)), mask)
    theirs = torchs(SOURCE, src_key_padding_mask=FILLING)
    assert_close(ours.output[~FILLING], theirs[~FILLING])
    assert_close(ours.after_own + ours.fed, ours.output)


@torch.no_grad()
def test_a_decoders_block_agrees_with_torchs_layer():
    torchs = nn.TransformerDecoderLayer(WIDTH, HEADS, **SIZES, dtype=torch.double)
    take(torchs, {"self_attn": OWN, "multihead_attn": CROSS}, FEED, NORMS)
    block, mask = DecoderBlock(OWN, CROSS, FEED, NORMS), hide_padding(LENGTHS, KV_LEN)
    ours = decoder_block(X, read_source(SOURCE, CROSS), block, LOOKING_BACK, mask)
    theirs = torchs(X, SOURCE, tgt_mask=~LOOKING_BACK, memory_key_padding_mask=FILLING)
    assert_close(ours.output, theirs)
    assert_close(ours.after_own + ours.cross.output, ours.after_cross)
    assert_close(ours.after_cross + ours.fed, ours.output)
