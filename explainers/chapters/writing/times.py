"""One more token after texts of several lengths: milliseconds with the cache and without."""

from collections.abc import Sequence

from explainers.chapters.common.background_job import offer_job, show_problem, watch_job
from explainers.memory.sizes import format_size
from explainers.messages import N_
from explainers.models.shipped_writing import MODEL
from explainers.models.step_times import StepTime
from explainers.models.writing_jobs import make_times_job
from explainers.translations import _
from explainers.ui.figure.chart import show_chart

JOB = "writing: times"
WITH, WITHOUT = N_("with the cache"), N_("without")
SERIES = WITH, WITHOUT
Point = tuple[int, float, float]
"""Tokens before one that was written, and its seconds with the cache and without."""


def measure_times() -> list[StepTime] | None:
    """A button, and how far the measurement is; at last the times."""
    shown = offer_job(JOB, _("Time it here"), make_times_job(MODEL), icon=":material/timer:")
    if not shown:
        return None
    if shown.state == "failed":
        show_problem(shown)
    elif shown.result is not None:
        return shown.result
    else:
        watch_job(JOB, shown, _("Timing"))
    return None


def draw_times(points: Sequence[Point], origin: str, key: str) -> None:
    """Two lines over the number of tokens before the timed one."""
    import pandas as pd

    from explainers.charts.curves import Axis, draw_curve

    rows = pd.DataFrame(
        [
            (length, 1000 * seconds, series, False)
            for length, *both in points
            for series, seconds in zip((_(WITH), _(WITHOUT)), both, strict=True)
        ],
        columns=["x", "y", "series", "reference"],
    )
    said = "; ".join(
        f"{length}: {1000 * cached:.0f} / {1000 * again:.0f}" for length, cached, again in points
    )
    alt = _("Milliseconds for each token, with the cache / without it. {said}", said=said)
    lengths = [length for length, *_both in points]
    ticks = tuple(lengths[:: 1 + len(lengths) // 12])
    x, y = Axis(N_("tokens before it"), ticks=ticks), Axis(N_("milliseconds for a token"))
    show_chart(draw_curve, rows, alt, key, origin, x=x, y=y, series=SERIES)


def list_times(found: Sequence[StepTime]) -> str:
    """Rows of a table, for the text."""
    return "\n".join(
        f"| {one.length} | {format_size(one.num_bytes)} | {1000 * one.with_cache:.0f} ms "
        f"| {1000 * one.without:.0f} ms | {one.without / one.with_cache:.1f} × |"
        for one in found
    )
