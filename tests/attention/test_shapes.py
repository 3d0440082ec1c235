"""Every shape comment of the teaching code, held against the shapes of a real run.

Each function has a call with arguments whose axes all differ in size. Wrong comments are planted
in tests/test_mutations.py.
"""

import pkgutil
import typing
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from inspect import getmembers, getsource, isfunction, signature

import pytest
import torch

from explainers import attention as teaching
from explainers.attention import masks
from explainers.attention.cache.kv_cache import Cache, read
from explainers.attention.decoder_block import DecoderBlock, Source
from explainers.attention.encoder_block import EncoderBlock, FeedForward, Norm
from explainers.attention.indexer import Indexer
from explainers.attention.latent_layer import Latent
from explainers.attention.layer import MultiHead
from explainers.attention.online_softmax import begin
from explainers.attention.serving.paged_cache import Table, empty_pages
from explainers.attention.single_head import SingleHead
from explainers.attention.tile_list import list_tiles
from tests.support.shapes import TEACHING, check_shapes

SIZES: dict[str, typing.Any] = {"batch": 2, "q_len": 5, "kv_len": 7, "length": 9, "blocks": 3}
SIZES |= {"d_model": 13, "head_dim": 11, "value_dim": 4, "width": 6, "pairs": 8, "hidden": 19}
SIZES |= {"heads": 12, "kv_heads": 4, "latent_dim": 17, "rope_dim": 8, "vocabulary": 23}
SIZES |= {"layers": 6, "draws": 6, "q_block": 5, "kv_block": 7, "slots": 3, "pages": 10}
SIZES |= {"index_heads": 10, "index_dim": 18}

ONE_SEQUENCE = [
    "single_head", "multi_head", "grouped_query", "latent_attention", "absorbed", "reach",
    "changed_rows",
]  # fmt: skip
"""Inside one sequence there are as many queries as keys."""
TURNED = [
    "angles", "rotate", "rotate_halves", "rotary_attention", "empty_cache", "project_at", "append",
    "look_up", "read", "through", "recompute", "empty_ring",
]  # fmt: skip
"""RoPE needs pairs."""


def drawn(*shapes):
    return [torch.randn(*shape) for shape in shapes]


@cache
def calls(leading):
    """Each teaching function that makes tensors, with arguments whose axes all differ in size.

    Arguments are what their names say, unless a function is given others.
    """

    def tensor(*axes):
        return torch.randn(*leading, *(SIZES[axis] for axis in axes))

    query, key = tensor("q_len", "head_dim"), tensor("kv_len", "head_dim")
    value, scores = tensor("kv_len", "value_dim"), tensor("q_len", "kv_len")
    x, mask = tensor("q_len", "d_model"), torch.ones(5, 7, dtype=torch.bool)
    head = SingleHead(*drawn((13, 11), (13, 11), (13, 4)))
    rule = masks.Rule(lambda query_pos, key_pos: mask.expand(*leading, 5, 7))
    rows = torch.randn(SIZES["draws"], SIZES["kv_len"])
    tokens, order = torch.randn(9, 13), torch.arange(9)
    own = mask[:, :5]
    wide, narrow, up, back = drawn((13, 132), (13, 44), (17, 132), (132, 13))
    layer, shared = MultiHead(wide, wide, wide, back, 11), MultiHead(wide, narrow, narrow, back, 11)
    turned_query, down, gain, turned_key = drawn((13, 96), (13, 17), (17,), (13, 8))
    small = Latent(wide, turned_query, down, gain, up, up, turned_key, back, head_dim=11)
    feed = FeedForward(*drawn((13, 19), (19,), (19, 13), (13,)))
    norm, looked_at = (Norm(*torch.randn(2, 13)), Source(*torch.randn(2, *leading, 12, 7, 11)))
    decoding = DecoderBlock(layer, layer, feed, (norm, norm, norm))
    keys, turning = torch.randn(*leading, 4, 5, 11), torch.randn(*leading, 7, 16)
    into_query, into_key, into_value, out = drawn((13, 192), (13, 64), (13, 64), (192, 13))
    in_turns = MultiHead(into_query, into_key, into_value, out, head_dim=16)
    token = x[..., :1, :]
    spread = masks.Rule(lambda *at: masks.causal(*at).expand(*leading, *masks.full(*at).shape))
    tiles = list_tiles(spread, 5, 7, 16, 32)
    indexing = Indexer(*drawn((13, 180), (13, 18), (18,), (18,), (13, 10)))
    asked = tensor("index_heads", "q_len", "index_dim"), tensor("kv_len", "index_dim")
    of_heads = [torch.randn(*leading, 12, *axes) for axes in [(5, 11), (7, 11), (7, 4)]]
    state, one_key = tensor("value_dim", "head_dim"), tensor("head_dim")
    one_value = tensor("value_dim")
    rows_of_keys, rows_of_values = tensor("length", "head_dim"), tensor("length", "value_dim")
    shares, ages = torch.rand(2, *leading, 9)
    fade = torch.rand(*leading, 9, 9).tril()
    groups, in_pairs = torch.randn(*leading, 9, 12), torch.randn(*leading, 9, 16)
    both = torch.rand(2, 23).softmax(dim=-1)

    def kept(rows, seen):
        held_key, held_value = torch.randn(2, *leading, 4, rows, 16)
        return Cache(held_key, held_value, seen)

    named = {"query": query, "key": key, "value": value, "mask": mask, "x": x, "head": head}
    named |= dict.fromkeys(("scores", "products", "masked", "weights", "bias"), scores)
    named |= {"head_dim": 11, "q_len": 5, "kv_len": 7, "draws": 6, "length": 9, "d_model": 13}
    named |= {"rule": rule, "lengths": torch.tensor([3, 7]), "generator": torch.Generator()}
    named |= {"temperature": 3.0, "longest": 100.0, "factor": 4.0, "cap": 2.0, "probability": 0.25}
    named |= {"speed": torch.randn(8), "share": torch.rand(8), "norm": norm, "feed": feed}
    named |= {"num_heads": 12, "slopes": torch.randn(12), "tiles": tiles}
    named |= {"w_gate": torch.randn(13, 4), "output": tensor("q_len", "value_dim")}
    named |= {"draft": both[0], "target": both[1], "again": both[1], "one": order, "two": order}
    named |= {"layer": layer, "w_output": back, "source": tensor("kv_len", "d_model")}
    named |= {"per_head": torch.randn(*leading, 12, 5, 11), "part": tensor("length", "head_dim")}
    named |= {"pages": 10, "kv_heads": 4, "slots": 3, "memory": empty_pages(10, 4, 3, 11)}
    named |= {"table": Table((6, 2, 5), 7), "more": 1, "leading": torch.Size(leading)}
    named |= {"q_block": 5, "kv_block": 7, "kept": 3}
    named |= dict.fromkeys(("before", "running"), begin(query, value))
    given = {
        **dict.fromkeys(("largest_weight", "gradient_size"), (rows,)),
        "reorder": (tokens, tokens, head, torch.ones(9, 9, dtype=torch.bool), order),
        "split_heads": (torch.randn(*leading, 5, 132), 11),
        **dict.fromkeys(("share", "share_wrongly"), (keys, 3)),
        "grouped_query": (x, shared, own),
        **dict.fromkeys(("compress", "queries"), (x, small, torch.randn(5, 4))),
        **dict.fromkeys(("latent_attention", "absorbed"), (x, small, own, torch.randn(5, 4))),
        "angles": (torch.arange(9), 16, 100.0),
        **dict.fromkeys(("rotate", "rotate_halves"), (in_pairs, torch.randn(9, 8))),
        "rotary_attention": (turning[..., -5:, :], turning, value, mask, torch.randn(7, 8)),
        "raise_base": (16, 100.0, 4.0),
        "find_slowed_share": (16, 100.0, 32),
        "attention_with_sinks": (*of_heads, mask, torch.randn(12)),
        "write_sum": (state, one_key, one_value),
        "read_state": (state, one_key),
        "write_delta": (state, one_key, one_value, shares[..., 0], ages[..., 0]),
        "find_news": (rows_of_keys, rows_of_values, shares, fade),
        "gated_delta_attention": (*[rows_of_keys] * 2, rows_of_values, shares, ages),
        "softmax_with_sinks": (tensor("heads", "q_len", "kv_len"), torch.randn(12)),
        "rms_norm": (query, torch.randn(11)),
        "reach": (tensor("q_len", "q_len") > 0, 6),
        "empty_cache": (x, in_turns),
        "project_at": (x, in_turns, 2),
        "append": (kept(2, 2), *kept(5, 5)[:2]),
        "look_up": (torch.randn(*leading, 12, 5, 16), kept(7, 7), in_turns, mask),
        "read": (x, in_turns, kept(2, 2), masks.causal),
        **dict.fromkeys(("forget_offset", "drop_row"), (token, in_turns, kept(6, 6))),
        "append_after": (token, in_turns, kept(7, 7)),
        "empty_ring": (x, in_turns, 3),
        "put": (keys[..., :3, :], keys[..., :1, :], 1),
        "read_ring": (token, in_turns, kept(3, 6), 1),
        "encoder_block": (x, EncoderBlock(layer, feed, (norm, norm)), own),
        "decoder_block": (x, looked_at, decoding, own, mask),
        "cross_attention": (x, looked_at, layer, mask),
        "through": (x, [in_turns], [kept(2, 2)], partial(read, rule=masks.causal)),
        "recompute": (x, [in_turns]),
        "changed_rows": (keys.mT.mT, keys, 0.1),
        **dict.fromkeys(("tree_mask", "tree_positions"), (4, [-1, -1, 0])),
        "read_in_chunks": (x, [in_turns], [kept(0, 0)], partial(read, rule=masks.causal), 2),
        "read_keys": (query, torch.arange(5)[:, None], [(key, value, torch.arange(7))], rule),
        "list_tiles": (spread, 5, 7, 2, 4),
        "cut_into_tiles": (tensor("q_len", "kv_len") > 0, 8, 4),
        "find_kinds": (torch.rand(*leading, 2, 5, 7) > 0,),
        "turn_first": (tensor("length", "index_dim"), torch.randn(9, 8)),
        "project_index": (tensor("length", "d_model"), indexing, torch.randn(9, 8)),
        "index_scores": (*asked, tensor("q_len", "index_heads")),
        "score_blocks": (query, tensor("length", "head_dim"), 3),
        "choose_blocks": (tensor("length", "blocks"), 3, 2, True),
        "merge_rows": (*[torch.randn(*leading, 9, 11)] * 2, torch.randn(4, 11)),
        "evict_least_read": (tensor("length", "length"), 4, 2),
        **dict.fromkeys(("round_in_groups", "round_in_tokens"), (groups, 2, 4)),
        "round_in_channels": (groups, 2, 3),
    }
    teaching = list_teaching()
    for name, function in teaching.items():
        if name not in given:
            here = named | {"mask": own if name in ONE_SEQUENCE else mask}
            given[name] = tuple(here[argument] for argument in signature(function).parameters)
    return {teaching[name]: arguments for name, arguments in given.items()}


def list_teaching():
    """Each public function that makes tensors, or states the shape of one, by its name."""
    modules = [
        import_module(module.name)
        for module in pkgutil.walk_packages(teaching.__path__, f"{TEACHING}.")
        if find_spec("triton") or not module.name.endswith(".tiled_kernel")
    ]
    found = [
        (name, function)
        for module in modules
        for name, function in getmembers(module, isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
        if makes_tensors(function)
    ]
    assert len(dict(found)) == len(found), "two have one name"
    return dict(found)


def own_sizes(function, leading):
    """What is of another size in this call."""
    within = {"kv_len": SIZES["q_len"]}
    turned, one_query = {"head_dim": 16}, {"head_dim": 16, "q_len": 1}
    several_tiles = {"q_tiles": 3, "kv_tiles": 2, "kv_block": 4}
    of_heads = {"...": (*leading, SIZES["heads"])}
    in_groups = {"head_dim": 12, "groups": 3, "size": 4}
    return {
        "list_tiles": several_tiles | {"q_block": 2},
        "cut_into_tiles": several_tiles | {"q_block": 8},
        "find_kinds": {"kv_tiles": 2},
        "lay_out": {"padded": 16},
        "merge_rows": {"merged": 2, "width": 4},
        **dict.fromkeys(("round_in_groups", "round_in_tokens"), in_groups),
        "round_in_channels": {"length": 12, "head_dim": 9, "groups": 3, "size": 3},
        **dict.fromkeys(ONE_SEQUENCE, within),
        **dict.fromkeys(("attention_with_sinks", "softmax_with_sinks"), of_heads),
        "reorder": {"q_len": SIZES["length"], "kv_len": SIZES["length"], "...": ()},
        "hide_padding": {"q_len": 1, "...": (2, 1)},
        **dict.fromkeys(("forget_offset", "drop_row", "append_after", "read_ring"), one_query),
        **dict.fromkeys(TURNED, turned),
    }.get(function.__name__, {})


def makes_tensors(function):
    """Does it return a tensor or a NamedTuple of tensors, or state the shape of one?"""
    result = typing.get_type_hints(function)["return"]
    named = isinstance(result, type) and issubclass(result, tuple)
    return named or result is torch.Tensor or "# (" in getsource(function)


def check_comments(function, leading):
    sizes = SIZES | {"...": leading} | own_sizes(function, leading)
    check_shapes(function, sizes, *calls(leading)[function])


@pytest.mark.parametrize("leading", [(), (2, 3)], ids=["no leading axes", "batch and heads"])
def test_comments_are_true(leading):
    for function in calls(leading):
        check_comments(function, leading)
