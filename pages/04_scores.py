"""QKᵀ, ÷ √d_k, softmax, · V: each its own step; and why there is a root."""

from explainers.attention.scaled_dot_product import attention
from explainers.attention.scaling import EXPERIMENT
from explainers.attention.single_head import project
from explainers.attention.steps import attention_steps, hide
from explainers.chapters.common.choose_layer import choose_layer, offer_training, origin_of
from explainers.chapters.common.one_head import OneHead
from explainers.chapters.scores import root_experiment, takeaway
from explainers.chapters.scores.four_steps import choose_steps, show_step, show_temperatures
from explainers.ui import page
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.prediction import revealed
from explainers.ui.source import run_and_show, show_source
from explainers.ui.text.language import fragment

text = page.open_prose(__file__)


@fragment
def show_steps(tokens: tuple[str, ...]) -> None:
    """Queries and keys in, output out, one operation at a time."""
    layer, queries_down, steps = choose_layer(tokens), page.has_queries_down(), choose_steps()

    origin = origin_of(layer)
    views = project(layer.x, layer.head())
    run = attention_steps(*views, layer.mask)
    one_head = OneHead.of(layer, views, run)
    for step in steps:
        show_step(text, one_head, step, queries_down, origin)
    if "output" in steps:
        run_and_show(attention, *views, layer.mask)
    offer_training(layer)
    text("temperature")
    products = hide(run.products, layer.mask)
    temperature = show_temperatures(one_head, products, queries_down, origin)
    takeaway.take_steps(layer, one_head, temperature)
    text("temperature_tried")


@fragment
def show_why_root() -> None:
    """The same softmax with and without √d_k, as d_k grows."""
    text("root", keys=root_experiment.KEYS, draws=f"{root_experiment.DRAWS:,}")
    measurements = root_experiment.load_measurements()
    average = measurements[-1].average[0]
    answer = root_experiment.describe_average(average)
    if revealed(text, "root", root_experiment.ANSWERS, answer, average=f"{average:.2f}"):
        root_experiment.show_root(text, measurements)
        takeaway.take_root(measurements)
        show_source(*EXPERIMENT)


text("question")
show_steps(choose_text().tokens)
show_why_root()
text("notice")
