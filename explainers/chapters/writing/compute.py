"""One token's candidates under temperature, top-k and top-p, and what is drawn."""

import torch
from torch import Tensor

from explainers.models.sampling import draw, heat, keep_top_k, keep_top_p

SETTINGS = {"temperature": 0.8, "count": 10, "share": 0.9}
"""For the file: a temperature, a top-k and a top-p that change all candidates."""
DRAWS = 8


def sample_candidates(
    logits: list[float], temperature: float, count: int, share: float
) -> dict[str, Tensor]:
    """Probabilities of candidates, step by step; and some draws."""
    heated = heat(torch.tensor(logits), temperature)
    best = keep_top_k(heated, count)
    nucleus = keep_top_p(best, share)
    generator = torch.Generator().manual_seed(0)
    return {
        "temperature": heated.softmax(dim=-1),
        "top-k": best.softmax(dim=-1),
        "top-p": nucleus.softmax(dim=-1),
        "drawn": draw(nucleus.expand(DRAWS, -1), generator),
    }
