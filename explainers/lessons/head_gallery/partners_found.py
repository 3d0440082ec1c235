"""Heads that find a word's grammatical partner, beside a rule that only counts words."""

from explainers.charts.matrix import Matrix
from explainers.lessons.head_gallery.measured import MEASURED, Gallery, named
from explainers.lessons.head_gallery.scored import choose
from explainers.models.labels import partners
from explainers.models.sentences import said
from explainers.models.syntax import SENTENCES, chosen_words
from explainers.ui.figure import show_figure
from explainers.ui.panels import Cell, Figure, Panel
from explainers.ui.predict import revealed
from explainers.ui.prose import Prose
from explainers.ui.source import show_source

TABLE = "partners"
NONE, FEW, MOST, ALL = "for none", "for less than half", "for half or more", "for all"
CLEARLY = 0.1
"""A head that is better by less than this is called as good as a fixed distance."""
RELATION_AXIS = "relation"


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
        "partners found",
        "share of all pairs",
        [[one.score, one.by_offset] for one in found],
        letters,
        ["head", "distance"],
        RELATION_AXIS,
        "found by",
        kind="weights",
    )
    most = max(found, key=lambda one: one.score - one.by_offset)
    alt = f"{most.relation}: {most.score:.2f} by a head, {most.by_offset:.2f} by a distance."

    def pick(cell: Cell) -> None:
        choose(found[cell.row].layer, found[cell.row].head)

    show_figure(Figure([Panel(TABLE, matrix)], alt, on_pick=pick), gallery.origin, TABLE)
    rows = [
        f"| {letter} | {one.relation} | {named(one.layer, one.head)} | {one.offset:+d} |"
        for letter, one in zip(letters, found, strict=True)
    ]
    text(
        "partners_seen",
        rows="\n".join(rows),
        relation=most.relation,
        head=named(most.layer, most.head),
        score=f"{most.score:.2f}",
        by_offset=f"{most.by_offset:.2f}",
        pairs=most.pairs,
    )
    show_source(said, chosen_words, that=MEASURED)
    show_source(partners)
