"""To take away: one row with a sink, and all letters of the picture."""

from typing import Any

import torch
from torch import Tensor

from explainers.attention import masks
from explainers.attention.sinks import softmax_with_sinks
from explainers.chapters.idle_heads.one_row import SCORES, SINK_SCORE
from explainers.chapters.idle_heads.training_here import TrainedHere, choose_seed
from explainers.takeaway.recipe import Recipe
from explainers.toys.idle_head import (
    SHIPPED_SETTINGS,
    SINK,
    encode,
    list_switches,
    load_idle_head,
    read_rows,
    spell,
)
from explainers.translations import _
from explainers.ui.takeaway_files import take

Computed = dict[str, Tensor]


def share_scores(scores: Tensor, sink: float) -> Computed:
    """Rows of scores through a causal softmax with a sink; what is missing fell into it."""
    mask = masks.build(masks.causal, scores.shape[-2], scores.shape[-1])
    allowed = scores.masked_fill(~mask, -torch.inf)[None]  # (heads, q_len, kv_len)
    weights = softmax_with_sinks(allowed, torch.tensor([sink]))[0]
    return {"weights": weights, "nowhere": 1 - weights.sum(dim=-1, keepdim=True)}


def take_row() -> None:
    """The row of the text: the last one sees all words."""
    scores = torch.zeros(len(SCORES), len(SCORES))
    scores[-1] = torch.tensor(SCORES)
    inputs: dict[str, Any] = {"scores": scores, "sink": SINK_SCORE}
    take("row", Recipe(_("A row with a sink"), share_scores, inputs, share_scores(**inputs)))


@torch.no_grad()
def take_letters(setting: str, seed: int, here: TrainedHere | None = None) -> None:
    """All letters of the picture, of what was trained here or of weights that come with the app.

    Of a head that is still learning, or never did, there is nothing to take.
    """
    if here:
        parts = here.job.result
    else:
        parts = load_idle_head(setting, choose_seed(seed)) if setting in SHIPPED_SETTINGS else None
    if not parts:
        take("letters")
        return
    scores = read_rows(parts, setting, encode(spell(setting))).scores
    sink = parts["sink"].item() if SINK in list_switches(setting) else -torch.inf
    inputs: dict[str, Any] = {"scores": scores, "sink": sink}
    title = _("Letters that want nothing")
    if here:
        title = _(
            "Letters that want nothing, trained here from seed {seed}", seed=here.request.seed
        )
    take("letters", Recipe(title, share_scores, inputs, share_scores(**inputs)))
