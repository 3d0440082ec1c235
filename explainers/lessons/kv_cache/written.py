"""The sentence as it is read token by token, with the badge of the pictures of it."""

from dataclasses import dataclass

from explainers.lessons.kv_cache.reading import Reading
from explainers.ui.provenance import random_weights


@dataclass(frozen=True)
class Written(Reading):
    """A text that is read, in pictures."""

    @property
    def origin(self) -> str:
        """The badge of the pictures."""
        return random_weights(self.seed, self.x.device)
