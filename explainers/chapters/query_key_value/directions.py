"""Attention in both directions: what one word gives another, and what it gets back."""

from explainers.attention.single_head import project
from explainers.attention.steps import attention_steps
from explainers.chapters.common.number_words import write_percent
from explainers.charts.bars import draw_distribution, make_share_rows
from explainers.messages import N_
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.figure.chart import show_chart

AS_MUCH, HALF, NOTHING = N_("about as much"), N_("about half as much"), N_("almost nothing")
ANSWERS = AS_MUCH, HALF, NOTHING


def weigh(layer: Layer) -> list[list[float]]:
    """How each word divides its attention."""
    weights: list[list[float]] = attention_steps(
        *project(layer.x, layer.head()), layer.mask
    ).weights.tolist()
    return weights


def compare_directions(layer: Layer, asking: int, found: int) -> tuple[str, dict[str, str]]:
    """How much comes back of what one word gives another, and the numbers of the remark."""
    weights = weigh(layer)
    there, back = weights[asking][found], weights[found][asking]
    answer = AS_MUCH if back > 0.75 * there else HALF if back > 0.25 * there else NOTHING
    words = {"word": layer.tokens[asking], "first": layer.tokens[found]}
    return answer, words | {"there": write_percent(there), "back": write_percent(back)}


def draw_directions(layer: Layer, asking: int, found: int, origin: str) -> None:
    """Both words' weights beside each other."""
    weights = weigh(layer)
    series = {f"{layer.tokens[place]} ({place})": weights[place] for place in (asking, found)}
    rows = make_share_rows(series, layer.tokens)
    alt = _("How two words divide their attention: a bar per word, the bars of each sum to 1.")
    show_chart(draw_distribution, rows, alt, "directions", origin, length=len(layer.tokens))
