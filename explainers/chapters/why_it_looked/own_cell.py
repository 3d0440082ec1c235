"""Any weight of the reader's own text, explained by a model that is loaded."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from explainers.chapters.common.choose_real_model import choose_name, obtain_model
from explainers.chapters.common.recording import describe_live_run
from explainers.chapters.why_it_looked.explained_cell import Explained, Found, explain_cell
from explainers.chapters.why_it_looked.shipped_cells import read_text
from explainers.models.registry import ModelError
from explainers.models.score_sources import Cell
from explainers.translations import _, translate_error
from explainers.ui.controls import controls
from explainers.ui.controls import why_controls as chosen
from explainers.ui.untrusted_text import shorten, verbatim

if TYPE_CHECKING:
    from explainers.models.load import RealModel

FEWEST_TOKENS = 3


def choose_own() -> Found | None:
    """The controls, and the weight that they choose; nothing while the model is being loaded."""
    with st.container(horizontal=True):
        named, written = choose_name(), chosen.looked_text()
    loaded = obtain_model(named, "chosen")
    return explain_or_refuse(loaded, written) if loaded else None


def explain_or_refuse(loaded: "RealModel", written: str) -> Found | None:
    """The weight that is chosen, at first the row's largest past the first token.

    Nothing, and a message, if the model or the text is not one that can be split.
    """
    try:
        with st.spinner(_("The model reads the text, part by part …")):
            run, tokens = _read_once(loaded.name, id(loaded), written, loaded)
    except (ModelError, ValueError, RuntimeError) as error:
        why = verbatim(shorten(translate_error(error), 300))
        st.error(_("Nothing can be shown: {why}", why=why), icon=":material/error:")
        return None
    last = max(FEWEST_TOKENS, len(tokens)) - 1
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layer = chosen.looked_layer(0, len(run.layers) - 1)
        head = chosen.looked_head(0, len(run.layers[0].query) - 1)
        query = chosen.looked_query(2, last)
        key = chosen.looked_key(-1, last)
        is_merged = controls.whole_words()
    if len(tokens) < FEWEST_TOKENS:
        st.info(_("Type a text of at least {count} tokens.", count=FEWEST_TOKENS))
        return None
    row = run.layers[layer].weights[head, query, 1:query]
    is_seen = 0 <= key <= query  # else the largest, as where none is chosen
    cell = Cell(layer, head, query, key if is_seen else 1 + int(row.argmax()))
    explained = _explain_once(loaded.name, id(loaded), written, cell, run, tokens)
    found = Found(explained, describe_live_run(loaded), [*range(len(tokens))], tuple(tokens))
    return merge_tokens(loaded, written, found) if is_merged else found


def merge_tokens(loaded: "RealModel", written: str, found: Found) -> Found:
    """The same, with the words that its tokens belong to."""
    from explainers.models.token_text import read_words

    words = read_words(loaded, written, found.spelled)
    return found._replace(words=[*words.numbers], spelled=words.spelled)


@st.cache_resource(show_spinner=False, max_entries=2, ttl=600)
def _read_once(named: str, which: int, written: str, _loaded: "RealModel") -> tuple[Any, list[str]]:
    """Once for a model (`which` of this name) and a text."""
    return read_text(_loaded, written)


@st.cache_resource(show_spinner=False, max_entries=8, ttl=600)
def _explain_once(
    named: str, which: int, written: str, cell: Cell, _run: Any, _tokens: list[str]
) -> Explained:
    """Once for a model (`which` of this name), a text and a weight of it."""
    return explain_cell(_run, cell, _tokens)
