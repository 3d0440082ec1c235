"""Three views of every token: what it looks for, what it can be found by, what it hands over."""

import streamlit as st

from explainers.attention.single_head import project, projection_parameters
from explainers.attention.steps import attention_steps
from explainers.chapters.common.choose_layer import choose_layer, offer_training, origin_of
from explainers.chapters.common.one_head import OneHead, arithmetic_of
from explainers.chapters.query_key_value.swapped_query_key import show_exchange
from explainers.chapters.query_key_value.takeaway import take_projections
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.clickable_figure import explore_figure
from explainers.ui.source import run_and_show
from explainers.ui.text.language import fragment

text = page.open_prose(__file__)
GPT3_WIDTH = 12_288  # Brown et al. 2020, table 2.1


@fragment
def show_projections(tokens: tuple[str, ...]) -> None:
    """X times a matrix, one row and one column at a time; then W_Q and W_K exchanged."""
    layer = choose_layer(tokens, has_mask=False, has_value_dim=True)
    queries_down, name = page.has_queries_down(), controls.projection()

    head, origin = layer.head(), origin_of(layer)
    text(f"row_{name}")
    picture = st.container()
    views = run_and_show(project, layer.x, head)
    one_head = OneHead.of(layer, views, attention_steps(*views, layer.mask))
    with picture:
        panels = one_head.product("X", f"W_{name}", name, queries_down=True)
        alt = _(
            "X times W_{name} is {name}: the row and the column of one number are framed.",
            name=name,
        )
        explore_figure(panels, arithmetic_of(one_head), origin, "projection", alt, stepper=name)
    take_projections(layer, one_head)
    offer_training(layer)

    text("parameters")
    d_model, head_dim, value_dim = (*head.w_query.shape, head.w_value.shape[1])
    count = run_and_show(projection_parameters, d_model, head_dim, value_dim)
    text("counted", d_model=d_model, d_k=head_dim, d_v=value_dim, count=f"{count:,}")
    large = projection_parameters(GPT3_WIDTH, GPT3_WIDTH, GPT3_WIDTH)
    text("gpt3", width=f"{GPT3_WIDTH:,}", large=f"{large:,}", millions=round(large / 1e6))

    text("swap")
    show_exchange(text, layer, origin, queries_down)


text("question")
show_projections(choose_text().tokens)
text("notice")
