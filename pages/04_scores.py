"""QKᵀ, ÷ √d_k, softmax, · V: each its own step; and why there is a root."""

from dataclasses import dataclass

import streamlit as st

from explainers import examples
from explainers.attention.scaling import measure, random_scores
from explainers.attention.single_head import project
from explainers.attention.steps import attention_steps, dot_products, hide, mix, scale, softmax
from explainers.device import device_name
from explainers.ui import common, controls, provenance, root
from explainers.ui.numbers import explore
from explainers.ui.one_head import OneHead
from explainers.ui.predict import revealed
from explainers.ui.source import run_and_show, show_source
from explainers.ui.temperature import show_temperatures

text = common.page_text(__file__)
EVEN, HALF, ALL = "about 1/7: all alike", "about a half", "more than 0.9"


@dataclass(frozen=True)
class Choices:
    """Everything the reader can change about the four steps."""

    tokens: tuple[str, ...]
    mask: str
    d_model: int
    head_dim: int
    seed: int
    step: str


@st.fragment
def four_steps(tokens: tuple[str, ...]) -> None:
    """Queries and keys in, output out, one operation at a time."""
    with st.container(horizontal=True):
        sizes = controls.mask(), controls.d_model(), controls.head_dim()
    choices = Choices(tokens, *sizes, common.seed(), controls.step())

    rule, d_model, head_dim = sizes
    x, head, mask = examples.toy(tokens, d_model, head_dim, head_dim, rule, choices.seed)
    query, key, value = views = project(x, head)
    products, scores, allowed, weights, _ = done = attention_steps(query, key, value, mask)
    text(f"step_{choices.step}")
    one_head = OneHead.of(tokens, x, head, views, done)
    provenance.random_weights(choices.seed, device_name(x.device))
    down = common.queries_down()
    explore(one_head.step(choices.step, down), one_head.working, "steps", stepper=choices.step)
    calls: dict[str, list[tuple]] = {
        "products": [(dot_products, query, key)],
        "scores": [(scale, products, head_dim)],
        "weights": [(hide, scores, mask), (softmax, allowed)],
        "output": [(mix, weights, value)],
    }
    for function, *inputs in calls[choices.step]:
        run_and_show(function, *inputs)
    text("temperature")
    show_temperatures(one_head, hide(products, mask), down)
    text("temperature_tried")


@st.fragment
def why_root() -> None:
    """The same softmax with and without √d_k, as d_k grows."""
    text("root", keys=root.KEYS, draws=f"{root.DRAWS:,}")
    measured = root.measurements(common.seed())
    average = measured[-1].average[0]
    answer = ALL if average > 0.9 else HALF if average > 0.3 else EVEN
    if not revealed(text, "root", (EVEN, HALF, ALL), answer, average=f"{average:.2f}"):
        return
    provenance.random_weights(common.seed(), "cpu")
    root.show(text, measured)
    show_source(random_scores, measure)


text("question")
four_steps(controls.sentence().tokens)
why_root()
text("notice")
