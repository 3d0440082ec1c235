"""Two sequences: a decoder looks at another sentence, and learns by itself which word is whose."""

import streamlit as st

from explainers.chapters.cross_attention.alignment_accuracy import (
    offer_heads,
    show_accuracy,
    show_off_by_one,
)
from explainers.chapters.cross_attention.alignment_view import View
from explainers.chapters.cross_attention.block_tensors import show_block
from explainers.chapters.cross_attention.changed_translation import (
    show_ablation_table,
    show_changes,
)
from explainers.chapters.cross_attention.choose_sentence import (
    choose_translation,
    load_translator_or_warn,
)
from explainers.chapters.cross_attention.cross_costs import show_source_cache, show_weight_counts
from explainers.chapters.cross_attention.padded_sources import show_padding
from explainers.chapters.cross_attention.parked_weight import show_parked_weight
from explainers.chapters.cross_attention.real_translator import show_pieces, show_real_translation
from explainers.chapters.cross_attention.written_lines import (
    predict_reordered_word,
    show_written_lines,
)
from explainers.translation.translator import Translator
from explainers.ui import page
from explainers.ui.controls import controls
from explainers.ui.controls.choose_text import choose_text
from explainers.ui.text.language import fragment

text = page.open_prose(__file__)


@fragment
def show_alignment(view: View) -> None:
    """Which word each syllable looks at, in every head; and whether that is the right one."""
    text("looking")
    with st.container(horizontal=True):
        layer, head = int(controls.cross_layer()) - 1, controls.cross_head()
        rows, has_rings = controls.cross_rows(), controls.gold_rings()
    chosen_view = view.select(layer, head, rows)
    if predict_reordered_word(text, chosen_view):
        offer_heads()
        show_written_lines(text, chosen_view, has_rings)
    show_accuracy(text, chosen_view)
    show_off_by_one(text, chosen_view)


@fragment
def show_explanation(view: View) -> None:
    """What the weights say, and what they do not."""
    show_parked_weight(text, view)
    show_changes(text, view)
    show_ablation_table(text)


@fragment
def show_block_and_cache(view: View, translator: Translator) -> None:
    """The block around cross-attention, and what is kept and hidden of the source."""
    show_block(text, view, translator)
    show_source_cache(text, view, translator)
    show_padding(text, view)


@fragment
def compare_with_joined(view: View) -> None:
    """Looking at another sequence, or standing behind it."""
    show_weight_counts(text, view)


@fragment
def show_published(sentence: str) -> None:
    """The same with a published translator, if it can be had."""
    show_real_translation(text, sentence, page.has_queries_down())


text("question")
sentence, translator = choose_text(is_english=True), load_translator_or_warn()
if translator and (view := choose_translation(text, sentence, page.has_queries_down())):
    show_alignment(view)
    show_explanation(view)
    show_block_and_cache(view, translator)
    compare_with_joined(view)
    show_pieces(text, view)
show_published(sentence.text)
text("notice")
