"""All heads of one layer, drawn at the press of a button: the app that `inspector` measures."""

import os

import streamlit as st
import torch
from safetensors.torch import load_file

from explainers.chapters.common.recording import pack_weights, tabulate_strongest_keys
from explainers.ui.figure.head_tiles import Tiles, show_tiles


@st.cache_resource
def weights() -> torch.Tensor:
    """(heads, tokens, tokens), computed beforehand."""
    return load_file(os.environ["WEIGHTS"])["weights"]


found = weights()
if st.button("Draw"):
    tokens = [str(place) for place in range(found.shape[-1])]
    forbidden = torch.ones(found.shape[-2:], dtype=torch.bool).triu(1)
    tiles = Tiles(
        pack_weights(found, forbidden.expand_as(found)),
        tokens,
        ["0"],
        [f"head {head}" for head in range(len(found))],
        "All heads of one layer.",
        enlarges=True,
        rooted=True,
    )
    show_tiles(
        tiles, "measured", "drawn", lambda: tabulate_strongest_keys(found[None], [0], tokens)
    )
