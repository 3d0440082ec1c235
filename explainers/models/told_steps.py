"""What a page tells of each written token: its candidates, who looked where, bytes; plain numbers.

Temperature, top-k and top-p can be changed afterwards: of the whole vocabulary, so much is kept
that the probabilities of the candidates shown are exact for every offered choice.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from explainers.models.token_text import spell_token
from explainers.models.written_tokens import Sampling, WrittenToken

TEMPERATURES: tuple[float, ...] = 0, 0.3, 0.5, 0.8, 1, 1.3, 1.6, 2
"""0 takes the most probable token."""
TOP_KS = 1, 2, 5, 10, 20, 0
"""0 for all tokens."""
TOP_PS: tuple[float, ...] = 0.5, 0.8, 0.9, 0.95, 1
NUM_LISTED, NUM_LOOKS = 20, 6
"""Candidates that are kept, as many as the largest top-k; and words that were looked at."""
DIGITS = 4


class ToldStep(NamedTuple):
    """One written token, in numbers that a file or a browser can take."""

    token: str
    probability: float
    """As the model has it, before temperature, top-k and top-p."""
    candidates: list[tuple[str, float]]
    """The most probable tokens with their logits, largest first; the largest is 0."""
    place: int
    """How many tokens are more probable than the written one: its place among the candidates."""
    logit: float
    """Its own."""
    kept: list[list[tuple[int, float]]]
    """By temperature above 0, by top-p: how many tokens may be drawn, ln of the sum of their
    e^(logit / temperature); without top-k."""
    looks: list[tuple[int, float, str, list[float]]]
    """Of the words that were looked at: which, with what weight, by which head, its whole row."""
    first_share: float
    """Of the weight of all heads together, what the first token got."""
    num_bytes: int
    seconds: float


def tell_step(step: WrittenToken, tokenizer: Any) -> ToldStep:
    """From one step; its logits are told from the largest on."""
    logits = (step.logits - step.logits.max()).double()
    best = logits.topk(min(NUM_LISTED, len(logits))).indices.tolist()
    return ToldStep(
        spell_token(tokenizer, step.token_id),
        round(step.probability, 6),
        [(spell_token(tokenizer, one), round(float(logits[one]), DIGITS)) for one in best],
        int((logits > logits[step.token_id]).sum()),
        round(float(logits[step.token_id]), DIGITS),
        [[sum_kept(logits, heat, share) for share in TOP_PS] for heat in TEMPERATURES[1:]],
        list_looks(step.weights),
        round(float(step.weights[..., 0].mean()), DIGITS),
        step.cache_bytes,
        round(step.seconds, 5),
    )


def sum_kept(logits: Tensor, temperature: float, share: float) -> tuple[int, float]:
    """How many tokens may be drawn without top-k, and ln of the sum of their powers of e."""
    kept = Sampling(temperature=temperature, top_p=share).restrict(logits)
    return int(kept.isfinite().sum()), round(float(kept.logsumexp(dim=-1)), DIGITS)


def merge_prompt(weights: Tensor, words: Sequence[int]) -> Tensor:
    """Weights (..., tokens) with those of each word of the prompt added up; `words` numbers its
    tokens. What was written behind it stays token by token."""
    end = words[-1] + 1
    places = [*words, *range(end, end + weights.shape[-1] - len(words))]
    merged = weights.new_zeros(*weights.shape[:-1], places[-1] + 1)
    return merged.index_add_(-1, torch.tensor(places, device=weights.device), weights)


def list_looks(weights: Tensor) -> list[tuple[int, float, str, list[float]]]:
    """The words that some head looked at most, and that head; weights (layers, heads, tokens).

    Not the first token: heads that look for nothing look there. Nor the last, the query itself.
    """
    largest, head = weights.flatten(0, 1).max(dim=0)
    words = largest[1:-1].topk(min(NUM_LOOKS, max(0, len(largest) - 2))).indices.tolist()
    found = []
    for word in (one + 1 for one in words):
        layer, number = divmod(int(head[word]), weights.shape[1])
        row = weights[layer, number].double().round(decimals=3).tolist()
        found.append((word, row[word], f"L{layer}.H{number}", row))
    return found


def restrict_candidates(
    step: ToldStep, temperature: float, top_k: int, top_p: float
) -> list[float]:
    """The probabilities of the candidates under other settings, from what is told alone.

    The browser computes the same while a reader drags; 0 for what may not be drawn.
    """
    logits = torch.tensor([logit for _text, logit in step.candidates], dtype=torch.float64)
    if temperature == 0 or top_k:
        kept = Sampling(temperature=temperature, top_k=top_k, top_p=top_p).restrict(logits)
        chances: list[float] = kept.softmax(dim=-1).tolist()
        return chances
    row = step.kept[TEMPERATURES.index(temperature) - 1]
    count, total = row[TOP_PS.index(top_p)]
    chances = (logits / temperature - total).exp().tolist()
    return [one if place < count else 0.0 for place, one in enumerate(chances)]
