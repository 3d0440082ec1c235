"""Sinks: how much of all weight falls on the first token, and whether it is the word's doing."""

from typing import TYPE_CHECKING

import streamlit as st
import torch

from explainers.charts.matrix import Matrix
from explainers.charts.theme import HEAD_AXIS, LAYER_AXIS
from explainers.lessons.inspector.overview import choose
from explainers.lessons.inspector.running import MOST_SHORT, cut, seen
from explainers.lessons.inspector.seen import Seen, on_key
from explainers.phrase import phrase
from explainers.ui.figure import show_figure
from explainers.ui.language import said
from explainers.ui.panels import Cell, Figure, Panel
from explainers.ui.plain import verbatim
from explainers.ui.predict import revealed
from explainers.ui.prose import Prose
from explainers.ui.source import show_source

if TYPE_CHECKING:
    from explainers.models.load import Loaded

NEW, OLD = phrase("on the token that is first now"), phrase("on the word that was first")
BOTH = phrase("on both alike")
ALIKE = 0.1
"""Two shares that are closer than this are called alike."""


def show_sinks(text: Prose, shown: Seen) -> None:
    """The weight on the first token, head by head and layer by layer; a click chooses the head."""
    layers, heads = shown.shape
    text("sinks")
    mean = shown.on_first.mean(dim=1, keepdim=True)
    values = torch.cat([mean, shown.on_first], dim=1).T.tolist()
    matrix = Matrix(
        said("weight on “{token}”", token=shown.tokens[0]),
        said("mean over all later queries; a column per layer"),
        values,
        [said("all heads"), *(said("head {head}", head=head) for head in range(heads))],
        [str(layer) for layer in range(layers)],
        HEAD_AXIS,
        LAYER_AXIS,
        kind="weights",
    )
    most = int(mean.argmax())
    alt = said(
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
    show_source(on_key)


def _pick(cell: Cell) -> None:
    choose(max(0, cell.row - 1), cell.column)


def show_position(text: Prose, shown: Seen, loaded: "Loaded", sentence: str) -> None:
    """A guess, then the same text with other tokens put first: who gets the weight now?"""
    if len(shown.tokens) < 2:
        return
    text("position")
    runs = {token: seen(loaded, sentence, (token,)) for token in _others(loaded, shown, sentence)}
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
    rows = [f"| {said('nothing')} | – | {_on(shown, 0):.2f} |"]
    rows += [f"| {_in_table(name)} | {a:.2f} | {b:.2f} |" for name, (a, b) in pairs.items()]
    text("position_table", word=word, rows="\n".join(rows))
    st.caption(shown.origin)


def _in_table(token: str) -> str:
    """A token in a table's cell, which a bar would end."""
    return verbatim(token).replace("|", r"\|")


def _on(one: Seen, place: int) -> float:
    """The share of the weight on a token, over all layers and heads and all queries behind both."""
    behind = one.weights[..., min(2, len(one.tokens) - 1) :, place]
    return behind.mean().item()


def _others(loaded: "Loaded", shown: Seen, sentence: str) -> list[int]:
    """Ids to be put first: the token that begins a text, and the text's own last one."""
    from explainers.models.reading import read

    ids = read(loaded, cut(loaded, sentence, MOST_SHORT)[0]).ids[0].tolist()
    tokenizer = loaded.tokenizer
    begins = [tokenizer.bos_token_id, tokenizer.cls_token_id]
    found = [token for token in begins if token is not None and token != ids[0]]
    return list(dict.fromkeys([*found[:1], ids[len(ids) // 2], ids[-1]]))
