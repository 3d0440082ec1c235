"""The KV cache of layers whose tokens carry their place: it was added (Vaswani et al. 2017, 3.5).

Nothing is turned, so a row does not even depend on where it stands in the cache.
"""

from torch import Tensor

from explainers.attention import masks
from explainers.attention.cache.kv_cache import Cache, Read, append, look_up
from explainers.attention.layer import MultiHead
from explainers.attention.multi_head import merge_heads, split_heads
from explainers.attention.rules import Rule


def read_added(x: Tensor, layer: MultiHead, cache: Cache, rule: Rule) -> Read:
    """Read new tokens `x` (..., q_len, d_model), embedding + position, as `cache.read` does."""
    query = split_heads(x @ layer.w_query, layer.head_dim)  # (..., heads, q_len, head_dim)
    key = split_heads(x @ layer.w_key, layer.head_dim)  # (..., kv_heads, q_len, head_dim)
    value = split_heads(x @ layer.w_value, layer.head_dim)  # (..., kv_heads, q_len, head_dim)
    cache = append(cache, key, value)
    mask = masks.build(rule, x.shape[-2], cache.seen)
    _, weights, per_head = look_up(query, cache, layer, mask)
    output = merge_heads(per_head) @ layer.w_output  # (..., q_len, d_model)
    return Read(query, weights, output, cache)
