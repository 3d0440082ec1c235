"""What a layer of heads is made from, in the files that are taken away."""

from typing import Any, NamedTuple

from torch import Tensor

from explainers import examples
from explainers.attention import masks
from explainers.attention.layer import MultiHead
from explainers.attention.positions import sinusoidal
from explainers.lessons.layer_choice import Layer, LayerChoices


class Read(NamedTuple):
    """A sentence as a layer reads it, the layer, and its mask."""

    x: Tensor
    layer: MultiHead
    mask: Tensor


def drawn_layer(
    tokens: tuple[str, ...], d_model: int, num_heads: int, head_dim: int, rule: str, seed: int
) -> Read:
    """Words with their positions and untrained heads, from the seed."""
    x = examples.embeddings(tokens, d_model, seed)
    x = x + sinusoidal(len(tokens), d_model, examples.LONGEST).to(x.device)
    mask = masks.build(masks.RULES[rule], len(tokens), len(tokens)).to(x.device)
    return Read(x, examples.random_layer(d_model, num_heads, num_heads, head_dim, seed), mask)


def learned_layer(
    x: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_output: Tensor,
    head_dim: int,
    rule: str,
) -> Read:
    """Vectors of a sentence, and heads that were trained."""
    mask = masks.build(masks.RULES[rule], len(x), len(x)).to(x.device)
    return Read(x, MultiHead(w_query, w_key, w_value, w_output, head_dim), mask)


def beginning(choices: LayerChoices, layer: Layer) -> dict[str, Any]:
    """`start` and `inputs` of a recipe: sizes and a seed, or what was learned."""
    if layer.known:
        return {"start": learned_layer, "inputs": learned_inputs(layer.x, layer.heads, layer.rule)}
    sizes = {name: vars(choices)[name] for name in ("d_model", "num_heads", "head_dim", "seed")}
    inputs = {"tokens": choices.tokens, **sizes, "rule": choices.mask}
    return {"start": drawn_layer, "inputs": inputs}


def learned_inputs(x: Tensor, heads: MultiHead, rule: str) -> dict[str, Any]:
    """What `learned_layer` is given."""
    return {"x": x, **vars(heads), "rule": rule}
