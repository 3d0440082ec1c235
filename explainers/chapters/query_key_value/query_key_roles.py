"""Two roles: attention in both directions, what makes them, a bias on queries or on keys."""

from random import Random

import streamlit as st
import torch

from explainers.attention.single_head import project, projection_parameters
from explainers.attention.steps import attention_steps
from explainers.chapters.common.one_head import attend, read_head
from explainers.messages import N_
from explainers.toys.examples import make_generator
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_clickable_figure
from explainers.ui.figure.panels import orient_panels
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.text.numbers import bound_rounding, write_percent

AS_MUCH, HALF, NOTHING = N_("about as much"), N_("about half as much"), N_("almost nothing")
SHARES_BACK = AS_MUCH, HALF, NOTHING


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
    show_clickable_figure(panels, one_head.explain, origin, "directions", alt)


def count_parameters(d_model: int, head_dim: int, value_dim: int) -> dict[str, int]:
    """What W_Q, W_K and W_V hold together."""
    return {"parameters": projection_parameters(d_model, head_dim, value_dim)}


CLAIMS, CLAIM = "pages/24_claims.py", {"claim": "biases do not matter"}


def measure_biases(layer: Layer) -> dict[str, str]:
    """By how much a weight changes at most, with a random bias on the keys, or on the queries."""
    query, key, value = project(layer.x, layer.head())
    seeded = make_generator("biases", layer.seed)
    bias = torch.randn(key.shape[-1], generator=seeded).to(key.device)

    def weights(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        return attention_steps(query, key, value, layer.mask).weights

    plain = weights(query, key)
    on_keys = (weights(query, key + bias) - plain).abs().max().item()
    on_queries = (weights(query + bias, key) - plain).abs().max().item()
    return {"on_keys": bound_rounding(on_keys), "on_queries": f"{on_queries:.2f}"}


def link_claim() -> None:
    """What people write about it, checked."""
    label, icon = _("The claim on this"), ":material/fact_check:"
    st.page_link(CLAIMS, label=label, icon=icon, query_params=CLAIM)


MATRICES = ("W_Q", "W_K", "W_V")


def recall_query_numbers(draw: Random) -> Recall:
    """A row per word, d_k numbers in each."""
    words, head_dim = draw.randint(5, 20), draw.choice((4, 8, 16, 32))
    d_model = 2 * head_dim
    given = {"words": f"{words}", "d_model": f"{d_model}", "d_k": f"{head_dim}"}
    return Recall(words * head_dim, given)


def recall_growing_matrix(draw: Random) -> Recall:
    """Of W_Q, W_K and W_V, only W_V knows how long a value is."""
    before = draw.choice((4, 8, 16))
    return Recall("W_V", {"before": f"{before}", "after": f"{2 * before}"}, MATRICES)
