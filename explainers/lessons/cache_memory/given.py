"""A config.json from the reader: pasted, uploaded, or read where the server is the reader's own."""

from typing import Final

import streamlit as st

from explainers.memory.config import LARGEST
from explainers.memory.groups import ModelShape
from explainers.memory.shapes import read_config, read_config_file
from explainers.models.names import reads_folders
from explainers.ui.language import said

MOST_PASTED = 240_000
"""Characters, each of up to four bytes: with more, the server would refuse the whole message."""
KEPT: Final = "session"


def given_config() -> ModelShape | None:
    """The model of the reader's file; nothing while there is none. Raises what is wrong with it."""
    pasted = st.text_area(
        said("Paste a config.json here"),
        max_chars=MOST_PASTED,
        key="pasted config",
        height=150,
        persist_state=KEPT,
    )
    with st.container(horizontal=True):
        uploaded = st.file_uploader(said("or upload it"), type="json", key="uploaded config")
        folder = ""
        if reads_folders():
            label = said("or name its folder on this computer")
            folder = st.text_input(label, max_chars=500, key="config folder", persist_state=KEPT)
    if pasted.strip():
        if len(pasted) == MOST_PASTED:
            raise ValueError(
                said("config.json has {most:,} characters or more: upload it", most=MOST_PASTED)
            )
        return read_config(pasted)
    if uploaded is not None:
        return read_config(decoded(uploaded.read(4 * LARGEST)))
    return read_config_file(folder.strip()) if folder.strip() else None


def decoded(content: bytes) -> str:
    """A file's text."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(said("the file is not text in UTF-8: is it another file?")) from None
