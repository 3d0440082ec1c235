"""From trained heads to shared ones: average, see what it costs, and train a little more."""

from functools import partial

import streamlit as st

from explainers import trained
from explainers.lessons.shared_heads.averaging import TESTS, Examined, averaged, compared, examined
from explainers.lessons.toy_choice import not_among
from explainers.lessons.training_pictures import batches
from explainers.lessons.watched import show_refused, start, watch
from explainers.lessons.wording import so_many
from explainers.trained import Configuration
from explainers.training.live import Asked, Job
from explainers.ui.language import said
from explainers.ui.picture import show_chart
from explainers.ui.prose import Prose
from explainers.ui.provenance import learned_live

JOB = "uptraining of this visitor"
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
    rule = own.rule if own.rule in trained.RULES else trained.RULES[0]
    instead = not_among("mask", own.rule, rule, trained.RULES)
    instead += not_among("seed", seed, trained.shipped_seed(seed), trained.SEEDS)
    if instead:
        st.caption(" ".join(instead))
    own, seed = own._replace(rule=rule), trained.shipped_seed(seed)
    before, after, untrained, from_start = compared(own, num_kv_heads, seed)
    verdict = "worse" if after.loss > untrained.loss else "better"
    text(
        "averaged",
        before=f"{before.loss:.3f}",
        after=f"{after.loss:.3f}",
        untrained=f"{untrained.loss:.3f}",
        from_start=f"{from_start.loss:.3f}",
        kv_heads=so_many(num_kv_heads, "KV head"),
    )
    text(
        f"averaged_{verdict}",
        gap=f"{abs(after.loss - untrained.loss):.2f}",
        wrong=f"{after.wrong:.2f}",
        untrained_wrong=f"{untrained.wrong:.2f}",
    )
    shared = own._replace(num_kv_heads=num_kv_heads)
    job: Job | None = st.session_state.get(JOB)
    if job and (job.configuration, job.seed) != (shared, seed):
        job.cancel()
        job = None
    if job is None or job.is_over:
        label = said(
            "Train the averaged heads, and beside them random ones: {steps} batches", steps=STEPS
        )
        asked = own, num_kv_heads, seed, tokens
        st.button(label, on_click=_start, args=asked, icon=":material/model_training:")
    show_refused(JOB)
    if job:
        show = partial(_show, text, job, before, after)
        watch(JOB, job, said("averaged and random heads"), partial(batches, job), show)


def _start(own: Configuration, num_kv_heads: int, seed: int, tokens: tuple[str, ...]) -> None:
    asked = Asked(own._replace(num_kv_heads=num_kv_heads), seed, tokens)
    start(JOB, asked, lambda: Job(*asked, STEPS, averaged(own, num_kv_heads, seed)))


def _show(text: Prose, job: Job, before: Examined, after: Examined) -> None:
    done = len(job.losses)
    if done:
        _show_losses(job, done, before.loss)
    if job.learned and job.learned_beside:
        rule = job.configuration.rule
        now, beside = (examined(one, rule) for one in (job.learned, job.learned_beside))
        text(
            "uptrained",
            steps=job.steps,
            after=f"{after.loss:.2f}",
            now=f"{now.loss:.2f}",
            beside=f"{beside.loss:.2f}",
        )


def _show_losses(job: Job, done: int, before: float) -> None:
    import pandas as pd

    from explainers.charts.curve import Axis, curve  # a page is there before it needs altair

    series = (
        said("from averaged heads: training batches"),
        said("from random weights: training batches"),
        said("MHA, before averaging: unseen sentences"),
    )
    both = dict(zip(series, (job.losses[:done], job.losses_beside[:done]), strict=False))
    points = [
        (step, loss, name, False)
        for name, losses in both.items()
        for step, loss in enumerate(losses, start=1)
    ]
    points += [(step, before, series[-1], True) for step in (1, job.steps)]
    rows = pd.DataFrame(points, columns=["x", "y", "series", "reference"])
    now = ", ".join(f"{name} {losses[-1]:.2f}" for name, losses in both.items())
    alt = said(
        "The loss after {done} batches, which are the same for both: {now}.", done=done, now=now
    )
    what = said(
        "related words, seed {seed}, {done} batches, the same for both", seed=job.seed, done=done
    )
    axes = {"x": Axis(said("batch")), "y": Axis(said("loss per word"))}
    show_chart(curve, rows, alt, "uptraining", learned_live(what), series=series, **axes)
