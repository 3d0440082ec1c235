"""The four steps of attention, one picture each; and √d_k, measured on random queries and keys."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st
import torch

from explainers.attention.scaled_dot_product import attention
from explainers.attention.scaling import EXPERIMENT, measure, with_temperature
from explainers.attention.single_head import project
from explainers.attention.steps import OPERATIONS, dot_products, scale, softmax
from explainers.chapters.common.choose_layer import (
    LayerSizes,
    choose_sizes,
    name_layer_origin,
    offer_training,
)
from explainers.chapters.common.one_head import attend, read_head, take_head
from explainers.chapters.common.sentence_reading import Reading
from explainers.charts.matrix import Matrix, Values
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
from explainers.ui.page import Prose, has_queries_down
from explainers.ui.prediction import revealed
from explainers.ui.provenance import random_weights
from explainers.ui.session import ROOT_SHOWN
from explainers.ui.source import run_and_show, show_source
from explainers.ui.takeaway_files import hand_over
from explainers.ui.text.language import fragment
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


def show_how(text: Prose, layer: Layer, word: int) -> None:
    """The four steps for all words, a small matrix each; the row of a word stands in a box."""
    text("steps", word=layer.tokens[word], **work_out_softmax())
    one_head = read_head(layer)
    panels = [
        replace(one_head.panel(name, "→" if at else ""), followed=word)
        for at, name in enumerate(("products", "scores", "weights", "output"))
    ]
    panels, origin = orient_panels(panels, has_queries_down()), name_layer_origin(layer)
    alt = _("Four matrices: products, scores, weights and output, a row for each word.")
    show_clickable_figure(panels, one_head.explain, origin, "all words", alt)
    show_source(*sum(OPERATIONS.values(), ()))
    take_head(_("One head, every matrix"), layer, one_head.numbers)


def show_steps(text: Prose, reading: Reading) -> None:
    """Queries and keys in, output out, one operation at a time, with weights of one's choice.

    A class, which turns screens instead of choosing, sees all steps in turn.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen, sizes = controls.step(is_drawn=not is_lecture()), choose_sizes(reading)
    steps = controls.step.options if is_lecture() else (chosen,)
    layer = sizes.layer
    for step in steps:
        text(f"step_{step}")
        show_step(sizes, step)
    if "output" in steps:
        run_and_show(attention, *project(layer.x, layer.head()), layer.mask)
    offer_training(layer)
    take_head(_("The head that you chose"), layer, read_head(layer).numbers, part="chosen head")


def show_step(sizes: LayerSizes, step: str) -> None:
    """The picture and the code of one step."""

    def look(layer: Layer) -> View:
        one_head = read_head(layer)
        return View(one_head.step(step, has_queries_down()), one_head.explain)

    slider, origin = sizes.make_slider(look), name_layer_origin(sizes.layer)
    alt = _("What goes into and comes out of: {step}.", step=_(step))
    show_clickable_figure(
        *slider.view, origin, f"step {step}", alt, stepper=step, view_slider=slider
    )
    show_source(*OPERATIONS[step])


SEED = 0
"""Always the same: a law does not depend on it, and drawing again takes a second."""
DRAWS = 2_000
KEYS = 7
"""As many as the running sentence has tokens."""
BINS = 20
ROWS_SHOWN = 7
ANSWERS = N_("about 1/7: all alike"), N_("about a half"), N_("more than 0.9")
HEAD_DIMS = [int(step) for step in controls.root_head_dim.steps]


@st.cache_data(show_spinner=False, max_entries=1)
def load_measurements() -> dict[str, Any]:
    """What was measured at every d_k that the slider offers."""
    return measure_root(HEAD_DIMS)


def measure_root(head_dims: list[int]) -> dict[str, Any]:
    """Random queries and keys at each d_k, a number or a list for each: without √d_k, then with."""
    names = "variance", "gradient", "average", "shares", "rows"
    found: dict[str, Any] = {name: [] for name in names}
    seeded = make_generator("rows", SEED)
    query = torch.randn(ROWS_SHOWN, 1, head_dims[-1], generator=seeded)
    key = torch.randn(ROWS_SHOWN, KEYS, head_dims[-1], generator=seeded)
    for head_dim in head_dims:
        scaling = measure(head_dim, KEYS, DRAWS, make_generator("root", SEED, head_dim))
        found["variance"].append(scaling.variance)
        found["gradient"].append(scaling.gradient)
        found["average"].append([one.mean().item() for one in scaling.largest])
        # which part of the draws fell into each twentieth between 0 and 1
        shares = [one.histc(BINS, 0, 1) / DRAWS for one in scaling.largest]
        found["shares"].append([one.tolist() for one in shares])
        # the same few draws at every d_k, cut to its length, so that one can follow them
        products = dot_products(query[..., :head_dim], key[..., :head_dim])[:, 0]
        rows = softmax(products), softmax(scale(products, head_dim))
        found["rows"].append([one.tolist() for one in rows])
    return found


def name_origin() -> str:
    """The badge of the pictures: generators give the same numbers on the CPU of any machine."""
    return random_weights(SEED, torch.device("cpu"))


def name_series() -> tuple[str, str]:
    """What is compared at each d_k."""
    return _("without √d_k"), _("with √d_k")


def ask_root(text: Prose) -> None:
    """What comes out if nothing is divided by √d_k."""
    text("root", keys=KEYS, draws=f"{DRAWS:,}")
    average = load_measurements()["average"][-1][0]
    answer = ANSWERS[2 if average > 0.9 else 1 if average > 0.3 else 0]
    if revealed(text, "root", ANSWERS, answer, keys=KEYS, average=f"{average:.2f}"):
        show_root(text)


@fragment
def show_root(text: Prose) -> None:
    """The same softmax with and without √d_k: rows that one can follow, then all draws."""
    measured, control = load_measurements(), controls.root_head_dim
    labels, place = [f"d_k = {step}" for step in HEAD_DIMS], control()
    slider = Slider.of(control, labels, place, name=control.key)  # of both pictures
    panels = []
    drawn = {"without": "softmax(q · k)", "with": "softmax(q · k ÷ √d_k)"}
    for n, (name, formula) in enumerate(drawn.items()):
        frames = tuple(rows[n] for rows in measured["rows"])
        matrix = Matrix(
            _("weights {kind}", kind=name_series()[n]),
            formula,
            frames[place],
            [str(n + 1) for n in range(ROWS_SHOWN)],
            [str(n) for n in range(KEYS)],
            _("draw"),
            KEY_AXIS,
            kind="weights",
        )
        panels.append(Panel(name, matrix, frames=frames))
    alt = _("Rows of weights of a few draws, without and with √d_k, at the slider's d_k.")
    show_figure(Figure(panels, alt, slider=slider), name_origin(), "rows")
    text("root_rows")
    without, with_root = (f"{average:.3f}" for average in measured["average"][place])
    text("root_largest", d_k=f"{HEAD_DIMS[place]:,}", without=without, with_root=with_root)
    alt = _(
        "Largest of 7 weights over the draws: mean {without} without √d_k, {with_root} with it.",
        without=without,
        with_root=with_root,
    )
    show_largest(measured["shares"], replace(slider, hidden=True), alt)
    title = _("Why to divide by √d_k")
    hand_over("root", title, measure_root, head_dims=HEAD_DIMS)
    show_source(*EXPERIMENT)


def show_largest(frames: Sequence[Values], slider: Slider, alt: str) -> None:
    """How large the largest weight was: how often, without and with √d_k, at the slider's d_k."""
    ends = [(n / BINS, (n + 1) / BINS) for n in range(BINS)]
    shares = Matrix(
        _("largest weight"),
        _("share of draws"),
        frames[slider.index],
        name_series(),
        [f"{start:.2f} – {end:.2f}" for start, end in ends],
        "",
        "",
        kind="bars",
        limit=1.0,
    )

    def make_table() -> Any:
        rows = [
            (*bounds, share, series)
            for series, line in zip(name_series(), shares.values, strict=True)
            for bounds, share in zip(ends, line, strict=True)
        ]
        return translate_rows(tabulate(rows, ["start", "end", "share", "series"]))

    panel = Panel("largest", shares, frames=tuple(frames))
    show_figure(Figure([panel], alt, slider=slider), name_origin(), "largest", make_table)


def show_variance(text: Prose) -> None:
    """Why it is √d_k and not another number, and why a row without it hardly learns."""
    from explainers.charts.curves import Axis, draw_curve  # the first page needs no altair

    measured = load_measurements()
    text("root_variance")
    theory = _("theory: variance = d_k")
    d_k = Axis("d_k", is_logarithmic=True)
    spread = Axis(_("variance of the scores"), is_logarithmic=True)
    series = (*name_series(), theory)
    points = [
        (head_dim, variance[place], name, False)
        for place, name in enumerate(name_series())
        for head_dim, variance in zip(HEAD_DIMS, measured["variance"], strict=True)
    ]
    points += [(head_dim, head_dim, theory, True) for head_dim in HEAD_DIMS]
    rows = tabulate(points, ["x", "y", "series", "reference"])
    alt = _("Variance of the scores: without √d_k on the line y = d_k, with it at 1.")
    show_chart(draw_curve, rows, alt, "variance", name_origin(), x=d_k, y=spread, series=series)
    without, with_root = (f"{size:.2f}" for size in measured["gradient"][-1])
    text("root_gradient", d_k=f"{HEAD_DIMS[-1]:,}", without=without, with_root=with_root)
