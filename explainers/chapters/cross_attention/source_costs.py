"""What a source costs: weights beside those of one sequence, a cache, and padding in a batch."""

import functools
from random import Random
from typing import NamedTuple

from explainers.attention import masks
from explainers.chapters.cross_attention.alignment_view import TranslationView
from explainers.ui.page_parts.check_yourself import Recall


class WeightCounts(NamedTuple):
    """How many weights one head computes in one layer that holds each kind of attention."""

    encoder: int
    decoder: int
    cross: int
    joined: int

    @property
    def separate(self) -> int:
        return self.encoder + self.decoder + self.cross


def count_weights(source_length: int, target_length: int) -> WeightCounts:
    """As many as the masks allow: the source sees itself, the target its past and the source."""
    joined_length = source_length + target_length
    return WeightCounts(
        int(masks.build(masks.full, source_length, source_length).sum()),
        int(masks.build(masks.causal, target_length, target_length).sum()),
        source_length * target_length,
        int(masks.build(masks.causal, joined_length, joined_length).sum()),
    )


@functools.cache
def count_large_weights() -> WeightCounts:
    """For a long document and its summary, whose masks have millions of cells."""
    return count_weights(1_500, 100)


def show_weight_counts(view: TranslationView) -> dict[str, object]:
    """Both ways to see another sequence; the numbers for the text."""
    source_length, target_length = len(view.translation.words) + 1, view.num_syllables + 1
    counts, large_counts = count_weights(source_length, target_length), count_large_weights()
    return {
        "source": source_length,
        "target": target_length,
        "encoder": counts.encoder,
        "decoder": counts.decoder,
        "cross": counts.cross,
        "apart": counts.separate,
        "joined": counts.joined,
        "large_cross": f"{large_counts.cross:,}",
        "large_joined": f"{large_counts.joined:,}",
        "large_apart": f"{large_counts.separate:,}",
    }


def recall_weight_count(draw: Random) -> Recall:
    """A weight for each pair of a syllable and a token of the source."""
    syllables, words = draw.randint(4, 12), draw.randint(13, 25)
    given = {"syllables": f"{syllables}", "words": f"{words}"}
    return Recall(syllables * words, given)


def recall_mask(draw: Random) -> Recall:
    """Nothing of the source is in the future."""
    syllable, words = draw.randint(4, 12), draw.randint(13, 25)
    options = [f"{count}" for count in (syllable - 1, syllable, words)]
    return Recall(f"{words}", {"syllable": f"{syllable}", "words": f"{words}"}, options)
