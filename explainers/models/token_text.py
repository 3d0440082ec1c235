"""A text as a real model reads it: ids, what to print for each, and pieces merged into words."""

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from tokenizers import Encoding, Tokenizer, decoders
from torch import Tensor

from explainers.models.registry import OFFERED_MODELS, ModelError, OfferedModel, locate_folder
from explainers.toys.byte_pairs import Piece

if TYPE_CHECKING:
    from explainers.models.load import RealModel
from collections.abc import Sequence

from torch.nn.functional import one_hot

from explainers.messages import N_, get_message

TOKENIZER_FILE = "tokenizer.json"


def list_models_with_tokenizer() -> list[OfferedModel]:
    """The models whose tokenizer is on this machine, in the order of the registry."""
    return [
        model for model in OFFERED_MODELS if (locate_folder(model.id) / TOKENIZER_FILE).is_file()
    ]


def read_tokenizer(model_id: str) -> Tokenizer:
    """A model's tokenizer without the model: quick, and nothing of transformers."""
    return _read_tokenizer_file(locate_folder(model_id) / TOKENIZER_FILE)


@functools.lru_cache(maxsize=len(OFFERED_MODELS))
def _read_tokenizer_file(file: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing more precise
        raise ModelError(
            N_(
                "{model}: its tokenizer cannot be read: {error}",
                model=file.parent.name,
                error=get_message(error),
            )
        ) from None
    tokenizer.no_truncation()  # some are saved as they were used, cutting and filling up
    tokenizer.no_padding()
    return tokenizer


def label_tokens(encoded: Encoding, tokenizer: Tokenizer) -> list[str]:
    """A label per token: its text with its space in front, or the bytes of a part of a letter."""
    if not isinstance(tokenizer.decoder, decoders.ByteLevel):
        return [token.replace("▁", " ") for token in encoded.tokens]
    return [_text_or_bytes(token) for token in encoded.tokens]


def label_ids(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """A label for each id of a vocabulary: see `label_tokens`."""
    tokens = tokenizer.convert_ids_to_tokens(list(ids))
    fast = getattr(tokenizer, "backend_tokenizer", None)  # Marian's has none
    if not isinstance(getattr(fast, "decoder", None), decoders.ByteLevel):
        return [token.replace("▁", " ") for token in tokens]
    return [_text_or_bytes(token) for token in tokens]


NO_TEXT = "\N{REPLACEMENT CHARACTER}"
"""What a tokenizer writes for bytes that are no letter."""


def spell_token(tokenizer: Any, token: int) -> str:
    """An id as it stands in a text; of a part of a letter, its bytes."""
    spelled = str(tokenizer.decode([token]))
    return label_ids(tokenizer, [token])[0] if NO_TEXT in spelled else spelled


def split_pieces(text: str, tokenizer: Tokenizer) -> list[Piece]:
    """The tokens of a text in printable portions: no portion ends inside a character."""
    encoded = tokenizer.encode(text)
    pieces: list[Piece] = []
    first = end = 0
    for label, token, (start, stop) in zip(
        label_tokens(encoded, tokenizer), encoded.ids, encoded.offsets, strict=True
    ):
        if start < min(end, stop):  # another part of a letter that has been begun
            end = max(end, stop)
            pieces[-1] = Piece(text[first:end], (*pieces[-1].ids, token))
        else:
            pieces.append(Piece(label, (token,)))
            first, end = start, stop
    return pieces


def _text_or_bytes(token: str) -> str:
    """Byte-level tokenizers write bytes as letters; not all of their tokens are whole ones."""
    decoded = bytes(map(_BYTES.__getitem__, token)) if set(token) <= set(_BYTES) else token.encode()
    try:
        return decoded.decode()
    except UnicodeDecodeError:
        return f"⟨{decoded.hex(' ')}⟩"


def _byte_letters() -> dict[str, int]:
    """Which letter stands for which byte (Radford et al. 2019, encoder.py): unprintable ones get
    a letter beyond Latin-1."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    letters = {chr(byte): byte for byte in printable}
    return letters | {chr(256 + n): byte for n, byte in enumerate(others)}


_BYTES = _byte_letters()


MOST_TOKENS = 1024
"""What the pages draw at most."""


class TokenisedText(NamedTuple):
    """ids (1, tokens), and a label per token."""

    ids: Tensor
    tokens: tuple[str, ...]


def tokenise_text(
    real_model: "RealModel", text: str, most_tokens: int = MOST_TOKENS
) -> TokenisedText:
    """Cut a text as this model's own tokenizer does, with the tokens that it adds."""
    tokenizer = real_model.tokenizer
    encoded = tokenizer(text, verbose=False, return_special_tokens_mask=True)
    ids = encoded["input_ids"]
    if all(encoded["special_tokens_mask"]):
        raise ModelError(
            N_("{model} finds no token in this text: type some words.", model=real_model.name)
        )
    most_tokens = min(most_tokens, real_model.context_length or most_tokens)
    if len(ids) > most_tokens:
        raise ModelError(
            N_(
                "{model} reads at most {most:,} tokens; this text has {count:,}.",
                model=real_model.name,
                most=most_tokens,
                count=len(ids),
            )
        )
    if encoded.encodings:
        labels = label_tokens(encoded.encodings[0], tokenizer.backend_tokenizer)
    else:  # Marian's pieces have no such tokenizer
        labels = [token.replace("▁", " ") for token in tokenizer.convert_ids_to_tokens(ids)]
    return TokenisedText(torch.tensor([ids], device=real_model.model.device), tuple(labels))


SPACE = "▁"
"""Stands in a piece for the space in front of it: there a word begins (sentencepiece)."""


def index_words(pieces: Sequence[str]) -> list[int]:
    """The number of each piece's word; a sign like `</s>` is a word of its own."""
    word_indices: list[int] = []
    for index, piece in enumerate(pieces):
        is_sign = piece.startswith("<") and piece.endswith(">")
        after_sign = index > 0 and pieces[index - 1].startswith("<")
        is_new_word = piece.startswith(SPACE) or is_sign or after_sign
        word_indices.append(word_indices[-1] + is_new_word if word_indices else 0)
    return word_indices


def join_words(pieces: Sequence[str], word_indices: Sequence[int]) -> list[str]:
    """Each word as it is written."""
    words = [""] * (max(word_indices, default=-1) + 1)
    for piece, word_index in zip(pieces, word_indices, strict=True):
        words[word_index] += piece.replace(SPACE, "")
    return [word or " " for word in words]


def number_words(real_model: "RealModel", text: str, count: int) -> list[int]:
    """For each of the first `count` tokens the number of its word; the model's own are by
    themselves."""
    encoded = real_model.tokenizer(text, verbose=False)
    places = encoded.word_ids(0) if encoded.encodings else list(range(count))
    found: list[int] = []
    for n, place in enumerate(places[:count]):
        is_same = n > 0 and place is not None and place == places[n - 1]
        found.append(found[-1] if is_same else len(set(found)))
    return found


def cut_out_words(real_model: "RealModel", text: str, words: Sequence[int]) -> list[str]:
    """Each word as the text has it, whatever bytes its pieces are; `words` has their numbers."""
    encoded = real_model.tokenizer(text, verbose=False)
    if not encoded.encodings:
        return []
    spelled = [""] * (max(words) + 1)
    ends: dict[int, tuple[int, int]] = {}
    for word, (start, end) in zip(words, encoded.encodings[0].offsets, strict=False):
        first, last = ends.get(word, (start, end))
        ends[word] = min(first, start), max(last, end)
        spelled[word] = text[slice(*ends[word])]
    return spelled


def is_part_of_letter(label: str) -> bool:
    """Does `spell_token` write bytes here? Some tokenizers have a token for each: "<0xE1>"."""
    return re.fullmatch(r"⟨.*⟩|<0x[0-9A-F]{2}>", label) is not None


class Words(NamedTuple):
    """The words of a text: the number of each token's word, and each word as it is written."""

    numbers: tuple[int, ...]
    spelled: tuple[str, ...]


def find_words(real_model: "RealModel", text: str, tokens: Sequence[str]) -> Words | None:
    """The words that a text's first tokens belong to; None if each is one, or none is told."""
    numbers = number_words(real_model, text, len(tokens))
    spelled = cut_out_words(real_model, text, numbers)
    if len(spelled) in (0, len(tokens)):
        return None
    # A model's own tokens do not stand in the text.
    names = (name or tokens[numbers.index(word)] for word, name in enumerate(spelled))
    return Words((*numbers,), (*names,))


def merge_weights(weights: Tensor, target: Sequence[int], source: Sequence[int]) -> Tensor:
    """From (..., target pieces, source pieces) to words, given the number of each piece's word.

    What goes *to* a word is the sum over its pieces, what comes *from* one their mean: so every
    row still sums to 1.
    """
    to_words, from_words = (
        one_hot(torch.tensor(words, device=weights.device)).to(weights.dtype)
        for words in (source, target)
    )
    return from_words.T @ (weights @ to_words) / from_words.sum(dim=0)[:, None]
