"""Alignment scores on held-out sentences: every layer and head of the translator, and baselines."""

import functools
import itertools
from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st
from torch import Tensor

from explainers.translation import weights_file
from explainers.translation.alignment import (
    INPUT,
    PREDICTED,
    AlignmentScore,
    Ibm1Model,
    Link,
    align_diagonally,
    pool_links,
    read_links,
    score_alignment,
)
from explainers.translation.corpus import SentencePair, draw_sentences, draw_test_sets
from explainers.translation.evaluation import compute_cross_weights
from explainers.translation.model import NUM_HEADS, NUM_LAYERS
from explainers.ui.controls.controls import MEAN

SENTENCES_PER_SET = 50
"""Of each kind: with pairs of words that never met in training, and without."""
IBM1_SENTENCES = 1_000
"""Sentence pairs that IBM Model 1 counts in front of the reader; more do not help it."""
HEADS = (MEAN, *map(str, range(NUM_HEADS)))
ROW_SIDES = (PREDICTED, INPUT)
LAST_LAYER = NUM_LAYERS - 1


class LinkReading(NamedTuple):
    """One way to read links off the weights."""

    layer: int
    head: str
    row_side: str


def list_pairs() -> list[SentencePair]:
    """The held-out sentences that everything here is measured on."""
    return [pair for kind in draw_test_sets(SENTENCES_PER_SET) for pair in kind]


@functools.cache
def compute_weights() -> list[Tensor]:
    """The weights of each sentence (layers, heads, syllables + 1, words + 1)."""
    return list(compute_cross_weights(weights_file.load_translator().model, list_pairs()))


@st.cache_data(show_spinner=False, max_entries=40)
def read_all_links(reading: LinkReading) -> list[set[Link]]:
    """The links of each sentence, read in this way."""
    layer, head, row_side = reading
    return [
        read_links(
            sentence_weights[layer].mean(dim=0)
            if head == MEAN
            else sentence_weights[layer, int(head)],
            len(pair.source),
            len(pair.target),
            row_side,
        )
        for sentence_weights, pair in zip(compute_weights(), list_pairs(), strict=True)
    ]


@st.cache_data(show_spinner=False)
def score_readings() -> dict[LinkReading, AlignmentScore]:
    """Every layer, every head and the mean of heads, with rows read in both ways."""
    readings = itertools.starmap(
        LinkReading, itertools.product(range(NUM_LAYERS), HEADS, ROW_SIDES)
    )
    return {reading: score_links(read_all_links(reading), list_pairs()) for reading in readings}


@functools.cache
def score_predicted() -> dict[LinkReading, AlignmentScore]:
    """The same with rows read by the syllable that they predict, which is half the work."""
    readings = (
        LinkReading(layer, head, PREDICTED) for layer in range(NUM_LAYERS) for head in HEADS
    )
    return {reading: score_links(read_all_links(reading), list_pairs()) for reading in readings}


def score_links(links: Sequence[set[Link]], gold: Sequence[SentencePair]) -> AlignmentScore:
    """The links of all sentences, scored together against gold."""
    sure, possible = (
        pool_links(getattr(pair, kind) for pair in gold) for kind in ("sure", "possible")
    )
    return score_alignment(pool_links(links), sure, possible)


@st.cache_data(show_spinner=False)
def learn_ibm1() -> Ibm1Model:
    """IBM Model 1, learned from sentences that are not among those it is tested on."""
    known = draw_sentences("for counting", IBM1_SENTENCES, False, list_pairs())
    return Ibm1Model.learn([(pair.source, pair.target) for pair in known])


@st.cache_data(show_spinner=False, max_entries=64)
def align_by_ibm1(words: tuple[str, ...], syllables: tuple[str, ...]) -> set[Link]:
    """The links of one sentence that IBM Model 1 finds."""
    return learn_ibm1().align(words, syllables)


@st.cache_data(show_spinner=False)
def score_baselines() -> dict[str, AlignmentScore]:
    """The scores of the aligners without a network, by name."""
    model = learn_ibm1()  # once: each call copies it
    links_by_name = {
        "diagonal": [align_diagonally(len(pair.source), len(pair.target)) for pair in list_pairs()],
        "ibm": [model.align(pair.source, pair.target) for pair in list_pairs()],
    }
    return {name: score_links(links, list_pairs()) for name, links in links_by_name.items()}
