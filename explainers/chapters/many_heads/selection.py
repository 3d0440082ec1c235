"""Everything that a layer of heads computed for a sentence, and the part that is looked at."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from explainers.attention.multi_head import ManyHeads, contributions, multi_head
from explainers.toys.grammar import fold_word
from explainers.toys.layers import Layer, TrainedHeads

MOST_NAMED, MOST_OWN = 12, 8
"""Words that are shown of all that the trained layer could name, and of the sentence's own."""
MOST_ROWS = 2**15
"""Numbers of W_O that are drawn; of more, the chosen head's rows alone."""


@dataclass(frozen=True)
class Selection:
    """What is looked at: a layer's run, one head of it, one word, and the heads switched off."""

    layer: Layer
    run: ManyHeads
    head: int
    word: int
    off: frozenset[int]

    @classmethod
    def of(cls, layer: Layer, head: int, word: int, off: Iterable[int]) -> "Selection":
        """Run the layer."""
        run = multi_head(layer.x, layer.heads, layer.mask)
        return cls(layer, run, head, word, frozenset(off))

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
    def rows_of_w_output(self) -> range:
        """The rows of W_O that are drawn: all of them, or where they are too many, one head's."""
        heads = self.layer.heads
        if heads.w_output.numel() <= MOST_ROWS:
            return range(len(heads.w_output))
        return range(self.head * heads.head_dim, (self.head + 1) * heads.head_dim)

    @cached_property
    def shares(self) -> Tensor:
        """Which part of the chosen word's output each head is (heads,); together 1."""
        output = self.parts.sum(dim=0)
        return self.parts @ output / (output @ output).clamp_min(1e-12)

    def votes(self, directions: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
        """How strongly each head names some words (d_model, words), and what they come to.

        The first has a row for each head, one for the bias and one for the sum; the second has
        the sum of all heads, and of those that are on.
        """
        everyone = self.run.output[self.word] @ directions + bias
        parts = self.parts @ directions
        total = parts.sum(dim=0) + bias
        return torch.cat([parts, bias[None], total[None]]), torch.stack([everyone, total])

    @property
    def learned(self) -> TrainedHeads | None:
        """All that training learned, if the heads were trained."""
        learned = self.layer.learned
        return learned if isinstance(learned, TrainedHeads) else None

    def directions(self, known: TrainedHeads) -> tuple[Tensor, Tensor]:
        """What an output is multiplied with to name the candidates, and what is added."""
        places = list(self.candidates)
        each = torch.eye(self.output.shape[-1], device=self.output.device)
        return (known.score_words(each) - known.bias)[:, places], known.bias[places]

    @cached_property
    def candidates(self) -> dict[int, str]:
        """Words that could be named, by their place in what `TrainedHeads.score_words` gives.

        What all heads together name comes before anything else; then the sentence's own words,
        before the chosen one (←) and after it (→), and those that are named most often if every
        choice of heads is tried: the same ones whichever heads are off.
        """
        known = self.learned
        if known is None:
            return {}
        size = len(known.words)
        own = [
            known.places[word] + (0 if position < self.word else size)
            for position, word in enumerate(map(fold_word, self.layer.tokens))
            if word in known.places and position != self.word
        ]
        often, named = self._often_named(known), known.score_words(self.run.output[self.word]) > 0
        ranked = sorted(range(len(often)), key=lambda place: (not named[place], -often[place]))
        kept = [place for place in ranked if place in own][:MOST_OWN]
        others = [place for place in ranked if often[place] and place not in kept]
        chosen = [*kept, *others][:MOST_NAMED]
        shown = sorted(chosen, key=lambda place: own.index(place) if place in own else len(own))
        return {place: f"{'←→'[place // size]} {known.words[place % size]}" for place in shown}

    def _often_named(self, known: TrainedHeads) -> list[int]:
        """Of all ways to switch heads on and off, in how many each word is named."""
        parts = contributions(self.run.per_head, self.layer.heads.w_output)[:, self.word]
        choices = torch.cartesian_prod(*[torch.tensor([0.0, 1.0])] * self.num_heads)
        outputs = choices.view(-1, self.num_heads).to(parts.device) @ parts
        return (known.score_words(outputs) > 0).sum(dim=0).tolist()
