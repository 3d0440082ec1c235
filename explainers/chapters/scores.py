"""The four steps of attention, one picture each; and √d_k, measured on random queries and keys."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

import streamlit as st
import torch
from torch import Tensor

from explainers.attention.scaling import measure, with_temperature
from explainers.attention.steps import OPERATIONS, dot_products, scale, softmax
from explainers.chapters.common.choose_layer import LayerSizes, name_layer_origin
from explainers.chapters.common.one_head import OneHead, attend, read_head
from explainers.chapters.common.sentence_reading import Reading
from explainers.charts.matrix import Matrix
from explainers.charts.theme import KEY_AXIS
from explainers.messages import N_
from explainers.toys.examples import make_generator
from explainers.toys.layers import Layer
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.chart import show_chart, tabulate, translate_rows
from explainers.ui.figure.hero import (
    Experiment,
    Hero,
    HeroChoice,
    begin_again,
    list_for_each,
    make_weight_table,
    round_numbers,
)
from explainers.ui.figure.linked_matrices import show_clickable_figure, show_figure
from explainers.ui.figure.panels import Figure, Panel, Slider, View, orient_panels
from explainers.ui.lecture.screens import is_lecture
from explainers.ui.page import Prose
from explainers.ui.provenance import random_weights
from explainers.ui.session import ROOT_SHOWN
from explainers.ui.source import show_source
from explainers.ui.text.numbers import write_percent

TEMPERATURES = tuple(
    int(step) if step.is_integer() else step
    for step in (round(2 ** (n / 4), 4) for n in range(-12, 25))
)
"""Whole ones as whole numbers: a browser tells 2, never 2.0."""
COLD, HOT = TEMPERATURES[0], TEMPERATURES[-1]
SENTENCES = ("hero_caption", "hero_two", "hero_one", "hero_spread", "hero_only")


def make_hero(text: Prose, reading: Reading) -> Hero:
    """The four steps of a head, for every word."""
    layer, word = reading.layer(), reading.choose_word()
    root = find_root(layer.heads.head_dim)
    begin_again(ROOT_SHOWN, root, controls.divided_by)
    divided_by = controls.divided_by.resolve_among(TEMPERATURES, root)
    return Hero(
        "four_steps",
        _("Four steps from the products of one word's query to its output."),
        compute_numbers(layer) | reading.marks,
        [word, HeroChoice(controls.divided_by, TEMPERATURES, divided_by), *reading.choose_marks()],
        (*SENTENCES, *reading.sentences),
        list_for_each(word, list_experiments(text, layer)),
        name_layer_origin(layer),
        lambda: make_weight_table(reading.tokens, weigh(layer, divided_by)),
    )


def find_root(head_dim: int) -> float:
    """√d_k as the slider has it, which stands at powers of 2 and between them."""
    return min(TEMPERATURES, key=lambda one: abs(one - math.sqrt(head_dim)))


def compute_numbers(layer: Layer) -> dict[str, Any]:
    """All that the picture needs; what a temperature makes of it, the browser computes."""
    views, steps = attend(layer)
    return {
        "tokens": list(layer.tokens),
        "products": round_numbers(steps.products),
        "value": round_numbers(views.value),
        "temperatures": list(TEMPERATURES),
        "root": find_root(layer.heads.head_dim),
    }


def weigh(layer: Layer, temperature: float) -> list[list[float]]:
    """The weights of every word if the products are divided by this."""
    products = attend(layer)[1].products
    weights: list[list[float]] = with_temperature(products, temperature).tolist()
    return weights


def list_experiments(text: Prose, layer: Layer) -> Callable[[int], list[Experiment]]:
    """By the word that is followed, what a reader can try, with the numbers that it will show."""
    tokens, cold, hot = layer.tokens, weigh(layer, COLD), weigh(layer, HOT)

    def list_of(word: int) -> list[Experiment]:
        most = max(cold[word])
        frozen = {
            "word": tokens[word],
            "temperature": f"{COLD}",
            "first": tokens[cold[word].index(most)],
            "first_share": write_percent(most),
        }
        melted = {
            "word": tokens[word],
            "temperature": f"{HOT}",
            "largest": write_percent(max(hot[word])),
            "smallest": write_percent(min(hot[word])),
        }
        return [
            Experiment("freeze", text.fill("try_freeze", **frozen), {"divided_by": COLD}),
            Experiment("melt", text.fill("try_melt", **melted), {"divided_by": HOT}),
        ]

    return list_of


EXAMPLE = (2.0, 0.0)
"""Two scores, with which softmax is worked out."""


def work_out_softmax() -> dict[str, str]:
    """The powers and the shares of two scores, for a text."""
    scores = torch.tensor(EXAMPLE)
    powers, shares = scores.exp().tolist(), softmax(scores).tolist()
    worked = {}
    for name, place in (("high", 0), ("low", 1)):
        worked[name] = f"{EXAMPLE[place]:g}"
        worked[f"{name}_power"] = f"{powers[place]:.2f}"
        worked[f"{name}_share"] = write_percent(shares[place])
    return worked


def choose_steps() -> tuple[str, ...]:
    """The step that the reader chose; a class, which turns screens instead, sees all in turn."""
    if not is_lecture():
        return (controls.step(),)
    controls.step(is_drawn=False)
    return controls.step.options


def show_step(sizes: LayerSizes, step: str, queries_down: bool, origin: str) -> None:
    """The picture and the code of one step."""

    def look(layer: Layer) -> View:
        one_head = read_head(layer)
        return View(one_head.step(step, queries_down), one_head.explain)

    slider = sizes.make_slider(look)
    alt = _("What goes into and comes out of: {step}.", step=_(step))
    show_clickable_figure(
        *slider.view, origin, f"step {step}", alt, stepper=step, view_slider=slider
    )
    show_source(*OPERATIONS[step])


def show_all_words(one_head: OneHead, word: int, queries_down: bool, origin: str) -> None:
    """The four steps for all words, a small matrix each; the row of a word stands in a box."""
    panels = [
        replace(one_head.panel(name, "→" if at else ""), followed=word)
        for at, name in enumerate(("products", "scores", "weights", "output"))
    ]
    alt = _("Four matrices: products, scores, weights and output, a row for each word.")
    working = one_head.explain
    show_clickable_figure(orient_panels(panels, queries_down), working, origin, "all words", alt)
    show_source(*sum(OPERATIONS.values(), ()))


Each = TypeVar("Each")
Pair: TypeAlias = tuple[Each, Each]
Numbers: TypeAlias = list[list[float]]
SEED = 0
"""Always the same: a law does not depend on it, and drawing again takes a second."""
DRAWS = 2_000
KEYS = 7
"""As many as the running sentence has tokens."""
BINS = 20
ROWS_SHOWN = 7
ANSWERS = N_("about 1/7: all alike"), N_("about a half"), N_("more than 0.9")


@dataclass(frozen=True)
class RootMeasurement:
    """What the draws at one d_k gave: without √d_k, with √d_k."""

    head_dim: int
    variance: Pair[float]
    gradient: Pair[float]
    average: Pair[float]
    shares: Pair[list[float]]
    rows: Pair[Numbers]


@st.cache_data(show_spinner=False, max_entries=1)
def load_measurements() -> list[RootMeasurement]:
    """One measurement for every d_k that the slider offers."""
    return run_experiment([int(step) for step in controls.root_head_dim.steps])


def run_experiment(head_dims: list[int]) -> list[RootMeasurement]:
    """One measurement for every d_k."""
    return [_measure(d, rows) for d, rows in zip(head_dims, _make_rows(head_dims), strict=True)]


def _measure(head_dim: int, rows: Pair[Numbers]) -> RootMeasurement:
    scaling = measure(head_dim, KEYS, DRAWS, make_generator("root", SEED, head_dim))
    without, with_root = scaling.largest
    return RootMeasurement(
        head_dim,
        scaling.variance,
        scaling.gradient,
        (without.mean().item(), with_root.mean().item()),
        (_count_shares(without), _count_shares(with_root)),
        rows,
    )


def _count_shares(largest: Tensor) -> list[float]:
    """Which part of the draws fell into each twentieth between 0 and 1."""
    return (largest.histc(BINS, 0, 1) / DRAWS).tolist()


def _make_rows(head_dims: list[int]) -> Iterator[Pair[Numbers]]:
    """The same few draws at every d_k, cut to its length, so that one can follow them."""
    seeded = make_generator("rows", SEED)
    query = torch.randn(ROWS_SHOWN, 1, head_dims[-1], generator=seeded)
    key = torch.randn(ROWS_SHOWN, KEYS, head_dims[-1], generator=seeded)
    for head_dim in head_dims:
        products = dot_products(query[..., :head_dim], key[..., :head_dim])[:, 0]
        yield softmax(products).tolist(), softmax(scale(products, head_dim)).tolist()


# Drawn on the CPU, where generators give the same numbers on every machine.
CPU = torch.device("cpu")


def show_largest(measurements: list[RootMeasurement], measurement: RootMeasurement) -> None:
    """How large the largest weight was: how often, without and with √d_k, at the slider's d_k."""
    place, title = measurements.index(measurement), _("largest weight")
    frames = tuple(m.shares for m in measurements)
    ends = [f"{n / BINS:.2f} – {(n + 1) / BINS:.2f}" for n in range(BINS)]
    shares = Matrix(
        title,
        _("share of draws"),
        frames[place],
        _name_series(),
        ends,
        "",
        "",
        kind="bars",
        limit=1.0,
    )
    without, with_root = write_averages(measurement)
    alt = _(
        "Largest of 7 weights over the draws: mean {without} without √d_k, {with_root} with it.",
        without=without,
        with_root=with_root,
    )
    slider = _make_slider(place, True)
    figure = Figure([Panel("largest", shares, frames=frames)], alt, slider=slider)
    show_figure(figure, _name_origin(), "largest", lambda: _make_histogram_rows(measurement))


def _make_slider(place: int, is_hidden: bool = False) -> Slider:
    """d_k; both pictures follow it."""
    control = controls.root_head_dim
    labels = [f"d_k = {step:g}" for step in control.steps]
    return Slider(
        control.label,
        labels,
        place,
        lambda turned: control.put(control.steps[turned]),
        name=control.key,
        hidden=is_hidden,
    )


def write_averages(measurement: RootMeasurement) -> Pair[str]:
    """The largest weight on average, without and with √d_k."""
    without, with_root = measurement.average
    return f"{without:.3f}", f"{with_root:.3f}"


def name_gradient(measurements: list[RootMeasurement]) -> dict[str, str]:
    """How strongly a row still reacts to its scores at the largest d_k, for a text."""
    last = measurements[-1]
    without, with_root = (f"{one:.2f}" for one in last.gradient)
    return {"d_k": f"{last.head_dim:,}", "without": without, "with_root": with_root}


def show_variance(measurements: list[RootMeasurement]) -> None:
    """How far the scores spread, at every d_k."""
    from explainers.charts.curves import Axis, draw_curve  # the first page needs no altair

    theory = _("theory: variance = d_k")
    d_k = Axis("d_k", is_logarithmic=True)
    spread = Axis(_("variance of the scores"), is_logarithmic=True)
    series = (*_name_series(), theory)
    points = [
        (m.head_dim, m.variance[place], name, False)
        for place, name in enumerate(_name_series())
        for m in measurements
    ]
    points += [(m.head_dim, m.head_dim, theory, True) for m in measurements]
    rows = tabulate(points, ["x", "y", "series", "reference"])
    alt = _("Variance of the scores: without √d_k on the line y = d_k, with it at 1.")
    show_chart(draw_curve, rows, alt, "variance", _name_origin(), x=d_k, y=spread, series=series)


def _name_origin() -> str:
    return random_weights(SEED, CPU)


def _name_series() -> tuple[str, str]:
    return _("without √d_k"), _("with √d_k")


def show_rows(measurements: list[RootMeasurement]) -> RootMeasurement:
    """Rows of weights without and with √d_k; returns what was measured at the chosen d_k."""
    place = controls.root_head_dim()
    panels = [
        _make_panel(series, tuple(m.rows[series] for m in measurements), place) for series in (0, 1)
    ]
    alt = _("Rows of weights of a few draws, without and with √d_k, at the slider's d_k.")
    show_figure(Figure(panels, alt, slider=_make_slider(place)), _name_origin(), "rows")
    return measurements[place]


def _make_panel(series: int, frames: tuple[list[list[float]], ...], place: int) -> Panel:
    matrix = Matrix(
        _("weights {kind}", kind=_name_series()[series]),
        "softmax(q · k)" if series == 0 else "softmax(q · k ÷ √d_k)",
        frames[place],
        [str(n + 1) for n in range(ROWS_SHOWN)],
        [str(n) for n in range(KEYS)],
        _("draw"),
        KEY_AXIS,
        kind="weights",
    )
    return Panel(("without", "with")[series], matrix, frames=frames)


def _make_histogram_rows(measurement: RootMeasurement) -> Any:
    """How often the largest weight fell into each twentieth."""
    rows = [
        (n / BINS, (n + 1) / BINS, share, series)
        for place, series in enumerate(_name_series())
        for n, share in enumerate(measurement.shares[place])
    ]
    return translate_rows(tabulate(rows, ["start", "end", "share", "series"]))


def measure_root(head_dims: list[int]) -> dict[str, Any]:
    """Random queries and keys at each d_k, a number or a list for each: without √d_k, then with."""
    measured = run_experiment(head_dims)
    names = "variance", "gradient", "average", "shares", "rows"
    return {name: [getattr(one, name) for one in measured] for name in names}
