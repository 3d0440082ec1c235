"""Every head of a model in one picture, and the weight parked on the first token."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st
import torch

from explainers.chapters.common.recording import (
    MOST_TOKENS,
    Recording,
    average_weight_on_key,
    cut_text,
    pack_weights,
    record_text,
    tabulate_strongest_keys,
)
from explainers.charts.matrix import Matrix
from explainers.charts.theme import HEAD_AXIS, LAYER_AXIS
from explainers.messages import N_, ngettext
from explainers.models.head_scores import SINK_THRESHOLD
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.head_tiles import Tiles, show_tiles
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.page_parts.veil import ask_veiled
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel


def ask_most(text: Prose, seen: Recording) -> None:
    """Which token gets most of all weight: a veiled name."""
    mass = seen.weights.mean(dim=(0, 1, 2))
    most = int(mass.argmax())
    places = dict.fromkeys((most, len(seen.tokens) // 2, len(seen.tokens) - 1))
    names = {place: name_place(seen, place) for place in sorted(places)}
    layers, heads = seen.shape
    ask_veiled(
        text,
        "most",
        names[most],
        list(names.values()),
        heads=layers * heads,
        share=f"{100 * mass.max():.0f}",
        even=f"{100 / len(seen.tokens):.0f}",
    )


def name_place(seen: Recording, place: int) -> str:
    """A token and its position."""
    return _("{token} (position {place})", token=verbatim(seen.tokens[place]), place=place)


def show_overview(text: Prose, seen: Recording, chosen: tuple[int, int], is_dimmed: bool) -> None:
    """All heads small; a click chooses the one that is shown large."""
    layers, heads = seen.shape
    hidden = ~seen.masks[:, None].expand_as(seen.weights)
    if is_dimmed:
        hidden = hidden.clone()
        hidden[..., 0] = True
    tiles = Tiles(
        pack_weights(seen.weights.flatten(0, 1), hidden.flatten(0, 1)),
        seen.tokens,
        [str(layer) for layer in range(layers)],
        [_("head {head}", head=head) for head in range(heads)],
        _(
            "Weights of {heads} heads in each of {layers} of {model}, small.",
            heads=heads,
            layers=_(ngettext("{count:,} layer", "{count:,} layers", layers)),
            model=seen.name,
        ),
        [_("local: the last {window} tokens", window=w) if w else "" for w in seen.windows],
        seen.group_size,
        (chosen[1], chosen[0]),
    )
    table = partial(tabulate_strongest_keys, seen.weights, range(layers), seen.tokens)
    show_tiles(tiles, seen.origin, "heads", table, choose)
    _say_what_is_seen(text, seen, is_dimmed)


def choose(row: int, column: int) -> None:
    """Show the head of this row and this layer large; a callback."""
    controls.model_layer.put(column)
    controls.model_head.put(row)


def read_clicked_head(shown: tuple[int, int]) -> tuple[int, int]:
    """The layer and the head that were clicked last, below the picture or in it."""
    layer, head = (
        st.session_state.get(control.key) for control in (controls.model_layer, controls.model_head)
    )
    # Where nobody has chosen, the picture has chosen by itself.
    return shown if layer is None or head is None else (layer, head)


def _say_what_is_seen(text: Prose, seen: Recording, is_dimmed: bool) -> None:
    layers, heads = seen.shape
    group = seen.group_size
    text(
        f"families_{'shared' if group > 1 else 'own'}",
        heads=heads,
        groups=heads // group,
        group=group,
    )
    near = [str(layer) for layer, window in enumerate(seen.windows) if window]
    if near:
        text("local", layers=", ".join(near), count=len(near), all=layers)
    first = verbatim(seen.tokens[0])
    parked = int((seen.first_token_weights > SINK_THRESHOLD).sum())
    if is_dimmed:
        text("dimmed", share=f"{100 * seen.weights[..., 0].mean():.0f}", first=first)
    text("parked", parked=parked, heads=layers * heads, limit=SINK_THRESHOLD, first=first)


NEW, OLD = N_("the token that is first now"), N_("the token that was first")
BOTH = N_("both about the same")
ALIKE = 0.1
"""Two shares that are closer than this are called alike."""


def show_sinks(text: Prose, shown: Recording) -> None:
    """The weight on the first token, head by head and layer by layer; a click chooses the head."""
    layers, heads = shown.shape
    mean = shown.first_token_weights.mean(dim=1, keepdim=True)
    values = torch.cat([mean, shown.first_token_weights], dim=1).T.tolist()
    matrix = Matrix(
        _("weight on “{token}”", token=shown.tokens[0]),
        _("mean over all later queries; a column per layer"),
        values,
        [_("all heads"), *(_("head {head}", head=head) for head in range(heads))],
        [str(layer) for layer in range(layers)],
        HEAD_AXIS,
        LAYER_AXIS,
        kind="weights",
    )
    most = int(mean.argmax())
    alt = _(
        "Share of the weight on the first token; the most, {share:.2f}, in layer {most}.",
        share=mean.max().item(),
        most=most,
    )
    figure = Figure([Panel("sinks", matrix)], alt, on_pick=_pick)
    show_figure(figure, shown.origin, "sinks")
    least = int(mean.argmin())
    text(
        "sinks_seen",
        most=most,
        most_share=f"{mean[most, 0]:.2f}",
        least=least,
        least_share=f"{mean[least, 0]:.2f}",
    )
    show_source(average_weight_on_key)


def _pick(cell: Cell) -> None:
    choose(max(0, cell.row - 1), cell.column)


def show_position(text: Prose, shown: Recording, loaded: "RealModel", sentence: str) -> None:
    """A guess, then the same text with other tokens put first: who gets the weight now?"""
    ids = _list_others(loaded, shown, sentence) if len(shown.tokens) > 1 else []
    if not ids:
        return
    moved = record_text(loaded, sentence, (ids[0],))
    new, old = _on(moved, 0), _on(moved, 1)
    answer = BOTH if abs(new - old) < ALIKE else NEW if new > old else OLD
    named = {"word": verbatim(shown.tokens[0]), "put": verbatim(moved.tokens[0])}
    share = f"{100 * _on(shown, 0):.0f}"
    before, after = f"{100 * new:.0f}", f"{100 * old:.0f}"
    told = {"share": share, "new": before, "old": after}
    if not revealed(text, "position", (NEW, OLD, BOTH), answer, **named, **told):
        return
    runs = [moved, *(record_text(loaded, sentence, (token,)) for token in ids[1:])]
    put = [_("nothing"), *(run.tokens[0] for run in runs)]
    shares: list[list[float | None]] = [[None, _on(shown, 0)]]
    shares += [[_on(run, 0), _on(run, 1)] for run in runs]
    word = _("“{token}”", token=shown.tokens[0])
    matrix = Matrix(
        _("weight of later tokens"),
        _("mean over all layers and heads"),
        shares,
        put,
        [_("first token"), word],
        _("put before the text"),
        _("weight on"),
        kind="weights",
    )
    alt = _("Weight on the new first token and on the old one: {answer}.", answer=_(answer))
    show_figure(Figure([Panel("position", matrix)], alt), shown.origin, "position")


def _on(one: Recording, place: int) -> float:
    """The share of the weight on a token, over all layers and heads and all queries behind both."""
    behind = one.weights[..., min(2, len(one.tokens) - 1) :, place]
    return behind.mean().item()


def _list_others(loaded: "RealModel", shown: Recording, sentence: str) -> list[int]:
    """Ids to be put first: the text's own last one, one of its middle, one that begins a text."""
    from explainers.models.token_text import tokenise_text

    ids = tokenise_text(loaded, cut_text(loaded, sentence, MOST_TOKENS)[0]).ids[0].tolist()
    tokenizer = loaded.tokenizer
    begins = [tokenizer.bos_token_id, tokenizer.cls_token_id]
    found = [token for token in begins if token is not None and token != ids[0]]
    return list(dict.fromkeys([ids[-1], ids[len(ids) // 2], *found[:1]]))
