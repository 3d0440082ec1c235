"""Multi-head latent attention, MLA (DeepSeek-AI 2024, "DeepSeek-V2", section 2.1)."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from explainers.attention.latent_layer import Latent
from explainers.attention.multi_head import merge_heads, split_heads
from explainers.attention.rotary import rotate
from explainers.attention.scaled_dot_product import attention

EPSILON = 1e-6  # the model's own; a latent of zeros would be 0/0


class Cached(NamedTuple):
    """All that is kept of the tokens for later queries, however many heads there are."""

    latent: Tensor
    rotary_key: Tensor


class LatentHeads(NamedTuple):
    """What one layer computed, in the order it was computed."""

    cached: Cached
    scores: Tensor
    weights: Tensor
    per_head: Tensor
    output: Tensor


def compress(x: Tensor, layer: Latent, angle: Tensor) -> Cached:
    """One short vector per token, normalised (RMS), and one key that knows the token's place."""
    down = x @ layer.w_down  # (..., q_len, latent_dim)
    mean_square = down.square().mean(dim=-1, keepdim=True)  # (..., q_len, 1)
    latent = layer.gain * down / (mean_square + EPSILON).sqrt()  # (..., q_len, latent_dim)
    rotary_key = rotate(x @ layer.w_rotary_key, angle)  # (..., q_len, rope_dim)
    return Cached(latent, rotary_key)


def queries(x: Tensor, layer: Latent, angle: Tensor) -> tuple[Tensor, Tensor]:
    """What each head looks for in the latent, and what it looks for in the place."""
    content = split_heads(x @ layer.w_query, layer.head_dim)  # (..., heads, q_len, head_dim)
    place = split_heads(x @ layer.w_rotary_query, layer.rope_dim)  # (..., heads, q_len, rope_dim)
    return content, rotate(place, angle)


def latent_attention(x: Tensor, layer: Latent, mask: Tensor, angle: Tensor) -> LatentHeads:
    """Written out: each head's keys and values are made from the latent, then it attends."""
    cached = compress(x, layer, angle)
    content, place = queries(x, layer, angle)
    rebuilt = split_heads(cached.latent @ layer.w_up_key, layer.head_dim)
    shared = cached.rotary_key.unsqueeze(-3).expand_as(place)  # (..., heads, q_len, rope_dim)
    value = split_heads(cached.latent @ layer.w_up_value, layer.head_dim)
    query, key = torch.cat([content, place], dim=-1), torch.cat([rebuilt, shared], dim=-1)
    scores, weights, per_head = attention(query, key, value, mask)
    output = merge_heads(per_head) @ layer.w_output  # (..., q_len, d_model)
    return LatentHeads(cached, scores, weights, per_head, output)


def absorbed(x: Tensor, layer: Latent, mask: Tensor, angle: Tensor) -> LatentHeads:
    """The same without making a key or a value: q · (c W_UK) is (q W_UKᵀ) · c.

    All heads read the same latents, as in MQA. RoPE between q and W_UK would forbid the trick:
    that is why the place has a key of its own.
    """
    cached = compress(x, layer, angle)
    content, place = queries(x, layer, angle)
    latent, rotary_key = (kept.unsqueeze(-3) for kept in cached)
    up_key = split_heads(layer.w_up_key, layer.head_dim)  # (heads, latent_dim, head_dim)
    up_value = split_heads(layer.w_up_value, layer.head_dim)  # (heads, latent_dim, head_dim)
    asked = content @ up_key.mT  # (..., heads, q_len, latent_dim)
    products = asked @ latent.mT + place @ rotary_key.mT  # (..., heads, q_len, kv_len)
    scores = products / math.sqrt(layer.head_dim + layer.rope_dim)
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)  # (..., heads, q_len, kv_len)
    per_head = weights @ latent @ up_value  # (..., heads, q_len, head_dim)
    output = merge_heads(per_head) @ layer.w_output  # (..., q_len, d_model)
    return LatentHeads(cached, scores, weights, per_head, output)
