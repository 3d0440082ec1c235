"""To take away: one token's candidates under temperature, top-k and top-p, and what is drawn."""

import torch
from torch import Tensor

from explainers.models.sampling import draw, heat, keep_top_k, keep_top_p
from explainers.models.shipped_writing import WrittenText
from explainers.takeaway.recipe import Recipe
from explainers.translations import _
from explainers.ui.takeaway_files import take

WARM, MANY, NUCLEUS = 0.8, 10, 0.9
"""For the file: a temperature, a top-k and a top-p that change all candidates."""
DRAWS = 8


def sample_candidates(
    logits: Tensor, temperature: float, count: int, share: float
) -> dict[str, Tensor]:
    """Probabilities of candidates, logits (candidates,), step by step; and some draws."""
    heated = heat(logits, temperature)
    best = keep_top_k(heated, count)
    nucleus = keep_top_p(best, share)
    generator = torch.Generator().manual_seed(0)
    return {
        "temperature": heated.softmax(dim=-1),
        "top-k": best.softmax(dim=-1),
        "top-p": nucleus.softmax(dim=-1),
        "drawn": draw(nucleus.expand(DRAWS, -1), generator),
    }


def take_candidates(shown: WrittenText, at: int) -> None:
    """Of the chosen token; its candidates alone."""
    step = shown.steps[at]
    logits = torch.tensor([logit for _token, logit in step.candidates])
    inputs = {"logits": logits, "temperature": WARM, "count": MANY, "share": NUCLEUS}
    title = _("How a token is drawn from its candidates")
    take("candidates", Recipe(title, sample_candidates, inputs, sample_candidates(**inputs)))  # type: ignore[arg-type]
