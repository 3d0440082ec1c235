"""The demonstration: without a few heads a model cannot repeat, and reads prose as before."""

import streamlit as st

from explainers.chapters.common.background_job import (
    show_problem,
    show_refusal,
    start_job,
    watch_job,
)
from explainers.chapters.what_if.choose_changes import name_heads
from explainers.messages import N_
from explainers.models.ablation import (
    Ablation,
    AblationJob,
    AblationRequest,
    draw_control_heads,
    group_heads_by_role,
    make_ablation_job,
    measure_ablation,
)
from explainers.models.changes import AblatedHeads
from explainers.models.probes import REPEATED_LENGTH
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import show_chart
from explainers.ui.session import ABLATION_JOB
from explainers.ui.text.numbers import MUCH_WORSE, judge_rise, name_thresholds
from explainers.ui.untrusted_text import verbatim

WHOLE, WITHOUT = N_("all heads"), N_("induction heads off")
CONTROL = N_("others off")
SERIES = WHOLE, WITHOUT, CONTROL
CODE = measure_ablation, group_heads_by_role, draw_control_heads, AblatedHeads
SECOND, PROSE = N_("the second copy"), N_("prose")
BOTH, NEITHER = N_("both"), N_("neither")
WORSE = SECOND, PROSE, BOTH, NEITHER


def has_switched_off() -> bool:
    """Does the reader want it? Who turns back also ends what is under way."""
    if controls.silence_induction():
        return True
    if job := st.session_state.pop(ABLATION_JOB, None):
        job.cancel()
    return False


def watch_readings(request: AblationRequest) -> bool:
    """Begin it, once, and show how far it is; has it been stopped?"""
    job: AblationJob | None = st.session_state.get(ABLATION_JOB)
    if not job or job.subject != request:
        start_job(ABLATION_JOB, make_ablation_job(request))
        job = st.session_state.get(ABLATION_JOB)
    show_refusal(ABLATION_JOB)
    if not job or job.subject != request:
        return False
    if job.state == "failed":
        show_problem(job)
        return False
    watch_job(ABLATION_JOB, job, verbatim(request.model))
    return job.is_over


def answer_suffers(found: list[Ablation]) -> str:
    """What is read worse without the heads."""
    whole, without, _control = found
    rises = (
        without.second_copy_loss - whole.second_copy_loss,
        without.prose_loss - whole.prose_loss,
    )
    second, prose = (judge_rise(rise) == MUCH_WORSE for rise in rises)
    return {(1, 0): SECOND, (0, 1): PROSE, (1, 1): BOTH, (0, 0): NEITHER}[second, prose]


def tabulate_readings(found: list[Ablation]) -> dict[str, str | int]:
    """A row for each reading, and which heads were off."""
    _whole, without, control = found
    return {
        "rows": "\n".join(map(_write_row, SERIES, found)),
        "count": len(without.heads),
        "heads": name_heads(without.heads),
        "others": name_heads(control.heads),
        **name_thresholds(),
    }


def _write_row(name: str, one: Ablation) -> str:
    hits = f"{100 * one.second_copy_hits:.0f} %"
    return f"| {_(name)} | {one.second_copy_loss:.2f} | {hits} | {one.prose_loss:.2f} |"


def draw_places(found: list[Ablation], origin: str) -> None:
    """The loss of each token in each of the readings."""
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
    show_chart(draw_curve, rows, alt, "silenced", origin, series=series, **axes)
