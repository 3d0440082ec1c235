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
from explainers.ui.figure.hero import read_choice
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel, Slider, draw_views, orient_panels
from explainers.ui.session import ABLATION_TABLE_JOB
from explainers.ui.source import show_source
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


def slot_changes(before: Sequence[str], after: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The same as a template, with a slot for each syllable, and what fills the slots."""
    unchanged = _list_unchanged(before, after)
    syllables = {f"syllable{n}": syllable for n, syllable in enumerate(after)}
    slots = [
        f"{{{{{name}}}}}" if n in unchanged else f"**{{{{{name}}}}}**"
        for n, name in enumerate(syllables)
    ]
    return " ".join(slots) or _("(nothing)"), syllables


def _list_unchanged(before: Sequence[str], after: Sequence[str]) -> set[int]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return {n for block in matcher.get_matching_blocks() for n in range(block.b, sum(block[1:]))}


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


def show_change(view: TranslationView, template: str) -> tuple[str, dict[str, object]]:
    """Ask for other weights or a word to leave out, and translate with them.

    Returns the replacement and the numbers for the page's text; none where a word is left out,
    whose words are the `template` in the picture.
    """
    translation, replacement = view.translation, controls.replaced_weights()
    in_all_layers, named = controls.in_both_layers(), dict[str, object]()
    if replacement == WITHOUT:
        figure = draw_left_out(view, template)
    else:
        syllables, is_learned = translation.syllables, replacement == LEARNED
        changed, chance = translate_changed(
            translation.words, syllables, replacement, in_all_layers
        )
        takeaway.take_changed_weights(changed, REPLACEMENTS[replacement], is_learned, None)
        figure = _draw_change(view, replacement, None if is_learned else changed)
        named = {"new": mark_changes(syllables, changed.syllables)}
        named |= _name_change(view, changed, chance)
    show_figure(figure, view.origin, "explaining")
    return replacement, named


def draw_left_out(view: TranslationView, template: str) -> Figure:
    """The weights of the last layer without each word in turn; a slider says which."""
    control, translation = controls.left_out_word, view.translation
    words, syllables = translation.words, translation.syllables
    names = [f"{n}: {word}" for n, word in enumerate(words)]
    place = names.index(read_choice(control, names, names[min(3, len(names) - 1)]))

    def translate(position: int) -> ChangedTranslation:
        return translate_changed(words, syllables, WITHOUT, left_out=position)

    def draw(position: int) -> Figure:
        changed, chance = translate(position)
        new, slots = slot_changes(syllables, changed.syllables)
        named = slots | _name_change(view, changed, chance) | {"word": words[position]}
        figure = _draw_change(view, WITHOUT, changed)
        return replace(figure, template=template.replace("{{new}}", new), named=[named])

    takeaway.take_changed_weights(translate(place)[0], REPLACEMENTS[WITHOUT], False, place)
    slider = Slider(control.label, names, place, lambda turned: control.put(names[turned]))
    return draw_views(slider, draw)


def _name_change(view: TranslationView, changed: Translation, chance: float) -> dict[str, object]:
    """How much stays of what was written, and how likely it was and is."""
    before = view.translation
    return {
        "left": count_unchanged(before.syllables, changed.syllables),
        "count": view.num_syllables,
        "before": f"{before.log_probabilities.sum().exp():.3f}",
        "after": f"{chance:.3g}",
    }


def _draw_change(view: TranslationView, replacement: str, changed: Translation | None) -> Figure:
    """The learned weights of the last layer, and beside them those of another translation."""
    shown = {LEARNED: view.translation}
    if changed and changed.syllables:
        shown[N_("now")] = changed
    panels = [_make_weight_panel(*one) for one in shown.items()]
    alt = _(
        "Weights of the last layer, mean of heads: as learned, and with: {instead}.",
        instead=_(replacement),
    )
    return Figure(orient_panels(panels, view.queries_down), alt)


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
