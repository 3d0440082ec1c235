"""QKᵀ, ÷ √d_k, softmax, · V: each its own step; and why there is a root."""

from dataclasses import dataclass

from explainers.attention.scaled_dot_product import attention
from explainers.attention.scaling import EXPERIMENT
from explainers.attention.single_head import project
from explainers.attention.steps import attention_steps, hide
from explainers.chapters.common.choose_head import HeadChoices, choose_head, offer_training
from explainers.chapters.common.one_head import OneHead
from explainers.chapters.scores import root_experiment
from explainers.chapters.scores import takeaway as taken
from explainers.chapters.scores.four_steps import show_step, steps_shown
from explainers.chapters.scores.temperature import show_temperatures
from explainers.ui import page
from explainers.ui.controls.sentence_box import choose_text
from explainers.ui.predict import revealed
from explainers.ui.source import run_and_show, show_source
from explainers.ui.text.language import fragment

text = page.page_text(__file__)


@dataclass(frozen=True)
class Choices:
    """Everything the reader can change about the four steps."""

    head: HeadChoices
    queries_down: bool
    steps: tuple[str, ...]


@fragment
def four_steps(tokens: tuple[str, ...]) -> None:
    """Queries and keys in, output out, one operation at a time."""
    choices = Choices(choose_head(tokens), page.queries_down(), steps_shown())

    toy = choices.head.toy(tokens)
    origin = choices.head.origin(toy.x.device)
    views = project(toy.x, toy.head)
    run = attention_steps(*views, toy.mask)
    one_head = OneHead.of(tokens, toy.x, toy.head, views, run)
    for step in choices.steps:
        show_step(text, one_head, step, choices.queries_down, origin)
    if "output" in choices.steps:
        run_and_show(attention, *views, toy.mask)
    offer_training(choices.head)
    text("temperature")
    products = hide(run.products, toy.mask)
    warm = show_temperatures(one_head, products, choices.queries_down, origin)
    taken.four_steps(choices.head, toy, one_head, warm)
    text("temperature_tried")


@fragment
def why_root() -> None:
    """The same softmax with and without √d_k, as d_k grows."""
    text("root", keys=root_experiment.KEYS, draws=f"{root_experiment.DRAWS:,}")
    measured = root_experiment.measurements()
    average = measured[-1].average[0]
    answer = root_experiment.in_words(average)
    if revealed(text, "root", root_experiment.ANSWERS, answer, average=f"{average:.2f}"):
        root_experiment.show_root(text, measured)
        taken.root(measured)
        show_source(*EXPERIMENT)


text("question")
four_steps(choose_text().tokens)
why_root()
text("notice")
