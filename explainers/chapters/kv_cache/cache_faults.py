"""What spoils a cache: mistakes in it, and the word at which each begins."""

from collections.abc import Mapping

from torch import Tensor

from explainers.attention.cache.faults import LOST
from explainers.chapters.common.score_matrix import ROUNDING
from explainers.chapters.kv_cache.reading import DrawnText
from explainers.chapters.kv_cache.takeaway import AFTER, DROPPED, FORGOTTEN, SMALL
from explainers.charts.matrix import Matrix
from explainers.charts.theme import TOKEN_AXIS
from explainers.messages import N_
from explainers.translations import _
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.untrusted_text import verbatim

NOWHERE = N_("at none")


def find_first_wrong_word(difference: Tensor) -> int | None:
    """The first word, from 0, whose output is wrong."""
    wrong = (difference > ROUNDING).nonzero().flatten().tolist()
    return wrong[0] if wrong else None


def write_first_wrong_word(run: DrawnText, difference: Tensor) -> str:
    """The same for the reader."""
    first = find_first_wrong_word(difference)
    return NOWHERE if first is None else f"{first + 1}: {run.tokens[first]}"


def _translate_first_wrong_word(run: DrawnText, difference: Tensor) -> str:
    first = write_first_wrong_word(run, difference)
    return _(first) if first == NOWHERE else first


def list_first_words(run: DrawnText) -> list[str]:
    """Words from which on a cache may be wrong, as one is asked about them."""
    return [f"{n + 1}: {token}" for n, token in enumerate(run.tokens)][:3]


def name_faults(run: DrawnText, found: Mapping[str, Tensor]) -> dict[str, str]:
    """Where each mistake begins, and whose row is lost, for a text."""
    firsts = {
        name: verbatim(_translate_first_wrong_word(run, each)) for name, each in found.items()
    }
    return {
        "lost": verbatim(run.tokens[min(LOST, len(run.tokens) - 1)]),
        "forgotten": firsts[FORGOTTEN],
        "dropped": firsts[DROPPED],
        "after": firsts[AFTER],
        "small": firsts[SMALL],
    }


def draw_faults(run: DrawnText, found: Mapping[str, Tensor]) -> Figure:
    """All mistakes, word by word."""
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
        _(
            "{mistake}: begins at word {word}",
            mistake=_(name),
            word=_translate_first_wrong_word(run, each),
        )
        for name, each in found.items()
    )
    alt = _(
        "A row per mistake, a column per word: how wrong the word's output is. {listed}",
        listed=listed,
    )
    return Figure([Panel("wrong", matrix)], alt)
