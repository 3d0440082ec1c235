"""The pattern of one head, on the reader's sentence and on a text of each probe."""

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st
from torch import Tensor

from explainers.charts.matrix import blanked, pairs
from explainers.lessons.head_gallery.measured import Gallery, named
from explainers.lessons.head_gallery.seen import heads_on, live, probe_texts, spelled
from explainers.lessons.inspector.packing import planes, strongest
from explainers.lessons.inspector.running import MOST_SHORT, cut
from explainers.lessons.taken import head_gallery as taken
from explainers.lessons.wording import told
from explainers.models.labels import labels
from explainers.models.reading import read
from explainers.models.registry import ModelError
from explainers.ui.figure import show_figure
from explainers.ui.language import said
from explainers.ui.panels import Figure, Panel, oriented
from explainers.ui.plain import shortened, verbatim
from explainers.ui.prose import Prose
from explainers.ui.tiles import Tiles, show_tiles

if TYPE_CHECKING:
    import pandas as pd

    from explainers.models.load import Loaded


def show_patterns(
    text: Prose, gallery: Gallery, chosen: tuple[int, int], sentence: str, queries_down: bool
) -> None:
    """The same head on texts in which it may have something to do, or nothing."""
    loaded, probes = gallery.loaded, probe_texts(gallery.loaded)
    against = next((one.against for one in labels(gallery.scores, *chosen) if one.against), None)
    passage = against.text if against else 0
    text("patterns", head=named(*chosen), passage=passage)
    left, right = st.columns(2)
    with left:
        text("on_repeated")
        _show_text(loaded, chosen, probes["repeated"][:1], "repeated")
    with right:
        text("on_natural", passage=passage)
        _show_text(loaded, chosen, probes["natural"][passage : passage + 1], "natural")
    try:
        _show_sentence(loaded, chosen, sentence, queries_down)
    except ModelError as error:
        st.info(verbatim(shortened(told(error), 300)), icon=":material/short_text:")


def _show_text(loaded: "Loaded", chosen: tuple[int, int], ids: Tensor, name: str) -> None:
    """One large image, to be looked into."""
    (layer, head), found, tokens = chosen, heads_on(loaded, ids), spelled(loaded, ids[0])
    weights = found.weights[layer, head][None]
    alt = said("Weights of {head} between {count} tokens.", head=named(*chosen), count=len(tokens))
    tiles = Tiles(
        planes(weights, ~found.masks[layer][None]),
        tokens,
        [str(layer)],
        [named(*chosen)],
        alt,
        enlarges=True,
    )
    table = partial(_table, weights, chosen, tokens)
    show_tiles(tiles, live(loaded), name, table)


def _table(weights: Tensor, chosen: tuple[int, int], tokens: list[str]) -> "pd.DataFrame":
    layer, head = chosen
    return strongest(weights[None], [layer], tokens).assign(head=head)


def _show_sentence(
    loaded: "Loaded", chosen: tuple[int, int], sentence: str, queries_down: bool
) -> None:
    """The reader's own words, with numbers."""
    beginning, left_out = cut(loaded, sentence, MOST_SHORT)
    (layer, head), reading = chosen, read(loaded, beginning)
    if left_out:
        st.caption(said("Of your sentence the last {count} tokens are left out.", count=left_out))
    found = heads_on(loaded, reading.ids)
    taken.sentence(loaded, reading.ids, chosen, named(*chosen))
    values = blanked(found.weights[layer, head].tolist(), found.masks[layer].tolist())
    sums = said("{head}; every row sums to 1", head=named(*chosen))
    matrix = pairs(said("your sentence"), sums, values, reading.tokens, kind="weights")
    alt = said("Weights of {head} on your sentence.", head=named(*chosen))
    figure = Figure(oriented([Panel("sentence", matrix)], queries_down), alt)
    show_figure(figure, live(loaded), "sentence")
