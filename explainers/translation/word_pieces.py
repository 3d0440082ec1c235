"""Word pieces (Kudo and Richardson 2018), which large translators read instead of words."""

import functools
from collections.abc import Sequence

import sentencepiece

from explainers.translation.weights_file import (
    FIRST_FILE,
    PIECES_KEY,
    BrokenWeightsError,
    read_tensors,
)

NUM_PIECES = 600
"""The number of pieces: fewer than the corpus has words, so that some words are cut."""


@functools.lru_cache(maxsize=1)
def load_pieces() -> sentencepiece.SentencePieceProcessor:
    """The model of word pieces that is shipped beside the weights."""
    tensors = read_tensors(FIRST_FILE)
    if PIECES_KEY not in tensors:
        raise BrokenWeightsError(f"{FIRST_FILE.name} holds no model of pieces: train again")
    return sentencepiece.SentencePieceProcessor(model_proto=tensors[PIECES_KEY].numpy().tobytes())


def cut_words(words: Sequence[str]) -> list[list[str]]:
    """The pieces of each word; the first of a word begins with ▁, the space in front of it."""
    return [load_pieces().encode(word, out_type=str) for word in words]
