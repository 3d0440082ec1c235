"""What the tour shows: a model that sees four tokens, and the same with the first one as well."""

from typing import TYPE_CHECKING

import streamlit as st

from explainers.chapters.common.choose_real_model import obtain_model
from explainers.chapters.common.number_words import write_percent
from explainers.chapters.common.recording import describe_live_run
from explainers.chapters.what_if.before_after import computed
from explainers.charts.matrix import Matrix, Values
from explainers.models.changes import Effect, Window
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.untrusted_text import show_spaces, verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel

WIDTH = 4


def show_two_windows() -> dict[str, str]:
    """The next token as it is, with a window, and with a window and the first token.

    Returns what the page says of it; nothing where there is no model.
    """
    loaded = obtain_model(controls.SMALLEST, "chosen")
    if loaded is None:
        return {}
    with st.spinner(_("The model reads the text twice …")):
        effects = [_measure(loaded, sinks) for sinks in (0, 1)]
    show_figure(_draw(effects), describe_live_run(loaded), "two windows")
    return name_windows(effects)


def _measure(loaded: "RealModel", sinks: int) -> Effect:
    change = Window(width=WIDTH, sinks=sinks)
    return computed(loaded.name, id(loaded), controls.CAPITALS, repr(change), (change,), loaded)


def list_chances(effects: list[Effect]) -> dict[str, list[float | None]]:
    """By token: its probability as it is, with the window, and with the first token as well.

    A token that is unlikely in two of them may have been measured in one only.
    """
    chances: dict[str, list[float | None]] = {}
    for place, effect in enumerate(effects, start=1):
        for token, before, after in effect.next_tokens:
            row = chances.setdefault(token, [before, None, None])
            row[place] = after
    return chances


def name_windows(effects: list[Effect]) -> dict[str, str]:
    """What the sentence says: the most probable token of each, and the losses."""
    chances = list_chances(effects)
    named = {"width": f"{WIDTH}", "prompt": controls.CAPITALS, "word": effects[0].tokens[0]}
    for place, name in enumerate(("before", "window", "first")):
        best = max(chances, key=lambda token: chances[token][place] or 0.0)
        named[name] = verbatim(show_spaces(best))
        named[f"{name}_share"] = write_percent(chances[best][place] or 0.0)
    losses = effects[0].mean_losses[0], *(effect.mean_losses[1] for effect in effects)
    for name, loss in zip(("before", "window", "first"), losses, strict=True):
        named[f"{name}_loss"] = f"{loss:.2f}"
    return named


def _draw(effects: list[Effect]) -> Figure:
    chances = list_chances(effects)
    rows = (
        _("as it is"),
        _("last {width} tokens", width=WIDTH),
        _("last {width} and the first", width=WIDTH),
    )
    names = [show_spaces(token) for token in chances]
    values: Values = [[chances[token][place] for token in chances] for place in range(len(rows))]
    formula = _("chance of each; all tokens of the vocabulary together have 1")
    axis = _("token that may follow")
    matrix = Matrix(_("next token"), formula, values, rows, names, "", axis, "weights")
    alt = _("Probabilities of the next token: as it is, with a window, and with the first token.")
    return Figure([Panel("next", matrix)], alt)
