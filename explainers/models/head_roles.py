"""Names for what a head does: each with its score, what chance would give, and what speaks against.

A head may have several names or none: thresholds are conventions, and roles depend on the text.
"""

from typing import NamedTuple

from explainers.messages import N_
from explainers.models.head_scores import (
    RELATION_PREFIX,
    SINK_THRESHOLD,
    Counterexample,
    HeadScores,
)


class Role(NamedTuple):
    """A name, what is measured for it and on which probe, and the score from which it is given."""

    name: str
    score_name: str
    probe: str
    threshold: float
    source: str


class EarnedRole(NamedTuple):
    """A role that a head has; `elsewhere` is its score on the other probe."""

    role: str
    score: float
    chance_score: float
    other_probe_score: float
    counterexample: Counterexample | None


class RelationHead(NamedTuple):
    """The head that finds one grammatical relation best, on sentences it was not chosen on.

    `by_offset` is what the best fixed distance (`offset`, in words) reaches on the same sentences.
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
    Role(
        N_("positional"),
        "one offset",
        "natural",
        0.9,
        N_("Voita et al. 2019: 90 % of rows"),
    ),
)
PATTERN_AT_OFFSET = {-1: "previous token", 0: "current token", 1: "next token"}
"""The pattern of an offset, for its counter-example."""
OTHER_PROBE = {"repeated": "natural", "natural": "repeated"}


def find_roles(scores: HeadScores, layer: int, head: int) -> list[EarnedRole]:
    """All names that a head has earned: above its threshold and above the best by chance."""
    found = []
    for role in ROLES:
        score = float(scores.select(role.probe, role.score_name)[layer, head])
        chance = scores.find_chance_score(role.probe, role.score_name)
        if score > max(role.threshold, chance):
            elsewhere = float(scores.select(OTHER_PROBE[role.probe], role.score_name)[layer, head])
            shape = role.score_name
            if role.score_name == "one offset":
                shape = PATTERN_AT_OFFSET.get(
                    int(scores.select("natural", "offset")[layer, head]), ""
                )
            against = scores.find_counterexample("natural", shape, layer, head) if shape else None
            found.append(EarnedRole(role.name, score, chance, elsewhere, against))
    return found


def find_relation_heads(scores: HeadScores) -> list[RelationHead]:
    """For each relation that the model's queries can see, its best head."""
    found = []
    for key, hits in scores.tensors.items():
        relation = key.removeprefix(RELATION_PREFIX)
        if relation == key or relation.endswith(", offset"):
            continue
        layer, head = divmod(int(hits[..., 0].argmax()), hits.shape[1])
        offset, share, pairs = scores.tensors[f"{key}, offset"].tolist()
        score = float(hits[layer, head, 1])
        found.append(RelationHead(relation, layer, head, score, int(offset), share, int(pairs)))
    return found
