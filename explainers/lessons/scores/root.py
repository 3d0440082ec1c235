"""The experiment on √d_k: thousands of random queries and keys, measured once and kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import streamlit as st
import torch
from torch import Tensor

from explainers.attention.scaling import measure
from explainers.attention.steps import dot_products, scale, softmax
from explainers.examples import generator
from explainers.phrase import phrase
from explainers.ui import controls

Each = TypeVar("Each")
Pair: TypeAlias = tuple[Each, Each]
Numbers: TypeAlias = list[list[float]]
SEED = 0
"""Always the same: a law does not depend on it, and drawing again takes a second."""
DRAWS = 2_000
KEYS = 7
"""As many as the running sentence has tokens."""
BINS = 20
ROWS_SHOWN = 7
ANSWERS = phrase("about 1/7: all alike"), phrase("about a half"), phrase("more than 0.9")


def in_words(average: float) -> str:
    """Which of the answers an average largest weight is."""
    return ANSWERS[2 if average > 0.9 else 1 if average > 0.3 else 0]


@dataclass(frozen=True)
class Measurement:
    """What the draws at one d_k gave: without the root, with the root."""

    head_dim: int
    variance: Pair[float]
    gradient: Pair[float]
    average: Pair[float]
    shares: Pair[list[float]]
    rows: Pair[Numbers]


@st.cache_data(show_spinner=False, max_entries=1)
def measurements() -> list[Measurement]:
    """One measurement for every d_k that the slider offers."""
    return experiment([int(step) for step in controls.root_head_dim.steps])


def experiment(head_dims: list[int]) -> list[Measurement]:
    """One measurement for every d_k."""
    return [_measurement(d, rows) for d, rows in zip(head_dims, _rows(head_dims), strict=True)]


def _measurement(head_dim: int, rows: Pair[Numbers]) -> Measurement:
    measured = measure(head_dim, KEYS, DRAWS, generator("root", SEED, head_dim))
    without, with_root = measured.largest
    return Measurement(
        head_dim,
        measured.variance,
        measured.gradient,
        (without.mean().item(), with_root.mean().item()),
        (_shares(without), _shares(with_root)),
        rows,
    )


def _shares(largest: Tensor) -> list[float]:
    """Which part of the draws fell into each twentieth between 0 and 1."""
    return (largest.histc(BINS, 0, 1) / DRAWS).tolist()


def _rows(head_dims: list[int]) -> Iterator[Pair[Numbers]]:
    """The same few draws at every d_k, cut to its length, so that one can follow them."""
    seeded = generator("rows", SEED)
    query = torch.randn(ROWS_SHOWN, 1, head_dims[-1], generator=seeded)
    key = torch.randn(ROWS_SHOWN, KEYS, head_dims[-1], generator=seeded)
    for head_dim in head_dims:
        products = dot_products(query[..., :head_dim], key[..., :head_dim])[:, 0]
        yield softmax(products).tolist(), softmax(scale(products, head_dim)).tolist()
