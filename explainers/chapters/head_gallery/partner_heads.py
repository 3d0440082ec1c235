"""Heads that find a word's grammatical partner, beside a rule that only counts words."""

from explainers.chapters.common.measured_heads import CODE_ROLE, Gallery, name_head
from explainers.chapters.head_gallery.hero import choose
from explainers.charts.matrix import Matrix
from explainers.messages import N_
from explainers.models import grammar_heads
from explainers.models.grammar_heads import SENTENCES_PER_HALF, find_attended_words
from explainers.models.head_roles import find_relation_heads
from explainers.translations import _
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.page_parts.veil import ask_veiled
from explainers.ui.source import show_source

TABLE = "partners"
CLEARLY = 0.1
"""A head that is better by less than this is called as good as a fixed distance."""
WORDS = (
    *(N_("determiner"), N_("adjective"), N_("noun"), N_("its noun")),
    *(N_("preposition"), N_("verb"), N_("subject"), N_("object")),
)
"""What relations are made of."""


def show_partners(text: Prose, gallery: Gallery) -> None:
    """How often a head beats the best fixed distance, veiled; then both, relation by relation."""
    found = find_relation_heads(gallery.scores)
    text("partners", sentences=SENTENCES_PER_HALF)
    if not found:
        text("no_partners")
        return
    better = sum(one.score > one.offset_score + CLEARLY for one in found)
    options, count = [f"{better}", "0", f"{len(found)}"], len(found)
    ask_veiled(text, "partners", f"{better}", options, relations=count, clearly=CLEARLY)
    letters = [chr(ord("a") + place) for place in range(len(found))]
    matrix = Matrix(
        _("partners found"),
        _("share of all pairs"),
        [[one.score, one.offset_score] for one in found],
        letters,
        [_("head"), _("distance")],
        _("relation"),
        _("found by"),
        kind="weights",
    )
    most = max(found, key=lambda one: one.score - one.offset_score)
    relation = _translate_relation(most.relation)
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
        f"| {letter} | {_translate_relation(one.relation)} | {head} | {one.offset:+d} |"
        for letter, head, one in zip(letters, heads, found, strict=True)
    ]
    text(
        "partners_seen",
        rows="\n".join(rows),
        relation=relation,
        head=name_head(most.layer_index, most.head_index),
        score=f"{most.score:.2f}",
        by_offset=f"{most.offset_score:.2f}",
        pairs=most.num_pairs,
    )
    show_source(grammar_heads.generate_sentence, find_attended_words, that=CODE_ROLE)
    show_source(find_relation_heads)


def _translate_relation(relation: str) -> str:
    """Both words of it in the visitor's language."""
    return " → ".join(_(word) for word in relation.split(" → "))
