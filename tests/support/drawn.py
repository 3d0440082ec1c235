"""Numbers drawn once for tests: tensors, a layer, and torch's own module with the same numbers."""

import torch

from explainers.attention.layer import MultiHead


def drawn(*axes):
    """The same ones for the same axes."""
    seeded = torch.Generator().manual_seed(sum(axes) + len(axes))
    return torch.randn(*axes, generator=seeded, dtype=torch.double)


def single(*axes):
    """In the precision that models have."""
    return drawn(*axes).float()


def draw_layer(d_model, heads, kv_heads, head_dim):
    w_query, [w_output] = drawn(d_model, heads * head_dim), drawn(1, heads * head_dim, d_model)
    w_key, w_value = drawn(2, d_model, kv_heads * head_dim)
    return MultiHead(w_query, w_key, w_value, w_output, head_dim)


@torch.no_grad()
def fill_module(module, layer):
    """nn.MultiheadAttention stores W transposed."""
    projections = [layer.w_query.T, layer.w_key.T, layer.w_value.T]
    module.in_proj_weight.copy_(torch.cat(projections))
    module.out_proj.weight.copy_(layer.w_output.T)
    return module
