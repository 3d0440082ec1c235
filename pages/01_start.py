"""The whole computation of one head, from the sentence to its output, in one picture."""

from dataclasses import dataclass

import streamlit as st

from explainers.attention import masks
from explainers.attention.scaled_dot_product import attention
from explainers.attention.single_head import project, single_head
from explainers.attention.steps import OPERATIONS, attention_steps
from explainers.examples import Toy, other_than
from explainers.lessons.arithmetic import arithmetic_of
from explainers.lessons.one_head import OneHead
from explainers.lessons.toy_choice import HeadChoices, choose_head, offer_training
from explainers.lessons.vectors import output, show_pair
from explainers.ui import common, controls
from explainers.ui.language import said
from explainers.ui.numbers import explore
from explainers.ui.panels import oriented
from explainers.ui.predict import revealed
from explainers.ui.source import show_source

text = common.page_text(__file__)
SCORES, AFTER = "pages/04_scores.py", ("products", "scores", "masked", "weights", "output")
PAGES = {"X": "pages/02_tokens.py", **dict.fromkeys("QKV", "pages/03_query_key_value.py")}
STAGES = {"X": "", "Q": "→", "K": "", "V": "", **dict.fromkeys(AFTER, "→")}


@dataclass(frozen=True)
class Choices:
    """Everything the reader can change on this page."""

    head: HeadChoices
    queries_down: bool


@st.fragment
def computation(tokens: tuple[str, ...]) -> None:
    """The sentence through one head."""
    text("guide")
    choices = Choices(choose_head(tokens), common.queries_down())

    toy = choices.head.toy(tokens)
    origin = choices.head.origin(toy.x.device)
    picture = st.container()
    views = project(toy.x, toy.head)
    run = attention_steps(*views, toy.mask)
    show_source(project, attention_steps, *sum(OPERATIONS.values(), ()))
    one_head = OneHead.of(tokens, toy.x, toy.head, views, run)
    panels = [one_head.panel(name, operator, True) for name, operator in STAGES.items()]
    panels, working = oriented(panels, choices.queries_down), arithmetic_of(one_head)
    with picture:
        alt = said("One head of attention, a matrix per step, from the tokens to the output.")
        opened, _ = explore(panels, working, origin, "overview", alt)
    offer_training(choices.head)
    another_ending(choices.head, toy, origin)
    text("notice")
    common.open_page(opened and PAGES.get(opened, SCORES), step=opened)


def another_ending(choices: HeadChoices, toy: Toy, origin: str) -> None:
    """What the other words get when the last word is another one, under the causal mask."""
    causal = masks.build(masks.causal, *toy.mask.shape).to(toy.x.device)
    before = single_head(toy.x, toy.head, causal)
    others = (*choices.tokens[:-1], other_than(choices.tokens[-1]))
    new = choices.toy(others).x
    after = single_head(new, toy.head, causal)
    answer = f"{(before.output != after.output).any(dim=-1).sum()}"
    if revealed(text, "ending", ("0", "1", f"{len(choices.tokens)}"), answer):
        as_it_was = output(said("output"), choices.tokens, before.output)
        changed = output(said("new"), others, after.output)
        values = [project(x, toy.head).value.T for x in (toy.x, new)]
        factors = list(zip((before.weights, after.weights), values, strict=True))
        show_pair(as_it_was, changed, origin, "ending", factors=factors)
        show_source(single_head, attention)


text("question")
computation(controls.sentence().tokens)
