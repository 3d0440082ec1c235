"""Questions at the end of the start page, with numbers that differ from visit to visit."""

from random import Random

from explainers.chapters.exercises.predict import a_mixture
from explainers.ui.page_parts.check_yourself import Recall

mixture = a_mixture


def remaining_weight(draw: Random) -> Recall:
    """The weights of a row add up to 1."""
    first, second = draw.randint(20, 60), draw.randint(5, 20)
    given = {"first": f"{first} %", "second": f"{second} %"}
    return Recall(100 - first - second, given)
