"""What the browser makes of the tokens that a model wrote, while a reader drags a setting."""

import torch

from explainers.models.written_tokens import TEMPERATURES, TOP_PS, Sampling, ToldStep


def restrict_candidates(
    step: ToldStep, temperature: float, top_k: int, top_p: float
) -> list[float]:
    """The probabilities of the candidates under other settings, from what is told alone.

    0 for what may not be drawn.
    """
    logits = torch.tensor([logit for _text, logit in step.candidates], dtype=torch.float64)
    if temperature == 0 or top_k:
        restricted = Sampling(temperature=temperature, top_k=top_k, top_p=top_p).restrict(logits)
        chances: list[float] = restricted.softmax(dim=-1).tolist()
        return chances
    row = step.kept[TEMPERATURES.index(temperature) - 1]
    count, total = row[TOP_PS.index(top_p)]
    chances = (logits / temperature - total).exp().tolist()
    return [one if place < count else 0.0 for place, one in enumerate(chances)]
