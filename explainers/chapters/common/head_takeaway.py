"""Notebook recipes of one head and of a layer of heads, from the tokens to the output."""

from typing import Any, NamedTuple

from torch import Tensor

from explainers.attention import masks
from explainers.attention.layer import MultiHead
from explainers.attention.positions import sinusoidal
from explainers.attention.single_head import SingleHead, project, projection_parameters, single_head
from explainers.attention.steps import attention_steps, dot_products
from explainers.chapters.common.choose_head import HeadChoices
from explainers.chapters.common.choose_layer import Layer, LayerChoices
from explainers.chapters.common.one_head import OneHead
from explainers.takeaway.recipe import Recipe
from explainers.toys import examples
from explainers.toys.examples import Toy, toy
from explainers.translations import _
from explainers.ui.takeaway_files import take

Computed = dict[str, Tensor]
PROJECTED = ("X", "W_Q", "W_K", "W_V", "Q", "K", "V")


def learned_head(x: Tensor, w_query: Tensor, w_key: Tensor, w_value: Tensor, rule: str) -> Toy:
    """A sentence as a trained head reads it, the head's matrices, and its mask."""
    mask = masks.build(masks.RULES[rule], len(x), len(x)).to(x.device)
    return Toy(x, SingleHead(w_query, w_key, w_value), mask)


def every_matrix(x: Tensor, head: SingleHead, mask: Tensor) -> Computed:
    """All that one head computes, under the names that the page has for it."""
    query, key, value = project(x, head)
    products, scores, masked, weights, output = attention_steps(query, key, value, mask)
    learned = {"W_Q": head.w_query, "W_K": head.w_key, "W_V": head.w_value}
    compared = {"products": products, "scores": scores, "masked": masked, "weights": weights}
    return {"X": x, **learned, "Q": query, "K": key, "V": value, **compared, "output": output}


class TwoSentences(NamedTuple):
    """One head, and two sentences that it reads."""

    x: Tensor
    new: Tensor
    head: SingleHead
    mask: Tensor


def two_drawn(
    tokens: tuple[str, ...], others: tuple[str, ...], d_model: int, **choices: Any
) -> TwoSentences:
    """Both sentences and the head from the seed."""
    x, head, mask = toy(tokens, d_model, **choices)
    return TwoSentences(x, toy(others, d_model, **choices).x, head, mask)


def two_learned(x: Tensor, new: Tensor, **learned: Any) -> TwoSentences:
    """Both sentences as a trained head reads them."""
    _unused, head, mask = learned_head(x, **learned)
    return TwoSentences(x, new, head, mask)


def both_endings(x: Tensor, new: Tensor, head: SingleHead, mask: Tensor) -> Computed:
    """What the words get, and what they get if the sentence ends otherwise; causal."""
    causal = masks.build(masks.causal, *mask.shape).to(x.device)
    return {
        "output": single_head(x, head, causal).output,
        "new": single_head(new, head, causal).output,
    }


def swapped(x: Tensor, head: SingleHead, mask: Tensor) -> Computed:
    """The products, and the products if W_Q and W_K are exchanged."""
    query, key, _unused = project(x, head)
    return {"as it was": dot_products(query, key), "exchanged": dot_products(key, query)}


def parameters(d_model: int, head_dim: int, value_dim: int) -> dict[str, int]:
    """What W_Q, W_K and W_V hold together."""
    return {"parameters": projection_parameters(d_model, head_dim, value_dim)}


def inputs_of(choices: HeadChoices, head: Toy) -> dict[str, Any]:
    """What the head is made from: a sentence, sizes and a seed, or what was learned."""
    if choices.is_trained:
        matrices = {name: getattr(head.head, name) for name in ("w_query", "w_key", "w_value")}
        return {"x": head.x, **matrices, "rule": choices.mask}
    sizes = {"d_model": choices.d_model, "head_dim": choices.head_dim, "rule": choices.mask}
    seeded = {"seed": choices.seed, "value_dim": choices.value_dim}
    return {"tokens": choices.tokens, **sizes, **seeded}


def of_head(
    title: str,
    function: Any,
    choices: HeadChoices,
    head: Toy,
    shown: dict[str, Any],
    **options: Any,
) -> Recipe:
    """Something that is computed from a sentence, a head and a mask, whichever head it is."""
    start = learned_head if choices.is_trained else toy
    return Recipe(title, function, inputs_of(choices, head), shown, start, options)


def of_two(
    title: str,
    function: Any,
    choices: HeadChoices,
    head: Toy,
    other: tuple[tuple[str, ...], Tensor],
    shown: dict[str, Any],
    **options: Any,
) -> Recipe:
    """The same of two sentences; of the other one its words and its vectors are given."""
    given, (others, new) = inputs_of(choices, head), other
    start = two_learned if choices.is_trained else two_drawn
    given |= {"new": new} if choices.is_trained else {"others": others}
    return Recipe(title, function, given, shown, start, options)


def whole_head(choices: HeadChoices, head: Toy, shown: OneHead) -> None:
    """Every matrix of the picture."""
    title = _("One head, every matrix")
    take("head", of_head(title, every_matrix, choices, head, shown.numbers))


def projections(choices: HeadChoices, head: Toy, shown: OneHead) -> None:
    """The matrices as far as Q, K and V, and how many numbers are learned."""
    numbers = {name: shown.numbers[name] for name in PROJECTED}
    sizes = {name: vars(choices)[name] for name in ("d_model", "head_dim", "value_dim")}
    count = {"parameters": projection_parameters(**sizes)}
    take(
        "head",
        of_head(_("X times a matrix"), every_matrix, choices, head, numbers),
        Recipe(_("How many numbers are learned"), parameters, sizes, count),
    )


def exchange(choices: HeadChoices, head: Toy, shown: Computed) -> None:
    """The two tables of products."""
    take("exchange", of_head(_("W_Q and W_K exchanged"), swapped, choices, head, shown))


def another_ending(
    choices: HeadChoices, head: Toy, others: tuple[str, ...], new: Tensor, shown: dict[str, Tensor]
) -> None:
    """Two tables, and the new sentence: its words where they are drawn, its vectors elsewhere."""
    title = _("Another ending")
    take("ending", of_two(title, both_endings, choices, head, (others, new), shown))


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
