"""Layers of BLOOM and MPT, which compute attention inline, rewritten to call a given function."""

from collections.abc import Callable
from typing import Any

from torch import Tensor

Attend = Callable[..., tuple[Tensor, Tensor]]


def forward_bloom(
    attend: Attend,
    module: Any,
    hidden_states: Tensor,
    residual: Tensor,
    alibi: Tensor,
    attention_mask: Tensor,
    layer_past: Any = None,
    **_: Any,
) -> tuple[Tensor, Tensor]:
    """BLOOM's layer around its attention; its bias (batch · heads, 1, kv_len) is ALiBi."""
    query, key, value = module._reshape(module.query_key_value(hidden_states))
    if layer_past is not None:
        key, value = layer_past.update(key, value, module.layer_idx)
    bias = alibi.view(len(query), -1, *alibi.shape[1:])
    output, weights = attend(module, query, key, value, attention_mask, position_bias=bias)
    return module.dense(output.flatten(2)) + residual, weights


def forward_mpt(
    attend: Attend,
    module: Any,
    hidden_states: Tensor,
    position_bias: Tensor,
    past_key_values: Any = None,
    attention_mask: Tensor | None = None,
    **_: Any,
) -> tuple[Tensor, Tensor]:
    """MPT's layer around its attention; its bias (heads, 1, longest text) is ALiBi."""
    projected = module.Wqkv(hidden_states)
    if module.clip_qkv:
        projected = projected.clamp(min=-module.clip_qkv, max=module.clip_qkv)
    split = projected.unflatten(-1, (3, module.n_heads, module.head_dim))
    query, key, value = split.permute(2, 0, 3, 1, 4)
    if past_key_values is not None:
        key, value = past_key_values.update(key, value, module.layer_idx)
    bias = position_bias[..., -key.shape[2] :]
    wide = [tensor.to(bias.dtype) for tensor in (query, key, value)]  # it is float32 in any model
    output, weights = attend(
        module, *wide, attention_mask, scaling=module.softmax_scale, position_bias=bias
    )
    return module.out_proj(output.flatten(2).to(projected.dtype)), weights


LAYER_FORWARDS: dict[str, Callable[..., tuple[Tensor, Tensor]]] = {
    "BloomAttention": forward_bloom,
    "MptAttention": forward_mpt,
}
