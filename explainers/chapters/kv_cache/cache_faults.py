"""What spoils a cache: mistakes in it, and attention that looks ahead."""

from torch import Tensor

from explainers.attention import masks
from explainers.attention.cache.faults import LOST, append_after, drop_row, forget_offset
from explainers.chapters.common.score_matrix import ROUNDING
from explainers.chapters.kv_cache import takeaway as taken
from explainers.chapters.kv_cache.reading import Written, measure_key_changes
from explainers.chapters.kv_cache.takeaway import (
    AFTER,
    DROPPED,
    FORGOTTEN,
    SMALL,
    WINDOW,
    measure_differences,
)
from explainers.charts.matrix import Matrix, Values, share_domain
from explainers.charts.theme import TOKEN_AXIS
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.page_parts.veil import ask_veiled
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
    """One mistake with its first word veiled, then all of them, word by word."""
    text("broken", window=WINDOW, kept=WINDOW - 1)
    found = measure_differences(run)
    options = [f"{n + 1}: {token}" for n, token in enumerate(run.tokens)][:3]
    ask_veiled(text, "broken", in_words(run, found[FORGOTTEN]), options)
    firsts = {name: verbatim(_said(run, each)) for name, each in found.items()}
    taken.take_mistakes(run, found)
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


def count_stale_rows(changes: list[Tensor]) -> int:
    """How many rows would have to be computed again, over the whole text."""
    return sum(int((change > ROUNDING).sum()) for change in changes)


def show_both_ways(text: Prose, run: Written) -> None:
    """How many rows move, veiled; then every row at every step, under both masks."""
    words = len(run.tokens)
    text("both_ways")
    names = _("causal"), _("full (both ways)")
    found = [measure_key_changes(run, rule) for rule in (masks.causal, masks.full)]
    causal, full = map(count_stale_rows, found)
    options = "0", f"{words}", f"{words * (words - 1) // 2}"
    ask_veiled(text, "both_ways", f"{full}", options, words=words, causal=causal)
    taken.take_new_words(run, *found)
    matrices = [_matrix(run, *each) for each in zip(names, found, strict=True)]
    drawn = share_domain(*matrices)
    alt = _(
        "How much each row of K changes when another word is read: causally not, both ways yes."
    )
    show_figure(Figure([Panel(m.name, m) for m in drawn], alt), run.origin, "both ways")
    text("both_ways_seen")


def _matrix(run: Written, name: str, changes: list[Tensor]) -> Matrix:
    words = len(run.tokens)
    by_step: Values = [[*c.tolist(), *[None] * (words - len(c))] for c in changes]
    formula = _(
        "{count} rows of K would have to be computed again", count=count_stale_rows(changes)
    )
    rows = [f"+ {token}" for token in run.tokens]
    return Matrix(name, formula, by_step, rows, run.tokens, _("word read"), TOKEN_AXIS)
