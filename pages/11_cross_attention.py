"""Two sequences: a decoder looks at another sentence, and learns by itself which word is whose."""

import streamlit as st

from explainers.chapters.cross_attention.ablation_table import show_tried
from explainers.chapters.cross_attention.alignment_accuracy import (
    offer_heads,
    show_accuracy,
    show_off_by_one,
)
from explainers.chapters.cross_attention.alignment_view import View
from explainers.chapters.cross_attention.block_tensors import show_block
from explainers.chapters.cross_attention.changed_translation import show_explaining
from explainers.chapters.cross_attention.choose_sentence import read_by, show_asked
from explainers.chapters.cross_attention.cross_vs_joined import show_cells
from explainers.chapters.cross_attention.padded_sources import show_padding
from explainers.chapters.cross_attention.parked_weight import show_parking
from explainers.chapters.cross_attention.real_translator import show_pieces, show_real
from explainers.chapters.cross_attention.source_cache import show_kept
from explainers.chapters.cross_attention.written_lines import ask_where, show_writing
from explainers.translation.translator import Translator
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.text.language import fragment

text = page.page_text(__file__)


@fragment
def looking(shown: View) -> None:
    """Which word each syllable looks at, in every head; and whether that is the right one."""
    text("looking")
    with st.container(horizontal=True):
        layer, head = int(controls.cross_layer()) - 1, controls.cross_head()
        rows, has_rings = controls.cross_rows(), controls.gold_rings()
    chosen = shown.at(layer, head, rows)
    if ask_where(text, chosen):
        offer_heads()
        show_writing(text, chosen, has_rings)
    show_accuracy(text, chosen)
    show_off_by_one(text, chosen)


@fragment
def explaining(shown: View) -> None:
    """What the weights say, and what they do not."""
    show_parking(text, shown)
    show_explaining(text, shown)
    show_tried(text)


@fragment
def inside(shown: View, translator: Translator) -> None:
    """The block around cross-attention, and what is kept and hidden of the source."""
    show_block(text, shown, translator)
    show_kept(text, shown, translator)
    show_padding(text, shown)


@fragment
def two_ways(shown: View) -> None:
    """Looking at another sequence, or standing behind it."""
    show_cells(text, shown)


@fragment
def real(sentence: str) -> None:
    """The same with a published translator, if it can be had."""
    show_real(text, sentence, page.queries_down())


text("question")
sentence, translator = choose_text(), read_by()
if translator and (shown := show_asked(text, sentence, page.queries_down())):
    looking(shown)
    explaining(shown)
    inside(shown, translator)
    two_ways(shown)
    show_pieces(text, shown)
real(sentence.text)
text("notice")
