"""Which cache is sized: a model, a config.json or numbers of one's own, a text, a number format."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import streamlit as st

from explainers.memory.cache_bytes import FORMATS
from explainers.memory.cache_formula import ByteFormula, explain_cache
from explainers.memory.cache_report import suggest_similar
from explainers.memory.config_text import MAX_CHARACTERS, NAME, take_name
from explainers.memory.model_shapes import LayerGroup, ModelShape, find_shape, list_model_ids
from explainers.memory.read_config import read_config, read_config_file
from explainers.messages import get_message
from explainers.models import registry
from explainers.models.config_defaults import find_class_defaults
from explainers.models.registry import ModelError
from explainers.translations import _, translate_error
from explainers.ui.controls import controls
from explainers.ui.untrusted_text import verbatim

PERSISTENCE: Final = "session"
FETCHED = "fetched config"
MAX_PASTED = 240_000
"""Characters, each of up to four bytes: with more, the server would refuse the whole message. A
longer file can be uploaded."""


def choose_config() -> ModelShape | None:
    """The model of the reader's config.json, or None; raises ValueError for a broken one."""
    pasted = st.text_area(
        _("Paste a config.json here, or a name such as Qwen/Qwen3-8B"),
        max_chars=MAX_PASTED,
        key="pasted config",
        height=150,
        persist_state=PERSISTENCE,
    )
    with st.container(horizontal=True):
        uploaded = st.file_uploader(_("or upload it"), type="json", key="uploaded config")
        folder = ""
        if registry.may_read_folders():
            label = _("or name its folder on this computer")
            folder = st.text_input(
                label, max_chars=500, key="config folder", persist_state=PERSISTENCE
            )
    name = take_name(pasted)
    if NAME.fullmatch(name):
        return read_named_model(name)
    if pasted.strip():
        if len(pasted) == MAX_PASTED:
            raise ValueError(
                _("config.json has {most:,} characters or more: upload it", most=MAX_PASTED)
            )
        return read_config(pasted, find_class_defaults)
    if uploaded is not None:
        content = uploaded.read(4 * MAX_CHARACTERS + 1)
        return read_config(decode_file(content), find_class_defaults)
    return read_config_file(folder.strip(), find_class_defaults) if folder.strip() else None


def read_named_model(name: str) -> ModelShape:
    """The model of that name, once the reader has had its file fetched; ValueError before."""
    similar = _(suggest_similar(name, list_model_ids()))
    if not registry.is_hub_id(name):
        if registry.suggest_model(name) and name.lower() not in list_model_ids():
            raise ValueError(_(get_message(registry.refuse_name(name))))
        raise ValueError(
            _("{name} is no config.json: paste the file, or owner/name", name=name) + similar
        )
    known, text, weights = st.session_state.get(FETCHED, ("", "", {}))
    if st.button(
        _("Fetch config.json of {name} from the hub", name=name),
        icon=":material/download:",
        key="fetch config",
    ):
        text, weights = fetch_or_explain(name)
        known, st.session_state[FETCHED] = name, (name, text, weights)
    if known == name:
        return read_config(text, find_class_defaults, stored=weights)
    raise ValueError(
        _("{name} is a name: fetch its config.json, or paste the file here", name=name) + similar
    )


def fetch_or_explain(name: str) -> tuple[str, dict[str, int]]:
    """The file from the hub and its count of weights; a ValueError says what to do without."""
    from explainers.models.hub import (
        HubUnreachableError,  # with PyTorch, which a page does without
        fetch_config,
        fetch_weights,
    )

    try:
        return fetch_config(name), fetch_weights(name)
    except ModelError as error:
        raise ValueError(_(get_message(error))) from None
    except HubUnreachableError as error:
        raise ValueError(
            _(
                "{why}: open the model's page in a browser, choose Files, config.json, and paste "
                "what you see there",
                why=_(get_message(error)),
            )
        ) from None


def decode_file(content: bytes) -> str:
    """A file's text."""
    if len(content) > 4 * MAX_CHARACTERS:
        raise ValueError(
            _("the file has more than {most:,} bytes: is it another file?", most=4 * MAX_CHARACTERS)
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(_("the file is not text in UTF-8: is it another file?")) from None


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
    def options(self) -> dict[str, Any]:
        """The arguments that every calculator takes, besides the number of tokens."""
        return {"dtype": self.dtype, "source_tokens": self.source_tokens}


WEIGHTS_ONLY_FORMAT = "mxfp4"
CACHE_FORMATS = [name for name in FORMATS if name != WEIGHTS_ONLY_FORMAT]
MAX_LAYERS, MAX_WIDTH = 1_000, 100_000
MAX_WINDOW = 10**8


def list_models() -> list[str]:
    """Whatever can be chosen as a model."""
    return [controls.OWN, controls.CONFIG, *list_model_ids()]


def read_shape_or_warn(name: str) -> ModelShape | None:
    """The model of that name or of the reader's numbers; nothing, and a message, while its numbers
    cannot be."""
    shape, message = None, _("Waiting for a config.json.")
    try:
        if name == controls.OWN:
            shape = choose_own_shape()
        else:
            shape = choose_config() if name == controls.CONFIG else find_shape(name)
        if shape:
            shape.require_groups()
    except ValueError as error:
        shape, message = None, translate_error(error)
    if not shape:
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
