"""Claims about serving: what prompts can share, chunks, and drafts that are kept or drawn again."""

from functools import partial

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.cache.decoding import through
from explainers.attention.cache.kv_cache import empty_cache, read
from explainers.attention.layer import MultiHead
from explainers.attention.serving.accept_drafts import left_over, written_distribution
from explainers.attention.serving.chunked_prefill import read_in_chunks
from explainers.attention.serving.shared_prefix import changed_rows
from explainers.chapters.claims.claim_table import Finding, judge_claim
from explainers.toys.examples import make_generator, random_heads

TOKENS, D_MODEL, CHANGED = 16, 16, 3
"""A prompt, and its token that differs, counted from 0."""
ROUNDING = 1e-5
LEFT_OVER, MODEL = "what is left over", "the model itself"


def any_common_part_is_cached(layers: int) -> Finding:
    """Rows of K behind a changed token that the last of so many layers can still reuse."""
    kept = {number: _count_kept_rows(number) for number in (layers, 1, 2, 3)}
    common = TOKENS - CHANGED - 1
    works = [one == common for one in kept.values()]
    return judge_claim(works[0], all(works), kept=kept[layers], common=common)


def _make_stack(layers: int) -> list[MultiHead]:
    return [random_heads(D_MODEL, 2, 2, 8, seed) for seed in range(layers)]


def _draw_prompt(stack: list[MultiHead]) -> Tensor:
    x = torch.randn(TOKENS, D_MODEL, generator=make_generator("claims", "serving"))
    return x.to(stack[0].w_query.device)


def _count_kept_rows(layers: int) -> int:
    stack = _make_stack(layers)
    one = _draw_prompt(stack)
    two = one.clone()
    two[CHANGED] += 1
    reader, keys = partial(read, rule=masks.causal), []
    for x in (one, two):
        done = through(x, stack, [empty_cache(x, layer) for layer in stack], reader)
        keys.append(done.reads[-1].cache.key)
    changed = changed_rows(keys[0], keys[1], ROUNDING)
    return int((~changed[CHANGED + 1 :]).sum())


def chunks_change_nothing(mask: str, size: int) -> Finding:
    """Outputs of a prompt in chunks against one pass, under both masks."""
    off = {name: _measure_chunks(name, size) for name in ("causal", "full")}
    same = {name: one < ROUNDING for name, one in off.items()}
    return judge_claim(same[mask], all(same.values()), size=size, **off)


def _measure_chunks(mask: str, size: int) -> float:
    stack, reader = _make_stack(2), partial(read, rule=masks.RULES[mask])
    x = _draw_prompt(stack)
    empty = [empty_cache(x, layer) for layer in stack]
    whole = through(x, stack, empty, reader).output
    return float((read_in_chunks(x, stack, empty, reader, size) - whole).abs().max())


def speculation_is_approximate(redrawn: str) -> Finding:
    """All ways counted, how far what is written is from the model's own distribution."""
    seeded = make_generator("claims", "drafts")
    draft, target = torch.randn(2, 6, generator=seeded, dtype=torch.float64).softmax(dim=-1)
    again = {LEFT_OVER: left_over(draft, target), MODEL: target}
    written = {name: written_distribution(draft, target, rest) for name, rest in again.items()}
    off = {name: float((one - target).abs().max()) for name, one in written.items()}
    differs = {name: one > ROUNDING for name, one in off.items()}
    numbers = {"off": off[LEFT_OVER], "mistake": off[MODEL]}
    return judge_claim(differs[redrawn], all(differs.values()), **numbers)
