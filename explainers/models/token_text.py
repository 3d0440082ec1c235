"""A text as a real model reads it: ids, what to print for each, and pieces merged into words.

>>> match_words("the CEO", [(0, 3), (4, 5), (5, 7)], ["the", "C", "EO"])
Words(numbers=(0, 1, 1), spelled=('the', 'CEO'))
>>> merge_weights(torch.full((2, 3), 1 / 3), (0, 0), (0, 1, 1))  # two rows become one
tensor([[0.3333, 0.6667]])
"""

import functools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from safetensors import safe_open
from tokenizers import Encoding, Tokenizer, decoders
from torch import Tensor
from torch.nn.functional import one_hot

from explainers.messages import get_message
from explainers.models.registry import OFFERED_MODELS, ModelError, OfferedModel, locate_folder
from explainers.toys.sentence import find_word_spans

if TYPE_CHECKING:
    from explainers.models.load import RealModel

TOKENIZER_FILE = "tokenizer.json"
EMBEDDINGS = "embed_tokens.weight", "word_embeddings.weight", "wte.weight"
"""How the names of tables end that have a row for each token."""


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
            "{model}: its tokenizer cannot be read: {error}",
            model=file.parent.name,
            error=get_message(error),
        ) from None
    tokenizer.no_truncation()  # some are saved as they were used, cutting and filling up
    tokenizer.no_padding()
    return tokenizer


def read_embeddings(folder: Path, ids: Sequence[int]) -> Tensor | None:
    """What a model has for each id (ids, d_model), without loading it; None if it is not found.

    Only these rows are read, of the one table that is named as such.
    """
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, framework="pt") as tensors:
            for name in tensors.offset_keys():
                if name.endswith(EMBEDDINGS):
                    table = tensors.get_slice(name)
                    return torch.stack([table[one] for one in ids]).float()
    return None


def label_tokens(encoded: Encoding, tokenizer: Tokenizer) -> list[str]:
    """A label per token: its text with its space in front, or the bytes of a part of a letter."""
    return list(map(_find_speller(tokenizer), encoded.tokens))


def label_ids(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """A label for each id of a vocabulary: see `label_tokens`. "" where a model has more ids."""
    spell, tokens = _find_speller(tokenizer), tokenizer.convert_ids_to_tokens(list(ids))
    return [spell(token or "") for token in tokens]


def _find_speller(tokenizer: Any) -> Callable[[str], str]:
    """What writes a token of this tokenizer as a label."""
    fast = getattr(tokenizer, "backend_tokenizer", tokenizer)
    decoder = getattr(fast, "decoder", None)
    state = json.loads(decoder.__getstate__()) if isinstance(decoder, decoders.Decoder) else {}
    kinds = {part["type"] for part in (state, *state.get("decoders", [])) if part}
    if hasattr(tokenizer, "_utf_vocab_size"):  # ByT5 and Perceiver have a token for each byte
        kinds.add("Byte")
    model = getattr(fast, "model", None)
    suffix = getattr(model, "end_of_word_suffix", None) if model else "</w>"  # XLM has no model
    return functools.partial(_spell, kinds=kinds, suffix=suffix or "")


def _spell(token: str, kinds: set[str], suffix: str) -> str:
    """Its text, or its bytes if they are no text; `kinds` are those of the tokenizer's decoders."""
    is_end = bool(suffix) and token.endswith(suffix)
    token = token.removesuffix(suffix)
    if "Byte" in kinds and len(token) == 1:
        code = bytes([ord(token)])
    elif "ByteLevel" in kinds and set(token) <= set(_BYTES):
        code = bytes(map(_BYTES.__getitem__, token))
    elif "ByteFallback" in kinds and re.fullmatch("<0x[0-9A-F]{2}>", token):
        code = bytes.fromhex(token[3:5])
    else:
        code = (token if "ByteLevel" in kinds else token.replace("▁", " ")).encode()
    try:
        return code.decode() + " " * is_end
    except UnicodeDecodeError:
        return f"⟨{code.hex(' ')}⟩"


NO_TEXT = "\N{REPLACEMENT CHARACTER}"
"""What a tokenizer writes for bytes that are no letter."""


def spell_token(tokenizer: Any, token: int) -> str:
    """An id as it stands in a text; of a part of a letter, its bytes."""
    spelled = str(tokenizer.decode([token]))
    return spelled if spelled and NO_TEXT not in spelled else label_ids(tokenizer, [token])[0]


_PRINTABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
_BYTES = {chr(byte): byte for byte in _PRINTABLE}
_BYTES |= {chr(256 + n): byte for n, byte in enumerate(sorted({*range(256)} - {*_PRINTABLE}))}
"""Which letter stands for which byte (Radford et al. 2019, encoder.py): unprintable ones get a
letter beyond Latin-1."""
MOST_TOKENS = 1024
"""What the pages draw at most."""


class TokenisedText(NamedTuple):
    """ids (1, tokens), and a label per token."""

    ids: Tensor
    tokens: tuple[str, ...]


def require_length(real_model: "RealModel", count: int, most: int) -> None:
    """Raise ModelError for a text of no tokens, or of more than the model or `most` allows."""
    most = min(most, real_model.context_length or most)
    if not 1 <= count <= most:
        raise ModelError(
            "{model} reads at most {most:,} tokens; this text has {count:,}.",
            model=real_model.name,
            most=most,
            count=count,
        )


def tokenise_text(
    real_model: "RealModel", text: str, most_tokens: int = MOST_TOKENS
) -> TokenisedText:
    """Cut a text as this model's own tokenizer does, with the tokens that it adds."""
    tokenizer = real_model.tokenizer
    encoded = tokenizer(text, verbose=False, return_special_tokens_mask=True)
    ids = encoded["input_ids"]
    if all(encoded["special_tokens_mask"]):
        raise ModelError(
            "{model} finds no token in this text: type some words.", model=real_model.name
        )
    require_length(real_model, len(ids), most_tokens)
    labels = tuple(label_ids(tokenizer, ids))
    return TokenisedText(torch.tensor([ids], device=real_model.model.device), labels)


def is_part_of_letter(label: str) -> bool:
    """Is this what `label_tokens` writes for bytes that are no text?"""
    return re.fullmatch("⟨.*⟩", label) is not None


class Words(NamedTuple):
    """The words of a text: the number of each token's word, and each word as it is written."""

    numbers: tuple[int, ...]
    spelled: tuple[str, ...]


Span = tuple[int, int]
"""Where a token begins and ends in its text."""


def read_words(real_model: "RealModel", text: str, tokens: Sequence[str]) -> Words:
    """The words that a text's first tokens belong to; the model's own tokens are by themselves."""
    encoded = real_model.tokenizer(text, verbose=False, return_special_tokens_mask=True)
    if not encoded.encodings:
        return spell_words(real_model.tokenizer, encoded["input_ids"][: len(tokens)], tokens)
    own, offsets = encoded["special_tokens_mask"], encoded.encodings[0].offsets
    spans = [None if mine else span for mine, span in zip(own, offsets, strict=True)]
    return match_words(text, spans[: len(tokens)], tokens)


def find_words(real_model: "RealModel", text: str, tokens: Sequence[str]) -> Words | None:
    """Words as `read_words` finds them; None if each of the tokens is a word."""
    words = read_words(real_model, text, tokens)
    return words if len(words.spelled) < len(tokens) else None


def spell_words(tokenizer: Any, ids: Sequence[int], tokens: Sequence[str]) -> Words:
    """The words of ids whose text is what they are decoded to, token after token."""
    own = set(tokenizer.all_special_ids)
    spans: list[Span | None] = []
    said: list[int] = []
    text = ""
    for one in ids:
        start = len(text)
        if one not in own:
            said.append(one)
            decoded = tokenizer.decode(said, clean_up_tokenization_spaces=False)
            text = str(decoded).rstrip(NO_TEXT)  # the beginning of a letter
        spans.append(None if one in own else (min(start, len(text)), len(text)))
    return match_words(text, spans, tokens)


def match_words(text: str, spans: Sequence[Span | None], tokens: Sequence[str]) -> Words:
    """The words of a text whose tokens stand there; None where one does not stand in it.

    A token that touches several words makes them one. Thus what a tokenizer has cut finer than
    words is merged, and a language without spaces stays as it was cut, in whole letters. A space
    belongs to the word behind it; other white space is by itself.
    """
    # A token that does not stand in the text ends a word: so an unknown one inside of it.
    cuts, stop = [0], 0
    for span in spans:
        stop = max(stop, span[1]) if span else stop
        cuts += [] if span else [stop]
    words = [
        (start + first, start + last)
        for start, end in pairwise([*cuts, stop])
        for first, last in find_word_spans(text[start:end])
    ]
    at = {place: word for word, span in enumerate(words) for place in range(*span)}
    numbers: list[int] = []
    bounds: list[Span] = []
    last = -1  # the last word of the text that the newest of ours touches
    for span in spans:
        touched = _list_touched(text, span, at) if span else []
        if not touched or touched[0] > last:
            bounds.append(span or (0, 0))
            last = -1
        if span and touched:
            (first, _unused), (_unused, end) = words[touched[0]], words[touched[-1]]
            bounds[-1] = min(bounds[-1][0], first), max(bounds[-1][1], end, span[1])
            last = max(last, touched[-1])
        numbers.append(len(bounds) - 1)
    spelled = (text[slice(*one)] or tokens[numbers.index(n)] for n, one in enumerate(bounds))
    return Words(tuple(numbers), tuple(spelled))


def _list_touched(text: str, span: Span, at: Mapping[int, int]) -> list[int]:
    """The words of the text that a token touches: of a mere space, the one behind it."""
    start, stop = span
    if text[start:stop] in ("", " "):  # of some, a decoder writes a space with what is behind it
        start = stop + (start == stop and text[stop : stop + 1] == " ")
        stop = start + 1
    return [at[place] for place in range(start, stop) if place in at]


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
