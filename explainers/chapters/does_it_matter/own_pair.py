"""A pair of the reader's: two prompts and two answers, every head exchanged in the background."""

import streamlit as st

from explainers.chapters.common.background_job import offer_job, show_problem, watch_job
from explainers.charts.matrix import Matrix
from explainers.charts.theme import HEAD_AXIS, LAYER_AXIS
from explainers.messages import N_
from explainers.models.matter_jobs import PairRequest, make_patching_job
from explainers.models.patching import Pair, Patching
from explainers.models.shipped_ablations import MODEL
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.name_controls import TextLine
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel

first_prompt = TextLine(
    "prompt_a",
    N_("First prompt"),
    "When Mary and John went to the store, John gave a drink to",
    200,
)
second_prompt = TextLine(
    "prompt_b",
    N_("Second prompt"),
    "When Mary and John went to the store, Mary gave a drink to",
    200,
)
first_answer = TextLine("answer_a", N_("Its next word"), "Mary", 30)
second_answer = TextLine("answer_b", N_("Its next word"), "John", 30)
controls.register(first_prompt, second_prompt, first_answer, second_answer)
JOB = "matter: pair"


def choose_pair() -> Pair:
    """Four fields."""
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        prompts = first_prompt(), second_prompt()
    with right:
        answers = first_answer(), second_answer()
    return Pair(*prompts, *answers)


def measure_pair(pair: Pair, seed: int) -> Patching | None:
    """A button, and how far the measurement is; at last its result, or why there is none."""
    job = make_patching_job(PairRequest(MODEL, pair, seed))
    shown = offer_job(JOB, _("Exchange every head"), job, icon=":material/swap_horiz:")
    if not shown or shown.subject != job.subject:
        return None
    if shown.state == "failed":
        show_problem(shown)
    elif shown.result is not None:
        return shown.result
    else:
        watch_job(JOB, shown, _("Exchanging"))
    return None


def draw_pair(patching: Patching, origin: str) -> None:
    """A cell for each head; what does no more than random words is hatched."""
    passes = patching.passes.T.tolist()
    values = [
        [value if passed else None for value, passed in zip(*lines, strict=True)]
        for lines in zip(patching.effects.T.tolist(), passes, strict=True)
    ]
    layers, heads = patching.effects.shape
    matrix = Matrix(
        _("effect"),
        _("0: as before; 1: as after the other prompt; hatched: no more than random words"),
        values,
        [_("head {head}", head=head) for head in range(heads)],
        [str(layer) for layer in range(layers)],
        HEAD_AXIS,
        LAYER_AXIS,
    )
    alt = _("The effect of every head that does more than random words.")
    show_figure(Figure([Panel("pair", matrix)], alt), origin, "pair")


def describe_pair(patching: Patching) -> dict[str, str]:
    """For the text."""
    effects = patching.effects
    place = divmod(int(effects.abs().argmax()), effects.shape[1])
    return {
        "lead": f"{patching.leads[0]:.2f}",
        "other": f"{patching.leads[1]:.2f}".replace("-", "−"),
        "passed": f"{int(patching.passes.sum())}",
        "all": f"{effects.numel()}",
        "bar": f"{patching.bar:.3f}",
        "head": "L{}.H{}".format(*place),
        "effect": f"{float(effects[place]):.2f}".replace("-", "−"),
        "chance": f"{float(patching.null[:, place[0], place[1]].max()):.2f}",
    }
