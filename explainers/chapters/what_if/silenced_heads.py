"""The demonstration: without a few heads a model cannot repeat, and reads prose as before."""

from typing import TYPE_CHECKING

import streamlit as st

from explainers.chapters.common.background_job import (
    show_problem,
    show_refusal,
    start_job,
    watch_job,
)
from explainers.chapters.common.recording import describe_live_run
from explainers.chapters.what_if.choose_changes import names_of
from explainers.messages import N_
from explainers.models.ablation import (
    Ablation,
    AblationJob,
    AblationRequest,
    draw_control_heads,
    group_heads_by_role,
    make_ablation_job,
    measure_ablation,
    recall_readings,
)
from explainers.models.changes import AblatedHeads
from explainers.models.probes import NUM_TEXTS, REPEATED_LENGTH
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import show_chart
from explainers.ui.page import Prose
from explainers.ui.page_parts.veil import ask_veiled
from explainers.ui.session import ABLATION_JOB
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel


WHOLE, WITHOUT = N_("all heads"), N_("induction heads off")
CONTROL = N_("others off")
SERIES = WHOLE, WITHOUT, CONTROL
SECOND, PROSE = N_("the second copy"), N_("prose")
BOTH, NEITHER = N_("both"), N_("neither")
FELT = 1.0
"""A loss that rises by more nats than this has suffered."""


def show_silencing(text: Prose, loaded: "RealModel", seed: int) -> None:
    """Find the heads, switch them off, read again: what one visitor waits for all others see."""
    text("silencing", length=REPEATED_LENGTH, texts=NUM_TEXTS)
    if not controls.silence_induction():
        if job := st.session_state.pop(ABLATION_JOB, None):
            job.cancel()
        return
    request = AblationRequest(loaded.name, seed)
    found = recall_readings(request)
    if found is None:
        _watch(text, request)
    elif found:
        _show(text, found, loaded, seed)
    else:
        text("no_induction", which=verbatim(loaded.name))


def _watch(text: Prose, request: AblationRequest) -> None:
    """Begin it, once; how far it is."""
    job: AblationJob | None = st.session_state.get(ABLATION_JOB)
    if not job or job.subject != request:
        start_job(ABLATION_JOB, make_ablation_job(request))
        job = st.session_state.get(ABLATION_JOB)
    show_refusal(ABLATION_JOB)
    if not job or job.subject != request:
        return
    if job.state == "failed":
        show_problem(job)
        return
    watch_job(ABLATION_JOB, job, verbatim(request.model))
    if job.is_over:
        text("silencing_stopped")


def _show(text: Prose, found: list[Ablation], loaded: "RealModel", seed: int) -> None:
    whole, without, control = found
    count = len(without.heads)
    rises = (
        without.second_copy_loss - whole.second_copy_loss > FELT,
        without.prose_loss - whole.prose_loss > FELT,
    )
    answer = {(1, 0): SECOND, (0, 1): PROSE, (1, 1): BOTH, (0, 0): NEITHER}[rises]
    options = SECOND, PROSE, BOTH, NEITHER
    ask_veiled(text, "suffers", _(answer), [*map(_, options)], count=count, felt=f"{FELT:g}")
    rows = "\n".join(map(_row, SERIES, found))
    text(
        "silenced",
        rows=rows,
        count=count,
        heads=names_of(without.heads),
        others=names_of(control.heads),
        seed=seed,
    )
    _show_places(found, loaded)
    show_source(measure_ablation, group_heads_by_role, draw_control_heads, AblatedHeads)


def _row(name: str, one: Ablation) -> str:
    hits = f"{100 * one.second_copy_hits:.0f} %"
    return f"| {_(name)} | {one.second_copy_loss:.2f} | {hits} | {one.prose_loss:.2f} |"


def _show_places(found: list[Ablation], loaded: "RealModel") -> None:
    import pandas as pd

    from explainers.charts.curves import Axis, draw_curve

    series = tuple(map(_, SERIES))
    points = [
        (place, loss, name, False)
        for name, one in zip(series, found, strict=True)
        for place, loss in enumerate(one.losses_by_position, start=1)
    ]
    rows = pd.DataFrame(points, columns=["x", "y", "series", "reference"])
    named = zip(series, found, strict=True)
    alt = _(
        "Loss of each token; in the second copy, which begins at {begin}: {losses}.",
        begin=REPEATED_LENGTH + 1,
        losses=", ".join(f"{name} {one.second_copy_loss:.2f}" for name, one in named),
    )
    ticks = (1, REPEATED_LENGTH + 1, 2 * REPEATED_LENGTH)
    axes = {"x": Axis(_("place in the text"), ticks=ticks), "y": Axis(_("loss, nats"))}
    show_chart(draw_curve, rows, alt, "silenced", describe_live_run(loaded), series=series, **axes)
