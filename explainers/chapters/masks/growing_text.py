"""A word is added: what full attention has to compute again, and causal attention has not."""

import streamlit as st
from torch import Tensor

from explainers.chapters.common.score_matrix import miniatures, rows_moved
from explainers.chapters.masks import takeaway as taken
from explainers.chapters.masks.one_more_word import ADDED, BOTH, Tokens, changes
from explainers.charts.matrix import Matrix, share_domain
from explainers.charts.theme import FEATURE_AXIS, TOKEN_AXIS
from explainers.translations import _
from explainers.ui.figure.figure import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.predict import revealed
from explainers.ui.provenance import random_weights
from explainers.ui.untrusted_text import verbatim


def show_one_pass(text: Prose, tokens: Tokens) -> None:
    """What every row of a causal sentence has read, and which word it must say."""
    text("one_pass", count=len(tokens))
    nexts = (*tokens[1:], "?")
    lines = [f"{' '.join(tokens[: n + 1])}  →  {word}" for n, word in enumerate(nexts)]
    st.code("\n".join(lines), language=None, wrap_lines=True)


def show_growing(text: Prose, tokens: Tokens, seed: int) -> None:
    """K and V of a second layer, with and without one more word."""
    found = {name: changes(tokens, rule, seed) for name, rule in BOTH.items()}
    moved = {name: rows_moved(change.key) for name, change in found.items()}
    text("growing", added=verbatim(ADDED), last=verbatim(tokens[-1]))
    options, answer = ("0", "1", f"{len(tokens)}"), f"{moved['full']}"
    if revealed(text, "growing", options, answer, rows=len(tokens), causal=moved["causal"]):
        drawn = [
            _change(f"{letter}, {_(name)}", getattr(change, role), tokens, role)
            for name, change in found.items()
            for letter, role in (("K", "key"), ("V", "value"))
        ]
        panels = [
            Panel(matrix.name, matrix, operator="" if n % 2 else " ")
            for n, matrix in enumerate(share_domain(*drawn))
        ]
        alt = _("What one more word changes in K and V of the second layer, full and causal.")
        origin = random_weights(seed, found["full"].key.device)
        taken.growing(tokens, seed, found)
        show_figure(Figure(miniatures(panels, len(tokens)), alt), origin, "growing")


def _change(name: str, change: Tensor, tokens: Tokens, role: str) -> Matrix:
    rows, columns = rows_moved(change), [str(n) for n in range(change.shape[1])]
    formula = _("new − old: {rows} of {all} rows change", rows=rows, all=len(tokens))
    return Matrix(
        name, formula, change.tolist(), tokens, columns, TOKEN_AXIS, FEATURE_AXIS, role=role
    )
