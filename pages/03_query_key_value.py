"""Three views of every token: what it looks for, what it can be found by, what it hands over."""

from dataclasses import dataclass

import streamlit as st

from explainers.attention.single_head import project, projection_parameters
from explainers.attention.steps import attention_steps
from explainers.chapters.common import head_takeaway as taken
from explainers.chapters.common.choose_head import HeadChoices, choose_head, offer_training
from explainers.chapters.common.one_head import OneHead, arithmetic_of
from explainers.chapters.query_key_value.swapped_query_key import show_exchange
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.sentence_box import choose_text
from explainers.ui.figure.clickable_figure import explore
from explainers.ui.source import run_and_show
from explainers.ui.text.language import fragment

text = page.page_text(__file__)
GPT3_WIDTH = 12_288  # Brown et al. 2020, table 2.1


@dataclass(frozen=True)
class Choices:
    """Everything the reader can change on this page."""

    head: HeadChoices
    queries_down: bool
    projection: str


@fragment
def projections(tokens: tuple[str, ...]) -> None:
    """X times a matrix, one row and one column at a time; then W_Q and W_K exchanged."""
    of_head = choose_head(tokens, has_mask=False, has_value_dim=True)
    choices = Choices(of_head, page.queries_down(), controls.projection())

    toy, name = of_head.toy(tokens), choices.projection
    origin = of_head.origin(toy.x.device)
    text(f"row_{name}")
    picture = st.container()
    views = run_and_show(project, toy.x, toy.head)
    one_head = OneHead.of(tokens, toy.x, toy.head, views, attention_steps(*views, toy.mask))
    with picture:
        panels = one_head.product("X", f"W_{name}", name, queries_down=True)
        alt = _(
            "X times W_{name} is {name}: the row and the column of one number are framed.",
            name=name,
        )
        explore(panels, arithmetic_of(one_head), origin, "projection", alt, stepper=name)
    taken.projections(of_head, toy, one_head)
    offer_training(of_head)

    text("parameters")
    d_model, head_dim, value_dim = of_head.d_model, of_head.head_dim, of_head.value_dim
    count = run_and_show(projection_parameters, d_model, head_dim, value_dim)
    text("counted", d_model=d_model, d_k=head_dim, d_v=value_dim, count=f"{count:,}")
    large = projection_parameters(GPT3_WIDTH, GPT3_WIDTH, GPT3_WIDTH)
    text("gpt3", width=f"{GPT3_WIDTH:,}", large=f"{large:,}", millions=round(large / 1e6))

    text("swap")
    show_exchange(text, of_head, toy, origin, choices.queries_down)


text("question")
projections(choose_text().tokens)
text("notice")
