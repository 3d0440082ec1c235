"""Scores of every head of a model on two probe texts, and the roles that they give it.

A head may have several roles or none: thresholds are conventions, and roles depend on the text.

>>> weights = torch.tensor([[1.0, 0.0], [0.25, 0.75]])[None, None]  # (texts, heads, q_len, kv_len)
>>> compute_mass(weights, torch.eye(2, dtype=torch.bool)[None])  # of each row on its own token
tensor([[[1.0000, 0.7500]]])
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from explainers.messages import N_
from explainers.models.attention_hook import RecordedAttention, run_model
from explainers.models.probes import (
    Probe,
    ReportLayer,
    make_natural_probe,
    make_repeated_probe,
    measure_relations,
)
from explainers.models.registry import ModelError

if TYPE_CHECKING:
    from explainers.models.load import RealModel


Pattern = Callable[[Probe, Tensor, Tensor], Tensor]
"""A function of a probe, query positions (q_len, 1) and key positions (kv_len): True where a
key belongs to the pattern."""


def match_duplicates(probe: Probe, query_pos: Tensor, key_pos: Tensor) -> Tensor:
    """Match earlier occurrences of the same token."""
    return (probe.ids[:, :, None] == probe.ids[:, None, :]) & (key_pos < query_pos)


def match_induction(probe: Probe, query_pos: Tensor, key_pos: Tensor) -> Tensor:
    """Match what followed the same token earlier (prefix matching, Olsson et al. 2022)."""
    duplicates = match_duplicates(probe, query_pos, key_pos)
    following = torch.cat([torch.zeros_like(duplicates[..., :1]), duplicates[..., :-1]], dim=-1)
    return following & (key_pos < query_pos)


def match_punctuation(probe: Probe, query_pos: Tensor, key_pos: Tensor) -> Tensor:
    """Match punctuation and special tokens, except the first token and the query itself."""
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


def build_patterns(probe: Probe, mask: Tensor) -> dict[str, Tensor]:
    """Build every pattern under a mask; both are (batch, q_len, kv_len).

    Rows in which the mask allows only one key are left out: there a head has no choice.
    """
    positions = torch.arange(probe.ids.shape[1], device=probe.ids.device)
    has_choice = mask.sum(dim=-1, keepdim=True) > 1
    return {
        name: pattern(probe, positions[:, None], positions) & mask & has_choice
        for name, pattern in PATTERNS.items()
    }


def compute_mass(weights: Tensor, pattern: Tensor) -> Tensor:
    """Sum the weights of the pattern's keys, row by row (batch, heads, q_len)."""
    return (weights * pattern[:, None]).sum(dim=-1)


def score_pattern(weights: Tensor, pattern: Tensor) -> Tensor:
    """The mean mass (heads,) over the rows that have keys in the pattern; nan if none has."""
    has_pattern = pattern.any(dim=-1)[:, None]  # (batch, 1, q_len)
    return (compute_mass(weights, pattern) * has_pattern).sum(dim=(0, 2)) / has_pattern.sum()


def shuffle_weights(weights: Tensor, mask: Tensor, generator: torch.Generator) -> Tensor:
    """Shuffle each row's weights over the keys that the mask allows.

    The result is a head that is as sharp as this one and attends at random: it scores by chance.
    """
    noise = torch.rand(weights.shape, generator=generator).to(weights.device)
    order = noise.masked_fill(~mask[:, None], torch.inf).argsort(dim=-1)
    return weights.gather(-1, order)


def compute_entropy(weights: Tensor, mask: Tensor) -> Tensor:
    """The entropy of each row divided by its maximum (batch, heads, q_len): 0 sharp, 1 uniform.

    The maximum of a row is the logarithm of the number of its allowed keys; one key gives nan.
    """
    entropy = -torch.xlogy(weights, weights).sum(dim=-1)
    maximum = mask.sum(dim=-1)[:, None].log()
    return entropy / maximum


def drop_first_key(weights: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Remove the first key from weights and mask, and renormalise the rows."""
    rest = weights.clone()
    rest[..., 0] = 0
    fewer = mask.clone()
    fewer[..., 0] = False
    return rest / rest.sum(dim=-1, keepdim=True).clamp(min=1e-9), fewer


PROBES: dict[str, Callable[["RealModel"], Probe]] = {
    "repeated": make_repeated_probe,
    "natural": make_natural_probe,
}
RELATION_PREFIX = "syntax: "
"""Begins the names of scores of grammatical relations."""
SINK_THRESHOLD = 0.3
"""ε of Gu et al. 2024: a head is a sink on a text whose first token gets a larger mean weight."""


class Counterexample(NamedTuple):
    """The row with the smallest mass on a pattern, and the key with its largest weight."""

    text_index: int
    query_index: int
    key_index: int
    weight: float
    mass: float


@dataclass(frozen=True)
class HeadScores:
    """All scores of a model by name, such as "natural: entropy"; each (layers, heads, ...)."""

    tensors: dict[str, Tensor]

    @property
    def shape(self) -> tuple[int, int]:
        """The number of layers and of heads."""
        layers, heads = self.tensors["natural: distance"].shape
        return layers, heads

    def select(self, probe: str, score_name: str) -> Tensor:
        """One score of every head (layers, heads)."""
        return self.tensors[f"{probe}: {score_name}"]

    def find_chance_score(self, probe: str, score_name: str) -> float:
        """The largest score of any head after its weights were shuffled."""
        return float(self.tensors[f"{probe}: {score_name}, shuffled"].nan_to_num(0).max())

    def find_counterexample(
        self, probe: str, score_name: str, layer_index: int, head_index: int
    ) -> Counterexample | None:
        """The counterexample of a head; None if no row of the probe can show the pattern."""
        found = self.tensors[f"{probe}: {score_name}, counterexample"][layer_index, head_index]
        text_index, query_index, key_index, weight, mass = found.tolist()
        if math.isnan(mass):
            return None
        return Counterexample(int(text_index), int(query_index), int(key_index), weight, mass)


def measure_heads(real_model: "RealModel", report: ReportLayer = lambda *_: None) -> HeadScores:
    """Run the model on both probes and on the grammar sentences, and score every head."""
    if real_model.model.config.is_encoder_decoder:
        raise ModelError(
            "{model} has an encoder and a decoder: heads of one are measured.",
            model=real_model.name,
        )
    tensors: dict[str, Tensor] = {}
    for name, make in PROBES.items():
        probe = make(real_model)

        def record(attention: RecordedAttention, probe: Probe = probe) -> dict[str, Tensor]:
            report(attention.layer_index)
            return measure_layer(attention, probe)

        layers = run_model(real_model.model, record=record, input_ids=probe.ids).layers
        for score_name in layers[0]:
            of_layers = torch.stack([layer[score_name] for layer in layers])
            tensors[f"{name}: {score_name}"] = of_layers.cpu()
    for name, (hits, offset) in measure_relations(real_model, report).items():
        tensors[f"{RELATION_PREFIX}{name}"] = hits
        tensors[f"{RELATION_PREFIX}{name}, offset"] = offset
    return HeadScores(tensors)


def measure_layer(attention: RecordedAttention, probe: Probe) -> dict[str, Tensor]:
    """Score all heads of one layer; each score is (heads, ...)."""
    weights = attention.weights.float()
    mask = attention.mask.expand(len(weights), 1, *weights.shape[-2:])[:, 0]
    generator = torch.Generator().manual_seed(attention.layer_index)
    shuffled = shuffle_weights(weights, mask, generator)
    scores: dict[str, Tensor] = {}
    for name, pattern in build_patterns(probe, mask).items():
        scores[name] = score_pattern(weights, pattern)
        scores[f"{name}, shuffled"] = score_pattern(shuffled, pattern)
        scores[f"{name}, counterexample"] = find_counterexamples(weights, pattern)
    scores["one offset"], scores["offset"] = measure_offset(weights, mask)
    scores["one offset, shuffled"], _ = measure_offset(shuffled, mask)
    scores["entropy"] = compute_entropy(weights, mask).nanmean(dim=(0, 2))
    rest = compute_entropy(*drop_first_key(weights, mask))
    scores["entropy without the first token"] = rest.nanmean(dim=(0, 2))
    scores["distance"] = measure_distance(weights)
    scores["sink"] = (weights[..., 0].mean(dim=-1) > SINK_THRESHOLD).float().mean(dim=0)
    return scores


def find_counterexamples(weights: Tensor, pattern: Tensor) -> Tensor:
    """The fields of each head's `Counterexample`, in their order (heads, 5)."""
    has_pattern = pattern.any(dim=-1)[:, None]
    mass = compute_mass(weights, pattern).masked_fill(~has_pattern, torch.inf)
    smallest, flat_index = mass.transpose(0, 1).flatten(1).min(dim=-1)  # (heads,)
    text_index, query_index = flat_index // mass.shape[-1], flat_index % mass.shape[-1]
    rows = weights.transpose(0, 1)[torch.arange(len(text_index)), text_index, query_index]
    weight, key_index = rows.max(dim=-1)
    mass_or_nan = smallest.masked_fill(smallest.isinf(), torch.nan)
    return torch.stack([text_index, query_index, key_index, weight, mass_or_nan], dim=-1)


def measure_offset(weights: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """The share of rows whose largest weight is at the commonest offset, and that offset (heads,).

    A positional head has a share of 90 % (Voita et al. 2019).
    """
    q_len = weights.shape[-2]
    offsets = weights.argmax(dim=-1) - torch.arange(q_len, device=weights.device)
    has_choice = (mask.sum(dim=-1) > 1)[:, None].expand_as(offsets)
    counts = torch.zeros(weights.shape[1], 2 * q_len, device=weights.device)
    bins = (offsets + q_len).transpose(0, 1).flatten(1)
    counts.scatter_add_(1, bins, has_choice.transpose(0, 1).flatten(1).float())
    largest, commonest = counts.max(dim=-1)
    return largest / counts.sum(dim=-1), (commonest - q_len).float()


def measure_distance(weights: Tensor) -> Tensor:
    """The mean distance from query to key (heads,), in tokens."""
    positions = torch.arange(weights.shape[-1], device=weights.device)
    distances = (positions[:, None] - positions).abs()
    return (weights * distances).sum(dim=-1).mean(dim=(0, 2))


HeadIndex = tuple[int, int]
"""Its layer and its number."""


class Role(NamedTuple):
    """A role, the score that decides about it, the probe it is measured on, and the threshold."""

    name: str
    score_name: str
    probe: str
    threshold: float
    source: str


class EarnedRole(NamedTuple):
    """A role that a head has reached, with its scores on this probe, by chance and on the other."""

    role: str
    score: float
    chance_score: float
    other_probe_score: float
    counterexample: Counterexample | None


class RelationHead(NamedTuple):
    """The best head for one grammatical relation, scored on held-out sentences.

    `offset_score` is what the commonest distance (`offset`, in words) reaches on these sentences.
    """

    relation: str
    layer_index: int
    head_index: int
    score: float
    offset: int
    offset_score: float


OUR_THRESHOLD = N_("our threshold")
ROLES = (
    Role("previous token", "previous token", "repeated", 0.4, OUR_THRESHOLD),
    Role("next token", "next token", "repeated", 0.4, OUR_THRESHOLD),
    Role("current token", "current token", "repeated", 0.4, OUR_THRESHOLD),
    Role("duplicate token", "duplicate token", "repeated", 0.4, OUR_THRESHOLD),
    Role("induction", "induction", "repeated", 0.4, N_("Olsson et al. 2022; our threshold")),
    Role(N_("sink"), "first token", "natural", SINK_THRESHOLD, N_("Gu et al. 2024: ε = 0.3")),
    Role("punctuation", "punctuation", "natural", 0.4, N_("Clark et al. 2019; our threshold")),
    Role(N_("positional"), "one offset", "natural", 0.9, N_("Voita et al. 2019: 90 % of rows")),
)
PATTERN_AT_OFFSET = {-1: "previous token", 0: "current token", 1: "next token"}
"""The pattern whose counterexample belongs to an offset."""
OTHER_PROBE = {"repeated": "natural", "natural": "repeated"}


def find_roles(scores: HeadScores, layer_index: int, head_index: int) -> list[EarnedRole]:
    """Find the roles whose score is above the threshold and above the best score by chance."""
    roles = []
    for role in ROLES:
        score = float(scores.select(role.probe, role.score_name)[layer_index, head_index])
        chance_score = scores.find_chance_score(role.probe, role.score_name)
        if score > max(role.threshold, chance_score):
            others = scores.select(OTHER_PROBE[role.probe], role.score_name)
            pattern = role.score_name
            if role.score_name == "one offset":
                offset = int(scores.select("natural", "offset")[layer_index, head_index])
                pattern = PATTERN_AT_OFFSET.get(offset, "")
            against = None
            if pattern:
                against = scores.find_counterexample("natural", pattern, layer_index, head_index)
            other = float(others[layer_index, head_index])
            roles.append(EarnedRole(role.name, score, chance_score, other, against))
    return roles


def find_relation_heads(scores: HeadScores) -> list[RelationHead]:
    """Find the best head of each relation that the model's mask allows."""
    relation_heads = []
    for key, hits in scores.tensors.items():
        relation = key.removeprefix(RELATION_PREFIX)
        if relation == key or relation.endswith(", offset"):
            continue
        layer_index, head_index = divmod(int(hits[..., 0].argmax()), hits.shape[1])
        offset, offset_score, _num_pairs = scores.tensors[f"{key}, offset"].tolist()
        numbers = float(hits[layer_index, head_index, 1]), int(offset), offset_score
        relation_heads.append(RelationHead(relation, layer_index, head_index, *numbers))
    return relation_heads


def group_heads_by_role(scores: HeadScores) -> dict[str, tuple[HeadIndex, ...]]:
    """The heads that have a label, for every label that any of them has."""
    found = list_earned(scores)
    return {role: tuple((layer, head) for layer, head, _score in found[role]) for role in found}


def list_earned(scores: HeadScores) -> dict[str, list[tuple[int, int, float]]]:
    """For every role that some head has: those that have it, as (layer, head, score)."""
    found: dict[str, list[tuple[int, int, float]]] = {role.name: [] for role in ROLES}
    for layer, head in itertools.product(*map(range, scores.shape)):
        for earned in find_roles(scores, layer, head):
            found[earned.role].append((layer, head, round(earned.score, 4)))
    return {role: heads for role, heads in found.items() if heads}


MEANINGS = {
    "previous token": N_("looks at the token before"),
    "next token": N_("looks at the token behind"),
    "current token": N_("looks at the token itself"),
    "duplicate token": N_("looks at earlier copies of the token"),
    "induction": N_("looks at what followed an earlier copy of the token"),
    "sink": N_("gives the first token a mean weight above 0.3, in this share of texts"),
    "punctuation": N_("looks at punctuation and special tokens"),
    "positional": N_("looks at one distance in so many rows"),
}
"""What each role's score measures."""


def name_heads(scores: HeadScores) -> list[dict[str, Any]]:
    """The roles that some head has, each with its heads as [layer, head, score], best first.

    A head has a role if its score is above the threshold and above every head's score once its
    weights are shuffled (`chance`). Layers count from 0 in the order in which they ran.
    """
    found = list_earned(scores)
    return [
        {
            "name": role.name,
            "meaning": MEANINGS[role.name],
            "threshold": role.threshold,
            "chance": round(scores.find_chance_score(role.probe, role.score_name), 4),
            "heads": [list(one) for one in sorted(found[role.name], key=lambda one: -one[2])],
        }
        for role in ROLES
        if role.name in found
    ]
