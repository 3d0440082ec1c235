"""The experiment on √d_k: thousands of random queries and keys, measured once and kept."""

from dataclasses import dataclass

import streamlit as st

from explainers.attention.scaling import measure, random_scores
from explainers.examples import generator
from explainers.ui import controls

SEED = 0
"""Always the same: a law does not depend on it, and drawing again takes a second."""
DRAWS = 2_000
KEYS = 7
"""As many as the running sentence has tokens."""
BINS = 20
ROWS_SHOWN = 7
ANSWERS = ("about 1/7: all alike", "about a half", "more than 0.9")


def in_words(average: float) -> str:
    """Which of the answers an average largest weight is."""
    return ANSWERS[2 if average > 0.9 else 1 if average > 0.3 else 0]


@dataclass(frozen=True)
class Measurement:
    """What the draws at one d_k gave: without the root, with the root."""

    head_dim: int
    variance: tuple[float, float]
    gradient: tuple[float, float]
    average: tuple[float, float]
    shares: tuple[list[float], list[float]]
    rows: tuple[list[list[float]], list[list[float]]]


@st.cache_data(show_spinner="Drawing thousands of random queries and keys …", max_entries=1)
def measurements() -> list[Measurement]:
    """One measurement for every d_k that the slider offers."""
    return [_measurement(int(head_dim)) for head_dim in controls.root_head_dim.steps]


def _measurement(head_dim: int) -> Measurement:
    measured = measure(head_dim, KEYS, DRAWS, generator("root", SEED, head_dim))
    shown = random_scores(head_dim, KEYS, ROWS_SHOWN, generator("rows", SEED, head_dim))
    largest = measured.largest
    return Measurement(
        head_dim,
        measured.variance,
        measured.gradient,
        (largest[0].mean().item(), largest[1].mean().item()),
        (
            (largest[0].histc(BINS, 0, 1) / DRAWS).tolist(),
            (largest[1].histc(BINS, 0, 1) / DRAWS).tolist(),
        ),
        (shown.products.softmax(dim=-1).tolist(), shown.scores.softmax(dim=-1).tolist()),
    )
