"""What to print for the tokens of a real tokenizer: often parts of words, or of letters."""

import functools
from pathlib import Path

from tokenizers import Encoding, Tokenizer, decoders

from explainers.models.names import folder_of
from explainers.models.registry import OFFERED, ModelError, Offered
from explainers.phrase import phrase, words_of
from explainers.tokens import Piece

FILE = "tokenizer.json"


def with_tokenizer() -> list[Offered]:
    """The models whose tokenizer is on this machine, in the order of the registry."""
    return [model for model in OFFERED if (folder_of(model.id) / FILE).is_file()]


def tokenizer_of(model_id: str) -> Tokenizer:
    """A model's tokenizer without the model: quick, and nothing of transformers."""
    return _read(folder_of(model_id) / FILE)


@functools.lru_cache(maxsize=len(OFFERED))
def _read(file: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing more precise
        raise ModelError(
            phrase(
                "{model}: its tokenizer cannot be read: {error}",
                model=file.parent.name,
                error=words_of(error),
            )
        ) from None
    tokenizer.no_truncation()  # some are saved as they were used, cutting and filling up
    tokenizer.no_padding()
    return tokenizer


def labels(encoded: Encoding, tokenizer: Tokenizer) -> list[str]:
    """A label per token: its text with its space in front, or the bytes of a part of a letter."""
    if not isinstance(tokenizer.decoder, decoders.ByteLevel):
        return [token.replace("▁", " ") for token in encoded.tokens]
    return [_text_or_bytes(token) for token in encoded.tokens]


def pieces_of(text: str, tokenizer: Tokenizer) -> list[Piece]:
    """The tokens of a text in printable portions: no portion ends inside a character."""
    encoded = tokenizer.encode(text)
    found: list[Piece] = []
    first = end = 0
    for label, token, (start, stop) in zip(
        labels(encoded, tokenizer), encoded.ids, encoded.offsets, strict=True
    ):
        if start < min(end, stop):  # another part of a letter that has been begun
            end = max(end, stop)
            found[-1] = Piece(text[first:end], (*found[-1].ids, token))
        else:
            found.append(Piece(label, (token,)))
            first, end = start, stop
    return found


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
