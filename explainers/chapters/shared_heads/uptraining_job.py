"""From trained heads to shared ones: average, see what it costs, and train a little more."""

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
from explainers.ui import page
from explainers.ui.figure.chart import show_chart
from explainers.ui.page import Prose
from explainers.ui.prediction import revealed
from explainers.ui.provenance import learned_numbers
from explainers.ui.session import UPTRAINING_JOB
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment

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
    def is_worse(self) -> bool:
        """Are the averages worse than a layer that has learned nothing?"""
        return self.after.loss > self.untrained.loss

    @property
    def numbers(self) -> dict[str, str]:
        """All losses, and the wrong words that averages and an untrained layer name, for a text."""
        losses = {name: getattr(self, name).loss for name in LAYERS}
        return {
            **{name: f"{loss:.3f}" for name, loss in losses.items()},
            "kv_heads": _(ngettext("{count:,} KV head", "{count:,} KV heads", self.num_kv_heads)),
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
LAYERS = {
    "before": N_("trained, a KV head each"),
    "from_start": N_("trained, one KV head from the start"),
    "untrained": N_("untrained"),
    "after": N_("the trained heads, averaged to one KV head"),
}


@fragment
def ask_averaged(text: Prose, num_heads: int, tokens: tuple[str, ...]) -> None:
    """What is left of trained heads that share the average of keys and values, asked first; then a
    bar for each of four layers."""
    found = average_nearest_heads(num_heads, 1, 0, tokens)
    middle = (found.before.loss + found.untrained.loss) / 2
    answer = ANSWERS[2 if found.is_worse else 0 if found.after.loss < middle / 4 else 1]
    named = {**found.numbers, "heads": f"{num_heads}"}
    if not revealed(text, "averaged", ANSWERS, answer, **named):
        return
    from explainers.charts.bars import draw_bars, make_amount_rows

    losses = [(_(told), round(getattr(found, name).loss, 3)) for name, told in LAYERS.items()]
    listed = ", ".join(f"{name} {loss}" for name, loss in losses)
    alt = _("The loss of four layers: {listed}", listed=listed)
    origin = learned_numbers(_("related words, seed {seed}", seed=found.seed))
    rows = make_amount_rows(losses)
    title = _("loss on unseen sentences")
    show_chart(draw_bars, rows, alt, "averaged", origin, length=len(losses), x_title=title)
    text("averaged_seen", **named)
    show_source(average_kv_heads)


def show_uptraining(text: Prose, tokens: tuple[str, ...], heads: int, kv_heads: int) -> None:
    """Averaged heads, and on request a little training of them, in a thread of its own."""
    text("uptraining", tests=TESTS)
    if kv_heads == heads:
        text("nobody_to_share_with" if heads == 1 else "nothing_to_average")
        return
    found = average_nearest_heads(heads, kv_heads, page.read_seed(), tokens)
    if found.notes:
        st.caption(" ".join(found.notes))
    text("averaged", **found.numbers)
    text("averaged_worse" if found.is_worse else "averaged_better", **found.numbers)
    own, seed, language = found.own, found.seed, find_language(tokens)
    configuration = own._replace(num_kv_heads=found.num_kv_heads)

    def uptrain(job: training.TrainingJob) -> tuple[TrainedHeads, ...]:
        begin = average_shipped_heads(own, found.num_kv_heads, seed, language)
        return training.train_in_steps(job, STEPS, begin)

    job: training.TrainingJob | None = st.session_state.get(UPTRAINING_JOB)
    # What its numbers depend on: of the text, the language.
    if job and (*job.subject[:2], find_language(job.subject.tokens)) != (
        configuration,
        seed,
        language,
    ):
        job.cancel()
        job = None
    if job is None or job.is_over:
        label = _(
            "Train the averaged heads, and beside them untrained ones: {steps} batches", steps=STEPS
        )
        request = training.TrainingRequest(configuration, seed, tokens)
        start = UPTRAINING_JOB, Job(request, uptrain, STEPS + 1)
        st.button(label, on_click=start_job, args=start, icon=":material/model_training:")
    show_refusal(UPTRAINING_JOB)
    if job:
        show = partial(_show, job, found, text)
        title = _("averaged and untrained heads")
        watch_job(UPTRAINING_JOB, job, title, show, describe_batches)


def _show(job: training.TrainingJob, found: AveragingResult, text: Prose) -> None:
    """Both curves so far; in the end, what came of it."""
    if averages := training.list_losses(job):
        done = len(averages)
        both = {
            _("from averaged heads: training batches"): averages,
            _("from random weights: training batches"): training.list_losses(job, 1)[:done],
        }
        level = {_("MHA, before averaging: unseen sentences"): (found.before.loss, STEPS)}
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
    if job.result:
        losses = [measure_held_out(learned, found.own.rule).loss for learned in job.result]
        now, beside, after = (f"{loss:.2f}" for loss in (*losses, found.after.loss))
        text("uptrained", steps=STEPS, after=after, now=now, beside=beside)
