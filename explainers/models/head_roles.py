"""Roles of heads, such as "induction": their thresholds, and which heads reach them.

A head may have several roles or none: thresholds are conventions, and roles depend on the text.
"""

import itertools
from typing import NamedTuple

from explainers.messages import N_
from explainers.models.head_scores import (
    RELATION_PREFIX,
    SINK_THRESHOLD,
    Counterexample,
    HeadScores,
)

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
    num_pairs: int


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
        offset, offset_score, num_pairs = scores.tensors[f"{key}, offset"].tolist()
        score = float(hits[layer_index, head_index, 1])
        numbers = score, int(offset), offset_score, int(num_pairs)
        relation_heads.append(RelationHead(relation, layer_index, head_index, *numbers))
    return relation_heads


def group_heads_by_role(scores: HeadScores) -> dict[str, tuple[HeadIndex, ...]]:
    """The heads that have a label, for every label that any of them has."""
    layers, heads = scores.shape
    heads_by_role: dict[str, list[HeadIndex]] = {role.name: [] for role in ROLES}
    for head in itertools.product(range(layers), range(heads)):
        for label in find_roles(scores, *head):
            heads_by_role[label.role].append(head)
    return {role: tuple(role_heads) for role, role_heads in heads_by_role.items() if role_heads}
