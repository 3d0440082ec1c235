"""What training learned: a vector for each word, a layer of heads, and how words are named."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from explainers.attention.layer import MultiHead
from explainers.attention.positions import sinusoidal
from explainers.toys.examples import LONGEST, generator


@dataclass(frozen=True)
class Learned:
    """All that training learns: embedding (words, d_model), heads, and bias (2 · words,)."""

    words: tuple[str, ...]
    embedding: Tensor
    layer: MultiHead
    bias: Tensor

    @classmethod
    def of(cls, words: tuple[str, ...], parts: Iterable[Tensor], head_dim: int) -> "Learned":
        """Put together what training or the file holds in the order of `PARTS`."""
        embedding, w_query, w_key, w_value, w_output, bias = parts
        return cls(words, embedding, MultiHead(w_query, w_key, w_value, w_output, head_dim), bias)

    def named(self, output: Tensor) -> Tensor:
        """How strongly each word is named (..., 2 · words), above 0 it is.

        Half of the output says which words stand before, half which stand after.
        """
        halves = zip(output.chunk(2, dim=-1), self.embedding.chunk(2, dim=-1), strict=True)
        return torch.cat([said @ words.T for said, words in halves], dim=-1) + self.bias

    def read_words(self, tokens: tuple[str, ...]) -> tuple[Tensor, tuple[str, ...]]:
        """Embedding + position (tokens, d_model), and the words that training never saw.

        Case does not matter. An unknown word's vector is drawn as widely as the learned ones
        spread.
        """
        places = {word.casefold(): place for place, word in enumerate(self.words)}
        words = map(str.casefold, tokens)
        rows = [self.embedding[places[w]] if w in places else self._stranger(w) for w in words]
        placed = sinusoidal(len(tokens), self.embedding.shape[1], LONGEST)
        unknown = dict.fromkeys(token for token in tokens if token.casefold() not in places)
        return torch.stack(rows) + placed.to(self.embedding.device), tuple(unknown)

    def _stranger(self, word: str) -> Tensor:
        drawn = torch.randn(self.embedding.shape[1], generator=generator("unknown word", word))
        return drawn.to(self.bias.device) * self.embedding.std()
