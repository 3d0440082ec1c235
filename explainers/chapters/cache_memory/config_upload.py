"""A reader's config.json: pasted, uploaded, in a folder, or fetched for a name that was pasted."""

import re
from typing import Final

import streamlit as st

from explainers.memory.cache_report import suggest_similar
from explainers.memory.config_text import MAX_CHARACTERS
from explainers.memory.model_shapes import ModelShape, list_model_ids
from explainers.memory.read_config import read_config, read_config_file
from explainers.messages import get_message
from explainers.models.config_defaults import find_class_defaults
from explainers.models.registry import (
    ModelError,
    is_hub_id,
    may_read_folders,
    refuse_name,
    suggest_model,
)
from explainers.translations import _

PERSISTENCE: Final = "session"
NAME = re.compile(r"[\w./-]{1,120}")
"""A text like this is no file, but may be what a model is called."""
ADDRESS = re.compile(r"https?://[\w.-]+/([\w.-]+/[\w.-]+)(?:/\S*)?")
"""Where a hub shows a model, or one of its files: owner and name come first."""
FETCHED = "fetched config"


def choose_config(max_pasted: int) -> ModelShape | None:
    """The model of the reader's config.json, or None; raises ValueError for a broken one.

    The field takes `max_pasted` characters; a longer file can be uploaded.
    """
    pasted = st.text_area(
        _("Paste a config.json here, or a name such as Qwen/Qwen3-8B"),
        max_chars=max_pasted,
        key="pasted config",
        height=150,
        persist_state=PERSISTENCE,
    )
    with st.container(horizontal=True):
        uploaded = st.file_uploader(_("or upload it"), type="json", key="uploaded config")
        folder = ""
        if may_read_folders():
            label = _("or name its folder on this computer")
            folder = st.text_input(
                label, max_chars=500, key="config folder", persist_state=PERSISTENCE
            )
    name = (
        ADDRESS.sub(r"\1", pasted.strip()) if ADDRESS.fullmatch(pasted.strip()) else pasted.strip()
    )
    if NAME.fullmatch(name):
        return read_named_model(name)
    if pasted.strip():
        if len(pasted) == max_pasted:
            raise ValueError(
                _("config.json has {most:,} characters or more: upload it", most=max_pasted)
            )
        return read_config(pasted, find_class_defaults)
    if uploaded is not None:
        content = uploaded.read(4 * MAX_CHARACTERS + 1)
        return read_config(decode_file(content), find_class_defaults)
    return read_config_file(folder.strip(), find_class_defaults) if folder.strip() else None


def read_named_model(name: str) -> ModelShape:
    """The model of that name, once the reader has had its file fetched; ValueError before."""
    similar = _(suggest_similar(name, list_model_ids()))
    if not is_hub_id(name):
        if suggest_model(name) and name.lower() not in list_model_ids():
            raise ValueError(_(get_message(refuse_name(name))))
        raise ValueError(
            _("{name} is no config.json: paste the file, or owner/name", name=name) + similar
        )
    known, text = st.session_state.get(FETCHED, ("", ""))
    if st.button(
        _("Fetch config.json of {name} from the hub", name=name),
        icon=":material/download:",
        key="fetch config",
    ):
        text = fetch_or_explain(name)
        known, st.session_state[FETCHED] = name, (name, text)
    if known == name:
        return read_config(text, find_class_defaults)
    raise ValueError(
        _("{name} is a name: fetch its config.json, or paste the file here", name=name) + similar
    )


def fetch_or_explain(name: str) -> str:
    """The file from the hub; a ValueError says what to do where it cannot be had."""
    from explainers.models.hub import HubUnreachableError  # with PyTorch, which a page does without
    from explainers.models.hub_config import fetch_config

    try:
        return fetch_config(name)
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
