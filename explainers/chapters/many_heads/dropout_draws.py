"""Dropout on the weights: one draw, its row sums, and what many draws are on average."""

from dataclasses import replace
from typing import NamedTuple

import streamlit as st
import torch

from explainers.attention.multi_head import multi_head
from explainers.chapters.common.choose_layer import name_layer_origin
from explainers.chapters.many_heads import takeaway as taken
from explainers.charts.matrix import Matrix, make_pair_matrix
from explainers.charts.theme import QUERY_AXIS
from explainers.messages import N_, ngettext
from explainers.toys.layers import D_MODEL, SEEDS, Configuration, Layer, load_layer
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, Slider, orient_panels
from explainers.ui.text.language import fragment

Numbers = list[list[float]]
DRAWS = taken.DRAWS
ASKED = controls.dropout.default
"""The probability that the question is about, and that the picture opens with."""
EVERY_ROW = N_("softmax: every row sums to 1")
ANSWERS = ("1", "0.5", N_("each row to another number"))


class DropoutAverages(NamedTuple):
    """One head's weights; for each probability the averages over 1, 10, … draws."""

    weights: Numbers
    averages: list[list[Numbers]]
    layer: Layer


@st.cache_data(show_spinner=False, max_entries=20)
def draw_dropout(tokens: tuple[str, ...], seed: int) -> DropoutAverages:
    """Drop weights of the single trained head, at every probability that the slider offers."""
    layer = load_layer(tokens, Configuration(1, 1, D_MODEL, "full"), SEEDS[0])
    weights = multi_head(layer.x, layer.heads, layer.mask).weights[0]
    found = []
    for probability in controls.dropout.steps:
        averages = taken.average_draws(weights, probability, seed)
        found.append([average.tolist() for average in averages])
    return DropoutAverages(weights.tolist(), found, layer)


def classify_row_sums(weights: Numbers) -> str:
    """Which of the answers the rows of a draw sum to."""
    sums = torch.tensor(weights).sum(dim=-1)
    for answer in ANSWERS[:2]:
        if torch.allclose(sums, torch.tensor(float(answer)), atol=1e-4):
            return answer
    return ANSWERS[-1]


def answer_dropout(dropped: DropoutAverages) -> str:
    """What the rows of a draw sum to, at the probability that is asked about."""
    return classify_row_sums(dropped.averages[controls.dropout.steps.index(ASKED)][0])


@fragment
def drag_probability(
    tokens: tuple[str, ...], dropped: DropoutAverages, seed: int, queries_down: bool
) -> None:
    """Weights before and after, at the probability of the slider."""
    control = controls.dropout
    place = control()
    labels = [f"{step:g}" for step in control.steps]
    slider = Slider(control.label, labels, place, lambda turned: control.put(control.steps[turned]))
    panels = _make_panels(tokens, dropped, place)
    alt = _("Weights, one draw of dropout, and averages over 10, 100 and 1,000 draws.")
    origin = name_layer_origin(dropped.layer)
    origin += _(" · dropout: random, seed {seed}", seed=seed)
    show_figure(Figure(orient_panels(panels, queries_down), alt, slider=slider), origin, "dropout")
    probability, averages = control.steps[place], dropped.averages[place]
    taken.take_dropout(dropped.layer, probability, seed, dropped.weights, averages)


def _make_panels(tokens: tuple[str, ...], dropped: DropoutAverages, place: int) -> list[Panel]:
    exact, at_place = torch.tensor(dropped.weights), dropped.averages[place]
    names = [_(ngettext("{count:,} draw", "{count:,} draws", count)) for count in DRAWS]
    panels = [
        Panel(
            f"{DRAWS[n]:,} draws",
            make_pair_matrix(name, _("their average"), at_place[n], tokens, "weights"),
            frames=tuple(averages[n] for averages in dropped.averages),
            small=True,
        )
        for n, name in enumerate(names)
    ]
    rule = _("weight × (0 or 1) ÷ (1 − probability)")
    one = make_pair_matrix(_("one draw"), rule, at_place[0], tokens, "weights")
    sums = tuple(
        torch.tensor(averages[0]).sum(dim=-1, keepdim=True).tolist()
        for averages in dropped.averages
    )
    summed = Matrix(
        _("sums"), _("of its rows"), sums[place], tokens, [_("sum")], QUERY_AXIS, "", limit=2.0
    )
    far = tuple(
        [[(torch.tensor(one) - exact).abs().max().item()] for one in averages]
        for averages in dropped.averages
    )
    off = Matrix(
        _("error"), _("the largest"), far[place], names, [_("off by")], _("average"), "", limit=1.0
    )
    return [
        Panel(
            "weights", make_pair_matrix(_("weights"), EVERY_ROW, dropped.weights, tokens, "weights")
        ),
        replace(panels[0], id="one draw", matrix=one, operator="→", small=False),
        Panel("sums", summed, "→", frames=sums),
        replace(panels[1], heading=_("The average over many draws")),
        *panels[2:],
        Panel("error", off, "→", frames=far),
    ]
