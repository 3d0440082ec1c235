"""The choices of who looks into a real model; `controls` counts them among all choices."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from explainers.phrase import phrase
from explainers.ui.controls.counter import Counter
from explainers.ui.controls.kinds import Choice, Ladder, Switch
from explainers.ui.controls.links import Control
from explainers.ui.controls.worded import URL

SMALLEST = "HuggingFaceTB/SmolLM2-135M-Instruct"
MOST_CHARACTERS = 300


@dataclass(frozen=True)
class Named(Control):
    """One of a list of names, or another one that the reader types."""

    def __call__(self, names: Sequence[str]) -> str:
        asked = self.asked()
        own = st.session_state.get(self.key) or asked
        names = [*names, own] if own and own not in names else list(names)
        value = st.selectbox(
            options=names,
            index=names.index(self.default),
            key=self.key,
            bind=URL,
            accept_new_options=True,
            width=380,
            **self.words,
        )
        self.keep(value)
        allowed = phrase("owner/name of a model, or a folder where the server reads them")
        self.told(asked, value, allowed)
        return (value or self.default)[:MOST_CHARACTERS]


model = Named(
    "real_model",
    "Real model",
    SMALLEST,
    help="Choose one, or type the name of any model of the hub (owner/name). Its size is shown "
    "before anything is fetched; only safetensors are read, and no code of a model is ever run.",
)
layer = Counter("model_layer", "Layer, from 0", 1)
head = Counter("model_head", "Head, from 0", 2)
dimmed = Switch(
    "dim_first",
    "Dim the first token",
    False,
    help="Leave its column out of the pictures. Nothing is renormalised: what is missing is said.",
)
beside = Switch("beside", "Put a model of the other kind beside it", False)
length = Ladder("tokens_read", "Tokens read", 256, (64, 128, 256, 512, 1024))
long_layer = Counter("long_layer", "Layer of the long text, from 0", 1)
as_words = Switch(
    "as_words",
    "Merge pieces into words",
    False,
    help="The weights on a word's pieces are added up, those of its pieces' rows are averaged: so "
    "every row still sums to 1.",
)

sound = Choice("sound", "Sound", "tone sweep")
over_heads = Switch("over_heads", "Mean over all heads", True)

ALL = tuple(one for one in [*globals().values()] if isinstance(one, Control))
