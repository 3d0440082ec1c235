"""Which cache is sized: a model or a config.json, a text, a number format."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypedDict

import streamlit as st

from explainers.chapters.cache_memory.config_upload import choose_config
from explainers.memory.cache_bytes import FORMATS
from explainers.memory.cache_formula import ByteFormula, explain_cache
from explainers.memory.model_shapes import LayerGroup, ModelShape, find_shape, list_model_ids
from explainers.translations import _, translate_error
from explainers.ui.controls import controls
from explainers.ui.untrusted_text import verbatim


class CacheOptions(TypedDict):
    """The arguments of the calculators besides the number of tokens."""

    dtype: str
    source_tokens: int | None


@dataclass(frozen=True)
class CacheChoice:
    """Everything the reader can change about one cache."""

    shape: ModelShape
    tokens: int
    texts: int
    dtype: str
    source_tokens: int | None

    def explain(self) -> ByteFormula:
        """The bytes, and what they are made of."""
        return explain_cache(self.shape, self.tokens, self.texts, **self.options)

    @property
    def options(self) -> CacheOptions:
        """The arguments that every calculator takes."""
        return {"dtype": self.dtype, "source_tokens": self.source_tokens}


MAX_PASTED = 240_000
"""Characters, each of up to four bytes: with more, the server would refuse the whole message."""
WEIGHTS_ONLY_FORMAT = "mxfp4"
CACHE_FORMATS = [name for name in FORMATS if name != WEIGHTS_ONLY_FORMAT]
MAX_LAYERS, MAX_WIDTH = 1_000, 100_000
MAX_WINDOW = 10**8


def list_models() -> list[str]:
    """Whatever can be chosen as a model."""
    return [controls.OWN, controls.CONFIG, *list_model_ids()]


def choose_shape(name: str) -> ModelShape | None:
    """A model by its name or from the reader's numbers; ValueError for numbers that cannot be."""
    if name == controls.OWN:
        shape: ModelShape | None = choose_own_shape()
    elif name == controls.CONFIG:
        shape = choose_config(MAX_PASTED)
    else:
        shape = find_shape(name)
    if shape:
        shape.require_groups()
    return shape


def read_shape_or_warn(name: str) -> ModelShape | None:
    """The model that was chosen; nothing, and a message, while its numbers cannot be."""
    try:
        shape = choose_shape(name)
        message = "" if shape else _("Waiting for a config.json.")
    except ValueError as error:
        shape, message = None, translate_error(error)
    if message:
        st.warning(verbatim(message), icon=":material/edit_note:")
    return shape


Ask = Callable[..., Any]
"""A control and what is possible → what is chosen, whether the control is drawn or not."""


def choose_options(shape: ModelShape, tokens: int, texts: int, ask: Ask) -> CacheChoice:
    """What else can be chosen of a cache."""
    dtype = ask(controls.cache_dtype, CACHE_FORMATS, shape.cache_dtype)
    source_tokens = None
    if any(group.kind == "cross" for group in shape.require_groups()):
        usual = shape.encoder_context or controls.encoder_tokens.default
        read = replace(controls.encoder_tokens, default=usual)  # as the command counts it
        source_tokens = ask(read, 0, shape.encoder_context or MAX_WINDOW)
    return CacheChoice(shape, tokens, texts, dtype, source_tokens)


def choose_own_shape() -> ModelShape:
    """A model of the reader's numbers; some of its layers may have a window."""
    with st.popover(_("Its numbers"), icon=":material/edit:", key="own numbers"):
        is_latent = controls.own_kind() != controls.own_kind.default
        layers, heads = (controls.own_layers(1, MAX_LAYERS), controls.own_heads(1, MAX_WIDTH))
        if is_latent:
            latent_dim = controls.own_latent(1, MAX_WIDTH)
            rope_dim = controls.own_rope(1, MAX_WIDTH)
            groups = [LayerGroup("latent", layers, latent_dim=latent_dim, rope_dim=rope_dim)]
        else:
            head_sizes = controls.own_kv_heads(1, MAX_WIDTH), controls.own_head_dim(1, MAX_WIDTH)
            local = controls.own_local(0, layers)
            window = controls.own_window(1, MAX_WINDOW)
            groups = [LayerGroup("sliding", local, *head_sizes, window)] if local else []
            groups += [LayerGroup("full", layers - local, *head_sizes)] if layers > local else []
    width = heads * (1 if is_latent else groups[0].head_dim)
    shape = ModelShape(_("your numbers"), tuple(groups), heads, width)
    return replace(shape, sources=(_("the numbers you gave"),))
