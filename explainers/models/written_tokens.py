"""A real model writes token by token: its candidates, who looked where, and its cache in bytes."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from explainers.messages import N_
from explainers.models.attention_hook import RecordedAttention, run_model
from explainers.models.registry import ModelError
from explainers.models.sampling import draw, heat, keep_top_k, keep_top_p

MOST_PROMPT, MOST_WRITTEN, MOST_CANDIDATES = 256, 64, 8


@dataclass(frozen=True)
class Sampling:
    """How the next token is chosen; a temperature of 0 takes the most probable one."""

    temperature: float = 0.0
    top_k: int = 0
    """0 for all tokens."""
    top_p: float = 1.0

    def restrict(self, logits: Tensor) -> Tensor:
        """Logits (vocabulary,) after temperature, top-k and top-p, in the order of transformers."""
        if self.temperature == 0:
            return keep_top_k(logits, 1)
        logits = heat(logits, self.temperature)
        logits = keep_top_k(logits, self.top_k) if self.top_k else logits
        return keep_top_p(logits, self.top_p)

    def choose(self, logits: Tensor, generator: torch.Generator) -> int:
        """The next token; the same generator gives the same text."""
        if self.temperature == 0:
            return int(logits.argmax())
        return int(draw(self.restrict(logits), generator))


class WrittenToken(NamedTuple):
    """One token: its candidates, the weights that led to it, and what the step took."""

    token_id: int
    probability: float
    """As the model has it, before temperature, top-k and top-p."""
    candidates: list[tuple[int, float, bool]]
    """The most probable tokens: their ids, their probabilities, and whether they could be drawn."""
    weights: Tensor
    """(layers, heads, tokens so far): where the heads of the last token looked."""
    cache_bytes: int
    """After this step; 0 without a cache."""
    seconds: float
    logits: Tensor
    """(vocabulary,), of which the token was chosen."""


def write_tokens(
    model: Any,
    ids: Tensor,
    count: int,
    sampling: Sampling,
    generator: torch.Generator,
    has_cache: bool = True,
) -> Iterator[WrittenToken]:
    """Write up to `count` tokens behind ids (1, tokens); ends early at a token that ends texts.

    Without a cache everything is read again for each token. ModelError for a text without tokens
    or with more than can be read.
    """
    check_lengths(ids.shape[1], count)
    ends, cache, so_far = list_ends(model), None, ids
    for _ in range(count):
        began = time.perf_counter()
        given: dict[str, Any] = {"input_ids": so_far, "use_cache": has_cache}
        if cache is not None:
            given |= {"input_ids": so_far[:, -1:], "past_key_values": cache}
        output, rows = run_model(model, record=keep_last_row, logits_to_keep=1, **given)
        cache = output.past_key_values if has_cache else None
        logits = output.logits[0, -1].float().cpu()
        chosen = sampling.choose(logits, generator)
        taken = time.perf_counter() - began
        yield describe_step(logits, chosen, sampling, torch.stack(rows), count_bytes(cache), taken)
        if chosen in ends:
            return
        so_far = torch.cat([so_far, so_far.new_tensor([[chosen]])], dim=1)


def check_lengths(num_tokens: int, count: int) -> None:
    """ModelError for what is empty or too long."""
    if not 1 <= num_tokens <= MOST_PROMPT:
        raise ModelError(
            N_(
                "A prompt has from 1 to {most} tokens; this one has {count}.",
                most=MOST_PROMPT,
                count=num_tokens,
            )
        )
    if not 1 <= count <= MOST_WRITTEN:
        raise ModelError(
            N_(
                "From 1 to {most} tokens can be written, not {count}.",
                most=MOST_WRITTEN,
                count=count,
            )
        )


def keep_last_row(one: RecordedAttention) -> Tensor:
    """Where the last token's heads look (heads, tokens); all other rows are forgotten."""
    return one.weights[0, :, -1].float().cpu()


def list_ends(model: Any) -> set[int]:
    """The tokens that end a text."""
    ends = getattr(model.generation_config, "eos_token_id", None)
    found = ends if isinstance(ends, list) else [ends]
    return {int(one) for one in found if one is not None}


def describe_step(
    logits: Tensor, chosen: int, sampling: Sampling, weights: Tensor, num_bytes: int, seconds: float
) -> WrittenToken:
    """Of logits (vocabulary,) only the best candidates are kept."""
    probabilities, can_be_drawn = logits.softmax(dim=-1), sampling.restrict(logits).isfinite()
    best = probabilities.topk(min(MOST_CANDIDATES, len(logits))).indices.tolist()
    candidates = [(one, probabilities[one].item(), bool(can_be_drawn[one])) for one in best]
    return WrittenToken(
        chosen, probabilities[chosen].item(), candidates, weights, num_bytes, seconds, logits
    )


def count_bytes(cache: Any) -> int:
    """What the keys and values of a cache of transformers take, in bytes."""
    if cache is None:
        return 0
    return sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)
