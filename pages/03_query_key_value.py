"""Three views of every token: what it looks for, what it can be found by, what it hands over."""

from dataclasses import dataclass

import streamlit as st
import torch

from explainers import examples
from explainers.attention.single_head import project, projection_parameters
from explainers.attention.steps import attention_steps, dot_products
from explainers.ui import common, controls
from explainers.ui.arithmetic import arithmetic_of
from explainers.ui.numbers import explore
from explainers.ui.one_head import OneHead
from explainers.ui.predict import revealed
from explainers.ui.provenance import random_weights
from explainers.ui.source import run_and_show

text = common.page_text(__file__)
GPT3_WIDTH = 12_288  # Brown et al. 2020, table 2.1
SAME, MIRRORED, OTHER = "the same table", "the table mirrored", "other numbers"


@dataclass(frozen=True)
class Choices:
    """Everything the reader can change on this page."""

    tokens: tuple[str, ...]
    d_model: int
    head_dim: int
    value_dim: int
    seed: int
    projection: str


@st.fragment
def projections(tokens: tuple[str, ...]) -> None:
    """X times a matrix, one row and one column at a time."""
    with st.container(horizontal=True):
        sizes = controls.d_model(), controls.head_dim(), controls.value_dim()
    choices = Choices(tokens, *sizes, common.seed(), controls.projection())

    x, head, mask = examples.toy(choices.tokens, *sizes, "full", choices.seed)
    query, key, _ = project(x, head)
    scores, swapped = dot_products(query, key), dot_products(key, query)
    mirrored = MIRRORED if torch.allclose(swapped, scores.T, atol=1e-5) else OTHER
    answer = SAME if torch.allclose(swapped, scores, atol=1e-5) else mirrored
    if not revealed(text, "swap", (SAME, MIRRORED, OTHER), answer):
        return
    picture = st.container()
    views = run_and_show(project, x, head)
    one_head = OneHead.of(tokens, x, head, views, attention_steps(*views, mask))
    name = choices.projection
    with picture:
        origin = random_weights(choices.seed, x.device)
        panels = one_head.product("X", f"W_{name}", name, queries_down=True)
        explore(panels, arithmetic_of(one_head), origin, "projection", stepper=name)
    text(f"row_{name}")
    parameters(*sizes)


def parameters(d_model: int, head_dim: int, value_dim: int) -> None:
    """How many numbers a head has to learn."""
    text("parameters")
    count = run_and_show(projection_parameters, d_model, head_dim, value_dim)
    large = projection_parameters(GPT3_WIDTH, GPT3_WIDTH, GPT3_WIDTH)
    text("counted", d_model=d_model, d_k=head_dim, d_v=value_dim, count=f"{count:,}")
    text("gpt3", width=f"{GPT3_WIDTH:,}", large=f"{large:,}", millions=round(large / 1e6))


text("question")
sentence = controls.sentence()
projections(sentence.tokens)
text("notice")
