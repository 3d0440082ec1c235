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
from explainers.ui.prediction import revealed
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel


def ask_most(text: Prose, seen: Recording) -> bool:
    """A guess about the token that all heads together look at most."""
    mass = seen.weights.mean(dim=(0, 1, 2))
    places = dict.fromkeys((0, len(seen.tokens) // 2, len(seen.tokens) - 1, int(mass.argmax())))
    names = {
        place: N_("{token} (place {place})", token=verbatim(seen.tokens[place]), place=place)
        for place in places
    }
    answer = names[int(mass.argmax())]
    layers, heads = seen.shape
    return revealed(
        text,
        "most",
        list(names.values()),
        answer,
        heads=layers * heads,
        share=f"{100 * mass.max():.0f}",
        even=f"{100 / len(seen.tokens):.0f}",
    )


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


def chosen_head(seen: Recording) -> tuple[int, int]:
    """(layer, head) to be shown large: the fields where a reader without a mouse says so."""
    layers, heads = seen.shape
    return controls.model_layer(0, layers - 1), controls.model_head(0, heads - 1)


def choose(row: int, column: int) -> None:
    """Show the head of this row and this layer large; a callback."""
    controls.model_layer.put(column)
    controls.model_head.put(row)


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


NEW, OLD = N_("on the token that is first now"), N_("on the word that was first")
BOTH = N_("on both alike")
ALIKE = 0.1
"""Two shares that are closer than this are called alike."""


def show_sinks(text: Prose, shown: Recording) -> None:
    """The weight on the first token, head by head and layer by layer; a click chooses the head."""
    layers, heads = shown.shape
    text("sinks")
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
    if len(shown.tokens) < 2:
        return
    text("position")
    runs = {
        token: record_text(loaded, sentence, (token,)) for token in _others(loaded, shown, sentence)
    }
    if not runs:
        return
    pairs = {one.tokens[0]: (_on(one, 0), _on(one, 1)) for one in runs.values()}
    new, old = next(iter(pairs.values()))
    answer = BOTH if abs(new - old) < ALIKE else NEW if new > old else OLD
    word, put = _in_table(shown.tokens[0]), verbatim(next(iter(pairs)))
    if not revealed(
        text, "position", (NEW, OLD, BOTH), answer, word=verbatim(shown.tokens[0]), put=put
    ):
        return
    nothing = _("nothing")
    rows = [f"| {nothing} | – | {_on(shown, 0):.2f} |"]
    rows += [f"| {_in_table(name)} | {a:.2f} | {b:.2f} |" for name, (a, b) in pairs.items()]
    text("position_table", word=word, rows="\n".join(rows))
    st.caption(shown.origin)


def _in_table(token: str) -> str:
    """A token in a table's cell, which a bar would end."""
    return verbatim(token).replace("|", r"\|")


def _on(one: Recording, place: int) -> float:
    """The share of the weight on a token, over all layers and heads and all queries behind both."""
    behind = one.weights[..., min(2, len(one.tokens) - 1) :, place]
    return behind.mean().item()


def _others(loaded: "RealModel", shown: Recording, sentence: str) -> list[int]:
    """Ids to be put first: the token that begins a text, and the text's own last one."""
    from explainers.models.token_text import tokenise_text

    ids = tokenise_text(loaded, cut_text(loaded, sentence, MOST_TOKENS)[0]).ids[0].tolist()
    tokenizer = loaded.tokenizer
    begins = [tokenizer.bos_token_id, tokenizer.cls_token_id]
    found = [token for token in begins if token is not None and token != ids[0]]
    return list(dict.fromkeys([*found[:1], ids[len(ids) // 2], ids[-1]]))
