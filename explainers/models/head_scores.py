"""What each head of a model does on two probes: measured, never guessed from a picture."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from explainers.messages import N_
from explainers.models.attention_hook import RecordedAttention, run_model
from explainers.models.grammar_heads import measure_relations
from explainers.models.probes import Probe, ReportLayer, make_natural_probe, make_repeated_probe
from explainers.models.registry import ModelError

if TYPE_CHECKING:
    from explainers.models.load import RealModel


Pattern = Callable[[Probe, Tensor, Tensor], Tensor]
"""From a probe and the positions of queries (q_len, 1) and keys (kv_len) to the keys that count."""


def match_duplicates(probe: Probe, query_pos: Tensor, key_pos: Tensor) -> Tensor:
    """The same token, earlier."""
    return (probe.ids[:, :, None] == probe.ids[:, None, :]) & (key_pos < query_pos)


def match_induction(probe: Probe, query_pos: Tensor, key_pos: Tensor) -> Tensor:
    """What stood behind the same token, earlier (prefix matching, Olsson et al. 2022)."""
    found = match_duplicates(probe, query_pos, key_pos)
    behind = torch.cat([torch.zeros_like(found[..., :1]), found[..., :-1]], dim=-1)
    return behind & (key_pos < query_pos)


def match_punctuation(probe: Probe, query_pos: Tensor, key_pos: Tensor) -> Tensor:
    """Punctuation and the tokenizer's own tokens, but for the first of the text and oneself."""
    return probe.marks[:, None, :] & (key_pos > 0) & (key_pos != query_pos)


PATTERNS: dict[str, Pattern] = {
    N_("previous token"): lambda _, query_pos, key_pos: key_pos == query_pos - 1,
    N_("next token"): lambda _, query_pos, key_pos: key_pos == query_pos + 1,
    N_("current token"): lambda _, query_pos, key_pos: key_pos == query_pos,
    N_("first token"): lambda _, query_pos, key_pos: (key_pos == 0) & (query_pos > 0),
    N_("duplicate token"): match_duplicates,
    N_("induction"): match_induction,
    N_("punctuation"): match_punctuation,
}


def build_patterns(probe: Probe, seen: Tensor) -> dict[str, Tensor]:
    """Each pattern (batch, q_len, kv_len), as far as a query may look there and has a choice.

    `seen` (batch, q_len, kv_len) says whom a query may look at.
    """
    positions = torch.arange(probe.ids.shape[1], device=probe.ids.device)
    has_choice = seen.sum(dim=-1, keepdim=True) > 1
    return {
        name: pattern(probe, positions[:, None], positions) & seen & has_choice
        for name, pattern in PATTERNS.items()
    }


def compute_mass(weights: Tensor, pattern: Tensor) -> Tensor:
    """How much of a row falls on the keys that count (batch, heads, q_len)."""
    return (weights * pattern[:, None]).sum(dim=-1)


def score_pattern(weights: Tensor, pattern: Tensor) -> Tensor:
    """The mean mass (heads,) of the rows in which some key counts; nan if there is no such row."""
    counted = pattern.any(dim=-1)[:, None]  # (batch, 1, q_len)
    return (compute_mass(weights, pattern) * counted).sum(dim=(0, 2)) / counted.sum()


def shuffle_weights(weights: Tensor, seen: Tensor, generator: torch.Generator) -> Tensor:
    """Each row's own weights, dealt at random to the keys that it may look at.

    A head that is as sharp as this one and looks anywhere: what its score would be by chance.
    """
    noise = torch.rand(weights.shape, generator=generator).to(weights.device)
    order = noise.masked_fill(~seen[:, None], torch.inf).argsort(dim=-1)
    return weights.gather(-1, order)


def compute_entropy(weights: Tensor, seen: Tensor) -> Tensor:
    """Bits per row (batch, heads, q_len) over those bits that the row could have: 0 sharp, 1 even.

    Rows of a causal mask have different maxima: log2 of how many keys they see (nan for one key).
    """
    bits = -torch.xlogy(weights, weights).sum(dim=-1)
    most = seen.sum(dim=-1)[:, None].log()
    return bits / most


def drop_first_key(weights: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
    """The same rows with the first key taken away and the rest divided by its sum."""
    rest = weights.clone()
    rest[..., 0] = 0
    fewer = seen.clone()
    fewer[..., 0] = False
    return rest / rest.sum(dim=-1, keepdim=True).clamp(min=1e-9), fewer


PROBES: dict[str, Callable[["RealModel"], Probe]] = {
    "repeated": make_repeated_probe,
    "natural": make_natural_probe,
}
RELATION_PREFIX = "syntax: "
SINK_THRESHOLD = 0.3
"""ε of Gu et al. 2024: a head of a text is a sink if its first token gets more than this."""


class Counterexample(NamedTuple):
    """The row that fits a pattern least: text, query, and the key that got most instead."""

    text_index: int
    query_index: int
    key_index: int
    weight: float
    mass: float


@dataclass(frozen=True)
class HeadScores:
    """Everything that was measured, by "probe: what"; each (layers, heads, ...)."""

    tensors: dict[str, Tensor]

    @property
    def shape(self) -> tuple[int, int]:
        """Layers and heads."""
        layers, heads = self.tensors["natural: distance"].shape
        return layers, heads

    def select(self, probe: str, what: str) -> Tensor:
        """A score of every head (layers, heads)."""
        return self.tensors[f"{probe}: {what}"]

    def find_chance_score(self, probe: str, what: str) -> float:
        """The best that any head would score if it dealt its weights to the tokens at random."""
        return float(self.tensors[f"{probe}: {what}, shuffled"].nan_to_num(0).max())

    def find_counterexample(
        self, probe: str, what: str, layer: int, head: int
    ) -> Counterexample | None:
        """The counter-example of a head; none if no row of the probe could show the pattern."""
        text, query, key, weight, fit = self.tensors[f"{probe}: {what}, against"][layer, head]
        if fit.isnan():
            return None
        return Counterexample(int(text), int(query), int(key), float(weight), float(fit))


def measure_heads(loaded: "RealModel", say: ReportLayer = lambda *_: None) -> HeadScores:
    """Read the probes and the sentences: three runs of the model."""
    if loaded.model.config.is_encoder_decoder:
        raise ModelError(
            N_(
                "{model} has an encoder and a decoder: heads of one are measured.",
                model=loaded.name,
            )
        )
    measured: dict[str, Tensor] = {}
    for name, make in PROBES.items():
        probe = make(loaded)

        def look(
            layer: RecordedAttention, probe: Probe = probe, name: str = name
        ) -> dict[str, Tensor]:
            say(layer.layer_index)
            return measure_layer(layer, probe)

        layers = run_model(loaded.model, read=look, input_ids=probe.ids).layers
        for what in layers[0]:
            measured[f"{name}: {what}"] = torch.stack([one[what] for one in layers]).cpu()
    for name, one in measure_relations(loaded, say).items():
        measured[f"{RELATION_PREFIX}{name}"] = torch.stack(
            [one.selection_hits, one.held_out_hits], dim=-1
        )
        measured[f"{RELATION_PREFIX}{name}, offset"] = torch.tensor(
            [one.offset, one.offset_hits, one.num_pairs]
        )
    return HeadScores(measured)


def measure_layer(layer: RecordedAttention, probe: Probe) -> dict[str, Tensor]:
    """All that is kept of one layer's weights; each (heads, ...)."""
    weights = layer.weights.float()
    seen = layer.mask.expand(len(weights), 1, *weights.shape[-2:])[:, 0]
    dealt = shuffle_weights(weights, seen, torch.Generator().manual_seed(layer.layer_index))
    found: dict[str, Tensor] = {}
    for name, pattern in build_patterns(probe, seen).items():
        found[name] = score_pattern(weights, pattern)
        found[f"{name}, shuffled"] = score_pattern(dealt, pattern)
        found[f"{name}, against"] = find_counterexamples(weights, pattern)
    found["one offset"], found["offset"] = measure_offset(weights, seen)
    found["one offset, shuffled"], _ = measure_offset(dealt, seen)
    found["entropy"] = compute_entropy(weights, seen).nanmean(dim=(0, 2))
    found["entropy without the first token"] = compute_entropy(
        *drop_first_key(weights, seen)
    ).nanmean((0, 2))
    found["distance"] = measure_distance(weights)
    found["sink"] = (weights[..., 0].mean(dim=-1) > SINK_THRESHOLD).float().mean(dim=0)
    return found


def find_counterexamples(weights: Tensor, pattern: Tensor) -> Tensor:
    """Of each head the row that fits least: text, query, key, weight there, mass (heads, 5)."""
    counted = pattern.any(dim=-1)[:, None]
    fit = compute_mass(weights, pattern).masked_fill(~counted, torch.inf)
    smallest, place = fit.transpose(0, 1).flatten(1).min(dim=-1)  # (heads,)
    text, query = place // fit.shape[-1], place % fit.shape[-1]
    rows = weights.transpose(0, 1)[torch.arange(len(text)), text, query]
    weight, key = rows.max(dim=-1)
    none = smallest.masked_fill(smallest.isinf(), torch.nan)
    return torch.stack([text, query, key, weight, none], dim=-1)


def measure_offset(weights: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
    """How often (heads,) the largest weight stands at the commonest offset, and which that is.

    Positional heads do so in 90 % of rows (Voita et al. 2019).
    """
    q_len = weights.shape[-2]
    chosen = weights.argmax(dim=-1) - torch.arange(q_len, device=weights.device)
    has_choice = (seen.sum(dim=-1) > 1)[:, None].expand_as(chosen)
    counts = torch.zeros(weights.shape[1], 2 * q_len, device=weights.device)
    places = (chosen + q_len).transpose(0, 1).flatten(1)
    counts.scatter_add_(1, places, has_choice.transpose(0, 1).flatten(1).float())
    most, place = counts.max(dim=-1)
    return most / counts.sum(dim=-1), (place - q_len).float()


def measure_distance(weights: Tensor) -> Tensor:
    """How far a head looks on average (heads,), in tokens."""
    positions = torch.arange(weights.shape[-1], device=weights.device)
    apart = (positions[:, None] - positions).abs()
    return (weights * apart).sum(dim=-1).mean(dim=(0, 2))
