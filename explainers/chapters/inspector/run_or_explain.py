"""The reader's text in the reader's model, or a word on why it cannot be."""

from typing import TYPE_CHECKING

import streamlit as st

from explainers.chapters.common.recording import Recording, record_text
from explainers.translations import _, translate_error
from explainers.ui.page import Prose
from explainers.ui.untrusted_text import shorten, verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel


def seen_or_told(text: Prose, loaded: "RealModel", sentence: str) -> Recording | None:
    """One run on the sentence; what cannot be run is told, and the rest of the page stays."""
    try:
        shown = record_text(loaded, sentence)
    except Exception as error:  # a model from a folder or the hub may raise anything
        why = verbatim(shorten(translate_error(error), 300))
        st.error(_("Nothing can be shown: {why}", why=why), icon=":material/error:")
        return None
    if shown.num_left_out:
        st.caption(
            _(
                "The first {shown} tokens are shown; {more} more are left out. "
                "A long text has its place further down.",
                shown=len(shown.tokens),
                more=shown.num_left_out,
            )
        )
    layers, heads = shown.shape
    text(
        "model",
        which=verbatim(shown.name),
        tokens=len(shown.tokens),
        layers=layers,
        heads=heads,
        kv_heads=heads // shown.group_size,
        head_dim=shown.layers[0].query.shape[-1],
        parameters=f"{loaded.num_parameters:,}",
    )
    return shown
