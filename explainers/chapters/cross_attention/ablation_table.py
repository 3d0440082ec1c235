"""Each change of the weights on many sentences: how many are still translated without a fault."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from explainers.chapters.common.background_job import offer_job, watch_job
from explainers.chapters.cross_attention.changed_translation import attends
from explainers.job_queue import Job, report_each
from explainers.translation import weights_file
from explainers.translation.corpus import draw_test_sets
from explainers.translation.evaluation import measure_exact_match
from explainers.translation.translator import greedy_search
from explainers.translations import _
from explainers.ui.controls.controls import LEARNED, PEAK, PERMUTED, UNIFORM
from explainers.ui.page import Prose
from explainers.ui.session import ABLATION_TABLE_JOB
from explainers.ui.source import show_source

SENTENCES = 50
CASES = (
    (LEARNED, False),
    (PEAK, False),
    (PEAK, True),
    (UNIFORM, False),
    (UNIFORM, True),
    (PERMUTED, False),
    (PERMUTED, True),
)
"""What is put in place of the learned weights, and whether in all layers."""


class Tried(NamedTuple):
    """The share of sentences that are still translated as the corpus does."""

    instead: str
    everywhere: bool
    exact: float


def tried() -> Iterator[Tried]:
    """Every case, one after the other."""
    model, pairs = weights_file.load_translator().model, draw_test_sets(SENTENCES).unseen
    for instead, everywhere in CASES:
        attend = attends(instead, everywhere)
        yield Tried(instead, everywhere, measure_exact_match(model, pairs, attend))


def show_tried(text: Prose) -> None:
    """A button; then a line for each case."""
    label = _("Try them all on {count} held-out sentences", count=SENTENCES)
    all_cases = Job(SENTENCES, report_each(tried), len(CASES))
    job = offer_job(ABLATION_TABLE_JOB, label, all_cases, icon=":material/experiment:")
    if job:
        show = partial(_show, text, job.reports)
        watch_job(ABLATION_TABLE_JOB, job, _("Translating"), show)
        show_source(measure_exact_match, greedy_search)


def _show(text: Prose, reports: Sequence[Tried]) -> None:
    found = list(reports)
    if not found:
        return
    where = {False: _("last layer"), True: _("all layers")}
    lines = [
        f"| {_(one.instead)} | {'–' if one.instead == LEARNED else where[one.everywhere]} "
        f"| {100 * one.exact:.0f} % |"
        for one in found
    ]
    text("tried", rows="\n".join(lines), sentences=SENTENCES)
