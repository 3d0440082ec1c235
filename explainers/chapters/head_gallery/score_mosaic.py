"""Every head of a model in one picture, coloured by a score of the reader's choice."""

import math
from collections.abc import Callable, Sequence

import streamlit as st
from torch import Tensor

from explainers.chapters.common.measured_heads import CODE_ROLE, PROBE_NAMES, Gallery, name_head
from explainers.chapters.head_gallery import takeaway as taken
from explainers.chapters.head_gallery.hero import choose, gallery_head, gallery_layer
from explainers.charts.matrix import Matrix
from explainers.charts.theme import HEAD_AXIS, LAYER_AXIS
from explainers.messages import N_
from explainers.models.head_roles import ROLES
from explainers.models.head_scores import PATTERNS, measure_layer, score_pattern, shuffle_weights
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.page_parts.veil import ask_veiled
from explainers.ui.source import show_source

MAP = "heads"
AGAINST_CHANCE = (*PATTERNS, N_("one offset"))
"""Scores that a head can reach by looking anywhere."""
SCORES = (
    *(*AGAINST_CHANCE, N_("sink"), N_("entropy")),
    *(N_("entropy without the first token"), N_("distance")),
)
OPENS_WITH = "induction"
NAMED = 5
"""So many of the highest are named below the picture."""


def veil_induction(text: Prose, gallery: Gallery) -> None:
    """How many heads look at what followed the same token before, as a hidden number."""
    [role] = [one for one in ROLES if one.score_name == OPENS_WITH]
    found = gallery.scores.select(role.probe, role.score_name)
    count, all_heads = int((found > role.threshold).sum()), found.numel()
    best = divmod(int(found.nan_to_num(-1).argmax()), gallery.heads)
    ask_veiled(
        text,
        "induction",
        f"{count}",
        [f"{count}", "0", f"{all_heads // 4}"],
        heads=all_heads,
        threshold=role.threshold,
        best=name_head(*best),
        score=f"{found[best]:.2f}",
        chance=f"{gallery.scores.find_chance_score(role.probe, role.score_name):.2f}",
    )


def follow_choice(
    show: Callable[[], None], gallery: Gallery, chosen: tuple[int, int]
) -> Callable[[], None]:
    """A card about a head: a click in it chooses another one for the whole page."""

    def draw() -> None:
        controls_of_head = gallery_layer, gallery_head
        layer, head = (st.session_state.get(one.key) for one in controls_of_head)
        is_head = layer in range(gallery.layers) and head in range(gallery.heads)
        if is_head and (layer, head) != chosen:
            st.rerun()
        show()

    return draw


def show_map(text: Prose, gallery: Gallery, chosen: tuple[int, int]) -> None:
    """A cell per head; a click chooses one."""
    scores = gallery.scores
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = controls.probe_text()
        probe = PROBE_NAMES[words]
        offered = [one for one in SCORES if not scores.select(probe, one).isnan().all()]
        what = controls.head_score(offered, OPENS_WITH if OPENS_WITH in offered else offered[0])
    text(f"score_{what.replace(' ', '_')}")
    found = scores.select(probe, what)
    matrix = Matrix(
        f"{_(what)}: {_(words)}",
        _("a row per head, a column per layer"),
        numbers(found.T),
        [_("head {head}", head=head) for head in range(gallery.heads)],
        [str(layer) for layer in range(gallery.layers)],
        HEAD_AXIS,
        LAYER_AXIS,
        kind="signed" if what == "distance" else "weights",
    )
    best = _best(found)
    highest = ", ".join(f"{name_head(*place)} {found[place]:.2f}" for place in best)
    alt = _(
        "{score} of every head of {model}; the highest: {highest}.",
        score=_(what),
        model=gallery.name,
        highest=highest,
    )

    def pick(cell: Cell) -> None:
        choose(cell.column, cell.row)

    taken.scores(gallery, probe, chosen, name_head(*chosen))
    layer, head = chosen
    figure = Figure([Panel(MAP, matrix)], alt, Cell(MAP, head, layer), pick)
    show_figure(figure, gallery.origin, MAP)
    label = _("Look at {head}, the highest", head=name_head(*best[0]))
    st.button(label, on_click=choose, args=best[0], icon=":material/search:")
    text("map_seen", highest=highest, mean=f"{found.nanmean():.2f}")
    if what in AGAINST_CHANCE:
        text("map_chance", chance=f"{scores.find_chance_score(probe, what):.2f}")
    show_source(measure_layer, score_pattern, shuffle_weights, that=CODE_ROLE)


def numbers(found: Tensor) -> Sequence[Sequence[float | None]]:
    """A head that has no row to be scored on is left blank."""
    return [[None if math.isnan(one) else one for one in row] for row in found.tolist()]


def _best(found: Tensor) -> list[tuple[int, int]]:
    """The heads with the highest scores."""
    places = found.nan_to_num(-1).flatten().topk(min(NAMED, found.numel())).indices.tolist()
    return [divmod(place, found.shape[1]) for place in places]
