"""Train it here: the shown configuration learns in front of the reader; loss, heads and quality."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import mean

import streamlit as st

from explainers.attention import masks
from explainers.chapters.common.background_job import offer_job, watch_job
from explainers.charts.matrix import blank_forbidden, make_pair_matrix
from explainers.messages import N_, ngettext
from explainers.toys import training
from explainers.toys.grammar import find_language
from explainers.toys.layers import MASK_TITLES, Configuration, Layer, TrainedHeads
from explainers.translations import _
from explainers.ui.figure.chart import show_chart, tabulate
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, Slider, orient_panels
from explainers.ui.page import has_queries_down
from explainers.ui.provenance import learned_numbers
from explainers.ui.session import TRAINING_FRAME, TRAINING_JOB
from explainers.ui.text.numbers import write_percent

MOST_POINTS = 60
_test_learned = lru_cache(maxsize=8)(training.measure_heads)


def describe_batches(job: training.TrainingJob) -> str:
    """How far it is: a server's first training waits for its sentences, and that is no batch 0."""
    losses = training.list_losses(job)
    if job.state == "running" and not losses:
        return _("writing {count:,} sentences to learn from", count=training.POOL_SENTENCES)
    done = _("batch {number} of {steps}", number=len(losses), steps=job.total - 1)
    if not losses or len(job.reports[-1].losses) > 1:  # of two losses, the curve tells
        return done
    return _("{done}, loss {loss:.2f}", done=done, loss=losses[-1])


def compare_with_shipped(configuration: Configuration, learned: TrainedHeads) -> str:
    """What was learned here beside what the shipped layers learned, on the same sentences."""
    row = _test_learned(configuration, (learned,))
    shipped = training.read_report(find_language(learned.words))[configuration]
    return _(
        "On sentences that it never saw, **this layer's loss is {loss:.2f} per word**, and "
        "it is right about {right} of the words. The layers trained beforehand in the same "
        "way, with the seeds 0 to {last}: loss {others}, right about {others_right}.",
        loss=row.loss[0],
        right=write_percent(row.accuracy[0]),
        last=len(shipped.loss) - 1,
        others=training.format_mean_and_spread(shipped.loss),
        others_right=write_percent(mean(shipped.accuracy)),
    )


def show_loss_curve(losses: list[float], origin: str, key: str, title: str, size: int) -> None:
    """A point for each `size` batches, their mean; `title` says what the loss is of."""
    alt = _(
        "The loss after {count} batches: it began at {first:.1f}, now {last:.2f}.",
        count=len(losses),
        first=losses[0],
        last=losses[-1],
    )
    show_loss_curves({_("loss"): losses}, alt, origin, key, title, size)


def show_loss_curves(
    curves: Mapping[str, Sequence[float]],
    alt: str,
    origin: str,
    key: str,
    title: str,
    size: int = 1,
    levels: Mapping[str, tuple[float, int]] | None = None,
) -> None:
    """Several trainings; each of `levels` is a loss to compare with, up to a number of batches."""
    from explainers.charts.curves import Axis, draw_curve

    levels = levels or {}
    points = [
        (place + size, sum(losses[place : place + size]) / size, name, False)
        for name, losses in curves.items()
        for place in range(0, len(losses) - size + 1, size)
    ]
    points += [
        (batch, loss, name, True) for name, (loss, last) in levels.items() for batch in (1, last)
    ]
    rows = tabulate(points, ["x", "y", "series", "reference"])
    axes = {"x": Axis(_("batch")), "y": Axis(title)}
    show_chart(draw_curve, rows, alt, key, origin, series=(*curves, *levels), **axes)


def show_heads(job: training.TrainingJob, is_over: bool, origin: str) -> None:
    """The heads as they are now; afterwards a slider leads from diffuse to sharp."""
    snapshots = training.list_snapshots(job)
    last = len(snapshots) - 1
    moved, place = st.session_state.get(TRAINING_FRAME, (None, last))
    if moved is not job or not is_over:  # the slider was moved for another training
        place = last
    labels = [_("after {count} batches", count=snapshot.step) for snapshot in snapshots]
    panels = []
    rule, length = masks.RULES[job.subject.configuration.rule], len(job.subject.tokens)
    allowed = masks.build(rule, length, length).tolist()
    for head in range(job.subject.configuration.num_heads):
        frames = tuple(blank_forbidden(one.weights[head], allowed) for one in snapshots)
        formula = N_("every row sums to 1") if is_over else labels[last]
        name = _("head {number}", number=head)
        matrix = make_pair_matrix(name, formula, frames[place], job.subject.tokens, "weights")
        panels.append(Panel(f"head {head}", matrix, frames=frames if is_over else ()))

    def move(place: int) -> None:
        st.session_state[TRAINING_FRAME] = job, place

    slider = Slider(_("From diffuse to sharp"), labels, place, move) if is_over else None
    alt = _(
        "The weights of every head {when}: diffuse at first, sharp in the end.", when=labels[place]
    )
    show_figure(
        Figure(orient_panels(panels, has_queries_down()), alt, slider=slider), origin, "live heads"
    )


def train_here(layer: Layer, seed: int) -> None:
    """A button, and what training such heads comes to while one looks on."""
    heads = layer.heads
    sizes = heads.num_heads, heads.num_kv_heads, heads.head_dim
    configuration = Configuration(*sizes, layer.rule)
    job = offer_job(
        TRAINING_JOB,
        _("Train it here"),
        training.make_training_job(training.TrainingRequest(configuration, seed, layer.tokens)),
        icon=":material/model_training:",
        help=_(
            "Watch the same heads learn the task, from random weights, in a few seconds: they go "
            "from diffuse to sharp, and the loss falls."
        ),
    )
    if not job:
        return

    def show() -> None:
        is_over, losses = job.is_over, training.list_losses(job)
        if job.result:
            st.markdown(compare_with_shipped(job.subject.configuration, job.result[0]))
        # How many batches it were stands at the bar and in each picture: they count differently.
        origin = learned_numbers(_("related words, {what}", what=describe_heads(job)))
        if losses:
            size = max(1, len(losses) // MOST_POINTS)
            show_loss_curve(losses, origin, "losses", _("loss per word"), size)
        if job.reports:
            show_heads(job, is_over, origin)

    watch_job(TRAINING_JOB, job, describe_heads(job), show, describe_batches)


def describe_heads(job: training.TrainingJob) -> str:
    heads, shared, head_dim, rule = job.subject.configuration
    return _(
        "{heads}, {shared}, d_k {head_dim}, mask {mask}, seed {seed}",
        heads=_(ngettext("{count:,} query head", "{count:,} query heads", heads)),
        shared=_(ngettext("{count:,} KV head", "{count:,} KV heads", shared)),
        head_dim=head_dim,
        mask=_(MASK_TITLES[rule]),
        seed=job.subject.seed,
    )
