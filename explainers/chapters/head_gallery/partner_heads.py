"""Heads that find a word's grammatical partner, beside a rule that only counts words."""

from explainers.chapters.common.measured_heads import MEASURED, Gallery, named
from explainers.chapters.head_gallery.score_mosaic import choose
from explainers.charts.matrix import Matrix
from explainers.messages import N_
from explainers.models import grammar_heads
from explainers.models.grammar_heads import SENTENCES, chosen_words
from explainers.models.head_names import partners
from explainers.translations import _
from explainers.ui.figure.figure import show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.predict import revealed
from explainers.ui.source import show_source

TABLE = "partners"
NONE, FEW = N_("for none"), N_("for less than half")
MOST, ALL = N_("for half or more"), N_("for all")
CLEARLY = 0.1
"""A head that is better by less than this is called as good as a fixed distance."""
WORDS = (
    *(N_("determiner"), N_("adjective"), N_("noun"), N_("its noun")),
    *(N_("preposition"), N_("verb"), N_("subject"), N_("object")),
)
"""What relations are made of."""


def show_partners(text: Prose, gallery: Gallery) -> None:
    """A guess how often a head beats the best fixed distance; then both, relation by relation."""
    found = partners(gallery.scores)
    text("partners", sentences=SENTENCES)
    if not found:
        text("no_partners")
        return
    better = sum(one.score > one.by_offset + CLEARLY for one in found)
    half = MOST if 2 * better >= len(found) else FEW
    answer = NONE if not better else ALL if better == len(found) else half
    options, count = (NONE, FEW, MOST, ALL), len(found)
    if not revealed(
        text, "partners", options, answer, better=better, relations=count, clearly=CLEARLY
    ):
        return
    letters = [chr(ord("a") + place) for place in range(len(found))]
    matrix = Matrix(
        _("partners found"),
        _("share of all pairs"),
        [[one.score, one.by_offset] for one in found],
        letters,
        [_("head"), _("distance")],
        _("relation"),
        _("found by"),
        kind="weights",
    )
    most = max(found, key=lambda one: one.score - one.by_offset)
    relation = _said(most.relation)
    alt = _(
        "{relation}: {score:.2f} by a head, {by_offset:.2f} by a distance.",
        relation=relation,
        score=most.score,
        by_offset=most.by_offset,
    )

    def pick(cell: Cell) -> None:
        choose(found[cell.row].layer, found[cell.row].head)

    show_figure(Figure([Panel(TABLE, matrix)], alt, on_pick=pick), gallery.origin, TABLE)
    rows = [
        f"| {letter} | {_said(one.relation)} | {named(one.layer, one.head)} | {one.offset:+d} |"
        for letter, one in zip(letters, found, strict=True)
    ]
    text(
        "partners_seen",
        rows="\n".join(rows),
        relation=relation,
        head=named(most.layer, most.head),
        score=f"{most.score:.2f}",
        by_offset=f"{most.by_offset:.2f}",
        pairs=most.pairs,
    )
    show_source(grammar_heads.said, chosen_words, that=MEASURED)
    show_source(partners)


def _said(relation: str) -> str:
    """Both words of it in the visitor's language."""
    return " → ".join(_(word) for word in relation.split(" → "))
