"""Attention in both directions: what one word gives another, and what it gets back."""

from explainers.chapters.common.one_head import attend, make_explainer, read_head
from explainers.messages import N_
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.figure.clickable_figure import show_clickable_figure
from explainers.ui.figure.panels import orient_panels
from explainers.ui.text.numbers import write_percent

AS_MUCH, HALF, NOTHING = N_("about as much"), N_("about half as much"), N_("almost nothing")
ANSWERS = AS_MUCH, HALF, NOTHING


def weigh(layer: Layer) -> list[list[float]]:
    """How each word divides its attention."""
    weights: list[list[float]] = attend(layer)[1].weights.tolist()
    return weights


def find_one_sided_pair(layer: Layer, shown: int) -> tuple[int, int]:
    """The pair in which one word gives most and gets least back; twice 0 where there is none.

    What the word `shown` gives is seen in the picture already, so nothing is asked of it.
    """
    weights, places = weigh(layer), range(len(layer.tokens))
    pairs = [(one, other) for one in places for other in places if other not in (one, shown)]
    return max(
        pairs,
        key=lambda pair: weights[pair[0]][pair[1]] - weights[pair[1]][pair[0]],
        default=(0, 0),
    )


def compare_directions(layer: Layer, asking: int, found: int) -> tuple[str, dict[str, str]]:
    """How much comes back of what one word gives another, and the numbers of the remark."""
    weights = weigh(layer)
    there, back = weights[asking][found], weights[found][asking]
    answer = AS_MUCH if back > 0.75 * there else HALF if back > 0.25 * there else NOTHING
    words = {"word": layer.tokens[asking], "first": layer.tokens[found]}
    return answer, words | {"there": write_percent(there), "back": write_percent(back)}


def draw_directions(layer: Layer, origin: str, queries_down: bool) -> None:
    """The weights of all words: what is given stands in a row, what comes back in a column."""
    one_head = read_head(layer)
    panels = orient_panels([one_head.panel("weights")], queries_down)
    alt = _("How every word divides its attention, a row per word; the table is not symmetric.")
    show_clickable_figure(panels, make_explainer(one_head), origin, "directions", alt)
