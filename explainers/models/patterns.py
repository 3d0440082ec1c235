"""What a head may be doing: for each query, the keys that it would look at if it did."""

from collections.abc import Callable

import torch
from torch import Tensor

from explainers.models.probes import Probe
from explainers.phrase import phrase

Pattern = Callable[[Probe, Tensor, Tensor], Tensor]
"""From a probe and the positions of queries (q_len, 1) and keys (kv_len) to the keys that count."""


def duplicates(probe: Probe, query_pos: Tensor, key_pos: Tensor) -> Tensor:
    """The same token, earlier."""
    return (probe.ids[:, :, None] == probe.ids[:, None, :]) & (key_pos < query_pos)


def induced(probe: Probe, query_pos: Tensor, key_pos: Tensor) -> Tensor:
    """What stood behind the same token, earlier (prefix matching, Olsson et al. 2022)."""
    found = duplicates(probe, query_pos, key_pos)
    behind = torch.cat([torch.zeros_like(found[..., :1]), found[..., :-1]], dim=-1)
    return behind & (key_pos < query_pos)


def marked(probe: Probe, query_pos: Tensor, key_pos: Tensor) -> Tensor:
    """Punctuation and the tokenizer's own tokens, but for the first of the text and oneself."""
    return probe.marks[:, None, :] & (key_pos > 0) & (key_pos != query_pos)


PATTERNS: dict[str, Pattern] = {
    phrase("previous token"): lambda _, query_pos, key_pos: key_pos == query_pos - 1,
    phrase("next token"): lambda _, query_pos, key_pos: key_pos == query_pos + 1,
    phrase("current token"): lambda _, query_pos, key_pos: key_pos == query_pos,
    phrase("first token"): lambda _, query_pos, key_pos: (key_pos == 0) & (query_pos > 0),
    phrase("duplicate token"): duplicates,
    phrase("induction"): induced,
    phrase("punctuation"): marked,
}


def patterns(probe: Probe, seen: Tensor) -> dict[str, Tensor]:
    """Each pattern (batch, q_len, kv_len), as far as a query may look there and has a choice.

    `seen` (batch, q_len, kv_len) says whom a query may look at.
    """
    positions = torch.arange(probe.ids.shape[1], device=probe.ids.device)
    has_choice = seen.sum(dim=-1, keepdim=True) > 1
    return {
        name: pattern(probe, positions[:, None], positions) & seen & has_choice
        for name, pattern in PATTERNS.items()
    }


def mass(weights: Tensor, pattern: Tensor) -> Tensor:
    """How much of a row falls on the keys that count (batch, heads, q_len)."""
    return (weights * pattern[:, None]).sum(dim=-1)


def score(weights: Tensor, pattern: Tensor) -> Tensor:
    """The mean mass (heads,) of the rows in which some key counts; nan if there is no such row."""
    counted = pattern.any(dim=-1)[:, None]  # (batch, 1, q_len)
    return (mass(weights, pattern) * counted).sum(dim=(0, 2)) / counted.sum()


def shuffled(weights: Tensor, seen: Tensor, generator: torch.Generator) -> Tensor:
    """Each row's own weights, dealt at random to the keys that it may look at.

    A head that is as sharp as this one and looks anywhere: what its score would be by chance.
    """
    noise = torch.rand(weights.shape, generator=generator).to(weights.device)
    order = noise.masked_fill(~seen[:, None], torch.inf).argsort(dim=-1)
    return weights.gather(-1, order)


def entropy(weights: Tensor, seen: Tensor) -> Tensor:
    """Bits per row (batch, heads, q_len) over those bits that the row could have: 0 sharp, 1 even.

    Rows of a causal mask have different maxima: log2 of how many keys they see (nan for one key).
    """
    bits = -torch.xlogy(weights, weights).sum(dim=-1)
    most = seen.sum(dim=-1)[:, None].log()
    return bits / most


def without_first(weights: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
    """The same rows with the first key taken away and the rest divided by its sum."""
    rest = weights.clone()
    rest[..., 0] = 0
    fewer = seen.clone()
    fewer[..., 0] = False
    return rest / rest.sum(dim=-1, keepdim=True).clamp(min=1e-9), fewer
