"""What is kept of one translation: what was read, what was written, and every layer's attention."""

from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from explainers.attention.decoder_block import Decoded
from explainers.attention.encoder_block import Encoded
from explainers.attention.multi_head import ManyHeads
from explainers.translation.decoding import Candidate
from explainers.translation.vocabulary import END, vietnamese

Block = TypeVar("Block", Encoded, Decoded)


class Written(NamedTuple):
    """One of the translations that were found, and how likely it is."""

    syllables: tuple[str, ...]
    log_probability: float

    @classmethod
    def of(cls, candidate: Candidate) -> "Written":
        return cls(vietnamese().texts(candidate.numbers), candidate.log_probability)


class Translation(NamedTuple):
    """A translation and how it came about; tensors are of this sentence, without a batch axis.

    Rows of the decoder: row t reads syllable t − 1 (row 0 the begin) and predicts syllable t;
    behind the last syllable one more row predicts the end. Keys of the source are its words and
    `<eos>`.
    """

    words: tuple[str, ...]
    syllables: tuple[str, ...]
    x_words: Tensor
    """What the first block of the encoder reads (words + 1, d_model)."""
    encoder: tuple[Encoded, ...]
    memory: Tensor
    """The encoder's output, normalised: what the decoder looks at (words + 1, d_model)."""
    x_syllables: Tensor
    """What the first block of the decoder reads (syllables + 1, d_model)."""
    decoder: tuple[Decoded, ...]
    probabilities: Tensor
    """Of every syllable of the vocabulary to be the next one (syllables + 1, vocabulary)."""
    others: tuple[Written, ...] = ()
    """What other beams wrote, the likelier first."""

    @property
    def cross(self) -> Tensor:
        """The weights of cross-attention (layers, heads, syllables + 1, words + 1)."""
        return torch.stack([block.cross.weights for block in self.decoder])

    @property
    def log_probabilities(self) -> Tensor:
        """Of each syllable that was written, and of the end (syllables + 1,)."""
        numbers = [*vietnamese().numbers(self.syllables), END]
        return self.probabilities[torch.arange(len(numbers)), torch.tensor(numbers)].log()


def alone(block: Block) -> Block:
    """Of the only sentence of a batch: the same without the batch axis."""
    return type(block)._make(
        ManyHeads._make(own[0] for own in part) if isinstance(part, ManyHeads) else part[0]
        for part in block
    )
