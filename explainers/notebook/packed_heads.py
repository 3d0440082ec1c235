"""The weights of all heads as bytes: a weight w is round(255 √w), and only what is allowed is sent.

The largest error is 0.004, and weights from 4 in a million on are told from 0. A text of more than
256 tokens is sent as an overview, the largest weight of each block, with some layers in full.

>>> encode_weights(torch.tensor([0.0, 0.25, 1.0]))
tensor([  0, 128, 255], dtype=torch.uint8)
>>> choose_side(256, num_heads=12), choose_side(300, num_heads=12)  # in full, as an overview
(256, 64)
"""

import zlib
from base64 import b64encode
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import adaptive_max_pool2d

from explainers.models.attention_hook import RecordedAttention
from explainers.models.registry import ModelError
from explainers.models.token_text import merge_weights

LEVELS = 255
MOST_IN_FULL = 256
"""Tokens up to which every head is sent in full."""
MOST_WEIGHTS = 20_000_000
"""As many weights are sent of all heads together: 270 heads on 256 tokens are 17.7 million."""
OVERVIEW_SIDES = (64, 32, 16)
"""Blocks on a side of an overview: the most that `MOST_WEIGHTS` allows."""
NEAR, NEAR_SHARE, MOST_TELLING = 2, 16, 24
"""A key nearer than this, or than a 16th of the text, tells nothing; and how many heads do."""
MOST_OFF = 0.01
"""From 1, what a row of a model's own weights sums to: it may be rounded to 16 bits."""
_ZLIB_LEVEL = 6


class TellingRow(NamedTuple):
    """The row of a head with the largest weight on a token that is no neighbour."""

    weight: float
    layer: int
    """Counted in the order in which layers ran."""
    head: int
    query: int


def encode_weights(weights: Tensor) -> Tensor:
    """Weights in [0, 1] as whole numbers from 0 to 255, on a scale of square roots (uint8)."""
    return (weights.float().clamp(0, 1).sqrt() * LEVELS).round().to(torch.uint8)


def pack_allowed(codes: Tensor, mask: Tensor) -> str:
    """codes (heads, q_len, kv_len) where mask (q_len, kv_len) is True, as zlib in base64.

    Key by key, not query by query: a head's favourite key is a run of similar numbers.
    """
    allowed = codes.transpose(-2, -1)[:, mask.T]  # (heads, number of allowed pairs)
    return _pack_bytes(allowed.contiguous().cpu().numpy().tobytes())


def pack_mask(mask: Tensor) -> dict[str, Any]:
    """A mask (q_len, kv_len), one byte for each pair: zlib leaves next to nothing of it."""
    return {
        "side": mask.shape[-1],
        "allowed": _pack_bytes(mask.to(torch.uint8).contiguous().cpu().numpy().tobytes()),
    }


def _pack_bytes(numbers: bytes) -> str:
    return b64encode(zlib.compress(numbers, _ZLIB_LEVEL)).decode()


def pool_blocks(numbers: Tensor, side: int) -> Tensor:
    """The largest number of each block of (heads, q_len, kv_len): (heads, side, side)."""
    return adaptive_max_pool2d(numbers.float()[None], side)[0]


def choose_side(num_tokens: int, num_heads: int) -> int:
    """How many rows each head is sent with: as many as tokens, or as the overview has blocks."""
    if num_tokens <= MOST_IN_FULL and num_heads * num_tokens**2 <= MOST_WEIGHTS:
        return num_tokens
    fitting = [side for side in OVERVIEW_SIDES if num_heads * side**2 <= MOST_WEIGHTS]
    return min(num_tokens, fitting[0] if fitting else OVERVIEW_SIDES[-1])


@dataclass
class HeadPacker:
    """Packs layer after layer while a model runs, so that one layer is in memory at a time.

    `kind` is the attention that is wanted, `side` is `choose_side`'s. `in_full` are layers to send
    in full where the side is less than the text; none is the one with the most telling head.
    """

    num_tokens: int
    kind: str
    side: int
    in_full: Collection[int] = ()
    words: Sequence[int] = ()
    """The number of each token's word, where `num_tokens` are words."""
    names: list[int] = field(default_factory=list)
    """The index that the model gives each layer."""
    layers: list[dict[str, Any]] = field(default_factory=list)
    full: dict[int, dict[str, Any]] = field(default_factory=dict)
    telling: list[TellingRow] = field(default_factory=list)
    masks: list[dict[str, Any]] = field(default_factory=list)
    _mask_places: dict[bytes, int] = field(default_factory=dict)
    _best: tuple[int, Tensor, Tensor] | None = None
    """The layer with the most telling head so far: its place, weights and mask."""

    def __call__(self, attention: RecordedAttention) -> None:
        """Take one layer. Raises ModelError where its weights are no weights between tokens."""
        if attention.kind != self.kind:
            return
        group = attention.query.shape[1] // attention.key.shape[1]
        self.add_layer(attention.layer_index, attention.weights[0], attention.mask[0, 0], group)

    def add_layer(self, index: int, weights: Tensor, mask: Tensor, group: int = 1) -> None:
        """Pack weights (heads, tokens, tokens) of a layer; `group` query heads share a KV head."""
        _check_weights(index, weights, len(self.words) or self.num_tokens)
        weights = weights.float()
        if self.words:
            both = weights, mask.float()
            weights, mask = (merge_weights(one, self.words, self.words) for one in both)
            mask = mask > 0
        place = len(self.layers)
        rows = find_telling_rows(weights, mask, place)
        is_best = max(rows) > max(self.telling, default=TellingRow(-1, 0, 0, 0))
        self.telling += rows
        self.names.append(index)
        about = {"heads": weights.shape[0], "group": group, "first": _average_first(weights)}
        if self.side < self.num_tokens:
            if place in self.in_full:
                self.full[place] = self._pack(weights, mask)
            elif is_best and not self.in_full:
                self._best = place, weights, mask
            # The root is taken of what is left: the largest weight has the largest root.
            weights, mask = (pool_blocks(one, self.side) for one in (weights, mask[None]))
            mask = mask[0] > 0
        self.layers.append(about | self._pack(weights, mask))

    def finish(self) -> None:
        """Pack the layer that turned out to have the most telling head, if one is wanted."""
        if self._best:
            place, weights, mask = self._best
            self.full[place] = self._pack(weights, mask)
            self._best = None

    def find_opening(self) -> list[TellingRow]:
        """The most telling rows, one for each head, of layers that are sent in full, best first."""
        offered = [row for row in self.telling if not self.full or row.layer in self.full]
        return sorted(offered, key=lambda row: -row.weight)[:MOST_TELLING]

    def _pack(self, weights: Tensor, mask: Tensor) -> dict[str, Any]:
        digest = mask.cpu().numpy().tobytes() + bytes(str(mask.shape), "ascii")
        if digest not in self._mask_places:
            self._mask_places[digest] = len(self.masks)
            self.masks.append(pack_mask(mask))
        return {
            "mask": self._mask_places[digest],
            "codes": pack_allowed(encode_weights(weights), mask),
        }


@torch.no_grad()
def run_own_attention(refusal: ModelError, model: Any, record: HeadPacker, **inputs: Any) -> None:
    """Let a model's own classes compute, and pack the weights that they report; it is then in
    evaluation.

    Raises the refusal where these are none: no squares, or rows that do not sum to 1.
    """
    if any(hasattr(module, "set_attention_type") for module in model.modules()):
        raise refusal  # BigBird becomes another model on a short text, and stays so
    try:
        output = model.eval()(**inputs, output_attentions=True)
    except Exception:  # whatever another library's code may raise
        raise refusal from None
    name = "encoder_attentions" if record.kind == "encoder" else "attentions"
    layers = [layer[0].float() for layer in getattr(output, name, None) or ()]
    square = inputs["input_ids"].shape[1:] * 2
    if not layers or not all(
        weights.shape[1:] == square and bool((weights.sum(dim=-1) - 1).abs().max() < MOST_OFF)
        for weights in layers
    ):
        raise refusal
    for index, weights in enumerate(layers):
        record.add_layer(index, weights, (weights != 0).any(dim=0))


def find_telling_rows(weights: Tensor, mask: Tensor, place: int) -> list[TellingRow]:
    """Each head's row with the largest weight on a token that is far, and not the first.

    The first token is an attention sink; so is the last one where later tokens are seen.
    """
    count = weights.shape[-1]
    positions = torch.arange(count, device=weights.device)
    is_told = ((positions[:, None] - positions).abs() >= max(NEAR, count // NEAR_SHARE)) & mask
    is_told[:, 0] = False
    if count > 1 and bool(mask[0, 1:].any()):
        is_told[:, -1] = is_told[-1] = False
    best = weights.masked_fill(~is_told, 0).flatten(1).max(dim=-1)
    pairs = zip(best.values.tolist(), best.indices.tolist(), strict=True)
    rows = [(value, index // count if value else count - 1) for value, index in pairs]
    return [TellingRow(value, place, head, query) for head, (value, query) in enumerate(rows)]


def _average_first(weights: Tensor) -> list[float]:
    """Each head's weight on the first token, the mean over the tokens behind it."""
    behind = weights[:, 1:, 0] if weights.shape[-1] > 1 else weights[:, :, 0]
    return [round(share, 4) for share in behind.mean(dim=-1).tolist()]


def _check_weights(index: int, weights: Tensor, num_tokens: int) -> None:
    """Raise ModelError for weights that cannot be drawn as a square, or are no numbers."""
    rows, columns = weights.shape[-2:]
    if (rows, columns) != (num_tokens, num_tokens):
        raise ModelError(
            "Layer {layer} has {rows} queries and {columns} keys for {count} tokens: "
            "such weights cannot be drawn as a square.",
            layer=index,
            rows=rows,
            columns=columns,
            count=num_tokens,
        )
    if not bool(weights.sum().isfinite()):
        raise ModelError(
            "Layer {layer} has weights that are not numbers (NaN), in {dtype}.",
            layer=index,
            dtype=str(weights.dtype).removeprefix("torch."),
        )
