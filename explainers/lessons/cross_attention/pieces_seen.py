"""Both sentences in pieces of words, as translators of many words read and write them."""

from collections.abc import Sequence

import streamlit as st

from explainers.lessons.cross_attention.view import View
from explainers.lessons.wording import told
from explainers.translation.kept import BrokenWeightsError
from explainers.ui.plain import verbatim
from explainers.ui.prose import Prose
from explainers.ui.source import show_source


def show_pieces(text: Prose, view: View) -> None:
    """How the pieces that were learned from the corpus cut this sentence and its translation."""
    from explainers.translation import pieces  # the page needs no sentencepiece to start

    sides = view.found.words, view.found.syllables
    try:
        source, target = map(pieces.cut, sides)
    except BrokenWeightsError as error:
        st.error(verbatim(told(error)), icon=":material/error:")
        return
    text(
        "pieces",
        kinds=pieces.COUNT,
        words=len(source),
        syllables=len(target),
        word_pieces=sum(map(len, source)),
        syllable_pieces=sum(map(len, target)),
        source=spelled(source),
        target=spelled(target),
    )
    show_source(pieces.cut)


def spelled(words: Sequence[Sequence[str]]) -> str:
    """All pieces, with a plus where a word is cut."""
    return " ".join(" + ".join(map(verbatim, word)) for word in words)
