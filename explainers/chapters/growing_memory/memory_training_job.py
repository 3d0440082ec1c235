"""Train a memory here: in seconds, in the background, on pairs with new or with repeated keys."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from explainers.chapters.common.background_job import offer_job, watch_job
from explainers.chapters.common.live_training import show_loss_curve
from explainers.job_queue import Job
from explainers.toys.pair_memory import (
    ASKED,
    COUNTS,
    FADE,
    REPEATED,
    RULES,
    SOFTMAX,
    STEPS,
    measure_memory,
    train_memory,
)
from explainers.toys.pair_results import MODELS, SEEDS, TESTED_COUNTS, read_results
from explainers.translations import _
from explainers.ui.controls import page_controls
from explainers.ui.provenance import learned_numbers
from explainers.ui.session import MEMORY_JOB
from explainers.ui.text.numbers import write_percent

RULE_OF_NAME = dict(zip(page_controls.RULE_NAMES, RULES, strict=True))
TASKS = dict(zip(page_controls.trained_keys.options, (False, True), strict=True))
"""Whether keys are repeated."""
NAMES = {rule: name for name, rule in RULE_OF_NAME.items()}
EACH, SMOOTH = 5, 10
"""Batches of one report, and of one point of the curve."""


class MemoryRequest(NamedTuple):
    """What is to be trained."""

    rule: str
    has_repeats: bool
    seed: int


MemoryJob = Job[MemoryRequest, list[float], list[float]]
"""Reports losses, and results in the share of right answers for each number of pairs."""


def make_memory_job(request: MemoryRequest, steps: int = STEPS) -> MemoryJob:
    """One layer that learns on its own pairs, and is tested in the end."""

    def train(job: MemoryJob) -> list[float]:
        trained, losses = None, []
        for memory, loss in train_memory([request.rule], request.has_repeats, request.seed, steps):
            trained = memory
            losses.append(loss)
            if len(losses) == EACH:
                job.report(losses)
                losses = []
        return measure_memory(trained, TESTED_COUNTS, request.has_repeats) if trained else []

    return Job(request, train, steps // EACH)


def offer_training(seed: int, tell: Callable[..., None]) -> None:
    """The choices, a button, and what came of it; `tell` says it in the page's words."""
    rule, task = page_controls.trained_rule(), page_controls.trained_keys()
    request = MemoryRequest(RULE_OF_NAME[rule], TASKS[task], seed)
    label = _("Train it here: {steps} batches", steps=STEPS)
    icon = ":material/model_training:"
    job = offer_job(MEMORY_JOB, label, make_memory_job(request), icon=icon)
    if job:
        title = _(NAMES[job.subject.rule])
        watch_job(MEMORY_JOB, job, title, partial(_show, job, tell), _describe)


def _describe(job: MemoryJob) -> str:
    return _("batch {number} of {steps}", number=EACH * len(job.reports), steps=EACH * job.total)


def _show(job: MemoryJob, tell: Callable[..., None]) -> None:
    """The loss so far; in the end, what it finds beside what was found beforehand."""
    losses = [loss for report in list(job.reports) for loss in report]
    if losses:
        _show_losses(losses, job.subject)
    if job.result:
        row = read_results()[(job.subject.rule,), job.subject.has_repeats]
        here = zip(TESTED_COUNTS, job.result, strict=True)
        listed = " | ".join(write_percent(share) for _count, share in here)
        shipped = " | ".join(write_percent(row.average(count)) for count in TESTED_COUNTS)
        tell(here=listed, shipped=shipped, counts=write_counts(), seeds=len(SEEDS))


def _show_losses(losses: list[float], request: MemoryRequest) -> None:
    origin = learned_numbers(_("pairs of a key and a value, seed {seed}", seed=request.seed))
    show_loss_curve(losses, origin, "memory losses", _("loss per answer"), SMOOTH)


def name_training() -> dict[str, str]:
    """What a training reads and is asked for: for a text."""
    *some, most = map(str, COUNTS)
    lengths = _("{some} or {most}", some=", ".join(some), most=most)
    times = TESTED_COUNTS[-1] // COUNTS[-1]
    numbers = {"asked": ASKED, "times": times, "repeated": REPEATED, "seeds": len(SEEDS)}
    return {"lengths": lengths, **{name: f"{number}" for name, number in numbers.items()}}


def write_counts() -> str:
    """The numbers of pairs, as the head of a table."""
    return " | ".join(map(str, TESTED_COUNTS))


def write_result_rows() -> str:
    """What each trained model finds, as rows of a table: new keys, then repeated ones."""
    results, rows = read_results(), []
    for rules in MODELS:
        if len(rules) > 1:
            continue
        for has_repeats in (False, True):
            row = results[rules, has_repeats]
            task = _(page_controls.trained_keys.options[has_repeats])
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
