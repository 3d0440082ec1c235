"""Names for what a head does: each with its score, what chance would give, and what speaks against.

A head may have several names or none: thresholds are conventions, and roles depend on the text.
"""

from typing import NamedTuple

from explainers.messages import N_
from explainers.models.head_scores import SINK, SYNTAX, Against, HeadScores


class Role(NamedTuple):
    """A name, what is measured for it and on which probe, and the score from which it is given."""

    name: str
    what: str
    probe: str
    threshold: float
    source: str


class Label(NamedTuple):
    """A role that a head has; `elsewhere` is its score on the other probe."""

    role: str
    score: float
    by_chance: float
    elsewhere: float
    against: Against | None


class Partner(NamedTuple):
    """The head that finds one grammatical relation best, on sentences it was not chosen on.

    `by_offset` is what the best fixed distance (`offset`, in words) reaches on the same sentences.
    """

    relation: str
    layer: int
    head: int
    score: float
    offset: int
    by_offset: float
    pairs: int


OURS = N_("our threshold")
ROLES = (
    Role("previous token", "previous token", "repeated", 0.4, OURS),
    Role("next token", "next token", "repeated", 0.4, OURS),
    Role("current token", "current token", "repeated", 0.4, OURS),
    Role("duplicate token", "duplicate token", "repeated", 0.4, OURS),
    Role("induction", "induction", "repeated", 0.4, N_("Olsson et al. 2022; our threshold")),
    Role(N_("sink"), "first token", "natural", SINK, N_("Gu et al. 2024: ε = 0.3")),
    Role("punctuation", "punctuation", "natural", 0.4, N_("Clark et al. 2019; our threshold")),
    Role(
        N_("positional"),
        "one offset",
        "natural",
        0.9,
        N_("Voita et al. 2019: 90 % of rows"),
    ),
)
AT = {-1: "previous token", 0: "current token", 1: "next token"}
"""The pattern of an offset, for its counter-example."""
OTHER = {"repeated": "natural", "natural": "repeated"}


def labels(scores: HeadScores, layer: int, head: int) -> list[Label]:
    """All names that a head has earned: above its threshold and above the best by chance."""
    found = []
    for role in ROLES:
        score = float(scores.of(role.probe, role.what)[layer, head])
        chance = scores.by_chance(role.probe, role.what)
        if score > max(role.threshold, chance):
            elsewhere = float(scores.of(OTHER[role.probe], role.what)[layer, head])
            shape = role.what
            if role.what == "one offset":
                shape = AT.get(int(scores.of("natural", "offset")[layer, head]), "")
            against = scores.against("natural", shape, layer, head) if shape else None
            found.append(Label(role.name, score, chance, elsewhere, against))
    return found


def partners(scores: HeadScores) -> list[Partner]:
    """For each relation that the model's queries can see, its best head."""
    found = []
    for key, hits in scores.measured.items():
        relation = key.removeprefix(SYNTAX)
        if relation == key or relation.endswith(", offset"):
            continue
        layer, head = divmod(int(hits[..., 0].argmax()), hits.shape[1])
        offset, share, pairs = scores.measured[f"{key}, offset"].tolist()
        score = float(hits[layer, head, 1])
        found.append(Partner(relation, layer, head, score, int(offset), share, int(pairs)))
    return found
