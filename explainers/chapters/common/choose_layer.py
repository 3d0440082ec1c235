"""Trained or untrained: the layer that a page looks at, its controls, and what is said of it."""

from collections.abc import Sequence

import streamlit as st

from explainers.chapters.common.mask_names import choose_mask, translate_mask
from explainers.messages import N_
from explainers.toys.layers import (
    D_MODEL,
    HEAD_DIMS,
    MASK_NAMES,
    MAX_NEWS_TOKENS,
    SEEDS,
    Configuration,
    Layer,
    Tokens,
    TrainedHeads,
    choose_shipped_seed,
    draw_layer,
    list_head_dims,
    load_layer,
)
from explainers.toys.readable_head import (
    READABLE_D_MODEL,
    READABLE_HEAD_DIM,
    READABLE_SEEDS,
    load_readable_layer,
)
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.provenance import trained_weights, untrained_weights
from explainers.ui.untrusted_text import verbatim

ABLE = 32
"""The d_k of a trained head where a page offers none: the readable one is too sharp to leak."""


def choose_layer(
    tokens: Tokens,
    has_mask: bool = True,
    has_value_dim: bool = False,
    has_sizes: bool = True,
    rule: str = "full",
    is_trained: bool | None = None,
) -> Layer:
    """The controls of one head, in a row, with trained weights only the sizes that were trained.

    With d_k 4 it is the readable head, else one of d_model 64. Where nothing like the mask or the
    seed was trained, it is said what is shown instead. `rule` is the mask, and `is_trained` says
    which weights, where the page has chosen them elsewhere.
    """
    with st.container(horizontal=True):
        if is_trained is None:
            is_trained = controls.weights() == "trained"
        rule = choose_mask(controls.mask) if has_mask else rule
        d_model = controls.d_model.default
        head_dim = ABLE if is_trained else controls.head_dim.default
        if has_sizes:
            head_dim = controls.head_dim(HEAD_DIMS if is_trained else ())
            learned_width = READABLE_D_MODEL if head_dim == READABLE_HEAD_DIM else D_MODEL
            d_model = controls.d_model(fixed=learned_width if is_trained else None)
        value_dim = head_dim
        if has_value_dim:
            value_dim = controls.value_dim(fixed=head_dim if is_trained else None)
    seed = page.read_seed()
    if not is_trained:
        return draw_layer(tokens, d_model, 1, head_dim, rule, seed, value_dim)
    is_readable = head_dim == READABLE_HEAD_DIM
    if is_readable:
        shown_seed = seed if seed in READABLE_SEEDS else READABLE_SEEDS[0]
        layer = load_readable_layer(tokens, rule, shown_seed)
        differences = not_among(N_("seed"), seed, shown_seed, READABLE_SEEDS)
    else:
        layer = find_trained_layer(tokens, 1, head_dim, rule, seed)
        differences = unlike(layer, rule, seed)
        differences += [] if seed in SEEDS else [_("Train it here takes any seed.")]
    width = layer.x.shape[-1]
    of_mask = _(
        "Trained on finding related words, mask {mask}: d_model is {sizes}.",
        mask=translate_mask("full" if is_readable else layer.rule),
        sizes=f"{width}, d_v = d_k" if has_value_dim else f"{width}",
    )
    notes = [of_mask, *differences, *describe_long_text(layer)]
    if layer.unknown:
        words = list_unknown(layer)
        notes.append(
            _("Training never saw {words}: vectors drawn at random stand in.", words=words)
        )
    st.caption(" ".join(notes))  # one element: each costs time at every rerun
    return layer


def read_layers(tokens: Tokens) -> tuple[Layer, Layer]:
    """The readable head and the wide one, without a mask, where a picture offers the weights.

    It is said where another seed is shown than was asked for. Untrained they are the same.
    """
    seed = page.read_seed()
    if controls.weights.read() != "trained":
        sizes = controls.d_model.default, 1, controls.head_dim.default
        layer = draw_layer(tokens, *sizes, "full", seed)
        return layer, layer
    shown_seed = seed if seed in READABLE_SEEDS else READABLE_SEEDS[0]
    layer = load_readable_layer(tokens, "full", shown_seed)
    notes = not_among(N_("seed"), seed, shown_seed, READABLE_SEEDS) + describe_long_text(layer)
    if notes:
        st.caption(" ".join(notes))
    return layer, find_trained_layer(tokens, 1, ABLE, "full", seed)


def describe_wide_layer(layer: Layer, seed: int) -> None:
    """Say what the wide head of `read_layers` learned, if it is not untrained."""
    if layer.learned:
        trained = _(
            "Trained on finding related words, mask {mask}: d_model is {sizes}.",
            mask=translate_mask(layer.rule),
            sizes=f"{D_MODEL}",
        )
        any_seed = [] if seed in SEEDS else [_("Train it here takes any seed.")]
        st.caption(" ".join([trained, *unlike(layer, "full", seed), *any_seed]))


def choose_head_dim(is_trained: bool, num_heads: int) -> int:
    """d_k; trained heads open with as many numbers together as one head of full width."""
    if not is_trained:
        return controls.head_dim()
    return controls.head_dim(list_head_dims(num_heads), D_MODEL // num_heads)


def read_by_heads(
    tokens: Tokens, is_trained: bool, d_model: int, num_heads: int, head_dim: int, rule: str
) -> Layer:
    """A layer of heads that were chosen, or where mask or seed were not trained, another."""
    seed = page.read_seed()
    if not is_trained:
        return draw_layer(tokens, d_model, num_heads, head_dim, rule, seed)
    layer = find_trained_layer(tokens, num_heads, head_dim, rule, seed)
    trained = _("Trained on finding related words: d_model is {d_model}.", d_model=D_MODEL)
    st.caption(" ".join([trained, *unlike(layer, rule, seed), *describe_long_text(layer)]))
    return layer


def find_trained_layer(
    tokens: Tokens, num_heads: int, head_dim: int, rule: str, seed: int
) -> Layer:
    """The trained heads with this mask and seed, or with the first ones that there are."""
    own = Configuration(
        num_heads, num_heads, head_dim, rule if rule in MASK_NAMES else MASK_NAMES[0]
    )
    return load_layer(tokens, own, choose_shipped_seed(seed))


def list_unknown(layer: Layer) -> str:
    """The words that training never saw."""
    return ", ".join(map(verbatim, layer.unknown))


def origin_of(layer: Layer) -> str:
    """The badge of the pictures."""
    if layer.learned:
        return trained_weights(layer.seed, len(layer.unknown), layer.x.device)
    return untrained_weights(layer.seed, layer.x.device)


def unlike(layer: Layer, rule: str, seed: int) -> list[str]:
    """What to say where another mask, or another seed, is shown than was asked for."""
    return mask_not_among(rule, layer.rule) + not_among(N_("seed"), seed, layer.seed, SEEDS)


def not_among(name: str, asked: object, shown: object, offered: Sequence[object]) -> list[str]:
    """What to say when something else is shown than was asked for."""
    if asked == shown:
        return []
    return [
        _(
            "There is no {name} {asked} among them, only {listed}; this is {shown}.",
            name=_(name),
            asked=asked,
            listed=", ".join(map(str, offered)),
            shown=shown,
        )
    ]


def mask_not_among(asked: str, shown: str) -> list[str]:
    """The same where other masks were trained than the one that is asked for."""
    return not_among(
        N_("mask"), translate_mask(asked), translate_mask(shown), [*map(translate_mask, MASK_NAMES)]
    )


def describe_long_text(layer: Layer) -> list[str]:
    """What to say of a text that training did not prepare for."""
    if len(layer.tokens) <= MAX_NEWS_TOKENS:
        return []
    return [
        _(
            "It learned from sentences of at most {most} words; this has {count}.",
            most=MAX_NEWS_TOKENS,
            count=len(layer.tokens),
        )
    ]


def offer_training(layer: Layer) -> None:
    """Where trained weights of full width are shown, a reader can also watch such heads learn."""
    if not isinstance(layer.learned, TrainedHeads):
        return
    from explainers.chapters.common.live_training import (
        train_here,  # what learns is not needed before
    )

    train_here(layer, page.read_seed())
