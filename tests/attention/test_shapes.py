"""Every shape comment of the teaching code, held against the shapes of a real run."""

# ruff: noqa: RET504 (here too a result has a name, for its shape comment)

import inspect
import pkgutil
import typing
from functools import partial
from importlib import import_module
from importlib.util import find_spec

import pytest
import torch

from explainers import attention as teaching
from explainers.attention import (
    cross,
    decoder_block,
    dropout,
    encoder_block,
    grouped_query,
    kernel_inputs,
    latent,
    masks,
    multi_head,
    online_softmax,
    position_bias,
    positions,
    receptive_field,
    rotary,
    scaling,
    single_head,
    sinks,
    softcap,
    steps,
    tile_list,
    tiled,
)
from explainers.attention.cache import decoding, faults, kv_cache, windows
from explainers.attention.latent_layer import Latent
from explainers.attention.layer import MultiHead
from explainers.attention.scaled_dot_product import attention
from tests.support.shapes import TEACHING, check_shapes

tiled_kernel = find_spec("triton") and import_module(f"{TEACHING}.tiled_kernel")
SIZES: dict[str, typing.Any] = {
    "batch": 2,
    "q_len": 5,
    "kv_len": 7,
    "head_dim": 11,
    "value_dim": 4,
    "d_model": 13,
    "heads": 12,
    "kv_heads": 4,
    "latent_dim": 17,
    "rope_dim": 8,
    "pairs": 8,
    "layers": 6,
    "draws": 6,
    "hidden": 19,
    "length": 9,
    "q_block": 5,
    "kv_block": 7,
    "slots": 3,
}


def calls(leading):
    """Each teaching function that makes tensors, with arguments whose axes all differ in size."""

    def tensor(*axes):
        return torch.randn(*leading, *(SIZES[axis] for axis in axes))

    query, key = tensor("q_len", "head_dim"), tensor("kv_len", "head_dim")
    value, scores = tensor("kv_len", "value_dim"), tensor("q_len", "kv_len")
    x, mask = tensor("q_len", "d_model"), torch.ones(5, 7, dtype=torch.bool)
    head = single_head.SingleHead(torch.randn(13, 11), torch.randn(13, 11), torch.randn(13, 4))
    rule = masks.Rule(lambda query_pos, key_pos: mask.expand(*leading, 5, 7))
    rows = torch.randn(SIZES["draws"], SIZES["kv_len"])
    tokens, order = torch.randn(9, 13), torch.arange(9)
    own = mask[:, :5]
    wide, narrow, up, back = (torch.randn(*s) for s in [(13, 132), (13, 44), (17, 132), (132, 13)])
    layer = MultiHead(wide, wide, wide, back, head_dim=11)
    shared = MultiHead(wide, narrow, narrow, back, head_dim=11)
    small = Latent(
        w_query=wide,
        w_rotary_query=torch.randn(13, 96),
        w_down=torch.randn(13, 17),
        gain=torch.randn(17),
        w_up_key=up,
        w_up_value=up,
        w_rotary_key=torch.randn(13, 8),
        w_output=back,
        head_dim=11,
    )
    sides = [(13, 19), (19,), (19, 13), (13,)]
    feed = encoder_block.FeedForward(*(torch.randn(*side) for side in sides))
    norm, looked_at = (
        encoder_block.Norm(*torch.randn(2, 13)),
        cross.Source(*torch.randn(2, *leading, 12, 7, 11)),
    )
    keys, turning = torch.randn(*leading, 4, 5, 11), torch.randn(*leading, 7, 16)
    sizes = [(13, 192), (13, 64), (13, 64), (192, 13)]
    into_query, into_key, into_value, out = (torch.randn(*size) for size in sizes)
    in_turns = MultiHead(into_query, into_key, into_value, out, 16)
    token = x[..., :1, :]
    spread = masks.Rule(lambda *at: masks.causal(*at).expand(*leading, *masks.full(*at).shape))
    tiles = tile_list.list_tiles(spread, 5, 7, 16, 32)
    of_kernel = (
        {} if not tiled_kernel else {tiled_kernel.kernel_attention: (query, key, value, tiles)}
    )
    of_heads = [torch.randn(*leading, 12, *axes) for axes in [(5, 11), (7, 11), (7, 4)]]

    def kept(rows, seen):
        held_key, held_value = torch.randn(2, *leading, 4, rows, 16)
        return kv_cache.Cache(held_key, held_value, seen)

    return {
        attention: (query, key, value, mask),
        steps.dot_products: (query, key),
        steps.scale: (scores, 11),
        steps.hide: (scores, mask),
        steps.softmax: (scores,),
        steps.mix: (scores, value),
        steps.attention_steps: (query, key, value, mask),
        masks.padding: (torch.tensor([3, 7]),),
        masks.build: (rule, 5, 7),
        single_head.project: (x, head),
        single_head.single_head: (x, head, mask[:, :5]),
        scaling.random_scores: (11, 7, 6, torch.Generator()),
        scaling.largest_weight: (rows,),
        scaling.gradient_size: (rows,),
        scaling.with_temperature: (scores, 3.0),
        scaling.measure: (11, 7, 6, torch.Generator()),
        positions.sinusoidal: (9, 13, 100.0),
        positions.reorder: (tokens, tokens, head, torch.ones(9, 9, dtype=torch.bool), order),
        multi_head.split_heads: (torch.randn(*leading, 5, 132), 11),
        multi_head.merge_heads: (torch.randn(*leading, 12, 5, 11),),
        multi_head.multi_head: (x, layer, own),
        multi_head.multi_head_one_by_one: (x, layer, own),
        multi_head.contributions: (torch.randn(*leading, 12, 5, 11), layer.w_output),
        grouped_query.share: (keys, 3),
        grouped_query.share_wrongly: (keys, 3),
        grouped_query.grouped_query: (x, shared, own),
        latent.compress: (x, small, torch.randn(5, 4)),
        latent.queries: (x, small, torch.randn(5, 4)),
        latent.latent_attention: (x, small, own, torch.randn(5, 4)),
        latent.absorbed: (x, small, own, torch.randn(5, 4)),
        rotary.angles: (torch.arange(9), 16, 100.0),
        rotary.rotate: (torch.randn(*leading, 9, 16), torch.randn(9, 8)),
        rotary.rotate_halves: (torch.randn(*leading, 9, 16), torch.randn(9, 8)),
        rotary.rotary_attention: (turning[..., -5:, :], turning, value, mask, torch.randn(7, 8)),
        position_bias.alibi_slopes: (12,),
        position_bias.alibi_bias: (torch.randn(12), 5, 7),
        position_bias.biased_attention: (query, key, value, mask, scores),
        softcap.soft_cap: (scores, 2.0),
        softcap.capped_attention: (query, key, value, mask, 2.0),
        position_bias.bucket: (torch.randint(-9, 99, (5, 7)), 8, 50),
        position_bias.both_ways: (torch.randint(-99, 99, (5, 7)), 8, 50),
        position_bias.relative_bias: (torch.randn(8, 12), torch.randint(8, (5, 7))),
        sinks.attention_with_sinks: (*of_heads, mask, torch.randn(12)),
        steps.masked_before: (scores, mask),
        steps.masked_after: (scores, mask),
        receptive_field.reach: (tensor("q_len", "q_len") > 0, 6),
        dropout.drop: (scores, 0.25, torch.Generator()),
        kv_cache.empty_cache: (x, in_turns),
        kv_cache.project_at: (x, in_turns, 2),
        kv_cache.append: (kept(2, 2), *kept(5, 5)[:2]),
        kv_cache.look_up: (torch.randn(*leading, 12, 5, 16), kept(7, 7), in_turns, mask),
        kv_cache.read: (x, in_turns, kept(2, 2), masks.causal),
        decoding.read_added: (x, in_turns, kept(2, 2), masks.causal),
        faults.forget_offset: (token, in_turns, kept(6, 6)),
        faults.drop_row: (token, in_turns, kept(6, 6)),
        faults.append_after: (token, in_turns, kept(7, 7)),
        windows.empty_ring: (x, in_turns, 3),
        windows.put: (keys[..., :3, :], keys[..., :1, :], 1),
        windows.read_ring: (token, in_turns, kept(3, 6), 1),
        encoder_block.normalise: (x, norm),
        encoder_block.feed_forward: (x, feed),
        encoder_block.encoder_block: (
            x,
            encoder_block.EncoderBlock(layer, feed, (norm, norm)),
            own,
        ),
        decoder_block.decoder_block: (
            x,
            looked_at,
            decoder_block.DecoderBlock(layer, layer, feed, (norm, norm, norm)),
            own,
            mask,
        ),
        cross.read_source: (tensor("kv_len", "d_model"), layer),
        cross.hide_padding: (torch.tensor([3, 7]), 7),
        cross.cross_attention: (x, looked_at, layer, mask),
        decoding.through: (x, [in_turns], [kept(2, 2)], partial(kv_cache.read, rule=masks.causal)),
        decoding.recompute: (x, [in_turns]),
        online_softmax.begin: (query, value),
        online_softmax.read_block: (online_softmax.begin(query, value), scores, value),
        tiled.positions: (5, 7, 1, 1),
        tiled.tiled_attention: (query, key, value, masks.causal, 5, 7),
        tiled.read_keys: (query, torch.arange(5)[:, None], [(key, value, torch.arange(7))], rule),
        tiled.read_tile: (online_softmax.begin(query, value), query, key, value, mask),
        tiled.tile_cells: (masks.causal, 5, 7, 2, 3),
        tile_list.list_tiles: (spread, 5, 7, 2, 4),
        tile_list.cut_into_tiles: (tensor("q_len", "kv_len") > 0, 8, 4),
        tile_list.find_kinds: (torch.rand(*leading, 2, 5, 7) > 0,),
        **of_kernel,
        kernel_inputs.lay_out: (tensor("length", "head_dim"), torch.Size(leading)),
        kernel_inputs.number_masks: (tiles, torch.Size(leading)),
    }


def own_sizes(function, leading):
    """What is of another size in this call, and in the functions that it calls."""
    # Inside one sequence there are as many queries as keys.
    within = {"kv_len": SIZES["q_len"]}
    inside = {"...": (*leading, SIZES["heads"]), "value_dim": SIZES["head_dim"]}
    alone = {"...": (*leading, 1), "value_dim": SIZES["head_dim"]}
    several: dict[object, None] = {multi_head.split_heads: None, rotary.rotate: None}
    # RoPE needs pairs, and the keys are as many as the cache has then.
    turned = {"head_dim": 16, rotary.angles: {"length": SIZES["q_len"]}, **several}
    in_cache = turned | {
        attention: {"...": (*leading, SIZES["heads"]), "value_dim": 16},
        grouped_query.share: {"q_len": SIZES["kv_len"]},
    }
    one_more = in_cache | {"q_len": 1, rotary.angles: {"length": 1}}
    of_slots = {"kv_len": SIZES["slots"], grouped_query.share: {"q_len": SIZES["slots"]}}
    several_tiles: dict[object, object] = {"q_tiles": 3, "kv_tiles": 2, "kv_block": 4}
    several_tiles[tile_list.cut_into_tiles] = None
    inside_blocks = {
        attention: inside,
        multi_head.multi_head: within | {attention: inside | within},
    }
    return {
        tile_list.list_tiles: several_tiles | {"q_block": 2},
        tile_list.cut_into_tiles: several_tiles | {"q_block": 8},
        tile_list.find_kinds: {"kv_tiles": 2},
        kernel_inputs.lay_out: {"padded": 16},
        single_head.single_head: within,
        positions.reorder: {"q_len": SIZES["length"], "kv_len": SIZES["length"], "...": ()},
        multi_head.multi_head: within | {attention: inside},
        multi_head.multi_head_one_by_one: within | {attention: alone, single_head.project: alone},
        grouped_query.grouped_query: within | {attention: inside} | several,
        latent.compress: several,
        latent.queries: several,
        latent.latent_attention: within | {attention: inside} | several,
        latent.absorbed: within | several,
        rotary.angles: {"head_dim": 16},
        rotary.rotate: {"head_dim": 16},
        rotary.rotate_halves: {"head_dim": 16},
        rotary.rotary_attention: {"head_dim": 16, rotary.rotate: None},
        receptive_field.reach: within,
        sinks.attention_with_sinks: {"...": (*leading, SIZES["heads"])},
        kv_cache.empty_cache: turned,
        kv_cache.project_at: turned,
        kv_cache.append: turned,
        kv_cache.look_up: in_cache,
        kv_cache.read: in_cache,
        decoding.read_added: in_cache,
        faults.forget_offset: one_more,
        faults.drop_row: one_more,
        faults.append_after: one_more | {kv_cache.append: {"kv_len": SIZES["kv_len"] + 1}},
        windows.empty_ring: turned,
        windows.read_ring: one_more | of_slots,
        encoder_block.encoder_block: inside_blocks,
        decoder_block.decoder_block: inside_blocks,
        cross.read_source: several,
        cross.hide_padding: {"q_len": 1, "...": (2, 1)},
        cross.cross_attention: {attention: inside},
        decoding.through: turned,
        decoding.recompute: turned | {kv_cache.look_up: None, multi_head.merge_heads: None},
    }.get(function, {})


@pytest.mark.parametrize("leading", [(), (2, 3)], ids=["no leading axes", "batch and heads"])
@pytest.mark.parametrize("function", calls(()), ids=lambda function: function.__name__)
def test_comments_are_true(function, leading):
    sizes = SIZES | {"...": leading} | own_sizes(function, leading)
    check_shapes(function, sizes, *calls(leading)[function])


def test_no_teaching_function_is_missing():
    modules = [
        import_module(module.name)
        for module in pkgutil.walk_packages(teaching.__path__, f"{TEACHING}.")
        if tiled_kernel or not module.name.endswith(".tiled_kernel")
    ]
    public = {
        function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }
    assert {function for function in public if makes_tensors(function)} == set(calls(()))


def makes_tensors(function):
    """Does it return a tensor or a NamedTuple of tensors, or state the shape of one?"""
    result = typing.get_type_hints(function)["return"]
    named = isinstance(result, type) and issubclass(result, tuple)
    return named or result is torch.Tensor or "# (" in inspect.getsource(function)


def true_comments(query, key):
    scores = torch.matmul(query, key.transpose(-2, -1))  # (..., q_len, kv_len)
    shares, best = scores.softmax(dim=-1), scores.amax(dim=-1)  # (..., q_len, kv_len), (..., q_len)
    one = scores.sum()[None]  # (1,)
    return shares, best, one


def two_axes_exchanged(query, key):
    scores = query @ key.transpose(-2, -1)  # (..., kv_len, q_len)
    return scores


def an_axis_left_out(query, key):
    scores = query @ key.transpose(-2, -1)  # (..., kv_len)
    return scores


def an_axis_too_many(query, key):
    scores = query @ key.transpose(-2, -1)  # (..., heads, q_len, kv_len)
    return scores


def an_axis_nobody_knows(query, key):
    scores = query @ key.transpose(-2, -1)  # (..., q_len, key_len)
    return scores


def a_wrong_second_name(query, key):
    query, key = query.mT, key.mT  # (..., head_dim, q_len), (..., kv_len, head_dim)
    return query, key


def a_name_without_a_shape(query, key):
    query, key = query.mT, key.mT  # (..., head_dim, q_len)
    return query, key


def a_comment_behind_no_assignment(query, key):
    return query @ key.transpose(-2, -1)  # (..., q_len, kv_len)


def a_comment_never_closed(query, key):
    scores = query @ key.transpose(-2, -1)  # (..., q_len, kv_len
    return scores


def no_comment(query, key):
    return query @ key.transpose(-2, -1)


WRONG = (
    two_axes_exchanged,
    an_axis_left_out,
    an_axis_too_many,
    an_axis_nobody_knows,
    a_wrong_second_name,
    a_name_without_a_shape,
    a_comment_behind_no_assignment,
    a_comment_never_closed,
    no_comment,
)
TENSORS = torch.randn(2, 3, 5, 11), torch.randn(2, 3, 7, 11)
LEADING = SIZES | {"...": (2, 3), "heads": 3}


def test_true_comments_are_let_through():
    check_shapes(true_comments, LEADING, *TENSORS)


@pytest.mark.parametrize("function", WRONG, ids=lambda function: function.__name__)
def test_wrong_comments_are_found(function):
    with pytest.raises(AssertionError, match=function.__name__):
        check_shapes(function, LEADING, *TENSORS)
