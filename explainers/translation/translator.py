"""The translator as pages use it: words in, syllables out, and every layer's attention."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from explainers.attention.cross import Attend
from explainers.attention.decoder_block import Decoded
from explainers.attention.encoder_block import Encoded
from explainers.attention.multi_head import ManyHeads
from explainers.messages import N_, Message
from explainers.translation.corpus import LONGEST_SOURCE
from explainers.translation.model import PLAIN, Model, Read
from explainers.translation.search import MOST_SYLLABLES, Candidate, beam
from explainers.translation.vocabulary import (
    BEGIN,
    END,
    SPECIAL,
    english,
    similar,
    sources,
    vietnamese,
)

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


MOST_BEAMS = 8


class Translator:
    """A model that is asked, and no longer trained."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def translate(
        self,
        words: Sequence[str],
        beams: int = 1,
        attend: Sequence[Attend] = PLAIN,
        left_out: Sequence[int] = (),
    ) -> Translation:
        """Translate words of the corpus; one beam is greedy.

        `attend` is what each decoder layer's cross-attention computes; nobody sees the words at
        the places `left_out`.
        """
        if not 1 <= beams <= MOST_BEAMS:
            raise ValueError(f"{beams} beams: from 1 to {MOST_BEAMS} can be kept")
        source = self._read(words, left_out)
        best, *others = beam(self.model, source, beams, attend)
        found = self._looked_at(words, source, best.numbers, attend)
        return found._replace(others=tuple(map(Written.of, others)))

    def forced(
        self,
        words: Sequence[str],
        syllables: Sequence[str],
        attend: Sequence[Attend] = PLAIN,
        left_out: Sequence[int] = (),
    ) -> Translation:
        """What the model computes while it is made to write these syllables."""
        known = vietnamese().tokens[len(SPECIAL) :]
        unknown = [syllable for syllable in syllables if syllable not in known]
        if unknown:
            raise ValueError(f"not among the corpus' syllables: {', '.join(unknown)}")
        if len(syllables) > MOST_SYLLABLES:
            raise ValueError(f"{len(syllables)} syllables: at most {MOST_SYLLABLES} are written")
        numbers = vietnamese().numbers(syllables)
        return self._looked_at(words, self._read(words, left_out), numbers, attend)

    @torch.no_grad()
    def _read(self, words: Sequence[str], left_out: Sequence[int]) -> Read:
        check(words)
        return self.model.read(sources([words]), left_out)

    @torch.no_grad()
    def _looked_at(
        self, words: Sequence[str], source: Read, numbers: Sequence[int], attend: Sequence[Attend]
    ) -> Translation:
        found = self.model.predict(torch.tensor([[BEGIN, *numbers]]), source, attend)
        return Translation(
            tuple(words),
            vietnamese().texts(numbers),
            source.x[0],
            tuple(map(alone, source.blocks)),
            source.output[0],
            found.x[0],
            tuple(map(alone, found.blocks)),
            found.logits[0].softmax(dim=-1),
        )


def check(words: Sequence[str]) -> None:
    """Refuse what the translator cannot read, and say why."""
    if not words:
        raise ValueError(N_("there is no word to translate"))
    if len(words) > LONGEST_SOURCE:
        raise ValueError(
            N_(
                "{count} words: in training no sentence had more than {most}",
                count=len(words),
                most=LONGEST_SOURCE,
            )
        )
    known = english().tokens[len(SPECIAL) :]
    unknown = dict.fromkeys(word for word in words if word not in known)
    if unknown:
        raise ValueError(N_("not among the corpus' words: {words}", words=hints(unknown)))


def hints(unknown: Iterable[str]) -> str:
    """Words that are not known, each with those that are most like it."""
    slots: dict[str, object] = {f"word{n}": _hinted(word) for n, word in enumerate(unknown)}
    return Message(", ".join(f"{{{name}}}" for name in slots), slots)


def _hinted(word: str) -> str:
    others = similar(word)
    if not others:
        return word
    return N_("{word} (known: {others})", word=word, others=", ".join(others))
