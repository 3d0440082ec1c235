"""Everything that a layer of heads computed for a sentence, and the part that is looked at."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from explainers.attention.multi_head import ManyHeads, contributions, merge_heads, split_heads
from explainers.attention.single_head import Projections, SingleHead
from explainers.attention.steps import attention_steps
from explainers.lessons.many_heads_layer import Layer
from explainers.lessons.one_head import OneHead
from explainers.ui.prose import Prose

MOST_NAMED = 12
"""Words that are shown of all that the trained layer could name."""


@dataclass(frozen=True)
class Looked:
    """What is looked at: a layer's run, one head of it, one word, and the heads switched off."""

    layer: Layer
    run: ManyHeads
    head: int
    word: int
    off: frozenset[int]

    @property
    def num_heads(self) -> int:
        return self.layer.heads.num_heads

    @cached_property
    def on(self) -> Tensor:
        """1 for a head that takes part (heads, 1, 1)."""
        taking_part = [float(head not in self.off) for head in range(self.num_heads)]
        return torch.tensor(taking_part, device=self.layer.x.device)[:, None, None]

    @cached_property
    def per_head(self) -> Tensor:
        """The heads' outputs (heads, q_len, head_dim); 0 where a head is off."""
        return self.run.per_head * self.on

    @cached_property
    def parts(self) -> Tensor:
        """What each head adds to the chosen word's output (heads, d_model)."""
        return contributions(self.per_head, self.layer.heads.w_output)[:, self.word]

    @cached_property
    def output(self) -> Tensor:
        """The layer's output (q_len, d_model) without the heads that are off."""
        return contributions(self.per_head, self.layer.heads.w_output).sum(dim=0)

    @cached_property
    def one_head(self) -> OneHead:
        """The chosen head by itself."""
        heads, head = self.layer.heads, self.head
        columns = slice(head * heads.head_dim, (head + 1) * heads.head_dim)
        matrices = (heads.w_query, heads.w_key, heads.w_value)
        single = SingleHead(*(matrix[:, columns] for matrix in matrices))
        views = Projections(*(view[head] for view in self.run[:3]))
        steps = attention_steps(*views, self.layer.mask)
        return OneHead.of(self.layer.tokens, self.layer.x, single, views, steps)

    @cached_property
    def shares(self) -> Tensor:
        """Which part of the chosen word's output each head is (heads,); together 1."""
        output = self.parts.sum(dim=0)
        return self.parts @ output / (output @ output).clamp_min(1e-12)

    @cached_property
    def candidates(self) -> dict[int, str]:
        """Words that could be named, by their place in what `Learned.named` gives.

        The sentence's own, before the chosen word (←) and after it (→), and any other that is
        named, with all heads or with those that are on.
        """
        known = self.layer.known
        if known is None:
            return {}
        size = len(known.words)
        places = {word.casefold(): place for place, word in enumerate(known.words)}
        own = [
            places[token.casefold()] + (0 if position < self.word else size)
            for position, token in enumerate(self.layer.tokens)
            if token.casefold() in places and position != self.word
        ]
        outputs = torch.stack([self.run.output, self.output])[:, self.word]
        others = (known.named(outputs) > 0).any(dim=0).nonzero()[:, 0].tolist()
        shown = list(dict.fromkeys([*own, *others]))[:MOST_NAMED]
        return {place: f"{'←→'[place // size]} {known.words[place % size]}" for place in shown}


def compare(text: Prose, layer: Layer, run: ManyHeads, listed: ManyHeads) -> None:
    """Say how far two implementations are apart, and where numbers were copied."""
    apart = max((a - b).abs().max().item() for a, b in zip(run, listed, strict=True))
    projected = layer.x @ layer.heads.w_query
    split = split_heads(projected, layer.heads.head_dim)
    merged = merge_heads(run.per_head)
    text(
        "same",
        apart=f"{apart:.1g}",
        numbers=f"{sum(part.numel() for part in run):,}",
        split=_moved(projected, split),
        merge=_moved(run.per_head, merged),
    )


def _moved(before: Tensor, after: Tensor) -> str:
    """Whether the numbers of `after` lie in memory of their own."""
    is_copy = before.untyped_storage().data_ptr() != after.untyped_storage().data_ptr()
    return f"copied {after.numel():,} numbers" if is_copy else "copied nothing"
