"""The whole computation of one head, from the sentence to its output, in one picture."""

import streamlit as st

from explainers.attention.single_head import project
from explainers.attention.steps import OPERATIONS, attention_steps
from explainers.chapters.common.choose_layer import choose_layer, offer_training, origin_of
from explainers.chapters.common.one_head import OneHead, arithmetic_of, take_head
from explainers.chapters.start.changed_ending import show_other_ending
from explainers.translations import _
from explainers.ui import page
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.figure.clickable_figure import explore_figure
from explainers.ui.figure.panels import orient_panels
from explainers.ui.source import show_source
from explainers.ui.text.language import fragment

text = page.open_prose(__file__)
SCORES, AFTER = "pages/04_scores.py", ("products", "scores", "masked", "weights", "output")
PAGES = {"X": "pages/02_tokens.py", **dict.fromkeys("QKV", "pages/03_query_key_value.py")}
STAGES = {"X": "", "Q": "→", "K": "", "V": "", **dict.fromkeys(AFTER, "→")}


@fragment
def show_computation(tokens: tuple[str, ...]) -> None:
    """The sentence through one head."""
    text("guide")
    layer, queries_down = choose_layer(tokens), page.has_queries_down()

    origin = origin_of(layer)
    picture = st.container()
    views = project(layer.x, layer.head())
    run = attention_steps(*views, layer.mask)
    show_source(project, attention_steps, *sum(OPERATIONS.values(), ()))
    one_head = OneHead.of(layer, views, run)
    panels = [one_head.panel(name, operator, True) for name, operator in STAGES.items()]
    panels, working = orient_panels(panels, queries_down), arithmetic_of(one_head)
    with picture:
        alt = _("One head of attention, a matrix per step, from the tokens to the output.")
        opened, _unused = explore_figure(panels, working, origin, "overview", alt)
    offer_training(layer)
    take_head(_("One head, every matrix"), layer, one_head.numbers)
    show_other_ending(text, layer, origin)
    text("notice")
    page.open_page(opened and PAGES.get(opened, SCORES), step=opened)


text("question")
show_computation(choose_text().tokens)
