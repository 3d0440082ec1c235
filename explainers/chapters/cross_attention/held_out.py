"""What is measured on sentences that training never saw: every layer and head, and baselines."""

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

SENTENCES = 50
"""Of each kind: with pairs of words that never met in training, and without."""
LEARNED_FROM = 1_000
"""Sentence pairs that IBM Model 1 counts in front of the reader; more do not help it."""
HEADS = (MEAN, *map(str, range(NUM_HEADS)))
BY = (PREDICTED, INPUT)
LAST = NUM_LAYERS - 1


class Reading(NamedTuple):
    """One way to read links off the weights."""

    layer: int
    head: str
    by: str


class Mass(NamedTuple):
    """Weight on `<eos>` in the last layer: in rows where a word begins, and where it goes on."""

    first: float
    later: float


class Found(NamedTuple):
    """Of how many links are right: those of "đã" in a past tense, and all others."""

    weak: float
    others: float


def pairs() -> list[SentencePair]:
    """The sentences that all of this is measured on."""
    return [pair for kind in draw_test_sets(SENTENCES) for pair in kind]


@functools.cache
def weights() -> list[Tensor]:
    """Of each sentence (layers, heads, syllables + 1, words + 1)."""
    return list(compute_cross_weights(weights_file.load_translator().model, pairs()))


@st.cache_data(show_spinner=False, max_entries=40)
def links(reading: Reading) -> list[set[Link]]:
    """The links of each sentence, read in this way."""
    layer, head, by = reading
    return [
        read_links(
            one[layer].mean(dim=0) if head == MEAN else one[layer, int(head)],
            len(pair.source),
            len(pair.target),
            by,
        )
        for one, pair in zip(weights(), pairs(), strict=True)
    ]


@st.cache_data(show_spinner=False)
def scores() -> dict[Reading, AlignmentScore]:
    """Every layer, every head and the mean of heads, with rows read in both ways."""
    readings = itertools.starmap(Reading, itertools.product(range(NUM_LAYERS), HEADS, BY))
    return {reading: scored(links(reading), pairs()) for reading in readings}


def scored(predicted: Sequence[set[Link]], gold: Sequence[SentencePair]) -> AlignmentScore:
    """Over all sentences together."""
    sure, possible = (
        pool_links(getattr(one, kind) for one in gold) for kind in ("sure", "possible")
    )
    return score_alignment(pool_links(predicted), sure, possible)


@st.cache_data(show_spinner=False)
def ibm_model() -> Ibm1Model:
    """IBM Model 1, learned from sentences that are not among those it is tested on."""
    known = draw_sentences("for counting", LEARNED_FROM, False, {pair.source for pair in pairs()})
    return Ibm1Model.learn([(pair.source, pair.target) for pair in known])


@st.cache_data(show_spinner=False, max_entries=64)
def ibm_links(words: tuple[str, ...], syllables: tuple[str, ...]) -> set[Link]:
    """What IBM Model 1 says of a sentence."""
    return ibm_model().align(words, syllables)


@st.cache_data(show_spinner=False)
def baselines() -> dict[str, AlignmentScore]:
    """Those that are no network, by name."""
    model = ibm_model()  # once: each call copies it
    found = {
        "diagonal": [align_diagonally(len(pair.source), len(pair.target)) for pair in pairs()],
        "ibm": [model.align(pair.source, pair.target) for pair in pairs()],
    }
    return {name: scored(predicted, pairs()) for name, predicted in found.items()}


@functools.cache
def parked() -> Mass:
    """How much weight lies on `<eos>`, where a word begins and where it goes on."""
    first: list[float] = []
    later: list[float] = []
    for one, pair in zip(weights(), pairs(), strict=True):
        words = [word for _, word in sorted(pair.sure)]
        mass = one[LAST].mean(dim=0)[: len(words), -1].tolist()
        for n, here in enumerate(mass):
            goes_on = n > 0 and words[n] == words[n - 1] and (n - 1, words[n]) not in pair.weak
            (later if goes_on else first).append(here)
    return Mass(sum(first) / len(first), sum(later) / len(later))


@functools.cache
def weak_and_others() -> Found:
    """How often the last layer's mean of heads names the right word."""
    right: dict[bool, list[bool]] = {True: [], False: []}
    for predicted, pair in zip(links(Reading(LAST, MEAN, PREDICTED)), pairs(), strict=True):
        for link in pair.sure:
            right[link in pair.weak].append(link in predicted)
    return Found(*(sum(some) / len(some) for some in (right[True], right[False])))
