"""The trained translator: its files, and writing by greedy search.

It records the attention of every layer. Large translators read word pieces instead of words (Kudo
and Richardson 2018); weights are kept in 16 bits.
"""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from explainers.attention.decoder_block import Attend, Decoded
from explainers.attention.encoder_block import Encoded
from explainers.attention.multi_head import ManyHeads
from explainers.folders import ASSETS
from explainers.messages import N_, InputError, join_texts
from explainers.translation.corpus import (
    BEGIN,
    END,
    MAX_SOURCE_WORDS,
    PAD,
    SPECIAL_TOKENS,
    encode_sources,
    english_vocabulary,
    find_similar_words,
    vietnamese_vocabulary,
)
from explainers.translation.model import PLAIN_ATTENTION, EncodedSource, Model, list_shapes

if TYPE_CHECKING:
    import sentencepiece

MAX_SYLLABLES = 48
"""A translation that does not end by itself is cut here; the corpus has at most 34."""


@torch.no_grad()
def greedy_search(
    model: Model, source: EncodedSource, attend: Sequence[Attend] = PLAIN_ATTENTION
) -> Tensor:
    """Always the likeliest next syllable; ids (batch, length) with padding behind the end."""
    batch = len(source.output)
    ids, is_done = torch.full((batch, 1), BEGIN), torch.zeros(batch, dtype=torch.bool)
    while ids.shape[-1] <= MAX_SYLLABLES and not is_done.all():
        next_ids = model.predict(ids, source, attend).logits[:, -1].argmax(dim=-1)
        next_ids = next_ids.masked_fill(is_done, PAD)
        is_done = is_done | (next_ids == END)
        ids = torch.cat([ids, next_ids[:, None]], dim=-1)
    return ids[:, 1:]


Block = TypeVar("Block", Encoded, Decoded)


class Translation(NamedTuple):
    """A translation and all that was computed for it; tensors have no batch axis.

    Rows of the decoder: row t reads syllable t − 1 (row 0 the begin) and predicts syllable t;
    behind the last syllable one more row predicts the end. Keys of the source are its words and
    `<eos>`.
    """

    words: tuple[str, ...]
    syllables: tuple[str, ...]
    encoder: tuple[Encoded, ...]
    memory: Tensor
    """The encoder's output, normalised: what the decoder looks at (words + 1, d_model)."""
    decoder: tuple[Decoded, ...]
    probabilities: Tensor
    """Of every syllable of the vocabulary to be the next one (syllables + 1, vocabulary)."""

    @property
    def cross(self) -> Tensor:
        """The weights of cross-attention (layers, heads, syllables + 1, words + 1)."""
        return torch.stack([block.cross.weights for block in self.decoder])


def drop_batch_axis(block: Block) -> Block:
    """The steps of a block for a batch of one sentence, without the batch axis."""
    return type(block)._make(
        ManyHeads._make(tensor[0] for tensor in step) if isinstance(step, ManyHeads) else step[0]
        for step in block
    )


class Translator:
    """A trained model that translates words and records what it computed."""

    def __init__(self, model: Model) -> None:
        self.model = model

    @torch.no_grad()
    def translate(
        self, words: Sequence[str], attend: Sequence[Attend] = PLAIN_ATTENTION
    ) -> Translation:
        """Translate words of the corpus, always by the likeliest next syllable.

        `attend` is what each decoder layer's cross-attention computes.
        """
        check_words(words)
        source = self.model.encode(encode_sources([words]))
        [ids] = greedy_search(self.model, source, attend).tolist()
        return self.record(words, source, ids[:-1] if ids[-1] == END else ids, attend)

    @torch.no_grad()
    def record(
        self,
        words: Sequence[str],
        source: EncodedSource,
        ids: Sequence[int],
        attend: Sequence[Attend] = PLAIN_ATTENTION,
    ) -> Translation:
        """What the model computes where these syllables are written."""
        prediction = self.model.predict(torch.tensor([[BEGIN, *ids]]), source, attend)
        return Translation(
            tuple(words),
            vietnamese_vocabulary().decode(ids),
            tuple(map(drop_batch_axis, source.blocks)),
            source.output[0],
            tuple(map(drop_batch_axis, prediction.blocks)),
            prediction.logits[0].softmax(dim=-1),
        )


def check_words(words: Sequence[str]) -> None:
    """Raise ValueError for words that the translator cannot read."""
    if not words:
        raise InputError("there is no word to translate")
    if len(words) > MAX_SOURCE_WORDS:
        raise InputError(
            "{count} words: in training no sentence had more than {most}",
            count=len(words),
            most=MAX_SOURCE_WORDS,
        )
    known_words = english_vocabulary().tokens[len(SPECIAL_TOKENS) :]
    unknown_words = dict.fromkeys(word for word in words if word not in known_words)
    if unknown_words:
        words_with_similar = [
            N_("{word} (known: {others})", word=word, others=", ".join(similar))
            if (similar := find_similar_words(word))
            else word
            for word in unknown_words
        ]
        raise InputError(
            "words that the translator does not know: {words}",
            words=join_texts(", ", *words_with_similar),
        )


WEIGHTS_FOLDER = ASSETS / "weights"
FIRST_FILE, OTHERS_FILE = (
    WEIGHTS_FOLDER / f"translator{name}.safetensors" for name in ("", "_seeds")
)
"""The pages' translator, which is seed 0, and two more seeds: how much is luck?"""
SEEDS = (0, 1, 2)
MAX_BYTES = 4_000_000
PIECES_KEY = "pieces"


class BrokenWeightsError(RuntimeError):
    """The file of the weights is missing or is not what it should be; the message says what."""


def find_file(seed: int) -> Path:
    """The file with the weights of a seed."""
    if seed not in SEEDS:
        raise ValueError(f"seed {seed}: trained are {', '.join(map(str, SEEDS))}")
    return FIRST_FILE if seed == SEEDS[0] else OTHERS_FILE


@functools.lru_cache(maxsize=len(SEEDS))
def load_translator(seed: int = 0) -> Translator:
    """The trained translator of a seed; raises BrokenWeightsError if its file cannot be used."""
    file, prefix = find_file(seed), f"{seed}."
    tensors = read_tensors(file)
    parameters = {
        name: tensors.get(prefix + name, torch.empty(0)).float() for name in list_shapes()
    }
    wrong_names = [name for name, shape in list_shapes().items() if parameters[name].shape != shape]
    if wrong_names:
        raise BrokenWeightsError(
            f"{file.name} holds another model: {wrong_names[0]} has another shape"
        )
    if not all(parameter.isfinite().all() for parameter in parameters.values()):
        raise BrokenWeightsError(f"{file.name} holds numbers that are not finite")
    return Translator(Model.from_parameters(parameters))


def read_tensors(file: Path) -> dict[str, Tensor]:
    """All tensors of a file; raises BrokenWeightsError if its words are not the lexicon's."""
    if not file.exists():
        hint = "python -m workshop.translation train makes it"
        raise BrokenWeightsError(f"there is no {file.name}: {hint}")
    if file.stat().st_size > MAX_BYTES:
        raise BrokenWeightsError(f"{file.name} is larger than {MAX_BYTES:,} bytes: not our weights")
    try:
        with safe_open(file, framework="pt") as tensor_file:
            if (tensor_file.metadata() or {}).get("words") != join_words():
                raise BrokenWeightsError(f"{file.name} was trained with other words: train again")
            return {name: tensor_file.get_tensor(name) for name in tensor_file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise BrokenWeightsError(f"{file.name} is broken: {error}") from error


def join_words() -> str:
    return " ".join((*english_vocabulary().tokens, *vietnamese_vocabulary().tokens))


NUM_PIECES = 600
"""The number of pieces: fewer than the corpus has words, so that some words are cut."""


@functools.lru_cache(maxsize=1)
def load_pieces() -> "sentencepiece.SentencePieceProcessor":
    """The model of word pieces that is shipped beside the weights."""
    import sentencepiece  # a tenth of a second, and most sentences are not cut

    tensors = read_tensors(FIRST_FILE)
    if PIECES_KEY not in tensors:
        raise BrokenWeightsError(f"{FIRST_FILE.name} holds no model of pieces: train again")
    return sentencepiece.SentencePieceProcessor(model_proto=tensors[PIECES_KEY].numpy().tobytes())


def cut_words(words: Sequence[str]) -> list[list[str]]:
    """The pieces of each word; the first of a word begins with ▁, the space in front of it."""
    return [load_pieces().encode(word, out_type=str) for word in words]
