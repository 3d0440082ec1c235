"""Questions at the end of this page, with numbers that differ from visit to visit."""

from random import Random

from explainers.ui.page_parts.check_yourself import Recall

MATRICES = ("W_Q", "W_K", "W_V")


def count_query_numbers(draw: Random) -> Recall:
    """A row per word, d_k numbers in each."""
    words, head_dim = draw.randint(5, 20), draw.choice((4, 8, 16, 32))
    d_model = 2 * head_dim
    given = {"words": f"{words}", "d_model": f"{d_model}", "d_k": f"{head_dim}"}
    return Recall(words * head_dim, given)


def find_growing_matrix(draw: Random) -> Recall:
    """Of W_Q, W_K and W_V, only W_V knows how long a value is."""
    before = draw.choice((4, 8, 16))
    return Recall("W_V", {"before": f"{before}", "after": f"{2 * before}"}, MATRICES)
