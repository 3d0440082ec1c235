"""Small tensors to think with, seeded by numbers and words: a picture never changes by itself.

They are drawn on the CPU, whose generator gives the same numbers on every machine, and then moved
to the device that computes.
"""

import hashlib

import torch
from torch import Tensor

from explainers.attention.latent_layer import Latent
from explainers.attention.layer import MultiHead, check_sharing
from explainers.attention.positions import sinusoidal
from explainers.attention.single_head import SingleHead
from explainers.device import choose_device

LONGEST = 10_000.0
"""The base of the waves of positions, as in Vaswani et al. 2017."""


def make_generator(*seeds: int | str) -> torch.Generator:
    """A generator of its own for everything that is named by `seeds`, the same on any machine."""
    name = "\0".join(map(str, seeds)).encode()
    digest = hashlib.blake2b(name, digest_size=7).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "big"))


def draw_embeddings(tokens: tuple[str, ...], d_model: int, seed: int) -> Tensor:
    """One row per token (tokens, d_model); the same word has the same row wherever it stands."""
    rows = [
        torch.randn(d_model, generator=make_generator("token", seed, token)) for token in tokens
    ]
    return torch.stack(rows).to(choose_device())


def place_words(tokens: tuple[str, ...], d_model: int, seed: int) -> Tensor:
    """What every head reads (tokens, d_model): the words' vectors, and where each stands."""
    x = draw_embeddings(tokens, d_model, seed)
    return x + sinusoidal(len(tokens), d_model, LONGEST).to(x.device)


def shuffle_order(length: int) -> Tensor:
    """An order of `length` tokens (length,), another one than theirs if there is another."""
    seeded = make_generator("order", 0)
    order = torch.randperm(length, generator=seeded)
    while length > 1 and bool((order == torch.arange(length)).all()):
        order = torch.randperm(length, generator=seeded)
    return order.to(choose_device())


def random_head(d_model: int, head_dim: int, value_dim: int, seed: int) -> SingleHead:
    """Untrained projections with variance 1/d_model, so that Q, K and V have variance about 1."""
    return SingleHead(
        _projection("query", d_model, head_dim, seed),
        _projection("key", d_model, head_dim, seed),
        _projection("value", d_model, value_dim, seed),
    )


def random_heads(
    d_model: int, num_heads: int, num_kv_heads: int, head_dim: int, seed: int
) -> MultiHead:
    """Untrained heads, each drawn by itself; the first is the one of `random_head`."""
    check_sharing(num_heads, num_kv_heads)

    def side_by_side(name: str, heads: int) -> Tensor:
        names = [name, *(f"{name} {head}" for head in range(1, heads))]
        return torch.cat([_projection(name, d_model, head_dim, seed) for name in names], dim=-1)

    return MultiHead(
        side_by_side("query", num_heads),
        side_by_side("key", num_kv_heads),
        side_by_side("value", num_kv_heads),
        torch.cat(
            [
                _projection(f"output {head}", head_dim, d_model, seed) / num_heads**0.5
                for head in range(num_heads)
            ]
        ),
        head_dim,
    )


def random_latent(
    d_model: int, num_heads: int, head_dim: int, latent_dim: int, rope_dim: int, seed: int
) -> Latent:
    """An untrained layer of MLA, whose queries, keys and values have variance about 1."""
    width = num_heads * head_dim
    return Latent(
        _projection("query", d_model, width, seed),
        _projection("rotary query", d_model, num_heads * rope_dim, seed),
        _projection("down", d_model, latent_dim, seed),
        torch.ones(latent_dim, device=choose_device()),
        _projection("up key", latent_dim, width, seed),
        _projection("up value", latent_dim, width, seed),
        _projection("rotary key", d_model, rope_dim, seed),
        _projection("output", width, d_model, seed),
        head_dim,
    )


def _projection(name: str, fan_in: int, width: int, seed: int) -> Tensor:
    drawn = torch.randn(fan_in, width, generator=make_generator(name, seed, fan_in, width))
    return (drawn / fan_in**0.5).to(choose_device())
