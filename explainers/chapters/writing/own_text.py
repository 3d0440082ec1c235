"""The reader's own prompt: the model goes on with it, with the cache and without it."""

from collections.abc import Mapping, Sequence
from statistics import median

import streamlit as st

from explainers.chapters.common.background_job import offer_job, show_problem, watch_job
from explainers.chapters.common.recording import describe_live_run
from explainers.chapters.writing.hero import LABELS, OWN, choose_own, written_text
from explainers.messages import N_
from explainers.models.load import find_loaded_model
from explainers.models.shipped_writing import MODEL, PROMPT, WrittenText
from explainers.models.told_steps import TEMPERATURES, TOP_KS, TOP_PS
from explainers.models.writing_jobs import WritingJob, WritingRequest, Written, make_writing_job
from explainers.models.written_tokens import Sampling
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.name_controls import TextLine
from explainers.ui.controls.number_controls import Counter, StepSlider, WholeNumber
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.hero import read_choice
from explainers.ui.untrusted_text import verbatim

own_prompt = TextLine("own_prompt", N_("Prompt"), PROMPT, 300)
own_heat = StepSlider("own_heat", N_("Temperature"), 0.8, TEMPERATURES)
own_count = StepSlider("own_k", N_("Top-k (0: all tokens)"), 0, tuple(sorted(TOP_KS)))
own_share = StepSlider("own_p", N_("Top-p"), 0.95, TOP_PS)
own_seed = Counter("own_seed", N_("Seed"), 0)
own_length = WholeNumber("own_length", N_("Tokens to write"), 16, 4, 32)
controls.register(own_prompt, own_heat, own_count, own_share, own_seed, own_length)
JOB = "writing: own"
WITH, WITHOUT = N_("with the cache"), N_("without")
SERIES = WITH, WITHOUT
Point = tuple[int, float, float]
"""Tokens before one that was written, and its seconds with the cache and without."""


def choose_request() -> WritingRequest:
    """The prompt, and how its next tokens are drawn."""
    prompt = own_prompt()
    left, middle, right = st.columns(3)
    with left:
        heat = own_heat()
    with middle:
        count = own_count()
    with right:
        share = own_share()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed, length = own_seed(0, 999), own_length()
    sampling = Sampling(float(heat), int(count), float(share))
    return WritingRequest(MODEL, prompt, length, sampling, seed)


def find_written() -> Mapping[str, WrittenText]:
    """The reader's text, if one was written during this visit; a switch where it is shown, if a
    word of its prompt has several tokens."""
    job: WritingJob | None = st.session_state.get(JOB)
    if not job or job.result is None or not is_long(job.result):
        return {}
    wanted, found = job.subject, job.result
    is_merged = (
        found.words and read_choice(written_text, [*LABELS]) == OWN and controls.whole_words()
    )
    prompt, steps = (found.words, found.merged) if is_merged else (found.prompt, found.steps)
    return {OWN: WrittenText(prompt, wanted.sampling, wanted.seed, steps)}


def is_long(found: Written) -> bool:
    """Are there two tokens that came from the cache, and were timed? A text can end at once."""
    return len(found.seconds_without) > 2


def write_own(request: WritingRequest) -> Written | None:
    """A button, and the text as it grows; at last all of it."""
    job = make_writing_job(request)
    shown = offer_job(JOB, _("Write"), job, icon=":material/edit:")
    if not shown:
        return None
    if shown.state == "failed":
        show_problem(shown)
    elif shown.result is not None:
        return shown.result
    else:
        watch_job(JOB, shown, _("Writing"), describe=describe_progress)
    return None


def describe_progress(job: WritingJob) -> str:
    """The text so far, in words of the model's own."""
    if not job.reports:
        return _("beginning")
    return verbatim(_(job.reports[-1]))


def offer_above() -> None:
    """A button that draws the text in the picture at the top of the page."""
    if st.button(_("Show it in the picture above"), icon=":material/arrow_upward:"):
        choose_own()
        st.rerun()  # the picture is not in the card that is drawn again


def describe_origin(otherwise: str) -> str:
    """Where the reader's text comes from; `otherwise` if the model has left the memory."""
    loaded = find_loaded_model(MODEL)
    return describe_live_run(loaded) if loaded else otherwise


def list_points(found: Written) -> list[Point]:
    """Of each token but the first: that came after the whole prompt had been read, both times."""
    start = len(found.prompt)
    both = zip(found.steps, found.seconds_without, strict=False)
    return [(start + at, step.seconds, again) for at, (step, again) in enumerate(both) if at]


def describe_times(found: Written) -> dict[str, str]:
    """For the text."""
    with_cache = [step.seconds for step in found.steps[1:]]
    without = found.seconds_without[1:]
    return {
        "text": verbatim(found.text),
        "count": f"{len(found.steps)}",
        "with_cache": f"{1000 * median(with_cache):.0f}",
        "without": f"{1000 * median(without):.0f}",
        "times": f"{median(without) / median(with_cache):.1f}",
        "last": f"{len(found.prompt) + len(found.steps) - 1}",
    }


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
