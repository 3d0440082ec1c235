"""Does the surest head do the same on another text? A question, and the surest heads on both."""

from typing import NamedTuple

from explainers.chapters.common.measured_heads import Gallery, name_head
from explainers.charts.matrix import Matrix
from explainers.messages import N_
from explainers.models.head_roles import ROLES, Role
from explainers.models.head_scores import HeadScores
from explainers.translations import _
from explainers.ui.controls.controls import PROSE, TWICE
from explainers.ui.figure.linked_matrices import show_figure
from explainers.ui.figure.panels import Figure, Panel
from explainers.ui.page import Prose
from explainers.ui.prediction import revealed

SAME, HALF, NOTHING = N_("about the same"), N_("about half"), N_("almost nothing")
MOST_HEADS = 5
FAVOURITE = "induction"


class Kept(NamedTuple):
    """A role and the heads with its highest scores, each on random tokens and in prose."""

    role: Role
    heads: list[tuple[int, int]]
    before: list[float]
    after: list[float]

    @property
    def verdict(self) -> str:
        """How much of the surest head's score is left in prose."""
        share = self.after[0] / max(self.before[0], 1e-9)
        return SAME if share > 0.75 else HALF if share > 0.25 else NOTHING


def compare_texts(scores: HeadScores) -> Kept:
    """Of induction if a head has that name, else of the role with the highest score."""
    roles = [role for role in ROLES if role.probe == "repeated"]

    def rank(role: Role) -> tuple[bool, float]:
        most = float(scores.select(role.probe, role.score_name).nan_to_num(0).max())
        return role.name == FAVOURITE and most > role.threshold, most

    best = max(roles, key=rank)
    found, prose = (scores.select(probe, best.score_name) for probe in ("repeated", "natural"))
    order = found.nan_to_num(-1).flatten().topk(min(MOST_HEADS, found.numel())).indices.tolist()
    heads = [divmod(place, found.shape[1]) for place in order]
    before, after = ([float(one[place]) for place in heads] for one in (found, prose))
    return Kept(best, heads, before, after)


def ask_keeps(text: Prose, gallery: Gallery) -> None:
    """A guess about the surest head; then the five surest, on both texts."""
    kept = compare_texts(gallery.scores)
    told = {
        "head": name_head(*kept.heads[0]),
        "role": _(kept.role.name),
        "before": f"{kept.before[0]:.2f}",
        "after": f"{kept.after[0]:.2f}",
        "first": f"{gallery.scores.select('natural', 'first token')[kept.heads[0]]:.2f}",
    }
    if not revealed(text, "keeps", (SAME, HALF, NOTHING), kept.verdict, **told):
        return
    matrix = Matrix(
        _(kept.role.name),
        _("the heads with the highest scores"),
        [kept.before, kept.after],
        [_(TWICE), _(PROSE)],
        [name_head(*head) for head in kept.heads],
        _("text"),
        _("head"),
        kind="weights",
    )
    alt = _("The same heads on random tokens and in prose.")
    show_figure(Figure([Panel("kept", matrix)], alt), gallery.origin, "kept")
