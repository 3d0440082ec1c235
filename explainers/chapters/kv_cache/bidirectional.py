"""Why attention that looks ahead cannot keep anything: what each new word changes in K."""

from torch import Tensor

from explainers.attention import masks
from explainers.chapters.common.score_matrix import ROUNDING
from explainers.chapters.kv_cache import takeaway as taken
from explainers.chapters.kv_cache.reading import Written, moved
from explainers.charts.matrix import Matrix, Values, share_domain
from explainers.charts.theme import TOKEN_AXIS
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.predict import revealed


def rows_moved(changes: list[Tensor]) -> int:
    """How many rows would have to be computed again, over the whole text."""
    return sum(int((change > ROUNDING).sum()) for change in changes)


def show_both_ways(text: Prose, run: Written) -> None:
    """Guess how many rows move; then every row at every step, under both masks."""
    words = len(run.tokens)
    text("both_ways")
    names = _("causal"), _("full (both ways)")
    found = [moved(run, rule) for rule in (masks.causal, masks.full)]
    causal, full = map(rows_moved, found)
    options = "0", f"{words}", f"{words * (words - 1) // 2}"
    if not revealed(text, "both_ways", options, f"{full}", words=words, causal=causal):
        return
    taken.both_ways(run, *found)
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
    formula = _("{count} rows of K would have to be computed again", count=rows_moved(changes))
    rows = [f"+ {token}" for token in run.tokens]
    return Matrix(name, formula, by_step, rows, run.tokens, _("word read"), TOKEN_AXIS)
