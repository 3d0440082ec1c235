"""Everything that a layer of heads computed for a sentence, and the part that is looked at."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from explainers.attention.dropout import drop
from explainers.attention.multi_head import ManyHeads, contributions, multi_head
from explainers.toys.examples import make_generator
from explainers.toys.layers import Layer
from explainers.ui.untrusted_text import verbatim

PROBABILITY, DRAWS = 0.5, 1_000
"""With which dropout hides a weight, and how many draws are averaged."""


@dataclass(frozen=True)
class Selection:
    """What is looked at: a layer's run, one word, and the heads switched off."""

    layer: Layer
    run: ManyHeads
    word: int
    off: frozenset[int]

    @classmethod
    def of(cls, layer: Layer, word: int, off: Iterable[int]) -> "Selection":
        """Run the layer."""
        return cls(layer, multi_head(layer.x, layer.heads, layer.mask), word, frozenset(off))

    @property
    def num_heads(self) -> int:
        return self.layer.heads.num_heads

    @cached_property
    def per_head(self) -> Tensor:
        """The heads' outputs (heads, q_len, head_dim); 0 where a head is off."""
        taking_part = [float(head not in self.off) for head in range(self.num_heads)]
        on = torch.tensor(taking_part, device=self.layer.x.device)[:, None, None]  # (heads, 1, 1)
        return self.run.per_head * on

    @cached_property
    def output(self) -> Tensor:
        """The layer's output (q_len, d_model) without the heads that are off."""
        return contributions(self.per_head, self.layer.heads.w_output).sum(dim=0)

    def draw_dropout(self, seed: int) -> dict[str, object]:
        """What the chosen word's row of the first head adds up to, if dropout hides weights."""
        row, token = self.run.weights[0, self.word], self.layer.tokens[self.word]
        drawn = drop(row.expand(DRAWS, -1), PROBABILITY, make_generator("dropout", seed))
        sums = drawn.sum(dim=-1)  # (draws,)
        return {
            "probability": PROBABILITY,
            "word": verbatim(token),
            "once": f"{sums[0].item():.2f}",
            "often": f"{sums.mean().item():.2f}",
            "draws": f"{DRAWS:,}",
        }
