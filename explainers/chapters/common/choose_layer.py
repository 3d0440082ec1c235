"""The layer of heads that a page looks at: random, or trained on finding related words."""

from dataclasses import dataclass

import streamlit as st
from torch import Tensor

from explainers.attention import masks
from explainers.attention.layer import MultiHead
from explainers.attention.positions import sinusoidal
from explainers.chapters.common.choose_head import longer_than_learned, mask_not_among, not_among
from explainers.toys import examples, trained_heads
from explainers.toys.trained_heads import Configuration, Learned
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.page import Prose
from explainers.ui.provenance import random_weights, trained_weights
from explainers.ui.untrusted_text import verbatim


@dataclass(frozen=True)
class Layer:
    """A sentence as the layer reads it; `known` is what training learned, None where it did not."""

    tokens: tuple[str, ...]
    x: Tensor
    heads: MultiHead
    mask: Tensor
    rule: str
    known: Learned | None = None
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True)
class LayerChoices:
    """What the reader can choose about a layer."""

    tokens: tuple[str, ...]
    is_trained: bool
    num_heads: int
    head_dim: int
    mask: str
    d_model: int
    seed: int


def choose_head_dim(is_trained: bool, num_heads: int) -> int:
    """d_k; trained heads open with as many numbers together as one head of full width."""
    if not is_trained:
        return controls.head_dim()
    return controls.head_dim(trained_heads.head_dims(num_heads), trained_heads.D_MODEL // num_heads)


def read_layer(text: Prose, choices: LayerChoices) -> tuple[Layer, str]:
    """The layer that was chosen, or where mask or seed were not trained, another; and its badge."""
    if not choices.is_trained:
        layer = random_layer(choices)
        return layer, random_weights(choices.seed, layer.x.device)
    rule = choices.mask if choices.mask in trained_heads.RULES else trained_heads.RULES[0]
    seed = trained_heads.shipped_seed(choices.seed)
    notes = [
        _("Trained on finding related words: d_model is {d_model}.", d_model=trained_heads.D_MODEL)
    ]
    notes += mask_not_among(choices.mask, rule)
    notes += not_among("seed", choices.seed, seed, trained_heads.SEEDS)
    notes += longer_than_learned(choices.tokens)
    st.caption(" ".join(notes))
    layer = trained_layer(choices.tokens, choices.num_heads, choices.head_dim, rule, seed)
    if layer.unknown:
        text("unknown", words=", ".join(map(verbatim, layer.unknown)))
    return layer, trained_weights(seed, len(layer.unknown), layer.x.device)


def random_layer(choices: LayerChoices) -> Layer:
    """Untrained heads over the vectors that every page reads."""
    tokens, heads, seed = choices.tokens, choices.num_heads, choices.seed
    x = examples.embeddings(tokens, choices.d_model, seed)
    x = x + sinusoidal(len(tokens), choices.d_model, examples.LONGEST).to(x.device)
    mask = masks.build(masks.RULES[choices.mask], len(tokens), len(tokens)).to(x.device)
    layer = examples.random_layer(choices.d_model, heads, heads, choices.head_dim, seed)
    return Layer(tokens, x, layer, mask, choices.mask)


def trained_layer(
    tokens: tuple[str, ...], num_heads: int, head_dim: int, rule: str, seed: int
) -> Layer:
    """The shipped heads of one configuration."""
    toy = trained_heads.trained_toy(tokens, num_heads, num_heads, head_dim, rule, seed)
    known = trained_heads.learned(Configuration(num_heads, num_heads, head_dim, rule), seed)
    return Layer(tokens, toy.x, toy.layer, toy.mask, rule, known, toy.unknown)
