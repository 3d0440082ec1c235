"""Trained or untrained: the layer that a page looks at, its controls, and what is said of it."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from explainers.chapters.common.sentence_reading import Reading
from explainers.messages import ngettext
from explainers.toys import layers
from explainers.toys.layers import MASK_TITLES, Configuration, Layer, Tokens, TrainedHeads
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.figure.panels import Slider, View, ViewSlider, make_views
from explainers.ui.provenance import trained_weights, untrained_weights
from explainers.ui.untrusted_text import verbatim

ABLE = 32
"""The d_k of a trained head where a page offers none: the readable one is too sharp to leak."""


@dataclass(frozen=True)
class LayerSizes:
    """The same head at every d_k that can be chosen: trained or drawn once it is asked for."""

    head_dims: Sequence[int]
    head_dim: int
    """What is chosen now."""
    read: Callable[[int], Layer]
    """The layer of a d_k."""

    @property
    def layer(self) -> Layer:
        """The layer that is chosen now."""
        return self.read(self.head_dim)

    def make_slider(self, view: Callable[[Layer], View]) -> ViewSlider:
        """d_k, moved in a picture."""
        control, sizes = controls.head_dim, self.head_dims
        labels, place = [f"{size}" for size in sizes], sizes.index(self.head_dim)

        def put(turned: int) -> None:
            control.put(sizes[turned])

        slider = Slider(control.label, labels, place, put, name=control.key)
        return make_views(slider, lambda turned: view(self.read(sizes[turned])))


def choose_sizes(reading: Reading) -> LayerSizes:
    """The controls of one head, but for d_k, which is moved in the picture.

    There are trained weights of some sizes: with d_k 4 it is the readable head, else one of
    d_model 64. Where nothing like the seed was trained, it is said what is shown instead.
    """
    if controls.weights() == "untrained":
        return _choose_untrained(reading)
    head_dim = controls.head_dim(layers.HEAD_DIMS)
    controls.d_model(is_drawn=False)
    reading.explain_known()
    seed, tokens = page.read_seed(), reading.known

    @functools.cache
    def read(size: int) -> Layer:
        if size == layers.READABLE_HEAD_DIM:
            return _find_readable_layer(tokens, seed)
        return find_trained_layer(tokens, size, seed)

    layer = read(head_dim)  # what was learned, and what is shown instead of what was asked for
    notes = _describe_learned(layer, seed) + describe_long_text(layer)
    if layer.unknown:
        words = ", ".join(map(verbatim, layer.unknown))
        notes.append(_("Not in the training data, so with random vectors: {words}.", words=words))
    st.caption(" ".join(notes))  # one element: each costs time at every rerun
    return LayerSizes(layers.HEAD_DIMS, head_dim, read)


def choose_untrained_sizes(reading: Reading) -> LayerSizes:
    """Of an untrained head, which is there in any size; values may be longer than keys."""
    with st.container(horizontal=True):
        return _choose_untrained(reading, has_value_dim=True)


def _choose_untrained(reading: Reading, has_value_dim: bool = False) -> LayerSizes:
    head_dim, d_model = controls.head_dim(()), controls.d_model()
    value_dim = controls.value_dim() if has_value_dim else None
    seed = page.read_seed()

    @functools.cache
    def read(size: int) -> Layer:
        return layers.draw_layer(reading.words, d_model, 1, size, "full", seed, value_dim)

    return LayerSizes(controls.head_dim.possible, head_dim, read)


def _describe_learned(layer: Layer, seed: int) -> list[str]:
    """What a head was trained on, and with which seed instead of the one that was asked for."""
    is_readable = layer.heads.head_dim == layers.READABLE_HEAD_DIM
    trained = _(
        "Trained on finding related words, mask {mask}: d_model is {sizes}.",
        mask=_(MASK_TITLES["full"]),
        sizes=f"{layer.x.shape[-1]}",
    )
    offered = layers.READABLE_SEEDS if is_readable else layers.SEEDS
    missing = describe_missing(seed, layer.seed, offered)
    any_seed = [] if is_readable or seed in layers.SEEDS else [_("Train it here takes any seed.")]
    return [trained, *missing, *any_seed]


def read_layers(reading: Reading) -> tuple[Layer, Layer]:
    """The readable head and the wide one, without a mask, where a picture offers the weights.

    It is said where another seed is shown than was asked for. Untrained they are the same, and so
    they are where a real model reads the words.
    """
    seed, tokens = page.read_seed(), reading.words
    is_trained = controls.weights(is_drawn=False) == "trained"
    if not (reading.is_small and is_trained):
        layer = reading.layer("full", is_trained)
        return layer, layer
    layer = _find_readable_layer(tokens, seed)
    notes = describe_missing(seed, layer.seed, layers.READABLE_SEEDS) + describe_long_text(layer)
    if notes:
        st.caption(" ".join(notes))
    return layer, find_trained_layer(tokens, ABLE, seed)


def describe_wide_layer(layer: Layer, seed: int) -> None:
    """Say what the wide head of `read_layers` learned, if it is not untrained."""
    if layer.learned:
        st.caption(" ".join(_describe_learned(layer, seed)))


def _find_readable_layer(tokens: Tokens, seed: int) -> Layer:
    shown_seed = seed if seed in layers.READABLE_SEEDS else layers.READABLE_SEEDS[0]
    return layers.load_readable_layer(tokens, "full", shown_seed)


def find_trained_layer(tokens: Tokens, head_dim: int, seed: int) -> Layer:
    """The trained head with this seed, or with the first one that there is."""
    shape = Configuration(1, 1, head_dim, "full")
    return layers.load_layer(tokens, shape, layers.choose_shipped_seed(seed))


def name_layer_origin(layer: Layer) -> str:
    """The badge of the pictures."""
    if layer.origin:
        return layer.origin
    if layer.learned:
        heads = _(ngettext("{count:,} query head", "{count:,} query heads", layer.heads.num_heads))
        what = _("{heads}, d_k {size}", heads=heads, size=layer.heads.head_dim)
        return trained_weights(what, layer.seed, len(layer.unknown), layer.x.device)
    return untrained_weights(layer.seed, layer.x.device)


def describe_missing(asked: int, shown: int, offered: Sequence[int]) -> list[str]:
    """What to say when another seed is shown than was asked for."""
    if asked == shown:
        return []
    return [
        _(
            "There is no {name} {asked} among them, only {listed}; this is {shown}.",
            name=_("seed"),
            asked=asked,
            listed=", ".join(map(str, offered)),
            shown=shown,
        )
    ]


def describe_long_text(layer: Layer) -> list[str]:
    """What to say of a text that training did not prepare for."""
    if len(layer.tokens) <= layers.MAX_NEWS_TOKENS:
        return []
    return [
        _(
            "It learned from sentences of at most {most} words; this has {count}.",
            most=layers.MAX_NEWS_TOKENS,
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
