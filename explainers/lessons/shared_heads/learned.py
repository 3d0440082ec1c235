"""Heads that shared keys and values while they learned, beside those that were averaged later."""

from explainers.attention.grouped_query import grouped_query
from explainers.lessons.layer_choice import Layer
from explainers.lessons.shared_heads.sharing import miniatures, per_head
from explainers.lessons.shared_heads.turned import pair
from explainers.lessons.wording import so_many
from explainers.trained import shipped_seed, trained_toy
from explainers.ui.language import said
from explainers.ui.panels import Panel


def learned_sharing(layer: Layer, num_kv_heads: int, seed: int) -> list[Panel]:
    """Where such heads look; nothing beside random heads, or where each keeps its own."""
    heads, tokens = layer.heads, layer.tokens
    if layer.known is None or num_kv_heads == heads.num_heads:
        return []
    sizes = heads.num_heads, num_kv_heads, heads.head_dim
    x, shared, mask, _ = trained_toy(tokens, *sizes, layer.rule, shipped_seed(seed))
    weights = grouped_query(x, shared, mask).weights
    asking, _ = pair(tokens)
    looks = zip(*(found.tolist() for found in weights[:, asking].max(dim=-1)), strict=True)
    formulas = [f"{tokens[asking]} → {tokens[key]} {weight:.2f}" for weight, key in looks]
    of_heads = so_many(num_kv_heads, "KV head")
    heading = said("Weights of heads that learned with {kv_heads}", kv_heads=of_heads)
    matrices = per_head(said("learned head {head}"), formulas, weights, tokens, mask)
    return miniatures(matrices, "learned head", heading)
