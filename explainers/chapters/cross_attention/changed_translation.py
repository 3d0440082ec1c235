"""Are the weights an explanation? Change them, translate again, and compare."""

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st
from torch import Tensor

from explainers.attention.cross import Attend
from explainers.attention.scaled_dot_product import attention
from explainers.chapters.common.background_job import offer_job, watch_job
from explainers.chapters.cross_attention import takeaway
from explainers.chapters.cross_attention.alignment_view import END, TranslationView
from explainers.chapters.cross_attention.held_out_scores import LAST_LAYER
from explainers.charts.matrix import Matrix
from explainers.charts.theme import SOURCE_AXIS, TARGET_AXIS
from explainers.job_queue import Job, report_each
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
from explainers.translation.corpus import draw_test_sets
from explainers.translation.evaluation import measure_exact_match
from explainers.translation.model import NUM_LAYERS, PLAIN_ATTENTION
from explainers.translation.translator import Translation, greedy_search
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.controls import LEARNED, PEAK, PERMUTED, UNIFORM, WITHOUT
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, orient_panels
from explainers.ui.session import ABLATION_TABLE_JOB
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import verbatim


def count_unchanged(before: Sequence[str], after: Sequence[str]) -> int:
    """How many syllables are still there, in the same order."""
    return sum(block.size for block in _match_syllables(before, after))


def mark_changes(before: Sequence[str], after: Sequence[str]) -> str:
    """The new translation; what was not in the old one is bold."""
    unchanged = {
        n for block in _match_syllables(before, after) for n in range(block.b, block.b + block.size)
    }
    marked_syllables = [
        verbatim(syllable) if n in unchanged else f"**{verbatim(syllable)}**"
        for n, syllable in enumerate(after)
    ]
    return " ".join(marked_syllables) or _("(nothing)")


def _match_syllables(before: Sequence[str], after: Sequence[str]) -> list[difflib.Match]:
    return difflib.SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()


UNCHANGED_SHARES = N_("all of them"), N_("half of them or more"), N_("fewer than half")
REPLACEMENTS: dict[str, Attend] = {
    LEARNED: attention,
    UNIFORM: uniform_attention,
    PERMUTED: permuted_attention,
    PEAK: peak_attention,
    WITHOUT: attention,
}


def replace_attention(replacement: str, in_all_layers: bool) -> tuple[Attend, ...]:
    """The attention function of each decoder layer: replaced in the last one, or in all."""
    return (
        (*PLAIN_ATTENTION[:-1], REPLACEMENTS[replacement])
        if not in_all_layers
        else (REPLACEMENTS[replacement],) * NUM_LAYERS
    )


def answer_explaining(view: TranslationView) -> tuple[str, dict[str, Any]]:
    """How much stays if the last layer looks at all words equally, and what is written then."""
    before = view.translation
    after = translate_changed(before.words, before.syllables, UNIFORM).translation.syllables
    left = count_unchanged(before.syllables, after)
    share = left / max(view.num_syllables, 1)
    answer = UNCHANGED_SHARES[0 if share == 1 else 1 if share >= 0.5 else 2]
    new = mark_changes(before.syllables, after)
    return answer, {"left": left, "count": view.num_syllables, "new": new}


def show_replacements(view: TranslationView) -> dict[str, object]:
    """Each replacement in the last layer; a line of a table for what is written, and what stays."""
    before, lines, panels = view.translation, [], []
    for replacement in (LEARNED, UNIFORM, PEAK, PERMUTED):
        changed = translate_changed(before.words, before.syllables, replacement).translation
        left = count_unchanged(before.syllables, changed.syllables)
        new = mark_changes(before.syllables, changed.syllables)
        lines.append(f"| {_(replacement)} | {new} | {left} |")
        panels.append(replace(_make_weight_panel(replacement, changed), small=True))
    alt = _("Weights of the last layer: as learned, and with three others instead.")
    figure = Figure(orient_panels(panels, view.queries_down), alt)
    show_figure(figure, view.origin, "replaced")
    return {"rows": "\n".join(lines), "count": view.num_syllables}


class TranslationChange(NamedTuple):
    """What the reader puts in place of the weights, and what is written with it."""

    name: str
    """Of the replacement, as the sections of the page's text have it."""
    named: dict[str, object]
    code: Attend


def show_change(view: TranslationView) -> TranslationChange:
    """Ask for other weights or a word to leave out, and translate with them."""
    translation, replacement = view.translation, controls.replaced_weights()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        in_all_layers = controls.in_both_layers()
        names = [f"{n}: {word}" for n, word in enumerate(translation.words)]
        left_out = names.index(controls.left_out_word(names, names[min(3, len(names) - 1)]))
    hidden_position = left_out if replacement == WITHOUT else None
    changed, chance = translate_changed(
        translation.words, translation.syllables, replacement, in_all_layers, hidden_position
    )
    named = {
        "word": verbatim(translation.words[left_out]),
        "new": mark_changes(translation.syllables, changed.syllables),
        "left": count_unchanged(translation.syllables, changed.syllables),
        "count": view.num_syllables,
        "before": f"{translation.log_probabilities.sum().exp():.3f}",
        "after": f"{chance:.3g}",
    }
    is_learned = replacement == LEARNED
    shown = {LEARNED: translation} | ({} if is_learned else {N_("now"): changed})
    takeaway.take_changed_weights(changed, REPLACEMENTS[replacement], is_learned, hidden_position)
    panels = [_make_weight_panel(*one) for one in shown.items()]
    alt = _(
        "Weights of the last layer, mean of heads: as learned, and with: {instead}.",
        instead=_(replacement),
    )
    figure = Figure(orient_panels(panels, view.queries_down), alt)
    show_figure(figure, view.origin, "explaining")
    return TranslationChange(replacement.replace(" ", "_"), named, REPLACEMENTS[replacement])


AGREEMENT_CODE = leave_one_out, compare_peaks, correlate_ranks


class ChangedTranslation(NamedTuple):
    """What is written with other weights, and how likely the learned translation still is."""

    translation: Translation
    chance: float


@st.cache_resource(show_spinner=False, max_entries=64)
def translate_changed(
    words: tuple[str, ...],
    syllables: tuple[str, ...],
    replacement: str,
    in_all_layers: bool = False,
    left_out: int | None = None,
) -> ChangedTranslation:
    """Translate again; once for each change, however often the page runs."""
    attend = replace_attention(replacement, in_all_layers)
    hidden_positions = [] if left_out is None else [left_out]
    changed = weights_file.load_translator().translate(
        words, attend=attend, hidden_positions=hidden_positions
    )
    forced = weights_file.load_translator().force(words, syllables, attend, hidden_positions)
    return ChangedTranslation(changed, forced.log_probabilities.sum().exp().item())


@st.cache_resource(show_spinner=False, max_entries=64)
def compute_losses(words: tuple[str, ...], syllables: tuple[str, ...]) -> Tensor:
    """What leaving out each word costs each syllable (syllables, words)."""
    translator = weights_file.load_translator()
    return leave_one_out(translator, translator.force(words, syllables))


def _make_weight_panel(name: str, translation: Translation) -> Panel:
    weights = translation.cross[LAST_LAYER].mean(dim=0)[: len(translation.syllables)]
    columns = [*translation.words, END]
    axes = translation.syllables, columns, TARGET_AXIS, SOURCE_AXIS
    rule = _("decoder layer {layer}, mean of heads; every row sums to 1", layer=LAST_LAYER + 1)
    return Panel(name, Matrix(name, rule, weights.tolist(), *axes, kind="weights"))


def measure_agreement(view: TranslationView) -> dict[str, object]:
    """Weights against leaving words out: peaks, and the order of all; for a text."""
    losses = compute_losses(view.translation.words, view.translation.syllables)
    weights = view.translation.cross[LAST_LAYER].mean(dim=0)[
        : view.num_syllables, : len(view.translation.words)
    ]
    return {
        "agree": int(compare_peaks(weights, losses).sum()),
        "count": view.num_syllables,
        "order": f"{correlate_ranks(weights, losses).mean():.2f}",
    }


ABLATION_SENTENCES = 50
ABLATIONS = (
    (LEARNED, False),
    (PEAK, False),
    (PEAK, True),
    (UNIFORM, False),
    (UNIFORM, True),
    (PERMUTED, False),
    (PERMUTED, True),
)
"""What is put in place of the learned weights, and whether in all layers."""


class AblationScore(NamedTuple):
    """The share of sentences that are still translated as the corpus does."""

    replacement: str
    in_all_layers: bool
    exact_match: float


def score_ablations() -> Iterator[AblationScore]:
    """The score of every ablation, one after the other."""
    model, pairs = weights_file.load_translator().model, draw_test_sets(ABLATION_SENTENCES).unseen
    for replacement, in_all_layers in ABLATIONS:
        attend = replace_attention(replacement, in_all_layers)
        yield AblationScore(replacement, in_all_layers, measure_exact_match(model, pairs, attend))


def offer_ablation_table(show: Callable[..., object]) -> None:
    """A button; then `show` with the rows of a table, a line for each ablation."""
    label = _("Try them all on {count} held-out sentences", count=ABLATION_SENTENCES)
    all_cases = Job(ABLATION_SENTENCES, report_each(score_ablations), len(ABLATIONS))
    job = offer_job(ABLATION_TABLE_JOB, label, all_cases, icon=":material/experiment:")
    if not job:
        return

    def show_reports() -> None:
        if scores := list(job.reports):
            show(rows=write_scores(scores), sentences=ABLATION_SENTENCES)

    watch_job(ABLATION_TABLE_JOB, job, _("Translating"), show_reports)
    show_source(measure_exact_match, greedy_search)


def write_scores(scores: Sequence[AblationScore]) -> str:
    """The rows of the table."""
    where = {False: _("last layer"), True: _("all layers")}
    return "\n".join(
        f"| {_(replacement)} | {'–' if replacement == LEARNED else where[in_all_layers]} "
        f"| {100 * exact_match:.0f} % |"
        for replacement, in_all_layers, exact_match in scores
    )
