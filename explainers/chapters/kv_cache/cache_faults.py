"""Mistakes in a cache: which words get a wrong output, and how wrong."""

from torch import Tensor

from explainers.attention.cache.faults import LOST, append_after, drop_row, forget_offset
from explainers.chapters.common.score_matrix import ROUNDING
from explainers.chapters.kv_cache import takeaway as taken
from explainers.chapters.kv_cache.faulty_reading import (
    AFTER,
    DROPPED,
    FORGOTTEN,
    SMALL,
    WINDOW,
    differences,
)
from explainers.chapters.kv_cache.reading import Written
from explainers.charts.matrix import Matrix
from explainers.charts.theme import TOKEN_AXIS
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.predict import revealed
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import verbatim

NOWHERE = N_("at none")


def begins(difference: Tensor) -> int | None:
    """The first word, from 0, whose output is wrong."""
    wrong = (difference > ROUNDING).nonzero().flatten().tolist()
    return wrong[0] if wrong else None


def in_words(run: Written, difference: Tensor) -> str:
    """The same for the reader."""
    first = begins(difference)
    return NOWHERE if first is None else f"{first + 1}: {run.tokens[first]}"


def _said(run: Written, difference: Tensor) -> str:
    first = in_words(run, difference)
    return _(first) if first == NOWHERE else first


def show_broken(text: Prose, run: Written) -> None:
    """A guess about one mistake, then all of them, word by word."""
    text("broken", window=WINDOW, kept=WINDOW - 1)
    found = differences(run)
    options = [f"{n + 1}: {token}" for n, token in enumerate(run.tokens)][:3]
    if not revealed(text, "broken", options, in_words(run, found[FORGOTTEN])):
        return
    firsts = {name: verbatim(_said(run, each)) for name, each in found.items()}
    taken.mistakes(run, found)
    matrix = Matrix(
        _("how wrong"),
        _("largest difference of the word's output"),
        [each.tolist() for each in found.values()],
        [_(name) for name in found],
        run.tokens,
        _("mistake"),
        TOKEN_AXIS,
    )
    listed = ", ".join(
        _("{mistake}: begins at word {word}", mistake=_(name), word=_said(run, each))
        for name, each in found.items()
    )
    alt = _(
        "A row per mistake, a column per word: how wrong the word's output is. {listed}",
        listed=listed,
    )
    show_figure(Figure([Panel("wrong", matrix)], alt), run.origin, "mistakes")
    text(
        "broken_seen",
        lost=verbatim(run.tokens[min(LOST, len(run.tokens) - 1)]),
        forgotten=firsts[FORGOTTEN],
        dropped=firsts[DROPPED],
        after=firsts[AFTER],
        small=firsts[SMALL],
    )
    show_source(forget_offset, drop_row, append_after)
