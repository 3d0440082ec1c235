"""Heads that find a word's grammatical partner, beside a rule that only counts words."""

from collections.abc import Sequence

from explainers.chapters.common.measured_heads import Gallery, name_head
from explainers.chapters.head_gallery.hero import CLEARLY, choose, is_better, translate_relation
from explainers.charts.matrix import Matrix
from explainers.messages import N_
from explainers.models import grammar_heads
from explainers.models.head_roles import RelationHead
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel

TABLE = "partners"
WORDS = (
    *(N_("determiner"), N_("adjective"), N_("noun"), N_("its noun")),
    *(N_("preposition"), N_("verb"), N_("subject"), N_("object")),
)
"""What relations are made of."""
CODE = grammar_heads.generate_sentence, grammar_heads.find_attended_words
"""It chose and measured the heads."""


def count_better(found: Sequence[RelationHead]) -> tuple[str, list[str], dict[str, object]]:
    """How often a head clearly beats the best fixed distance; guesses; what is said of it."""
    better = sum(map(is_better, found))
    named: dict[str, object] = {"relations": len(found), "clearly": CLEARLY}
    return f"{better}", [f"{better}", "0", f"{len(found)}"], named


def show_relations(gallery: Gallery, found: Sequence[RelationHead]) -> dict[str, object]:
    """Head and distance, relation by relation; the numbers for the text."""
    names = [translate_relation(one) for one in found]
    matrix = Matrix(
        _("partners found"),
        _("share of all pairs"),
        [[one.score, one.offset_score] for one in found],
        names,
        [_("head"), _("distance")],
        _("relation"),
        _("found by"),
        kind="weights",
    )
    most = max(found, key=lambda one: one.score - one.offset_score)
    relation = translate_relation(most)
    alt = _(
        "{relation}: {score:.2f} by a head, {by_offset:.2f} by a distance.",
        relation=relation,
        score=most.score,
        by_offset=most.offset_score,
    )

    def pick(cell: Cell) -> None:
        choose(found[cell.row].layer_index, found[cell.row].head_index)

    show_figure(Figure([Panel(TABLE, matrix)], alt, on_pick=pick), gallery.origin, TABLE)
    heads = [name_head(one.layer_index, one.head_index) for one in found]
    rows = [
        f"| {name} | {head} | {one.offset:+d} |"
        for name, head, one in zip(names, heads, found, strict=True)
    ]
    return {
        "rows": "\n".join(rows),
        "relation": relation,
        "head": name_head(most.layer_index, most.head_index),
        "score": f"{most.score:.2f}",
        "by_offset": f"{most.offset_score:.2f}",
        "pairs": most.num_pairs,
    }
