"""What a cache saves, counted step by step, as curves over the length of a text."""

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import streamlit as st
import torch

from explainers.attention.cache.step_costs import (
    Work,
    cache_bytes,
    one_call,
    with_cache,
    without_cache,
)
from explainers.attention.layer import MultiHead
from explainers.chapters.kv_cache import takeaway as taken
from explainers.chapters.kv_cache.reading import D_MODEL, HEAD_DIM, LAYERS
from explainers.messages import N_, ngettext
from explainers.toys import examples
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.page import Prose
from explainers.ui.prediction import revealed
from explainers.ui.provenance import formula
from explainers.ui.source import show_source

if TYPE_CHECKING:
    import pandas as pd

LENGTHS = tuple(2**power for power in range(11))
ANSWERS = (
    N_("O(T): it doubles"),
    N_("O(T²): four times as much"),
    N_("O(T³): eight times as much"),
)
GROWTH = dict(zip((2, 4, 8), ANSWERS, strict=True))


@functools.cache
def count_work() -> dict[int, tuple[Work, Work]]:
    """With and without a cache, for texts of each length, in one layer of the page."""
    layer = one_layer()
    return {length: (with_cache(length, layer), without_cache(length, layer)) for length in LENGTHS}


def both_ways() -> tuple[str, str]:
    """What the curves are called."""
    return _("with the cache"), _("without")


def origin() -> str:
    """The badge of the pictures."""
    return formula(_("counted step by step"), torch.device("cpu"))


def growth(of: Callable[[Work], int], way: int) -> str:
    """Among the answers: how the work grows when a long text becomes twice as long."""
    half, whole = (of(count_work()[length][way]) for length in LENGTHS[-2:])
    return GROWTH[round(whole / half)]


def one_layer() -> MultiHead:
    """A layer of one head, of which the work is counted and the cache is weighed."""
    return examples.random_heads(D_MODEL, 1, 1, HEAD_DIM, 0)


def show_held_bytes(series: Sequence[str], layer: MultiHead) -> None:
    """What the caches of all layers hold after so many words."""
    from explainers.charts.curves import Axis, draw_curve

    held = {length: LAYERS * cache_bytes(length, layer) for length in LENGTHS}
    points = [(length, size, series[0], False) for length, size in held.items()]
    points += [(length, 0, series[1], False) for length in LENGTHS]
    alt = _(
        "Bytes held after so many words: up to {most:,} with the cache, none without.",
        most=held[LENGTHS[-1]],
    )
    axes = {"x": Axis(_("words")), "y": Axis(_("bytes held, {layers} layers", layers=LAYERS))}
    show_chart(draw_curve, _rows(points), alt, "bytes held", origin(), series=series, **axes)


def show_costs(text: Prose, words: int) -> None:
    """Guess what is left of the scores; then rows, products and scores over the length."""
    text("costs")
    if not revealed(text, "costs", ANSWERS, growth(lambda work: work.scores, 0)):
        return
    from explainers.charts.curves import Axis, draw_curve

    text("costs_table")
    taken.take_costs(LENGTHS)
    longest = LENGTHS[-1]
    cached, again = count_work()[longest]
    series = both_ways()
    pictures: dict[str, tuple[str, Callable[[Work], int]]] = {
        "rows of K computed": (_("rows of K computed"), lambda work: work.rows),
        "multiply-adds: projections": (
            _("multiply-adds: projections"),
            lambda work: work.projections,
        ),
        "multiply-adds: scores": (_("multiply-adds: scores"), lambda work: work.scores),
    }
    left, right = st.columns(2)
    for place, (key, (title, of)) in zip((left, right, left), pictures.items(), strict=True):
        points = [
            (length, of(work), name, False)
            for length, both in count_work().items()
            for name, work in zip(series, both, strict=True)
        ]
        alt = _(
            "{title}, in total, {longest:,} words: {cached:,} with, {again:,} without.",
            title=title,
            longest=longest,
            cached=of(cached),
            again=of(again),
        )
        axes = {"x": Axis(_("words"), is_logarithmic=True), "y": Axis(title, is_logarithmic=True)}
        with place:
            show_chart(draw_curve, _rows(points), alt, key, origin(), series=series, **axes)
    layer = one_layer()
    held = LAYERS * cache_bytes(words, layer)
    with right:
        show_held_bytes(series, layer)
    text(
        "costs_seen",
        length=f"{longest:,}",
        rows=f"{cached.rows:,}",
        rows_again=f"{again.rows:,}",
        scores=f"{cached.scores:,}",
        scores_again=f"{again.scores:,}",
        ratio=f"{again.scores / cached.scores:,.0f}",
        words=_(ngettext("{count:,} word", "{count:,} words", words)),
        held=f"{held:,}",
        each=held // words,
    )
    show_source(one_call, with_cache, without_cache, cache_bytes)


def _rows(points: list[tuple[int, int, str, bool]]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(points, columns=["x", "y", "series", "reference"])
