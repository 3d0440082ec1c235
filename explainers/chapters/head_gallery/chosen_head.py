"""Which head of the gallery is looked at, and which word: at first, the surest induction head."""

import streamlit as st

from explainers.messages import N_
from explainers.ui.controls.controls import model_head, model_layer, register
from explainers.ui.controls.number_controls import Counter

gallery_layer = Counter("gallery_layer", N_("Layer, from 0"), None)
gallery_head = Counter("gallery_head", N_("Head, from 0"), None)
gallery_word = Counter("gallery_word", N_("Word to follow, from 0"), None)
"""Without a default: what is shown at first depends on the model."""
register(gallery_layer, gallery_head, gallery_word)
_OLD = {model_layer.key: gallery_layer.key, model_head.key: gallery_head.key}


def read_old_link() -> None:
    """Links once named the head as those of the inspector do."""
    for old, new in _OLD.items():
        if old in st.query_params and new not in st.query_params:
            st.query_params[new] = st.query_params[old]
            del st.query_params[old]


def choose(layer: int, head: int) -> None:
    """Look at another head; a callback."""
    gallery_layer.put(layer)
    gallery_head.put(head)
