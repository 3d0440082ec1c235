"""Are the weights an explanation? Change them, translate again, and compare."""

import difflib
from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st
from torch import Tensor

from explainers.attention.cross import Attend
from explainers.attention.scaled_dot_product import attention
from explainers.chapters.cross_attention import takeaway as taken
from explainers.chapters.cross_attention.alignment_view import END, View
from explainers.chapters.cross_attention.held_out import LAST
from explainers.charts.matrix import Matrix
from explainers.charts.theme import SOURCE_AXIS, TARGET_AXIS
from explainers.messages import N_
from explainers.translation import weights_file
from explainers.translation.changed_weights import (
    compare_peaks,
    correlate_ranks,
    leave_one_out,
    peak_attention,
    permuted_attention,
    uniform_attention,
)
from explainers.translation.model import NUM_LAYERS, PLAIN_ATTENTION
from explainers.translation.translator import Translation
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.controls import LEARNED, PEAK, PERMUTED, UNIFORM, WITHOUT
from explainers.ui.figure.figure import show_figure
from explainers.ui.figure.panels import Figure, Panel, oriented
from explainers.ui.page import Prose
from explainers.ui.predict import revealed
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import verbatim


def same(before: Sequence[str], after: Sequence[str]) -> int:
    """How many syllables are still there, in the same order."""
    return sum(block.size for block in _blocks(before, after))


def marked(before: Sequence[str], after: Sequence[str]) -> str:
    """The new translation; what was not in the old one is bold."""
    staying = {n for block in _blocks(before, after) for n in range(block.b, block.b + block.size)}
    shown = [
        verbatim(one) if n in staying else f"**{verbatim(one)}**" for n, one in enumerate(after)
    ]
    return " ".join(shown) or _("(nothing)")


def _blocks(before: Sequence[str], after: Sequence[str]) -> list[difflib.Match]:
    return difflib.SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()


SHARES = N_("all of them"), N_("most of them"), N_("less than half of them")
INSTEAD: dict[str, Attend] = {
    LEARNED: attention,
    UNIFORM: uniform_attention,
    PERMUTED: permuted_attention,
    PEAK: peak_attention,
    WITHOUT: attention,
}


def attends(instead: str, everywhere: bool) -> tuple[Attend, ...]:
    """What each decoder layer computes: the last one, or all, something else."""
    return (
        (*PLAIN_ATTENTION[:-1], INSTEAD[instead])
        if not everywhere
        else (INSTEAD[instead],) * NUM_LAYERS
    )


def show_explaining(text: Prose, view: View) -> None:
    """A guess about uniform weights; then every change, by the press of a button."""
    text("explaining")
    found = view.found
    flat = retold(found.words, found.syllables, UNIFORM).found
    left = same(found.syllables, flat.syllables)
    share = left / max(view.syllables, 1)
    answer = SHARES[0] if share == 1 else SHARES[1] if share >= 0.5 else SHARES[2]
    if not revealed(text, "explaining", SHARES, answer, left=left, count=view.syllables):
        return
    instead = controls.replaced_weights()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        everywhere = controls.in_both_layers()
        names = [f"{n}: {word}" for n, word in enumerate(found.words)]
        left_out = names.index(controls.left_out_word(names, names[min(3, len(names) - 1)]))
    place = left_out if instead == WITHOUT else None
    changed, chance = retold(found.words, found.syllables, instead, everywhere, place)
    text(
        f"changed_{instead.replace(' ', '_')}",
        word=verbatim(found.words[left_out]),
        new=marked(found.syllables, changed.syllables),
        left=same(found.syllables, changed.syllables),
        count=view.syllables,
        before=f"{found.log_probabilities.sum().exp():.3f}",
        after=f"{chance:.3g}",
    )
    shown = {LEARNED: found} if instead == LEARNED else {LEARNED: found, N_("now"): changed}
    taken.explaining(changed, INSTEAD[instead], instead == LEARNED, place)
    panels = oriented([_panel(*one) for one in shown.items()], view.queries_down)
    alt = _(
        "Weights of the last layer, mean of heads: as learned, and with: {instead}.",
        instead=_(instead),
    )
    show_figure(Figure(panels, alt), view.origin, "explaining")
    show_source(INSTEAD[instead])
    if len(found.words) > 1:  # one word has no order
        _show_agreement(text, view)
    text("papers")


class Retold(NamedTuple):
    """What is written with other weights, and how likely the learned translation still is."""

    found: Translation
    chance: float


@st.cache_data(show_spinner=False, max_entries=64)
def retold(
    words: tuple[str, ...],
    syllables: tuple[str, ...],
    instead: str,
    everywhere: bool = False,
    left_out: int | None = None,
) -> Retold:
    """Translate again; once for each change, however often the page runs."""
    attend, places = attends(instead, everywhere), [] if left_out is None else [left_out]
    changed = weights_file.load_translator().translate(
        words, attend=attend, hidden_positions=places
    )
    forced = weights_file.load_translator().force(words, syllables, attend, places)
    return Retold(changed, forced.log_probabilities.sum().exp().item())


@st.cache_data(show_spinner=False, max_entries=64)
def losses(words: tuple[str, ...], syllables: tuple[str, ...]) -> Tensor:
    """What leaving out each word costs each syllable (syllables, words)."""
    translator = weights_file.load_translator()
    return leave_one_out(translator, translator.force(words, syllables))


def _panel(name: str, found: Translation) -> Panel:
    weights = found.cross[LAST].mean(dim=0)[: len(found.syllables)]
    columns = [*found.words, END]
    axes = found.syllables, columns, TARGET_AXIS, SOURCE_AXIS
    rule = _("decoder layer {layer}, mean of heads; every row sums to 1", layer=LAST + 1)
    return Panel(name, Matrix(name, rule, weights.tolist(), *axes, kind="weights"))


def _show_agreement(text: Prose, view: View) -> None:
    """Weights against leaving words out: peaks, and the order of all."""
    lost = losses(view.found.words, view.found.syllables)
    weights = view.found.cross[LAST].mean(dim=0)[: view.syllables, : len(view.found.words)]
    text(
        "agreement",
        agree=int(compare_peaks(weights, lost).sum()),
        count=view.syllables,
        order=f"{correlate_ranks(weights, lost).mean():.2f}",
    )
    show_source(leave_one_out, compare_peaks, correlate_ranks)
