"""Everything that a layer of heads computed for a sentence, and the part that is looked at."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from explainers.attention.dropout import drop
from explainers.attention.multi_head import ManyHeads, contributions, merge_heads, multi_head
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
        return silence(self.run.per_head, self.off)

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


def compute_heads(layer: Layer, off: list[int]) -> dict[str, Tensor]:
    """Every head's weights, the heads' outputs side by side, and what W_O makes of them."""
    run = multi_head(layer.x, layer.heads, layer.mask)
    per_head = silence(run.per_head, off)
    each = {f"head {n}": weights for n, weights in enumerate(run.weights)}
    output = contributions(per_head, layer.heads.w_output).sum(dim=0)
    return {**each, "heads": merge_heads(per_head), "layer": output}


def silence(per_head: Tensor, off: Collection[int]) -> Tensor:
    """The heads' outputs (heads, q_len, head_dim), 0 where a head is off."""
    taking_part = [float(head not in off) for head in range(len(per_head))]
    return per_head * torch.tensor(taking_part, device=per_head.device)[:, None, None]
