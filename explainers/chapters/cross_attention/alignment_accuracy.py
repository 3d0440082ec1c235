"""Are the weights an alignment? They are scored against gold."""

from explainers.chapters.cross_attention import held_out_scores
from explainers.chapters.cross_attention.alignment_view import TranslationView
from explainers.chapters.cross_attention.held_out_scores import IBM1_SENTENCES, LinkReading
from explainers.charts.matrix import Matrix
from explainers.messages import N_
from explainers.translation.alignment import (
    AlignmentScore,
    align_diagonally,
    read_links,
    reestimate,
    score_alignment,
)
from explainers.translations import _
from explainers.ui.controls.controls import MEAN
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel

CODE = score_alignment, read_links, reestimate


def show_scores(view: TranslationView) -> dict[str, object]:
    """The scores of the chosen heads and of two baselines, here and on held-out sentences.

    Returns, for a text, how many sentences they are of, and from how many pairs aligners counted.
    """
    scores = held_out_scores.score_readings()
    baseline_scores = held_out_scores.score_baselines()
    words, syllables = view.translation.words, view.translation.syllables
    head_score = scores[LinkReading(view.layer, view.head, view.row_side)]
    tables = {N_("held out"): [head_score, baseline_scores["diagonal"], baseline_scores["ibm"]]}
    if view.gold:
        link_sets = (
            view.read_links(view.row_side),
            align_diagonally(len(words), len(syllables)),
            held_out_scores.align_by_ibm1(words, syllables),
        )
        sentence_scores = [
            score_alignment(links, set(view.gold.sure), set(view.gold.possible))
            for links in link_sets
        ]
        tables = {N_("this sentence"): sentence_scores, **tables}
    panels = [Panel(name, _make_score_table(view, name, rows)) for name, rows in tables.items()]
    errors = [
        _("{table}: error {rate:.2f}", table=_(name), rate=rows[0].aer)
        for name, rows in tables.items()
    ]
    alt = _("Scores of {heads} and of two baselines.", heads=view.head_label)
    show_figure(Figure(panels, f"{alt} {'; '.join(errors)}"), view.origin, "scores")
    return {"sentences": len(held_out_scores.list_pairs()), "pairs": f"{IBM1_SENTENCES:,}"}


def name_head(layer: int, head: str) -> str:
    """A head beside its row of a table."""
    if head == MEAN:
        return _("L{layer} mean", layer=layer + 1)
    return f"L{layer + 1} {head}"


def _make_score_table(view: TranslationView, name: str, rows: list[AlignmentScore]) -> Matrix:
    """A line for each aligner; 0 is best for the error, 1 for the others."""
    names = [name_head(view.layer, view.head), _("diagonal"), "IBM 1"]
    values = [list(row) for row in rows]
    columns = ["AER", _("precision"), _("recall")]
    axes = N_("aligner"), N_("score")
    return Matrix(name, "", values, names, columns, *axes, kind="weights")
