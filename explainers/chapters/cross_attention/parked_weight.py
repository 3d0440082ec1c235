"""Weight parked on the end of the sentence, where a syllable has no word to look at."""

import torch
from torch import Tensor

from explainers.chapters.cross_attention import held_out_scores
from explainers.chapters.cross_attention.alignment_view import TranslationView
from explainers.chapters.cross_attention.changed_translation import compute_losses
from explainers.chapters.cross_attention.held_out_scores import LAST_LAYER
from explainers.charts.matrix import Matrix
from explainers.charts.theme import SOURCE_AXIS
from explainers.messages import N_
from explainers.translation.train import HIDDEN_SHARE
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.untrusted_text import verbatim

SMALL_LOSS = 0.05
ROW_KINDS = N_("where a word begins"), N_("where it continues"), N_("in both alike")


def draw_weak_row(
    view: TranslationView, syllable_index: int, losses: Tensor, is_small: bool
) -> Figure:
    """A syllable's weights in each head, and what leaving each word out costs it."""
    translation = view.translation
    heads = translation.cross[LAST_LAYER][:, syllable_index]
    values = [*heads.tolist(), heads.mean(dim=0).tolist()]
    names = [*(_("head {n}", n=n) for n in range(len(heads))), _("mean")]
    name = _("the row of “{syllable}”", syllable=translation.syllables[syllable_index])
    axes = names, view.columns, N_("head"), SOURCE_AXIS
    rule = _("decoder layer {layer}; sums to 1", layer=LAST_LAYER + 1)
    shares = Matrix(name, rule, values, *axes, kind="weights")
    scale = 1_000 if is_small else 1
    in_thousandths = _("log-probability that it loses, in thousandths")
    without = Matrix(
        N_("left out"),
        _("log-probability that it loses") if scale == 1 else in_thousandths,
        [(scale * losses).tolist()],
        [translation.syllables[syllable_index]],
        translation.words,
        "",
        SOURCE_AXIS,
    )
    alt = _(
        "Weights of {row} in each head, and what leaving each word out costs this syllable.",
        row=name,
    )
    return Figure([Panel("row", shares), Panel("lost", without)], alt)


def answer_parking() -> tuple[str, dict[str, str]]:
    """Where more weight is on `<eos>`, and how much; for a text."""
    end = held_out_scores.measure_end_weight()
    is_alike = abs(end.word_start - end.word_rest) <= 0.01
    answer = ROW_KINDS[2] if is_alike else ROW_KINDS[end.word_start < end.word_rest]
    return answer, {
        "first": f"{100 * end.word_start:.0f}",
        "later": f"{100 * end.word_rest:.0f}",
        "hidden": f"{100 * HIDDEN_SHARE:.0f}",
    }


def show_weak_row(view: TranslationView) -> tuple[tuple[str, ...], dict[str, str]]:
    """The weakest syllable, head by head; the sections of the text that fit it, and its numbers."""
    at, translation = find_weak_syllable(view), view.translation
    losses = compute_losses(translation.words, translation.syllables)[at]
    is_small = losses.abs().max().item() < SMALL_LOSS  # the past says it all: no word costs much
    recall = held_out_scores.measure_link_recall()
    end_weight = translation.cross[LAST_LAYER].mean(dim=0)[: view.num_syllables, -1].mean().item()
    show_figure(draw_weak_row(view, at, losses, is_small), view.origin, "parking")
    named = {
        "syllable": verbatim(translation.syllables[at]),
        "most": verbatim(translation.words[int(losses.argmax())]),
        "on_end": f"{100 * end_weight:.0f}",
        "weak": f"{100 * recall.weak:.0f}",
        "others": f"{100 * recall.others:.0f}",
    }
    is_weak = view.gold and view.gold.weak
    found = "parking_weak" if is_weak else "parking_most_on_end"
    costs = "parking_costs_none" if is_small else "parking_costs_one"
    return (found, costs, "parking_seen"), named


def find_weak_syllable(view: TranslationView) -> int:
    """The "đã" that no English word says; without one, the syllable with the most on `<eos>`."""
    if view.gold and view.gold.weak:
        return min(syllable_index for syllable_index, _unused in view.gold.weak)
    last = view.translation.cross[LAST_LAYER].mean(dim=0)
    return int(torch.argmax(last[: view.num_syllables, -1]))
