"""From text to vectors: tokens, their ids, their rows, and where they stand."""

from dataclasses import dataclass

import streamlit as st
import torch

from explainers import examples
from explainers.attention.positions import reorder, sinusoidal
from explainers.sentence import Sentence
from explainers.tokens import learn_merges, merge_pair
from explainers.ui import common, controls, provenance, vectors
from explainers.ui.numbers import explore
from explainers.ui.predict import revealed
from explainers.ui.source import run_and_show, show_source
from explainers.ui.tokenizing import cut, show_merges, show_strip

text = common.page_text(__file__)
POSITIONS = 32
ROUNDING = 1e-5  # float32 sums in another order differ by about 1e-7
SAME, OTHER, ZERO = "the same numbers", "other numbers", "zeros"


@dataclass(frozen=True)
class Choices:
    """Everything the reader can change about the vectors."""

    tokens: tuple[str, ...]
    d_model: int
    longest: int
    seed: int


@st.fragment
def tokens(sentence: Sentence) -> None:
    """The text cut into tokens."""
    unit = controls.unit()
    merges = controls.merges() if unit == "byte pairs" else 0
    pieces = cut(sentence, unit, merges)
    text("cut_" + unit.replace(" ", "_"), count=len(pieces))
    show_strip(pieces, unit)
    if merges:
        show_merges(text, merges)
        show_source(learn_merges, merge_pair)


@st.fragment
def places(words: tuple[str, ...]) -> None:
    """Embeddings, positions, and what attention knows of order without them."""
    with st.container(horizontal=True):
        choices = Choices(words, controls.d_model(), controls.longest(), common.seed())
    x, head, full = examples.toy(words, choices.d_model, 4, 4, "full", choices.seed)
    positions = run_and_show(sinusoidal, POSITIONS, choices.d_model, choices.longest)
    placed = positions[: len(words)].to(x.device)
    origin = provenance.random_weights(choices.seed, x.device)
    text("positions")
    explore(vectors.sum_of(words, x, placed), vectors.working_of(x, placed), origin, "vectors")
    vectors.show_waves(positions)

    text("order")
    order = examples.shuffled(len(words), choices.seed)
    without = reorder(x, torch.zeros_like(placed), head, full, order)
    moved = (without.after - without.before).abs().max().item()
    answer = SAME if moved < ROUNDING else OTHER
    if not revealed(text, "order", (SAME, OTHER, ZERO), answer):
        return
    vectors.show_reordered(text, words, order, without, "order_without", origin)
    with_places = run_and_show(reorder, x, placed, head, full, order)
    vectors.show_reordered(text, words, order, with_places, "order_with", origin)


text("question")
read = controls.sentence()
tokens(read)
places(read.tokens)
text("notice")
