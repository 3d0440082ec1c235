"""A model of the Llama family written out: what each part adds to the stream, at each position.

Between two layers a position has one vector, the residual stream. It is a sum: the embedding, and
what each head and each MLP of the layers before has added.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from explainers.attention.scaled_dot_product import attention
from explainers.models.attention_hook import repeat_kv_heads, run_model, scale_query
from explainers.models.registry import ModelError

if TYPE_CHECKING:
    from explainers.models.load import RealModel

LAYER_PARTS = "input_layernorm", "self_attn", "post_attention_layernorm", "mlp"
ATTENTION_PARTS = "q_proj", "k_proj", "v_proj", "o_proj", "head_dim", "scaling"
TOLERANCE = 1e-3
"""The largest difference to the model's own scores, as a share of its largest score."""


class WrittenLayer(NamedTuple):
    """What one layer computed, of all positions.

    stream, normed and mlp (tokens, d_model); query, key, value and head_outputs, before the output
    matrix, (heads or kv_heads, tokens, head_dim); scores and weights (heads, tokens, tokens).
    `query_factor` and `key_factor` are what QK-norm multiplied by (heads, tokens, head_dim).
    """

    stream: Tensor
    normed: Tensor
    query: Tensor
    key: Tensor
    value: Tensor
    query_factor: Tensor | None
    key_factor: Tensor | None
    scores: Tensor
    weights: Tensor
    head_outputs: Tensor
    mlp: Tensor


class WrittenRun(NamedTuple):
    """A text in a model that is written out; embedding (tokens, d_model), cos and sin of RoPE."""

    model: Any
    ids: Tensor
    embedding: Tensor
    rotation: tuple[Tensor, Tensor]
    layers: list[WrittenLayer]


class Projected(NamedTuple):
    """Queries, keys and values (batch, heads, q_len, head_dim) of one layer, rotated."""

    query: Tensor
    key: Tensor
    value: Tensor
    query_factor: Tensor | None
    key_factor: Tensor | None


def write_out(real_model: "RealModel", ids: Tensor) -> WrittenRun:
    """Run a text (tokens,) layer by layer, and keep every part of the stream.

    Raises ModelError, with the reason, for a model that has other parts than the Llama family, or
    whose own scores are not the ones that are found here.
    """
    model = real_model.model
    require_parts(model)
    run = run_parts(model.base_model, ids)
    own = run_model(model, record=lambda layer: layer.scores[0], input_ids=ids[None]).layers
    difference, largest = torch.inf, 0.0
    if [one.shape for one in own] == [layer.scores.shape for layer in run.layers]:
        seen = torch.ones_like(own[0][0], dtype=torch.bool).tril()
        theirs = torch.stack([one[:, seen] for one in own])
        ours = torch.stack([layer.scores[:, seen] for layer in run.layers])
        difference, largest = float((theirs - ours).abs().max()), float(theirs.abs().max())
    if not difference <= TOLERANCE * max(largest, 1.0):
        raise ModelError(
            "{model} adds to its stream what is not known here: the sum of its parts misses "
            "its own scores by {difference:.2g}.",
            model=real_model.name,
            difference=difference,
        )
    return run


def require_parts(model: Any) -> None:
    """Raise ModelError unless every layer has the parts of the Llama family, under its names."""
    decoder = model.base_model
    layers = list(getattr(decoder, "layers", None) or ())
    missing = {name for name in ("embed_tokens", "rotary_emb") if not hasattr(decoder, name)}
    missing |= {name for layer in layers for name in LAYER_PARTS if not hasattr(layer, name)}
    attentions = [layer.self_attn for layer in layers if hasattr(layer, "self_attn")]
    missing |= {name for one in attentions for name in ATTENTION_PARTS if not hasattr(one, name)}
    if missing or not layers:
        raise ModelError(
            "{kind} is not built as the Llama family is: it has no {missing}.",
            kind=type(model).__name__,
            missing=", ".join(sorted(missing)) or "layers",
        )


@torch.no_grad()
def run_parts(decoder: Any, ids: Tensor) -> WrittenRun:
    """The forward pass (tokens,), each part called by itself; the model's own modules."""
    stream = embedding = decoder.embed_tokens(ids[None])
    positions = torch.arange(len(ids), device=ids.device)[None]
    rotation = decoder.rotary_emb(stream, positions)
    causal = torch.ones(len(ids), len(ids), dtype=torch.bool, device=ids.device).tril()
    layers = []
    for layer in decoder.layers:
        normed = layer.input_layernorm(stream)
        made = project(layer.self_attn, normed, rotation)
        seen = attend(layer.self_attn, made.query, made.key, made.value, causal)
        after = stream + write_heads(layer.self_attn, seen.output)
        mlp = run_mlp(layer, after)
        numbers = *made, seen.scores, seen.weights, seen.output, mlp
        kept: list[Any] = [None if one is None else one[0] for one in (stream, normed, *numbers)]
        layers.append(WrittenLayer(*kept))
        stream = after + mlp
    cos, sin = rotation
    return WrittenRun(decoder, ids, embedding[0], (cos[0], sin[0]), layers)


def project(module: Any, normed: Tensor, rotation: tuple[Tensor, Tensor]) -> Projected:
    """Queries, keys and values of normed (batch, q_len, d_model); rotation (batch, q_len, …)."""
    parts = []
    for matrix, norm in (("q_proj", "q_norm"), ("k_proj", "k_norm"), ("v_proj", "")):
        vectors = getattr(module, matrix)(normed)
        before = vectors.view(*vectors.shape[:-1], -1, module.head_dim)
        normalise, after, factor = getattr(module, norm, None), before, None
        if normalise is not None:  # QK-norm, of each head by itself or of all heads together
            is_per_head = normalise.weight.numel() == module.head_dim
            after = normalise(before) if is_per_head else normalise(vectors).view_as(before)
            factor = divide(after, before).transpose(1, 2)
        parts.append((after.transpose(1, 2), factor))
    (query, query_factor), (key, key_factor), (value, _none) = parts
    cos, sin = (one[:, None] for one in rotation)
    rotated = rotate(query, cos, sin), rotate(key, cos, sin)
    return Projected(*rotated, value, query_factor, key_factor)


def divide(after: Tensor, before: Tensor) -> Tensor:
    """What each number was multiplied by, in float64; 0 where there was nothing to multiply."""
    ratio = after.double() / before.double()
    return torch.where(before == 0, torch.zeros_like(ratio), ratio)


def rotate(vectors: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """RoPE as the Llama family has it: the first numbers of each head, half with half."""
    size = cos.shape[-1]
    turned, rest = vectors[..., :size], vectors[..., size:]
    half = torch.cat([-turned[..., size // 2 :], turned[..., : size // 2]], dim=-1)
    return torch.cat([turned * cos.to(vectors) + half * sin.to(vectors), rest], dim=-1)


def attend(module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Any:
    """Our function, with the model's own scaling; each KV head serves its group."""
    keys, values = repeat_kv_heads(query, key), repeat_kv_heads(query, value)
    return attention(scale_query(query, module.scaling), keys, values, mask)


def write_heads(module: Any, head_outputs: Tensor) -> Tensor:
    """What all heads (batch, heads, q_len, head_dim) add to the stream (batch, q_len, d_model)."""
    written: Tensor = module.o_proj(head_outputs.transpose(1, 2).flatten(2))
    return written


def run_mlp(layer: Any, stream: Tensor) -> Tensor:
    """What the MLP adds to the stream (batch, q_len, d_model); ModelError if it is not one."""
    written = layer.mlp(layer.post_attention_layernorm(stream))
    if not isinstance(written, Tensor):
        kind = type(layer.mlp).__name__
        raise ModelError("{kind} returns more than what it adds to the stream.", kind=kind)
    return written
