"""The weak word and the end of the sentence: weight that finds nothing to look at."""

import torch

from explainers.chapters.cross_attention import held_out
from explainers.chapters.cross_attention.alignment_view import View
from explainers.chapters.cross_attention.changed_translation import losses
from explainers.chapters.cross_attention.held_out import LAST
from explainers.charts.matrix import Matrix
from explainers.charts.theme import SOURCE_AXIS
from explainers.messages import N_
from explainers.translation.changed_weights import leave_one_out
from explainers.translation.train import HIDDEN_SHARE
from explainers.translations import _
from explainers.ui.figure.figure import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.predict import revealed
from explainers.ui.source import show_source
from explainers.ui.untrusted_text import verbatim

SMALL = 0.05
PLACES = N_("where a word begins"), N_("where a word goes on"), N_("in both alike")


def show_parking(text: Prose, view: View) -> None:
    """A guess about the rows of second syllables; then the weakest syllable, head by head."""
    mass, right = held_out.parked(), held_out.weak_and_others()
    text("parking")
    larger = PLACES[mass.first < mass.later] if abs(mass.first - mass.later) > 0.01 else PLACES[2]
    first, later = f"{100 * mass.first:.0f}", f"{100 * mass.later:.0f}"
    hidden = f"{100 * HIDDEN_SHARE:.0f}"
    if not revealed(text, "parking", PLACES, larger, first=first, later=later, hidden=hidden):
        return
    place = weakest(view)
    found = view.found
    heads = found.cross[LAST][:, place]
    values = [*heads.tolist(), heads.mean(dim=0).tolist()]
    names = [*(_("head {n}", n=n) for n in range(len(heads))), _("mean")]
    name = _("the row of “{syllable}”", syllable=found.syllables[place])
    axes = names, view.columns, N_("head"), SOURCE_AXIS
    rule = _("decoder layer {layer}; sums to 1", layer=LAST + 1)
    shares = Matrix(name, rule, values, *axes, kind="weights")
    lost = losses(found.words, found.syllables)[place]
    # Where the past says it all, leaving out any word costs little.
    times = 1 if lost.abs().max() >= SMALL else 1_000
    in_thousandths = _("log-probability that it loses, in thousandths")
    without = Matrix(
        N_("left out"),
        _("log-probability that it loses") if times == 1 else in_thousandths,
        [(times * lost).tolist()],
        [found.syllables[place]],
        found.words,
        "",
        SOURCE_AXIS,
    )
    alt = _(
        "Weights of {row} in each head, and what leaving each word out costs this syllable.",
        row=name,
    )
    show_figure(Figure([Panel("row", shares), Panel("lost", without)], alt), view.origin, "parking")
    syllable, most = verbatim(found.syllables[place]), verbatim(found.words[int(lost.argmax())])
    on_end = found.cross[LAST].mean(dim=0)[: view.syllables, -1].mean().item()
    if view.gold and view.gold.weak:
        text("parking_weak", syllable=syllable)
    else:
        text("parking_most_on_end", syllable=syllable)
    if times == 1:
        text("parking_costs_one", most=most)
    else:
        text("parking_costs_none", most=most)
    text(
        "parking_seen",
        on_end=f"{100 * on_end:.0f}",
        weak=f"{100 * right.weak:.0f}",
        others=f"{100 * right.others:.0f}",
    )
    show_source(leave_one_out)


def weakest(view: View) -> int:
    """The "đã" that no English word says; without one, the syllable with the most on `<eos>`."""
    if view.gold and view.gold.weak:
        return min(place for place, _unused in view.gold.weak)
    last = view.found.cross[LAST].mean(dim=0)
    return int(torch.argmax(last[: view.syllables, -1]))
