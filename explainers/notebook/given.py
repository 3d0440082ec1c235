"""What `look` is given: weights that somebody already has, or the texts that a model shall read.

Weights of numpy, torch, JAX, a .npy file, what transformers returns as `attentions`, and what its
`generate` returns: the rows of a growing cache, step by step, are put together as one square. Texts
are one, a pair, a chat, or one with its answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from explainers.models.registry import GivenError, ModelError
from explainers.notebook.packed_heads import Array, Shape, to_array

if TYPE_CHECKING:
    from explainers.models.load import RealModel

MOST_TOKENS = 4_096
"""Queries or keys of a picture."""
MOST_HEADS = 20_000
"""Of all layers together."""
LONGEST_TOKEN = 100
"""Letters of a token that are sent."""
FORM = "weights are (layers, heads, q_len, kv_len), or a list of layers (heads, q_len, kv_len)"


def list_layers(weights: Any) -> list[Any]:
    """The layers of weights, each (heads, q_len, kv_len), as they came; ModelError for others.

    An axis of one text, as transformers has it in front of the heads, is left out.
    """
    if isinstance(weights, str | Path):
        weights = _read_file(Path(weights))
    if are_steps(weights):
        if len(counts := sorted({len(step) for step in weights})) > 1:
            raise GivenError(f"Steps of one text have the same layers; these have {counts!s}.")
        layers = [
            _join_steps(place, steps) for place, steps in enumerate(zip(*weights, strict=True))
        ]
    else:
        if not isinstance(weights, list | tuple) or not all(hasattr(w, "shape") for w in weights):
            weights = _as_numbers(weights)
        if hasattr(weights, "shape") and len(weights.shape) not in (4, 5):
            raise GivenError(f"This has the shape {_shape_of(weights)}: {FORM}.")
        if not 0 < len(weights) <= MOST_HEADS:
            raise GivenError(f"These are {len(weights)} layers: {FORM}.")
        layers = [_drop_batch(place, layer) for place, layer in enumerate(weights)]
    if sum(layer.shape[0] for layer in layers) > MOST_HEADS:
        raise GivenError(
            f"A picture has at most {MOST_HEADS:,} heads; these layers have {_list_shapes(layers)}."
        )
    if len({tuple(layer.shape[1:]) for layer in layers}) > 1:
        raise GivenError(
            f"Layers of one picture have the same queries and keys: not {_list_shapes(layers)}."
        )
    return layers


def are_steps(weights: Any) -> bool:
    """Are these steps that hold layers, as `generate` returns them?"""
    return (
        isinstance(weights, list | tuple)
        and len(weights) > 0
        and all(isinstance(step, list | tuple) and len(step) > 0 for step in weights)
        and all(hasattr(layer, "shape") for step in weights for layer in step)
    )


def read_tokens(
    shape: tuple[int, int], tokens: Any, key_tokens: Any, is_written: bool = False
) -> tuple[Shape, list[str] | None, list[str]]:
    """The tokens of queries and keys, for weights (q_len, kv_len); None if they are of one text.

    Where they are, the queries are its last ones. Of a text that was written (`is_written`), the
    last token was not read, and is left out. Raises ModelError where tokens do not fit.
    """
    queries, keys = shape
    asking = _check_tokens("tokens", tokens)
    asked = asking if key_tokens is None else _check_tokens("key_tokens", key_tokens)
    if max(queries, keys) > MOST_TOKENS:
        raise GivenError(
            f"A picture has at most {MOST_TOKENS:,} queries and keys; these weights have {shape!s}."
        )
    if is_written and len(asking) == queries + 1:
        asking = asking[:-1]
        asked = asking if key_tokens is None else asked
    is_one = key_tokens is None and queries <= keys
    if len(asked) != keys or not (is_one or len(asking) == queries) or not keys or not queries:
        raise GivenError(
            f"The weights are (q_len, kv_len) = {shape}, for {len(asking)} tokens and "
            f"{'no' if key_tokens is None else len(asked)} key_tokens. Pass the queries as "
            "tokens=…, and if the keys are another text, that as key_tokens=…."
        )
    if is_one:
        return Shape(queries, keys, keys - queries), None, asked
    return Shape(queries, keys, None), asking, asked


def _check_tokens(name: str, tokens: Any) -> list[str]:
    """Tokens as texts that can be written in a file; ModelError for anything else."""
    listed = tokens.tolist() if hasattr(tokens, "tolist") else tokens
    if not isinstance(listed, list | tuple) or not all(isinstance(one, str) for one in listed):
        kinds = {type(one).__name__ for one in listed} if isinstance(listed, list | tuple) else ()
        raise GivenError(
            f"{name} is a list of texts, one for each token, such as "
            f"tokenizer.convert_ids_to_tokens(ids): this is {type(tokens).__name__}"
            f"{' of ' if kinds else ''}{', '.join(sorted(kinds))}."
        )
    return [one[:LONGEST_TOKEN].encode("utf-8", "replace").decode() for one in listed]


def _read_file(file: Path) -> Any:
    """A .npy file, without the pickled objects that one may hold: they could run code."""
    try:
        return np.lib.format.open_memmap(file, mode="r")
    except OSError as error:
        raise GivenError(f"{file.name} cannot be read: {error.strerror}.") from None
    except ValueError:
        with file.open("rb") as opened:
            is_pickled = b"'|O'" in opened.read(128)
    what = "holds pickled objects, which could run code" if is_pickled else "is no whole .npy file"
    raise GivenError(f"{file.name} {what}. np.save writes one of numbers: {FORM}.")


def _as_numbers(weights: Any) -> Any:
    """What has a shape as it is; lists within lists as an array."""
    try:
        return weights if hasattr(weights, "shape") else np.asarray(weights, dtype=np.float32)
    except (TypeError, ValueError):
        raise GivenError(
            f"{type(weights).__name__} holds something else than numbers, or is ragged: {FORM}."
        ) from None


def _join_steps(place: int, steps: Sequence[Any]) -> Array:
    """A layer's rows of every step, one below the other: (heads, q_len, kv_len).

    Keys that were not there yet are 0. A cache of a fixed length may have room behind them.
    """
    parts = [to_array(_drop_batch(place, step)) for step in steps]
    read = np.cumsum([part.shape[1] for part in parts]).tolist()
    is_text = all(part.shape[2] == parts[0].shape[2] for part in parts)  # another text, or a room
    has_room = (
        is_text
        and parts[0].shape[2] >= read[-1]
        and not any(part[..., seen:].any() for part, seen in zip(parts, read, strict=True))
    )
    parts = (
        [part[..., :seen] for part, seen in zip(parts, read, strict=True)] if has_room else parts
    )
    is_grown = [part.shape[2] for part in parts] == read
    if len({part.shape[0] for part in parts}) > 1 or not (is_grown or is_text):
        raise GivenError(
            f"The steps of layer {place} are {_list_shapes(steps)}: keys grow by as many as there "
            "are queries, or stay the same of another text."
        )
    joined = np.zeros((parts[0].shape[0], read[-1], parts[-1].shape[2]), dtype=np.float32)
    for part, seen in zip(parts, read, strict=True):
        joined[:, seen - part.shape[1] : seen, : part.shape[2]] = part
    return joined


def _drop_batch(place: int, layer: Any) -> Any:
    """A layer without the axis of its one text."""
    layer = _as_numbers(layer)
    if len(layer.shape) == 4 and layer.shape[0] == 1:
        return layer[0]
    if len(layer.shape) == 3 and layer.shape[0]:
        return layer
    what = "a batch of several texts: pass one of them" if len(layer.shape) == 4 else FORM
    raise GivenError(f"Layer {place} has the shape {_shape_of(layer)}: {what}.")


def _shape_of(weights: Any) -> str:
    return str(tuple(weights.shape))


def _list_shapes(layers: Sequence[Any]) -> str:
    """Their shapes, each once, and not too many."""
    shapes = list(dict.fromkeys(map(_shape_of, layers)))
    return ", ".join(shapes[:4]) + (", …" if len(shapes) > 4 else "")


Part = tuple[str, int]
"""The name of a part of a text, and the token at which it begins."""
KINDS = {"encoder": "encoder", "decoder": "self", "cross": "cross"}
"""What an attention of an encoder–decoder is called by readers, and when it is recorded."""


@dataclass(frozen=True)
class Wanted:
    """What a picture of a model is to show: see `look`."""

    text: Any
    pair: str = ""
    answer: Any = ""
    attention: str = ""
    layers: Any = ()
    by_word: bool = False
    show: str = "heads"


@dataclass
class ReadTexts:
    """What a model is given, and the tokens of its keys; `queries` where those are other ones."""

    inputs: dict[str, Any]
    kind: str
    keys: list[str]
    queries: list[str] | None = None
    parts: list[Part] = field(default_factory=list)
    key_words: Sequence[int] = ()
    query_words: Sequence[int] = ()

    @property
    def pieces(self) -> int:
        """How many tokens the keys had before they were merged into words."""
        return len(self.key_words) or len(self.keys)


def read_texts(borrowed: "RealModel", wanted: Wanted) -> ReadTexts:
    """Cut what is wanted into the tokens of a model; ModelError if there are none, or too many."""
    read = _read_source(borrowed, wanted, choose_kind(borrowed, wanted))
    numbers, both = read.inputs["input_ids"][0].tolist(), borrowed.model.config.is_encoder_decoder
    answer = _read_answer(borrowed, read.inputs, wanted.answer) if wanted.answer else []
    if answer and both:
        of_answer = _prepare(borrowed, read.kind, answer, [])
        read.inputs["decoder_input_ids"] = of_answer.inputs["input_ids"]
        read.queries = of_answer.keys if read.kind == "cross" else None
        read.keys = of_answer.keys if read.kind == "self" else read.keys
    elif answer:
        parts = [("prompt", 0), ("answer", len(numbers))]
        read = _prepare(borrowed, read.kind, [*numbers, *answer], parts)
    if wanted.by_word:
        _merge(borrowed, wanted, read)
    return read


def choose_kind(borrowed: "RealModel", wanted: Wanted) -> str:
    """Which attention is drawn: of an encoder–decoder the cross-attention, if it has an answer."""
    if not borrowed.model.config.is_encoder_decoder:
        if wanted.attention:
            raise GivenError(f"{borrowed.name} has one kind of attention: leave attention out.")
        return "self"
    name = wanted.attention or ("cross" if wanted.answer else "encoder")
    if name not in KINDS:
        raise GivenError(f"attention is one of {', '.join(KINDS)}: not {name!r}.")
    if name != "encoder" and not wanted.answer:
        raise ModelError(
            "The decoder reads an answer: pass it as answer=…, or how many tokens to write."
        )
    return KINDS[name]


def _read_source(borrowed: "RealModel", wanted: Wanted, kind: str) -> ReadTexts:
    """One text, two of them, or a chat."""
    import torch

    from explainers.models.token_text import tokenise_text

    tokenizer = borrowed.tokenizer
    if not isinstance(wanted.text, str):
        return _prepare(borrowed, kind, *_read_chat(tokenizer, wanted.text))
    if not wanted.pair:
        ids = tokenise_text(borrowed, wanted.text, MOST_TOKENS).ids
        return _prepare(borrowed, kind, ids[0].tolist(), [])
    encoded = tokenizer(wanted.text, wanted.pair, verbose=False)
    first = len(tokenizer(wanted.text, verbose=False)["input_ids"])
    if encoded.encodings:
        first = encoded.sequence_ids(0).index(1)
    read = _prepare(borrowed, kind, encoded["input_ids"], [("A", 0), ("B", first)])
    if types := encoded.get("token_type_ids"):
        read.inputs["token_type_ids"] = torch.tensor([types], device=borrowed.model.device)
    return read


def _prepare(borrowed: "RealModel", kind: str, numbers: list[int], parts: list[Part]) -> ReadTexts:
    """These ids as a model is given them; ModelError if they are more than it reads."""
    import torch

    from explainers.models.borrowed_model import make_inputs
    from explainers.models.token_text import label_ids, require_length

    require_length(borrowed, len(numbers), MOST_TOKENS)
    inputs = make_inputs(borrowed.model, torch.tensor([numbers], device=borrowed.model.device))
    return ReadTexts(inputs, kind, label_ids(borrowed.tokenizer, numbers), parts=parts)


def _read_chat(tokenizer: Any, messages: Sequence[Any]) -> tuple[list[int], list[Part]]:
    """The ids of a chat in the tokenizer's template, and where its last answer begins."""
    if not getattr(tokenizer, "chat_template", None):
        raise ModelError(
            "This tokenizer has no template for a chat: set tokenizer.chat_template, so that "
            "tokenizer.apply_chat_template(messages, tokenize=False) writes the text."
        )

    def cut(some: Sequence[Any], **options: Any) -> tuple[str, list[int]]:
        try:
            text = str(tokenizer.apply_chat_template(some, tokenize=False, **options))
        except Exception as error:  # whatever a template may raise
            raise GivenError(f"The tokenizer's template refuses this chat: {error!s}") from None
        return text, tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]

    if messages[-1].get("role") != "assistant" or len(messages) == 1:
        return cut(messages, add_generation_prompt=True)[1], []
    (prompt, before), (whole, ids) = cut(messages[:-1], add_generation_prompt=True), cut(messages)
    is_begun = whole.startswith(prompt) and ids[: len(before)] == before
    return ids, [("prompt", 0), ("answer", len(before))] if is_begun else []


def _read_answer(borrowed: "RealModel", inputs: dict[str, Any], answer: Any) -> list[int]:
    """The ids of an answer: of a text, of ids, or of what the model now writes.

    A decoder's begin with the token that every answer begins with.
    """
    import torch

    model, both = borrowed.model, borrowed.model.config.is_encoder_decoder
    asked = {name: ids for name, ids in inputs.items() if name != "decoder_input_ids"}
    if isinstance(answer, int) and not isinstance(answer, bool):
        if not 1 <= answer <= MOST_TOKENS or not model.can_generate():
            raise GivenError(
                f"{borrowed.name} writes 1 to {MOST_TOKENS:,} tokens, if any at all: not {answer}."
            )
        generate: Any = model.generate  # transformers annotates it as a tensor
        with torch.no_grad():
            written = generate(**asked, max_new_tokens=answer, do_sample=False, num_beams=1)
        return written[0, 0 if both else inputs["input_ids"].shape[1] :].tolist()
    ids = answer
    if isinstance(answer, str):
        options = {"text_target": answer} if both else {"text": answer, "add_special_tokens": False}
        ids = borrowed.tokenizer(**options, verbose=False)["input_ids"]
        ids = ids[:-1] if both else ids  # of the last one nothing is predicted
    if not isinstance(ids, list | tuple) or not all(isinstance(n, int) and n >= 0 for n in ids):
        raise ModelError(
            "The answer is a text, a list of ids, or how many tokens the model is to write."
        )
    return [model.config.decoder_start_token_id or 0, *ids] if both else list(ids)


def _merge(borrowed: "RealModel", wanted: Wanted, read: ReadTexts) -> None:
    """Merge the tokens of a word, where some word has several."""
    from explainers.models.token_text import find_words, spell_words

    of_decoder = read.kind == "self" and "decoder_input_ids" in read.inputs
    ids = read.inputs["decoder_input_ids" if of_decoder else "input_ids"]
    if isinstance(wanted.text, str) and not (wanted.pair or wanted.answer):
        words = find_words(borrowed, wanted.text, read.keys)
    else:
        words = spell_words(borrowed.tokenizer, ids[0].tolist(), read.keys)
    if not words:
        return
    read.key_words = read.query_words = words.numbers
    read.parts = [
        (name, words.numbers[start]) for name, start in read.parts if start < len(words.numbers)
    ]
    read.keys = list(words.spelled)
    if read.queries:
        asking = read.inputs["decoder_input_ids"][0].tolist()
        of_answer = spell_words(borrowed.tokenizer, asking, read.queries)
        read.query_words, read.queries = of_answer.numbers, list(of_answer.spelled)
