"""Small weights that learned with RoPE: a head that finds related words, and layers that write.

The head sees all words and names the related ones. The two layers see earlier words alone and say
which word comes next. How they were trained stands in `workshop.toys.rotary_training`, how well
they do in its REPORT.md.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass

from torch import Tensor

from explainers.attention.layer import MultiHead
from explainers.device import choose_device
from explainers.folders import ASSETS
from explainers.toys.layers import READABLE_PARTS, LearnedWords, ReadableHead, read_tensors

ROTARY_FILES = {
    "en": ASSETS / "weights" / "rotary.safetensors",
    "vi": ASSETS / "weights" / "rotary_vi.safetensors",
}
"""By the language of the words that were learned."""
ROTARY_SEED = 0
"""The training that is kept."""
FINDER, WRITER = "finder", "writer"
FINDER_D_MODEL, FINDER_HEAD_DIM = 16, 8
WRITER_D_MODEL, WRITER_HEAD_DIM, WRITER_LAYERS = 8, 4, 2
MATRICES = "w_query", "w_key", "w_value", "w_output"
PARTS = {
    FINDER: READABLE_PARTS,
    WRITER: (
        "embedding",
        *(f"layer {n}: {name}" for n in range(1, WRITER_LAYERS + 1) for name in MATRICES),
        "w_words",
        "bias",
    ),
}
"""The tensors of each, in the order in which they are trained."""


@dataclass(frozen=True)
class Writer(LearnedWords):
    """Layers of one causal head each; what attention finds is added to what was there."""

    layers: tuple[MultiHead, ...]
    w_words: Tensor
    """(d_model, words)"""
    bias: Tensor
    """(words,)"""

    @classmethod
    def from_parts(cls, words: tuple[str, ...], parts: Iterable[Tensor]) -> "Writer":
        """Put together what training or the file holds in the order of `PARTS`."""
        embedding, *matrices, w_words, bias = parts
        layers = []
        for first in range(0, len(matrices), len(MATRICES)):
            w_query, w_key, w_value, w_output = matrices[first : first + len(MATRICES)]
            layers.append(MultiHead(w_query, w_key, w_value, w_output, WRITER_HEAD_DIM))
        return cls(words, embedding, tuple(layers), w_words, bias)

    def score_words(self, output: Tensor) -> Tensor:
        """Logits of the next word (..., words), from what comes out of the last layer."""
        return output @ self.w_words + self.bias


def name_rotary_part(kind: str, part: str) -> str:
    """The name of one tensor in the file."""
    return f"{kind}: {part}"


@functools.lru_cache(maxsize=len(ROTARY_FILES))
def load_finder(language: str) -> ReadableHead:
    """The shipped head that finds related words of a language."""
    return ReadableHead.from_parts(*_read_parts(FINDER, language))


@functools.lru_cache(maxsize=len(ROTARY_FILES))
def load_writer(language: str) -> Writer:
    """The shipped layers that write short news in a language."""
    return Writer.from_parts(*_read_parts(WRITER, language))


def _read_parts(kind: str, language: str) -> tuple[tuple[str, ...], list[Tensor]]:
    names = [name_rotary_part(kind, part) for part in PARTS[kind]]
    words, tensors = read_tensors(names, ROTARY_FILES[language])
    return words, [part.float().to(choose_device()) for part in tensors.values()]
