"""What the reader wants to know the cache of: a model, a text, a format, and a way to count."""

from dataclasses import dataclass
from typing import TypedDict

from explainers.memory.countings import IDEAL, counted
from explainers.memory.groups import ModelShape
from explainers.memory.working import Working, cache_working


class OfText(TypedDict):
    """What the calculators want to know besides the number of tokens."""

    dtype: str
    source_tokens: int | None


@dataclass(frozen=True)
class Chosen:
    """Everything the reader can change about one cache."""

    shape: ModelShape
    tokens: int
    texts: int
    dtype: str
    counting: str
    source_tokens: int | None
    beams: int

    def counted(self, counting: str = "") -> Working:
        """The bytes, by the chosen counting or another one, and what they are made of."""
        counting = counting or self.counting
        if counting == IDEAL:
            return cache_working(self.shape, self.tokens, self.texts, beams=self.beams, **self.of)
        return counted(self.shape, self.tokens, counting, self.texts * self.beams, **self.of)

    @property
    def of(self) -> OfText:
        """What every calculator is asked about."""
        return {"dtype": self.dtype, "source_tokens": self.source_tokens}
