"""A word is added: what it changes in a second layer's Q, K and V of the words before it."""

from explainers.attention import masks
from explainers.attention.rules import Rule
from explainers.attention.single_head import Projections, project, single_head
from explainers.toys import examples

Tokens = tuple[str, ...]
ADDED = "evening"
D_MODEL, HEAD_DIM = 8, 4
ANOTHER = 100
"""Added to the seed for the second layer's weights."""
BOTH = {"full": masks.full, "causal": masks.causal}


def second_layer(tokens: Tokens, rule: Rule, seed: int) -> Projections:
    """Q, K and V of a second layer, which reads what the first one gave each word."""
    x = examples.place_words(tokens, D_MODEL, seed)
    mask = masks.build(rule, len(tokens), len(tokens)).to(x.device)
    head = examples.random_head(D_MODEL, HEAD_DIM, D_MODEL, seed)
    first = single_head(x, head, mask).output
    return project(first, examples.random_head(D_MODEL, HEAD_DIM, HEAD_DIM, seed + ANOTHER))


def changes(tokens: Tokens, rule: Rule, seed: int) -> Projections:
    """What one more word changes in the second layer's Q, K and V of the words before it."""
    before, after = second_layer(tokens, rule, seed), second_layer((*tokens, ADDED), rule, seed)
    return Projections(*(new[:-1] - old for old, new in zip(before, after, strict=True)))


def changes_under_both(tokens: Tokens, seed: int) -> dict[str, Projections]:
    """The same under full and under causal attention."""
    return {name: changes(tokens, rule, seed) for name, rule in BOTH.items()}
