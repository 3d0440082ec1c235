"""Words cut into pieces (Kudo and Richardson 2018): how translators with many words read."""

import functools
import io
from collections.abc import Iterable, Sequence

import sentencepiece

from explainers.translation.weights_file import FIRST, PIECES, BrokenWeightsError, stored

COUNT = 600
"""How many pieces there are: fewer than the corpus has words, so that some are cut."""


def train(lines: Iterable[str]) -> bytes:
    """Learn from sentences of both languages which letters go together; the same every time."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        model_type="bpe",
        vocab_size=COUNT,
        character_coverage=1.0,
        normalization_rule_name="identity",
        num_threads=1,
        minloglevel=2,
    )
    return model.getvalue()


@functools.lru_cache(maxsize=1)
def shipped() -> sentencepiece.SentencePieceProcessor:
    """The pieces that are shipped beside the translator's weights."""
    kept = stored(FIRST)
    if PIECES not in kept:
        raise BrokenWeightsError(f"{FIRST.name} holds no model of pieces: train again")
    return sentencepiece.SentencePieceProcessor(model_proto=kept[PIECES].numpy().tobytes())


def cut(words: Sequence[str]) -> list[list[str]]:
    """The pieces of each word; the first of a word begins with ▁, the space in front of it."""
    return [shipped().encode(word, out_type=str) for word in words]
