"""From text to vectors: tokens, their ids, their rows, and where they stand."""

from dataclasses import dataclass

import streamlit as st
import torch

from explainers.attention.positions import reorder, sinusoidal
from explainers.chapters.common import token_vectors
from explainers.chapters.tokens import takeaway
from explainers.chapters.tokens.cut_text import show_tokens
from explainers.toys import examples
from explainers.toys.layers import build_mask
from explainers.translations import _
from explainers.ui import page, provenance
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.clickable_figure import explore_figure
from explainers.ui.prediction import revealed
from explainers.ui.source import run_and_show
from explainers.ui.text.language import fragment

text = page.open_prose(__file__)
POSITIONS = 32
HEAD_DIM = 4


@dataclass(frozen=True)
class Choices:
    """Everything the reader can change about the vectors."""

    tokens: tuple[str, ...]
    d_model: int
    longest: int
    seed: int


@fragment
def show_positions(words: tuple[str, ...]) -> None:
    """Embeddings, positions, and what attention knows of order without them."""
    text("positions")
    with st.container(horizontal=True):
        choices = Choices(words, controls.d_model(), controls.wave_base(), page.read_seed())
    x = examples.draw_embeddings(words, choices.d_model, choices.seed)
    of_head = choices.d_model, HEAD_DIM, HEAD_DIM, choices.seed
    head, full = examples.random_head(*of_head), build_mask("full", x)
    origin = provenance.random_weights(choices.seed, x.device)
    picture = st.container()
    positions = run_and_show(sinusoidal, POSITIONS, choices.d_model, choices.longest)
    positions_here = positions[: len(words)].to(x.device)
    with picture:
        working = token_vectors.explain_sum(x, positions_here, choices.longest)
        alt = _("Embedding plus position is what attention reads, a row per token.")
        explore_figure(
            token_vectors.make_sum_panels(words, x, positions_here), working, origin, "vectors", alt
        )
    text("waves", places=POSITIONS)
    token_vectors.show_waves(
        positions, provenance.formula(_("sines and cosines"), positions.device)
    )
    takeaway.take_vectors(choices, x, positions)

    text("order")
    order = examples.shuffle_order(len(words), choices.seed)
    without = reorder(x, torch.zeros_like(positions_here), head, full, order)
    if revealed(text, "order", token_vectors.ANSWERS, token_vectors.describe_change(without)):
        text("order_without", moved=f"{token_vectors.find_largest_change(without):.1g}")
        token_vectors.show_two_orders(words, order, without, origin, "order")
        with_positions = run_and_show(reorder, x, positions_here, head, full, order)
        text("order_with", moved=f"{token_vectors.find_largest_change(with_positions):.1g}")
        token_vectors.show_two_orders(words, order, with_positions, origin, "placed")
        takeaway.take_orders(choices, HEAD_DIM, without, with_positions)


text("question")
read_sentence = choose_text()
show_tokens(text, read_sentence)
show_positions(read_sentence.tokens)
text("notice")
