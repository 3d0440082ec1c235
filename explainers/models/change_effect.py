"""The effect of changed attention on a language model: losses and next-token probabilities."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from explainers.messages import N_
from explainers.models.attention_hook import Change, RecordedAttention, run_model
from explainers.models.registry import ModelError
from explainers.models.token_text import tokenise_text

if TYPE_CHECKING:
    from explainers.models.load import RealModel

MOST_TOKENS = 256
"""A longer text would need too much memory: each token has a row over the whole vocabulary."""
MOST_NEXT_TOKENS = 5
"""The likeliest next tokens that are listed of each of the two models."""


class HeadCounts(NamedTuple):
    """The number of query heads and of KV heads, layer by layer."""

    num_heads: tuple[int, ...]
    num_kv_heads: tuple[int, ...]


class Effect(NamedTuple):
    """One text read by a model as it is and by the same model with changes.

    `losses` of both, in nats, for every token but the first; `divergences`, in nats, between both
    predictions after every token; `next_tokens` has the likeliest continuations with the
    probability that each of the two gives them.
    """

    tokens: tuple[str, ...]
    losses: tuple[list[float], list[float]]
    divergences: list[float]
    next_tokens: list[tuple[str, float, float]]

    @property
    def mean_losses(self) -> tuple[float, float]:
        """The mean loss per token of both models; 0 for a text of one token."""
        before, after = (sum(losses) / max(1, len(losses)) for losses in self.losses)
        return before, after


def count_heads(real_model: "RealModel") -> HeadCounts:
    """Count the heads in a run on three tokens; refuse a model that predicts no next token."""
    if real_model.model.config.is_encoder_decoder:
        raise ModelError(
            N_(
                "{model} has an encoder and a decoder: what it says depends on another text. "
                "This page changes models that go on with one text.",
                model=real_model.name,
            )
        )
    ids = torch.arange(3, device=real_model.model.device)[None]
    output, layers = run_model(real_model.model, record=_record_head_counts, input_ids=ids)
    num_heads, num_kv_heads, sees_later_tokens = zip(*layers, strict=True)
    if "logits" not in output or any(sees_later_tokens):
        raise ModelError(
            N_(
                "{model} is an encoder: it reads a whole text in both directions and does not "
                "say which token comes next, so there is no loss to compare.",
                model=real_model.name,
            )
        )
    return HeadCounts(num_heads, num_kv_heads)


def _record_head_counts(attention: RecordedAttention) -> tuple[int, int, bool]:
    sees_later_tokens = bool(attention.mask[0, 0].triu(1).any())
    return attention.query.shape[1], attention.key.shape[1], sees_later_tokens


def measure_effect(real_model: "RealModel", text: str, changes: Sequence[Change]) -> Effect:
    """Read a text with the model as it is, and with the changes."""
    ids, tokens = tokenise_text(real_model, text, MOST_TOKENS)
    before = compute_log_probabilities(real_model, ids)
    after = compute_log_probabilities(real_model, ids, changes)
    last_before, last_after = before[0, -1].exp(), after[0, -1].exp()
    count = min(MOST_NEXT_TOKENS, before.shape[-1])
    candidates = [one[0, -1].topk(count).indices.tolist() for one in (before, after)]
    next_tokens = [
        (str(real_model.tokenizer.decode([one])), float(last_before[one]), float(last_after[one]))
        for one in dict.fromkeys([*candidates[0], *candidates[1]])
    ]
    losses = compute_losses(before, ids)[0].tolist(), compute_losses(after, ids)[0].tolist()
    return Effect(tokens, losses, compute_divergence(before, after)[0].tolist(), next_tokens)


def compute_log_probabilities(
    real_model: "RealModel", ids: Tensor, changes: Sequence[Change] = ()
) -> Tensor:
    """Log-probabilities of the token after each token (batch, tokens, vocabulary)."""
    output, _ = run_model(
        real_model.model, changes=changes, record=lambda _: None, input_ids=ids, use_cache=False
    )
    log_probabilities: Tensor = output.logits.float().log_softmax(dim=-1)
    return log_probabilities


def compute_losses(log_probabilities: Tensor, ids: Tensor) -> Tensor:
    """−ln of the probability of every token but the first (batch, tokens - 1), in nats."""
    return -log_probabilities[:, :-1].gather(-1, ids[:, 1:, None])[..., 0]


def compute_divergence(before: Tensor, after: Tensor) -> Tensor:
    """KL(before ‖ after) after each token (batch, tokens), in nats: 0 where both agree."""
    return (before.exp() * (before - after)).sum(dim=-1)
