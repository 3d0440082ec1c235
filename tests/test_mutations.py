"""Would the tests notice? Break the code on purpose, run one of them, and it must fail."""

import importlib
import inspect
from functools import partial
from pathlib import Path

import pytest
from torch import float32

from explainers.attention import bounded_scores, masks, rotary, scaling
from explainers.attention.scaled_dot_product import attention
from explainers.attention.steps import attention_steps
from tests.attention import (
    test_attention,
    test_blocks,
    test_cache,
    test_changed_scores,
    test_latent,
    test_masks,
    test_multi_head,
    test_positions,
    test_scaling,
    test_serving,
    test_shapes,
    test_tiled,
)
from tests.memory import test_cache_bytes, test_real_caches
from tests.models import test_attention_hook
from tests.support.tiers import EVERYTHING
from tests.toys import test_tokens, test_training
from tests.translation import test_alignment, test_translator

ROOT, TOPS = Path(__file__).parents[1], ("explainers", "workshop")
WHOLE = test_attention.test_agrees_with_torch_and_a_row_shares_out_exactly_the_allowed_pairs
HUGE = partial(test_attention.test_huge_scores_do_not_overflow, float32, attention_steps)
COMMENTS = partial(test_shapes.check_comments, attention, ())
DRAWS = partial(test_shapes.check_comments, scaling.random_scores, ())
TURNED = partial(test_shapes.check_comments, rotary.rotate, ())
PRESSED = partial(test_shapes.check_comments, bounded_scores.soft_cap, ())
PREFIX = partial(test_masks.test_rules_in_pictures, "prefix of 3")
DECODING = partial(test_masks.test_while_decoding_the_queries_are_the_last_positions, "causal")
HEAD = test_attention.test_a_head_agrees_with_torch
JACOBIAN = test_scaling.test_gradient_size_is_the_norm_of_torchs_jacobian
FORMULA = partial(test_positions.test_the_papers_formula, 100.0, 8)
MODULE = partial(test_multi_head.test_agrees_with_torchs_module_under_every_rule, masks.causal)
ADDED = test_multi_head.test_what_the_heads_add_is_the_output
SHARED = partial(test_multi_head.test_shared_heads_agree_with_torch_under_every_rule, "causal", 3)
AVERAGED = test_multi_head.test_averaging_is_the_mean_over_each_group
DEEPSEEK = partial(
    test_latent.test_agrees_with_transformers_deepseek_v3_and_absorbed_is_written_out, "causal"
)
ARROWS = test_positions.test_each_pair_is_an_arrow_that_is_turned
LLAMA = test_positions.test_agrees_with_transformers_llama
MOVED = test_positions.test_moving_the_whole_text_changes_no_score
BLOOM = partial(test_positions.test_agrees_with_transformers_bloom, 6)
BIASED = partial(test_positions.test_biased_attention_agrees_with_torch_under_every_rule, "causal")
GEMMA, GPT_OSS = (
    partial(test_changed_scores.test_agrees_with_transformers, *case)
    for case in test_changed_scores.CASES.values()
)
INSIDE = {
    family: partial(test_attention_hook.held, family, float32, decoded=2)
    for family in ("Llama", "T5 (relative bias)", "Mistral (window)", "Gemma 2 (soft-cap)")
}
BETWEEN = test_attention_hook.test_an_encoder_a_decoder_and_what_is_between_them
REACHED = test_masks.test_agrees_with_walking_from_token_to_token
HIDDEN = partial(
    test_attention.test_what_is_hidden_too_late_has_its_share_and_is_missing_from_its_row, "causal"
)
ON_AVERAGE = partial(test_scaling.test_as_often_as_asked_and_unchanged_on_average, 0.1)
WITH_ROPE = partial(
    test_cache.test_one_pass_is_torchs_grouped_attention_of_turned_queries_and_keys, 3
)
KEPT = test_cache.test_what_is_kept_is_what_would_be_computed_again_bit_for_bit
RING = test_cache.test_sinks_and_a_ring_are_a_mask_as_well
NAMED = test_serving.test_the_same_block_has_another_name_behind_another_beginning
SPREAD = partial(
    test_serving.test_a_changed_token_changes_its_row_and_later_ones_of_deeper_layers, 4
)
PAGED = test_serving.test_pages_hold_what_a_plain_list_holds
IN_CHUNKS = partial(test_serving.test_chunks_give_what_one_pass_gives, 3)
BRANCH = test_serving.test_a_draft_sees_the_text_and_its_own_branch
LOOKED_UP = test_serving.test_drafts_are_those_of_transformers
GREEDY = partial(test_serving.test_what_is_written_with_drafts_is_transformers_greedy_text, 0, 4)
EXCHANGED = test_serving.test_what_is_written_has_the_targets_distribution
FLOPS = partial(test_cache.test_torch_counts_the_same_multiply_adds, test_cache.LAYERS[0])
OTHER = test_blocks.test_cross_attention_agrees_with_torchs_module_given_another_sequence
ENCODED = test_blocks.test_an_encoders_block_agrees_with_torchs_layer
DECODED = test_blocks.test_a_decoders_block_agrees_with_torchs_layer
BY_HAND = test_alignment.test_a_case_counted_by_hand
ONE_ROW = test_alignment.test_links_are_read_one_row_apart
LAST_PAGE = test_cache_bytes.test_the_last_page_is_counted_whole
WEIGHED = partial(test_real_caches.test_a_grown_cache_weighs_what_is_said, "mistral")
BY_BLOCKS = test_tiled.test_after_each_block_it_is_softmax_of_what_was_read
BY_TILES = partial(test_tiled.test_tiled_is_attention_under_every_rule, "causal", (4, 3))
BY_LIST = partial(test_tiled.test_the_list_is_what_the_mask_says, "window of 3")
IN_ORDER = test_cache_bytes.test_layers_stand_where_they_were_published
MULTIPLIED_OUT = test_cache_bytes.test_the_working_multiplies_out
COUNTED = test_tokens.test_each_merge_is_the_most_frequent_pair
ASKED = partial(test_training.test_only_what_the_mask_shows_is_asked_for, language="vi")
HELD_OUT = partial(test_training.test_no_held_out_sentence_is_ever_trained_on, "en")
ENDED = test_translator.test_nothing_stands_behind_the_end
PLACED = test_translator.test_embedding_and_position_of_what_is_read

# Wrong in ways that give the right shapes.
UNSPLIT = "parts = x.view(*x.shape[:-1], head_dim, -1).mT"
UNTURNED = "w_output.view(head_dim, heads, -1).transpose(0, 1)"
DEALT = "key.repeat([1] * (key.dim() - 3) + [group_size, 1, 1])"
ENDS = "dtype, source_tokens=source_tokens)\n    lines"
BEHIND_NOTHING = "capped = scores\n    cap * torch.tanh(scores / cap)"
ONE_SHAPE = "1::2]  # (..., length, pairs)"

FAULTS = [
    ("scaled_dot_product", "softmax(dim=-1)", "softmax(dim=-2)", WHOLE),
    ("scaled_dot_product", " / math.sqrt(head_dim)", "", WHOLE),
    ("scaled_dot_product", "~mask", "mask", WHOLE),
    ("scaled_dot_product", "# (..., q_len, value_dim)", "# (..., q_len, head_dim)", COMMENTS),
    ("steps", "powers.sum(dim=-1,", "powers.sum(dim=-2,", WHOLE),
    ("steps", "masked - largest", "masked", HUGE),
    ("masks", "key_pos <= query_pos", "key_pos < query_pos", PREFIX),
    ("masks", "arange(kv_len - q_len, kv_len)", "arange(q_len)", DECODING),
    ("single_head", "x @ head.w_key", "x @ head.w_query", HEAD),
    ("scaling", "diag_embed(weights) - outer", "diag_embed(weights) + outer", JACOBIAN),
    ("scaling", "# (draws, 1, head_dim)", "# (draws, head_dim)", DRAWS),
    ("rotary", f"{ONE_SHAPE}, (..., length, pairs)", ONE_SHAPE, TURNED),
    ("rotary", f"{ONE_SHAPE}, (..., length, pairs)", f"{ONE_SHAPE}, (..., pairs, length)", TURNED),
    ("rotary", "# (..., length, pairs, 2)", "# (..., length, pairs, 2", TURNED),
    ("bounded_scores", "/ cap)  # (..., q_len, kv_len)", "/ cap)", PRESSED),
    ("bounded_scores", "capped = cap * torch.tanh(scores / cap)", BEHIND_NOTHING, PRESSED),
    ("positions", "column % 2 == 0", "column % 2 == 1", FORMULA),
    ("multi_head", "parts = x.view(*x.shape[:-1], -1, head_dim)", UNSPLIT, MODULE),
    ("multi_head", "w_output.view(heads, head_dim, -1)", UNTURNED, ADDED),
    ("grouped_query", "key.repeat_interleave(group_size, dim=-3)", DEALT, SHARED),
    ("grouped_query", "layer.w_value.view(groups)", "layer.w_key.view(groups)", AVERAGED),
    ("latent", "math.sqrt(layer.head_dim + layer.rope_dim)", "math.sqrt(layer.head_dim)", DEEPSEEK),
    ("latent", "(mean_square + EPSILON).sqrt()", "(mean_square + EPSILON)", DEEPSEEK),
    ("rotary", "stack([new_across, new_up]", "stack([new_up, new_across]", ARROWS),
    ("rotary", "x.chunk(2, dim=-1)", "x[..., 0::2], x[..., 1::2]", LLAMA),
    ("rotary", "rotate(key, angle)", "key", MOVED),
    ("position_bias", "(head + 0.5)", "(head + 1.5)", BLOOM),
    ("position_bias", " + bias  #", "  #", BIASED),
    ("receptive_field", "(paths > 0)", "(paths > 1)", REACHED),
    ("receptive_field", "torch.stack(reached, dim=-3)", "torch.stack(reached)", REACHED),
    ("steps", "masked.softmax(dim=-1)", "scores.softmax(dim=-1)", HIDDEN),
    ("steps", "weights.masked_fill(~mask, 0.0)", "weights", HIDDEN),
    ("dropout", " / (1 - probability)", "", ON_AVERAGE),
    ("online_softmax", "before.mixed * correction", "before.mixed", BY_BLOCKS),
    ("online_softmax", "before.total * correction", "before.total", BY_BLOCKS),
    ("online_softmax", "torch.finfo(query.dtype).min", "-torch.inf", BY_BLOCKS),
    ("tiled", "torch.arange(kv_len - q_len, kv_len)", "torch.arange(q_len)", BY_TILES),
    ("tiled", "math.sqrt(query.shape[-1])", "query.shape[-1]", BY_TILES),
    ("tile_list", "clamp(max=q_len - 1)", "clamp(max=0)", BY_LIST),
    ("tile_list", "cumsum(0).view(cut.shape) - cut", "cumsum(0).view(cut.shape)", BY_LIST),
    ("kv_cache", "position=cache.seen", "position=0", IN_CHUNKS),
    ("kv_cache", "torch.cat([cache.value, value]", "torch.cat([value, cache.value]", IN_CHUNKS),
    ("kv_cache", "key = rotate(", "key = (lambda key, _: key)(", WITH_ROPE),
    ("decoding", "project_at(row, layer, place)", "project_at(row, layer, 0)", KEPT),
    ("windows", "(position - sinks) % window", "position % window", RING),
    ("windows", "min(ring.seen, slots)", "slots", RING),
    ("windows", "key_pos > query_pos - width", "key_pos >= query_pos - width", RING),
    ("shared_prefix", "hash((before, *block.tolist()))", "hash((0, *block.tolist()))", NAMED),
    ("shared_prefix", "(after - before).abs()", "(after - after).abs()", SPREAD),
    ("paged_cache", "values[free[0]] = keys[", "values[free[0]] = values[", PAGED),
    ("paged_cache", "memory.users[table.pages[-1]] == 1", "True", PAGED),
    ("decoding", "caches = [done.cache for done in step.reads]", "pass", IN_CHUNKS),
    ("kept_drafts", "|= mask[length + parent]", "|= mask[length]", BRANCH),
    ("kept_drafts", "depths[parent] + 1", "len(depths)", BRANCH),
    ("drafts_from_text", "min(longest, len(ids) - 1), 0, -1", "1, 0, -1", LOOKED_UP),
    ("drafts_from_text", "drafts[:right], after[right]]", "drafts, after[right]]", GREEDY),
    ("kept_drafts", "(target - draft).clamp(min=0)", "target", EXCHANGED),
    ("decoder_block", "source @ layer.w_value", "source @ layer.w_key", OTHER),
    ("decoder_block", "masks.padding(lengths)", "masks.full", OTHER),
    ("encoder_block", "after_own = x + own.output", "after_own = own.output", ENCODED),
    ("decoder_block", "(after_own, block.norms[1])", "(x, block.norms[1])", DECODED),
    ("alignment", "hits + allowed", "2 * hits", BY_HAND),
    ("alignment", "{PREDICTED: 0, INPUT: 1}", "{PREDICTED: 1, INPUT: 0}", ONE_ROW),
    ("step_costs", "q_len * kv_len", "kv_len", FLOPS),
    ("model_shapes", "min(tokens, self.window)", "tokens", WEIGHED),
    ("cache_bytes", "block * count_pages(cache.tokens, block)", "cache.tokens", LAST_PAGE),
    ("cache_bytes", "layer_index in shape.full", "layer_index + 1 in shape.full", IN_ORDER),
    ("cache_formula", f"batch, {ENDS}", f"1, {ENDS}", MULTIPLIED_OUT),
    ("engines", "min(tokens, group.window - 1)", "min(tokens, group.window)", WEIGHED),
    ("byte_pairs", "words = recounted", "pass", COUNTED),
    ("bounded_scores", "cap * torch.tanh(scores / cap)", "torch.tanh(scores)", GEMMA),
    ("bounded_scores", "soft_cap(products, cap)", "products", GEMMA),
    ("sinks_and_gates", "sink[:, None, None]", "sink[None, :1, None]", GPT_OSS),
    ("sinks_and_gates", "shares[..., :-1]", "masked.softmax(dim=-1)", GPT_OSS),
    ("attention_hook", " | ~call.mask.any(dim=-1, keepdim=True)", "", INSIDE["Llama"]),
    ("attention_hook", "query * factor", "query", INSIDE["T5 (relative bias)"]),
    ("attention_hook", "return mask", "return torch.ones_like(mask)", INSIDE["Mistral (window)"]),
    ("attention_hook", '"cross" if CROSS_ATTENTION_NAMES & set(parts) else kind', "kind", BETWEEN),
    ("training", " & build_news_mask(rule, batch.lengths)[:, 0]", "", ASKED),
    ("training", "visible.tril()", "visible.triu()", ASKED),
    ("training", "tuple(tokens) in RUNNING or ", "", HELD_OUT),
    ("translator", ".masked_fill(is_done, PAD)", "", ENDED),
    ("model", " * (ids != PAD)[..., None]", "", PLACED),
    ("model", "math.sqrt(D_MODEL)", "D_MODEL", PLACED),
]
"""Each: the stem of a module, a text that stands in it once, what it becomes, and the test."""


CLEAN: set[int] = set()
"""Tests that passed here without a fault. By day the suite itself is what says so."""


@pytest.mark.rotating(4)
@pytest.mark.parametrize(
    ("stem", "old", "new", "test"), FAULTS, ids=[f"{old} → {new}" for _, old, new, _ in FAULTS]
)
def test_a_fault_is_noticed(stem, old, new, test, tmp_path, monkeypatch):
    if EVERYTHING and id(test) not in CLEAN:
        test()
        CLEAN.add(id(test))
    [path] = [path for top in TOPS for path in ROOT.glob(f"{top}/**/{stem}.py")]
    module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    put_in(module, old, new, tmp_path, monkeypatch)
    with pytest.raises(AssertionError):
        test()


def put_in(module, old, new, folder, monkeypatch):
    """Give every function and method of the module the code that the changed text compiles to."""
    text = inspect.getsource(module)
    assert text.count(old) == 1, f"{text.count(old)} places read {old!r}"
    changed = folder / "changed.py"  # a file, so that its comments can be read as well
    changed.write_text(text.replace(old, new), encoding="utf-8")
    namespace = {"__name__": module.__name__}
    exec(compile(changed.read_bytes(), changed, "exec"), namespace)
    own = [one for one in vars(module).values() if inspect.isclass(one) and is_of(one, module)]
    parts = [(vars(module), namespace)]
    parts += [(vars(one), vars(namespace[one.__name__])) for one in own]
    for names, changed_names in parts:
        for name, thing in [*names.items()]:
            function = function_of(thing)
            if inspect.isfunction(function) and is_of(function, module):
                code = function_of(changed_names[name]).__code__
                monkeypatch.setattr(function, "__code__", code)


def is_of(thing, module):
    return thing.__module__ == module.__name__


def function_of(thing):
    """What a function is under its decorators, and a mask's rule inside."""
    held = thing.allows if isinstance(thing, masks.Rule) else thing
    return inspect.unwrap(held) if callable(held) else None
