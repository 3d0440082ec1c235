"""Weights that somebody already has, of any origin: which layers they are, and of which tokens.

Numpy, torch, JAX, a .npy file, what transformers returns as `attentions`, and what its `generate`
returns: the rows of a growing cache, step by step, are put together as one square.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from explainers.models.registry import GivenError
from explainers.notebook.packed_heads import Array, Shape, to_array

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
    asking = _read_texts("tokens", tokens)
    asked = asking if key_tokens is None else _read_texts("key_tokens", key_tokens)
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


def _read_texts(name: str, tokens: Any) -> list[str]:
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
