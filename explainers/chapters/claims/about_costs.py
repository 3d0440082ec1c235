"""Claims about what grows with a text: caches, their size, and the cells of long sequences."""

from dataclasses import replace
from functools import partial

import torch

from explainers.attention import masks
from explainers.attention.cache.decoding import decode, through
from explainers.attention.cache.kv_cache import empty_cache, read
from explainers.attention.cache.step_costs import with_cache, without_cache
from explainers.attention.receptive_field import cells
from explainers.attention.rules import Rule
from explainers.attention.scaled_dot_product import attention
from explainers.attention.tiled import tiled_attention
from explainers.chapters.claims.claim_table import (
    CONDITION,
    FAILS,
    HOLDS,
    Finding,
    judge_claim,
    make_finding,
)
from explainers.memory.cache_bytes import count_bytes_per_token, count_cache_bytes
from explainers.memory.model_shapes import LayerGroup, ModelShape, find_shape
from explainers.memory.sizes import format_size
from explainers.toys.examples import make_generator, random_heads

TOKENS, D_MODEL = 7, 16
ROUNDING = 1e-5
LLAMA = "llama-3-8b"


def cache_makes_it_linear(tokens: int) -> Finding:
    """How the counted work grows from T to 2T, with a cache and without."""
    layer = random_heads(D_MODEL, 2, 2, 8, seed=0)
    once, twice = (with_cache(n, layer) for n in (tokens, 2 * tokens))
    before, after = (without_cache(n, layer) for n in (tokens, 2 * tokens))
    projections, scores = twice.projections / once.projections, twice.scores / once.scores
    verdict = FAILS if projections > 2 else HOLDS if scores <= 2 else CONDITION
    without = after.scores / before.scores
    return make_finding(verdict, projections=projections, scores=scores, without=without)


def cache_changes_nothing(layers: int) -> Finding:
    """Outputs with a cache against one pass over the whole text, under both masks."""
    causal, full = (_measure_cache_error(rule, layers) for rule in (masks.causal, masks.full))
    return judge_claim(causal < ROUNDING, full < ROUNDING, causal=causal, full=full)


def _measure_cache_error(rule: Rule, layers: int) -> float:
    stack = [random_heads(D_MODEL, 2, 2, 8, seed) for seed in range(layers)]
    x = torch.randn(TOKENS, D_MODEL, generator=make_generator("claims", "cache"))
    x = x.to(stack[0].w_query.device)
    reader = partial(read, rule=rule)
    empty = [empty_cache(x, layer) for layer in stack]
    whole = through(x, stack, empty, reader).output
    steps = torch.cat([step.output for step in decode(x, stack, empty, reader)], dim=-2)
    return (whole - steps).abs().max().item()


def looking_ahead_spoils_it(layers: int) -> Finding:
    """How the last layer's keys of the first six words change when a seventh is read."""
    stack = [random_heads(D_MODEL, 2, 2, 8, seed) for seed in range(layers)]
    x = torch.randn(TOKENS, D_MODEL, generator=make_generator("claims", "ahead"))
    x = x.to(stack[0].w_query.device)
    reader = partial(read, rule=masks.full)

    def keys(text: torch.Tensor) -> torch.Tensor:
        empty = [empty_cache(text, layer) for layer in stack]
        return through(text, stack, empty, reader).reads[-1].cache.key

    moved = (keys(x)[:, :-1] - keys(x[:-1])).abs().max().item()
    return judge_claim(moved > ROUNDING, False, moved=moved)


def llama_has_eight(model: str) -> Finding:
    """Query heads and KV heads of the published models of that name."""
    shape = find_shape(model)
    heads = shape.num_heads, shape.require_groups()[0].num_kv_heads
    return judge_claim(heads == (32, 8), False, heads=heads[0], kv_heads=heads[1])


def bytes_per_token(layers: int) -> Finding:
    """32 KV heads of 128 in bfloat16, in so many layers."""
    kept = count_bytes_per_token(_make_shape(32, layers))
    model = count_bytes_per_token(_make_shape(32, 32))
    return judge_claim(kept == 16_384, False, bytes=kept, model=model)


def eight_of_32(num_kv_heads: int) -> Finding:
    """Times smaller than with 32 KV heads."""
    mha, gqa, mqa = (count_cache_bytes(_make_shape(n, 32), 1_000) for n in (32, num_kv_heads, 1))
    holds = (mha / gqa, mha / mqa) == (4, 32)
    return judge_claim(holds, holds, gqa=mha / gqa, mqa=mha / mqa)


def four_gigabytes(num_kv_heads: int) -> Finding:
    """Llama 3 8B at 8,192 tokens, with its own KV heads or with others."""
    kept = count_cache_bytes(_make_llama_shape(num_kv_heads), 8_192)
    holds = round(kept / 1e9) == 4
    return judge_claim(holds, holds, kept=format_size(kept, "decimal"), binary=format_size(kept))


def sixty_nine_gigabytes(num_kv_heads: int, tokens: int) -> Finding:
    """The same model at "128k" tokens."""
    kept = count_cache_bytes(_make_llama_shape(num_kv_heads), tokens)
    holds = round(kept / 1e9) == 69
    return judge_claim(holds, holds, kept=format_size(kept, "decimal"), tokens=tokens)


def several_gigabytes(tokens: int) -> Finding:
    """A 70B model with 8 KV heads."""
    kept = count_cache_bytes(find_shape("llama-3.1-70b"), tokens)
    holds = 3e9 <= kept < 20e9
    return judge_claim(holds, holds, kept=format_size(kept, "decimal"))


def latent_is_eight_times_smaller(model: str, rope_part: str) -> Finding:
    """Keys and values of all heads against the latent, its rope part counted or forgotten."""
    shape = find_shape(model)
    group = next(one for one in shape.require_groups() if one.kind == "latent")
    per_head = shape.nope_dim + shape.value_dim
    whole = shape.num_heads * per_head
    with_rope = whole / (group.latent_dim + group.rope_dim)
    without = whole / group.latent_dim
    ratio = with_rope if rope_part == "counted" else without
    return judge_claim(7.5 <= ratio < 8.5, False, ratio=with_rope, without=without)


def _make_llama_shape(num_kv_heads: int) -> ModelShape:
    shape = find_shape(LLAMA)
    groups = tuple(replace(one, num_kv_heads=num_kv_heads) for one in shape.require_groups())
    return replace(shape, groups=groups)


def _make_shape(num_kv_heads: int, layers: int) -> ModelShape:
    group = LayerGroup("full", layers, num_kv_heads=num_kv_heads, head_dim=128)
    return replace(find_shape(LLAMA), groups=(group,))


HEAD_DIM = 8
BLOCK = 16


def cells_of_a_head(tokens: int) -> Finding:
    """The weights of one head in one layer, at 4,096 tokens and at what is called 128k."""
    short, long = 4_096**2, tokens**2
    holds = (round(short / 1e6, 1), round(long / 1e9, 1)) == (16.8, 16.4)
    return judge_claim(holds, holds, short=short, long=long, tokens=tokens)


def time_and_space(tokens: int) -> Finding:
    """What doubles and what grows fourfold when a text gets twice as long; sizes of real tensors.

    Both ways compute the same output; in tiles never more than one tile of scores exists.
    """
    once, twice = _count_held_numbers(tokens), _count_held_numbers(2 * tokens)
    plain, tiled = twice[0] / once[0], twice[1] / once[1]
    seeded = make_generator("claims", "tiles", tokens)
    query, key, value = (torch.randn(tokens, HEAD_DIM, generator=seeded) for _ in range(3))
    whole = attention(query, key, value, masks.build(masks.causal, tokens, tokens)).output
    tiles = tiled_attention(query, key, value, masks.causal, BLOCK, BLOCK)
    apart = (tiles - whole).abs().max().item()
    verdict = FAILS if not 3 < plain <= 4 else CONDITION if tiled <= 2 else HOLDS
    return make_finding(verdict, plain=plain, tiled=tiled, apart=apart)


def _count_held_numbers(tokens: int) -> tuple[int, int]:
    """Numbers that exist at once beside Q, K and V: plain, and in tiles."""
    x = torch.zeros(tokens, HEAD_DIM)
    whole = attention(x, x, x, masks.build(masks.full, tokens, tokens))
    plain = whole.weights.numel() + whole.output.numel()
    return plain, BLOCK**2 + whole.output.numel()


def two_sequences(queries: int, keys: int) -> Finding:
    """Cells of cross-attention, and of attention over both texts one behind the other."""
    both = queries + keys
    cross = cells(masks.build(masks.full, queries, max(queries, keys))[:, :keys])
    joined = cells(masks.build(masks.full, both, both))
    holds = (cross, joined) == (queries * keys, both**2)
    return judge_claim(holds, holds, cross=cross, joined=joined, times=joined / cross)
