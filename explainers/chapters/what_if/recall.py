"""Questions at the end of the page, with numbers that differ from visit to visit."""

import math
from random import Random

from explainers.attention import masks
from explainers.ui.page_parts.check_yourself import Recall


def count_visible(draw: Random) -> Recall:
    """What a window leaves in sight, with some tokens at the beginning."""
    width, sinks = draw.randint(3, 9), draw.randint(1, 2)
    place = draw.randint(width + sinks + 5, 60)
    window = masks.sliding_window(width)
    rule = masks.Rule(lambda query, key: (key < sinks) | window(query, key))
    seen = int(masks.build(rule, place, place)[-1].sum())
    return Recall(seen, {"width": f"{width}", "place": f"{place}", "sinks": f"{sinks}"})


def lose_certainty(draw: Random) -> Recall:
    """The loss of one token."""
    probability = draw.choice([0.9, 0.8, 0.5, 0.25, 0.1, 0.05])
    answer = round(-math.log(probability), 2)
    return Recall(answer, {"probability": f"{probability:g}"}, tolerance=0.01)
