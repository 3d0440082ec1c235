"""Are the weights an alignment? Scored against gold, rows named in two ways, weight parked."""

import torch
from torch import Tensor

from explainers.arithmetic import Arithmetic, explain_input
from explainers.chapters.cross_attention import held_out_scores
from explainers.chapters.cross_attention.alignment_view import TranslationView
from explainers.chapters.cross_attention.changed_translation import compute_losses
from explainers.chapters.cross_attention.held_out_scores import (
    HEADS,
    IBM1_SENTENCES,
    LAST_LAYER,
    ROW_SIDES,
    LinkReading,
)
from explainers.charts.matrix import Matrix
from explainers.charts.theme import SOURCE_AXIS
from explainers.messages import N_
from explainers.translation.alignment import (
    INPUT,
    PREDICTED,
    AlignmentScore,
    align_diagonally,
    read_links,
    reestimate,
    score_alignment,
)
from explainers.translation.baselines import COUNTED_SENTENCES
from explainers.translation.model import NUM_LAYERS
from explainers.translation.train import HIDDEN_SHARE
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.controls.controls import MEAN, PREDICTS, READS
from explainers.ui.figure.clickable_figure import show_clickable_figure
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel
from explainers.ui.untrusted_text import verbatim

CODE = score_alignment, read_links, reestimate


def show_scores(view: TranslationView) -> dict[str, object]:
    """The scores of the chosen heads and of two baselines, here and on held-out sentences.

    Returns, for a text, how many sentences they are of, and from how many pairs aligners counted.
    """
    scores = held_out_scores.score_readings()
    baseline_scores = held_out_scores.score_baselines()
    words, syllables = view.translation.words, view.translation.syllables
    head_score = scores[LinkReading(view.layer, view.head, view.row_side)]
    tables = {N_("held out"): [head_score, baseline_scores["diagonal"], baseline_scores["ibm"]]}
    if view.gold:
        link_sets = (
            view.read_links(view.row_side),
            align_diagonally(len(words), len(syllables)),
            held_out_scores.align_by_ibm1(words, syllables),
        )
        sentence_scores = [
            score_alignment(links, set(view.gold.sure), set(view.gold.possible))
            for links in link_sets
        ]
        tables = {N_("this sentence"): sentence_scores, **tables}
    panels = [Panel(name, _make_score_table(view, name, rows)) for name, rows in tables.items()]
    errors = [
        _("{table}: error {rate:.2f}", table=_(name), rate=rows[0].aer)
        for name, rows in tables.items()
    ]
    alt = _("Scores of {heads} and of two baselines.", heads=view.head_label)
    show_figure(Figure(panels, f"{alt} {'; '.join(errors)}"), view.origin, "scores")
    return {
        "sentences": len(held_out_scores.list_pairs()),
        "pairs": f"{IBM1_SENTENCES:,}",
        "counted": f"{COUNTED_SENTENCES:,}",
    }


def name_head(layer: int, head: str) -> str:
    """A head beside its row of a table."""
    if head == MEAN:
        return _("L{layer} mean", layer=layer + 1)
    return f"L{layer + 1} {head}"


def _make_score_table(view: TranslationView, name: str, rows: list[AlignmentScore]) -> Matrix:
    """A line for each aligner; 0 is best for the error, 1 for the others."""
    names = [name_head(view.layer, view.head), _("diagonal"), "IBM 1"]
    values = [list(row) for row in rows]
    columns = ["AER", _("precision"), _("recall")]
    axes = N_("aligner"), N_("score")
    return Matrix(name, "", values, names, columns, *axes, kind="weights")


def select_head(reading: LinkReading) -> None:
    """Show this head in the picture; a callback."""
    controls.cross_layer.put(str(reading.layer + 1))
    controls.cross_head.put(reading.head)
    controls.cross_rows.put(PREDICTS if reading.row_side == PREDICTED else READS)


ERROR_RATE = N_("alignment error rate")
ERROR_AXES = N_("head"), N_("rows")
LAYER_HEADS = [(layer, head) for layer in range(NUM_LAYERS) for head in HEADS]


def answer_off_by_one() -> dict[str, str]:
    """The error rate of the last layer, with rows by the syllable written, and by the one read."""
    scores = held_out_scores.score_readings()
    rates = [f"{scores[LinkReading(LAST_LAYER, MEAN, side)].aer:.3f}" for side in ROW_SIDES]
    return dict(zip(("right", "wrong"), rates, strict=True))


def show_both_ways(view: TranslationView) -> dict[str, object]:
    """Both rates of every head; a click shows a head in the picture. Numbers for the text."""
    scores = held_out_scores.score_readings()
    values = [
        [scores[LinkReading(*layer_head, row_side)].aer for row_side in ROW_SIDES]
        for layer_head in LAYER_HEADS
    ]
    names = [name_head(layer, head) for layer, head in LAYER_HEADS]
    column_names = [_(PREDICTS), _(READS)]
    rule = _("{count} held-out sentences; 0 is best", count=len(held_out_scores.list_pairs()))
    matrix = Matrix(ERROR_RATE, rule, values, names, column_names, *ERROR_AXES, kind="weights")
    alt = _(
        "Alignment error rate of every head, rows read in two ways: {right} and {wrong}.",
        **answer_off_by_one(),
    )

    def select_cell(cell: Cell) -> None:
        select_head(LinkReading(*LAYER_HEADS[cell.row], ROW_SIDES[cell.column]))

    panels, acts = [Panel(ERROR_RATE, matrix)], {ERROR_RATE: select_cell}
    show_clickable_figure(panels, _explain_no_cell, view.origin, "both ways", alt, acts=acts)
    first = [scores[LinkReading(0, MEAN, row_side)].aer for row_side in ROW_SIDES]
    by_input = [f"{n + 1}" for n in range(NUM_LAYERS) if _is_better_by_input(n)]
    return {
        "first": f"{first[0]:.2f}",
        "first_input": f"{first[1]:.2f}",
        "by_input": ", ".join(by_input) or _("none"),
    }


def _is_better_by_input(layer: int) -> bool:
    rates = held_out_scores.score_readings()
    return (
        rates[LinkReading(layer, MEAN, INPUT)].aer < rates[LinkReading(layer, MEAN, PREDICTED)].aer
    )


def _explain_no_cell(_unused: Cell) -> Arithmetic:
    return explain_input(0.0, ERROR_RATE)


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
