"""A model built like Llama, layer by layer: what its heads and MLPs add, and going on from a layer.

The stream starts as the token's embedding; each layer adds what its heads write, then what its MLP
writes, and a final norm and the unembedding make logits of the end (Elhage et al. 2021).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from explainers.attention.scaled_dot_product import Attention
from explainers.messages import N_
from explainers.models.active_run import ActiveRun, active_run, require_our_attention
from explainers.models.attention_hook import AttentionCall, Change, RecordedAttention, run_model
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
            N_(
                "{model} is not built like Llama: its layers cannot be run one by one here.",
                model=loaded.name,
            )
        )
    if any(getattr(one.self_attn, "o_proj", None) is None for one in layers) or any(
        one.self_attn.o_proj.bias is not None for one in layers
    ):
        raise ModelError(N_("{model} adds a bias to what its heads write.", model=loaded.name))
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
        _check_layers(decoder, before, heads, end)
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
    record: Callable[[RecordedAttention], Any] | None = None,
) -> tuple[Tensor, list[Any]]:
    """From the stream before layer `first` (texts, tokens, d_model) to the end.

    `keep` is given the stream before each layer. Also returns what was recorded of each layer:
    the outputs of its heads (texts, tokens, heads, head_dim), unless `record` keeps another thing.
    """
    length = stream.shape[1]
    mask = torch.ones(1, 1, length, length, dtype=torch.bool, device=stream.device).tril()
    positions = torch.arange(length, device=stream.device)[None]
    turns = decoder.inner.rotary_emb(stream, position_ids=positions)
    with _running(decoder, changes, record or _take_output, mask) as run:
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


def _take_output(layer: RecordedAttention) -> Tensor:
    return layer.output.transpose(1, 2)


@contextmanager
def _running(
    decoder: Decoder,
    changes: Sequence[Change],
    record: Callable[[RecordedAttention], Any],
    mask: Tensor,
) -> Iterator[ActiveRun]:
    """A run of single layers, in which our attention knows its place and its mask."""
    names = {module: name for name, module in decoder.model.named_modules()}
    run = ActiveRun(names, False, changes, record, masks=[mask])
    token = active_run.set(run)
    try:
        yield run
    finally:
        active_run.reset(token)
    require_our_attention(run, type(decoder.model).__name__)


def _check_layers(decoder: Decoder, before: list[Tensor], heads: list[Tensor], end: Tensor) -> None:
    """Is what each layer adds the sum of what its heads and its MLP write?"""
    for number, after in enumerate([*before[1:], end]):
        layer = decoder.inner.layers[number]
        middle = before[number] + layer.self_attn.o_proj(heads[number].flatten(2))
        _require_equal(middle + layer.mlp(layer.post_attention_layernorm(middle)), after)


def _require_equal(ours: Tensor, own: Tensor) -> None:
    if float((ours - own).abs().max()) > TOLERANCE * float(own.abs().max()):
        raise ModelError(
            N_("This model adds more to its stream than what its heads and its MLPs write.")
        )
