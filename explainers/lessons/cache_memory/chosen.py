"""The controls of what is asked: a model, a text, a format, and a way to count."""

from dataclasses import replace

import streamlit as st

from explainers.lessons.cache_memory.asked import Chosen
from explainers.lessons.cache_memory.given import MOST_PASTED, given_config
from explainers.lessons.wording import told
from explainers.memory.countings import COUNTINGS
from explainers.memory.formats import FORMATS
from explainers.memory.groups import LayerGroup, ModelShape
from explainers.memory.shapes import model_ids, model_shape
from explainers.models.names import READ_FOLDERS
from explainers.ui import memory_controls as controls
from explainers.ui.language import said
from explainers.ui.plain import verbatim
from explainers.ui.prose import Prose

FOR_WEIGHTS_ALONE = "mxfp4"
CACHE_FORMATS = [name for name in FORMATS if name != FOR_WEIGHTS_ALONE]
MOST_LAYERS, WIDEST = 1_000, 100_000
LONGEST_WINDOW = 10**8


def choose(text: Prose) -> Chosen | None:
    """The inputs of the page; nothing, and a message, while a model's numbers cannot be."""
    shape, message = None, ""
    names = [controls.OWN, controls.CONFIG, *model_ids()]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = controls.model(names, controls.model.default)
        tokens, texts = controls.tokens(), controls.texts()
        dtype = controls.cache_dtype(CACHE_FORMATS, controls.cache_dtype.default)
        counting = controls.counting(list(COUNTINGS), controls.counting.default)
        more = st.container(horizontal=True, vertical_alignment="bottom")
    try:
        if name == controls.OWN:
            shape = own_shape()
        elif name == controls.CONFIG:
            text("paste", most=f"{MOST_PASTED:,}", switch=READ_FOLDERS)
            shape = given_config()
            message = "" if shape else said("Waiting for a config.json.")
        else:
            shape = model_shape(name)
        if shape:
            shape.known_groups()
    except ValueError as error:
        shape, message = None, told(error)
    with more:
        source_tokens, beams = read_by_encoder(shape)
    if shape is None:
        st.warning(verbatim(message), icon=":material/edit_note:")
        return None
    return Chosen(shape, tokens, texts, dtype, counting, source_tokens, beams)


def read_by_encoder(shape: ModelShape | None) -> tuple[int | None, int]:
    """(tokens of the other text, beams): only a model with an encoder has something to choose."""
    if shape is None or not any(group.kind == "cross" for group in shape.known_groups()):
        return None, 1
    return controls.source(0, shape.encoder_context or LONGEST_WINDOW), controls.beams(1, 64)


def own_shape() -> ModelShape:
    """A model of the reader's numbers; some of its layers may have a window."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        is_latent = controls.own_kind() != controls.own_kind.default
        layers, heads = controls.own_layers(1, MOST_LAYERS), controls.own_heads(1, WIDEST)
        if is_latent:
            latent_dim, rope_dim = controls.own_latent(1, WIDEST), controls.own_rope(1, WIDEST)
            groups = [LayerGroup("latent", layers, latent_dim=latent_dim, rope_dim=rope_dim)]
        else:
            each = controls.own_kv_heads(1, WIDEST), controls.own_head_dim(1, WIDEST)
            local = controls.own_local(0, layers)
            window = controls.own_window(1, LONGEST_WINDOW)
            groups = [LayerGroup("sliding", local, *each, window)] if local else []
            groups += [LayerGroup("full", layers - local, *each)] if layers > local else []
    width = heads * (1 if is_latent else groups[0].head_dim)
    shape = ModelShape(said("your numbers"), tuple(groups), heads, width)
    return replace(shape, sources=(said("the numbers you gave"),))
