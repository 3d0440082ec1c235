"""The weights of all heads as bytes: a weight w is round(255 √w), and only what is allowed is sent.

The largest error is 0.004, and weights from 4 in a million on are told from 0. What is too long is
sent as an overview, the largest weight of each block, with some layers or heads in full. All of it
is numpy: weights that somebody already has need neither torch nor transformers.

>>> encode_weights(np.array([0.0, 0.25, 1.0]))
array([  0, 128, 255], dtype=uint8)
>>> [choose_side(Shape(n, n), num_heads=12) for n in (256, 300)]  # in full, as an overview
[256, 64]
"""

import zlib
from base64 import b64encode
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from explainers.models.registry import GivenError, ModelError

if TYPE_CHECKING:
    from explainers.models.attention_hook import RecordedAttention

Array = np.ndarray[Any, np.dtype[Any]]
LEVELS = 255
MOST_IN_FULL = 256
"""Tokens up to which every head is sent in full."""
MOST_WEIGHTS = 20_000_000
"""As many weights are sent of all heads together: 270 heads on 256 tokens are 17.7 million."""
MOST_NAMED = 200_000_000
"""And as many of the layers and heads that were named to be sent in full."""
OVERVIEW_SIDES = (64, 32, 16)
"""Blocks on a side of an overview: the most that `MOST_WEIGHTS` allows."""
MOST_ROLLED = 1_024
"""Tokens of a rollout: matrices of all pairs are multiplied, layer after layer."""
THUMB_SIDE = 9
"""Pixels of a head's side in a still of all heads."""
NEAR, NEAR_SHARE, MOST_TELLING = 2, 16, 24
"""A key nearer than this, or than a 16th of the text, tells nothing; and how many heads do."""
MOST_OFF = 0.01
"""From 1, what a row of weights sums to: it may be rounded to 16 bits."""
_ZLIB_LEVEL = 6


class TellingRow(NamedTuple):
    """The row of a head with the largest weight on a token that is no neighbour."""

    weight: float
    layer: int
    """Counted in the order in which layers ran."""
    head: int
    query: int


class Shape(NamedTuple):
    """How many queries look at how many keys; `offset` is the first query's place among the keys.

    None where queries and keys are two texts.
    """

    queries: int
    keys: int
    offset: int | None = 0


def to_array(weights: Any) -> Array:
    """Numbers of numpy, JAX or torch, on any device and in 16 bits as well, as float32."""
    if hasattr(weights, "detach"):
        weights = weights.detach().float().cpu()
    return np.asarray(weights).astype(np.float32, copy=False)


def encode_weights(weights: Array) -> Array:
    """Weights in [0, 1] as whole numbers from 0 to 255, on a scale of square roots (uint8)."""
    return np.rint(np.sqrt(np.clip(weights, 0, 1)) * LEVELS).astype(np.uint8)


def _pack_bytes(numbers: bytes) -> str:
    """As zlib in base64."""
    return b64encode(zlib.compress(numbers, _ZLIB_LEVEL)).decode()


def pool_blocks(numbers: Array, rows: int, columns: int) -> Array:
    """The largest number of each block of (…, q_len, kv_len): (…, rows, columns)."""
    for axis, count in ((-2, rows), (-1, columns)):
        length, places = numbers.shape[axis], np.arange(count)
        bounds = np.stack([places * length // count, -(-(places + 1) * length // count)], axis=1)
        # Every other result is of what lies between two blocks; the last block ends by itself.
        pooled = np.maximum.reduceat(numbers, bounds.ravel()[:-1], axis=axis)
        numbers = pooled[..., ::2, :] if axis == -2 else pooled[..., ::2]
    return numbers


def merge_words(weights: Array, queries: Sequence[int], keys: Sequence[int]) -> Array:
    """From (…, pieces, pieces) to words, by the number of each piece's word.

    What goes *to* a word is the sum over its pieces, what comes *from* one their mean.
    """
    from_words, to_words = (
        np.eye(max(words) + 1, dtype=np.float32)[list(words)] for words in (queries, keys)
    )
    return from_words.T @ (weights @ to_words) / from_words.sum(axis=0)[:, None]


def choose_side(shape: Shape, num_heads: int) -> int:
    """How many rows each head is sent with: as many as tokens, or as the overview has blocks."""
    longest = max(shape.queries, shape.keys)
    if longest <= MOST_IN_FULL and num_heads * shape.queries * shape.keys <= MOST_WEIGHTS:
        return longest
    fitting = [side for side in OVERVIEW_SIDES if num_heads * side**2 <= MOST_WEIGHTS]
    return min(longest, fitting[0] if fitting else OVERVIEW_SIDES[-1])


@dataclass
class HeadPacker:
    """Packs layer after layer while a model runs, so that one layer is in memory at a time.

    `kind` is the attention that is wanted, `side` is `choose_side`'s. `in_full` are layers, or
    pairs of a layer and a head, to send in full where the side is less than the text; none is the
    most telling head, with the others of its layer as far as `MOST_WEIGHTS` allows.
    """

    shape: Shape
    """Of what is drawn: words, where tokens are merged."""
    side: int
    kind: str = "self"
    in_full: Collection[Any] = ()
    query_words: Sequence[int] = ()
    """The number of each query's word, where they are merged; the same of keys."""
    key_words: Sequence[int] = ()
    show: str = "heads"
    """Or "mean", a layer's heads averaged; or "rollout", these means multiplied."""
    names: list[int] = field(default_factory=list)
    """The index that the model gives each layer."""
    layers: list[dict[str, Any]] = field(default_factory=list)
    full: dict[int, dict[str, Any]] = field(default_factory=dict)
    kept: dict[tuple[int, int], Array] = field(default_factory=dict)
    """The weights (q_len, kv_len) of each layer and head that is in full."""
    allowed: dict[int, Array] = field(default_factory=dict)
    """The mask of each layer with such heads."""
    thumbs: list[Array] = field(default_factory=list)
    telling: list[TellingRow] = field(default_factory=list)
    masks: list[dict[str, Any]] = field(default_factory=list)
    sums: tuple[float, float] = (1.0, 1.0)
    """The least and the largest sum of a row that looks at something."""
    _best: tuple[int, Array, Array] | None = None
    """The layer with the most telling head so far: its place, weights and mask."""
    _rolled: Array | None = None

    def __post_init__(self) -> None:
        """Raise ModelError for what names no layer or head, and for what cannot be shown."""
        named = self.in_full if isinstance(self.in_full, Collection) else [None]
        places = (one if isinstance(one, tuple) and len(one) == 2 else (one,) for one in named)
        if not all(isinstance(number, Integral) for place in places for number in place):
            raise ModelError(
                "Pass layers as whole numbers, such as layers=[0, 3], or with a head, [(3, 1)]."
            )
        if self.show not in ("heads", "mean", "rollout"):
            raise GivenError(f"show is one of heads, mean, rollout: not {self.show!r}.")
        queries, keys, offset = self.shape
        if self.show == "rollout" and (offset != 0 or keys > MOST_ROLLED):
            raise GivenError(
                f"A rollout is of one text of at most {MOST_ROLLED:,} tokens: this is of {queries} "
                f"queries and {keys} keys."
            )

    def __call__(self, attention: "RecordedAttention") -> None:
        """Take one layer. Raises ModelError where its weights are no weights between tokens."""
        if attention.kind != self.kind:
            return
        group = attention.query.shape[1] // attention.key.shape[1]
        mask = attention.mask[0, 0].cpu().numpy()
        self.add_layer(attention.layer_index, to_array(attention.weights[0]), mask, group)

    def add_layer(
        self, index: int, weights: Array, mask: Array | None = None, group: int = 1
    ) -> None:
        """Pack weights (heads, q_len, kv_len) of a layer; `group` query heads share a KV head."""
        mask = (weights != 0).any(axis=0) if mask is None else mask
        pieces = len(self.query_words) or self.shape.queries, len(self.key_words) or self.shape.keys
        _check_weights(index, weights, pieces)
        if self.query_words:
            words = self.query_words, self.key_words
            weights = merge_words(weights, *words)
            mask = merge_words(mask.astype(np.float32), *words) > 0
        if self.show != "heads":
            weights, group = weights.mean(axis=0, keepdims=True), 1
        if self.show == "rollout":
            self._rolled = roll_out(weights, self._rolled)
            weights, mask = self._rolled, (self._rolled > 0)[0]
        place = len(self.layers)
        self._note_sums(weights, mask)
        rows = find_telling_rows(weights, mask, place, self.shape.offset)
        is_best = max(rows) > max(self.telling, default=TellingRow(-1, 0, 0, 0))
        self.telling += rows
        self.names.append(index)
        sides = min(THUMB_SIDE, self.shape.queries), min(THUMB_SIDE, self.shape.keys)
        self.thumbs.append(encode_weights(pool_blocks(weights, *sides)))
        about = {"heads": len(weights), "group": group, "first": self._average_first(weights)}
        if self.side < max(self.shape.queries, self.shape.keys):
            named = self.in_full
            heads = [n for n in range(len(weights)) if place in named or (place, n) in named]
            if heads:
                self._send_in_full(place, weights, mask, heads)
            elif is_best and not self.in_full:
                self._best = place, weights, mask
            # The root is taken of what is left: the largest weight has the largest root.
            sides = min(self.side, self.shape.queries), min(self.side, self.shape.keys)
            weights, mask = pool_blocks(weights, *sides), pool_blocks(mask, *sides)
        else:
            self._keep(place, weights, mask, range(len(weights)))
        self.layers.append(about | self._pack(weights, mask))

    def describe(self, name: str, queries: list[str] | None, keys: list[str]) -> dict[str, Any]:
        """What a picture is drawn from, as JSON, once all layers are there.

        Raises ModelError where a layer or a head was named that is not there.
        """
        if self._best:  # none was named: the layer that turned out to have the most telling head
            place, weights, mask = self._best
            best = max(row for row in self.telling if row.layer == place).head
            others = [head for head in range(len(weights)) if head != best]
            most = max(1, MOST_WEIGHTS // weights[0].size)
            self._send_in_full(place, weights, mask, sorted([best, *others][:most]))
            self._best = None
        for one in self.in_full:
            layer, head = one if isinstance(one, tuple) else (one, 0)
            last = len(self.layers) - 1
            if not 0 <= layer <= last:
                raise GivenError(f"{name} has layers 0 to {last}: there is no layer {layer}.")
            last = self.layers[layer]["heads"] - 1
            if not 0 <= head <= last:
                raise GivenError(f"Layer {layer} has heads 0 to {last}: there is no head {head}.")
        is_in_order = all(a < b for a, b in zip(self.names, self.names[1:], strict=False))
        return {
            "model": name,
            "tokens": list(keys),
            "queries": queries,
            "offset": self.shape.offset or 0,
            "show": self.show,
            "side": self.side,
            # A model that uses one layer several times gives them all one index.
            "names": self.names if is_in_order else list(range(len(self.names))),
            "layers": self.layers,
            "full": self.full,
            "masks": self.masks,
            "telling": [[row.layer, row.head, row.query] for row in self.find_opening()],
            "roles": [],
        }

    def find_opening(self) -> list[TellingRow]:
        """The most telling rows, one for each head, of those that are in full, best first."""
        offered = [row for row in self.telling if (row.layer, row.head) in self.kept]
        return sorted(offered, key=lambda row: -row.weight)[:MOST_TELLING]

    def _send_in_full(self, place: int, weights: Array, mask: Array, heads: list[int]) -> None:
        if (len(self.kept) + len(heads)) * mask.size > MOST_NAMED:
            raise GivenError(
                f"A picture has at most {MOST_NAMED:,} weights in full: name fewer layers, or "
                "heads as layers=[(3, 0)]."
            )
        self.full[place] = self._pack(weights[heads], mask) | {"only": heads}
        self._keep(place, weights[heads], mask, heads)

    def _keep(self, place: int, weights: Array, mask: Array, heads: Collection[int]) -> None:
        self.allowed[place] = mask
        self.kept |= {(place, head): one for head, one in zip(heads, weights, strict=True)}

    def _note_sums(self, weights: Array, mask: Array) -> None:
        """Widen `sums` by the rows of a layer that look at something."""
        sums = weights.sum(axis=-1)[:, mask.any(axis=-1)]
        if sums.size:
            low, high = self.sums
            self.sums = min(low, float(sums.min())), max(high, float(sums.max()))

    def _average_first(self, weights: Array) -> list[float]:
        """Each head's weight on the first token, the mean over the tokens behind it."""
        is_first = self.shape.offset == 0 and self.shape.queries > 1
        rows = weights[:, 1:, 0] if is_first else weights[:, :, 0]
        return [round(share, 4) for share in rows.mean(axis=-1).tolist()]

    def _pack(self, weights: Array, mask: Array) -> dict[str, Any]:
        rows, side = mask.shape
        allowed = _pack_bytes(mask.astype(np.uint8).tobytes())  # zlib leaves next to nothing of it
        packed = {"rows": rows, "side": side, "allowed": allowed}
        if packed not in self.masks:
            self.masks.append(packed)
        # Key by key, not query by query: a head's favourite key is a run of similar numbers.
        codes = encode_weights(weights).transpose(0, 2, 1)[:, mask.T]  # (heads, allowed pairs)
        return {"mask": self.masks.index(packed), "codes": _pack_bytes(codes.tobytes())}


def roll_out(mean: Array, before: Array | None) -> Array:
    """Attention rollout (Abnar and Zuidema 2020) up to a layer: (1, tokens, tokens).

    `mean` is the layer's mean over its heads; half of every row stays with the token itself.
    """
    mixed = (mean + np.eye(mean.shape[-1], dtype=np.float32)) / 2
    mixed = mixed / mixed.sum(axis=-1, keepdims=True)
    return mixed if before is None else mixed @ before


def find_telling_rows(
    weights: Array, mask: Array, place: int, offset: int | None = 0
) -> list[TellingRow]:
    """Each head's row with the largest weight on a token that is far, and not the first.

    The first token is an attention sink; so is the last one where later tokens are seen.
    """
    queries, keys = mask.shape
    is_told = mask.copy()
    if offset is not None:
        distance = np.abs(np.arange(queries)[:, None] + offset - np.arange(keys))
        is_told &= distance >= max(NEAR, keys // NEAR_SHARE)
    is_told[:, 0] = False
    if mask[0, (offset or 0) + 1 :].any():
        is_told[:, -1] = False
        is_told[-1] &= offset is None
    found = []
    for head, one in enumerate(weights):
        told = np.where(is_told, one, 0)
        at = int(told.argmax())
        value = float(told.flat[at])
        found.append(TellingRow(value, place, head, at // keys if value else queries - 1))
    return found


def _check_weights(index: int, weights: Array, pieces: tuple[int, int]) -> None:
    """Raise ModelError for weights of other tokens than these, or that are no weights."""
    if weights.shape[-2:] != pieces:
        rows, columns = weights.shape[-2:]
        raise GivenError(
            f"Layer {index} has {rows} queries and {columns} keys, in weights of shape "
            f"{weights.shape}: the tokens make {pieces[0]} queries and {pieces[1]} keys."
        )
    low, high = float(weights.min()), float(weights.max())
    if not np.isfinite(low + high):
        raise ModelError(
            "Layer {layer} has weights that are not numbers (NaN), in {dtype}.",
            layer=index,
            dtype=str(weights.dtype),
        )
    if low < 0 or high > 1 + MOST_OFF:
        raise GivenError(
            f"Layer {index} has numbers from {low:.3g} to {high:.3g}, of shape {weights.shape}: "
            "weights are between 0 and 1. Are they scores? Take the softmax of their last axis."
        )
