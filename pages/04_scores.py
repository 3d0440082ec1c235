"""QKᵀ, ÷ √d_k, softmax, · V: each its own step; and why there is a root."""

from dataclasses import dataclass

import streamlit as st

from explainers import examples
from explainers.attention.scaling import measure, random_scores
from explainers.attention.single_head import project
from explainers.attention.steps import OPERATIONS, attention_steps, hide
from explainers.ui import common, controls, root, root_pictures, shares, temperature
from explainers.ui.arithmetic import arithmetic_of
from explainers.ui.numbers import explore
from explainers.ui.one_head import OneHead
from explainers.ui.predict import revealed
from explainers.ui.provenance import random_weights
from explainers.ui.source import show_source

text = common.page_text(__file__)


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
    views = project(x, head)
    done = attention_steps(*views, mask)
    text(f"step_{choices.step}")
    one_head = OneHead.of(tokens, x, head, views, done)
    origin, down = random_weights(choices.seed, x.device), common.queries_down()
    panels = one_head.step(choices.step, down)
    _, cell = explore(panels, arithmetic_of(one_head), origin, "steps", stepper=choices.step)
    if choices.step == "weights":
        shares.show_shares(one_head, cell.row, origin)
    show_source(*OPERATIONS[choices.step])
    text("temperature")
    temperature.show_temperatures(one_head, hide(done.products, mask), down, origin)
    text("temperature_tried")


@st.fragment
def why_root() -> None:
    """The same softmax with and without √d_k, as d_k grows."""
    text("root", keys=root.KEYS, draws=f"{root.DRAWS:,}")
    measured = root.measurements(common.seed())
    average = measured[-1].average[0]
    answer = root.in_words(average)
    if not revealed(text, "root", root.ANSWERS, answer, average=f"{average:.2f}"):
        return
    root_pictures.show_root(text, measured, common.seed())
    show_source(random_scores, measure)


text("question")
four_steps(controls.sentence().tokens)
why_root()
text("notice")
