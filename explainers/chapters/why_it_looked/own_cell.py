"""Any weight of the reader's own text, explained by a model that is loaded."""

from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from explainers.chapters.common.recording import describe_live_run
from explainers.chapters.why_it_looked.explained_cell import Explained, explain_cell
from explainers.chapters.why_it_looked.shipped_cells import read_text
from explainers.models.registry import ModelError
from explainers.models.score_sources import Cell
from explainers.translations import _, translate_error
from explainers.ui.controls import why_controls as chosen
from explainers.ui.untrusted_text import shorten, verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel

FEWEST_TOKENS = 3


class Found(NamedTuple):
    """A weight, and whose it is."""

    explained: Explained
    origin: str


def explain_or_refuse(loaded: "RealModel", written: str) -> Found | None:
    """The head's largest weight past the first token; nothing, and a message, if that is not."""
    try:
        run, tokens = _read_once(loaded.name, id(loaded), written, loaded)
    except (ModelError, ValueError, RuntimeError) as error:
        why = verbatim(shorten(translate_error(error), 300))
        st.error(_("Nothing can be shown: {why}", why=why), icon=":material/error:")
        return None
    if len(tokens) < FEWEST_TOKENS:
        st.info(_("Type a text of at least {count} tokens.", count=FEWEST_TOKENS))
        return None
    with st.container(horizontal=True):
        layer = chosen.looked_layer(0, len(run.layers) - 1)
        head = chosen.looked_head(0, len(run.layers[0].query) - 1)
        query = chosen.looked_query(2, len(tokens) - 1)
    row = run.layers[layer].weights[head, query, 1:query]
    cell = Cell(layer, head, query, 1 + int(row.argmax()))
    return Found(explain_cell(run, cell, tokens), describe_live_run(loaded))


@st.cache_resource(show_spinner=False, max_entries=2, ttl=600)
def _read_once(named: str, which: int, written: str, _loaded: "RealModel") -> tuple[Any, list[str]]:
    """Once for a model (`which` of this name) and a text."""
    return read_text(_loaded, written)
