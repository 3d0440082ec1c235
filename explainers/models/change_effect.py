"""What a change of attention does to what a model says of a text: losses and next tokens."""

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
"""What is read at most: beside each token stand the chances of a whole vocabulary."""
MOST_NEXT_TOKENS = 5
"""So many of the likeliest next tokens are named, of each of the two."""


class HeadCounts(NamedTuple):
    """Query heads and KV heads of each layer that there is."""

    num_heads: tuple[int, ...]
    num_kv_heads: tuple[int, ...]


class Effect(NamedTuple):
    """One text read twice: by the model as it is, and by the changed one.

    `losses` (nats) of both, for each token but the first; `divergence` (nats) of what both expect
    after each token; `following` has tokens that may come next and the chance that each gives them.
    """

    tokens: tuple[str, ...]
    losses: tuple[list[float], list[float]]
    divergences: list[float]
    next_tokens: list[tuple[str, float, float]]

    @property
    def mean_losses(self) -> tuple[float, float]:
        """The loss per token of both; a text of one token has none."""
        before, after = (sum(losses) / max(1, len(losses)) for losses in self.losses)
        return before, after


def count_heads(loaded: "RealModel") -> HeadCounts:
    """Look at a run on three tokens; refuse a model that does not say what comes next."""
    if loaded.model.config.is_encoder_decoder:
        raise ModelError(
            N_(
                "{model} has an encoder and a decoder: what it says depends on another text. "
                "This page changes models that go on with one text.",
                model=loaded.name,
            )
        )
    ids = torch.arange(3, device=loaded.model.device)[None]
    output, layers = run_model(loaded.model, read=_record_head_counts, input_ids=ids)
    heads, kv_heads, sees_later = zip(*layers, strict=True)
    if "logits" not in output or any(sees_later):
        raise ModelError(
            N_(
                "{model} is an encoder: it reads a whole text in both directions and does not "
                "say which token comes next, so there is no loss to compare.",
                model=loaded.name,
            )
        )
    return HeadCounts(heads, kv_heads)


def _record_head_counts(layer: RecordedAttention) -> tuple[int, int, bool]:
    return layer.query.shape[1], layer.key.shape[1], bool(layer.mask[0, 0].triu(1).any())


def measure_effect(loaded: "RealModel", text: str, changes: Sequence[Change]) -> Effect:
    """Read a text as the model is, and changed."""
    ids, tokens = tokenise_text(loaded, text, MOST_TOKENS)
    before, after = (
        compute_log_probabilities(loaded, ids),
        compute_log_probabilities(loaded, ids, changes),
    )
    kept = min(MOST_NEXT_TOKENS, before.shape[-1])
    best = [log_chances[0, -1].topk(kept).indices.tolist() for log_chances in (before, after)]
    chances = before[0, -1].exp(), after[0, -1].exp()
    following = [
        (str(loaded.tokenizer.decode([token])), float(chances[0][token]), float(chances[1][token]))
        for token in dict.fromkeys([*best[0], *best[1]])
    ]
    losses = compute_losses(before, ids)[0].tolist(), compute_losses(after, ids)[0].tolist()
    return Effect(tokens, losses, compute_divergence(before, after)[0].tolist(), following)


def compute_log_probabilities(
    loaded: "RealModel", ids: Tensor, changes: Sequence[Change] = ()
) -> Tensor:
    """Log-probabilities of what comes after each token (batch, tokens, vocabulary)."""
    output, _ = run_model(
        loaded.model, changes=changes, read=lambda _: None, input_ids=ids, use_cache=False
    )
    log_chances: Tensor = output.logits.float().log_softmax(dim=-1)
    return log_chances


def compute_losses(log_chances: Tensor, ids: Tensor) -> Tensor:
    """−ln of the chance that each token had, but the first (batch, tokens - 1), in nats."""
    return -log_chances[:, :-1].gather(-1, ids[:, 1:, None])[..., 0]


def compute_divergence(before: Tensor, after: Tensor) -> Tensor:
    """KL(before ‖ after) after each token (batch, tokens), in nats: 0 for the same chances."""
    return (before.exp() * (before - after)).sum(dim=-1)
