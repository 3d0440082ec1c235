"""Measure a model again on this machine, and compare with the scores that came with the app."""

from explainers.chapters.common.background_job import offer_job, show_problem, watch_job
from explainers.chapters.common.measured_heads import Gallery
from explainers.messages import N_
from explainers.models.head_scores import HeadScores
from explainers.models.head_scores_job import make_head_scores_job, read_scores
from explainers.models.shipped_scores import read_shipped_scores
from explainers.translations import _
from explainers.ui.page import Prose
from explainers.ui.session import HEAD_SCORES_JOB

AGAIN_LABEL = N_("Measure again here")


def show_measuring(text: Prose, gallery: Gallery) -> None:
    """What is measured, a button, and how far both measurements differ."""
    text("measure_here")
    job = make_head_scores_job(gallery.name, is_again=True)
    shown = offer_job(HEAD_SCORES_JOB, _(AGAIN_LABEL), job, icon=":material/query_stats:")
    if shown and shown.subject == gallery.name:
        if shown.state == "failed":
            show_problem(shown)
        elif not shown.is_over:
            watch_job(HEAD_SCORES_JOB, shown, _("Reading"))
    measured, shipped = read_scores(gallery.name), read_shipped_scores(gallery.name)
    if measured and shipped:
        text("measured_here", difference=f"{find_largest_difference(measured, shipped.scores):.4f}")


def find_largest_difference(one: HeadScores, other: HeadScores) -> float:
    """Over all scores of all heads; places in the texts are not compared."""
    names = [name for name in one.tensors if "counterexample" not in name]
    pairs = [(one.tensors[name], other.tensors[name]) for name in names if name in other.tensors]
    return max(float((a.nan_to_num(0) - b.nan_to_num(0)).abs().max()) for a, b in pairs)
