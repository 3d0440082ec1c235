"""A model built like Llama, layer by layer: what its heads and MLPs add, directly and by token.

The stream starts as the token's embedding; each layer adds what its heads write, then what its MLP
writes, and a final norm and the unembedding make logits of the end.

A head's direct effect goes along the stream to the end, not through later layers. A head's output
is its weights times its values, so what it writes is a sum over the tokens that it looks at; with
the final norm kept as it is, so is what it adds to each logit (Elhage et al. 2021).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from explainers.attention.scaled_dot_product import Attention
from explainers.models.attention_hook import (
    AttentionCall,
    Change,
    RecordedAttention,
    repeat_kv_heads,
    run_model,
    running,
)
from explainers.models.registry import ModelError

if TYPE_CHECKING:
    from explainers.models.load import RealModel

TOLERANCE = 1e-3
"""Of the model's largest number: what the sums may differ from it, computed in 32 bits."""


class Stream(NamedTuple):
    """Some texts in a model, in one batch.

    ids (texts, tokens), `before` for each layer (texts, tokens, d_model), `heads` for each layer
    (texts, tokens, heads, head_dim): each head's output before W_O; `end` (texts, tokens, d_model).
    """

    ids: Tensor
    before: list[Tensor]
    heads: list[Tensor]
    end: Tensor


@dataclass(frozen=True)
class Decoder:
    """The parts of a model like Llama, and the model itself."""

    model: Any
    num_heads: int
    num_layers: int

    @property
    def inner(self) -> Any:
        """What holds the embedding, the layers and the final norm."""
        return self.model.model

    def split_output_matrix(self, layer: int) -> Tensor:
        """W_O of a layer, cut by heads (d_model, heads, head_dim)."""
        matrix = self.inner.layers[layer].self_attn.o_proj.weight
        return matrix.view(len(matrix), self.num_heads, -1)

    def compute_logits(self, end: Tensor) -> Tensor:
        """(…, d_model) to (…, vocabulary)."""
        logits: Tensor = self.model.lm_head(self.inner.norm(end))
        return logits


@dataclass(frozen=True, kw_only=True)
class ReplacedHeads(Change):
    """The outputs of a layer's heads, all replaced: (texts, tokens, heads, head_dim)."""

    outputs: Tensor = field(repr=False, compare=False)

    def change_result(self, call: AttentionCall, result: Attention) -> Attention:
        return result._replace(output=self.outputs.transpose(1, 2))


def find_decoder(loaded: "RealModel") -> Decoder:
    """The parts of a model; ModelError, with the reason, for one that is built otherwise."""
    model: Any = loaded.model
    inner = getattr(model, "model", None)
    layers = getattr(inner, "layers", ())
    has_parts = all(
        hasattr(inner, name) for name in ("embed_tokens", "norm", "rotary_emb")
    ) and hasattr(model, "lm_head")
    names = "self_attn", "mlp", "post_attention_layernorm"
    if not has_parts or not all(hasattr(one, name) for one in layers for name in names):
        raise ModelError(
            "{model} is not built like Llama: its layers cannot be run one by one here.",
            model=loaded.name,
        )
    if any(getattr(one.self_attn, "o_proj", None) is None for one in layers) or any(
        one.self_attn.o_proj.bias is not None for one in layers
    ):
        raise ModelError("{model} adds a bias to what its heads write.", model=loaded.name)
    return Decoder(model, model.config.num_attention_heads, len(layers))


def read_stream(decoder: Decoder, ids: Tensor) -> Stream:
    """Read texts, ids (texts, tokens), layer by layer.

    Raises ModelError if that does not come to the model's own logits, or if what a layer adds is
    not what its heads and its MLP write.
    """
    before: list[Tensor] = []
    with torch.no_grad():
        start = decoder.inner.embed_tokens(ids)
        end, heads = run_layers(decoder, start, 0, keep=before.append)
        for number, after in enumerate([*before[1:], end]):
            layer = decoder.inner.layers[number]
            middle = before[number] + layer.self_attn.o_proj(heads[number].flatten(2))
            _require_equal(middle + layer.mlp(layer.post_attention_layernorm(middle)), after)
        own = run_model(
            decoder.model, record=lambda _: None, input_ids=ids[:1], use_cache=False
        ).output.logits
        _require_equal(decoder.compute_logits(end[:1]), own)
    return Stream(ids, before, heads, end)


def run_layers(
    decoder: Decoder,
    stream: Tensor,
    first: int,
    changes: Sequence[Change] = (),
    keep: Callable[[Tensor], None] = lambda _: None,
    record: Callable[[RecordedAttention], Any] = lambda layer: layer.output.transpose(1, 2),
) -> tuple[Tensor, list[Any]]:
    """From the stream before layer `first` (texts, tokens, d_model) to the end.

    `keep` is given the stream before each layer. Also returns what was recorded of each layer:
    the outputs of its heads (texts, tokens, heads, head_dim), unless `record` keeps another thing.
    """
    length = stream.shape[1]
    mask = torch.ones(1, 1, length, length, dtype=torch.bool, device=stream.device).tril()
    positions = torch.arange(length, device=stream.device)[None]
    turns = decoder.inner.rotary_emb(stream, position_ids=positions)
    with running(decoder.model, changes, record, [mask]) as run:
        for layer in decoder.inner.layers[first:]:
            keep(stream)
            found = layer(
                stream, attention_mask=mask, position_ids=positions, position_embeddings=turns
            )
            stream = found[0] if isinstance(found, tuple) else found
    return stream, run.layers


def go_on(decoder: Decoder, stream: Stream, layer: int, outputs: Tensor) -> Tensor:
    """The end of the stream if the heads of one layer had written otherwise.

    `outputs` (variants, tokens, heads, head_dim) has as many variants as texts, or any number for
    one text; the layers before it are not run again.
    """
    start = stream.before[layer].expand(len(outputs), -1, -1)
    change = ReplacedHeads(layers=frozenset({layer}), outputs=outputs)
    with torch.no_grad():
        return run_layers(decoder, start, layer, [change], record=lambda _: None)[0]


def _require_equal(ours: Tensor, own: Tensor) -> None:
    if float((ours - own).abs().max()) > TOLERANCE * float(own.abs().max()):
        raise ModelError(
            "This model adds more to its stream than what its heads and its MLPs write."
        )


class DirectEffects(NamedTuple):
    """In logits; all together are `lead`, the logit of one token minus that of the other.

    heads (layers, heads), mlps (layers,).
    """

    heads: Tensor
    mlps: Tensor
    embedding: float
    lead: float


def compute_direct_effects(
    decoder: Decoder, stream: Stream, tokens: tuple[int, int]
) -> DirectEffects:
    """Split the lead of the first of two tokens after the last position of the first text.

    The final norm divides by the length of the whole stream: that number is kept as it is.
    """
    end = stream.end[0, -1]
    direction = freeze_norm(decoder, end) * read_direction(decoder, tokens)  # (d_model,)
    heads, mlps = [], []
    for layer, after in enumerate([*stream.before[1:], stream.end]):
        written = write_heads(decoder, stream, layer)  # (heads, d_model)
        added = after[0, -1] - stream.before[layer][0, -1]  # (d_model,)
        heads.append(written @ direction)
        mlps.append((added - written.sum(dim=0)) @ direction)
    return DirectEffects(
        torch.stack(heads),
        torch.stack(mlps),
        float(stream.before[0][0, -1] @ direction),
        float(end @ direction),
    )


def read_direction(decoder: Decoder, tokens: tuple[int, int]) -> Tensor:
    """The direction of the stream in which the first token gains on the second (d_model,)."""
    first, second = decoder.model.lm_head.weight[list(tokens)].detach()
    return first - second


def write_heads(decoder: Decoder, stream: Stream, layer: int) -> Tensor:
    """What each head of a layer writes at the last position of the first text (heads, d_model)."""
    outputs = stream.heads[layer][0, -1]  # (heads, head_dim)
    return torch.einsum("hd,ohd->ho", outputs, decoder.split_output_matrix(layer).detach())


def freeze_norm(decoder: Decoder, end: Tensor) -> Tensor:
    """What the final norm multiplies this stream by, number by number (d_model,)."""
    norm = decoder.inner.norm
    epsilon = getattr(norm, "variance_epsilon", getattr(norm, "eps", 0.0))
    factors: Tensor = norm.weight.detach() * torch.rsqrt(end.pow(2).mean() + epsilon)
    own = norm(end).detach()
    if float((end * factors - own).abs().max()) > TOLERANCE * float(own.abs().max()):
        raise ModelError("The final norm of this model is not a root mean square.")
    return factors


LISTED = 10
"""Tokens that gain most, and as many that lose most."""


class Writing(NamedTuple):
    """What the heads of a layer write at the last position, by the token that they look at.

    weights (heads, keys); `leads` (heads, keys): what all of the weight on this key would add to
    the lead of one answer over another. ids and logits (heads, keys, 20): the ten tokens that it
    would promote most, then the ten that it would demote most, the last most of all.
    """

    weights: Tensor
    leads: Tensor
    ids: Tensor
    logits: Tensor

    @property
    def added(self) -> Tensor:
        """To the lead, in logits (heads, keys); over the keys they sum to the direct effect."""
        return self.weights * self.leads


def compute_writing(
    decoder: Decoder, stream: Stream, layer: int, answers: tuple[int, int]
) -> Writing:
    """Of the heads of one layer, at the last position of the first text."""
    weights, written = write_by_key(decoder, stream, layer)
    factors = freeze_norm(decoder, stream.end[0, -1])  # (d_model,)
    leads = written @ (factors * read_direction(decoder, answers))
    logits = compute_promoted(decoder, written, factors)
    high, low = logits.topk(LISTED), logits.topk(LISTED, largest=False)
    ids = torch.cat([high.indices, low.indices.flip(-1)], dim=-1)
    return Writing(weights, leads, ids, torch.cat([high.values, low.values.flip(-1)], dim=-1))


def write_by_key(decoder: Decoder, stream: Stream, layer: int) -> tuple[Tensor, Tensor]:
    """The weights of the last position (heads, keys), and W_O W_V of what stands at each key.

    The latter (heads, keys, d_model) is what a head would write with all of its weight there.
    """

    def take_last(run: RecordedAttention) -> tuple[Tensor, Tensor]:
        values = repeat_kv_heads(run.query, run.value)
        return run.weights[0, :, -1], values[0]  # (heads, keys), (heads, keys, head_dim)

    with torch.no_grad():
        start = stream.before[layer][:1]
        weights, values = run_layers(decoder, start, layer, record=take_last)[1][0]
    matrix = decoder.split_output_matrix(layer).detach()  # (d_model, heads, head_dim)
    return weights, torch.einsum("hkd,ohd->hko", values, matrix)


def compute_promoted(decoder: Decoder, written: Tensor, factors: Tensor) -> Tensor:
    """What a head's writing (…, d_model) adds to every logit (…, vocabulary), less their mean.

    Softmax ignores what is added to all logits alike, so that would say nothing.
    """
    logits: Tensor = (written * factors) @ decoder.model.lm_head.weight.detach().T
    return logits - logits.mean(dim=-1, keepdim=True)


def find_likeliest(decoder: Decoder, stream: Stream) -> tuple[int, int]:
    """The two next tokens that the model prefers after the first text, the better one first."""
    with torch.no_grad():
        first, second = decoder.compute_logits(stream.end[0, -1]).topk(2).indices.tolist()
    return first, second
