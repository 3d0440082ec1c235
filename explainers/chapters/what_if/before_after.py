"""Before and after, side by side: what the model expects, and how much it is surprised."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from explainers.chapters.common.recording import describe_live_run
from explainers.chapters.what_if.takeaway import take_outcome
from explainers.charts.matrix import Matrix
from explainers.charts.theme import TOKEN_AXIS
from explainers.models.attention_hook import Change
from explainers.models.changes import Effect, compute_divergence, compute_losses, measure_effect
from explainers.translations import _, translate_error
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.page_parts.veil import ask_veiled
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import shorten, show_spaces, verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel


class Reading(NamedTuple):
    """A text that is read with one change after the other: by a model, or once, beforehand."""

    written: str
    measure: Callable[[Change], Effect | None]
    head_dim: int
    origin: str


def read_live(loaded: "RealModel", written: str) -> Reading:
    """By a model in memory."""
    config = loaded.model.config
    head_dim = getattr(config, "head_dim", None)
    head_dim = head_dim or config.hidden_size // config.num_attention_heads

    def measure(change: Change) -> Effect | None:
        return measure_or_explain(loaded, written, (change,))

    return Reading(written, measure, head_dim, describe_live_run(loaded))


FELT = 0.01
"""A loss that rises by fewer nats is not worth a word."""


def show_outcome(
    text: Prose, loaded: "RealModel", written: str, changes: Mapping[str, Change]
) -> None:
    """The loss under a veil; then next tokens, losses and the code of what was changed."""
    made = tuple(changes.values())
    found = measure_or_explain(loaded, written, made)
    if found is None:
        return
    names = ", ".join(map(_, changes))
    is_short = len(found.tokens) < 2
    before, after = found.mean_losses
    if is_short:
        text("one_token")
    else:
        ask_veiled(
            text,
            "loss",
            f"{after:.2f}",
            about=f"loss {', '.join(changes)}",
            names=names,
            before=f"{before:.2f}",
        )
    take_outcome(loaded, written, made)
    origin = describe_live_run(loaded)
    _show_following(text, found, origin)
    if not is_short:
        _show_losses(text, found, origin, names)
    for name in changes:
        text(f"remark_{name.replace(' ', '_').replace('√', '')}")
    show_source(*(type(change) for change in changes.values()))
    show_source(compute_losses, compute_divergence)


def measure_or_explain(
    loaded: "RealModel", written: str, changes: tuple[Change, ...]
) -> Effect | None:
    """What changes do to a text; nothing, and a message, for a text that cannot be read."""
    try:
        with st.spinner(_("The model reads the text twice …")):
            return computed(loaded.name, id(loaded), written, repr(changes), changes, loaded)
    except Exception as error:  # a model from a folder or the hub may raise anything
        why = verbatim(shorten(translate_error(error), 300))
        st.error(_("Nothing can be shown: {why}", why=why), icon=":material/error:")
        return None


@st.cache_data(show_spinner=False, max_entries=64)
def computed(
    named: str,
    which: int,
    written: str,
    named_changes: str,
    _changes: tuple[Change, ...],
    _loaded: "RealModel",
) -> Effect:
    """Once for a model (`which` of this name), a text and changes (`named_changes` names them)."""
    return measure_effect(_loaded, written, _changes)


def _show_following(text: Prose, found: Effect, origin: str) -> None:
    names = [show_spaces(name) for name, _unused, _unused in found.next_tokens]
    both = [list(chances) for chances in list(zip(*found.next_tokens, strict=True))[1:]]
    first, second = (verbatim(names[chances.index(max(chances))]) for chances in both)
    text(
        "following",
        before=first,
        before_share=f"{max(both[0]):.2f}",
        after=second,
        after_share=f"{max(both[1]):.2f}",
        divergence=f"{found.divergences[-1]:.2f}",
    )
    sides = _("as it is"), _("changed")
    formula = _("chance of each; all tokens of the vocabulary together have 1")
    name, axis = _("next token"), _("token that may follow")
    matrix = Matrix(name, formula, both, sides, names, "", axis, "weights")
    pairs = zip(names, *both, strict=True)
    chances = "; ".join(f"{name} {before:.2f}, {after:.2f}" for name, before, after in pairs)
    alt = _("Chances of next tokens, as it is and changed: {chances}", chances=chances)
    show_figure(Figure([Panel("next", matrix)], alt), origin, "following")


def _show_losses(text: Prose, found: Effect, origin: str, names: str) -> None:
    """A column for each token that was to be said: aligned, what was expected before it."""
    before, after = found.losses
    apart = found.divergences[:-1]
    worst = max(range(len(before)), key=lambda place: after[place] - before[place])
    means = found.mean_losses
    text(
        "losses",
        names=names,
        count=len(before),
        before=f"{means[0]:.3f}",
        after=f"{means[1]:.3f}",
        divergence=f"{sum(apart) / len(apart):.3f}",
    )
    if after[worst] - before[worst] >= FELT:
        text(
            "worst",
            token=verbatim(show_spaces(found.tokens[worst + 1])),
            before=f"{before[worst]:.2f}",
            after=f"{after[worst]:.2f}",
        )
    rows = _("loss as it is"), _("loss changed"), "KL"
    tokens = [show_spaces(token) for token in found.tokens[1:]]
    formula = _("nats, of each token but the first; KL between what both expected there")
    matrix = Matrix(_("losses"), formula, [before, after, apart], rows, tokens, "", TOKEN_AXIS)
    alt = _(
        "Losses of {count} tokens: mean {before:.2f} as it is, {after:.2f} changed.",
        count=len(tokens),
        before=means[0],
        after=means[1],
    )
    figure = Figure([Panel("losses", matrix, dense=True)], alt)
    show_figure(figure, origin, "losses")
