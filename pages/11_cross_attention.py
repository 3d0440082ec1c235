"""Two sequences: a decoder looks at another sentence, and learns by itself which word is whose."""

import streamlit as st

from explainers.lessons.cross_attention.accuracy import offer_heads, show_accuracy
from explainers.lessons.cross_attention.asked import read_by, show_asked
from explainers.lessons.cross_attention.block import show_block
from explainers.lessons.cross_attention.cells import show_cells
from explainers.lessons.cross_attention.explaining import show_explaining
from explainers.lessons.cross_attention.kept_once import show_kept
from explainers.lessons.cross_attention.off_by_one import show_off_by_one
from explainers.lessons.cross_attention.padding import show_padding
from explainers.lessons.cross_attention.parking import show_parking
from explainers.lessons.cross_attention.pieces_seen import show_pieces
from explainers.lessons.cross_attention.real import show_real
from explainers.lessons.cross_attention.tried import show_tried
from explainers.lessons.cross_attention.view import View
from explainers.lessons.cross_attention.writing import ask_where, show_writing
from explainers.translation.translator import Translator
from explainers.ui import common, controls, cross_controls

text = common.page_text(__file__)


@st.fragment
def looking(shown: View) -> None:
    """Which word each syllable looks at, in every head; and whether that is the right one."""
    text("looking")
    with st.container(horizontal=True):
        layer, head = int(cross_controls.layer()) - 1, cross_controls.head()
        rows, has_rings = cross_controls.rows(), cross_controls.gold()
    chosen = shown.at(layer, head, rows)
    if ask_where(text, chosen):
        offer_heads()
        show_writing(text, chosen, has_rings)
    show_accuracy(text, chosen)
    show_off_by_one(text, chosen)


@st.fragment
def explaining(shown: View) -> None:
    """What the weights say, and what they do not."""
    show_parking(text, shown)
    show_explaining(text, shown)
    show_tried(text)


@st.fragment
def inside(shown: View, translator: Translator) -> None:
    """The block around cross-attention, and what is kept and hidden of the source."""
    show_block(text, shown, translator)
    show_kept(text, shown, translator)
    show_padding(text, shown)


@st.fragment
def two_ways(shown: View) -> None:
    """Looking at another sequence, or standing behind it."""
    show_cells(text, shown)


@st.fragment
def real(sentence: str) -> None:
    """The same with a published translator, if it can be had."""
    show_real(text, sentence, common.queries_down())


text("question")
sentence, translator = controls.sentence(), read_by()
if translator and (shown := show_asked(text, sentence, common.queries_down())):
    looking(shown)
    explaining(shown)
    inside(shown, translator)
    two_ways(shown)
    show_pieces(text, shown)
real(sentence.text)
text("notice")
