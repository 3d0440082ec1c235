"""Claims about caches: what they save, change and weigh, and what prompts and drafts share."""

from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.cache.decoding import decode, read_in_chunks, through
from explainers.attention.cache.kv_cache import empty_cache, read
from explainers.attention.cache.step_costs import Work, with_cache, without_cache
from explainers.attention.layer import MultiHead
from explainers.attention.rules import Rule
from explainers.attention.serving.kept_drafts import left_over, written_distribution
from explainers.attention.serving.shared_prefix import changed_rows
from explainers.chapters.claims.claim_table import HOLDS, Finding, judge_among, judge_claim
from explainers.memory.cache_bytes import (
    NumberFormat,
    count_cache_bytes,
    count_extra_bytes,
    find_format,
)
from explainers.memory.cache_formula import format_size
from explainers.memory.model_shapes import ModelShape, find_shape
from explainers.toys.examples import make_generator, random_heads

TOKENS, D_MODEL = 7, 16
ROUNDING = 1e-5
LLAMA = "llama-3-8b"


def _make_stack(layers: int, tokens: int, name: str) -> tuple[list[MultiHead], Tensor]:
    """Layers with random weights, and vectors of a text for them."""
    stack = [random_heads(D_MODEL, 2, 2, 8, seed) for seed in range(layers)]
    x = torch.randn(tokens, D_MODEL, generator=make_generator("claims", name))
    return stack, x.to(stack[0].w_query.device)


def cache_makes_it_linear(tokens: int) -> Finding:
    """How the counted work grows from T to 2T, with a cache and without: linear is 2 times."""
    layer = random_heads(D_MODEL, 2, 2, 8, seed=0)
    once, twice = (with_cache(n, layer) for n in (tokens, 2 * tokens))
    before, after = (without_cache(n, layer) for n in (tokens, 2 * tokens))
    total = _add_up(twice) / _add_up(once)
    without = _add_up(after) / _add_up(before)
    projections, scores = twice.projections / once.projections, twice.scores / once.scores
    numbers = {"total": total, "projections": projections, "scores": scores, "without": without}
    return judge_claim(total < 2.1, **numbers)


def _add_up(work: Work) -> int:
    return work.projections + work.scores


def cache_changes_nothing(mask: str, layers: int) -> Finding:
    """Outputs with a cache against one pass over the whole text, under both masks."""
    off = {name: _measure_cache_error(masks.RULES[name], layers) for name in ("causal", "full")}
    same = {name: one < ROUNDING for name, one in off.items()}
    return judge_among(mask, same, **off)


def _measure_cache_error(rule: Rule, layers: int) -> float:
    (stack, x), reader = _make_stack(layers, TOKENS, "cache"), partial(read, rule=rule)
    empty = [empty_cache(x, layer) for layer in stack]
    whole = through(x, stack, empty, reader).output
    steps = torch.cat([step.output for step in decode(x, stack, empty, reader)], dim=-2)
    return (whole - steps).abs().max().item()


def looking_ahead_spoils_it(layers: int) -> Finding:
    """How the last layer's keys of the first six words change when a seventh is read."""
    moved = {number: _measure_moved_keys(number) for number in (1, 2, 3)}
    spoiled = {number: one > ROUNDING for number, one in moved.items()}
    return judge_among(layers, spoiled, moved=moved[layers])


def _measure_moved_keys(layers: int) -> float:
    stack, x = _make_stack(layers, TOKENS, "ahead")
    longer, shorter = (_compute_last_keys(text, stack, masks.full) for text in (x, x[:-1]))
    return (longer[:, :-1] - shorter).abs().max().item()


def _compute_last_keys(x: Tensor, stack: list[MultiHead], rule: Rule) -> Tensor:
    empty = [empty_cache(x, layer) for layer in stack]
    return through(x, stack, empty, partial(read, rule=rule)).reads[-1].cache.key


def sixty_nine_gigabytes(num_kv_heads: int, tokens: int) -> Finding:
    """The same model at "128k" tokens."""
    shape = find_shape(LLAMA)
    groups = tuple(replace(one, num_kv_heads=num_kv_heads) for one in shape.require_groups())
    kept = count_cache_bytes(replace(shape, groups=groups), tokens)
    return judge_claim(round(kept / 1e9) == 69, kept=format_size(kept, "decimal"), tokens=tokens)


LATENT_MODELS = "deepseek-v2-lite", "deepseek-v2", "deepseek-v3"


def latent_is_eight_times_smaller(model: str, rope_part: str) -> Finding:
    """Keys and values of all heads against the latent, its rope part counted or forgotten."""
    ratios = {
        (name, part): _compare_latent(name, part == "counted")
        for name in LATENT_MODELS
        for part in ("counted", "forgotten")
    }
    claimed = {one: 7.5 <= ratio < 8.5 for one, ratio in ratios.items()}
    numbers = {"ratio": ratios[model, "counted"], "without": ratios[model, "forgotten"]}
    return judge_among((model, rope_part), claimed, **numbers)


def _compare_latent(model: str, has_rope: bool) -> float:
    shape = find_shape(model)
    group = next(one for one in shape.require_groups() if one.kind == "latent")
    whole = shape.num_heads * (shape.nope_dim + shape.value_dim)
    return whole / (group.latent_dim + has_rope * group.rope_dim)


LATENT_DIMS = 64, 128, 256, 512


def latent_costs_work(latent_dim: int) -> Finding:
    """Multiply-adds of a new word with each kept one: on latents, and on keys and values.

    The sentence leaves the length of a latent open, so it is judged over all that are offered.
    """
    shape = find_shape("deepseek-v3")
    group = next(one for one in shape.require_groups() if one.kind == "latent")
    plain = shape.num_heads * (shape.nope_dim + group.rope_dim + shape.value_dim)
    absorbed = {one: shape.num_heads * (2 * one + group.rope_dim) for one in LATENT_DIMS}
    return judge_among(
        latent_dim,
        {one: work > plain for one, work in absorbed.items()},
        plain=plain,
        absorbed=absorbed[latent_dim],
        times=absorbed[latent_dim] / plain,
        limit=(shape.nope_dim + shape.value_dim) // 2,
    )


FOUR_BITS = "int4", "q4_0", "q4_1", "mxfp4"


def four_bits_are_a_quarter(number_format: str, scales: str) -> Finding:
    """A cache in a format of 4 bits, its scales counted or forgotten, against one of 16 bits.

    To forget them is a mistake and no condition: the claim fails if it fails in every format.
    """
    formats = {
        "whole": find_format("bfloat16"),
        "counted": find_format(number_format),
        "forgotten": NumberFormat("without scales", find_format(number_format).bits),
    }
    sizes = {part: _measure_llama(one) for part, one in formats.items()}
    whole = sizes["whole"]
    fit = [name for name in FOUR_BITS if whole / _measure_llama(find_format(name)) >= 4]
    written = {part: format_size(size, "decimal") for part, size in sizes.items()}
    counts = {"fit": len(fit), "formats": len(FOUR_BITS), "times": whole / sizes[scales]}
    return judge_claim(whole / sizes[scales] >= 4, **counts, **written)


def _measure_llama(number_format: NumberFormat) -> int:
    return count_cache_bytes(find_shape(LLAMA), 8_192, dtype=number_format)


WINDOWED = "mistral-7b-v0.1", "gemma-3-27b", "gpt-oss-20b"


def windows_stop_the_growth(model: str) -> Finding:
    """The cache of a model with sliding windows at 32,768 tokens, and at four times as many."""
    found = {name: _judge_growth(find_shape(name)) for name in WINDOWED}
    held = {name: one.verdict == HOLDS for name, one in found.items()}
    return judge_among(model, held, **found[model].numbers)


def a_state_does_not_grow(layers: str) -> Finding:
    """What a hybrid model keeps at two lengths: in its recurrent layers, and in all."""
    shape = find_shape("qwen3-next-80b-a3b")
    states = tuple(one for one in shape.require_groups() if one.kind == "recurrent")
    linear = sum(one.count for one in states)
    found = {"linear": _judge_growth(replace(shape, groups=states)), "all": _judge_growth(shape)}
    return judge_among(
        layers,
        {name: one.verdict == HOLDS for name, one in found.items()},
        state=found["linear"].numbers["long"],
        whole=found["all"].numbers["times"],
        linear=linear,
        full=sum(one.count for one in shape.require_groups()) - linear,
    )


def _judge_growth(shape: ModelShape) -> Finding:
    short, long = (
        count_cache_bytes(shape, tokens) + count_extra_bytes(shape, tokens)
        for tokens in (32_768, 131_072)
    )
    sizes = {"short": format_size(short, "decimal"), "long": format_size(long, "decimal")}
    return judge_claim(short == long, times=long / short, **sizes)


PROMPT, CHANGED = 16, 3
"""A prompt, and its token that differs, counted from 0."""
LEFT_OVER, ITSELF = "what is left over", "the model itself"


def any_common_part_is_cached(layers: int) -> Finding:
    """Rows of K behind a changed token that the last of so many layers can still reuse."""
    kept = {number: _count_kept_rows(number) for number in (1, 2, 3)}
    common = PROMPT - CHANGED - 1
    works = {number: one == common for number, one in kept.items()}
    return judge_among(layers, works, kept=kept[layers], common=common)


def _count_kept_rows(layers: int) -> int:
    stack, one = _make_stack(layers, PROMPT, "serving")
    two = one.clone()
    two[CHANGED] += 1
    before, after = (_compute_last_keys(x, stack, masks.causal) for x in (one, two))
    changed = changed_rows(before, after, ROUNDING)
    return int((~changed[CHANGED + 1 :]).sum())


def chunks_change_nothing(mask: str, size: int) -> Finding:
    """Outputs of a prompt in chunks against one pass, under both masks."""
    off = {name: _measure_chunks(name, size) for name in ("causal", "full")}
    same = {name: one < ROUNDING for name, one in off.items()}
    return judge_among(mask, same, size=size, **off)


def _measure_chunks(mask: str, size: int) -> float:
    (stack, x), reader = _make_stack(2, PROMPT, "serving"), partial(read, rule=masks.RULES[mask])
    empty = [empty_cache(x, layer) for layer in stack]
    whole = through(x, stack, empty, reader).output
    return float((read_in_chunks(x, stack, empty, reader, size) - whole).abs().max())


def speculation_is_approximate(redrawn: str) -> Finding:
    """All ways counted, how far what is written is from the model's own distribution."""
    seeded = make_generator("claims", "drafts")
    draft, target = torch.randn(2, 6, generator=seeded, dtype=torch.float64).softmax(dim=-1)
    again = {LEFT_OVER: left_over(draft, target), ITSELF: target}
    written = {name: written_distribution(draft, target, rest) for name, rest in again.items()}
    off = {name: float((one - target).abs().max()) for name, one in written.items()}
    differs = {name: one > ROUNDING for name, one in off.items()}
    numbers = {"off": off[LEFT_OVER], "mistake": off[ITSELF]}
    return judge_among(redrawn, differs, **numbers)
