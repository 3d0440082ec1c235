"""Are the weights an explanation? Change them, translate again, and compare."""

import difflib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from explainers.attention.cross import Attend
from explainers.attention.scaled_dot_product import attention
from explainers.chapters.cross_attention.alignment_view import END, TranslationView
from explainers.chapters.cross_attention.held_out_scores import LAST_LAYER
from explainers.charts.matrix import Matrix
from explainers.charts.theme import SOURCE_AXIS, TARGET_AXIS
from explainers.messages import N_
from explainers.translation import weights_file
from explainers.translation.changed_weights import (
    peak_attention,
    permuted_attention,
    uniform_attention,
)
from explainers.translation.model import PLAIN_ATTENTION
from explainers.translation.translator import Translation
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.untrusted_text import verbatim


def count_unchanged(before: Sequence[str], after: Sequence[str]) -> int:
    """How many syllables are still there, in the same order."""
    return len(_list_unchanged(before, after))


def mark_changes(before: Sequence[str], after: Sequence[str]) -> str:
    """The new translation; what was not in the old one is bold."""
    unchanged = _list_unchanged(before, after)
    marked_syllables = [
        verbatim(syllable) if n in unchanged else f"**{verbatim(syllable)}**"
        for n, syllable in enumerate(after)
    ]
    return " ".join(marked_syllables) or _("(nothing)")


def _list_unchanged(before: Sequence[str], after: Sequence[str]) -> set[int]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return {n for block in matcher.get_matching_blocks() for n in range(block.b, sum(block[1:]))}


LEARNED, UNIFORM = N_("learned"), N_("uniform")
PERMUTED, PEAK = N_("permuted"), N_("only the peak")
UNCHANGED_SHARES = N_("all of them"), N_("half of them or more"), N_("fewer than half")
REPLACEMENTS: dict[str, Attend] = {
    LEARNED: attention,
    UNIFORM: uniform_attention,
    PERMUTED: permuted_attention,
    PEAK: peak_attention,
}
"""What is put in place of the last layer's attention."""


@st.cache_resource(show_spinner=False, max_entries=64)
def translate_changed(words: tuple[str, ...], replacement: str) -> Translation:
    """Translate again; once for each change, however often the page runs."""
    attend = *PLAIN_ATTENTION[:-1], REPLACEMENTS[replacement]
    return weights_file.load_translator().translate(words, attend=attend)


def answer_explaining(view: TranslationView) -> tuple[str, dict[str, Any]]:
    """How much stays if the last layer looks at all words equally, and what is written then."""
    before = view.translation
    after = translate_changed(before.words, UNIFORM).syllables
    left = count_unchanged(before.syllables, after)
    share = left / max(view.num_syllables, 1)
    answer = UNCHANGED_SHARES[0 if share == 1 else 1 if share >= 0.5 else 2]
    new = mark_changes(before.syllables, after)
    return answer, {"left": left, "count": view.num_syllables, "new": new}


def show_replacements(view: TranslationView) -> dict[str, object]:
    """Each replacement in the last layer; a line of a table for what is written, and what stays."""
    before, lines, panels = view.translation, [], []
    for replacement in (LEARNED, UNIFORM, PEAK, PERMUTED):
        changed = translate_changed(before.words, replacement)
        left = count_unchanged(before.syllables, changed.syllables)
        new = mark_changes(before.syllables, changed.syllables)
        lines.append(f"| {_(replacement)} | {new} | {left} |")
        panels.append(replace(_make_weight_panel(replacement, changed), small=True))
    alt = _("Weights of the last layer: as learned, and with three others instead.")
    figure = Figure(orient_panels(panels, view.queries_down), alt)
    show_figure(figure, view.origin, "replaced")
    return {"rows": "\n".join(lines), "count": view.num_syllables}


def _make_weight_panel(name: str, translation: Translation) -> Panel:
    weights = translation.cross[LAST_LAYER].mean(dim=0)[: len(translation.syllables)]
    columns = [*translation.words, END]
    axes = translation.syllables, columns, TARGET_AXIS, SOURCE_AXIS
    rule = _("decoder layer {layer}, mean of heads; every row sums to 1", layer=LAST_LAYER + 1)
    return Panel(name, Matrix(name, rule, weights.tolist(), *axes, kind="weights"))
