"""One attention inside a real model: what the model asks to be computed, and what came of it."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from explainers.attention.grouped_query import share
from explainers.attention.scaled_dot_product import Attention


@dataclass(frozen=True)
class Call:
    """What a layer hands to attention.

    query (batch, heads, q_len, head_dim), key (batch, kv_heads, kv_len, head_dim),
    value (batch, kv_heads, kv_len, value_dim), mask boolean (batch, 1, q_len, kv_len). A model
    that does not divide its scores by √d_k has in its queries what makes up for it.
    """

    kind: str
    """One of "self", "encoder", "cross"; in an encoder-decoder, "self" is the decoder's own."""
    number: int
    """Of the layer, counted from 0."""
    window: int | None
    """How many tokens a local layer sees, as the mask has it already."""
    function: Callable[[Tensor, Tensor, Tensor, Tensor], Attention]
    """Of explainers.attention: `attention`, or the one for what this model adds to it."""
    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor


@dataclass(frozen=True)
class Layer(Call):
    """A call and what was computed: scores and weights (batch, heads, q_len, kv_len)."""

    scores: Tensor
    weights: Tensor
    output: Tensor


@dataclass(frozen=True)
class Change:
    """A change of a model's self-attention, in some layers; None stands for all."""

    layers: frozenset[int] | None = None

    def concerns(self, call: Call) -> bool:
        """Is it one of the layers? An encoder and cross-attention stay as they are."""
        return call.kind == "self" and (self.layers is None or call.number in self.layers)

    def before(self, call: Call) -> Call:
        """Change what goes in: queries, keys, values, the mask."""
        return call

    def after(self, call: Call, step: Attention) -> Attention:
        """Change what came out; whoever changes weights mixes the values again."""
        return step


def attended(call: Call) -> Attention:
    """Compute it; each KV head serves its group of query heads."""
    key, value = shared(call.query, call.key), shared(call.query, call.value)
    # A query of padding has nothing to look at (0/0): it sees all, and nobody reads its row.
    mask = call.mask | ~call.mask.any(dim=-1, keepdim=True)
    return call.function(call.query, key, value, mask)


def mixed(call: Call, step: Attention, weights: Tensor) -> Attention:
    """The same scores with other weights, and the output that these give."""
    return Attention(step.scores, weights, weights @ shared(call.query, call.value))


def shared(query: Tensor, tensor: Tensor) -> Tensor:
    """The keys or values of each query head; where no heads share, no copy is made."""
    group_size = query.shape[1] // tensor.shape[1]
    return tensor if group_size == 1 else share(tensor, group_size)
