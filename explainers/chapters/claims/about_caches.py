"""Claims about the KV cache: what it saves, what it changes, and how large it is."""

from dataclasses import replace
from functools import partial

import torch

from explainers.attention import masks
from explainers.attention.cache.decoding import decode, through
from explainers.attention.cache.kv_cache import empty_cache, read
from explainers.attention.cache.step_costs import with_cache, without_cache
from explainers.attention.rules import Rule
from explainers.chapters.claims.finding import CONDITION, FAILS, HOLDS, Finding, found, judged
from explainers.memory.cache_bytes import count_bytes_per_token, count_cache_bytes
from explainers.memory.layer_groups import LayerGroup, ModelShape
from explainers.memory.published_models import model_shape
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
    return found(verdict, projections=projections, scores=scores, without=without)


def cache_changes_nothing(layers: int) -> Finding:
    """Outputs with a cache against one pass over the whole text, under both masks."""
    causal, full = (_apart(rule, layers) for rule in (masks.causal, masks.full))
    return judged(causal < ROUNDING, full < ROUNDING, causal=causal, full=full)


def _apart(rule: Rule, layers: int) -> float:
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
    return judged(moved > ROUNDING, False, moved=moved)


def llama_has_eight(model: str) -> Finding:
    """Query heads and KV heads of the published models of that name."""
    shape = model_shape(model)
    heads = shape.num_heads, shape.require_groups()[0].num_kv_heads
    return judged(heads == (32, 8), False, heads=heads[0], kv_heads=heads[1])


def bytes_per_token(layers: int) -> Finding:
    """32 KV heads of 128 in bfloat16, in so many layers."""
    kept = count_bytes_per_token(_made_up(32, layers))
    model = count_bytes_per_token(_made_up(32, 32))
    return judged(kept == 16_384, False, bytes=kept, model=model)


def eight_of_32(num_kv_heads: int) -> Finding:
    """Times smaller than with 32 KV heads."""
    mha, gqa, mqa = (count_cache_bytes(_made_up(n, 32), 1_000) for n in (32, num_kv_heads, 1))
    holds = (mha / gqa, mha / mqa) == (4, 32)
    return judged(holds, holds, gqa=mha / gqa, mqa=mha / mqa)


def four_gigabytes(num_kv_heads: int) -> Finding:
    """Llama 3 8B at 8,192 tokens, with its own KV heads or with others."""
    kept = count_cache_bytes(_llama(num_kv_heads), 8_192)
    holds = round(kept / 1e9) == 4
    return judged(holds, holds, kept=format_size(kept, "decimal"), binary=format_size(kept))


def sixty_nine_gigabytes(num_kv_heads: int, tokens: int) -> Finding:
    """The same model at "128k" tokens."""
    kept = count_cache_bytes(_llama(num_kv_heads), tokens)
    holds = round(kept / 1e9) == 69
    return judged(holds, holds, kept=format_size(kept, "decimal"), tokens=tokens)


def several_gigabytes(tokens: int) -> Finding:
    """A 70B model with 8 KV heads."""
    kept = count_cache_bytes(model_shape("llama-3.1-70b"), tokens)
    holds = 3e9 <= kept < 20e9
    return judged(holds, holds, kept=format_size(kept, "decimal"))


def latent_is_eight_times_smaller(model: str, rope_part: str) -> Finding:
    """Keys and values of all heads against the latent, its rope part counted or forgotten."""
    shape = model_shape(model)
    group = next(one for one in shape.require_groups() if one.kind == "latent")
    per_head = shape.nope_dim + shape.value_dim
    whole = shape.num_heads * per_head
    with_rope = whole / (group.latent_dim + group.rope_dim)
    without = whole / group.latent_dim
    ratio = with_rope if rope_part == "counted" else without
    return judged(7.5 <= ratio < 8.5, False, ratio=with_rope, without=without)


def _llama(num_kv_heads: int) -> ModelShape:
    shape = model_shape(LLAMA)
    groups = tuple(replace(one, num_kv_heads=num_kv_heads) for one in shape.require_groups())
    return replace(shape, groups=groups)


def _made_up(num_kv_heads: int, layers: int) -> ModelShape:
    group = LayerGroup("full", layers, num_kv_heads=num_kv_heads, head_dim=128)
    return replace(model_shape(LLAMA), groups=(group,))
