"""What a head gets out of the same words in two orders, and what it reads: E + P = X."""

from dataclasses import dataclass

import streamlit as st
import torch

from explainers.attention.positions import Reordered, reorder, sinusoidal
from explainers.chapters.common import token_vectors
from explainers.chapters.tokens import takeaway
from explainers.chapters.tokens.clock_hands import (
    draw_clock,
    explain_strips,
    make_strips,
    make_sum_rows,
)
from explainers.chapters.tokens.hero import WIDTH
from explainers.toys import examples
from explainers.toys.layers import build_mask
from explainers.translations import _
from explainers.ui import provenance
from explainers.ui.controls import controls
from explainers.ui.controls.control import is_value
from explainers.ui.controls.number_controls import BrowserSlider, StepSlider
from explainers.ui.figure.chart import show_chart
from explainers.ui.figure.clickable_figure import explore_figure, show_clickable_figure
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Slider

POSITIONS = 32
HEAD_DIM = 4
DOG, SWAPPED = ("dog", "bites", "man"), (2, 1, 0)


@dataclass(frozen=True)
class Choices:
    """Everything the reader can change about the vectors."""

    tokens: tuple[str, ...]
    d_model: int
    longest: int
    seed: int


def draw_sum(choices: Choices) -> None:
    """Embedding + position = what attention reads, a row per word."""
    words, longest = choices.tokens, choices.longest
    x = examples.draw_embeddings(words, choices.d_model, choices.seed)
    positions = sinusoidal(POSITIONS, choices.d_model, longest)
    here = positions[: len(words)].to(x.device)
    explore_figure(
        token_vectors.make_sum_panels(words, x, here),
        token_vectors.explain_sum(x, here, longest),
        provenance.random_weights(choices.seed, x.device),
        "vectors",
        _("Embedding plus position is what attention reads, a row per token."),
    )
    takeaway.take_vectors("vectors", choices, x, positions)


def draw_one_sum(choices: Choices, word: int) -> None:
    """The same for one word: three strips, written like a sum."""
    words, longest = choices.tokens, choices.longest
    x = examples.draw_embeddings(words, choices.d_model, choices.seed)
    positions = sinusoidal(POSITIONS, choices.d_model, longest)
    here = positions[: len(words)].to(x.device)
    show_clickable_figure(
        [make_strips(words[word], make_sum_rows(x[word], here[word]))],
        explain_strips(x, here, longest, word),
        provenance.random_weights(choices.seed, x.device),
        "one sum",
        _("Embedding plus position is what attention reads: three rows of numbers of one word."),
    )
    takeaway.take_sum(choices, word)


def read_orders(
    words: tuple[str, ...], order: torch.Tensor, seed: int
) -> tuple[Reordered, Reordered]:
    """What each word gets in two orders, without positions and with them."""
    x = examples.draw_embeddings(words, WIDTH, seed)
    head = examples.random_head(WIDTH, HEAD_DIM, HEAD_DIM, seed)
    places = sinusoidal(len(words), WIDTH, examples.LONGEST).to(x.device)
    full = build_mask("full", x)
    without = reorder(x, torch.zeros_like(places), head, full, order)
    return without, reorder(x, places, head, full, order)


def read_dog(seed: int) -> tuple[Reordered, Reordered]:
    """The same for three words whose order matters."""
    return read_orders(DOG, torch.tensor(SWAPPED), seed)


def draw_dog(shown: Reordered, seed: int) -> None:
    """Two stacks of outputs, each word joined with itself."""
    from explainers.charts.two_orders import draw_two_orders, make_order_rows

    before = shown.before[torch.tensor(SWAPPED).argsort()]  # in the order in which it was read
    rows = make_order_rows(DOG, list(SWAPPED), before.tolist(), shown.after.tolist())
    origin = provenance.random_weights(seed, before.device)
    alt = _("The outputs of three words, read in two orders, joined by lines.")
    show_chart(draw_two_orders, rows, alt, "swapped", origin, words=len(DOG))


def read_sizes() -> tuple[int, int]:
    """d_model and the base of the waves, as the card on clock hands has them, or will."""
    return _read_size(controls.d_model), _read_size(controls.wave_base)


def _read_size(control: StepSlider | BrowserSlider) -> int:
    """What is chosen, or what the link asks for where the control was not drawn yet."""
    asked = (step for step in control.steps if is_value(control.read_url() or "", step))
    return int(st.session_state.get(control.key, next(asked, control.default)))


def read_followed_word(words: tuple[str, ...]) -> int:
    """The word whose sum is shown above the cards."""
    control = controls.followed_word
    return min(st.session_state.get(control.key, control.default), len(words) - 1)


def make_base_slider() -> Slider:
    """The base of the waves, moved in one picture; the other one follows."""
    control = controls.wave_base
    labels = [f"{base:,}" for base in control.steps]

    def put(turned: int) -> None:
        control.put(control.steps[turned])

    return Slider(control.label, labels, control(), put, name=control.key)


def draw_hands(words: tuple[str, ...], d_model: int, seed: int, bases: Slider) -> None:
    """A position as the hands of a clock, and added to a word."""
    x, word = examples.draw_embeddings(words, d_model, seed), read_followed_word(words)
    origin = provenance.random_weights(seed, x.device)
    show_figure(draw_clock(words[word], x[word], bases), origin, "clock")
    longest = int(controls.wave_base.steps[bases.index])
    choices = Choices(words, d_model, longest, seed)
    takeaway.take_vectors("clock", choices, x, sinusoidal(POSITIONS, d_model, longest))


def draw_waves(d_model: int, bases: Slider) -> None:
    """P for many positions, a column per position."""
    by_base = [sinusoidal(POSITIONS, d_model, base) for base in controls.wave_base.steps]
    origin = provenance.formula(_("sines and cosines"), by_base[0].device)
    token_vectors.show_waves(by_base, bases, origin)
