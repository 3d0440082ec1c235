"""Memories that learn: trained beforehand by every rule, and one here in the background."""

from functools import partial
from typing import NamedTuple

import streamlit as st

from explainers.chapters.common.background_job import offer_job, watch_job
from explainers.chapters.common.live_training import show_loss_curve
from explainers.job_queue import Job
from explainers.messages import N_
from explainers.toys.pair_memory import (
    ASKED,
    COUNTS,
    FADE,
    HEAD_DIM,
    MODELS,
    OVERWRITE,
    REPEATED,
    RULES,
    SEEDS,
    SOFTMAX,
    STEPS,
    SUM,
    TESTED_COUNTS,
    MemoryRow,
    measure_memory,
    read_results,
    train_memory,
)
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import show_chart
from explainers.ui.page import Prose
from explainers.ui.prediction import revealed
from explainers.ui.provenance import learned_numbers
from explainers.ui.session import MEMORY_JOB
from explainers.ui.text.language import fragment
from explainers.ui.text.numbers import write_percent

RULE_OF_NAME = dict(zip(controls.RULE_NAMES, RULES, strict=True))
TASKS = dict(zip(controls.trained_keys.options, (False, True), strict=True))
"""Whether keys are repeated."""
NAMES = {rule: name for name, rule in RULE_OF_NAME.items()}
COUNTED = " | ".join(map(str, TESTED_COUNTS))
"""The numbers of pairs, as the head of a table."""
EACH, SMOOTH = 5, 10
"""Batches of one report, and of one point of the curve."""


class MemoryRequest(NamedTuple):
    """What is to be trained."""

    rule: str
    has_repeats: bool
    seed: int


MemoryJob = Job[MemoryRequest, list[float], list[float]]
"""Reports losses, and results in the share of right answers for each number of pairs."""


def make_memory_job(request: MemoryRequest) -> MemoryJob:
    """One layer that learns on its own pairs, and is tested in the end."""

    def train(job: MemoryJob) -> list[float]:
        trained, losses = None, []
        for memory, loss in train_memory([request.rule], request.has_repeats, request.seed, STEPS):
            trained = memory
            losses.append(loss)
            if len(losses) == EACH:
                job.report(losses)
                losses = []
        return measure_memory(trained, TESTED_COUNTS, request.has_repeats) if trained else []

    return Job(request, train, STEPS // EACH)


def _describe(job: MemoryJob) -> str:
    return _("batch {number} of {steps}", number=EACH * len(job.reports), steps=EACH * job.total)


def _show(text: Prose, job: MemoryJob) -> None:
    """The loss so far; in the end, what it finds beside what was found beforehand."""
    losses = [loss for report in list(job.reports) for loss in report]
    if losses:
        origin = learned_numbers(
            _("pairs of a key and a value, seed {seed}", seed=job.subject.seed)
        )
        show_loss_curve(losses, origin, "memory losses", _("loss per answer"), SMOOTH)
    if job.result:
        row = read_results()[(job.subject.rule,), job.subject.has_repeats]
        here = zip(TESTED_COUNTS, job.result, strict=True)
        listed = " | ".join(write_percent(share) for _count, share in here)
        shipped = " | ".join(write_percent(row.average(count)) for count in TESTED_COUNTS)
        text("trained_here", here=listed, shipped=shipped, counts=COUNTED, seeds=len(SEEDS))


def name_training() -> dict[str, str]:
    """What a training reads and is asked for: for a text."""
    *some, most = map(str, COUNTS)
    lengths = _("{some} or {most}", some=", ".join(some), most=most)
    times = TESTED_COUNTS[-1] // COUNTS[-1]
    numbers = {"asked": ASKED, "times": times, "repeated": REPEATED, "seeds": len(SEEDS)}
    return {"lengths": lengths, **{name: f"{number}" for name, number in numbers.items()}}


def write_result_rows() -> str:
    """What each trained model finds, as rows of a table: new keys, then repeated ones."""
    results, rows = read_results(), []
    for rules in MODELS:
        if len(rules) > 1:
            continue
        for has_repeats in (False, True):
            row = results[rules, has_repeats]
            task = _(controls.trained_keys.options[has_repeats])
            shares = " | ".join(write_percent(row.average(count)) for count in TESTED_COUNTS)
            rows.append(f"| {_(NAMES[rules[0]])} | {task} | {shares} |")
    return "\n".join(rows)


def name_hybrids() -> dict[str, str]:
    """Three memory layers, and two with one of attention, at the most pairs: for a text."""
    results, most = read_results(), TESTED_COUNTS[-1]
    three, hybrid = (
        results[rules, False].average(most) for rules in ((FADE,) * 3, (FADE, FADE, SOFTMAX))
    )
    return {"three": write_percent(three), "hybrid": write_percent(hybrid), "pairs": f"{most}"}


MOST = TESTED_COUNTS[-1]
ANSWERS = N_("more than twice as many"), N_("about as many"), N_("less than half as many")
Results = dict[tuple[tuple[str, ...], bool], MemoryRow]
COMPARED = SUM, OVERWRITE, SOFTMAX


def average_share(found: Results, rule: str, has_repeats: bool) -> float:
    """Of a model of one layer, on the longest texts: the mean over the seeds."""
    return found[(rule,), has_repeats].average(MOST)


def answer_comparison(found: Results) -> str:
    """Among the answers: overwriting compared with sums, where all keys differ."""
    ratio = average_share(found, OVERWRITE, False) / average_share(found, SUM, False)
    return ANSWERS[0 if ratio > 2 else 2 if ratio < 0.5 else 1]


@fragment
def ask_trained(text: Prose) -> None:
    """Memories of both rules, asked first where all keys differ; then where keys come again."""
    found = read_results()
    named = {
        f"{rule}_{'again' if has_repeats else 'new'}": write_percent(
            average_share(found, rule, has_repeats)
        )
        for rule in COMPARED
        for has_repeats in (False, True)
    }
    counts = {"pairs": MOST, "dim": HEAD_DIM, "seeds": len(SEEDS), "repeated": REPEATED}
    named |= {name: f"{count}" for name, count in counts.items()}
    if not revealed(text, "overwriting", ANSWERS, answer_comparison(found), **named):
        return
    from explainers.charts.bars import draw_bars, make_amount_rows

    tasks = {False: N_("all keys differ"), True: N_("keys come again")}
    shares = [
        (
            _("{task}: {rule}", task=_(tasks[has_repeats]), rule=_(NAMES[rule])),
            round(100 * average_share(found, rule, has_repeats)),
        )
        for has_repeats in tasks
        for rule in COMPARED
    ]
    listed = ", ".join(f"{name} {share}" for name, share in shares)
    alt = _("Percent of the answers that are right: {listed}", listed=listed)
    origin = _("trained beforehand, seeds 0 to {last}, kept with the app", last=SEEDS[-1])
    title = _("right answers, %")
    rows = make_amount_rows(shares)
    show_chart(draw_bars, rows, alt, "trained memories", origin, length=len(rows), x_title=title)
    text("overwriting_seen", **named)


def show_training(text: Prose, seed: int) -> None:
    """A small layer that learns in seconds, beside what was trained beforehand."""
    named = name_training()
    text("trained", **named)
    with st.container(horizontal=True):
        rule, task = controls.trained_rule(), controls.trained_keys()
        request = MemoryRequest(RULE_OF_NAME[rule], TASKS[task], seed)
        label = _("Train it here: {steps} batches", steps=STEPS)
        icon = ":material/model_training:"
        job = offer_job(MEMORY_JOB, label, make_memory_job(request), icon=icon)
        if job:
            title = _(NAMES[job.subject.rule])
            watch_job(MEMORY_JOB, job, title, partial(_show, text, job), _describe)
    text("trained_before", rows=write_result_rows(), counts=COUNTED, **named)
