"""Mistakes in a cache: which words get a wrong output, and how wrong."""

from torch import Tensor

from explainers.attention.cache_faults import LOST, append_after, drop_row, forget_offset
from explainers.charts.matrix import Matrix
from explainers.charts.theme import TOKEN_AXIS
from explainers.lessons.kv_cache.faulty import AFTER, DROPPED, FORGOTTEN, SMALL, WINDOW, differences
from explainers.lessons.kv_cache.written import Written
from explainers.lessons.moved import ROUNDING
from explainers.lessons.taken import kv_cache as taken
from explainers.phrase import phrase
from explainers.ui.figure import show_figure
from explainers.ui.language import said, translated
from explainers.ui.panels import Figure, Panel
from explainers.ui.plain import verbatim
from explainers.ui.predict import revealed
from explainers.ui.prose import Prose
from explainers.ui.source import show_source

NOWHERE = phrase("at none")


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
    return translated(first) if first == NOWHERE else first


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
        said("how wrong"),
        said("largest difference of the word's output"),
        [each.tolist() for each in found.values()],
        [translated(name) for name in found],
        run.tokens,
        said("mistake"),
        TOKEN_AXIS,
    )
    listed = ", ".join(
        said("{mistake}: begins at word {word}", mistake=translated(name), word=_said(run, each))
        for name, each in found.items()
    )
    alt = said(
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
