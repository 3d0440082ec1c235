"""From trained heads to shared ones: average, see what it costs, and train a little more."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import streamlit as st
import torch

from explainers.attention.grouped_query import average_kv_heads
from explainers.chapters.common.background_job import show_refusal, start_job, watch_job
from explainers.chapters.common.choose_layer import describe_missing
from explainers.chapters.common.live_training import describe_batches, show_loss_curves
from explainers.job_queue import Job
from explainers.messages import N_, ngettext
from explainers.toys import layers, training
from explainers.toys.grammar import find_language
from explainers.toys.layers import Configuration, TrainedHeads
from explainers.toys.training import Batch, make_task
from explainers.translations import _
from explainers.ui.figure.chart import show_chart
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
    known = move_to_cpu(layers.load_heads(own, seed, language), own)
    return replace(known, layer=average_kv_heads(known.layer, num_kv_heads))


def move_to_cpu(known: TrainedHeads, own: Configuration) -> TrainedHeads:
    """Where training runs, whatever the pages' device is."""
    return TrainedHeads.from_parts(
        known.words, (part.cpu() for part in training.list_parts(known)), own.head_dim
    )


@torch.no_grad()
def measure_held_out(known: TrainedHeads, rule: str) -> HeldOutResult:
    """How a layer does on sentences that training never sees."""
    task = make_task(
        Batch(*(part[:TESTS] for part in training.draw_pool(True, find_language(known.words)))),
        rule,
    )
    named = known.score_words(training.attend(known, task.words, task.mask).output) > 0
    wrong = (named & (task.targets == 0)).sum(dim=-1) * task.is_real
    return HeldOutResult(
        training.compute_mean_loss(known, task).item(), (wrong.sum() / task.is_real.sum()).item()
    )


@st.cache_data(show_spinner=False, max_entries=200)
def compare_sharing(
    own: Configuration, num_kv_heads: int, seed: int, language: str = "en"
) -> tuple[HeldOutResult, ...]:
    """Keys and values of each head's own; and shared: averaged, random, trained from the start."""
    known = move_to_cpu(layers.load_heads(own, seed, language), own)
    shared = own._replace(num_kv_heads=num_kv_heads)
    at_random = TrainedHeads.from_parts(
        known.words, training.draw_parts(shared, seed), own.head_dim
    )
    from_start = move_to_cpu(layers.load_heads(shared, seed, language), shared)
    averaged = average_shipped_heads(own, num_kv_heads, seed, language)
    some = known, averaged, at_random, from_start
    return tuple(measure_held_out(one, own.rule) for one in some)


STEPS = 100
"""A sixth of what the heads were trained with from the start."""


class AveragingResult(NamedTuple):
    """Trained heads whose keys and values were averaged, and what they are compared with."""

    own: Configuration
    """Of the heads before that; of a seed that was trained."""
    num_kv_heads: int
    seed: int
    notes: list[str]
    """What is shown instead of what was chosen."""
    before: HeldOutResult
    after: HeldOutResult
    untrained: HeldOutResult
    from_start: HeldOutResult

    @property
    def verdict(self) -> str:
        """Are the averages better than a layer that has learned nothing?"""
        return "worse" if self.after.loss > self.untrained.loss else "better"

    def name_losses(self) -> dict[str, str]:
        """All losses, for a text."""
        return {
            "before": f"{self.before.loss:.3f}",
            "after": f"{self.after.loss:.3f}",
            "untrained": f"{self.untrained.loss:.3f}",
            "from_start": f"{self.from_start.loss:.3f}",
            "kv_heads": _(ngettext("{count:,} KV head", "{count:,} KV heads", self.num_kv_heads)),
        }

    def name_wrong_words(self) -> dict[str, str]:
        """How far the averages are from an untrained layer, and what both name, for a text."""
        return {
            "gap": f"{abs(self.after.loss - self.untrained.loss):.2f}",
            "wrong": f"{self.after.wrong:.2f}",
            "untrained_wrong": f"{self.untrained.wrong:.2f}",
        }


def average_nearest_heads(
    num_heads: int, num_kv_heads: int, seed: int, tokens: tuple[str, ...]
) -> AveragingResult:
    """The shipped heads nearest to what is chosen, averaged and measured."""
    shown = layers.choose_shipped_seed(seed)
    own = Configuration(num_heads, num_heads, layers.D_MODEL // num_heads, "full")
    found = compare_sharing(own, num_kv_heads, shown, find_language(tokens))
    notes = describe_missing(seed, shown, layers.SEEDS)
    return AveragingResult(own, num_kv_heads, shown, notes, *found)


ANSWERS = (N_("almost as good as before"), N_("in between"), N_("worse than the untrained layer"))


def answer_averaging(found: AveragingResult) -> str:
    """Among the answers: what is left of trained heads that were averaged."""
    if found.verdict == "worse":
        return ANSWERS[2]
    middle = (found.before.loss + found.untrained.loss) / 2
    return ANSWERS[0 if found.after.loss < middle / 4 else 1]


def show_losses_of_averages(found: AveragingResult) -> None:
    """A bar for each of the four layers."""
    from explainers.charts.bars import draw_bars, make_amount_rows

    names = (
        _("trained, a KV head each"),
        _("trained, one KV head from the start"),
        _("untrained"),
        _("the trained heads, averaged to one KV head"),
    )
    some = found.before, found.from_start, found.untrained, found.after
    losses = [(name, round(one.loss, 3)) for name, one in zip(names, some, strict=True)]
    alt = _(
        "The loss of four layers: {listed}", listed=", ".join(f"{n} {loss}" for n, loss in losses)
    )
    origin = learned_numbers(_("related words, seed {seed}", seed=found.seed))
    rows = make_amount_rows(losses)
    title = _("loss on unseen sentences")
    show_chart(draw_bars, rows, alt, "averaged", origin, length=len(losses), x_title=title)


def offer_uptraining(
    found: AveragingResult, tokens: tuple[str, ...], tell: Callable[..., None]
) -> None:
    """On request a little training, in a thread of its own; `tell` says what came of it."""
    own, seed = found.own, found.seed
    request = training.TrainingRequest(own._replace(num_kv_heads=found.num_kv_heads), seed, tokens)
    job: training.TrainingJob | None = st.session_state.get(UPTRAINING_JOB)
    if job and _describe_subject(job.subject) != _describe_subject(request):
        job.cancel()
        job = None
    if job is None or job.is_over:
        label = _(
            "Train the averaged heads, and beside them untrained ones: {steps} batches", steps=STEPS
        )
        start = UPTRAINING_JOB, make_uptraining_job(request, own)
        st.button(label, on_click=start_job, args=start, icon=":material/model_training:")
    show_refusal(UPTRAINING_JOB)
    if job:
        show = partial(_show, job, found, tell)
        title = _("averaged and untrained heads")
        watch_job(UPTRAINING_JOB, job, title, show, describe_batches)


def _describe_subject(request: training.TrainingRequest) -> tuple[Configuration, int, str]:
    """What the job's numbers depend on: of the text, its language."""
    return request.configuration, request.seed, find_language(request.tokens)


def make_uptraining_job(
    request: training.TrainingRequest, own: Configuration
) -> training.TrainingJob:
    """The averaged heads of a configuration train on."""

    def uptrain(job: training.TrainingJob) -> tuple[TrainedHeads, ...]:
        num_kv_heads, language = request.configuration.num_kv_heads, find_language(request.tokens)
        begin = average_shipped_heads(own, num_kv_heads, request.seed, language)
        return training.train_in_steps(job, STEPS, begin)

    return Job(request, uptrain, STEPS + 1)


def _show(job: training.TrainingJob, found: AveragingResult, tell: Callable[..., None]) -> None:
    if training.list_losses(job):
        _show_losses(job, found.before.loss)
    if job.result:
        now, beside = (
            measure_held_out(learned, job.subject.configuration.rule) for learned in job.result
        )
        tell(
            steps=STEPS,
            after=f"{found.after.loss:.2f}",
            now=f"{now.loss:.2f}",
            beside=f"{beside.loss:.2f}",
        )


def _show_losses(job: training.TrainingJob, before: float) -> None:
    averages = training.list_losses(job)
    done = len(averages)
    both = {
        _("from averaged heads: training batches"): averages,
        _("from random weights: training batches"): training.list_losses(job, 1)[:done],
    }
    level = {_("MHA, before averaging: unseen sentences"): (before, STEPS)}
    now = ", ".join(f"{name} {losses[-1]:.2f}" for name, losses in both.items())
    alt = _(
        "The loss after {done} batches, which are the same for both: {now}.", done=done, now=now
    )
    what = _(
        "related words, seed {seed}, {done} batches, the same for both",
        seed=job.subject.seed,
        done=done,
    )
    origin, title = learned_numbers(what), _("loss per word")
    show_loss_curves(both, alt, origin, "uptraining", title, levels=level)
