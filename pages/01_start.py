"""The whole computation of one head, from the sentence to its output, in one picture."""

from dataclasses import dataclass

import streamlit as st

from explainers import examples
from explainers.attention import masks
from explainers.attention.single_head import project, single_head
from explainers.attention.steps import attention_steps
from explainers.ui import common, controls, provenance
from explainers.ui.arithmetic import arithmetic_of
from explainers.ui.numbers import explore
from explainers.ui.one_head import OneHead
from explainers.ui.panels import oriented
from explainers.ui.predict import revealed
from explainers.ui.source import run_and_show

text = common.page_text(__file__)
TOKENS, PROJECTIONS = "pages/02_tokens.py", "pages/03_query_key_value.py"
SCORES = "pages/04_scores.py"
STAGES = {
    "X": ("", TOKENS),
    "Q": ("→", PROJECTIONS),
    "K": ("", PROJECTIONS),
    "V": ("", PROJECTIONS),
    **dict.fromkeys(("products", "scores", "masked", "weights", "output"), ("→", SCORES)),
}


@dataclass(frozen=True)
class Choices:
    """Everything the reader can change on this page."""

    tokens: tuple[str, ...]
    mask: str
    d_model: int
    head_dim: int
    seed: int


@st.fragment
def computation(tokens: tuple[str, ...]) -> None:
    """The sentence through one head."""
    with st.container(horizontal=True):
        choices = Choices(
            tokens, controls.mask(), controls.d_model(), controls.head_dim(), common.seed()
        )

    length = len(choices.tokens)
    x, head, mask = examples.toy(
        choices.tokens,
        choices.d_model,
        choices.head_dim,
        choices.head_dim,
        choices.mask,
        choices.seed,
    )
    causal = masks.build(masks.causal, length, length).to(x.device)
    before = single_head(x, head, causal).output
    changed = single_head(examples.with_new_last(x, choices.seed), head, causal).output != before
    if not revealed(text, "start", ("none", "1", f"{length}"), f"{changed.any(-1).sum()}"):
        return
    picture = st.container()
    projections = run_and_show(project, x, head)
    steps = run_and_show(attention_steps, *projections, mask)

    one_head = OneHead.of(choices.tokens, x, head, projections, steps)
    panels = [one_head.panel(name, *place) for name, place in STAGES.items()]
    with picture:
        panels = oriented(panels, common.queries_down())
        origin = provenance.random_weights(choices.seed, x.device)
        common.open_page(explore(panels, arithmetic_of(one_head), origin, "overview").opened)


text("question")
sentence = controls.sentence()
text("guide")
computation(sentence.tokens)
text("notice")
