"""The KV cache: what is kept is what would be computed again, and what it costs."""

from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from explainers.attention import masks
from explainers.attention.cache import faults
from explainers.attention.cache.decoding import decode, recompute
from explainers.attention.cache.kv_cache import empty_cache, read
from explainers.attention.cache.step_costs import with_cache, without_cache
from explainers.attention.cache.windows import empty_ring, read_ring, sinks_and_window
from explainers.attention.multi_head import split_heads
from explainers.attention.rotary import angles, rotate
from explainers.toys.examples import random_heads

CAUSAL = partial(read, rule=masks.causal)
TOKENS, D_MODEL, HEADS, KV_HEADS, HEAD_DIM = 7, 13, 6, 2, 4
LAYERS = [random_heads(D_MODEL, HEADS, KV_HEADS, HEAD_DIM, seed) for seed in (0, 1)]
X = torch.randn(TOKENS, D_MODEL, generator=torch.Generator().manual_seed(0))


def nothing(x=X, layers=LAYERS):
    return [empty_cache(x, layer) for layer in layers]


def outputs(reader, x=X, layers=LAYERS, caches=None):
    """The last layer's rows, the text read token by token."""
    steps = decode(x, layers, caches or nothing(x, layers), reader)
    return torch.cat([step.output for step in steps], dim=-2)


def rings(slots):
    return [empty_ring(X, layer, slots) for layer in LAYERS]


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 12), st.sampled_from([(1, 1), (4, 2), (6, 1)]), st.integers(0, 99))
def test_what_is_kept_is_what_would_be_computed_again_bit_for_bit(tokens, heads, seed):
    layers = [random_heads(8, heads[0], heads[1], 4, seed + n) for n in range(3)]
    x = torch.randn(2, tokens, 8, generator=torch.Generator().manual_seed(seed))
    steps = decode(x, layers, nothing(x, layers), CAUSAL)
    again = recompute(x, layers)
    assert torch.equal(torch.cat([step.output for step in steps], dim=-2), again.output)
    for made, fresh in zip(steps[-1].reads, again.caches, strict=True):
        assert torch.equal(made.cache.key, fresh.key)
        assert torch.equal(made.cache.value, fresh.value)


@pytest.mark.parametrize("kv_heads", [1, 3, 6])
def test_one_pass_is_torchs_grouped_attention_of_turned_queries_and_keys(kv_heads):
    layer = random_heads(D_MODEL, 6, kv_heads, HEAD_DIM, 5)
    done = read(X, layer, empty_cache(X, layer), masks.causal)
    matrices = layer.w_query, layer.w_key, layer.w_value
    query, key, value = (split_heads(X @ matrix, HEAD_DIM) for matrix in matrices)
    turn = partial(rotate, angle=angles(torch.arange(TOKENS), HEAD_DIM, 10_000.0))
    heads = torch.nn.functional.scaled_dot_product_attention(
        turn(query), turn(key), value, is_causal=True, enable_gqa=True
    )
    torch.testing.assert_close(done.output, heads.transpose(0, 1).flatten(-2) @ layer.w_output)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 4), st.integers(1, 8))
def test_sinks_and_a_ring_are_a_mask_as_well(sinks, width):
    masked = outputs(partial(read, rule=sinks_and_window(sinks, width)))
    ring = outputs(partial(read_ring, sinks=sinks), caches=rings(sinks + width))
    torch.testing.assert_close(ring, masked)


@pytest.mark.parametrize(("tokens", "sinks"), [(2, 0), (1, 3), (1, -1)])
def test_a_ring_refuses_what_it_cannot_hold(tokens, sinks):
    with pytest.raises(ValueError, match=f"{tokens} tokens at once, {sinks} of 3 slots for sinks"):
        read_ring(X[:tokens], LAYERS[0], rings(3)[0], sinks)


def flops(x, layer, cache):
    """Torch's own count of one call; a multiply-add is two of them."""
    with FlopCounterMode(display=False) as counter:
        done = read(x, layer, cache, masks.causal)
    return counter.get_total_flops(), done.cache


@pytest.mark.parametrize("layer", [LAYERS[0], random_heads(D_MODEL, 3, 3, 10, 0)])
def test_torch_counts_the_same_multiply_adds(layer):
    cached, recomputed, cache = 0, 0, empty_cache(X, layer)
    for length in range(1, TOKENS + 1):
        flops_of_step, cache = flops(X[length - 1 : length], layer, cache)
        cached += flops_of_step
        recomputed += flops(X[:length], layer, empty_cache(X, layer))[0]
    for counted, work in ((cached, with_cache), (recomputed, without_cache)):
        done = work(TOKENS, layer)
        assert counted == 2 * (done.projections + done.scores)


@pytest.mark.parametrize(
    ("fault", "starts"),
    [(faults.forget_offset, 1), (faults.drop_row, faults.LOST + 1), (faults.append_after, 0)],
)
def test_where_a_mistake_begins_to_show(fault, starts):
    apart = (outputs(fault) - outputs(CAUSAL)).abs().amax(dim=-1)
    assert int((apart > 1e-4).int().argmax()) == starts
