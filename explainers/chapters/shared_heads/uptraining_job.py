"""From trained heads to shared ones: average, see what it costs, and train a little more."""

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import streamlit as st
import torch

from explainers.attention.grouped_query import average_kv_heads
from explainers.chapters.common.background_job import show_refusal, start_job, watch_job
from explainers.chapters.common.choose_layer import mask_not_among, not_among
from explainers.chapters.common.live_training import describe_batches
from explainers.job_queue import Job
from explainers.messages import ngettext
from explainers.toys import layers
from explainers.toys.grammar import find_language
from explainers.toys.layers import Configuration, TrainedHeads
from explainers.toys.task import Batch, make_task
from explainers.toys.training import (
    TrainingJob,
    TrainingRequest,
    attend,
    compute_mean_loss,
    draw_parts,
    draw_pool,
    list_losses,
    list_parts,
    train_in_steps,
)
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
from explainers.ui.page import Prose
from explainers.ui.provenance import learned_numbers
from explainers.ui.session import UPTRAINING_JOB

TESTS = 250
"""A quarter of the held-out sentences: the page waits for them."""


class HeldOutResult(NamedTuple):
    """The loss, and how many words a word names although they are not asked for."""

    loss: float
    wrong: float


def average_shipped_heads(
    own: Configuration, num_kv_heads: int, seed: int, language: str = "en"
) -> TrainedHeads:
    """The shipped heads of a configuration, with keys and values averaged in groups."""
    known = on_cpu(layers.load_heads(own, seed, language), own)
    return replace(known, layer=average_kv_heads(known.layer, num_kv_heads))


def on_cpu(known: TrainedHeads, own: Configuration) -> TrainedHeads:
    """Where training runs, whatever the pages' device is."""
    return TrainedHeads.from_parts(
        known.words, (part.cpu() for part in list_parts(known)), own.head_dim
    )


@torch.no_grad()
def measure_held_out(known: TrainedHeads, rule: str) -> HeldOutResult:
    """How a layer does on sentences that training never sees."""
    task = make_task(
        Batch(*(part[:TESTS] for part in draw_pool(True, find_language(known.words)))), rule
    )
    named = known.score_words(attend(known, task.words, task.mask).output) > 0
    wrong = (named & (task.targets == 0)).sum(dim=-1) * task.is_real
    return HeldOutResult(
        compute_mean_loss(known, task).item(), (wrong.sum() / task.is_real.sum()).item()
    )


@st.cache_data(show_spinner=False, max_entries=200)
def compare_sharing(
    own: Configuration, num_kv_heads: int, seed: int, language: str = "en"
) -> tuple[HeldOutResult, ...]:
    """Keys and values of each head's own; and shared: averaged, random, trained from the start."""
    known = on_cpu(layers.load_heads(own, seed, language), own)
    shared = own._replace(num_kv_heads=num_kv_heads)
    at_random = TrainedHeads.from_parts(known.words, draw_parts(shared, seed), own.head_dim)
    from_start = on_cpu(layers.load_heads(shared, seed, language), shared)
    averaged = average_shipped_heads(own, num_kv_heads, seed, language)
    some = known, averaged, at_random, from_start
    return tuple(measure_held_out(one, own.rule) for one in some)


STEPS = 100
"""A sixth of what the heads were trained with from the start."""


def show_uptraining(
    text: Prose, own: Configuration, num_kv_heads: int, seed: int, tokens: tuple[str, ...]
) -> None:
    """What averaging costs at once; on request, a little training, in a thread of its own."""
    text("uptraining", tests=TESTS)
    if num_kv_heads == own.num_heads:
        if own.num_heads == 1:
            text("nobody_to_share_with")
        else:
            text("nothing_to_average")
        return
    rule = own.rule if own.rule in layers.MASK_NAMES else layers.MASK_NAMES[0]
    instead = mask_not_among(own.rule, rule)
    instead += not_among("seed", seed, layers.choose_shipped_seed(seed), layers.SEEDS)
    if instead:
        st.caption(" ".join(instead))
    own, seed = own._replace(rule=rule), layers.choose_shipped_seed(seed)
    before, after, untrained, from_start = compare_sharing(
        own, num_kv_heads, seed, find_language(tokens)
    )
    verdict = "worse" if after.loss > untrained.loss else "better"
    text(
        "averaged",
        before=f"{before.loss:.3f}",
        after=f"{after.loss:.3f}",
        untrained=f"{untrained.loss:.3f}",
        from_start=f"{from_start.loss:.3f}",
        kv_heads=_(ngettext("{count:,} KV head", "{count:,} KV heads", num_kv_heads)),
    )
    text(
        f"averaged_{verdict}",
        gap=f"{abs(after.loss - untrained.loss):.2f}",
        wrong=f"{after.wrong:.2f}",
        untrained_wrong=f"{untrained.wrong:.2f}",
    )
    request = TrainingRequest(own._replace(num_kv_heads=num_kv_heads), seed, tokens)
    job: TrainingJob | None = st.session_state.get(UPTRAINING_JOB)
    if job and _describe_subject(job.subject) != _describe_subject(request):
        job.cancel()
        job = None
    if job is None or job.is_over:
        label = _(
            "Train the averaged heads, and beside them random ones: {steps} batches", steps=STEPS
        )
        start = UPTRAINING_JOB, make_uptraining_job(request, own)
        st.button(label, on_click=start_job, args=start, icon=":material/model_training:")
    show_refusal(UPTRAINING_JOB)
    if job:
        show = partial(_show, text, job, before, after)
        title = _("averaged and random heads")
        watch_job(UPTRAINING_JOB, job, title, show, describe_batches)


def _describe_subject(request: TrainingRequest) -> tuple[Configuration, int, str]:
    """What the job's numbers depend on: of the text, its language."""
    return request.configuration, request.seed, find_language(request.tokens)


def make_uptraining_job(request: TrainingRequest, own: Configuration) -> TrainingJob:
    """The averaged heads of a configuration train on."""

    def uptrain(job: TrainingJob) -> tuple[TrainedHeads, ...]:
        num_kv_heads, language = request.configuration.num_kv_heads, find_language(request.tokens)
        begin = average_shipped_heads(own, num_kv_heads, request.seed, language)
        return train_in_steps(job, STEPS, begin)

    return Job(request, uptrain, STEPS + 1)


def _show(text: Prose, job: TrainingJob, before: HeldOutResult, after: HeldOutResult) -> None:
    if list_losses(job):
        _show_losses(job, before.loss)
    if job.result:
        now, beside = (
            measure_held_out(learned, job.subject.configuration.rule) for learned in job.result
        )
        text(
            "uptrained",
            steps=STEPS,
            after=f"{after.loss:.2f}",
            now=f"{now.loss:.2f}",
            beside=f"{beside.loss:.2f}",
        )


def _show_losses(job: TrainingJob, before: float) -> None:
    import pandas as pd

    from explainers.charts.curves import Axis, draw_curve

    series = (
        _("from averaged heads: training batches"),
        _("from random weights: training batches"),
        _("MHA, before averaging: unseen sentences"),
    )
    averages = list_losses(job)
    done = len(averages)
    both = dict(zip(series, (averages, list_losses(job, 1)[:done]), strict=False))
    points = [
        (step, loss, name, False)
        for name, losses in both.items()
        for step, loss in enumerate(losses, start=1)
    ]
    points += [(step, before, series[-1], True) for step in (1, STEPS)]
    rows = pd.DataFrame(points, columns=["x", "y", "series", "reference"])
    now = ", ".join(f"{name} {losses[-1]:.2f}" for name, losses in both.items())
    alt = _(
        "The loss after {done} batches, which are the same for both: {now}.", done=done, now=now
    )
    what = _(
        "related words, seed {seed}, {done} batches, the same for both",
        seed=job.subject.seed,
        done=done,
    )
    axes = {"x": Axis(_("batch")), "y": Axis(_("loss per word"))}
    show_chart(draw_curve, rows, alt, "uptraining", learned_numbers(what), series=series, **axes)
