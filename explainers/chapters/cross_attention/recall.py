"""What a reader should remember of cross-attention, asked with other numbers."""

from random import Random

from explainers.messages import N_
from explainers.ui.page_parts.check_yourself import Recall

VERDICTS = N_("Right"), N_("Wrong")


def count_weights(draw: Random) -> Recall:
    """A weight for each pair of a syllable and a token of the source."""
    syllables, words = draw.randint(4, 12), draw.randint(13, 25)
    given = {"syllables": f"{syllables}", "words": f"{words}"}
    return Recall(syllables * words, given)


def judge_mask(_draw: Random) -> Recall:
    """Nothing of the source is in the future."""
    return Recall(VERDICTS[1], options=VERDICTS)
