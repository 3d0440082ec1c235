"""What a cache saves, counted step by step, as curves over the length of a text."""

import functools
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

import torch

from explainers.attention.cache.step_costs import Work, cache_bytes, with_cache, without_cache
from explainers.attention.layer import MultiHead
from explainers.chapters.common.score_matrix import write_word_count
from explainers.chapters.kv_cache import takeaway as taken
from explainers.chapters.kv_cache.reading import D_MODEL, HEAD_DIM, LAYERS, DrawnText
from explainers.messages import N_
from explainers.toys import examples
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.provenance import formula

if TYPE_CHECKING:
    import pandas as pd

LENGTHS = tuple(2**power for power in range(11))
ANSWERS = N_("it stays the same"), N_("it doubles"), N_("about four times as much")
GROWTH = dict(zip((1, 2, 4), ANSWERS, strict=True))
POWERS = {2: "T", 4: "T²", 8: "T³"}
"""What work grows like that becomes 2, 4 or 8 times as much when the text becomes twice as long."""


@functools.cache
def count_work() -> dict[int, tuple[Work, Work]]:
    """With and without a cache, for texts of each length, in one layer of the page."""
    layer = make_counted_layer()
    return {length: (with_cache(length, layer), without_cache(length, layer)) for length in LENGTHS}


def name_count_origin() -> str:
    """The badge of the pictures."""
    return formula(_("counted step by step"), torch.device("cpu"))


def compute_growth(of: Callable[[Work], int], way: int) -> int:
    """How many times the work a long text is when it becomes twice as long."""
    half, whole = (of(count_work()[length][way]) for length in LENGTHS[-2:])
    return round(whole / half)


def answer_costs() -> str:
    """Among the answers: what becomes of the scores, with a cache."""
    return GROWTH[compute_growth(lambda work: work.scores, 0)]


def make_counted_layer() -> MultiHead:
    """A layer of one head, of which the work is counted and the cache is weighed."""
    return examples.random_heads(D_MODEL, 1, 1, HEAD_DIM, 0)


def show_work() -> None:
    """The work of one layer over the length of a text: four lines on logarithmic axes."""
    from explainers.charts.curves import Axis, draw_work

    taken.take_costs(LENGTHS)
    axes = {
        "x": Axis(_("words"), is_logarithmic=True),
        "y": Axis(_("multiply-adds, in total"), is_logarithmic=True),
    }
    cached, again = count_work()[LENGTHS[-1]]
    alt = _(
        "Multiply-adds for {longest:,} words: projections {projections:,} with the cache and "
        "{projections_again:,} without; scores {scores:,} with it and {scores_again:,} without.",
        longest=LENGTHS[-1],
        projections=cached.projections,
        projections_again=again.projections,
        scores=cached.scores,
        scores_again=again.scores,
    )
    show_chart(
        draw_work, list_work(), alt, "work", name_count_origin(), series=name_lines(), **axes
    )


def name_lines() -> tuple[str, ...]:
    """What the lines are called: both kinds of work, without the cache and with it."""
    scores, projections = (
        [POWERS[compute_growth(kind, way)] for way in (1, 0)]
        for kind in (lambda work: work.scores, lambda work: work.projections)
    )
    return (
        _("scores, without a cache: like {power}", power=scores[0]),
        _("scores, with the cache: like {power}", power=scores[1]),
        _("projections, without a cache: like {power}", power=projections[0]),
        _("projections, with the cache: like {power}", power=projections[1]),
    )


def list_work() -> "pd.DataFrame":
    """A row for each length and line."""
    import pandas as pd

    points = []
    for length, (cached, again) in count_work().items():
        amounts = again.scores, cached.scores, again.projections, cached.projections
        points += [(length, each, name) for each, name in zip(amounts, name_lines(), strict=True)]
    return pd.DataFrame(points, columns=["x", "y", "series"])


def name_costs() -> dict[str, str]:
    """The numbers of the longest text, for a text."""
    cached, again = count_work()[LENGTHS[-1]]
    return {
        "length": f"{LENGTHS[-1]:,}",
        "rows": f"{cached.rows:,}",
        "rows_again": f"{again.rows:,}",
        "scores": f"{cached.scores:,}",
        "scores_again": f"{again.scores:,}",
        "ratio": f"{again.scores / cached.scores:,.0f}",
    }


def name_growth() -> dict[str, str]:
    """How the scores grow with a cache where a long text becomes twice as long, for a text."""
    half, whole = (count_work()[length][0].scores for length in LENGTHS[-2:])
    return {"times": f"{whole / half:.1f}"}


def name_memory(run: DrawnText) -> dict[str, str]:
    """What the caches of both layers hold of a text, and whose they are, for a text."""
    words = len(run.tokens)
    held = LAYERS * cache_bytes(words, run.layers[0])
    return {
        "words": write_word_count(words),
        "layers": run.name_layers(),
        "held": f"{held:,}",
        "each": f"{held // words:,}",
    }


def recall_stored_queries(draw: Random) -> Recall:
    """None, however long the text: a query is used once."""
    given = {"tokens": f"{draw.randint(20, 90)}", "kv_heads": f"{draw.choice([2, 4, 8])}"}
    return Recall(0, given)
