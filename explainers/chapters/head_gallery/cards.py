"""The cards about scores: how one is made on a short text, and that of every head."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, NamedTuple

import streamlit as st
import torch
from torch import Tensor

from explainers.chapters.common.measured_heads import PROBE_NAMES, Gallery, name_head
from explainers.chapters.common.recording import record_layer, to_cpu
from explainers.chapters.head_gallery import hero
from explainers.charts.matrix import Matrix, Values
from explainers.charts.theme import HEAD_AXIS, LAYER_AXIS
from explainers.messages import N_
from explainers.models import head_scores
from explainers.models.load import is_on_disk, load_model
from explainers.models.probes import Probe
from explainers.models.shipped_measurements import read_shipped_scores
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.controls import controls
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Cell, Figure, Panel
from explainers.ui.page_parts.check_yourself import Recall
from explainers.ui.takeaway_files import take
from explainers.ui.text.numbers import SHARE

MOST_ROWS = 5
OTHERWISE = "induction"


def show_score_steps(gallery: Gallery, place: tuple[int, int]) -> dict[str, str]:
    """Three small matrices; the numbers for the text, none for a model without an example."""
    take_scores(gallery, "repeated", place)
    shipped = read_shipped_scores(gallery.name)
    if not shipped:
        return {}
    example, wanted = shipped.example, {role.name: role.score_name for role in head_scores.ROLES}
    named = hero.list_names(gallery.scores, place)
    name = next((wanted[one] for one in named if wanted[one] in head_scores.PATTERNS), OTHERWISE)
    every = example.weights[place][None, None]
    is_causal = not example.weights.triu(1).any()
    mask = torch.ones(every.shape[1:], dtype=torch.bool)
    marks = torch.tensor([[not token.strip().isalnum() for token in example.tokens]])
    probe = Probe(example.ids[None], marks)
    patterns = head_scores.build_patterns(probe, mask.tril() if is_causal else mask)
    pattern = patterns[name]  # (1, q_len, kv_len): which keys the name promises
    rows = [row for row, line in enumerate(pattern[0]) if line.any()][-MOST_ROWS:]
    masses = [[value] for value in head_scores.compute_mass(every, pattern)[0, 0][rows].tolist()]
    keys = [f"{n} {token.strip()}" for n, token in enumerate(example.tokens)]
    queries, axes = [keys[row] for row in rows], (_("query"), _("key"))

    def draw(name: str, formula: str, values: Values, columns: Sequence[str]) -> Matrix:
        return Matrix(name, formula, values, queries, columns, *axes, kind="weights")

    looked, promised = every[0, 0][rows].tolist(), pattern[0][rows].float().tolist()
    panels = [
        Panel("weights", draw(_("weights"), name_head(*place), looked, keys)),
        Panel("promised", draw(_("promised keys"), _(name), promised, keys), "·"),
        Panel("mass", draw(_("their weight"), _("sum of a row"), masses, [_("sum")]), "→"),
    ]
    # the mean over all such rows
    score = f"{float(head_scores.score_pattern(every, pattern)[0]):.2f}"
    alt = _("Weights, promised keys, and the weight on them: mean {score}.", score=score)
    show_figure(Figure(panels, alt), gallery.origin, "score steps")
    return {"head": name_head(*place), "name": _(name), "score": score}


def compute_scores(weights: Tensor, mask: Tensor, ids: Tensor, marks: Tensor) -> dict[str, Tensor]:
    """What a head does on all texts of a probe: weights (texts, tokens, tokens).

    `ids` are the tokens of the texts, `marks` says which are punctuation.
    """
    one, seen = weights[:, None], mask.expand(weights.shape)
    found = {
        name: head_scores.score_pattern(one, p)[0]
        for name, p in head_scores.build_patterns(Probe(ids, marks), seen).items()
    }
    found["entropy"] = head_scores.compute_entropy(one, seen).nanmean()
    found["distance"] = head_scores.measure_distance(one)[0]
    return found


def take_scores(gallery: Gallery, probe: str, place: tuple[int, int]) -> None:
    """The scores of the chosen head, of which the picture shows one for every head.

    The model is loaded when the file is made, not before.
    """
    title = _("The scores of {head}", head=name_head(*place))
    if gallery.loaded or is_on_disk(gallery.name):
        take("scores", partial(_make_scores, gallery, probe, place, title))


def _make_scores(gallery: Gallery, probe: str, place: tuple[int, int], title: str) -> Recipe:
    loaded, measured = gallery.loaded or load_model(gallery.name), gallery.scores
    (number, head), texts = place, head_scores.PROBES[probe](loaded)
    layer = record_layer(loaded, number, texts.ids)
    inputs: dict[str, Any] = {"weights": layer.weights[:, head], "mask": layer.mask[0, 0]}
    inputs = {name: to_cpu(one) for name, one in inputs.items()}
    inputs |= {"ids": texts.ids.cpu(), "marks": texts.marks.cpu()}
    names = compute_scores(*inputs.values())
    shown = {name: measured.select(probe, name)[number, head] for name in names}
    return Recipe(title, compute_scores, inputs, shown)


MAP = "heads"
AGAINST_CHANCE = (*head_scores.PATTERNS, N_("one offset"))
"""Scores that a head can reach by looking anywhere."""
SCORES = (
    *(*AGAINST_CHANCE, N_("sink"), N_("entropy")),
    *(N_("entropy without the first token"), N_("distance")),
)
OPENS_WITH = "induction"
NAMED = 5
"""So many of the highest are named below the picture."""
NOTHING_THERE = N_("prose seldom repeats a text, so there is little to find")
OTHER_HEADS, TOO_LONG = N_("other heads read the prose"), N_("prose is too long for it")


class Shown(NamedTuple):
    """A score, and the text on which it was measured."""

    score: str
    words: str
    """What the reader calls the text."""

    @property
    def probe(self) -> str:
        return PROBE_NAMES[self.words]

    @property
    def name(self) -> str:
        """As in the names of the page's sections."""
        return self.score.replace(" ", "_")


def follow_choice(
    cards: Mapping[str, Callable[[], None]], gallery: Gallery, chosen: tuple[int, int]
) -> dict[str, Callable[[], None]]:
    """Cards about a head: a click in one of them chooses another head for the whole page."""

    def draw(show: Callable[[], None]) -> None:
        controls_of_head = hero.gallery_layer, hero.gallery_head
        layer, head = (st.session_state.get(one.key) for one in controls_of_head)
        is_head = layer in range(gallery.layers) and head in range(gallery.heads)
        if is_head and (layer, head) != chosen:
            st.rerun()
        show()

    return {name: partial(draw, show) for name, show in cards.items()}


def choose_score(gallery: Gallery) -> Shown:
    """A text, and a score that was measured on it."""
    select = gallery.scores.select
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = controls.probe_text()
        offered = [one for one in SCORES if not select(PROBE_NAMES[words], one).isnan().all()]
        what = controls.head_score(offered, OPENS_WITH if OPENS_WITH in offered else offered[0])
    return Shown(what, words)


def show_map(gallery: Gallery, chosen: tuple[int, int], shown: Shown) -> dict[str, str]:
    """A cell per head; a click chooses one. The numbers for the text."""
    what, words = shown
    found = gallery.scores.select(shown.probe, what)
    scored = [[None if math.isnan(one) else one for one in row] for row in found.T.tolist()]
    matrix = Matrix(
        f"{_(what)}: {_(words)}",
        _("a row per head, a column per layer"),
        scored,
        [_("head {head}", head=head) for head in range(gallery.heads)],
        [str(layer) for layer in range(gallery.layers)],
        HEAD_AXIS,
        LAYER_AXIS,
        kind="signed" if what == "distance" else "weights",
    )
    best = hero.rank_heads(found, NAMED)
    highest = ", ".join(f"{name_head(*place)} {found[place]:.2f}" for place in best)
    alt = _(
        "{score} of every head of {model}; the highest: {highest}.",
        score=_(what),
        model=gallery.name,
        highest=highest,
    )

    def pick(cell: Cell) -> None:
        hero.choose(cell.column, cell.row)

    take_scores(gallery, shown.probe, chosen)
    layer, head = chosen
    figure = Figure([Panel(MAP, matrix)], alt, Cell(MAP, head, layer), pick)
    show_figure(figure, gallery.origin, MAP)
    return {"highest": highest, "mean": f"{found.nanmean():.2f}"}


def find_chance(gallery: Gallery, shown: Shown) -> str:
    """What the best head has at random; nothing for a score that needs no such baseline."""
    if shown.score not in AGAINST_CHANCE:
        return ""
    return f"{gallery.scores.find_chance_score(shown.probe, shown.score):.2f}"


def recall_baseline(draw: Random) -> Recall:
    """What a sharp head scores when its weights are shuffled."""
    keys = draw.choice([4, 5, 8, 10, 20, 25])
    return Recall(1 / keys, {"keys": f"{keys}"}, tolerance=0.005, unit=SHARE)


def recall_prose(draw: Random) -> Recall:
    """Why a surest head does little in prose."""
    high, low = draw.choice([0.72, 0.81, 0.88, 0.93]), draw.choice([0.02, 0.03, 0.05, 0.08])
    given = {"high": f"{high}", "low": f"{low}"}
    return Recall(NOTHING_THERE, given, [OTHER_HEADS, NOTHING_THERE, TOO_LONG])
